//! Whole runs with real processes: outcomes, going on, retries, what is left behind.

use super::tests_support::{cell, java_cell, javas, plan};
use super::*;
use crate::error::{Error, Result};
use crate::machine::{Counters, Observer, System, allowed};
use crate::plan::{Cell, CellId, HeapSize, Plan, Quiet};
use crate::results::{Disturbance, Outcome, RECORDS, Record, read_lines};
use std::cell::Cell as Flag;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A cell that runs a line of shell.
fn shell(workload: &str, line: &str) -> Cell {
    cell(workload, &["sh", "-c", line])
}

/// Runs a plan into a directory until its end, on a machine that nobody looks at.
fn run_in(dir: &Path, plan: &Plan, options: Options) -> Result<Summary> {
    let options = Options { directory: dir.to_owned(), ..options };
    run(plan, &options, &mut System::new(&allowed()), &|| false, &mut |_| {})
}

fn records(dir: &Path) -> Vec<Record> {
    read_lines(&dir.join(RECORDS)).unwrap().lines
}

/// The outcome of a cell's only invocation.
fn outcome(cell: Cell) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path(), &plan(vec![cell], 1), Options::default()).unwrap();
    let records = records(dir.path());
    assert_eq!(records.len(), 1);
    records[0].outcome.clone()
}

#[test]
fn each_end_of_a_process_has_its_outcome() {
    assert_eq!(outcome(shell("good", "echo result x 1 ns")), Outcome::Ok);
    let failed = Outcome::Failed { code: 7, last_words: "last words".into() };
    assert_eq!(outcome(shell("bad", "echo last words >&2; exit 7")), failed);
    assert_eq!(outcome(shell("segv", "kill -SEGV $$")), Outcome::Crash { signal: 11 });
    assert_eq!(outcome(shell("killed", "kill -KILL $$")), Outcome::Crash { signal: 9 });
    let iterations = Cell { iterations: 3, measured: vec![3], ..shell("short", "echo iteration 1 x 5.0 ms") };
    assert_eq!(outcome(iterations), Outcome::NoFigures { why: "iteration 3 has none".into() });
    let not_there = outcome(cell("none", &["/nowhere/program"]));
    assert!(
        matches!(&not_there, Outcome::NotStarted { why } if why.contains("/nowhere/program")),
        "{not_there:?}"
    );
    let expected = Cell { checksum: Some("aa".into()), ..shell("sum", "echo checksum sum bb") };
    assert_eq!(outcome(expected), Outcome::WrongChecksum { expected: "aa".into(), found: "bb".into() });
}

#[test]
fn the_first_good_checksum_holds_for_all_with_the_same_arguments_also_in_a_later_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sum");
    let line = format!("cat {}", file.display());
    let of = |id: &str, configuration: &str| Cell {
        id: CellId(id.into()),
        configuration: configuration.into(),
        ..shell("w", &line)
    };
    let results = dir.path().join("results");
    fs::write(&file, "checksum w aa\n").unwrap();
    let both = plan(vec![of("1", "one"), of("2", "two")], 2);
    run_in(&results, &both, Options { invocations: Some(1), ..Options::default() }).unwrap();
    fs::write(&file, "checksum w bb\n").unwrap();
    run_in(&results, &both, Options::default()).unwrap();
    let wrong = Outcome::WrongChecksum { expected: "aa".into(), found: "bb".into() };
    let outcomes: Vec<_> = records(&results).into_iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Ok, wrong.clone(), wrong]);
}

#[test]
fn a_rehearsal_runs_before_each_invocation_and_leaves_what_it_learned() {
    let dir = tempfile::tempdir().unwrap();
    // The program finds nothing at its rehearsal, and what that left when it is measured.
    let line = "n=$(cat {dir}/learned 2>/dev/null || echo 0); echo result learned $n count; \
                echo $((n + 1)) > {dir}/learned; touch left-over {dir}/harness.jsonl; exit $(test $n = 9)";
    let mut cell = cell("w", &["sh", "-c", line, "word"]);
    cell.launch.rehearsal = vec!["env".into(), "REHEARSED=yes".into()];
    let plan = plan(vec![cell], 2);
    run_in(dir.path(), &plan, Options::default()).unwrap();
    let records = records(dir.path());
    assert_eq!(records.len(), 2);
    for record in records {
        assert_eq!((record.outcome, record.iterations[0].metrics["learned"]), (Outcome::Ok, 1.0));
        let raw = dir.path().join(&record.raw);
        assert_eq!(fs::read_to_string(raw.join("rehearsal/stdout")).unwrap(), "result learned 0 count\n");
    }
}

