//! Small traces whose decode is written out: each is one thing that happens to a real thread.
//!
//! Times are microseconds after tick 0, one line a slice: indent = depth, then method, start-end, flag bits.
mod support;

use lookback_analysis::{Flags, Gap, GapKind, Recording};
use lookback_format::event::{Chunk, Event, ThreadEvent};
use lookback_format::slot::{self, GapCause, entry, exit, gap, tick, time};
use lookback_format::symbol::Wait;
use lookback_format::{MethodId, Nanos, Seq, ThreadKey};
use support::*;

fn e(m: u32) -> u32 {
    entry(MethodId(m))
}

fn x(m: u32) -> u32 {
    exit(MethodId(m))
}

/// A chunk from words, its times in microseconds after tick 0.
fn chunk(seq: u32, first: u64, last: u64, words: &[&[u32]]) -> Chunk {
    let us = |t: u64| Nanos(EPOCH + t * US);
    Chunk {
        thread: ThreadKey(1),
        seq: Seq(seq),
        first: us(first),
        last: us(last),
        lost: 0,
        slots: words.concat(),
    }
}

fn at(us: u64) -> [u32; 3] {
    time(Nanos(EPOCH + us * US))
}

fn decoded(
    chunks: impl IntoIterator<Item = Chunk>,
    end_us: u64,
) -> (lookback_analysis::Recording, Vec<String>) {
    let r = decode(chunks, EPOCH + end_us * US);
    assert_nested(&r);
    let b = brief(&r, 0);
    (r, b)
}

#[test]
fn a_tree_with_exact_stamps_is_exact() {
    let c = chunk(
        0,
        0,
        900,
        &[
            &at(0),
            &[e(1)],
            &at(100),
            &[e(2)],
            &at(200),
            &[x(2)],
            &at(300),
            &[e(2)],
            &at(400),
            &[x(2)],
            &at(900),
            &[x(1)],
        ],
    );
    let (r, b) = decoded([c], 900);
    assert_eq!(b, ["1 0-900 f0", "  2 100-200 f0", "  2 300-400 f0"]);
    assert!(r.threads[0].slices.error.iter().all(|&e| e == 0));
    assert!(r.losses.is_empty());
}

#[test]
fn recursion_gives_one_slice_a_call() {
    let c = chunk(
        0,
        0,
        700,
        &[
            &at(0),
            &[e(1)],
            &at(100),
            &[e(1)],
            &at(200),
            &[e(1)],
            &at(300),
            &[x(1)],
            &at(400),
            &[x(1)],
            &at(500),
            &[x(1)],
        ],
    );
    assert_eq!(decoded([c], 700).1, ["1 0-500 f0", "  1 100-400 f0", "    1 200-300 f0"]);
}

#[test]
fn slots_between_stamps_are_spread_and_know_their_error() {
    let c = chunk(0, 0, 800, &[&at(0), &[e(1), e(2), x(2), e(3)], &at(800), &[x(3), x(1)]]);
    let (r, b) = decoded([c], 800);
    assert_eq!(b, ["1 0-800 f0", "  2 200-400 f0", "  3 600-800 f0"]);
    assert_eq!(r.threads[0].slices.error, [0, 800_000, 800_000]);
}

#[test]
fn a_coarse_tick_says_when_within_a_tick() {
    let c =
        chunk(0, 0, 9_000, &[&[tick(2), e(1)], &[tick(5), e(2)], &at(5_600), &[x(2)], &at(8_000), &[x(1)]]);
    let (r, b) = decoded([c], 9_000);
    assert_eq!(b, ["1 2000-8000 f0", "  2 5000-5600 f0"]);
    assert_eq!(
        r.threads[0].slices.error,
        [1_100_000, 600_000],
        "bounded by the next stamp where it is nearer"
    );
}

#[test]
fn calls_that_began_before_the_records_enclose_what_came_first() {
    let c = chunk(
        7,
        1_000,
        2_000,
        &[
            &at(1_100),
            &[e(3)],
            &at(1_200),
            &[x(3)],
            &at(1_300),
            &[x(2)],
            &at(1_400),
            &[e(4)],
            &at(1_500),
            &[x(4)],
            &at(1_600),
            &[x(1)],
        ],
    );
    let (r, b) = decoded([c], 2_000);
    assert_eq!(b, ["1 1000-1600 f1", "  2 1000-1300 f1", "    3 1100-1200 f0", "  4 1400-1500 f0"]);
    assert!(r.threads[0].overwritten.is_some() && r.threads[0].gaps.is_empty());
}

