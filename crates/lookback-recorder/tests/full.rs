//! When there is no room for a name, a thread or a category, events are recorded nevertheless, and what is missing
//! is counted.
#![cfg(not(loom))]

use lookback_recorder::{EventType, Field, Level, Options, Recorder};
use std::collections::BTreeSet;

#[test]
fn events_go_on_when_the_definitions_are_full() {
    let recorder = Options::new().bytes(1 << 20).definitions(4096).private().unwrap();
    let known: EventType<u64> = recorder.category("test").event_type("known", Level::Info, ["n"]);
    known.instant(0);
    let names = (0..1_000).map(|i| recorder.name(&format!("name {i}")));
    let distinct: BTreeSet<_> = names.map(Field::to_word).collect();
    assert!(distinct.contains(&0) && distinct.len() > 50);

    let late: EventType<u64> = recorder.category("late").event_type("late", Level::Info, ["n"]);
    late.instant(1);
    std::thread::scope(|scope| {
        scope.spawn(|| known.instant(2));
        scope.spawn(|| known.instant(3));
    });
    let snapshot = recorder.snapshot();
    let mut events: Vec<_> = snapshot.events().map(|event| event.to_string()).collect();
    events.sort();
    assert_eq!(events, ["?.?", "test.known n=0", "test.known n=2", "test.known n=3"]);
    let threads: BTreeSet<_> = snapshot.events().map(|event| event.thread()).collect();
    assert_eq!(threads.len(), 3, "threads without a definition are told apart");
    assert!(snapshot.losses().definitions > 700);
}

#[test]
fn categories_beyond_the_table_are_one_without_a_name() {
    let recorder = Recorder::private(1 << 20).unwrap();
    for i in 0..1_100 {
        let category = recorder.category(&format!("c{i}"));
        assert_eq!(category.index().0, if i < 1_023 { i + 1 } else { 0 });
    }
    assert_eq!(recorder.category("c77").index().0, 78, "found again");
    let rest: EventType<()> = recorder.category("c1050").event_type("event", Level::Info, []);
    rest.instant(());
    recorder.category("c1090").set_level(None);
    rest.instant(());
    let events: Vec<_> = recorder.snapshot().events().map(|event| event.to_string()).collect();
    assert_eq!(events, ["event"]);
    recorder.set_level(Level::Trace);
    assert!(rest.enabled() && recorder.category("c500").enabled(Level::Trace));
}

#[test]
fn types_and_names_are_found_again_also_by_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.ring");
    let one = Options::new().bytes(1 << 20).create(&path).unwrap();
    let other = Recorder::open(&path).unwrap();
    let raw = |recorder: &Recorder| recorder.category("net").raw_event_type("request", Level::Info, &[]).id();
    assert_eq!(raw(&one), raw(&other));
    assert_eq!(one.name("x"), other.name("x"));
    assert_ne!(one.name("x"), other.name("y"));
    one.category("net").set_level(None);
    assert!(!other.category("net").enabled(Level::Error), "a level is of all processes");
}

#[test]
fn an_event_that_is_larger_than_a_block_is_dropped_and_counted() {
    let recorder = Recorder::private(1 << 20).unwrap();
    let text: EventType<(), str> = recorder.category("test").event_type_with("text", Level::Info, [], "text");
    text.instant_with((), &"x".repeat(2 << 20));
    text.instant_with((), "fits");
    let snapshot = recorder.snapshot();
    assert_eq!(snapshot.events().len(), 1);
    assert_eq!(snapshot.losses().ring.dropped(), 1);
}
