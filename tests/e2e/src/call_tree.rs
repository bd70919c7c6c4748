//! The recorded call tree is the one that was executed: every entry and every exit, in order, of every
//! thread; and what does not fit is missing where it is said to be missing.
//!
//! The constraint: the expected events come from a simulator that knows nothing of Lookback (see
//! `java/workloads`), so nothing here may be derived from what was recorded.

use crate::support::{Java, Jdk, Place, Recorded, jdks};
use std::collections::BTreeMap;
use std::path::Path;

const PACKAGE: &str = "dev.lookback.workloads.calltree.traced.";

/// The expected events, by thread. Trace points of bytecode enter constructors late.
fn expected(file: &Path, by_bytecode: bool) -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("lookback-calltree 1"));
    assert_eq!(lines.next(), Some(format!("package {}", PACKAGE.trim_end_matches('.')).as_str()));
    let mut threads: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut events = None;
    for line in lines {
        match line.strip_prefix("thread ") {
            Some(name) => events = Some(threads.entry(name.to_owned()).or_default()),
            None => events.as_mut().expect("a thread comes first").push(line.to_owned()),
        }
    }
    threads.values_mut().filter(|_| by_bytecode).for_each(|events| enter_behind_super(events));
    threads
}

/// The verifier lets no handler cover the code before `super(...)`, so a constructor is entered behind it
/// (see the class file rewriter), while the simulator has it entered before. Of the traced constructors only
/// that of `Leaf` calls another one so.
fn enter_behind_super(events: &mut [String]) {
    // From the end on, so that what was moved is not met again.
    for at in (0..events.len()).rev() {
        if events[at] == "E Leaf.<init>" {
            assert_eq!(events[at + 1], "E Node.<init>");
            let mut depth = 0;
            let end = events[at + 1..].iter().position(|e| {
                depth += if e.starts_with('E') { 1 } else { -1 };
                depth == 0
            });
            let end = at + 1 + end.expect("the super constructor is left");
            events[at..=end].rotate_left(1);
        }
    }
}

/// Runs the program with the agent; gives what was recorded, read from the region after the end, and what
/// was to be expected.
fn play(
    jdk: &Jdk,
    place: &Place,
    options: &str,
    vm_options: &[&str],
    threads: u32,
    calls: u32,
) -> (Recorded, BTreeMap<String, Vec<String>>) {
    let (threads, calls) = (threads.to_string(), calls.to_string());
    let program = ["dev.lookback.workloads.CallTree", "--threads", &threads, "--calls", &calls];
    let program = [&program[..], &["--seed", "11", "--expect", "expected.txt"]].concat();
    let java = Java::new(jdk, place, &program).workloads();
    let java = java.options(vm_options);
    java.agent(&format!("trace={PACKAGE}**,trivial=0,keep=on,{options}")).run().ok();
    (place.recover(), expected(&place.file("expected.txt"), !jdk.is_extended))
}

/// Compares two long lists; shows the first difference only.
#[track_caller]
fn assert_same(what: &str, recorded: &[String], expected: &[String]) {
    let differs = recorded.iter().zip(expected).position(|(r, e)| r != e);
    let at = differs.unwrap_or(recorded.len().min(expected.len()));
    let around = |l: &[String]| l[at.saturating_sub(3).min(l.len())..(at + 3).min(l.len())].to_vec();
    assert!(
        differs.is_none() && recorded.len() == expected.len(),
        "{what}: {} recorded, {} expected; they differ from event {at} on: recorded {:?}, expected {:?}",
        recorded.len(),
        expected.len(),
        around(recorded),
        around(expected)
    );
}

fn every_event_is_recorded(threads: u32, calls: u32) {
    for jdk in jdks() {
        let place = Place::new();
        let (recorded, expected) = play(jdk, &place, "ring=128m", &[], threads, calls);
        assert_eq!(expected.len(), threads as usize);
        let mut events = 0;
        for (name, expected) in &expected {
            let track = recorded.thread(name);
            assert_eq!(track.missing(), 0, "{name}");
            assert_same(name, &recorded.lines(track, PACKAGE), expected);
            assert!(track.started.is_some() && track.ended.is_some(), "{name} began and ended");
            events += expected.len();
        }
        assert_eq!(recorded.gaps(), Vec::<String>::new());
        println!("JDK {}: {events} events of {threads} threads, all recorded, in order", jdk.version);
    }
}

#[test]
fn every_event_of_one_thread_is_recorded() {
    every_event_is_recorded(1, 400_000);
}

#[test]
fn every_event_of_eight_threads_is_recorded() {
    every_event_is_recorded(8, 60_000);
}

