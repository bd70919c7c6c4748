//! Child processes with a time limit: to their end, or to talk with.
//!
//! The constraint that shaped it: a JVM that hangs because of the agent must fail its test, not stall all of
//! them, and no wait may be a sleep. So a child's end is awaited on its process descriptor with a limit.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long any child may take, if not told otherwise. Generous: the machine may be busy.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// What a finished process left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Runs a command to its end.
    #[track_caller]
    pub(crate) fn of(command: &mut Command) -> Ran {
        Running::start(command).end()
    }

    /// Asserts that it went well.
    #[track_caller]
    pub(crate) fn ok(self) -> Ran {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Asserts that it failed with this code, and that standard error says all of this.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, says: &[&str]) -> Ran {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self.says(says)
    }

    /// Asserts that standard error says all of this.
    #[track_caller]
    pub(crate) fn says(self, says: &[&str]) -> Ran {
        for words in says {
            assert!(self.err.contains(words), "`{words}` is not in:\n{}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// The agent's lines on standard error.
    pub(crate) fn agent_lines(&self) -> Vec<&str> {
        self.err.lines().filter(|l| l.starts_with("[lookback] ")).collect()
    }

    /// Standard error without the agent's lines.
    pub(crate) fn own_err(&self) -> String {
        let own = self.err.lines().filter(|l| !l.starts_with("[lookback] "));
        own.map(|l| format!("{l}\n")).collect()
    }

    /// Asserts that a program ran the same way with the agent (`self`) as without.
    #[track_caller]
    pub(crate) fn same_as(&self, without: &Ran) {
        assert_eq!(
            (self.code, self.signal, &self.out),
            (without.code, without.signal, &without.out),
            "with: {self:#?}\nwithout: {without:#?}"
        );
    }
}

/// A process that runs; killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    /// The process, also when its id is another's.
    descriptor: OwnedFd,
    pub(crate) pid: u32,
    pub(crate) input: Option<ChildStdin>,
    lines: Receiver<String>,
    seen: Vec<String>,
    errors: Receiver<String>,
    errors_seen: Vec<String>,
    limit: Duration,
    ended: bool,
    _permit: Option<Permit>,
}

impl Running {
    /// Memory that is the process's own, KiB: neither of files, nor shared.
    pub(crate) fn own_kib(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).expect("it runs");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"))
            .expect("a line of Linux 4.5 or newer");
        line.split_whitespace().next().and_then(|kib| kib.parse().ok()).expect("a number")
    }

    #[track_caller]
    pub(crate) fn start(command: &mut Command) -> Running {
        Running::start_with(command, LIMIT, None)
    }

    #[track_caller]
    pub(crate) fn start_with(command: &mut Command, limit: Duration, permit: Option<Permit>) -> Running {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|e| panic!("{command:?} did not start: {e}"));
        let pid = child.id();
        // SAFETY: no pointers; the child is not reaped yet, so the id is its own.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        assert!(fd >= 0, "no descriptor of process {pid}: {}", std::io::Error::last_os_error());
        // SAFETY: just opened, and nobody else's.
        let descriptor = unsafe { OwnedFd::from_raw_fd(fd as i32) };
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (lines, errors) = (lines_of(out.expect("piped")), lines_of(err.expect("piped")));
        let input = child.stdin.take();
        Running {
            child,
            descriptor,
            pid,
            input,
            lines,
            seen: Vec::new(),
            errors,
            errors_seen: Vec::new(),
            limit,
            ended: false,
            _permit: permit,
        }
    }

    /// The next line of its standard output, without its end; `None` after the last.
    #[track_caller]
    pub(crate) fn line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(self.limit) {
            Ok(line) => {
                let text = line.trim_end_matches('\n').to_owned();
                self.seen.push(line);
                Some(text)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => self.too_long("said nothing"),
        }
    }

    /// Reads until a line that is `expected`.
    #[track_caller]
    pub(crate) fn until(&mut self, expected: &str) {
        loop {
            match self.line() {
                Some(line) if line == expected => return,
                Some(_) => {}
                None => {
                    let seen = self.seen.concat();
                    panic!("it ended without saying `{expected}`:\n{seen}{}", self.all_errors());
                }
            }
        }
    }

    /// Says a line to its standard input.
    #[track_caller]
    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("its standard input is a pipe");
        input.write_all(format!("{line}\n").as_bytes()).expect("it reads");
        input.flush().expect("it reads");
    }

    /// Says a line, and reads until the program answers `expected`.
    #[track_caller]
    pub(crate) fn ask(&mut self, line: &str, expected: &str) {
        self.say(line);
        self.until(expected);
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: i32) {
        // SAFETY: an open descriptor of the process, and a null siginfo.
        let done = unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                self.descriptor.as_raw_fd(),
                signal,
                std::ptr::null::<u8>(),
                0,
            )
        };
        assert_eq!(done, 0, "signal {signal}: {}", std::io::Error::last_os_error());
    }

    /// Sends a signal that ends it, and gives what it left.
    #[track_caller]
    pub(crate) fn end_by(mut self, signal: i32) -> Ran {
        let input = self.input.take();
        self.signal(signal);
        let ran = self.end();
        drop(input);
        ran
    }

    /// Closes its standard input, waits until it ends, and gives what it left.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ran {
        drop(self.input.take());
        let status = self.status();
        // The reader's thread ends with the last holder of the pipe.
        while let Ok(line) = self.lines.recv_timeout(self.limit) {
            self.seen.push(line);
        }
        let err = self.all_errors();
        let out = std::mem::take(&mut self.seen).concat();
        Ran { code: status.code(), signal: status.signal(), out, err }
    }

    #[track_caller]
    fn status(&mut self) -> ExitStatus {
        let deadline = Instant::now() + self.limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut poll = libc::pollfd { fd: self.descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one valid entry.
            let ready = unsafe { libc::poll(&raw mut poll, 1, left.as_millis() as i32) };
            if ready > 0 {
                self.ended = true;
                return self.child.wait().expect("it has ended");
            }
            if left.is_zero() {
                self.too_long("did not end");
            }
        }
    }

    #[track_caller]
    fn too_long(&mut self, what: &str) -> ! {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.ended = true;
        let errors = self.all_errors();
        panic!("process {} {what} within {:?}:\n{}{errors}", self.pid, self.limit, self.seen.concat());
    }

    /// The rest of its standard error, and all before.
    fn all_errors(&mut self) -> String {
        while let Ok(line) = self.errors.recv_timeout(Duration::from_secs(10)) {
            self.errors_seen.push(line);
        }
        self.errors_seen.concat()
    }

    /// Reads its standard error until a line that holds `words`; gives that line.
    #[track_caller]
    pub(crate) fn error_line(&mut self, words: &str) -> String {
        loop {
            match self.errors.recv_timeout(self.limit) {
                Ok(line) => {
                    self.errors_seen.push(line.clone());
                    if line.contains(words) {
                        return line.trim_end().to_owned();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("it ended without `{words}` on standard error:\n{}", self.errors_seen.concat())
                }
                Err(RecvTimeoutError::Timeout) => self.too_long(&format!("did not say `{words}`")),
            }
        }
    }
}

/// A thread that reads lines, with their ends, until nobody listens.
fn lines_of(from: impl Read + Send + 'static) -> Receiver<String> {
    let (tell, lines) = channel();
    std::thread::spawn(move || {
        let (mut from, mut line) = (BufReader::new(from), Vec::new());
        while from.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            if tell.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
            line.clear();
        }
    });
    lines
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The right to run a JVM.
pub(crate) struct Permit;

/// How many more JVMs may run now.
static FREE: Mutex<u32> = Mutex::new(2);
static CHANGED: Condvar = Condvar::new();

impl Permit {
    /// Waits until fewer than two JVMs run.
    pub(crate) fn take() -> Permit {
        let free = FREE.lock().unwrap_or_else(|e| e.into_inner());
        let mut free = CHANGED.wait_while(free, |n| *n == 0).unwrap_or_else(|e| e.into_inner());
        *free -= 1;
        Permit
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *FREE.lock().unwrap_or_else(|e| e.into_inner()) += 1;
        CHANGED.notify_one();
    }
}
