//! Virtual threads: whole calls across carriers, pinning, a slow call that no carrier runs, and very many of them.
//!
//! The constraint: which carrier runs what is the VM's choice, so the programs go on until it has chosen as the test
//! needs it.

use crate::support::{Java, Place, Recorded, artifacts};
use lookback_analysis::{Flags, Recording, SliceIndex, SliceRef, Waits};
use lookback_format::incident::Trigger;
use lookback_format::symbol::Wait;

/// All slices of a method, by its full name.
fn slices(r: &Recording, method: &str) -> Vec<SliceRef> {
    let of = |(thread, t): (usize, &lookback_analysis::ThreadTrack)| {
        let named = |i: &SliceIndex| r.methods.full(t.slices.method[i.0 as usize]) == method;
        t.slices.indices().filter(named).map(|slice| SliceRef { thread, slice }).collect::<Vec<_>>()
    };
    r.threads.iter().enumerate().flat_map(of).collect()
}

#[track_caller]
fn only(r: &Recording, method: &str) -> SliceRef {
    let all = slices(r, method);
    assert_eq!(all.len(), 1, "calls of {method}");
    all[0]
}

#[test]
fn a_call_that_parks_is_one_call_chart_whichever_carriers_run_it() {
    let Some(jdk) = artifacts::jdk_with_virtual_threads() else { return };
    let place = Place::new();
    let java =
        Java::new(jdk, &place, &["Turns", "carriers"]).option("-Djdk.virtualThreadScheduler.parallelism=2");
    let without = java.run().ok();
    let java =
        Java::new(jdk, &place, &["Turns", "carriers"]).option("-Djdk.virtualThreadScheduler.parallelism=2");
    java.agent("trivial=0,keep=on").run().same_as(&without);
    let recorded = place.recover();
    let r = recorded.analysed();
    let calls = ["Turns.outer", "Turns.middle", "Turns.last"].map(|m| only(r, m));
    for (call, parent) in calls.iter().zip([None, Some(calls[0]), Some(calls[1])]) {
        let slice = r.slice(*call);
        assert_eq!(slice.flags, Flags(0), "whole: {slice:?}");
        let above = slice.parent.some().filter(|_| parent.is_some());
        assert_eq!(above, parent.map(|p| p.slice));
        assert_eq!(call.thread, calls[0].thread);
    }
    let t = &r.threads[calls[0].thread];
    assert!(t.key.is_virtual() && t.gaps.is_empty(), "{} {:?}", t.name, t.gaps);
    assert_eq!(t.name, format!("walker (virtual #{})", t.java_tid));
    let nameless = r.threads.iter().filter(|t| t.name == format!("virtual thread #{}", t.java_tid)).count();
    assert_eq!(nameless, 3, "the others have no name");
    let turns = slices(r, &format!("java.lang.VirtualThread.runContinuation #{}", t.java_tid));
    let mut carriers: Vec<_> = turns.iter().map(|s| s.thread).collect();
    carriers.dedup();
    carriers.sort_unstable();
    carriers.dedup();
    assert_eq!(carriers.len(), 2, "{} turns", turns.len());
    assert!(turns.iter().all(|s| r.slice(*s).flags == Flags(0)));
    let waits = Waits::within(r, calls[0]);
    let kind = |kind| waits.kinds.iter().find(|k| k.kind == kind).map_or(0, |k| k.count);
    assert!(kind(Wait::Park) > 0 && kind(Wait::Unmounted) > 0 && kind(Wait::Pinned) == 0, "{waits:?}");
    let submitted = slices(r, "java.lang.VirtualThread.<ready>");
    let submitted = submitted.iter().filter(|s| s.thread == calls[0].thread).count();
    assert_eq!(submitted, turns.len(), "before each turn it waits for a carrier");
    println!("{} turns on two carriers", turns.len());
}

