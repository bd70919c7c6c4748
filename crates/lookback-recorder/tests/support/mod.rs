//! Writers in processes of their own: a test runs its own program again, with the name of one test and a job
//! in the environment.
//!
//! The constraint: what a writer has recorded must be known for sure, so it says so in its output, and each
//! event carries a number and a check by which a torn one shows.

#![allow(dead_code, reason = "each test program uses a part")]

use lookback_recorder::{Category, EventType, Level, Recorder, Snapshot, Value};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Writer, thread, number, check.
pub(crate) type Fields = (u64, u64, u64, u64);

/// What a number of events is checked by.
pub(crate) fn check(writer: u64, thread: u64, number: u64) -> u64 {
    (writer << 48 | thread << 40 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
}

pub(crate) fn event_type(category: &Category) -> EventType<Fields> {
    category.event_type("count", Level::Info, ["writer", "thread", "number", "check"])
}

/// What a writer is asked to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    /// Its number.
    pub(crate) writer: u64,
    pub(crate) threads: u64,
    /// Events a thread; `u64::MAX`: until the input ends.
    pub(crate) events: u64,
    /// Whether it lets others run after each event.
    pub(crate) yields: bool,
}

impl Job {
    /// Starts a process that does this job; `test` is the test that calls [`Job::from_environment`].
    pub(crate) fn start(self, test: &str, path: &Path) -> Writer {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env("WRITER_FILE", path)
            .env("WRITER_JOB", format!("{} {} {} {}", self.writer, self.threads, self.events, self.yields))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program runs");
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Writer { child, input, output: BufReader::new(output.expect("a pipe")) }
    }

    /// The job of this process, if it is a writer's.
    pub(crate) fn from_environment() -> Option<(Job, std::path::PathBuf)> {
        let (path, job) = (std::env::var_os("WRITER_FILE")?, std::env::var("WRITER_JOB").ok()?);
        let words: Vec<&str> = job.split(' ').collect();
        let number = |i: usize| words[i].parse().expect("a number");
        let job =
            Job { writer: number(0), threads: number(1), events: number(2), yields: words[3] == "true" };
        Some((job, path.into()))
    }

    /// Does the job: opens the file, says `ready`, waits for a line, records, says how many each thread has
    /// recorded.
    pub(crate) fn run(self, path: &Path) {
        let recorder = Recorder::open(path).expect("a ring file");
        let count = event_type(&recorder.category("test"));
        say("ready");
        std::io::stdin().read_line(&mut String::new()).expect("a line");
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..self.threads {
                let (recorder, count, stop) = (&recorder, &count, &stop);
                scope.spawn(move || {
                    recorder.set_thread_name(&format!("writer {} thread {thread}", self.writer));
                    let mut number = 0;
                    while number < self.events && !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        count.instant((self.writer, thread, number, check(self.writer, thread, number)));
                        number += 1;
                        if number == 64 && thread == 0 && self.events == u64::MAX {
                            say("records");
                        }
                        if self.yields {
                            std::thread::yield_now();
                        }
                    }
                    say(&format!("wrote {thread} {number}"));
                });
            }
            if self.events == u64::MAX {
                let _ = std::io::stdin().read_to_end(&mut Vec::new());
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        });
        // What the test harness would print could be taken for an answer.
        std::process::exit(0);
    }
}

/// One line in one write, because threads of one process share the output.
fn say(line: &str) {
    std::io::stdout().write_all(format!("\nwriter: {line}\n").as_bytes()).expect("a pipe");
}

/// A writer's process.
pub(crate) struct Writer {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Writer {
    /// The next line that it says; `None` when it is gone.
    pub(crate) fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(said) = line.trim_end().strip_prefix("writer: ") {
                return Some(said.to_owned());
            }
        }
    }

    /// Lets it begin, once it is ready.
    pub(crate) fn go(&mut self) {
        assert_eq!(self.line().as_deref(), Some("ready"));
        self.input.as_mut().expect("a pipe").write_all(b"go\n").expect("it reads");
    }

    /// Ends its input, waits for its end, and returns how many events each of its threads has recorded.
    pub(crate) fn finish(mut self) -> BTreeMap<u64, u64> {
        drop(self.input.take());
        let mut wrote = BTreeMap::new();
        while let Some(line) = self.line() {
            let words: Vec<&str> = line.split(' ').collect();
            if let ["wrote", thread, number] = words[..] {
                wrote.insert(thread.parse().expect("a number"), number.parse().expect("a number"));
            }
        }
        assert!(self.child.wait().expect("its status").success());
        wrote
    }
}

/// The numbers of the events in a snapshot, by writer and thread, in order of time. Fails on a torn event, and
/// on one whose thread or process is not its writer's.
pub(crate) fn numbers(snapshot: &Snapshot) -> BTreeMap<(u64, u64), Vec<u64>> {
    let mut numbers: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for event in snapshot.events() {
        assert_eq!((event.category(), event.name()), ("test", "count"));
        let values: Vec<u64> = event
            .values()
            .map(|(_, value)| match value {
                Value::U64(value) => value,
                other => panic!("{other:?} in {event}"),
            })
            .collect();
        let [writer, thread, number, found] = values[..] else { panic!("{event}") };
        assert_eq!(found, check(writer, thread, number), "torn: {event}");
        assert_eq!(event.thread_name(), format!("writer {writer} thread {thread}"));
        numbers.entry((writer, thread)).or_default().push(number);
    }
    numbers
}
