//! Gaps that the brake made: which calls go on across them.
//!
//! The constraint that shaped it: what is shown as one call must have been one, so each test knows what really happened.
mod support;

use lookback_analysis::{Flags, GapKind, Recording};
use lookback_format::event::Event;
use lookback_format::slot::GapCause;
use lookback_format::symbol::Wait;
use support::*;

const REQUEST: u32 = 1;
const STEP: u32 = 2;
const HOT: u32 = 3;
const OTHER: u32 = 4;
const WAIT: u32 = 9;

fn thread() -> Tracer {
    let mut t = Tracer::new(1, EPOCH + 10 * MS, 400);
    t.timed = vec![WAIT];
    t
}

/// Short calls for so long.
fn hot(t: &mut Tracer, nanos: u64) {
    for _ in 0..nanos / (10 * US) {
        t.call(HOT, 10 * US);
    }
}

/// Short calls for so long, of which the brake leaves the first tenth of each 5 ms.
fn flood(t: &mut Tracer, nanos: u64) {
    for _ in 0..nanos / (5 * MS) {
        hot(t, MS / 2);
        t.brake();
        hot(t, 5 * MS - MS / 2);
        t.release();
    }
}

fn decoded(t: &mut Tracer) -> Recording {
    let chunks = t.finish();
    let r = decode(chunks, t.now);
    assert_nested(&r);
    assert!(!r.losses.contains_key("exits that fit no call"), "{:?}", r.losses);
    r
}

/// The slices of a method: start and end in milliseconds, depth, whether it was cut.
fn of(r: &Recording, method: u32) -> Vec<(u64, u64, u32, bool)> {
    let s = &r.threads[0].slices;
    let slices = s.indices().map(|i| s.get(i)).filter(|s| s.method.0 == method);
    slices.map(|s| ((s.start.0 - EPOCH) / MS, (s.end.0 - EPOCH) / MS, s.depth, s.flags.cut())).collect()
}

#[test]
fn a_long_call_is_one_across_all_gaps_and_encloses_what_is_recorded_between() {
    let mut t = thread();
    t.within(REQUEST, |t| {
        t.within(STEP, |t| flood(t, 50 * MS));
        t.within(STEP, |t| flood(t, 50 * MS));
    });
    let r = decoded(&mut t);
    assert_eq!(of(&r, REQUEST), [(10, 110, 0, false)]);
    assert_eq!(of(&r, STEP), [(10, 60, 1, false), (60, 110, 1, false)]);
    assert!(of(&r, HOT).iter().all(|s| s.2 == 2), "none stands beside what called it");
    let gaps = &r.threads[0].gaps;
    assert_eq!(gaps.len(), 20);
    assert!(gaps.iter().all(|g| g.kind == GapKind::Recorded(GapCause::Brake)));
    assert!(gaps.iter().all(|g| g.to.since(g.from).0.abs_diff(4_500 * US) < MS), "{gaps:?}");
}

#[test]
fn short_calls_on_both_sides_of_a_gap_are_not_taken_for_one() {
    let mut t = thread();
    t.within(REQUEST, |t| {
        for _ in 0..20 {
            t.within(STEP, |t| hot(t, 200 * US));
        }
        t.enter(STEP);
        hot(t, 100 * US);
        t.brake();
        for _ in 0..20 {
            t.leave();
            t.now += 200 * US;
            t.enter(STEP);
        }
        t.release();
        hot(t, 100 * US);
        t.leave();
    });
    let r = decoded(&mut t);
    let s = &r.threads[0].slices;
    let cut: Vec<_> = s.indices().map(|i| s.get(i)).filter(|s| s.flags.cut()).collect();
    assert_eq!(of(&r, REQUEST).len(), 1);
    assert_eq!(cut.iter().map(|s| s.method.0).collect::<Vec<_>>(), [STEP, STEP]);
    assert!(cut[0].flags.has(Flags::CUT_END) && cut[1].flags.has(Flags::CUT_START));
    assert!(cut.iter().all(|s| s.duration().0 < MS && s.depth == 1), "{cut:?}");
}