#[test]
fn the_extended_vm_leaves_out_what_it_inlines_and_nothing_else() {
    for jdk in jdks().iter().filter(|jdk| jdk.is_extended) {
        let place = Place::new();
        let (recorded, expected) = play(jdk, &place, "ring=128m", &["-XX:+Inline"], 2, 400_000);
        for (name, expected) in &expected {
            let track = recorded.thread(name);
            let lines = recorded.lines(track, PACKAGE);
            let mut rest = expected.iter();
            let strange = lines.iter().position(|line| !rest.any(|e| e == line));
            assert_eq!(
                strange,
                None,
                "{name}: of {} recorded, in this order, one was not executed",
                lines.len()
            );
            let entries = lines.iter().filter(|line| line.starts_with('E')).count();
            assert_eq!(2 * entries, lines.len(), "{name}: each entry has its exit");
            assert!(lines.len() < expected.len(), "{name}: {} of {}", lines.len(), expected.len());
            println!("{name}: {} of {} events, the others inlined", lines.len(), expected.len());
        }
    }
}

#[test]
fn a_small_ring_keeps_the_tail_of_each_thread_and_says_what_is_gone() {
    for jdk in jdks() {
        let place = Place::new();
        let (recorded, expected) = play(jdk, &place, "ring=4m", &[], 8, 100_000);
        let mut kept = 0;
        for (name, expected) in &expected {
            // A thread that ended long before the others may be overwritten altogether.
            let Some(track) = recorded.threads.iter().find(|t| recorded.name(t) == name) else { continue };
            let from = track.unbroken();
            let tail = recorded.lines_of(track.chunks_steps(&recorded, from), PACKAGE);
            assert!(tail.len() < expected.len(), "{name}: the ring was to be too small");
            assert_same(name, &tail, &expected[expected.len() - tail.len()..]);
            let decoded =
                recorded.analysed().threads.iter().find(|t| t.name == *name).expect("it is decoded");
            let holes = track.missing();
            // Blocks are overwritten in their own order, so that of a slow thread a first chunk may survive.
            assert!(decoded.overwritten.is_some() || holes > 0, "{name}: it is said that records are gone");
            let told: u32 = decoded.gaps.iter().map(|g| g.lost as u32).sum();
            assert_eq!(told, holes, "{name}: chunks missing in the middle are told");
            println!(
                "JDK {} {name}: the last {} of {} events, {holes} chunks missing before",
                jdk.version,
                tail.len(),
                expected.len()
            );
            kept += tail.len();
        }
        // 3 MiB of ring and 4 bytes an event; threads that end early leave blocks half full.
        assert!(kept > 250_000, "{kept} events in a ring of 4 MiB");
    }
}

/// What `Deep` does before and after its recursion.
fn repeated(calls: usize, names: &[&str]) -> Vec<String> {
    let of = |i: usize| {
        [format!("E Deep.{}", names[i % names.len()]), format!("X Deep.{}", names[i % names.len()])]
    };
    (0..calls).flat_map(of).collect()
}

#[test]
fn a_deep_recursion_is_recorded_or_counted_and_what_follows_is_whole() {
    const SLAB: usize = 16_368;
    for jdk in jdks() {
        for depth in [10_000, 30_000, 100_000] {
            let place = Place::new();
            let program = ["Deep", &depth.to_string()];
            let without = Java::new(jdk, &place, &program).run().ok();
            let with = Java::new(jdk, &place, &program).agent("trace=Deep,trivial=0,keep=on").run();
            with.same_as(&without);
            let recorded = place.recover();
            let deep = recorded.thread("deep");
            assert_eq!(deep.missing(), 0);
            let lines = recorded.lines(deep, "");
            let lines: Vec<String> = lines.into_iter().filter(|l| l.contains(" Deep.")).collect();
            let begins = lines.iter().position(|l| l.ends_with("down")).expect("the recursion");
            let ends = lines.iter().rposition(|l| l.ends_with("down")).expect("the recursion") + 1;
            let entries = lines[begins..ends].iter().take_while(|l| l.starts_with('E')).count();
            let exits = lines[begins..ends].iter().filter(|l| l.starts_with('X')).count();
            assert_eq!((exits, ends - begins - entries), (depth + 1, depth + 1), "every return is recorded");
            let mut after = repeated(5_000, &["after", "other"]);
            after.extend(["X Deep.play", "X Deep.lambda$main$0"].map(String::from));
            assert_same("after the recursion", &lines[ends..], &after);
            let gaps = recorded.gaps();
            let lost: u64 = recorded.analysed().threads.iter().flat_map(|t| &t.gaps).map(|g| g.lost).sum();
            // The extended VM's entries empty a slab as exits do.
            if depth < SLAB || jdk.is_extended {
                let mut before = ["E Deep.lambda$main$0", "E Deep.play"].map(String::from).to_vec();
                before.extend(repeated(100, &["before"]));
                assert_same("before the recursion", &lines[..begins], &before);
                assert_eq!((entries, gaps.len()), (depth + 1, 0), "{gaps:?}");
            } else {
                assert_eq!(gaps.len(), 1, "{gaps:?}");
                assert!(gaps[0].starts_with("deep: recursion deeper than a slab"), "{gaps:?}");
                assert!(entries + lost as usize > depth, "{entries} entries and {lost} lost of {depth}");
                assert_eq!(recorded.manifest.losses.get("slab overruns"), Some(&lost));
            }
            println!(
                "JDK {}, {depth} deep: {entries} entries, {exits} exits, {lost} words lost",
                jdk.version
            );
        }
    }
}
