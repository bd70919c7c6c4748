//! Writers that stop between allocating and confirming, for a while or for ever.

use super::support::{Area, geometry, payload, position, salvage, snapshot};
use crate::atomics::Ordering;
use crate::entry::{Header, State};
use crate::produce::Reservation;
use crate::{Dropped, Position, Ring};

#[test]
fn a_stalled_writers_block_is_left_behind_and_reused_later() {
    let g = geometry(16, 4, 2);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    // Position 4, in data block 4.
    let stalled = ring.reserve(0, 1000).unwrap();
    let held = position(&ring, &stalled);
    let mut seq = 0;
    let mut write_block = || {
        ring.write_on(1, 0, &[&payload(1, seq, 4080)]).unwrap();
        seq += 1;
    };
    // Positions 5 to 21. Its metadata block goes on at 8; its data block comes round at 20, which is skipped.
    (0..16).for_each(|_| write_block());
    let losses = ring.losses();
    assert_eq!((losses.blocks_left_behind, losses.closed_blocks), (1, 1));
    assert_eq!((losses.skipped_blocks, losses.dropped(), ring.left_behind()), (1, 0, 1));
    let (blocks, end) = snapshot(&ring, Position::START);
    assert_eq!(blocks.len(), 15);
    assert_eq!((end.lost.busy, end.lost.pending, end.next), (1, 1, held));
    // The writer goes on: its entry is whole, in its old block.
    ring.commit_parts(&stalled, 7, &[&payload(0, 99, 1000)]);
    assert_eq!(ring.left_behind(), 0);
    let (blocks, end) = snapshot(&ring, held);
    assert!(blocks.iter().any(|b| b.position == held && b.complete && b.events == [(0, 99)]));
    assert_eq!(end.lost.busy, 0);
    // From now on its data block takes part again.
    (0..32).for_each(|_| write_block());
    assert_eq!(ring.losses().skipped_blocks, losses.skipped_blocks);
    let (blocks, _) = snapshot(&ring, Position::START);
    let newest: Vec<u64> = blocks.iter().rev().take(16).map(|b| b.position.0).collect();
    assert!(newest.windows(2).all(|w| w[0] == w[1] + 1), "consecutive positions: {newest:?}");
}

#[test]
fn when_writers_hold_all_blocks_or_all_leases_events_are_dropped_and_counted() {
    // As many data blocks as writers that stall; and more data blocks, but only 16 leases for each of two
    // metadata blocks.
    for (blocks, most) in [(8, 8), (64, 32)] {
        let g = geometry(blocks, 2, 2);
        let area = Area::new(g.bytes());
        let ring = area.format(g).unwrap();
        let held: Vec<_> = (0..most).map(|_| ring.reserve(0, 3000).unwrap()).collect();
        // What fits beside the last one still goes in.
        ring.write_on(0, 0, &[&payload(0, 100, 100)]).unwrap();
        for _ in 0..50 {
            assert_eq!(ring.write_on(0, 0, &[&payload(0, 101, 4000)]), Err(Dropped::Blocked));
        }
        let losses = ring.losses();
        assert_eq!((losses.dropped_blocked, losses.dropped_bytes), (50, 50 * 4000));
        assert_eq!(ring.left_behind(), most - 2);
        for (i, reservation) in held.into_iter().enumerate() {
            ring.commit_parts(&reservation, 0, &[&payload(0, i as u64, 3000)]);
        }
        assert_eq!(ring.left_behind(), 0);
        for core in 0..2 {
            ring.write_on(core, 0, &[&payload(1, core as u64, 4000)]).unwrap();
        }
        assert_eq!(ring.losses().dropped(), 50);
        let (blocks, end) = snapshot(&ring, Position::START);
        let events: Vec<_> = blocks.into_iter().flat_map(|b| b.events).collect();
        assert!(events.ends_with(&[(1, 0), (1, 1)]), "{events:?}");
        // At most the two blocks taken since have pushed others out.
        assert!(events.len() as u32 >= most - 2 + 2, "{events:?}");
        assert_eq!(end.lost.busy, 0);
    }
}