#[test]
fn a_call_that_ended_in_a_gap_does_not_enclose_what_came_after() {
    let mut t = thread();
    t.within(REQUEST, |t| {
        t.enter(STEP);
        flood(t, 20 * MS);
        t.brake();
        t.leave();
        t.enter(OTHER);
        hot(t, 5 * MS);
        t.release();
        flood(t, 20 * MS);
        t.leave();
        hot(t, MS);
    });
    let r = decoded(&mut t);
    assert_eq!(of(&r, REQUEST), [(10, 56, 0, false)]);
    // When it ended nobody saw: it may have been at the first gap.
    assert_eq!(of(&r, STEP).len(), 1);
    assert!(of(&r, STEP)[0].1 <= 30 && of(&r, STEP)[0].3);
    let other = of(&r, OTHER);
    assert!(other.iter().all(|s| s.2 == 1 && s.3), "{other:?}");
}

/// Nine tenths of the time are gaps, so the ends of most calls are in one.
#[test]
fn a_call_whose_exit_nobody_saw_still_encloses_what_it_was_seen_to_call() {
    let mut t = thread();
    t.within(REQUEST, |t| {
        t.enter(STEP);
        for _ in 0..10 {
            t.enter(OTHER);
            hot(t, MS / 2);
            t.brake();
            hot(t, MS);
            t.leave();
            t.enter(OTHER);
            hot(t, MS);
            t.release();
            hot(t, MS / 2);
            t.leave();
        }
        t.brake();
        t.leave();
        hot(t, MS);
        t.release();
        hot(t, MS);
    });
    let r = decoded(&mut t);
    assert_eq!(of(&r, REQUEST), [(10, 42, 0, false)]);
    let step = of(&r, STEP);
    assert_eq!((step.len(), step[0].0, step[0].2), (1, 10, 1), "{step:?}");
    assert!(step[0].1 >= 40, "{step:?}");
    assert!(of(&r, OTHER).iter().all(|s| s.2 == 2), "{:?}", of(&r, OTHER));
}

#[test]
fn what_is_still_open_at_the_end_was_open_at_all_gaps() {
    let mut t = thread();
    t.enter(REQUEST);
    t.enter(STEP);
    flood(&mut t, 20 * MS);
    let r = decoded(&mut t);
    assert_eq!(of(&r, REQUEST), [(10, 30, 0, true)]);
    assert_eq!(of(&r, STEP), [(10, 30, 1, true)]);
}

#[test]
fn a_call_that_began_before_the_records_is_one_across_gaps() {
    let mut t = thread();
    t.within(REQUEST, |t| flood(t, 50 * MS));
    let chunks = t.finish();
    let r = decode(chunks[3..].to_vec(), t.now);
    assert_nested(&r);
    let request = of(&r, REQUEST);
    assert_eq!((request.len(), request[0].1, request[0].2), (1, 60, 0), "{request:?}");
    assert!(of(&r, HOT).iter().all(|s| s.2 == 1));
}

#[test]
fn waits_are_whole_however_short_others_were() {
    let mut t = thread();
    t.within(REQUEST, |t| {
        t.call(WAIT, US);
        hot(t, MS);
        t.brake();
        t.call(WAIT, 30 * MS);
        hot(t, MS);
        t.enter(WAIT);
        t.now += 7 * MS;
        t.release();
        t.leave();
        hot(t, MS);
    });
    let r = decoded(&mut t);
    assert_eq!(of(&r, WAIT), [(10, 10, 1, false), (11, 41, 1, false), (42, 49, 1, false)]);
    assert_eq!(of(&r, REQUEST), [(10, 50, 0, false)]);
}

