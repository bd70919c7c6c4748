//! Experiment files that are wrong, and every word that is said about them.
//!
//! `LOOKBACK_UPDATE=1 cargo test -p lookback-lab --test experiment_bad` writes the expected messages anew.

mod support;

use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use support::{Machine, lines};

fn cases() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut cases: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    cases.sort();
    cases
}

#[test]
fn all_problems_are_told_with_their_places() {
    assert!(cases().len() >= 10);
    for case in cases() {
        let machine = Machine::new();
        machine.write("included.toml", "seed = -1\ninclude = [\"experiment.toml\"]\n");
        let text = fs::read_to_string(&case).unwrap();
        let problems = machine.resolve(&text).expect_err(&case.display().to_string());
        let found = machine.anonymous(&lines(&problems)).replace("MACHINE/experiment.toml:", "");
        let golden = case.with_extension("txt");
        if std::env::var_os("LOOKBACK_UPDATE").is_some() {
            fs::write(&golden, &found).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(found, expected, "{}", case.display());
    }
}

/// A text that is nearly an experiment: a good or a bad one with some of its bytes changed.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = cases().iter().map(|path| fs::read(path).unwrap()).collect();
    seeds.extend(lookback_lab::experiment::EXAMPLES.iter().map(|example| example.text.as_bytes().to_vec()));
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..4u8);
    (prop::sample::select(seeds), prop::collection::vec(change, 0..12)).prop_map(|(mut text, changes)| {
        for (at, byte, what) in changes {
            if text.is_empty() {
                break;
            }
            let at = at.index(text.len());
            match what {
                0 => text[at] = byte,
                1 => text.insert(at, b"[]{}|\"'=.,#\n"[usize::from(byte) % 12]),
                2 => {
                    text.remove(at);
                }
                _ => text.truncate(at),
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(text in nearly()) {
        let machine = Machine::new();
        let path = machine.path("experiment.toml");
        fs::write(&path, &text).unwrap();
        // A file that is wrong says where, within itself.
        if let Err(problems) = machine.resolve_file(&path, &lookback_lab::experiment::NoMinimumHeaps) {
            prop_assert!(!problems.is_empty());
            let lines = text.split(|byte| *byte == b'\n').count();
            prop_assert!(problems.iter().all(|problem| (1..=lines).contains(&problem.place.line)));
        }
    }
}
