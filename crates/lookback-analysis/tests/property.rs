//! Random call trees, recorded with random chunks, stamps and losses: the decode must give the tree back.
//!
//! Everything follows from a seed; a failure names it. What is lost is lost by whole chunks, as in the ring.
mod support;

use lookback_analysis::{
    DEFAULT_SLICES, Flags, Recording, Style, Trim, Verdict, chrome_json, collapsed, page_json, perfetto,
    report,
};
use lookback_format::event::{Chunk, Event};
use lookback_format::incident::Trigger;
use lookback_format::slot::{GapCause, gap};
use lookback_format::{MethodId, Nanos, Seq, ThreadKey};
use support::*;

fn walk(seed: u64) -> (Tracer, Vec<Chunk>) {
    let mut random = Random(seed);
    let chunk = 16 + random.below(300) as usize;
    let start = EPOCH + random.below(5_000_000 * MS);
    let mut t = Tracer::new(1, start, chunk);
    t.timed = vec![3, 4];
    let records = 20 + random.below(3_000) as usize;
    let deepest = 1 + random.below(60) as usize;
    random_walk(&mut t, &mut random, records, deepest, 9);
    let chunks = t.finish();
    (t, chunks)
}

fn shuffled(mut chunks: Vec<Chunk>, random: &mut Random) -> Vec<Chunk> {
    for i in (1..chunks.len()).rev() {
        chunks.swap(i, random.below(i as u64 + 1) as usize);
    }
    chunks
}

/// Every slice's times are right within its error; timed methods are exact.
fn assert_times(seed: u64, calls: &[Call], r: &Recording) {
    let s = &r.threads[0].slices;
    for (i, c) in s.indices().zip(calls) {
        let slice = s.get(i);
        let error = u64::from(slice.error);
        assert!(error <= TICK + LATE, "seed {seed}, slice {i:?}: error {error}");
        let (off, end_off) = (slice.start.0.abs_diff(c.start), slice.end.0.abs_diff(c.end));
        assert!(off <= error && (end_off <= error || slice.flags.cut()), "seed {seed}: {slice:?} for {c:?}");
        if matches!(c.method, 3 | 4) && !slice.flags.cut() {
            assert_eq!((error, off, end_off), (0, 0, 0), "seed {seed}: {slice:?} for {c:?}");
        }
    }
}

#[test]
fn nothing_lost_gives_the_tree_back() {
    for seed in 0..400 {
        let (t, chunks) = walk(seed);
        let r = decode(shuffled(chunks, &mut Random(seed)), t.now);
        assert_nested(&r);
        let s = &r.threads[0].slices;
        assert_eq!(s.len(), t.calls.len(), "seed {seed}");
        for (i, c) in s.indices().zip(&t.calls) {
            let slice = s.get(i);
            assert_eq!((slice.method.0, slice.depth), (c.method, c.depth), "seed {seed}, slice {i:?}");
            assert!(matches!(slice.flags, Flags(0) | Flags::CUT_END), "seed {seed}: {slice:?}");
        }
        assert_times(seed, &t.calls, &r);
        assert!(r.losses.is_empty() && r.threads[0].gaps.is_empty(), "seed {seed}: {:?}", r.losses);
    }
}

/// What is left when everything before `from` is cut off: later calls, and the earlier ones that ended later.
#[test]
fn a_lost_head_leaves_the_known_tail() {
    let mut with_unseen = 0;
    for seed in 1_000..1_400 {
        let (t, chunks) = walk(seed);
        let drop = Random(seed).below(chunks.len() as u64) as usize;
        let tail = &chunks[drop..];
        let r = decode(tail.to_vec(), t.now);
        assert_nested(&r);
        // Calls by records: the n-th entry or exit, whether it is in the tail.
        let records = |c: &Chunk| c.slots.clone();
        let dropped_entries = count_entries(chunks[..drop].iter().map(records));
        let cut_exits = ended_in_tail(&chunks, drop);
        let s = &r.threads[0].slices;
        let whole = s.indices().filter(|i| !s.flags[i.at()].has(Flags::CUT_START)).count();
        assert_eq!(whole, t.calls.len() - dropped_entries, "seed {seed}: calls that began in the tail");
        assert_eq!(s.len() - whole, cut_exits, "seed {seed}: calls that only ended in the tail");
        with_unseen += usize::from(cut_exits > 0);
        let seen: Vec<_> = s
            .indices()
            .filter(|i| !s.flags[i.at()].has(Flags::CUT_START))
            .map(|i| (s.method[i.at()].0, s.end[i.at()], s.flags[i.at()].cut()))
            .collect();
        for ((method, end, cut), c) in seen.iter().zip(&t.calls[dropped_entries..]) {
            assert_eq!(*method, c.method, "seed {seed}");
            assert!(*cut || end.0.abs_diff(c.end) <= TICK + LATE, "seed {seed}");
        }
        assert_eq!(r.threads[0].overwritten.is_some(), drop > 0);
    }
    assert!(with_unseen > 100, "the walks must leave calls open over chunk borders: {with_unseen}");
}

fn count_entries(chunks: impl Iterator<Item = Vec<u32>>) -> usize {
    chunks.map(|c| plain(&c).iter().filter(|&&w| w & lookback_format::slot::EXIT == 0).count()).sum()
}

