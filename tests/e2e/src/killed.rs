//! A program that is killed at any moment leaves a recording that reaches to that moment.
//!
//! The constraint: the program's own account of how far it came is in memory that it shares with nobody but
//! the kernel, and the calls that it makes spell numbers, so a missing, doubled or torn record is seen.

use crate::support::{Java, Place, Recorded, artifacts};
use lookback_format::Nanos;
use std::path::Path;

const THREADS: usize = 4;

/// The numbers that a thread spelt, oldest first; the calls of one that is cut at either end are left out.
fn numbers(lines: &[String]) -> Vec<u32> {
    let begin = lines.iter().position(|l| l == "E Heartbeat$Speller.spell").unwrap_or(lines.len());
    let mut numbers = Vec::new();
    let (mut number, mut digits) = (0, 0);
    let mut calls = lines[begin..].iter().peekable();
    while let Some(line) = calls.next() {
        match line.split_once("Heartbeat$Speller.") {
            Some(("E ", "spell")) => (number, digits) = (0, 0),
            Some(("X ", "spell")) => {
                assert_eq!(digits, 8, "a call is missing from or too much in a number near {numbers:?}");
                numbers.push(number);
            }
            Some(("E ", digit)) => {
                let value: u32 = digit[1..].parse().expect("a digit's method");
                number = number << 4 | value;
                digits += 1;
                let left = calls.next().is_none_or(|l| *l == format!("X Heartbeat$Speller.{digit}"));
                assert!(left, "{line} is not followed by its exit");
            }
            _ => panic!("{line} came unexpected"),
        }
    }
    numbers
}

/// What the program told of thread `i`: the number that it was about to spell, and when.
fn heartbeat(file: &Path, i: usize) -> (u32, Nanos) {
    let bytes = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    (long(16 * i) as u32, Nanos(long(16 * i + 8)))
}

/// Kills the program once after that many of its lines; gives how many numbers were read back and how old
/// the newest record was, in milliseconds, at the most.
fn kill_once(version: u32, lines: u32) -> (usize, f64) {
    let Some(jdk) = artifacts::jdk(version) else { return (0, 0.0) };
    let place = Place::new();
    let file = place.file("heartbeat");
    let java = Java::new(jdk, &place, &["Heartbeat", "heartbeat", &THREADS.to_string()]);
    let mut running = java.agent("trace=Heartbeat$Speller,trivial=0,ring=4m,threads=64").start();
    for _ in 0..=lines {
        assert_eq!(running.line().as_deref(), Some("beat"));
    }
    assert_eq!(running.end_by(libc::SIGKILL).signal, Some(libc::SIGKILL));
    let recorded = place.recover();
    let incident = place.file("recovered.lkb").display().to_string();
    let report = place.lookback(&["report", "--text-only", &incident]).ok();
    assert!(report.out.contains("Heartbeat as it was when it ended"), "{}", report.out);
    let (mut read, mut silent, mut oldest) = (0, 0, 0.0_f64);
    for i in 0..THREADS {
        let (about, at) = heartbeat(&file, i);
        if about == 0 {
            continue;
        }
        let name = format!("beat-{i}");
        assert!(recorded.listed.iter().any(|t| t.name == name), "{name} is not listed");
        if !recorded.threads.iter().any(|t| recorded.name(t) == name) {
            // It had just emptied its slab when it lost its processor, and the others went once round the ring.
            silent += 1;
            continue;
        }
        let (count, newest) = check_thread(&recorded, &name, about);
        read += count;
        match newest {
            Some(newest) => oldest = oldest.max(at.since(newest).as_millis_f64()),
            // As above, but that its name and no call of it is left.
            None => silent += 1,
        }
    }
    assert!(silent < THREADS, "nothing is left of any thread");
    (read, oldest)
}

/// Checks what is read back of a thread, which was about to spell a number; gives how many numbers that
/// are, and the newest time.
fn check_thread(recorded: &Recorded, name: &str, about: u32) -> (usize, Option<Nanos>) {
    let track = recorded.thread(name);
    let steps = track.chunks_steps(recorded, track.unbroken());
    let numbers = numbers(&recorded.lines_of(steps.iter().copied(), ""));
    for pair in numbers.windows(2) {
        assert_eq!(pair[1], pair[0] + 1, "{name}: {} numbers, the last {:?}", numbers.len(), numbers.last());
    }
    let last = numbers.last().copied().unwrap_or(0);
    // A thread that did not run for as long as the ring reaches back has nothing but what is in its slab: less
    // than a whole number if it had just emptied it.
    let little = numbers.is_empty() && steps.len() < 36;
    assert!(
        last + 1 == about || last == about || little,
        "{name}: it was about to spell {about}, and {last} is the last that was read back; {} chunks, {} steps",
        track.chunks.len(),
        steps.len()
    );
    (numbers.len(), steps.last().map(|s| s.since))
}

fn kill_many(version: u32, times: u32) {
    let (mut read, mut oldest) = (0, 0.0_f64);
    for n in 0..times {
        // Moments spread from the first beat on to about 300 ms later, in no order.
        let (count, age) = kill_once(version, n * 37 % 101);
        read += count;
        oldest = oldest.max(age);
    }
    println!(
        "JDK {version}: {times} kills, {read} numbers read back, newest record at most {oldest:.1} ms old"
    );
    assert!(oldest < 50.0, "a newest record was {oldest} ms old");
}

#[test]
fn twenty_five_kills_on_jdk_17_lose_nothing() {
    kill_many(17, 25);
}

#[test]
fn twenty_five_kills_on_jdk_25_lose_nothing() {
    kill_many(25, 25);
}
