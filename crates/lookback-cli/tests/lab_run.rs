//! `lookback lab run`, `min-heap` and `machine` as commands: what is said, and what a kill, Ctrl-C or a full disk leave.

mod support;

use lookback_lab::plan::{Cell, CellId, Jdk, Plan};
use lookback_lab::results::{Outcome, RECORDS, Record, read_lines};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::plans::shell;
use support::{Child, Place, Ran, plans, script};

/// Writes a plan that runs each cell so often.
fn plan(place: &Place, cells: Vec<Cell>, invocations: u32) -> PathBuf {
    let jdk = Jdk { name: "17".into(), home: "/jdk".into(), version: "17".into(), hash: "a".into() };
    plans::write(place, &Plan { jdks: vec![jdk], ..plans::plan(cells, invocations) })
}

const RUN: [&str; 6] = ["lab", "run", "--plan", "plan.json", "--out", "out"];

fn records(place: &Place) -> Vec<Record> {
    read_lines(&place.file("out").join(RECORDS)).unwrap().lines
}

/// Starts the run as a process of its own.
fn start(place: &Place) -> Child {
    Child(place.lookback(&RUN).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

/// Waits until something is so; what waits for a process gives it the core.
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "not within a minute: {what}");
        std::thread::yield_now();
    }
}

/// The number of living processes whose command line has this word.
fn living(word: &str) -> usize {
    let has = |entry: &fs::DirEntry| {
        let is_process = entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok());
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        is_process && line.split(|&byte| byte == 0).any(|part| part == word.as_bytes())
    };
    fs::read_dir("/proc").unwrap().flatten().filter(has).count()
}

/// Each invocation of the plan has one record, and it is good.
#[track_caller]
fn assert_whole(place: &Place, cells: usize, invocations: usize) {
    let mut seen: Vec<_> =
        records(place).iter().map(|r| (r.cell.to_string(), r.invocation, r.attempt)).collect();
    assert!(records(place).iter().all(|record| record.outcome == Outcome::Ok));
    assert_eq!(seen.len(), cells * invocations);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), cells * invocations, "something ran twice");
    assert!(seen.iter().all(|(_, _, attempt)| *attempt == 1));
}

#[test]
fn killed_at_random_points_it_loses_nothing_and_runs_nothing_twice() {
    let place = Place::new();
    let cells = vec![
        shell("a", "sleep 0.0187251"),
        shell("b", "setsid sleep 0.0187251"),
        shell("c", "echo result x 1 ns"),
    ];
    plan(&place, cells, 10);
    // Not chance: the same points each time, spread over the run (xorshift).
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..15 {
        let mut run = start(&place);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let life = Duration::from_micros(random % 200_000);
        let begin = Instant::now();
        until("the moment", || begin.elapsed() >= life || !run.alive());
        run.0.kill().unwrap();
        let status = run.0.wait().unwrap();
        assert!(status.signal() == Some(9) || status.success(), "{status}");
        // What is there now is whole.
        records(&place);
    }
    let ran = place.run(&RUN).ok();
    assert!(ran.out.starts_with("out: ") && ran.out.contains("of 30 invocations"), "{}", ran.out);
    assert_whole(&place, 3, 10);
    until("the programs are gone", || living("0.0187251") == 0);
    let again = place.run(&RUN).ok();
    assert!(
        again.out.contains("0 of 30 invocations") && again.out.contains("30 were done before"),
        "{}",
        again.out
    );
    assert_whole(&place, 3, 10);
}

#[test]
fn a_run_that_is_killed_takes_its_invocation_with_it_and_the_next_one_ends_the_rest() {
    let place = Place::new();
    let line = "setsid sleep 86421.5 & if [ -e ../../../../../second ]; then exit 0; fi; echo > ../../../../../begun; exec sleep 86422.5";
    plan(&place, vec![shell("long", line)], 1);
    let mut run = start(&place);
    until("it has begun", || {
        place.file("begun").exists() && living("86421.5") == 1 && living("86422.5") == 1
    });
    run.0.kill().unwrap();
    run.0.wait().unwrap();
    until("the invocation has ended with it", || living("86422.5") == 0);
    assert_eq!(living("86421.5"), 1, "in a session of its own, and not its child");
    fs::write(place.file("second"), "").unwrap();
    let ran = place.run(&RUN).ok();
    assert!(ran.err.contains("1 processes of an earlier run were still there"), "{}", ran.err);
    until("the rest is gone", || living("86421.5") == 0);
    assert_whole(&place, 1, 1);
}