#[test]
fn a_pause_in_the_middle_of_a_chunk_cuts_no_wait_and_no_long_call() {
    let mut t = thread();
    t.within(REQUEST, |t| {
        hot(t, MS / 2);
        t.enter(WAIT);
        t.pause();
        t.now += 5 * MS;
        t.release();
        t.now += 900 * MS;
        t.leave();
        hot(t, MS / 2);
    });
    assert_eq!(t.chunks.len(), 0, "no chunk begins with the gap");
    let r = decoded(&mut t);
    assert_eq!(r.threads[0].gaps.len(), 1);
    let park = classes(&[(WAIT, "java.util.concurrent.locks.LockSupport", "park", 1, Wait::Park)]);
    let known = Recording::from_events(command(t.now), park, [], t.chunks.drain(..).map(Event::Chunk));
    assert!(known.threads[0].gaps.is_empty(), "who is parked misses nothing");
    assert_eq!(of(&r, WAIT), [(10, 915, 1, false)]);
    assert_eq!(of(&r, REQUEST), [(10, 916, 0, false)]);
    assert_eq!(of(&r, HOT).len(), 100);
}

#[test]
fn precise_calls_are_whole_until_they_are_too_many() {
    const PRECISE: u32 = 5;
    let mut t = thread();
    t.precise = vec![PRECISE];
    t.within(REQUEST, |t| {
        t.call(PRECISE, US);
        t.brake();
        t.call(PRECISE, 30 * MS);
        // Two calls with the end of one and the begin of the other not recorded, though each was long.
        t.enter(PRECISE);
        t.now += 5 * MS;
        t.hold(PRECISE);
        t.now += 5 * MS;
        t.leave();
        t.enter(PRECISE);
        t.now += 5 * MS;
        t.call(WAIT, MS);
        t.release();
        t.leave();
        t.call(PRECISE, 2 * MS);
    });
    let chunks = t.finish();
    let r = decode_precise(chunks.clone(), t.now, &[PRECISE]);
    assert_nested(&r);
    assert_eq!(of(&r, REQUEST), [(10, 58, 0, false)]);
    assert_eq!(of(&r, WAIT), [(55, 56, 1, false)]);
    let long = [(10, 10, 1, false), (10, 40, 1, false), (40, 45, 1, true), (45, 45, 2, false)];
    assert_eq!(of(&r, PRECISE)[..4], long);
    assert_eq!(of(&r, PRECISE)[4..], [(56, 56, 1, true), (56, 58, 1, false)]);
    // Of another timed method the records would say that one was open all the time.
    t.timed = vec![PRECISE];
    assert!(of(&decode(chunks, t.now), PRECISE).contains(&(40, 56, 1, false)));
}

/// Short requests, each after a wait of 10 ms.
fn requests(t: &mut Tracer, n: usize) {
    for _ in 0..n {
        t.call(WAIT, 10 * MS);
        t.within(REQUEST, |t| t.within(STEP, |t| hot(t, MS)));
    }
}

#[test]
fn a_request_whose_end_fell_into_a_pause_does_not_enclose_those_that_come_after() {
    let mut t = thread();
    requests(&mut t, 10);
    t.within(REQUEST, |t| {
        t.within(STEP, |t| {
            t.call(WAIT, US);
            t.pause();
            t.call(WAIT, MS / 10);
        });
    });
    t.enter(WAIT);
    t.now += 5 * MS;
    t.release();
    t.now += 5 * MS;
    t.leave();
    requests(&mut t, 10);
    let found = of(&decoded(&mut t), REQUEST);
    assert_eq!(found.len(), 21);
    assert!(found.iter().all(|&(from, to, depth, _)| to - from <= 1 && depth == 0), "{found:?}");
}

#[test]
fn a_request_whose_begin_fell_into_a_pause_begins_there() {
    let mut t = thread();
    requests(&mut t, 10);
    t.call(WAIT, 10 * MS);
    t.pause();
    let begin = (t.now - EPOCH) / MS;
    t.within(REQUEST, |t| {
        t.within(STEP, |t| {
            t.enter(WAIT);
            t.now += 5 * MS;
            t.release();
            t.now += 900 * MS;
            t.leave();
        });
    });
    requests(&mut t, 10);
    let r = decoded(&mut t);
    assert!(of(&r, REQUEST).contains(&(begin, begin + 905, 0, true)), "{:?}", of(&r, REQUEST));
    assert!(of(&r, STEP).contains(&(begin, begin + 905, 1, true)), "{:?}", of(&r, STEP));
    assert!(of(&r, WAIT).contains(&(begin, begin + 905, 2, false)), "{:?}", of(&r, WAIT));
    assert_eq!(of(&r, REQUEST).iter().filter(|c| c.3).count(), 1);
}