#[test]
fn those_that_take_turns_run_one_at_a_time_and_their_figures_are_without_the_others_turns() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("written");
    let of = |name: &str| Cell {
        id: CellId(name.into()),
        configuration: name.into(),
        ..shell(
            "w",
            &format!(
                "i=0; while [ $i -lt 20000 ]; do echo {name} >> {}; i=$((i+1)); done; echo result x 1 count",
                file.display()
            ),
        )
    };
    let plan = Plan { turns: Duration::from_millis(20), ..plan(vec![of("a"), of("b")], 2) };
    let results = dir.path().join("results");
    let begin = Instant::now();
    let summary = run_in(&results, &plan, Options::default()).unwrap();
    let all = begin.elapsed();
    assert_eq!((summary.all, summary.good + summary.disturbed), (4, 4));
    let written = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = written.lines().collect();
    let changes = lines.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!((4..4_000).contains(&changes), "{changes} of {} lines", lines.len());
    let records = records(&results);
    let own: Duration = records.iter().map(|record| Duration::from_nanos(record.process_ns)).sum();
    assert!(own < all, "{own:?} of {all:?}");
    for record in &records {
        let metrics = &record.iterations[0].metrics;
        assert!(metrics.contains_key("x") && !metrics.keys().any(|name| name == "wall"), "{metrics:?}");
    }
}

#[test]
fn one_that_takes_turns_has_its_own_time() {
    let dir = tempfile::tempdir().unwrap();
    let of = |name: &str, line: &str| Cell {
        id: CellId(name.into()),
        configuration: name.into(),
        timeout: Duration::from_millis(400),
        ..shell("w", line)
    };
    let cells = vec![
        of("a", "while :; do :; done"),
        of("b", "while :; do :; done"),
        of("c", "echo result x 1 count"),
    ];
    let plan = Plan { turns: Duration::from_millis(20), ..plan(cells, 1) };
    run_in(dir.path(), &plan, Options::default()).unwrap();
    for record in records(dir.path()) {
        let expected = if record.cell == CellId("c".into()) { Outcome::Ok } else { Outcome::TimedOut };
        assert_eq!(record.outcome, expected, "{}", record.configuration);
        let ran = Duration::from_millis(record.process_ns / 1_000_000);
        assert!(record.outcome == Outcome::Ok || ran >= Duration::from_millis(400), "{ran:?}");
    }
}

#[test]
fn an_invocation_whose_rehearsal_fails_is_not_run() {
    let ran = tempfile::tempdir().unwrap();
    let mark = ran.path().join("ran");
    let mut failing = shell("w", &format!("touch {}", mark.display()));
    failing.launch.rehearsal = ["sh", "-c", "echo no such event >&2; exit 4"].map(String::from).to_vec();
    let failed = Outcome::Failed { code: 4, last_words: "the rehearsal failed: no such event".into() };
    assert_eq!(outcome(failing), failed);
    assert!(!mark.exists());
    let mut slow = Cell { timeout: Duration::from_millis(50), ..shell("w", "true") };
    slow.launch.rehearsal = ["sh", "-c", "while :; do :; done"].map(String::from).to_vec();
    let why = "its rehearsal took longer than its timeout of 0.05 s; a longer `timeout` holds for both";
    assert_eq!(outcome(slow), Outcome::NotStarted { why: why.into() });
}

/// The number of living processes whose command line has this word.
fn living(word: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let has = |pid: &str| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.split(|&byte| byte == 0).any(|part| part == word.as_bytes()))
    };
    entries
        .filter(|entry| {
            entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok() && has(name))
        })
        .count()
}