#[test]
fn ctrl_c_ends_the_invocation_and_says_how_to_go_on() {
    let place = Place::new();
    let line = "[ -e ../../../../../second ] && exit 0; echo > ../../../../../begun; sleep 86423.5 & setsid sleep 86423.5 & wait";
    plan(&place, vec![shell("quick", "true"), shell("slow", line)], 1);
    let run = place.lookback(&RUN).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("it has begun", || place.file("begun").exists() && living("86423.5") == 2);
    let killed = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ended = run.wait_with_output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{err}");
    assert!(err.contains("error: interrupted; 1 of 2 are done") && err.contains("goes on where"), "{err}");
    assert_eq!(living("86423.5"), 0, "nothing is left when it has ended");
    assert_eq!(records(&place).len(), 1);
    fs::write(place.file("second"), "").unwrap();
    let ran = place.run(&RUN).ok();
    assert!(ran.err.contains("going on: 1 of 2 invocations are done"), "{}", ran.err);
    assert_whole(&place, 2, 1);
}

#[test]
fn two_runs_into_one_directory_are_kept_apart() {
    let place = Place::new();
    plan(&place, vec![shell("slow", "echo > ../../../../../begun; exec sleep 86424.5")], 1);
    let run = start(&place);
    until("it has begun", || place.file("begun").exists());
    let said = format!("in use by process {}", run.0.id());
    place.run(&RUN).fails(1, &[&said, "--out"]);
    // Looking is allowed.
    let dry = place.run(&[&RUN[..], &["--dry-run"]].concat()).ok();
    assert!(dry.out.contains("0 of 1 invocations are done"), "{}", dry.out);
}

#[test]
fn a_torn_record_is_cut_off_and_run_again_and_a_damaged_one_is_an_error() {
    let place = Place::new();
    plan(&place, vec![shell("a", "true")], 3);
    place.run(&[&RUN[..], &["--invocations", "2"]].concat()).ok();
    let file = place.file("out").join(RECORDS);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 10]).unwrap();
    let ran = place.run(&RUN).ok();
    assert!(ran.err.contains("torn by a kill"), "{}", ran.err);
    assert_whole(&place, 1, 3);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("{\"schema\"", "{\"sch", 1)).unwrap();
    place.run(&RUN).fails(1, &["line 1 of", "is damaged", "try: "]);
}

#[test]
fn a_full_disk_stops_the_run_and_loses_nothing() {
    let place = Place::new();
    plan(&place, vec![shell("a", "true")], 20);
    // A limit of a file's size stands for the disk: 4 KiB, some records, the last of them partly.
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_lookback")]);
    limited.args(RUN).current_dir(place.path()).stdin(Stdio::null());
    let ran = Ran::of(&mut limited).fails(1, &["cannot write", "results.jsonl", "free some space"]);
    let kept = records(&place).len();
    assert!((1..20).contains(&kept), "{kept}: {}", ran.err);
    assert_eq!(read_lines::<Record>(&place.file("out").join(RECORDS)).unwrap().torn, 0);
    let ran = place.run(&RUN).ok();
    assert!(ran.out.contains(&format!("{kept} were done before")), "{}", ran.out);
    assert_whole(&place, 1, 20);
}

