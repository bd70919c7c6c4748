//! Virtual threads: whole calls across carriers, waits between their turns, pinning, and what is lost or too many.
//!
//! The truth is kept beside the records: a virtual thread's calls go with it from carrier to carrier.
mod support;

use lookback_analysis::{Flags, Recording, Verdict, Waits};
use lookback_format::event::{Chunk, Event};
use lookback_format::incident::Trigger;
use lookback_format::symbol::Wait;
use lookback_format::{MethodId, Nanos, ThreadKey};
use support::*;

const RUN: u32 = 20;
const PARK: u32 = 3;
const MONITOR: u32 = 4;

fn symbols() -> Vec<lookback_format::symbol::Class> {
    classes(&[
        (1, "a.B", "outer", 1, Wait::None),
        (2, "a.B", "inner", 2, Wait::None),
        (PARK, "java.util.concurrent.locks.LockSupport", "park", 1, Wait::Park),
        (MONITOR, "a.Lock", "<monitor>", 0, Wait::Monitor),
        (RUN, "java.lang.VirtualThread", "runContinuation", 1, Wait::Carrier),
    ])
}

fn carrier(key: u32) -> Tracer {
    let mut t = Tracer::new(key, EPOCH, 400);
    t.timed = vec![1, 2, PARK, MONITOR, RUN];
    t
}

fn read(chunks: Vec<Chunk>, at: u64) -> Recording {
    Recording::from_events(command(at), symbols(), [], chunks.into_iter().map(Event::Chunk))
}

fn of(r: &Recording, tid: u64) -> usize {
    r.thread(ThreadKey::of_virtual(tid)).expect("the virtual thread has a track")
}

/// Slices as `Method.name start-end flags`, microseconds after the epoch.
fn told(r: &Recording, thread: usize) -> Vec<String> {
    let s = &r.threads[thread].slices;
    let us = |t: Nanos| (t.0 - EPOCH) / US;
    let one = |i| {
        let it = s.get(i);
        let indent = "  ".repeat(it.depth as usize);
        format!("{indent}{} {}-{} f{}", r.methods.short(it.method), us(it.start), us(it.end), it.flags.0)
    };
    s.indices().map(one).collect()
}

#[test]
fn a_call_that_parks_is_one_call_whichever_carrier_it_goes_on_on() {
    let (mut a, mut b) = (carrier(1), carrier(2));
    let (mut f, mut other) = (Fibre::new(77), Fibre::new(78));
    a.mount(RUN, &mut f);
    a.enter(1);
    a.now += 10 * US;
    a.enter(2);
    a.now += 10 * US;
    a.enter(PARK);
    a.now += 5 * US;
    a.unmount(RUN, &mut f);
    a.now += 5 * US;
    a.mount(RUN, &mut other);
    a.call(1, 30 * US);
    a.unmount(RUN, &mut other);
    b.now = EPOCH + 500 * US;
    b.mount(RUN, &mut f);
    b.leave();
    b.now += 10 * US;
    b.leave();
    b.now += 10 * US;
    // Yields: no wait is open.
    b.unmount(RUN, &mut f);
    b.now += 80 * US;
    b.mount(RUN, &mut f);
    b.now += 10 * US;
    b.leave();
    b.unmount(RUN, &mut f);
    let at = b.now;
    let r = read([a.finish(), b.finish()].concat(), at);
    assert_nested(&r);
    let v = of(&r, 77);
    assert_eq!(
        told(&r, v),
        [
            "B.outer 0-610 f0",
            "  B.inner 10-510 f0",
            "    LockSupport.park 20-500 f16",
            "  VirtualThread.<unmounted> 520-600 f16"
        ]
        .map(|l| l.replace("f16", &format!("f{}", Flags::WAIT.0)))
    );
    assert_eq!((r.threads[v].name.as_str(), r.threads[v].java_tid), ("virtual thread #77", 77));
    let run = |tid| format!("VirtualThread.runContinuation #{tid}");
    assert_eq!(told(&r, 0), [format!("{} 0-25 f0", run(77)), format!("{} 30-60 f0", run(78))]);
    assert_eq!(told(&r, 1), [format!("{} 500-520 f0", run(77)), format!("{} 600-610 f0", run(77))]);
    assert_eq!((r.virtual_threads, r.losses.len()), ((2, 2), 0));
    assert!(
        Verdict::of(&r).sentences.iter().any(|s| s.contains("2 are virtual")),
        "{:?}",
        Verdict::of(&r).sentences
    );
}

