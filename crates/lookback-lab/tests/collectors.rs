//! Real JVMs under every collector: each of their threads is known by its name, and the log's clock is the program's.
//!
//! JDKs are those of `JAVA_HOME_17`, `JAVA_HOME_25`, `JAVA_HOME` and `/usr/lib/jvm`, as far as they run; a collector
//! that a JDK does not have is passed over, G1 excepted.

use lookback_lab::measure::gc_log::{Event, read};
use lookback_lab::measure::roles::Role;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A collector, its options, and the roles that its threads must have beside those of any VM.
const COLLECTORS: [(&str, &[&str], bool); 7] = [
    ("serial", &["-XX:+UseSerialGC"], false),
    ("parallel", &["-XX:+UseParallelGC"], true),
    ("g1", &["-XX:+UseG1GC"], true),
    ("shenandoah", &["-XX:+UseShenandoahGC"], true),
    ("genshen", &["-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"], true),
    ("z", &["-XX:+UseZGC"], true),
    ("jfr", &["-XX:+UseSerialGC", "-XX:StartFlightRecording:filename=recording.jfr"], false),
];

fn run(program: &Path, arguments: &[&str], here: &Path) -> Option<Output> {
    Command::new(program).args(arguments).current_dir(here).output().ok()
}

/// Homes of JDKs that run.
fn jdks(here: &Path) -> BTreeSet<PathBuf> {
    let named = ["JAVA_HOME_17", "JAVA_HOME_25", "JAVA_HOME"].into_iter().filter_map(std::env::var_os);
    let installed =
        std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    let homes = named.map(PathBuf::from).chain(installed).filter_map(|home| home.canonicalize().ok());
    let runs = |home: &PathBuf| {
        run(&home.join("bin/java"), &["-version"], here).is_some_and(|output| output.status.success())
    };
    homes.filter(runs).collect()
}

#[test]
fn every_thread_of_a_jvm_is_known_and_the_log_has_the_programs_clock() {
    let place = tempfile::tempdir().expect("a directory");
    let here = place.path();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/Churn.java");
    let source = source.to_str().expect("a path");
    let jdks = jdks(here);
    let compiled = jdks.iter().any(|home| {
        let compile = ["--release", "17", "-d", ".", source];
        run(&home.join("bin/javac"), &compile, here).is_some_and(|output| output.status.success())
    });
    assert!(compiled, "there is no JDK with a compiler: set JAVA_HOME_25");
    let mut runs = 0;
    for home in &jdks {
        for (name, options, threads_of_its_own) in COLLECTORS {
            let mut arguments = vec!["-XX:+UnlockExperimentalVMOptions", "-Xmx64m"];
            arguments.extend(options);
            arguments.extend(["-Xlog:gc*,safepoint*:file=gc.log:timenanos,level,tags", "-cp", ".", "Churn"]);
            let output = run(&home.join("bin/java"), &arguments, here).expect("the JDK runs");
            let words = String::from_utf8_lossy(&output.stdout).into_owned();
            if !output.status.success() {
                assert_ne!(name, "g1", "{home:?} {words} {}", String::from_utf8_lossy(&output.stderr));
                continue;
            }
            check(&format!("{name} of {}", home.display()), &words, threads_of_its_own, &here.join("gc.log"));
            runs += 1;
        }
    }
    assert!(runs >= 4, "{runs} collectors ran");
}

fn check(what: &str, words: &str, threads_of_its_own: bool, log: &Path) {
    let number = |key: &str| -> u64 { of(words, key)[0].parse().expect("a number") };
    // The program's own: its threads, the one that started the VM, and the two that run its code for it.
    let own = ["churn-0", "churn-1", "java", "Finalizer", "Common-Cleaner"];
    let names = of(words, "thread ");
    for name in &names {
        // A thread that was just made still bears its maker's name, and a Java thread without one is the program's.
        let expected = own.contains(name) || name.starts_with("Thread-");
        assert_eq!(Role::of(name) == Role::Mutator, expected, "{what}: {name}");
    }
    let has = |role| names.iter().any(|name| Role::of(name) == role);
    assert!(has(Role::Jit) && has(Role::VmThread) && has(Role::Vm), "{what}: {names:?}");
    assert_eq!(has(Role::Gc), threads_of_its_own, "{what}: {names:?}");
    assert_eq!(has(Role::Tracer), what.starts_with("jfr"), "{what}: {names:?}");
    let (begin, end) = (number("begin "), number("end "));
    let mut within = 0;
    let file = std::io::BufReader::new(std::fs::File::open(log).expect("a log"));
    read(file, |event| {
        if let Event::Pause(pause) = event {
            within += u32::from(begin <= pause.begin && pause.end <= end);
        }
    })
    .expect("a log");
    assert!(
        within >= 2,
        "{what}: {within} pauses between {begin} and {end}, and it asked for two collections"
    );
}

/// What follows a key, line by line.
fn of<'a>(words: &'a str, key: &str) -> Vec<&'a str> {
    words.lines().filter_map(|line| line.strip_prefix(key)).collect()
}