#[test]
fn figures_are_made_of_a_changed_cell_as_it_is_now() {
    let place = Place::new();
    plan(&place, vec![shell("a", "echo result x 1 ns")], 2);
    place.run(&RUN).ok();
    let changed = Cell { id: CellId("changed".into()), ..shell("a", "echo result x 3 ns") };
    plan(&place, vec![changed], 2);
    place.run(&[&RUN[..], &["--invocations", "1"]].concat()).ok();
    assert_eq!(records(&place).len(), 3, "the old ones are kept");
    let report = place.run(&["lab", "report", "out", "--format", "txt"]).ok();
    assert!(report.out.contains("1 attempt ran of 2 planned"), "{}", report.out);
    assert!(report.out.contains("2 attempts were of cells that were changed since"), "{}", report.out);
    let left_out = "left out 2 attempts of cells that were changed since";
    place.run(&["lab", "lbo", "out", "--metric", "x"]).fails(2, &[left_out]);
    place.run(&["lab", "publish", "out", "--name", "now", "--to", "."]).ok();
    let published =
        fs::read_dir(place.path()).unwrap().flatten().map(|entry| entry.path().join("results.txt"));
    let lines = published.filter_map(|file| fs::read_to_string(file).ok()).collect::<String>();
    assert!(lines.contains("result mean-x.a.plain 3 ns"), "{lines}");
    let all = place.run(&["lab", "export", "out", "-o", "-", "--format", "csv"]).ok();
    assert_eq!(all.out.lines().count(), 4, "what is exported is everything");
}

#[test]
fn a_part_is_run_by_pattern_and_a_pattern_without_a_match_is_refused() {
    let place = Place::new();
    plan(&place, vec![shell("xalan", "true"), shell("pmd", "exit 4")], 3);
    place.run(&[&RUN[..], &["--only", "xal*"]].concat()).ok();
    assert!(records(&place).iter().all(|record| record.workload == "xalan"));
    place
        .run(&[&RUN[..], &["--only", "h2"]].concat())
        .fails(2, &["no workload and no configuration matches `h2`", "pmd"]);
    let ran = place.run(&RUN).ok();
    assert!(
        ran.err.contains("pmd plain: given up after its first invocations (exit code 4); 1 are skipped"),
        "{}",
        ran.err
    );
    assert!(
        ran.out.contains("3 of 6 invocations: 0 good, 2 failed, 1 skipped, 3 were done before"),
        "{}",
        ran.out
    );
    let dry = place.run(&[&RUN[..], &["--dry-run"]].concat()).ok();
    assert!(dry.out.contains("given up: exit code 4") && dry.out.contains("nothing is left"), "{}", dry.out);
    fs::write(place.file("plan.json"), "{}").unwrap();
    place.run(&RUN).fails(2, &["plan.json is not a plan", "try: "]);
}

#[test]
fn the_machine_is_told_as_text_and_as_json() {
    let place = Place::new();
    let text = place.run(&["lab", "machine"]).ok().out;
    assert!(text.contains("kernel") && text.contains("cores"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&place.run(&["lab", "machine", "--json"]).ok().out).unwrap();
    assert!(json["facts"]["cores"].as_u64().unwrap() > 0 && json["advice"].is_array(), "{json}");
}

#[test]
fn smallest_heaps_are_searched_for_and_kept() {
    let place = Place::new();
    // Needs 12 MiB.
    let java = script(
        &place,
        "java",
        "for o; do case $o in -Xmx*m) h=${o#-Xmx};; esac; done\n[ ${h%m} -ge 12 ] || exit 3",
    );
    let mut cell = plans::cell("w", "g1", &["Main"]);
    cell.jdk = "17".into();
    cell.collector = Some("g1".into());
    cell.launch.jvm = Some(plans::jvm(java, &[]));
    plan(&place, vec![cell], 1);
    let search = ["lab", "min-heap", "--plan", "plan.json", "--most", "64m"];
    let ran = place.run(&search).ok();
    assert!(ran.out.contains("w         17   g1         12 MiB"), "{}", ran.out);
    assert!(ran.err.contains("w 17 g1: 12 MiB after"), "{}", ran.err);
    let kept = fs::read_to_string(place.file("lab-results/min-heap.jsonl")).unwrap();
    assert!(kept.contains("\"bytes\":12582912") && kept.lines().count() == 1, "{kept}");
    assert_eq!(place.run(&search).ok().err, "", "it is known");
    place.run(&[&search[..], &["--collector", "zgc"]].concat()).fails(2, &["no cell whose heap"]);
    place.run(&[&search[..], &["--passes", "3/2"]].concat()).fails(2, &["K at most N"]);
}
