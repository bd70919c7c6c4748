//! Files of JDK Flight Recorder: what is written is read back, and what is damaged ends in words. Files that JDKs wrote are read by
//! the end-to-end tests, which have JDKs.

mod support;

use lookback_analysis::{Error, JfrSamples, Recording, read_jfr};
use lookback_format::event::{Event, ThreadEvent};
use lookback_format::incident::Trigger;
use lookback_format::sample::{Activity, Engine, Frame, Sample};
use lookback_format::symbol::{Class, Method, Role, Wait};
use lookback_format::{MethodId, Nanos, ThreadKey};
use std::collections::HashMap;

/// The clock of the machine: monotonic, and nanoseconds since 1970.
const CLOCK: (Nanos, u64) = (Nanos(5_000_000), 1_700_000_000_000_000_000);

/// Two chunks, as JFR begins another after some 12 MB.
fn file() -> Vec<u8> {
    let mut manifest = support::manifest(Trigger::Profile { at: Nanos(20_000_000) });
    manifest.clock_pair = CLOCK;
    let method = |id: u32, name: &str| Method {
        id: MethodId(id),
        name: name.into(),
        descriptor: "(I)V".into(),
        line: 0,
        wait: Wait::None,
        role: Role::Method,
    };
    let class = Class {
        class: "com.acme.Job".into(),
        file: String::new(),
        methods: vec![method(1, "run"), method(2, "größer")],
    };
    let thread = ThreadEvent {
        thread: ThreadKey(7),
        os_tid: 4711,
        java_tid: 31,
        at: Nanos(1_000_000),
        name: "worker".into(),
    };
    let frame = |m: u32, line: u16| Frame { method: MethodId(m), line, bci: Some(0) };
    let sample = |at: u64, frames: &[Frame]| {
        Event::Sample(Sample {
            thread: ThreadKey(7),
            at: Nanos(at),
            activity: Activity::Running,
            engine: None,
            is_cut: false,
            frames: frames.to_vec(),
        })
    };
    let events = vec![
        Event::ThreadStart(thread),
        sample(2_000_000, &[frame(2, 12), frame(1, 7)]),
        sample(3_000_000, &[frame(1, 300)]),
        sample(4_000_000, &[frame(2, 12), frame(1, 7)]),
    ];
    let r = Recording::from_events(manifest, [class], [], events);
    let mut file = Vec::new();
    lookback_analysis::jfr(&r, &mut file).unwrap();
    file.extend_from_within(..);
    file
}

fn read(file: &[u8]) -> (Result<JfrSamples, Error>, Vec<Event>) {
    let mut events = Vec::new();
    let found = read_jfr(file, Engine::Jfr, CLOCK, &mut |event| events.push(event));
    (found, events)
}

#[test]
fn what_is_written_is_read_back() {
    let (found, events) = read(&file());
    let found = found.unwrap();
    assert_eq!((found.samples, found.cut, found.interval, found.is_known), (6, 0, None, true));
    assert_eq!(found.span, Some((Nanos(2_000_000), Nanos(4_000_000))));
    assert!(found.losses.is_empty() && found.damages.is_empty(), "{found:?}");
    let names: HashMap<MethodId, String> = found
        .classes
        .iter()
        .flat_map(|c| c.methods.iter().map(|m| (m.id, format!("{}.{}{}", c.class, m.name, m.descriptor))))
        .collect();
    let mut threads =
        events.iter().filter_map(|e| if let Event::ThreadStart(t) = e { Some(t) } else { None });
    let thread = threads.next().unwrap();
    assert_eq!((&*thread.name, thread.os_tid, thread.java_tid), ("worker", 4711, 31));
    assert!(threads.next().is_none(), "one thread, whatever the chunk");
    let samples: Vec<&Sample> =
        events.iter().filter_map(|e| if let Event::Sample(s) = e { Some(s) } else { None }).collect();
    let shown = |s: &Sample| {
        let frames: Vec<_> = s.frames.iter().map(|f| (&*names[&f.method], f.line)).collect();
        assert_eq!((s.thread, s.activity, s.engine), (thread.thread, Activity::Running, Some(Engine::Jfr)));
        format!("{} {frames:?}", s.at.0)
    };
    assert_eq!(shown(samples[1]), "3000000 [(\"com.acme.Job.run(I)V\", 300)]");
    assert_eq!(
        shown(samples[2]),
        "4000000 [(\"com.acme.Job.größer(I)V\", 12), (\"com.acme.Job.run(I)V\", 7)]"
    );
    assert_eq!(shown(samples[5]), shown(samples[2]), "the other chunk has numbers of its own");
}

#[test]
fn a_file_that_is_cut_gives_what_stands_before_that_and_says_so() {
    let whole = file();
    for n in 0..whole.len() {
        match read(&whole[..n]) {
            (Err(error), _) => assert!(n < whole.len() / 2 && !error.to_string().is_empty(), "{n}: {error}"),
            // The first of the two chunks is whole then.
            (Ok(found), events) => {
                let samples = events.iter().filter(|e| matches!(e, Event::Sample(_))).count() as u64;
                assert_eq!(samples, found.samples);
                assert_eq!(found.damages.is_empty(), n == whole.len() / 2, "{n}: {:?}", found.damages);
                assert!(n < whole.len() / 2 || found.samples >= 3, "{n}: {found:?}");
            }
        }
    }
}

#[test]
fn whatever_the_bytes_reading_ends() {
    let whole = file();
    let whole = &whole[..whole.len() / 2];
    for at in 0..whole.len() {
        for value in [0, 0x7f, 0xff, whole[at] ^ 1] {
            let mut bytes = whole.to_vec();
            bytes[at] = value;
            // An error, damage, or something else that it may mean: but an end.
            let (found, events) = read(&bytes);
            assert!(found.is_err() || events.len() < 100, "byte {at}, {value}");
        }
    }
}
