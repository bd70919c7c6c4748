//! The ring of a file grows and shrinks while another process records; the memory follows.
#![cfg(not(loom))]

mod support;

use lookback_recorder::{Error, EventType, Level, Options, Recorder};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use support::{Job, numbers};

const WRITER: &str = "a_ring_grows_and_shrinks_under_its_writers";

/// Memory that the file takes, in bytes.
fn taken(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().blocks() * 512
}

#[test]
fn a_ring_grows_and_shrinks_under_its_writers() {
    if let Some((job, path)) = Job::from_environment() {
        job.run(&path);
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.ring");
    let recorder = Options::new().bytes(2 << 20).reserve(32 << 20).create(&path).unwrap();
    assert!(recorder.bytes() <= 2 << 20 && recorder.reserved_bytes() > 30 << 20);
    assert!(taken(&path) < 4 << 20);
    let job = Job { writer: 1, threads: 2, events: u64::MAX, yields: false };
    let mut writer = job.start(WRITER, &path);
    writer.go();
    assert_eq!(writer.line().as_deref(), Some("records"));

    let other = Recorder::open(&path).unwrap();
    for round in 0..4 {
        let grown = other.resize(32 << 20).unwrap();
        assert!(grown > 30 << 20 && taken(&path) > 30 << 20, "round {round}");
        assert_eq!(recorder.bytes(), grown, "all see it");
        let shrunk = recorder.resize(1 << 20).unwrap();
        assert!(shrunk <= 2 << 20, "{shrunk}");
        assert!(taken(&path) < 8 << 20, "round {round}: {} bytes are taken", taken(&path));
        numbers(&recorder.snapshot()).values().for_each(|numbers| assert!(numbers.is_sorted()));
    }
    recorder.resize(32 << 20).unwrap();
    let wrote = writer.finish();
    let snapshot = recorder.snapshot();
    let numbers = numbers(&snapshot);
    let newest = wrote.iter().filter(|(thread, n)| {
        numbers.get(&(1, **thread)).and_then(|numbers| numbers.last()).is_some_and(|last| last + 1 == **n)
    });
    assert!(newest.count() as u64 + snapshot.losses().ring.dropped() > 0, "the latest events are there");
}

#[test]
fn a_ring_without_a_reserve_keeps_its_size() {
    let recorder = Recorder::private(2 << 20).unwrap();
    let event: EventType<u64> = recorder.category("test").event_type("event", Level::Info, ["n"]);
    event.instant(1);
    let bytes = recorder.bytes();
    assert_eq!(recorder.resize(64 << 20).unwrap(), bytes);
    assert!(recorder.resize(0).unwrap() < bytes);
    assert_eq!(recorder.resize(bytes).unwrap(), bytes);
    event.instant(2);
    assert!(recorder.snapshot().events().any(|event| event.to_string() == "test.event n=2"));
}

#[test]
fn growing_beyond_what_is_free_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::new().bytes(64 << 20).cores(1024).prefault(false).reserve(1 << 43);
    let recorder = options.create(directory.path().join("x.ring")).unwrap();
    let refused = recorder.resize(1 << 43);
    assert!(matches!(refused, Err(Error::NoSpace { .. })), "{refused:?}");
    assert!(recorder.bytes() <= 64 << 20);
}