#[test]
fn a_virtual_thread_has_the_newest_name_that_it_was_called_by() {
    let mut a = carrier(1);
    for tid in [77, 78, 79] {
        let mut f = Fibre::new(tid);
        a.mount(RUN, &mut f);
        a.call(1, 10 * US);
        a.unmount(RUN, &mut f);
    }
    let name = |tid, at, name: &str| Event::VirtualName(tid, Nanos(EPOCH + at), name.into());
    let names =
        [name(77, 2, "request-2"), name(77, 1, "request-1"), name(79, 0, ""), name(80, 0, "elsewhere")];
    let at = a.now;
    let events = a.finish().into_iter().map(Event::Chunk).chain(names);
    let r = Recording::from_events(command(at), symbols(), [], events);
    let called = |tid| r.threads[of(&r, tid)].name.as_str();
    assert_eq!(called(77), "request-2 (virtual #77)");
    assert_eq!([called(78), called(79)], ["virtual thread #78", "virtual thread #79"]);
    assert_eq!((r.virtual_threads, r.losses.len()), ((3, 3), 0));
}

/// Carriers that take turns with virtual threads that walk at random.
fn crowd(seed: u64) -> (Vec<Tracer>, Vec<Fibre>) {
    let mut random = Random(seed);
    let mut carriers: Vec<_> = (1..=3).map(carrier).collect();
    carriers.iter_mut().for_each(|c| c.timed = vec![PARK, RUN]);
    let mut fibres: Vec<_> = (0..5).map(|i| Fibre::new(100 + i)).collect();
    let mut now = EPOCH;
    for _ in 0..40 + random.below(100) {
        now += random.below(3 * MS);
        let c = &mut carriers[random.below(3) as usize];
        let f = &mut fibres[random.below(5) as usize];
        c.now = now;
        c.mount(RUN, f);
        let records = random.below(120) as usize;
        random_walk(c, &mut random, records, 12, 2);
        if random.below(3) == 0 {
            c.enter(PARK);
        }
        c.unmount(RUN, f);
        now = c.now;
    }
    (carriers, fibres)
}

/// Slices of calls: without those that the stage adds.
fn calls(r: &Recording, thread: usize) -> Vec<lookback_analysis::Slice> {
    let s = &r.threads[thread].slices;
    s.indices().map(|i| s.get(i)).filter(|s| s.method.0 < RUN).collect()
}

#[test]
fn nothing_lost_gives_every_virtual_threads_tree_back() {
    let mut turned = 0;
    for seed in 0..100 {
        let (mut carriers, fibres) = crowd(seed);
        let end = carriers.iter().map(|c| c.now).max().unwrap();
        for c in &mut carriers {
            c.now = end;
        }
        let chunks: Vec<_> = carriers.iter_mut().flat_map(Tracer::finish).collect();
        let r = read(chunks, end);
        assert_nested(&r);
        assert!(r.losses.is_empty(), "seed {seed}: {:?}", r.losses);
        for f in fibres.iter().filter(|f| !f.calls.is_empty()) {
            let got = calls(&r, of(&r, f.tid));
            assert_eq!(got.len(), f.calls.len(), "seed {seed}, thread {}", f.tid);
            let open = got.iter().filter(|s| s.flags.has(Flags::CUT_END)).count();
            assert_eq!(open, f.depth(), "seed {seed}: what is open stays so to the end");
            for (s, c) in got.iter().zip(&f.calls) {
                assert_eq!(s.method.0, c.method, "seed {seed}, thread {}: {s:?} for {c:?}", f.tid);
                assert!(
                    !s.flags.has(Flags::CUT_START) && !s.flags.has(Flags::INFERRED_END),
                    "seed {seed}: {s:?}"
                );
                assert!(s.start.0.abs_diff(c.start) <= TICK + LATE, "seed {seed}: {s:?} for {c:?}");
                let is_cut = s.flags.has(Flags::CUT_END);
                assert!(is_cut || s.end.0.abs_diff(c.end) <= TICK + LATE, "seed {seed}: {s:?} for {c:?}");
            }
            turned += 1;
        }
        // On the carriers nothing of the virtual threads is left but their turns.
        assert!((0..3).filter_map(|t| r.threads.get(t)).all(|t| t.slices.depth.iter().all(|d| *d == 0)));
    }
    assert!(turned > 300, "{turned}");
}

