//! `lookback lab shards` and `merge` as commands: two local workers, and hosts behind a stand-in for ssh that are other
//! directories of this machine, one of which goes away.
//!
//! GNU parallel and rsync are the real ones; without them these tests say so and do nothing.

mod support;

use lookback_lab::results::{RECORDS, Record, read_lines};
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use support::{Place, Ran, script};

/// An experiment of two programs whose figures need no quiet machine; each tells its cores.
fn experiment(place: &Place, invocations: u32) {
    let text = format!(
        r#"name = "two"
include = ["shared/quiet.toml"]
invocations = {invocations}
[workloads.a]
kind = "command"
program = ["sh", "-c", "taskset -cp $$ >&2; echo result x 1 ns"]
[workloads.b]
kind = "command"
program = ["sh", "-c", "echo result x 2 ns"]
"#
    );
    fs::write(place.file("two.toml"), text).unwrap();
    fs::create_dir_all(place.file("shared")).unwrap();
    let quiet =
        "[quiet]\nsteal-percent = 100.0\nothers-percent = 100.0\nswap = \"900g\"\npatience = \"1s\"\n";
    fs::write(place.file("shared/quiet.toml"), quiet).unwrap();
}

/// Whether the programs are there that the tests need.
fn can(programs: &[&str]) -> bool {
    let lacks = |program: &&&str| {
        let mut command = Command::new(program);
        command
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_err()
    };
    let lacking = programs.iter().find(lacks);
    if let Some(program) = lacking {
        eprintln!("not tested: {program} is not installed (scripts/setup.sh does that)");
    }
    lacking.is_none()
}

fn records(place: &Place, directory: &str) -> Vec<Record> {
    read_lines(&place.file(directory).join(RECORDS)).unwrap().lines
}

/// Cell and number of each invocation of a host, each once.
#[track_caller]
fn invocations(records: &[Record], host: Option<&str>) -> BTreeSet<(String, u32)> {
    let own: Vec<_> = records.iter().filter(|record| host.is_none_or(|host| record.host == host)).collect();
    let set: BTreeSet<_> = own.iter().map(|one| (one.workload.clone(), one.invocation)).collect();
    assert_eq!(set.len(), own.len(), "something ran twice");
    set
}

fn expected(numbers: impl Iterator<Item = u32>) -> BTreeSet<(String, u32)> {
    numbers.flat_map(|number| [("a".to_owned(), number), ("b".to_owned(), number)]).collect()
}

#[test]
fn two_local_workers_share_the_blocks_and_no_core() {
    if !can(&["parallel", "taskset"]) {
        return;
    }
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("not tested: this machine has one core");
        return;
    }
    let place = Place::new();
    experiment(&place, 5);
    let run = ["lab", "shards", "two.toml", "--local", "2"];
    let ran = place.run(&run).ok();
    assert!(ran.out.contains("10 records added"), "{}", ran.out);
    assert!(ran.out.contains("local-1  1/2   6/6") && ran.out.contains("local-2  2/2   4/4"), "{}", ran.out);
    assert!(ran.err.contains("local-1: ") && ran.err.contains("local-2: "), "{}", ran.err);
    let all = records(&place, "lab-results/two");
    assert_eq!(invocations(&all, None), expected(1..=5));
    let of = |worker: &str| records(&place, &format!("lab-results/two/hosts/{worker}"));
    assert_eq!(invocations(&of("local-1"), None), expected([1, 3, 5].into_iter()));
    assert_eq!(invocations(&of("local-2"), None), expected([2, 4].into_iter()));
    let cores = |worker: &str| -> BTreeSet<String> {
        let own = of(worker).into_iter().filter(|record| record.workload == "a");
        let raw = own.map(|record| place.file("lab-results/two/hosts").join(worker).join(record.raw));
        let said = raw.map(|raw| fs::read_to_string(raw.join("stderr")).unwrap());
        said.map(|said| said.trim().rsplit(": ").next().unwrap().to_owned()).collect()
    };
    let (one, two) = (cores("local-1"), cores("local-2"));
    assert!(one.len() == 1 && two.len() == 1 && one != two, "{one:?} {two:?}");

    let again = place.run(&run).ok();
    assert!(again.out.contains("0 records added, 10 were there"), "{}", again.out);
    assert!(!again.err.contains("local-1: "), "nobody was started: {}", again.err);
    // More of the same experiment: only what is new is run.
    experiment(&place, 6);
    place.run(&run).ok();
    assert_eq!(invocations(&records(&place, "lab-results/two"), None), expected(1..=6));

    let merged =
        ["lab", "merge", "lab-results/two/hosts/local-1", "lab-results/two/hosts/local-2", "-o", "all"];
    assert!(place.run(&merged).ok().out.contains("12 records added, 0 were there"));
    place.run(&["lab", "merge", "nowhere", "-o", "all"]).fails(1, &["cannot read nowhere"]);
}

