//! Logs of every collector on JDK 17 and 25, trimmed to some collections of a small program each: what is read from
//! them is what stands in `gc/expected.txt`, and does not contradict itself. And logs and reports that are damaged.
//!
//! `LOOKBACK_UPDATE=1` writes the expected figures anew; they are looked at before they are committed.

use lookback_lab::measure::gc_log::{Event, read};
use lookback_lab::measure::windows::{Window, Windows};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gc")
}

fn logs() -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(directory()).expect("logs").map(|file| file.expect("a log").path());
    let mut logs: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|end| end == "log"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read(path).expect("a log"))
        })
        .collect();
    logs.sort();
    assert_eq!(logs.len(), 13, "six collectors on 17, seven on 25");
    logs
}

fn events(log: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    read(log, |event| events.push(event)).expect("memory can be read");
    events
}

#[test]
fn each_collectors_log_gives_the_expected_figures() {
    let mut told = String::new();
    for (name, log) in logs() {
        let mut windows = Windows::new([Window { begin: 0, end: u64::MAX }]);
        let survey = read(&log[..], |event| windows.add(event)).expect("memory can be read");
        assert_eq!(survey.strange, 0, "{name}: each line has the decorations");
        let collector = windows.collector.as_deref().unwrap_or("unknown");
        writeln!(told, "{name}: {collector}, {} of {} lines", survey.events, survey.lines).unwrap();
        for (metric, value) in windows.figures().remove(0) {
            writeln!(told, "  {metric} {value}").unwrap();
        }
    }
    let expected = directory().join("expected.txt");
    if std::env::var_os("LOOKBACK_UPDATE").is_some() {
        std::fs::write(&expected, &told).expect("it can be written");
    }
    assert_eq!(told, std::fs::read_to_string(expected).expect("expected figures"));
}

#[test]
fn each_pause_lies_within_a_safepoint() {
    // The two are told by different parts of the VM, each with its own clock readings; a log is cut at both ends.
    const SLACK: u64 = 200_000;
    for (name, log) in logs() {
        let events = events(&log);
        let safepoints: Vec<(u64, u64)> = events
            .iter()
            .filter_map(|event| match event {
                Event::Safepoint(s) => Some((s.end - s.total, s.end)),
                _ => None,
            })
            .collect();
        let mut pauses = 0;
        for event in &events {
            let Event::Pause(pause) = event else { continue };
            let within =
                |&(begin, end): &(u64, u64)| begin <= pause.begin + SLACK && pause.end <= end + SLACK;
            let last = safepoints.iter().all(|(_, end)| *end < pause.end);
            assert!(last || safepoints.iter().any(within), "{name}: {pause:?}");
            pauses += 1;
        }
        assert!(pauses > 0 || name.ends_with("epsilon"), "{name}");
    }
}

/// Deterministic: splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

#[test]
fn damaged_logs_never_panic_and_lose_nothing_but_the_damaged_lines() {
    let mut random = Random(1);
    for (name, log) in logs() {
        let whole = events(&log).len();
        for _ in 0..200 {
            let mut bytes = log.clone();
            let wounds = 1 + random.below(6);
            for _ in 0..wounds {
                let at = random.below(bytes.len());
                bytes[at] = b"[]()->:. 0z9M\xff%\"\n"[random.below(17)];
            }
            let mut windows =
                Windows::new([Window { begin: 0, end: 1 << 40 }, Window { begin: 1 << 40, end: u64::MAX }]);
            let mut count = 0;
            read(&bytes[..], |event| {
                count += 1;
                windows.add(event);
            })
            .expect("memory can be read");
            assert!(count + wounds >= whole, "{name}: {wounds} damaged bytes cost {} events", whole - count);
            windows.figures();
        }
    }
}