#[test]
fn calls_that_run_at_the_end_reach_to_it() {
    let c = chunk(0, 0, 400, &[&at(0), &[e(1)], &at(100), &[e(2)]]);
    assert_eq!(decoded([c.clone()], 5_000).1, ["1 0-5000 f2", "  2 100-5000 f2"]);
    let r = ended([c], 1);
    assert_eq!(brief(&r, 0), ["1 0-600 f2", "  2 100-600 f2"], "a thread that ended does not outlive itself");
    assert_eq!(r.threads[0].name, "gone");
}

/// The recording of a thread that ended after so many chunks, at 600 us, of which these are there.
fn ended(chunks: impl IntoIterator<Item = Chunk>, written: u32) -> Recording {
    let at = Nanos(EPOCH + 600 * US);
    let end = ThreadEvent { thread: ThreadKey(1), os_tid: 5, java_tid: 6, at, name: "gone".into() };
    let events = chunks.into_iter().map(Event::Chunk).chain([Event::ThreadEnd(end, written)]);
    Recording::from_events(command(EPOCH + 5_000 * US), [], [], events)
}

#[test]
fn a_threads_end_tells_of_chunks_that_are_missing_before_it() {
    let us = |at: u64| Nanos(EPOCH + at * US);
    let r = ended([chunk(0, 0, 400, &[&at(0), &[e(1)], &at(100), &[e(2)]])], 3);
    assert_eq!(brief(&r, 0), ["1 0-400 f2", "  2 100-400 f2"], "what came then is not known");
    let missing = Gap { from: us(400), to: us(600), lost: 2, kind: GapKind::Chunks(2) };
    assert_eq!(r.threads[0].gaps, [missing]);
    assert_eq!(r.threads[0].overwritten, None);
    let r = ended([], 2);
    assert_eq!((&r.threads[0].gaps[..], r.threads[0].overwritten), (&[][..], Some(us(600))), "all of them");
    let r = ended([], 0);
    assert_eq!((&r.threads[0].gaps[..], r.threads[0].overwritten), (&[][..], None), "it recorded nothing");
}

#[test]
fn an_exit_further_out_ends_what_is_inside() {
    let c = chunk(
        0,
        0,
        400,
        &[&at(0), &[e(1)], &at(100), &[e(2)], &at(200), &[e(3)], &at(300), &[x(1)], &at(400), &[e(4), x(4)]],
    );
    assert_eq!(decoded([c], 400).1, ["1 0-300 f0", "  2 100-300 f4", "    3 200-300 f4", "4 400-400 f0"]);
}

#[test]
fn a_stray_exit_stays_within_the_call_that_is_open() {
    let c = chunk(
        0,
        0,
        900,
        &[&at(0), &[e(1)], &at(100), &[e(2)], &at(200), &[x(2)], &at(300), &[x(9)], &at(400), &[x(1)]],
    );
    assert_eq!(decoded([c], 900).1, ["1 0-400 f0", "  9 0-300 f1", "    2 100-200 f0"]);
}

#[test]
fn a_gap_cuts_what_is_open_and_begins_anew() {
    let c = chunk(
        0,
        0,
        900,
        &[
            &at(0),
            &[e(1)],
            &at(100),
            &[e(2)],
            &gap(GapCause::SlabOverrun, 44),
            &at(300),
            &[e(3)],
            &at(400),
            &[x(3)],
            &at(500),
            &[x(2)],
            &at(600),
            &[x(1)],
        ],
    );
    let (r, b) = decoded([c], 900);
    assert_eq!(b, ["1 0-100 f2", "  2 100-100 f2", "1 300-600 f1", "  2 300-500 f1", "    3 300-400 f0"]);
    let g = r.threads[0].gaps[0];
    assert_eq!(
        (g.lost, g.kind, g.to.since(g.from)),
        (44, GapKind::Recorded(GapCause::SlabOverrun), Nanos(200 * US))
    );
    assert_eq!(r.losses["records in gaps: recursion deeper than a slab"], 44);
}

