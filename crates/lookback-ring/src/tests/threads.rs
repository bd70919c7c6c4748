//! Many threads on few cores, with a reader following: every entry is accounted for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::{Area, Kept, LEAST, Random, geometry, payload, position, snapshot};
use crate::{Geometry, Position, Ring};

const THREADS: u64 = 8;

/// What a thread wrote: sequence number and block of each event.
type Log = Vec<(u64, Position)>;

/// Writes `events` events and returns the block each went into. The cores alternate, as they would
/// for a thread that migrates.
fn produce(ring: &Ring, thread: u64, events: u64) -> Log {
    let mut random = Random(thread);
    let mut log = Vec::with_capacity(events as usize);
    for seq in 0..events {
        let length = LEAST + random.below(if seq % 50 == 0 { 3000 } else { 120 }) as usize;
        let bytes = payload(thread, seq, length);
        let core = (thread + seq / 64) as usize;
        // Dropped events are counted by the ring; the test compares.
        if let Ok(reservation) = ring.reserve(core, length) {
            log.push((seq, position(ring, &reservation)));
            ring.commit_parts(&reservation, 0, &[&bytes]);
        }
    }
    log
}

/// Runs the producers and a follower; returns the logs and what the follower has seen.
fn run(ring: &Ring, events: u64) -> (Vec<Log>, BTreeMap<Position, Kept>, u64) {
    let running = AtomicUsize::new(THREADS as usize);
    std::thread::scope(|scope| {
        let producers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let running = &running;
                scope.spawn(move || {
                    let log = produce(ring, thread, events);
                    running.fetch_sub(1, Ordering::AcqRel);
                    log
                })
            })
            .collect();
        let (mut seen, mut next, mut lost) = (BTreeMap::new(), Position::START, 0);
        loop {
            let last = running.load(Ordering::Acquire) == 0;
            let (blocks, end) = snapshot(ring, next);
            assert!(end.next >= next, "the follower goes forward");
            for block in blocks {
                seen.insert(block.position, block);
            }
            (next, lost) = (end.next, lost + end.lost.overwritten);
            if last {
                break;
            }
            std::thread::yield_now();
        }
        let logs = producers.into_iter().map(|p| p.join().unwrap()).collect();
        (logs, seen, lost)
    })
}

/// Every event seen was logged in that block, once, in order within the block.
fn check_seen(logs: &[Log], seen: &BTreeMap<Position, Kept>) -> HashSet<(u64, u64)> {
    let logged: HashMap<(u64, u64), Position> = (0..)
        .zip(logs)
        .flat_map(|(thread, log)| log.iter().map(move |&(seq, at)| ((thread, seq), at)))
        .collect();
    let mut all = HashSet::new();
    for block in seen.values() {
        let mut last: HashMap<u64, u64> = HashMap::new();
        for &(thread, seq) in &block.events {
            assert_eq!(logged.get(&(thread, seq)), Some(&block.position), "thread {thread}, seq {seq}");
            assert!(last.insert(thread, seq).is_none_or(|before| before < seq), "order within a block");
            assert!(all.insert((thread, seq)), "twice");
        }
    }
    all
}

#[test]
fn nothing_is_lost_as_long_as_the_ring_does_not_wrap() {
    let events = 4_000;
    let g = Geometry { block_size: 16 << 10, blocks: 1024, active: 32, cores: 2 };
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    let (logs, seen, lost) = run(&ring, events);
    let all = check_seen(&logs, &seen);
    let losses = ring.losses();
    assert_eq!(lost, 0);
    assert_eq!(all.len() as u64 + losses.dropped(), THREADS * events, "{losses:?}");
    assert_eq!(losses.dropped(), 0, "{losses:?}");
}

#[test]
fn only_what_was_wrapped_over_is_lost() {
    let events = 30_000;
    // Few and small blocks, so that laps, skips and races are frequent.
    for (blocks, active) in [(4, 1), (6, 2), (32, 4), (64, 32)] {
        let g = geometry(blocks, active, 2);
        let area = Area::new(g.bytes());
        let ring = area.format(g).unwrap();
        let (logs, seen, _) = run(&ring, events);
        check_seen(&logs, &seen);
        let logged: u64 = logs.iter().map(|log| log.len() as u64).sum();
        assert_eq!(logged + ring.losses().dropped(), THREADS * events);
        // At rest: everything in the last N positions is there, and every block is readable.
        let (blocks_now, end) = snapshot(&ring, Position::START);
        assert_eq!(end.lost.busy, 0, "{end:?}");
        let now = blocks_now.into_iter().map(|b| (b.position, b)).collect();
        let all = check_seen(&logs, &now);
        let window = Position(ring.end().0.saturating_sub(u64::from(blocks)));
        let mut expected = 0;
        for (thread, log) in (0..).zip(&logs) {
            for &(seq, at) in log.iter().filter(|&&(_, at)| at >= window) {
                assert!(all.contains(&(thread, seq)), "thread {thread}, seq {seq} at {at} is gone");
                expected += 1;
            }
        }
        assert!(expected > 0);
        // A position that was skipped last looks like one that was not begun, until its metadata block is taken
        // again. So each of them is taken once more: none is held, and then nothing is pending.
        let skipped = ring.losses().skipped_blocks;
        let until = ring.end().0 + u64::from(active);
        while ring.end().0 < until {
            ring.write_on(0, 0, &[&payload(0, 0, 64)]).unwrap();
        }
        let (_, end) = snapshot(&ring, Position::START);
        assert_eq!((end.lost.busy, end.lost.pending), (0, 0), "{end:?}");
        assert_eq!(ring.losses().skipped_blocks, skipped);
    }
}

#[test]
fn threads_find_their_core_by_themselves() {
    let g = geometry(256, 32, 2);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    let ring: &Ring = &ring;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                (0..500).for_each(|seq| ring.write(0, &[&payload(thread, seq, 64)]).unwrap());
            });
        }
    });
    let (blocks, _) = snapshot(ring, Position::START);
    assert_eq!(blocks.iter().map(|b| b.events.len()).sum::<usize>(), THREADS as usize * 500);
}