#[test]
fn a_host_that_goes_away_stops_nobody_and_only_its_part_is_run_again() {
    if !can(&["parallel", "rsync", "taskset"]) {
        return;
    }
    let place = Place::new();
    experiment(&place, 4);
    // A host is a directory. It is down while a file says so; ssh's own exit code is 255.
    let base = place.path().display();
    let ssh = script(
        &place,
        "ssh",
        &format!(
            "while :; do case $1 in -l) shift 2;; -*) shift;; *) break;; esac; done\nhost=$1; shift; [ \"$1\" != -- ] || shift\n\
             [ ! -e {base}/down-$host ] || exit 255\n\
             HOME={base}/home-$host; export HOME; mkdir -p $HOME; cd $HOME && exec sh -c \"$*\""
        ),
    );
    fs::write(place.file("down-b"), "").unwrap();
    fs::write(place.file("hosts"), "a   # the first\n\nb\n").unwrap();
    let ssh = ssh.to_str().unwrap();
    let shards = |hosts: &[&str]| -> Ran {
        let fixed = ["lab", "shards", "two.toml", "--out", "out", "--ssh", ssh, "--retries", "1"];
        let command = ["--lookback", env!("CARGO_BIN_EXE_lookback")];
        // As a service or continuous integration would: without the shell of a user.
        let mut whole = place.lookback(&[&fixed[..], &command[..], hosts].concat());
        Ran::of(whole.env_remove("SHELL"))
    };
    let both = ["--hosts-file", "hosts"];
    let ran = shards(&both)
        .fails(1, &["4 of 8 invocations are missing: b has 0 of 4 (no connection (exit code 255))", "try: "]);
    assert!(ran.err.contains("trying again: b"), "{}", ran.err);
    assert!(
        ran.out.contains("4 records added") && ran.out.contains("a       1/2   4/4   done"),
        "{}",
        ran.out
    );
    assert_eq!(invocations(&records(&place, "out"), Some("a")), expected([1, 3].into_iter()));
    assert!(place.file("home-a/lookback-lab/two/shared/quiet.toml").exists(), "what is included was sent");

    fs::remove_file(place.file("down-b")).unwrap();
    let ran = shards(&both).ok();
    assert!(!ran.err.contains("a: "), "a was not asked again: {}", ran.err);
    let all = records(&place, "out");
    assert_eq!(invocations(&all, Some("a")), expected([1, 3].into_iter()));
    assert_eq!(invocations(&all, Some("b")), expected([2, 4].into_iter()));

    // Two blocks more, and b is not named any more: what a has not done of b's part it begins anew, whole.
    experiment(&place, 6);
    let ran = shards(&["--hosts", "a"]).ok();
    assert!(ran.err.contains("part 2/2 goes from b to a"), "{}", ran.err);
    let all = records(&place, "out");
    assert_eq!(invocations(&all, Some("a")), expected(1..=6));
    assert_eq!(invocations(&all, Some("b")), expected([2, 4].into_iter()), "what b did is kept");
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    if !can(&["parallel"]) {
        return;
    }
    let place = Place::new();
    experiment(&place, 2);
    place
        .run(&["lab", "shards", "two.toml"])
        .fails(2, &["the hosts cannot be used: none was named", "--local"]);
    place
        .run(&["lab", "shards", "two.toml", "--hosts", "a,me@a"])
        .fails(2, &["another worker by the name of a"]);
    place.run(&["lab", "shards", "two.toml", "--local", "100000"]).fails(2, &["100000 local workers have"]);
    assert!(!place.file("lab-results").exists());
    // Another program by that name, as in moreutils.
    script(&place, "parallel", "echo parallel");
    let mut command = place.lookback(&["lab", "shards", "two.toml", "--local", "1"]);
    command.env("PATH", format!("{}:{}", place.path().display(), std::env::var("PATH").unwrap_or_default()));
    Ran::of(&mut command).fails(1, &["GNU parallel cannot be used", "is another one", "install it"]);
}
