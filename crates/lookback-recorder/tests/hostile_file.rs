//! A ring file that somebody has changed at will is refused, or opened and used without harm.
#![cfg(not(loom))]

use lookback_format::ring_file::{
    CATEGORIES_AT, DEFINITIONS_AT, SNAPSHOTS, SNAPSHOTS_AT, boot_hash, header, snapshot_slot,
};
use lookback_recorder::{Error, EventType, Level, Options, Recorder};
use proptest::prelude::*;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file of half a MiB with some events, and its bytes.
struct Victim {
    _directory: tempfile::TempDir,
    path: PathBuf,
    good: Vec<u8>,
    ring_at: usize,
}

impl Victim {
    fn new() -> Victim {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.ring");
        let options = Options::new().bytes(400 << 10).definitions(4096).cores(2).name("victim");
        let recorder = options.create(&path).unwrap();
        use_it(&recorder);
        let ring_at = recorder.header().ring.0;
        drop(recorder);
        Victim { good: std::fs::read(&path).unwrap(), _directory: directory, path, ring_at }
    }

    /// Puts these words into an otherwise good file, and uses it.
    fn with(&self, words: &[(usize, u64)]) -> Result<usize, Error> {
        let file = std::fs::File::options().write(true).open(&self.path).unwrap();
        file.write_all_at(&self.good, 0).unwrap();
        for (at, word) in words {
            file.write_all_at(&word.to_le_bytes(), *at as u64).unwrap();
        }
        let recorder = Recorder::open(&self.path)?;
        let before = use_it(&recorder);
        use_it(&recorder);
        Ok(before)
    }

    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(*self.good[at..].first_chunk().unwrap())
    }

    /// All places where a word means something.
    fn places(&self) -> Vec<usize> {
        let header = (0..160).step_by(8);
        let snapshots = [snapshot_slot(0), snapshot_slot(1), 7, SNAPSHOTS - 1];
        let snapshots = snapshots.into_iter().flat_map(|slot| [0, 8].map(|at| SNAPSHOTS_AT + slot * 16 + at));
        let categories = (0..6).map(|i| CATEGORIES_AT + i * 8);
        let definitions = (DEFINITIONS_AT..self.ring_at).step_by(8).take(64);
        // The ring's header; then its core words, metadata and the first of its entries: what is not 0.
        let ring = (0..400).step_by(8).map(|at| self.ring_at + at);
        let in_use = (self.ring_at + 4096..self.good.len() - 8).step_by(8).filter(|&at| self.word(at) != 0);
        header
            .chain(snapshots)
            .chain(categories)
            .chain(definitions)
            .chain(ring)
            .chain(in_use.take(180))
            .collect()
    }
}

/// Registers, records, switches levels and reads; returns how many events were there before.
fn use_it(recorder: &Recorder) -> usize {
    let before = recorder.snapshot();
    before.events().for_each(|event| assert!(!event.to_string().is_empty()));
    let net = recorder.category("net");
    let request: EventType<(u64, bool)> = net.event_type("request", Level::Info, ["bytes", "cached"]);
    let query: EventType<u32, str> = net.event_type_with("query", Level::Info, ["rows"], "text");
    for i in 0..60 {
        let _span = request.span((i, true));
        query.instant_with(3, "select 1");
    }
    std::thread::scope(|scope| {
        scope.spawn(|| request.instant((1, false)));
    });
    net.set_level(Level::Trace);
    let after = recorder.snapshot();
    assert!(after.events().len() < 20_000 && recorder.categories().len() <= 1024);
    before.events().len()
}

#[test]
fn every_word_can_be_anything() {
    let victim = Victim::new();
    let untouched = victim.with(&[]).unwrap();
    assert_eq!(untouched, 60 * 3 + 1);
    let (mut refused, mut used) = (0, 0);
    for at in victim.places() {
        let word = victim.word(at);
        let shifted =
            [word.wrapping_add(8), word.wrapping_sub(1), word ^ 1 << 63, word ^ 1 << 37, word ^ 1 << 16];
        for value in [0, u64::MAX, 1, 0x0002_0001_0000_0018].into_iter().chain(shifted) {
            match victim.with(&[(at, value)]) {
                Ok(_) => used += 1,
                Err(
                    Error::Format { .. } | Error::Ring { .. } | Error::OtherBoot { .. } | Error::Clock { .. },
                ) => {
                    refused += 1;
                }
                Err(other) => panic!("word {at} = {value:#x}: {other}"),
            }
        }
    }
    assert!(refused > 50 && used > 1_000, "{refused} refused, {used} used");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn several_words_can_be_anything(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u64>()), 2..12)
    ) {
        let victim = victim();
        let places = victim.places();
        let words: Vec<_> = changes.iter().map(|(place, word)| (*place.get(&places), *word)).collect();
        let _ = victim.with(&words);
    }
}

/// One for all cases.
fn victim() -> &'static Victim {
    static VICTIM: std::sync::OnceLock<Victim> = std::sync::OnceLock::new();
    VICTIM.get_or_init(Victim::new)
}

#[test]
fn what_is_no_ring_file_of_this_boot_is_refused_with_a_reason() {
    let victim = Victim::new();
    let refused = |words: &[(usize, u64)], expected: &str| {
        let message = victim.with(words).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains(expected), "{message:?} does not say {expected:?}");
    };
    refused(&[(header::BOOT, boot_hash("another"))], "was made before this machine was started last");
    refused(&[(header::VERSION, 9)], "format version 9");
    refused(&[(header::MAGIC, 0)], "not a Lookback ring file");
    refused(&[(header::CLOCK, 2)], "which this machine does not have");
    refused(&[(victim.ring_at, 0)], "not a ring");

    let message = |path: &Path| Recorder::open(path).unwrap_err().to_string();
    let cut = victim.path.with_file_name("cut");
    for len in [0, 7, 4095, 4096, victim.good.len() - 1] {
        std::fs::write(&cut, &victim.good[..len]).unwrap();
        let said = message(&cut);
        assert!(said.contains("cut short") || said.contains("not a Lookback ring file"), "{len}: {said}");
    }
    assert!(message(Path::new("/dev/null")).contains("not a regular file"));
    assert!(message(&victim.path.with_file_name("absent")).contains("cannot open"));
    assert!(matches!(Recorder::create(&victim.path), Err(Error::Exists { .. })));
    let huge = Options::new().bytes(1 << 45).cores(1024).create(victim.path.with_file_name("huge"));
    assert!(matches!(huge, Err(Error::NoSpace { .. })), "{huge:?}");
    let small = Options::new().bytes(4096).create(victim.path.with_file_name("small"));
    assert!(matches!(small, Err(Error::Ring { .. })), "{small:?}");
}
