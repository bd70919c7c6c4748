//! However a program ends, and whatever its VM is told, the agent does not show.

use crate::support::{Java, Jdk, Place, jdks};

#[track_caller]
fn same_with_and_without(jdk: &Jdk, program: &[&str], options: &[&str]) -> (Option<i32>, String) {
    let place = Place::new();
    let java = Java::new(jdk, &place, program).options(options);
    let without = java.run();
    let with = java.agent("trivial=0").run();
    with.same_as(&without);
    assert_eq!(with.own_err(), without.own_err(), "{program:?}");
    let first = with.agent_lines().first().map(|l| l.contains("recording in"));
    assert_eq!(first, Some(true), "it was recorded: {}", with.err);
    let left = std::fs::read_dir(place.runtime()).map_or(0, Iterator::count);
    if without.code.is_some_and(|code| code != 5 && code != 9) {
        assert_eq!((left, place.region().exists()), (0, false), "{program:?} leaves nothing behind");
    }
    (with.code, with.out)
}

#[test]
fn however_a_program_ends_it_ends_the_same() {
    for jdk in jdks() {
        let run = |way: &str| same_with_and_without(jdk, &["Exits", way], &["-Xmx64m"]);
        assert_eq!(same_with_and_without(jdk, &["Hello"], &[]), (Some(0), "hello world\n".to_owned()));
        assert_eq!(run("return"), (Some(0), "begin return\nend return\n".to_owned()));
        let (code, out) = run("exit");
        assert_eq!((code, out.contains("hook"), out.contains("not reached")), (Some(3), true, false));
        assert_eq!(run("halt").0, Some(5));
        assert_eq!(run("uncaught").0, Some(1));
        assert_eq!(run("uncaught-thread").0, Some(0));
        assert_eq!(run("overflow").1.matches("caught null").count(), 5);
        assert_eq!(run("memory").1.matches("caught Java heap space").count(), 3);
        assert_eq!(run("daemons").0, Some(0));
        assert_eq!(run("hook").0, Some(9));
    }
}

#[test]
fn a_signal_ends_a_program_the_same() {
    for jdk in jdks() {
        let end = |agent: bool| {
            let place = Place::new();
            let java = Java::new(jdk, &place, &["Commands"]);
            let java = if agent { java.agent("trivial=0") } else { java };
            let mut running = java.start();
            running.until("ready");
            running.end_by(libc::SIGTERM)
        };
        let (with, without) = (end(true), end(false));
        with.same_as(&without);
        assert_eq!(with.code, Some(143));
    }
}

/// VM options that change how code runs, and what each needs in order to be there.
const MODES: [&[&str]; 9] = [
    &["-Xint"],
    &["-XX:TieredStopAtLevel=1"],
    &["-XX:-TieredCompilation"],
    &["-Xcomp"],
    &["-XX:+UseParallelGC"],
    &["-XX:+UseG1GC"],
    &["-XX:+UseZGC"],
    &["-XX:+UseShenandoahGC"],
    &["-XX:-UseCompressedOops", "-Xshare:off"],
];

#[test]
fn whatever_the_vm_is_told_the_program_does_the_same() {
    for jdk in jdks() {
        let mut tried = 0;
        for mode in MODES {
            let place = Place::new();
            let program = ["Exits", "overflow"];
            let java = Java::new(jdk, &place, &program).only_options(mode).option("-Xmx256m");
            let without = java.run();
            if without.err.contains("not supported") || without.err.contains("Unrecognized VM option") {
                continue;
            }
            let with = java.agent("trivial=0").run();
            with.same_as(&without);
            assert_eq!((with.code, with.own_err()), (Some(0), without.own_err()), "{mode:?}");
            tried += 1;
        }
        println!("JDK {}: {tried} of {} modes are there, the same in all", jdk.version, MODES.len());
        assert!(tried >= 6);
    }
}
