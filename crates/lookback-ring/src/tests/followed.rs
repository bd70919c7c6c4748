//! Followers get each event once, in the order of its core, or are told where it was lost.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::stalled::announce;
use super::support::{Area, LEAST, Tail, geometry, payload};
use crate::{LossCause, Position};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn each_event_comes_once_or_its_loss_is_told(
        active_bits in 0u32..4,
        ratio in 1u32..5,
        events in prop::collection::vec((0usize..3, LEAST..700usize), 0..500),
        every in 1usize..60,
    ) {
        let g = geometry(ratio << active_bits, 1 << active_bits, 3);
        let area = Area::new(g.bytes());
        let ring = area.format(g).unwrap();
        let mut tail = Tail::new(Position::START);
        let mut late = Tail::new(ring.end());
        for (seq, &(core, length)) in events.iter().enumerate() {
            ring.write_on(core, 0, &[&payload(core as u64, seq as u64, length)]).unwrap();
            if seq % every == 0 {
                tail.look(&ring);
            }
        }
        tail.look(&ring);
        late.look(&ring);
        prop_assert_eq!(tail.look(&ring), 0, "nothing new is no delivery");
        for tail in [tail, late] {
            prop_assert!(tail.lost.iter().all(|lost| lost.cause == LossCause::Overwritten));
            let found: HashSet<u64> = tail.events.iter().map(|&(_, seq)| seq).collect();
            prop_assert_eq!(found.len(), tail.events.len(), "twice");
            for core in 0..3 {
                let order: Vec<u64> = tail.events.iter().filter(|e| e.0 == core).map(|e| e.1).collect();
                prop_assert!(order.is_sorted(), "core {}: {:?}", core, order);
            }
            if tail.lost.is_empty() {
                prop_assert_eq!(found.len(), events.len());
            }
        }
    }
}

#[test]
fn a_half_filled_block_is_not_waited_for_and_its_loss_is_told_from_where_on() {
    let g = geometry(4, 2, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    let mut tail = Tail::new(Position::START);
    ring.write_on(0, 0, &[&payload(0, 0, 100)]).unwrap();
    assert_eq!((tail.look(&ring), tail.events.as_slice()), (1, [(0, 0)].as_slice()));
    ring.write_on(0, 0, &[&payload(0, 1, 100)]).unwrap();
    assert_eq!((tail.look(&ring), tail.events.as_slice()), (1, [(0, 0), (0, 1)].as_slice()));
    // Two events more in that block, and then laps over it.
    ring.write_on(0, 0, &[&payload(0, 2, 100)]).unwrap();
    (3..30).for_each(|seq| ring.write_on(0, 0, &[&payload(0, seq, 4000)]).unwrap());
    tail.look(&ring);
    let first = tail.lost[0];
    // Header, and two entries of 8 + 104 bytes.
    assert_eq!((first.position, first.delivered, first.blocks), (Position(2), 8 + 2 * 112, 1));
    assert_eq!(tail.events.last(), Some(&(0, 29)));
    let lost: u64 = tail.lost.iter().map(|lost| lost.blocks).sum();
    assert_eq!(lost + tail.complete + 1, ring.end().0 - 2, "each position is told of; the last is in use");
}

#[test]
fn the_last_look_reads_what_a_dead_writer_left_and_what_came_behind_it() {
    let g = geometry(4, 2, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    ring.write_on(0, 0, &[&payload(0, 0, 100)]).unwrap();
    let held = ring.reserve(0, 100).unwrap();
    announce(&ring, &held, 100);
    ring.write_on(0, 0, &[&payload(0, 1, 100)]).unwrap();
    let mut tail = Tail::new(Position::START);
    assert_eq!(tail.look(&ring), 0, "its block is not readable by the paper's rule");
    tail.last_look(&ring);
    assert_eq!(tail.events, [(0, 0), (0, 1)]);
}

#[test]
fn several_followers_see_the_same() {
    const THREADS: u64 = 4;
    const EVENTS: u64 = 5_000;
    let g = geometry(1 << 11, 32, 2);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    let ring: &crate::Ring = &ring;
    let running = AtomicUsize::new(THREADS as usize);
    let tails: Vec<Tail> = std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let running = &running;
            scope.spawn(move || {
                for seq in 0..EVENTS {
                    ring.write(0, &[&payload(thread, seq, LEAST + (seq % 100) as usize)]).unwrap();
                }
                running.fetch_sub(1, Ordering::AcqRel);
            });
        }
        let followers = [0; 3].map(|_| {
            let running = &running;
            scope.spawn(move || {
                let mut tail = Tail::new(Position::START);
                while running.load(Ordering::Acquire) > 0 {
                    tail.look(ring);
                    std::thread::yield_now();
                }
                tail.look(ring);
                tail
            })
        });
        followers.into_iter().map(|follower| follower.join().unwrap()).collect()
    });
    for mut tail in tails {
        // A writer that is preempted in the middle makes others skip its block, which loses nothing.
        assert!(tail.lost.iter().all(|lost| lost.cause == LossCause::Skipped), "{:?}", tail.lost);
        tail.events.sort_unstable();
        let all = (0..THREADS).flat_map(|thread| (0..EVENTS).map(move |seq| (thread, seq)));
        assert!(all.eq(tail.events), "each event once");
    }
}