/// Waits until nothing runs with this word: what was killed takes the kernel a moment.
fn gone(word: &str) -> bool {
    let begin = Instant::now();
    while living(word) > 0 {
        if begin.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[test]
fn a_timeout_ends_children_and_those_that_made_a_session_of_their_own() {
    // Numbers of seconds that nobody else sleeps.
    let line = "sleep 86411.125 & setsid sleep 86412.125 & trap '' TERM INT HUP; wait; sleep 86411.125";
    let slow = Cell { timeout: Duration::from_millis(500), ..shell("slow", line) };
    assert_eq!(outcome(slow), Outcome::TimedOut);
    assert!(gone("86411.125") && gone("86412.125"));
}

#[test]
fn what_a_good_invocation_leaves_behind_is_ended_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let line = "sleep 86413.125 & setsid sh -c 'echo $$ > there; exec sleep 86413.125' & while ! [ -s there ]; do :; done";
    let plan = plan(vec![shell("left", line)], 1);
    let options = Options { directory: dir.path().to_owned(), ..Options::default() };
    let mut told = 0;
    run(&plan, &options, &mut System::new(&allowed()), &|| false, &mut |event| {
        if let Event::Ended { leftovers, .. } = event {
            told += leftovers;
        }
    })
    .unwrap();
    assert_eq!(records(dir.path())[0].outcome, Outcome::Ok);
    assert_eq!(told, 1, "the one outside of the group");
    assert!(gone("86413.125"));
}

#[test]
fn a_wish_to_end_kills_the_current_invocation_and_leaves_no_record_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let begun = dir.path().join("begun");
    let line = format!("echo > {}; sleep 86414.125", begun.display());
    let both = plan(vec![shell("first", "true"), shell("second", &line)], 1);
    let results = dir.path().join("results");
    let options = Options { directory: results.clone(), ..Options::default() };
    let stop = || begun.exists();
    match run(&both, &options, &mut System::new(&allowed()), &stop, &mut |_| {}) {
        Err(Error::Interrupted { done: 1, all: 2 }) => {}
        other => panic!("{other:?}"),
    }
    assert!(gone("86414.125"));
    assert_eq!(records(&results).len(), 1);
}

#[test]
fn an_invocation_has_a_clean_environment_and_a_directory_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let line = "env | sed 's/=.*//' | sort; pwd; ls -A; cat; ulimit -c; echo x > left; echo {dir}";
    run_in(dir.path(), &plan(vec![shell("env", line)], 2), Options::default()).unwrap();
    let raw = dir.path().canonicalize().unwrap().join(&records(dir.path())[1].raw);
    let out = fs::read_to_string(raw.join("stdout")).unwrap();
    let work = raw.join("work");
    // PWD and SHLVL come from the shell itself.
    let names = "HOME LANG LOOKBACK_LAB_RUN PATH PWD TMPDIR TZ";
    let told: Vec<&str> =
        out.lines().filter(|&name| name != "SHLVL" && name != "_" && name != "OLDPWD").collect();
    let expected: Vec<String> = names
        .split(' ')
        .map(str::to_owned)
        .chain([work.display().to_string(), "0".into(), raw.display().to_string()])
        .collect();
    assert_eq!(told, expected);
    assert!(!work.exists());
    assert!(fs::read_to_string(raw.join("command")).unwrap().starts_with("env -i "));
    let process: crate::measure::Process =
        serde_json::from_slice(&fs::read(raw.join("process.json")).unwrap()).unwrap();
    assert!(process.wall_ns > 0 && process.page_faults > 0 && process.peak_rss_bytes > 0, "{process:?}");
}

#[test]
fn an_invocation_runs_on_the_pinned_core() {
    let dir = tempfile::tempdir().unwrap();
    let core = *allowed().last().unwrap();
    let mut pinned = plan(vec![shell("pin", "grep Cpus_allowed_list /proc/self/status")], 1);
    pinned.pin = crate::plan::Pin::Cores(vec![core]);
    run_in(dir.path(), &pinned, Options::default()).unwrap();
    let out = fs::read_to_string(dir.path().join(&records(dir.path())[0].raw).join("stdout")).unwrap();
    assert_eq!(out, format!("Cpus_allowed_list:\t{core}\n"));
    pinned.pin = crate::plan::Pin::Cores(vec![100_000]);
    assert!(matches!(run_in(dir.path(), &pinned, Options::default()), Err(Error::Cores { .. })));
}

#[test]
fn a_cell_that_fails_alike_twice_is_skipped_and_the_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let cells = vec![shell("bad", "exit 3"), shell("good", "true")];
    let plan = plan(cells, 5);
    let mut told = Vec::new();
    let options = Options { directory: dir.path().to_owned(), ..Options::default() };
    let summary = run(&plan, &options, &mut System::new(&allowed()), &|| false, &mut |event| {
        if let Event::Skipped { cell, invocations, .. } = event {
            told.push((cell.workload.clone(), *invocations));
        }
    })
    .unwrap();
    assert_eq!(summary, Summary { all: 10, good: 5, failed: 2, skipped: 3, ..Summary::default() });
    assert_eq!(told, [("bad".to_owned(), 3)]);
    let all = Options { keep_failing: true, ..Options::default() };
    let summary = run_in(dir.path(), &plan, all).unwrap();
    assert_eq!(summary, Summary { all: 10, before: 7, failed: 3, ..Summary::default() });
}