#[test]
fn a_hole_in_the_sequence_is_a_gap() {
    let a = chunk(3, 0, 200, &[&at(0), &[e(1)], &at(100), &[e(2)]]);
    let b = chunk(6, 500, 900, &[&at(600), &[x(2)], &at(700), &[x(1)]]);
    let (r, brief) = decoded([b, a], 900);
    assert_eq!(brief, ["1 0-200 f2", "  2 100-200 f2", "1 500-700 f1", "  2 500-600 f1"]);
    assert_eq!(r.threads[0].gaps[0].kind, GapKind::Chunks(2));
    assert_eq!(r.losses["chunks missing in the middle of a thread"], 2);
}

#[test]
fn chunks_come_in_any_order_and_the_longer_copy_counts() {
    let a = chunk(0, 0, 100, &[&at(0), &[e(1)]]);
    let whole = chunk(1, 100, 300, &[&at(200), &[e(2)], &at(250), &[x(2)], &at(300), &[x(1)]]);
    let part = chunk(1, 100, 200, &[&at(200), &[e(2)]]);
    let (_, b) = decoded([whole.clone(), part.clone(), a.clone()], 400);
    assert_eq!(b, ["1 0-300 f0", "  2 200-250 f0"]);
    assert_eq!(decoded([part, a, whole], 400).1, b);
}

#[test]
fn lost_records_in_a_header_cut_before_the_chunk() {
    let a = chunk(0, 0, 100, &[&at(0), &[e(1)]]);
    let mut b = chunk(1, 100, 300, &[&at(200), &[x(1)]]);
    b.lost = 9;
    let (r, brief) = decoded([a, b], 400);
    assert_eq!(brief, ["1 0-100 f2", "1 100-200 f1"]);
    assert_eq!((r.threads[0].gaps[0].lost, r.threads[0].gaps[0].kind), (9, GapKind::Within));
}

#[test]
fn a_virtual_thread_leaves_its_carrier_whole() {
    let symbols = classes(&[
        (1, "java.util.concurrent.ForkJoinPool", "runWorker", 1, Wait::None),
        (2, "java.lang.VirtualThread", "runContinuation", 1, Wait::Carrier),
        (3, "a.B", "c", 1, Wait::None),
        (4, "a.B", "d", 1, Wait::None),
    ]);
    let c = chunk(
        0,
        0,
        1_000,
        &[
            &at(0),
            &[e(1)],
            &at(100),
            &[e(2)],
            &at(110),
            &[e(3)],
            &at(120),
            &[e(4)],
            &at(200),
            &[x(2)],
            &at(300),
            &[e(2)],
            &at(310),
            &[x(4)],
            &at(320),
            &[x(3)],
            &at(330),
            &[x(1)],
            &at(400),
            &[x(2)],
            &at(500),
            &[x(1)],
        ],
    );
    let r = lookback_analysis::Recording::from_events(command(EPOCH + MS), symbols, [], [Event::Chunk(c)]);
    assert_nested(&r);
    assert_eq!(
        brief(&r, 0),
        [
            "1 0-500 f0",
            "  2 100-200 f0",
            "    3 110-200 f4",
            "      4 120-200 f4",
            "  2 300-400 f0",
            "    1 300-330 f1",
            "      3 300-320 f1",
            "        4 300-310 f1"
        ]
    );
}

#[test]
fn records_that_begin_inside_a_mount_leave_the_next_one_whole() {
    let symbols = classes(&[(2, "java.lang.VirtualThread", "runContinuation", 1, Wait::Carrier)]);
    let c = chunk(
        9,
        0,
        1_000,
        &[
            &at(100),
            &[x(3)],
            &at(150),
            &[e(4)],
            &at(160),
            &[e(5)],
            &at(200),
            &[x(2)],
            &at(300),
            &[e(2)],
            &at(310),
            &[x(5)],
            &at(400),
            &[x(2)],
        ],
    );
    let r = lookback_analysis::Recording::from_events(command(EPOCH + MS), symbols, [], [Event::Chunk(c)]);
    assert_nested(&r);
    assert_eq!(
        brief(&r, 0),
        [
            "2 0-200 f1",
            "  3 0-100 f1",
            "  4 150-200 f4",
            "    5 160-200 f4",
            "2 300-400 f0",
            "  5 300-310 f1"
        ]
    );
}

