//! A child of a fork records as itself.
#![cfg(not(loom))]

use lookback_recorder::{EventType, Level, Options, Recorder};
use std::collections::BTreeSet;

/// Runs `child` in a forked process and waits for its end.
fn in_child(child: impl FnOnce()) {
    // SAFETY: the child runs nothing but `child`, which allocates (glibc makes that safe) and records, and
    // ends without going back to the test harness.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        child();
        // SAFETY: ends the process.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: a valid pointer.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(status, 0, "the child ended well");
}

fn event_type(recorder: &Recorder) -> EventType<u64> {
    recorder.category("test").event_type("event", Level::Info, ["from"])
}

#[test]
fn a_childs_events_have_its_process_and_its_thread() {
    let directory = tempfile::tempdir().unwrap();
    let recorder = Options::new().bytes(1 << 20).create(directory.path().join("x.ring")).unwrap();
    let event = event_type(&recorder);
    event.instant(0);
    in_child(|| {
        event.instant(1);
        std::thread::spawn({
            let event = event.clone();
            move || event.instant(2)
        })
        .join()
        .unwrap();
        in_child(|| event.instant(3));
    });
    event.instant(4);
    let snapshot = recorder.snapshot();
    let events: Vec<_> =
        snapshot.events().map(|event| (event.to_string(), event.pid(), event.thread())).collect();
    let from: Vec<_> = events.iter().map(|event| event.0.as_str()).collect();
    assert_eq!(from, (0..5).map(|n| format!("test.event from={n}")).collect::<Vec<_>>());
    let [parent, child, thread, grandchild, again] = &events[..] else { panic!("{events:?}") };
    assert_eq!((parent.1, parent.2), (again.1, again.2), "the parent stays what it was");
    assert_eq!(parent.1, Some(std::process::id()));
    assert_eq!(child.1, thread.1, "two threads of the child");
    let pids: BTreeSet<_> = [parent, child, grandchild].iter().map(|event| event.1).collect();
    let threads: BTreeSet<_> = [parent, child, thread, grandchild].iter().map(|event| event.2).collect();
    assert_eq!((pids.len(), threads.len()), (3, 4));
}

#[test]
fn a_child_of_a_private_recorder_has_a_copy_of_its_own() {
    let recorder = Recorder::private(1 << 20).unwrap();
    let event = event_type(&recorder);
    event.instant(0);
    in_child(|| {
        event.instant(1);
        assert_eq!(recorder.snapshot().events().len(), 2);
    });
    assert_eq!(recorder.snapshot().events().len(), 1);
}