#[test]
fn a_carriers_lost_chunk_cuts_and_never_joins_what_does_not_belong_together() {
    let (mut gaps, mut whole) = (0, 0);
    for seed in 1_000..1_100 {
        let (mut carriers, fibres) = crowd(seed);
        let mut random = Random(seed);
        let end = carriers.iter().map(|c| c.now).max().unwrap();
        let mut chunks = Vec::new();
        for c in &mut carriers {
            c.now = end;
            let mut its = c.finish();
            if its.len() > 2 {
                its.remove(1 + random.below(its.len() as u64 - 2) as usize);
            }
            chunks.extend(its);
        }
        let r = read(chunks, end);
        assert_nested(&r);
        for f in &fibres {
            let Some(t) = r.thread(ThreadKey::of_virtual(f.tid)) else { continue };
            gaps += r.threads[t].gaps.len();
            for s in calls(&r, t).iter().filter(|s| s.flags.0 & !Flags::WAIT.0 == 0) {
                let near = |c: &Call| {
                    c.method == s.method.0
                        && s.start.0.abs_diff(c.start) <= TICK + LATE
                        && s.end.0.abs_diff(c.end) <= TICK + LATE
                };
                assert!(f.calls.iter().any(near), "seed {seed}, thread {}: no such call {s:?}", f.tid);
                whole += 1;
            }
        }
    }
    assert!(gaps > 100 && whole > 1_000, "{gaps} gaps, {whole} whole calls");
}

#[test]
fn a_monitor_waited_for_without_an_unmount_is_pinned() {
    let mut a = carrier(1);
    let mut f = Fibre::new(9);
    a.mount(RUN, &mut f);
    a.enter(1);
    a.call(MONITOR, 40 * MS);
    a.enter(MONITOR);
    a.unmount(RUN, &mut f);
    a.now += 30 * MS;
    a.mount(RUN, &mut f);
    a.leave();
    a.leave();
    a.unmount(RUN, &mut f);
    let at = a.now;
    let r = read(a.finish(), at);
    assert_nested(&r);
    let v = of(&r, 9);
    let wait = Flags::WAIT.0;
    assert_eq!(
        told(&r, v),
        [
            "B.outer 0-70000 f0".to_owned(),
            format!("  Lock.<monitor> 0-40000 f{wait}"),
            format!("    VirtualThread.<pinned> 0-40000 f{wait}"),
            format!("  Lock.<monitor> 40000-70000 f{wait}"),
        ]
    );
    let call = lookback_analysis::SliceRef { thread: v, slice: lookback_analysis::SliceIndex(0) };
    let waits = Waits::within(&r, call);
    let kinds: Vec<_> = waits.kinds.iter().map(|k| (k.kind, k.total.0 / MS, k.count)).collect();
    assert_eq!(kinds, [(Wait::Pinned, 40, 1), (Wait::Monitor, 30, 1)]);
}

#[test]
fn the_time_in_which_it_could_have_gone_on_is_told_apart_from_that_in_which_it_waited() {
    let (mut a, mut b) = (carrier(1), carrier(2));
    let mut f = Fibre::new(9);
    b.submit(&f);
    a.now += 20 * MS;
    a.mount(RUN, &mut f);
    a.enter(1);
    a.enter(PARK);
    a.unmount(RUN, &mut f);
    b.now = a.now + 10 * MS;
    b.submit(&f);
    b.now += US;
    b.submit(&f);
    a.now += 40 * MS;
    a.mount(RUN, &mut f);
    a.leave();
    a.now += 5 * MS;
    a.unmount(RUN, &mut f);
    a.now += 10 * MS;
    a.submit(&f);
    a.now += 10 * MS;
    b.now = a.now;
    let at = a.now;
    let r = read([a.finish(), b.finish()].concat(), at);
    assert_nested(&r);
    let (v, wait, cut) = (of(&r, 9), Flags::WAIT.0, Flags::CUT_END.0);
    assert_eq!(
        told(&r, v),
        [
            format!("VirtualThread.<ready> 0-20000 f{wait}"),
            format!("B.outer 20000-85000 f{cut}"),
            format!("  LockSupport.park 20000-60000 f{wait}"),
            format!("    VirtualThread.<ready> 30000-60000 f{wait}"),
            format!("  VirtualThread.<unmounted> 65000-75000 f{wait}"),
            format!("  VirtualThread.<ready> 75000-85000 f{}", wait | cut),
        ]
    );
    let call = lookback_analysis::SliceRef { thread: v, slice: lookback_analysis::SliceIndex(1) };
    let waits = Waits::within(&r, call);
    let kinds: Vec<_> = waits.kinds.iter().map(|k| (k.kind, k.total.0 / MS, k.count)).collect();
    assert_eq!(kinds, [(Wait::Ready, 50, 2), (Wait::Unmounted, 10, 1)], "the park was mostly for a carrier");
}