#[test]
fn wait_points_are_marked() {
    let symbols = classes(&[(5, "a.Lock", "<monitor>", 0, Wait::Monitor)]);
    let c = chunk(0, 0, 900, &[&at(0), &[e(1)], &at(100), &[e(5)], &at(800), &[x(5)], &at(900), &[x(1)]]);
    let r = lookback_analysis::Recording::from_events(command(EPOCH + MS), symbols, [], [Event::Chunk(c)]);
    assert_eq!(r.threads[0].slices.flags, [Flags(0), Flags::WAIT]);
    assert_eq!(r.threads[0].slices.error, [0, 0]);
}

#[test]
fn unknown_control_records_are_passed_over() {
    let c = chunk(0, 0, 900, &[&at(0), &[e(1), slot::control(77, 2, 9), e(5), x(5)], &at(800), &[x(1)]]);
    assert_eq!(decoded([c], 900).1, ["1 0-800 f0"]);
}

#[test]
fn damaged_slots_are_counted_and_the_rest_is_read() {
    let a = chunk(0, 0, 400, &[&at(0), &[e(1), 0, 7, 8]]);
    let b = chunk(1, 500, 900, &[&at(600), &[x(1)]]);
    let (r, brief) = decoded([a, b], 900);
    assert_eq!(brief, ["1 0-0 f2", "1 400-600 f1"]);
    assert_eq!(r.losses["words of damaged chunks"], 3);
}

#[test]
fn the_slow_call_is_found_when_its_entry_was_overwritten_and_it_still_runs() {
    use lookback_format::incident::Trigger;
    let us = |t: u64| Nanos(EPOCH + t * US);
    let trigger = Trigger::Slow {
        at: us(9_000),
        rule: "slow=a.B.c:1ms".into(),
        thread: ThreadKey(1),
        method: MethodId(4),
        start: us(10),
        duration: us(9_000).since(us(10)),
        running: true,
    };
    let c = chunk(5, 4_000, 8_000, &[&at(4_100), &[x(6)], &at(5_000), &[e(5)]]);
    let r = lookback_analysis::Recording::from_events(manifest(trigger), [], [], [Event::Chunk(c)]);
    assert_nested(&r);
    assert_eq!(brief(&r, 0), ["4 4000-9000 f35", "  6 4000-4100 f1", "  5 5000-9000 f2"]);
    assert_eq!(r.trigger_slice().map(|s| s.slice.0), Some(0));
}

#[test]
fn too_many_short_calls_are_folded_into_their_callers() {
    let mut t = Tracer::new(1, EPOCH, 2_000);
    t.timed = vec![3];
    t.enter(1);
    for i in 0..5_000_u64 {
        t.within(2, |t| {
            t.call(4, 300);
            if i % 500 == 0 {
                t.call(3, 2 * MS);
            }
        });
    }
    t.leave();
    let events: Vec<_> = t.finish().into_iter().map(Event::Chunk).collect();
    let mut b = lookback_analysis::Builder::new(command(t.now));
    b.keep(400);
    events.iter().cloned().for_each(|e| b.event(e));
    let r = b.build();
    assert_nested(&r);
    let s = &r.threads[0].slices;
    assert!(s.len() <= 400, "{}", s.len());
    assert_eq!(s.len() as u64 + r.threads[0].folded, t.calls.len() as u64, "none is forgotten");
    let waits: Vec<_> = s.indices().filter(|i| s.method[i.at()].0 == 3).map(|i| s.duration(i).0).collect();
    assert_eq!(waits, [2 * MS; 10], "the long ones are all there");
    let all = lookback_analysis::Recording::from_events(command(t.now), [], [], events);
    assert_eq!(all.folded().0, 0);
    assert_eq!((s.start[0], s.end[0]), (all.threads[0].slices.start[0], all.threads[0].slices.end[0]));
}
