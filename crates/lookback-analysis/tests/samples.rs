//! Samples of a recording: whose they are, and what is made of them where nothing was traced.

mod support;

use lookback_analysis::{Flags, Recording};
use lookback_format::event::{Event, ThreadEvent};
use lookback_format::incident::{Sampling, Trigger};
use lookback_format::sample::{Activity, Engine, Frame, Sample};
use lookback_format::symbol::{Class, Method, Role, Wait};
use lookback_format::{MethodId, Nanos, ThreadKey};

const INTERVAL: Nanos = Nanos(1_000_000);

fn recording(events: Vec<Event>) -> Recording {
    let mut manifest = support::manifest(Trigger::Profile { at: Nanos(20_000_000) });
    manifest.sampling = Some(Sampling {
        engine: Engine::Handshake,
        interval: INTERVAL,
        begun: Nanos(0),
        ended: Nanos(20_000_000),
        requests: 20,
        late: 1,
        samples: events.iter().filter(|e| matches!(e, Event::Sample(_))).count() as u64,
        latency: [Nanos(1_000), Nanos(2_000), Nanos(3_000)],
        cpu: Nanos(40_000),
    });
    let method = |id: u32, name: &str| Method {
        id: MethodId(id),
        name: name.into(),
        descriptor: "()V".into(),
        line: 10 * id as u16,
        wait: Wait::None,
        role: Role::Method,
    };
    let methods = vec![method(1, "run"), method(2, "work"), method(3, "rest")];
    let class = Class { class: "com.acme.Job".into(), file: "Job.java".into(), methods };
    Recording::from_events(manifest, [class], [], events)
}

fn sample(thread: ThreadKey, millis: u64, methods: &[u32], activity: Activity) -> Event {
    let frame = |&m: &u32| Frame { method: MethodId(m), line: 7, bci: Some(1) };
    Event::Sample(Sample {
        thread,
        at: Nanos(millis * 1_000_000),
        activity,
        engine: Some(Engine::Handshake),
        is_cut: false,
        frames: methods.iter().rev().map(frame).collect(),
    })
}

fn begun(thread: ThreadKey, name: &str) -> Event {
    let (os_tid, java_tid, at) = (thread.0, thread.0.into(), Nanos(0));
    Event::ThreadStart(ThreadEvent { thread, os_tid, java_tid, at, name: name.into() })
}

#[test]
fn threads_that_were_sampled_have_calls_made_of_their_samples() {
    let worker = ThreadKey(4);
    let r = recording(vec![
        sample(worker, 3, &[1, 3], Activity::Waiting),
        begun(worker, "worker"),
        sample(worker, 2, &[1, 2], Activity::Running),
        sample(worker, 1, &[1, 2], Activity::Running),
    ]);
    assert_eq!(r.samples.at, [1, 2, 3].map(|ms| Nanos(ms * 1_000_000)));
    let t = &r.threads[r.thread(worker).expect("a track")];
    assert_eq!(t.name, "worker");
    let calls: Vec<_> = t.slices.indices().map(|i| t.slices.get(i)).collect();
    let shown =
        |s: &lookback_analysis::Slice| (s.method.0, s.depth, s.duration().0, s.flags.has(Flags::WAIT));
    let shown: Vec<_> = calls.iter().map(shown).collect();
    assert_eq!(shown, [(1, 0, 3_000_000, false), (2, 1, 2_000_000, false), (3, 1, 1_000_000, true)]);
    assert!(calls.iter().all(|s| s.flags.has(Flags::INFERRED_END) && u64::from(s.error) == INTERVAL.0));
}

#[test]
fn virtual_threads_that_were_sampled_have_tracks_and_names() {
    let tid = 77;
    let key = ThreadKey::of_virtual(tid);
    let r = recording(vec![
        sample(key, 1, &[1, 2], Activity::Running),
        Event::VirtualName(tid, Nanos(5), "request-7".into()),
        sample(key, 2, &[1, 2], Activity::Running),
    ]);
    let t = &r.threads[r.thread(key).expect("a track")];
    assert_eq!((t.name.as_str(), t.java_tid), ("request-7 (virtual #77)", tid));
    assert_eq!(t.slices.len(), 2);
}

#[test]
fn samples_come_back_from_the_formats_of_others() {
    let worker = ThreadKey(4);
    let r = recording(vec![
        begun(worker, "worker; 1"),
        sample(worker, 1, &[1, 2], Activity::Running),
        sample(worker, 2, &[1, 2], Activity::Running),
        sample(worker, 3, &[1, 3], Activity::Waiting),
    ]);
    let collapsed = |activities: &[Activity]| {
        let mut out = Vec::new();
        lookback_analysis::collapsed_samples(&r, activities, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let work = "worker_ 1;com.acme.Job.run;com.acme.Job.work 2\n";
    assert_eq!(collapsed(&[Activity::Running]), work);
    let rest = "worker_ 1;com.acme.Job.run;com.acme.Job.rest 1\n";
    assert_eq!(collapsed(&Activity::ALL), format!("{rest}{work}"));
    let mut pprof = Vec::new();
    lookback_analysis::pprof(&r, &mut pprof).unwrap();
    let mut unpacked = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&pprof[..]), &mut unpacked).unwrap();
    for text in ["com.acme.Job.work", "Job.java", "worker; 1", "waiting", "nanoseconds"] {
        assert!(unpacked.windows(text.len()).any(|w| w == text.as_bytes()), "{text}");
    }
    let mut jfr = Vec::new();
    lookback_analysis::jfr(&r, &mut jfr).unwrap();
    assert_eq!(u64::from_be_bytes(jfr[8..16].try_into().unwrap()), jfr.len() as u64);
    for text in ["com/acme/Job", "work", "worker; 1", "STATE_SLEEPING", "jdk.ExecutionSample"] {
        assert!(jfr.windows(text.len()).any(|w| w == text.as_bytes()), "{text}");
    }
}

#[test]
fn the_report_tells_where_running_threads_were() {
    let worker = ThreadKey(4);
    let r = recording(vec![
        begun(worker, "worker"),
        sample(worker, 1, &[1, 2], Activity::Running),
        sample(worker, 2, &[1], Activity::Running),
        sample(worker, 3, &[1, 2], Activity::Running),
        sample(worker, 4, &[1, 3], Activity::Waiting),
    ]);
    let mut out = Vec::new();
    let verdict = lookback_analysis::Verdict::of(&r);
    lookback_analysis::report(&r, &verdict, lookback_analysis::Style::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("66.7 %  66.7 %  com.acme.Job.work"), "{text}");
    assert!(text.contains("33.3 %   100 %  com.acme.Job.run"), "{text}");
    assert!(text.contains("4 samples, 1 of them of waiting threads"), "{text}");
    assert!(text.contains("1 of 21 requests were not made"), "{text}");
}