#[test]
fn of_very_many_the_longest_have_tracks_and_the_triggers_has_one() {
    const ALL: u64 = 3_000;
    let mut a = carrier(1);
    for tid in 1..=ALL {
        let mut f = Fibre::new(tid);
        a.mount(RUN, &mut f);
        a.call(1, if tid % 3 == 0 { 50 * US } else { 10 * US });
        a.unmount(RUN, &mut f);
        a.now += US;
    }
    let (chunks, at) = (a.finish(), a.now);
    let slow = Trigger::Slow {
        at: Nanos(at),
        rule: "?".into(),
        thread: ThreadKey::of_virtual(1),
        method: MethodId(1),
        start: Nanos(EPOCH),
        duration: Nanos(10 * US),
        running: false,
    };
    let r = Recording::from_events(manifest(slow), symbols(), [], chunks.into_iter().map(Event::Chunk));
    assert_nested(&r);
    let (seen, tracks) = r.virtual_threads;
    assert_eq!((seen, tracks, r.threads.len() as u64), (ALL, 1_000, 1_001));
    let on_tracks = |tid| r.thread(ThreadKey::of_virtual(tid)).is_some();
    assert!(on_tracks(1) && !on_tracks(2) && on_tracks(3));
    assert!(r.trigger_slice().is_some_and(|s| r.threads[s.thread].java_tid == 1));
    let count =
        |t: &lookback_analysis::ThreadTrack| t.slices.method.iter().filter(|m| m.0 == 1).count() as u64;
    assert_eq!(r.threads.iter().map(count).sum::<u64>(), ALL, "no call is lost or told twice");
    assert_eq!(count(&r.threads[0]), ALL - 1_000, "those of the others are on the carrier");
}

#[test]
fn a_turn_of_which_only_a_later_chunk_is_left_is_still_its_threads() {
    let mut a = carrier(1);
    let mut f = Fibre::new(5);
    a.mount(RUN, &mut f);
    a.enter(1);
    a.now += 10 * US;
    a.flush();
    a.call(2, 30 * US);
    a.leave();
    a.unmount(RUN, &mut f);
    let (mut chunks, at) = (a.finish(), a.now);
    chunks.remove(0);
    let r = read(chunks, at);
    assert_nested(&r);
    let v = of(&r, 5);
    assert_eq!(told(&r, v), ["B.outer 10-40 f1", "  B.inner 10-40 f0"]);
}

#[test]
fn a_braked_carrier_keeps_its_turns_apart() {
    let mut a = carrier(1);
    let (mut f, mut g) = (Fibre::new(5), Fibre::new(6));
    a.mount(RUN, &mut f);
    a.brake();
    a.enter(PARK);
    a.unmount(RUN, &mut f);
    a.now += MS;
    a.mount(RUN, &mut g);
    a.now += MS;
    a.release();
    a.call(1, 10 * US);
    a.unmount(RUN, &mut g);
    a.mount(RUN, &mut f);
    a.leave();
    a.unmount(RUN, &mut f);
    let at = a.now;
    let r = read(a.finish(), at);
    assert_nested(&r);
    assert_eq!(told(&r, of(&r, 5)), [format!("LockSupport.park 0-2010 f{}", Flags::WAIT.0)]);
    assert_eq!(told(&r, of(&r, 6)), ["B.outer 2000-2010 f0"]);
}