fn ended_in_tail(chunks: &[Chunk], drop: usize) -> usize {
    let (mut depth, mut unmatched) = (0_usize, 0);
    for w in chunks[drop..].iter().flat_map(|c| plain(&c.slots)) {
        if w & lookback_format::slot::EXIT == 0 {
            depth += 1;
        } else if depth > 0 {
            depth -= 1;
        } else {
            unmatched += 1;
        }
    }
    unmatched
}

#[test]
fn a_hole_in_the_middle_is_counted_and_both_sides_are_read() {
    for seed in 2_000..2_200 {
        let (t, chunks) = walk(seed);
        if chunks.len() < 4 {
            continue;
        }
        let hole = 1 + Random(seed).below(chunks.len() as u64 - 2) as usize;
        let mut left = chunks.clone();
        left.remove(hole);
        let r = decode(left.clone(), t.now);
        assert_nested(&r);
        let g = &r.threads[0].gaps;
        assert_eq!((g.len(), g[0].lost), (1, 1), "seed {seed}");
        assert_eq!((g[0].from, g[0].to), (chunks[hole - 1].last, chunks[hole + 1].first), "seed {seed}");
        let s = &r.threads[0].slices;
        let whole = s.flags.iter().filter(|f| !f.has(Flags::CUT_START)).count();
        assert_eq!(whole, count_entries(left.iter().map(|c| c.slots.clone())), "seed {seed}");
        for i in s.indices() {
            let it = s.get(i);
            assert!(it.end <= g[0].from || it.start >= g[0].to, "seed {seed}: no slice crosses the gap");
        }
    }
}

/// Writes a recording in all formats: whatever it holds, none may panic.
fn tell(r: &Recording) {
    let v = Verdict::of(r);
    let mut out = Vec::new();
    report(r, &v, Style::default(), &mut out).unwrap();
    for most in [0, 10, usize::MAX] {
        let trim = Trim::new(r, most);
        perfetto(r, &trim, &mut out).unwrap();
        chrome_json(r, &trim, &mut out).unwrap();
    }
    collapsed(r, &mut out).unwrap();
    assert!(!out.is_empty() && !v.sentences.is_empty());
    for most in [0, 10, DEFAULT_SLICES] {
        let page: serde_json::Value = serde_json::from_str(&page_json(r, &v, most)).unwrap();
        assert_eq!(page["schema"], 1);
    }
}

/// Any words whatever: no panic, slices nest, and no more slices than words.
#[test]
fn arbitrary_slots_never_break_the_nesting() {
    for seed in 0..600 {
        let mut random = Random(seed ^ 0xfeed);
        let chunks: Vec<_> = (0..1 + random.below(8))
            .map(|_| {
                let slots: Vec<u32> = (0..random.below(400))
                    .map(|_| match random.below(20) {
                        0 => random.next() as u32,
                        1 => lookback_format::slot::tick(random.next()),
                        2 => lookback_format::slot::time(Nanos(1))[0],
                        3 if random.below(3) == 0 => {
                            lookback_format::slot::mount(0, random.below(2) == 0)[0] | random.below(2) as u32
                        }
                        3 if random.below(5) == 0 => lookback_format::slot::ready(0, Nanos(0))[0],
                        3 if random.below(9) == 0 => 0,
                        4 => {
                            let causes = [GapCause::Off, GapCause::Brake, GapCause::BrakeAll];
                            gap(causes[random.below(3) as usize], 1)[0]
                        }
                        5..=11 => 1 + random.below(6) as u32,
                        _ => (1 + random.below(6) as u32) | lookback_format::slot::EXIT,
                    })
                    .collect();
                let braked = if random.below(2) == 0 { &gap(GapCause::Brake, 0)[..] } else { &[] };
                let slots = [braked, &slots].concat();
                let wild = |r: &mut Random| match r.below(6) {
                    0 => r.next(),
                    1 => u64::MAX,
                    _ => EPOCH + r.below(1_000 * MS),
                };
                Chunk {
                    thread: ThreadKey(random.below(2) as u32),
                    seq: Seq(random.below(6) as u32),
                    first: Nanos(wild(&mut random)),
                    last: Nanos(wild(&mut random)),
                    lost: random.below(2) as u32,
                    slots,
                }
            })
            .collect();
        let words: usize = chunks.iter().map(|c| c.slots.len()).sum();
        let symbols = classes(&[(2, "a.V", "runContinuation", 1, lookback_format::symbol::Wait::Carrier)]);
        let events = chunks.into_iter().map(Event::Chunk);
        let trigger = Trigger::Slow {
            at: Nanos(EPOCH + random.below(1_000 * MS)),
            rule: "?".into(),
            thread: ThreadKey(random.below(3) as u32),
            method: MethodId(random.below(7) as u32),
            start: Nanos(EPOCH + random.below(1_000 * MS)),
            duration: Nanos(if random.below(9) == 0 { u64::MAX } else { random.below(1_000 * MS) }),
            running: random.below(2) == 0,
        };
        let made = if random.below(3) == 0 { command(EPOCH) } else { manifest(trigger) };
        let r = Recording::from_events(made, symbols, [], events);
        assert_nested(&r);
        tell(&r);
        // The trigger's call may be added to each segment that it is known to run through.
        let known = r.threads.iter().map(|t| t.gaps.len() + 1).sum::<usize>();
        // Each turn of a virtual thread, which takes three words at least, may have two waits before and after it.
        assert!(r.slices() <= words + words / 3 * 4 + known, "seed {seed}");
        assert!(!r.losses.contains_key("exits that fit no call"), "seed {seed}");
    }
}