#[test]
fn a_virtual_thread_that_cannot_be_unmounted_is_pinned() {
    let Some(jdk) = artifacts::jdk_with_virtual_threads() else { return };
    let place = Place::new();
    let without = Java::new(jdk, &place, &["Turns", "pinned"]).run().ok();
    Java::new(jdk, &place, &["Turns", "pinned"]).agent("trivial=0,keep=on").run().same_as(&without);
    let recorded = place.recover();
    let r = recorded.analysed();
    let call = only(r, "Turns$Pinned.run");
    let waits = Waits::within(r, call);
    let longest = waits.longest.expect("it waited");
    assert_eq!(longest.kind, Wait::Pinned, "{:?}", waits.kinds);
    assert!(longest.duration.0 >= 55_000_000, "{longest:?}");
    assert!(r.threads[call.thread].key.is_virtual());
}

#[test]
fn a_slow_call_is_noticed_while_no_carrier_runs_its_virtual_thread() {
    let Some(jdk) = artifacts::jdk_with_virtual_threads() else { return };
    let place = Place::new();
    let out = place.file("incident-%n.lkb");
    let options = format!("trivial=0,slow=Turns$Slow.request:200ms,tail=50ms,hold=1s,out={}", out.display());
    let mut running = Java::new(jdk, &place, &["Turns", "slow"]).agent(&options).start();
    running.until("ready");
    let line = running.error_line("[lookback] slow call");
    assert!(line.contains("still runs"), "{line}");
    let recorded = Recorded::read(&place.file("incident-1.lkb"));
    running.ask("go", "did slow");
    running.end().ok();
    assert!(matches!(recorded.manifest.trigger, Trigger::Slow { running: true, .. }));
    let r = recorded.analysed();
    let slow = r.trigger_slice().expect("the call has a slice");
    let slice = r.slice(slow);
    assert!(r.threads[slow.thread].key.is_virtual() && slice.flags.has(Flags::CUT_END), "{slice:?}");
    assert_eq!(r.methods.full(slice.method), "Turns$Slow.request");
    let longest = Waits::within(r, slow).longest.expect("it waits");
    assert_eq!(longest.kind, Wait::Park);
    assert!(longest.duration.0 >= 190_000_000, "{longest:?}");
}

#[test]
fn a_hundred_thousand_at_once_and_a_million_short_ones_leave_nothing_behind() {
    const AT_ONCE: u64 = 100_000;
    const SHORT: u64 = 1_000_000;
    let Some(jdk) = artifacts::jdk_with_virtual_threads() else { return };
    let place = Place::new();
    let (at_once, short) = (AT_ONCE.to_string(), SHORT.to_string());
    let program = ["Crowd", at_once.as_str(), short.as_str()];
    let heap = ["-Xms400m", "-Xmx400m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"];
    let java = Java::new(jdk, &place, &program).options(&heap);
    let mut running = java.agent("trivial=0,budget=off,slow=Crowd.request:1h").start();
    running.until("begun");
    let before = running.own_kib();
    running.ask("go", &format!("parked {AT_ONCE}"));
    let parked = place.dump(running.pid);
    // The next dump takes its place.
    parked.analysed();
    let after_parked = running.own_kib();
    running.ask("go", &format!("sum {}", AT_ONCE + SHORT));
    let last = place.dump(running.pid);
    let after = running.own_kib();
    running.say("go");
    running.end().ok();
    let r = parked.analysed();
    let (seen, tracks) = r.virtual_threads;
    assert!(seen <= AT_ONCE && seen > AT_ONCE / 10, "{seen} virtual threads in the ring");
    assert_eq!(tracks, 1_000);
    let open = |r: &Recording| {
        let virtual_tracks = r.threads.iter().filter(|t| t.key.is_virtual());
        virtual_tracks.filter(|t| t.slices.flags.iter().any(|f| f.has(Flags::CUT_END))).count() as u64
    };
    assert_eq!(open(r), tracks, "each is parked within its call");
    assert_eq!(last.analysed().virtual_threads.1, 1_000);
    assert_eq!(open(last.analysed()), 0, "all have ended");
    assert!(last.listed.len() < 100, "{} threads have slabs", last.listed.len());
    for recorded in [&parked, &last] {
        assert_eq!(
            recorded.manifest.losses.get("watched calls of unmounted virtual threads there was no room for"),
            None
        );
    }
    // The VM's own bookkeeping grows a little with the program's threads.
    let grown = after.saturating_sub(before) >> 10;
    println!("{} MiB, parked {} MiB, after {} MiB", before >> 10, after_parked >> 10, after >> 10);
    assert!(grown < 96, "grown by {grown} MiB");
}
