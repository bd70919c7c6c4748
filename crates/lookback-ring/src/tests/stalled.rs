//! Writers that stop between allocating and confirming, for a while or for ever.

use super::support::{Area, geometry, payload, position, salvage, snapshot};
use crate::atomics::Ordering;
use crate::entry::{Header, State};
use crate::produce::Reservation;
use crate::{Dropped, Position, Ring};

#[test]
fn a_stalled_writers_block_is_skipped_and_reused_later() {
    let g = geometry(16, 4, 2);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    let stalled = ring.reserve(0, 1000).unwrap();
    let held = position(&ring, &stalled);
    let mut seq = 0;
    let mut write_block = || {
        ring.write_on(1, 0, &[&payload(1, seq, 4080)]).unwrap();
        seq += 1;
    };
    // Three laps over the other metadata blocks: the held one is skipped in between.
    (0..3 * 3).for_each(|_| write_block());
    let losses = ring.losses();
    assert_eq!((losses.skipped_blocks, losses.closed_blocks, losses.dropped()), (2, 1, 0));
    let (blocks, end) = snapshot(&ring, Position::START);
    assert_eq!(blocks.len(), 9);
    assert_eq!((end.lost.busy, end.lost.pending, end.next), (1, 2, held));
    // The writer goes on: its entry is whole, in its old block.
    ring.commit_parts(&stalled, 7, &[&payload(0, 99, 1000)]);
    let (blocks, end) = snapshot(&ring, held);
    assert!(blocks.iter().any(|b| b.position == held && b.complete && b.events == [(0, 99)]));
    assert_eq!(end.lost.busy, 0);
    // From now on the metadata block takes part again.
    (0..8).for_each(|_| write_block());
    assert_eq!(ring.losses().skipped_blocks, losses.skipped_blocks);
    let (blocks, _) = snapshot(&ring, Position::START);
    let newest: Vec<u64> = blocks.iter().rev().take(8).map(|b| b.position.0).collect();
    assert!(newest.windows(2).all(|w| w[0] == w[1] + 1), "consecutive positions: {newest:?}");
}

#[test]
fn when_writers_hold_every_metadata_block_events_are_dropped_and_counted() {
    let g = geometry(8, 2, 2);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    let held = [ring.reserve(0, 500).unwrap(), ring.reserve(1, 500).unwrap()];
    // What fits beside them still goes in.
    ring.write_on(0, 0, &[&payload(0, 1, 100)]).unwrap();
    for _ in 0..50 {
        assert_eq!(ring.write_on(0, 0, &[&payload(0, 2, 4000)]), Err(Dropped::Blocked));
    }
    let losses = ring.losses();
    assert_eq!((losses.dropped_blocked, losses.dropped_bytes), (50, 50 * 4000));
    for (i, reservation) in held.into_iter().enumerate() {
        ring.commit_parts(&reservation, 0, &[&payload(i as u64, 0, 500)]);
    }
    ring.write_on(0, 0, &[&payload(0, 3, 4000)]).unwrap();
    ring.write_on(1, 0, &[&payload(1, 3, 4000)]).unwrap();
    assert_eq!(ring.losses().dropped(), 50);
    // The positions used up while everything was held have not pushed anything out.
    let (blocks, end) = snapshot(&ring, Position::START);
    let mut events: Vec<_> = blocks.into_iter().flat_map(|b| b.events).collect();
    events.sort_unstable();
    assert_eq!(events, [(0, 0), (0, 1), (0, 3), (1, 0), (1, 3)]);
    assert_eq!((end.lost.busy, end.lost.pending), (0, 0));
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
    // One died right after allocating: what follows it in the block cannot be found.
    let dead = ring.reserve(0, 300).unwrap();
    write(2);
    let (blocks, end) = salvage(&ring, Position::START);
    assert_eq!(blocks[0].events, [(0, 0), (0, 1)]);
    assert_eq!((end.lost.unfinished_entries, end.lost.unreadable_bytes), (1, dead.size + 112));
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
