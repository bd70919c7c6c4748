//! Several processes, each with several threads, record into one file, and everything is accounted for.
#![cfg(not(loom))]

mod support;

use lookback_recorder::{Level, Options, Recorder};
use std::collections::BTreeSet;
use support::{Job, numbers};

const WRITER: &str = "a_writer_records_what_it_is_asked_for";

#[test]
fn a_writer_records_what_it_is_asked_for() {
    if let Some((job, path)) = Job::from_environment() {
        job.run(&path);
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.ring");
    let recorder = Options::new().bytes(1 << 20).create(&path).unwrap();
    let mut writer = Job { writer: 1, threads: 1, events: 10, yields: false }.start(WRITER, &path);
    writer.go();
    assert_eq!(writer.finish().into_iter().collect::<Vec<_>>(), [(0, 10)]);
    assert_eq!(numbers(&recorder.snapshot())[&(1, 0)], (0..10).collect::<Vec<_>>());
}

#[test]
fn what_eight_processes_record_is_there_or_counted() {
    const THREADS: u64 = 3;
    const EVENTS: u64 = 4_000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.ring");
    let recorder = Options::new().bytes(24 << 20).create(&path).unwrap();
    let job = |writer| Job { writer, threads: THREADS, events: EVENTS, yields: false };
    let mut writers: Vec<_> = (0..8).map(|writer| job(writer).start(WRITER, &path)).collect();
    writers.iter_mut().for_each(|writer| writer.go());
    let written: u64 = writers.into_iter().flat_map(|writer| writer.finish().into_values()).sum();
    assert_eq!(written, 8 * THREADS * EVENTS);

    let snapshot = recorder.snapshot();
    let numbers = numbers(&snapshot);
    let losses = snapshot.losses();
    assert_eq!(numbers.len() as u64, 8 * THREADS, "threads");
    assert!(numbers.values().all(|numbers| numbers.is_sorted()), "a thread's events are in order");
    assert_eq!((losses.blocks.overwritten, losses.blocks.busy, losses.blocks.unfinished_entries), (0, 0, 0));
    assert_eq!((losses.definitions, losses.foreign, losses.damaged), (0, 0, 0));
    let recorded: u64 = numbers.values().map(|numbers| numbers.len() as u64).sum();
    assert_eq!(recorded + losses.ring.dropped(), written);
    let pids: BTreeSet<_> = snapshot.events().map(|event| event.pid().unwrap()).collect();
    assert_eq!(pids.len(), 8, "processes");
}

#[test]
fn a_full_ring_keeps_the_latest_of_each_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.ring");
    let recorder = Options::new().bytes(1 << 20).create(&path).unwrap();
    let job = |writer| Job { writer, threads: 2, events: 60_000, yields: false };
    let mut writers: Vec<_> = (0..2).map(|writer| job(writer).start(WRITER, &path)).collect();
    writers.iter_mut().for_each(|writer| writer.go());
    writers.into_iter().for_each(|writer| assert_eq!(writer.finish().len(), 2));
    let snapshot = recorder.snapshot();
    assert!(snapshot.losses().blocks.overwritten > 0);
    let numbers = numbers(&snapshot);
    assert!(numbers.values().all(|numbers| numbers.is_sorted()));
    // The thread that ended last has its last event in the ring, unless that was dropped.
    let last = numbers.values().filter(|numbers| numbers.last() == Some(&59_999)).count() as u64;
    assert!(last + snapshot.losses().ring.dropped() > 0);
}

#[test]
fn processes_that_create_a_file_at_once_share_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.ring");
    let options = Options::new().bytes(1 << 20);
    let recorders: Vec<Recorder> = std::thread::scope(|scope| {
        let openers: Vec<_> =
            (0..8).map(|_| scope.spawn(|| options.open_or_create(&path).unwrap())).collect();
        openers.into_iter().map(|opener| opener.join().unwrap()).collect()
    });
    for recorder in &recorders {
        recorder.category("one").event_type::<()>("event", Level::Info, []).instant(());
    }
    assert_eq!(recorders[0].snapshot().events().len(), 8);
    assert_eq!(recorders[7].categories().len(), 2, "one category has a name");
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "no half-made file is left: {left:?}");
}