/// A machine on which others used two of the ten seconds of the invocations in `disturbed`, counted from 0.
struct Scripted {
    reads: u32,
    disturbed: Vec<u32>,
    now: Counters,
    pauses: u32,
}

impl Observer for Scripted {
    fn counters(&mut self) -> Counters {
        // The second reading of each pair ends an invocation.
        if self.reads % 2 == 1 {
            self.now.at += Duration::from_secs(10);
            let busy = if self.disturbed.contains(&(self.reads / 2)) { 2 } else { 0 };
            self.now.idle += Duration::from_secs(10 - busy);
        }
        self.reads += 1;
        self.now.clone()
    }
    fn pause(&mut self, _: Duration) {
        self.pauses += 1;
    }
    fn step(&self) -> Duration {
        Duration::from_millis(10)
    }
}

fn scripted(disturbed: &[u32]) -> Scripted {
    Scripted {
        reads: 0,
        disturbed: disturbed.to_vec(),
        now: Counters { cores: 1, ..Counters::default() },
        pauses: 0,
    }
}

#[test]
fn a_disturbed_invocation_is_run_again_and_every_attempt_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(vec![shell("w", "true")], 3);
    plan.retries = 1;
    plan.quiet = Quiet { patience: Duration::ZERO, ..Quiet::default() };
    let options = Options { directory: dir.path().to_owned(), ..Options::default() };
    // The first is disturbed once, the second both times, the third never.
    let summary = run(&plan, &options, &mut scripted(&[0, 2, 3]), &|| false, &mut |_| {}).unwrap();
    assert_eq!(summary, Summary { all: 3, good: 2, disturbed: 1, repeated: 2, ..Summary::default() });
    let attempts: Vec<_> =
        records(dir.path()).iter().map(|r| (r.invocation, r.attempt, r.counts())).collect();
    assert_eq!(attempts, [(1, 1, false), (1, 2, true), (2, 1, false), (2, 2, false), (3, 1, true)]);
    let first = &records(dir.path())[0];
    assert_eq!(first.outcome, Outcome::Ok);
    assert!(
        matches!(first.disturbances[..], [Disturbance::Others { percent }] if percent > 15.0),
        "{first:?}"
    );
}

#[test]
fn a_busy_neighbour_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(vec![shell("w", "n=0; while [ $n -lt 30000 ]; do n=$((n+1)); done; sleep 0.3")], 1);
    plan.quiet = Quiet { patience: Duration::ZERO, ..Quiet::default() };
    let core = *allowed().first().unwrap();
    plan.pin = crate::plan::Pin::Cores(vec![core]);
    let mut neighbour = Command::new("taskset")
        .args(["-c", &core.to_string(), "sh", "-c", "while :; do :; done"])
        .spawn()
        .unwrap();
    let options = Options { directory: dir.path().to_owned(), ..Options::default() };
    let ran = run(&plan, &options, &mut System::new(&[core]), &|| false, &mut |_| {});
    neighbour.kill().unwrap();
    neighbour.wait().unwrap();
    ran.unwrap();
    let record = &records(dir.path())[0];
    let others = |d: &Disturbance| matches!(d, Disturbance::Others { percent } if *percent > 20.0);
    assert!(record.disturbances.iter().any(others), "{record:?}");
}

#[test]
fn results_of_a_changed_cell_are_kept_and_do_not_count() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path(), &plan(vec![shell("old", "true")], 2), Options::default()).unwrap();
    let mut strangers = 0;
    let changed = plan(vec![shell("new", "true")], 1);
    let options = Options { directory: dir.path().to_owned(), ..Options::default() };
    let summary = run(&changed, &options, &mut System::new(&allowed()), &|| false, &mut |event| {
        if let Event::Resumed { strangers: found, .. } = event {
            strangers = *found;
        }
    })
    .unwrap();
    assert_eq!((strangers, summary.before, summary.good), (1, 0, 1));
    assert_eq!(records(dir.path()).len(), 3);
    assert_eq!(Plan::read(&dir.path().join("plan.json")).unwrap().cells[0].workload, "new");
}