#[test]
fn what_dead_writers_hold_is_reclaimed() {
    let g = geometry(16, 2, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    let write_block = |seq| ring.write_on(0, 0, &[&payload(0, seq, 4080)]).unwrap();
    let dead = ring.reserve(0, 1000).unwrap();
    (0..5).for_each(write_block);
    let alive = ring.reserve(0, 1000).unwrap();
    let begun = position(&ring, &alive);
    (5..10).for_each(write_block);
    assert_eq!((ring.left_behind(), ring.reclaim(position(&ring, &dead))), (2, 0));
    assert_eq!((ring.reclaim(begun), ring.left_behind()), (1, 1));
    // Its data block is used again, the other one is not.
    let skipped = ring.losses().skipped_blocks;
    (10..40).for_each(write_block);
    assert!(ring.losses().skipped_blocks > skipped);
    ring.commit_parts(&alive, 0, &[&payload(1, 0, 1000)]);
    let skipped = ring.losses().skipped_blocks;
    (40..80).for_each(write_block);
    assert_eq!((ring.losses().skipped_blocks, ring.left_behind()), (skipped, 0));
    let (blocks, _) = snapshot(&ring, Position::START);
    let events: Vec<u64> = blocks.iter().flat_map(|b| &b.events).map(|e| e.1).collect();
    assert_eq!(events, (64..80).collect::<Vec<_>>());
}

#[test]
fn a_stalled_block_older_than_the_ring_is_still_delivered() {
    let g = geometry(8, 4, 2);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    ring.write_on(0, 0, &[&payload(0, 1, 100)]).unwrap();
    let stalled = ring.reserve(0, 1000).unwrap();
    let held = position(&ring, &stalled);
    for seq in 0..40 {
        ring.write_on(1, 0, &[&payload(1, seq, 4080)]).unwrap();
    }
    let (_, end) = snapshot(&ring, Position::START);
    assert_eq!((end.lost.busy, end.next), (1, held));
    let (blocks, end) = salvage(&ring, Position::START);
    assert_eq!((blocks[0].position, &blocks[0].events[..]), (held, &[(0, 1)][..]));
    assert_eq!((end.lost.busy, end.next), (0, held));
    ring.commit_parts(&stalled, 0, &[&payload(0, 2, 1000)]);
    let (blocks, _) = snapshot(&ring, Position::START);
    assert_eq!((blocks[0].position, &blocks[0].events[..]), (held, &[(0, 1), (0, 2)][..]));
}

/// What a writer does before it copies: it says how long its entry will be.
pub(super) fn announce(ring: &Ring, reservation: &Reservation, length: u64) {
    let header = Header { state: State::Reserved, kind: 5, length }.pack(reservation.round);
    let from = reservation.offset;
    ring.data(reservation.block, from, from + 8)[0].store(header, Ordering::Relaxed);
}

#[test]
fn salvage_reads_around_writers_that_died() {
    let g = geometry(8, 4, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    let write = |seq| ring.write_on(0, 0, &[&payload(0, seq, 100)]).unwrap();
    write(0);
    // One died in mid-copy, after saying how long its entry will be.
    let dead = ring.reserve(0, 200).unwrap();
    announce(&ring, &dead, 200);
    write(1);
    let (blocks, end) = snapshot(&ring, Position::START);
    assert_eq!((blocks.len(), end.lost.busy), (0, 1), "not readable as long as it may be confirmed");
    let (blocks, end) = salvage(&ring, Position::START);
    assert_eq!(blocks[0].events, [(0, 0), (0, 1)]);
    assert_eq!((end.lost.unfinished_entries, end.lost.unreadable_bytes), (1, 0));
    // One died right after allocating: what follows it in the block is found behind it.
    let dead = ring.reserve(0, 300).unwrap();
    write(2);
    write(3);
    let (blocks, end) = salvage(&ring, Position::START);
    assert_eq!(blocks[0].events, [(0, 0), (0, 1), (0, 2), (0, 3)]);
    assert_eq!((end.lost.unfinished_entries, end.lost.unreadable_bytes), (1, dead.size));
    // Two more, one of them last: what is between is found as soon as it is two entries.
    let second = ring.reserve(0, 200).unwrap();
    write(4);
    write(5);
    let last = ring.reserve(0, 100).unwrap();
    let (blocks, end) = salvage(&ring, Position::START);
    assert_eq!(blocks[0].events.len(), 6);
    assert_eq!(end.lost.unreadable_bytes, dead.size + second.size + last.size);
    assert!(!blocks[0].complete);
    // It does not hide other blocks.
    ring.write_on(0, 0, &[&payload(0, 3, 4000)]).unwrap();
    let (blocks, _) = salvage(&ring, Position::START);
    assert_eq!(blocks.last().unwrap().events, [(0, 3)]);
}

#[test]
fn what_an_earlier_round_left_is_not_salvaged() {
    let g = geometry(4, 2, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    // Fill all blocks, several times, with entries at the same places.
    for seq in 0..40 * 4 * 3 {
        ring.write_on(0, 0, &[&payload(0, seq, 94)]).unwrap();
    }
    let before = salvage(&ring, Position::START).0.len();
    // A new block, with nothing in it but a reservation over old entries.
    let dead = loop {
        let reservation = ring.reserve(0, 3000).unwrap();
        if reservation.offset == 8 {
            break reservation;
        }
        ring.commit_parts(&reservation, 0, &[&payload(0, 9_999, 3000)]);
    };
    let (blocks, end) = salvage(&ring, Position::START);
    let last = blocks.last().unwrap();
    assert_eq!((last.position, last.events.len()), (position(&ring, &dead), 0));
    assert_eq!(end.lost.unreadable_bytes, 3008);
    assert!(before >= 3);
}