/// The brake, or a pause, which begins at a slot that has its exact time.
fn brake_or_pause(t: &mut Tracer, random: &mut Random) {
    if random.below(2) == 0 {
        t.brake();
    } else {
        t.call(3, 1);
        t.pause();
    }
}

/// Whatever the brake leaves out: what was recorded is there once, nested, and timed calls are whole and exact.
#[test]
fn random_calls_under_random_brakes() {
    let (mut crossing, mut brakes) = (0, 0);
    for seed in 0..600 {
        let mut random = Random(seed);
        let mut t = Tracer::new(1, EPOCH + random.below(5_000 * MS), 16 + random.below(300) as usize);
        (t.timed, t.precise) = (vec![3, 4], vec![5]);
        let deepest = 1 + random.below(40) as usize;
        for _ in 0..1 + random.below(12) {
            let records = 1 + random.below(300) as usize;
            random_walk(&mut t, &mut random, records, deepest, 9);
            brake_or_pause(&mut t, &mut random);
            let records = random.below(300) as usize;
            random_walk(&mut t, &mut random, records, deepest, 9);
            if random.below(2) == 0 {
                t.hold(5);
                random_walk(&mut t, &mut random, records, deepest, 9);
            }
            t.release();
            brakes += 1;
        }
        let chunks = t.finish();
        let (entries, exits): (Vec<u32>, Vec<u32>) =
            chunks.iter().flat_map(|c| plain(&c.slots)).partition(|w| w & lookback_format::slot::EXIT == 0);
        let r = decode_precise(chunks, t.now, &[5]);
        assert_nested(&r);
        assert!(!r.losses.contains_key("exits that fit no call"), "seed {seed}");
        let s = &r.threads[0].slices;
        let seen = s.flags.iter().filter(|f| !f.has(Flags::CUT_START)).count();
        assert_eq!(seen, entries.len(), "seed {seed}: an entry is one slice");
        assert!(s.len() - seen <= exits.len(), "seed {seed}: an exit is at most one slice");
        let timed = |m: u32| matches!(m, 3 | 4);
        let exact: Vec<_> = s
            .indices()
            .map(|i| s.get(i))
            .filter(|s| timed(s.method.0))
            .map(|s| (s.method.0, s.start.0, s.end.0))
            .collect();
        let true_calls: Vec<_> =
            t.calls.iter().filter(|c| timed(c.method)).map(|c| (c.method, c.start, c.end)).collect();
        assert_eq!(exact, true_calls, "seed {seed}");
        crossing +=
            r.threads[0].gaps.iter().filter(|g| exact.iter().any(|c| c.1 < g.from.0 && c.2 > g.to.0)).count();
    }
    assert!(brakes > 2_000 && crossing > 500, "{brakes} brakes, {crossing} under a timed call");
}

/// So few calls that each way in which a gap and a call can meet is among them.
#[test]
fn every_exit_finds_its_call_whatever_the_brake_left_out() {
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let mut t = Tracer::new(1, EPOCH + 10 * MS, 400);
        (t.timed, t.precise) = (vec![3], vec![2]);
        for _ in 0..1 + random.below(4) {
            let records = 1 + random.below(6) as usize;
            random_walk(&mut t, &mut random, records, 4, 4);
            brake_or_pause(&mut t, &mut random);
            let records = random.below(6) as usize;
            random_walk(&mut t, &mut random, records, 4, 4);
            if random.below(2) == 0 {
                t.hold(2);
                random_walk(&mut t, &mut random, records, 4, 4);
            }
            t.release();
        }
        let r = decode_precise(t.finish(), t.now, &[2]);
        assert_nested(&r);
        assert!(!r.losses.contains_key("exits that fit no call"), "seed {seed}");
    }
}