/// A program that keeps 64 MiB.
const KEEPER: &str = "
public class Keeper {
    public static void main(String[] args) {
        var kept = new byte[64][];
        for (int i = 0; i < kept.length; i++) kept[i] = new byte[(1 << 20) - 64];
        System.out.println(\"iteration 1 keeper 1.0 ms\");
        System.out.println(\"checksum keeper \" + kept.length);
        if (args.length > 0) System.exit(kept[3][0] + Integer.parseInt(args[0]));
    }
}
";

#[test]
fn a_real_vm_runs_and_runs_out_of_memory() {
    let javas = javas();
    assert!(!javas.is_empty(), "there is no JDK: set JAVA_HOME_17");
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("Keeper.java");
    fs::write(&source, KEEPER).unwrap();
    for (i, java) in javas.iter().enumerate() {
        let classes = dir.path().join(format!("classes{i}"));
        let javac = java.with_file_name("javac");
        assert!(Command::new(javac).arg("-d").args([&classes, &source]).status().unwrap().success());
        let of = |workload: &str, options: &[&str], mib: u64, arguments: &[&str]| {
            let command: Vec<&str> = ["Keeper"].iter().chain(arguments).copied().collect();
            let base = java_cell(java.to_str().unwrap(), options, classes.to_str().unwrap(), &command);
            Cell {
                id: CellId(workload.into()),
                workload: workload.into(),
                heap: Some(HeapSize { multiple: None, bytes: mib << 20 }),
                ..base
            }
        };
        let cells = vec![
            of("good", &["-XX:+UseSerialGC"], 128, &[]),
            of("small", &["-XX:+UseSerialGC"], 32, &[]),
            of("tiny", &["-XX:+UseG1GC"], 1, &[]),
            of("code", &["-XX:+UseSerialGC"], 128, &["5"]),
            of("options", &["-XX:+NoSuchOption"], 128, &[]),
        ];
        let results = dir.path().join(format!("results{i}"));
        run_in(&results, &plan(cells, 1), Options::default()).unwrap();
        let outcomes: Vec<_> = records(&results).into_iter().map(|record| record.outcome).collect();
        assert_eq!(
            outcomes[..3],
            [Outcome::Ok, Outcome::OutOfMemory, Outcome::OutOfMemory],
            "{}",
            java.display()
        );
        assert_eq!(outcomes[3], Outcome::Failed { code: 5, last_words: "checksum keeper 64".into() });
        assert!(matches!(outcomes[4], Outcome::Failed { code: 1, .. }), "{:?}", outcomes[4]);
        let good = &records(&results)[0];
        // The process from its start to its end, not the millisecond that the program tells of.
        assert_eq!(good.mean("wall"), Some(good.process_ns as f64));
    }
}

/// A program that writes to address 0 as native code would.
const CRASHER: &str = "
public class Crasher {
    public static void main(String[] args) throws Exception {
        var field = sun.misc.Unsafe.class.getDeclaredField(\"theUnsafe\");
        field.setAccessible(true);
        ((sun.misc.Unsafe) field.get(null)).putAddress(0L, 1L);
    }
}
";

#[test]
fn a_real_vm_that_crashes_leaves_its_error_file_and_no_core() {
    let java = javas().into_iter().next().expect("a JDK: set JAVA_HOME_17");
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("Crasher.java");
    fs::write(&source, CRASHER).unwrap();
    let javac =
        Command::new(java.with_file_name("javac")).arg("-d").args([dir.path(), &source]).output().unwrap();
    assert!(javac.status.success(), "{javac:?}");
    let crasher = java_cell(java.to_str().unwrap(), &[], dir.path().to_str().unwrap(), &["Crasher"]);
    let results = dir.path().join("results");
    run_in(&results, &plan(vec![crasher], 1), Options::default()).unwrap();
    let record = &records(&results)[0];
    assert_eq!(record.outcome, Outcome::Crash { signal: 6 });
    let mut names: Vec<_> =
        fs::read_dir(results.join(&record.raw)).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["command", "hs_err.log", "process.json", "stderr", "stdout"]);
}

/// A machine on which others use all cores all the time.
struct Busy(Counters);

impl Observer for Busy {
    fn counters(&mut self) -> Counters {
        self.0.clone()
    }
    fn pause(&mut self, time: Duration) {
        self.0.at += time;
    }
    fn step(&self) -> Duration {
        Duration::from_millis(10)
    }
}

#[test]
fn the_wish_to_end_is_heard_while_the_machine_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(vec![shell("w", "true")], 1);
    plan.quiet = Quiet { patience: Duration::from_secs(3600), ..Quiet::default() };
    let options = Options { directory: dir.path().to_owned(), ..Options::default() };
    let waits = Flag::new(0);
    let mut busy = Busy(Counters { cores: 1, ..Counters::default() });
    let ended = run(&plan, &options, &mut busy, &|| waits.get() >= 2, &mut |event| {
        if let Event::Waiting { .. } = event {
            waits.set(waits.get() + 1);
        }
    });
    assert!(matches!(ended, Err(Error::Interrupted { done: 0, all: 1 })), "{ended:?}");
    assert_eq!(records(dir.path()), []);
}
