//! Against a simple model, in one thread: what remains is the newest, whole and in order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::support::{Area, Kept, LEAST, check, geometry, keep, payload, snapshot};
use crate::{Block, Dropped, Position};

/// A ring's geometry and the core and length of each event.
fn runs() -> impl Strategy<Value = (u32, u32, u32, Vec<(usize, usize)>)> {
    (0u32..4, 1u32..5, 1u32..4).prop_flat_map(|(active_bits, ratio, cores)| {
        let length = prop_oneof![4 => LEAST..80usize, 2 => LEAST..1500, 1 => LEAST..=4080usize];
        let events = prop::collection::vec((0..cores as usize, length), 0..600);
        (Just(1 << active_bits), Just(ratio), Just(cores), events)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_suffix_of_each_core_remains((active, ratio, cores, events) in runs()) {
        // More cores than metadata blocks is possible, if not wise.
        let g = geometry(active * ratio, active, cores);
        let area = Area::new(g.bytes());
        let ring = area.format(g).unwrap();
        let mut written = vec![Vec::new(); cores as usize];
        for (seq, &(core, length)) in events.iter().enumerate() {
            // In two parts, cut anywhere, and an empty one.
            let bytes = payload(core as u64, seq as u64, length);
            let (head, tail) = bytes.split_at(seq * 7 % (length + 1));
            prop_assert_eq!(ring.write_on(core, length as u16, &[head, &[], tail]), Ok(()));
            written[core].push(seq as u64);
        }
        let mut found = vec![Vec::new(); cores as usize];
        let end = ring.snapshot(Position::START, &mut |block| {
            for entry in block.entries() {
                let (core, seq) = check(entry.payload);
                assert_eq!(usize::from(entry.kind), entry.payload.len());
                found[core as usize].push(seq);
            }
        });
        for (found, written) in found.iter().zip(&written) {
            prop_assert!(written.ends_with(found), "{:?} is no suffix of {:?}", found, written);
        }
        if let Some((core, _)) = events.last() {
            prop_assert_eq!(found[*core].last(), written[*core].last(), "the newest is there");
        }
        // Nothing is lost but by wrapping.
        prop_assert_eq!((end.lost.pending, end.lost.busy, end.lost.skipped), (0, 0, 0));
        prop_assert_eq!(ring.losses().dropped(), 0);
        if end.lost.overwritten == 0 {
            prop_assert_eq!(found, written);
        }
    }

    #[test]
    fn following_misses_nothing_and_repeats_only_incomplete_blocks(
        (active, ratio, cores, events) in runs(), every in 1usize..8,
    ) {
        let g = geometry(active * ratio, active, cores);
        let area = Area::new(g.bytes());
        let ring = area.format(g).unwrap();
        let mut seen: BTreeMap<Position, Kept> = BTreeMap::new();
        let (mut next, mut overwritten) = (Position::START, 0);
        for (seq, &(core, length)) in events.iter().enumerate() {
            ring.write_on(core, 0, &[&payload(core as u64, seq as u64, length)]).unwrap();
            if seq % every == 0 || seq + 1 == events.len() {
                let (blocks, end) = snapshot(&ring, next);
                prop_assert!(end.next >= next);
                for block in blocks {
                    prop_assert!(block.position >= next);
                    if let Some(old) = seen.get(&block.position) {
                        prop_assert!(!old.complete || old == &block, "a complete block changed");
                        prop_assert!(block.events.starts_with(&old.events));
                    }
                    seen.insert(block.position, block);
                }
                (next, overwritten) = (end.next, overwritten + end.lost.overwritten);
            }
        }
        if overwritten == 0 {
            let mut all: Vec<u64> = seen.values().flat_map(|b| &b.events).map(|e| e.1).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..events.len() as u64).collect::<Vec<_>>());
        }
    }
}

#[test]
fn the_largest_event_fits_and_a_larger_one_is_counted() {
    let g = geometry(4, 2, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    assert_eq!(ring.max_payload(), 4080);
    ring.write_on(0, 1, &[&payload(0, 0, 4080)]).unwrap();
    assert_eq!(ring.write_on(0, 1, &[&[0; 4081]]), Err(Dropped::TooLarge));
    let losses = ring.losses();
    assert_eq!((losses.dropped_too_large, losses.dropped_bytes, losses.dropped()), (1, 4081, 1));
    let (blocks, _) = snapshot(&ring, Position::START);
    assert_eq!(blocks.len(), 1);
    assert!(blocks[0].complete);
}

#[test]
fn an_empty_event_is_an_event() {
    let g = geometry(4, 2, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    ring.write(u16::MAX, &[]).unwrap();
    ring.write(0, &[b""]).unwrap();
    let mut kinds = Vec::new();
    ring.snapshot(Position::START, &mut |block| {
        kinds.extend(block.entries().map(|entry| (entry.kind, entry.payload.len())));
    });
    assert_eq!(kinds, [(u16::MAX, 0), (0, 0)]);
}

#[test]
fn a_block_that_was_stored_away_reads_the_same() {
    let g = geometry(8, 4, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    for seq in 0..300 {
        ring.write_on(0, 3, &[&payload(0, seq, 100)]).unwrap();
    }
    let mut blocks = 0;
    ring.snapshot(Position::START, &mut |block| {
        let stored = block.bytes.to_vec();
        let again = Block::from_bytes(&stored, g.active, block.complete).unwrap();
        assert_eq!(keep(&again), keep(&block));
        assert!(!keep(&again).events.is_empty());
        blocks += 1;
    });
    assert!(blocks > 4);
    assert!(Block::from_bytes(&[0; 7], 4, true).is_none());
    assert!(Block::from_bytes(&[0; 8], 3, true).is_none());
}

#[test]
fn the_sequence_of_positions_ends_without_wrapping() {
    let g = geometry(4, 2, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    // Far ahead, in a round before the last ones.
    let limit = ring.shape.limit;
    for m in (0..2).map(crate::layout::MetadataIndex) {
        let before =
            crate::word::Managed::new(ring.shape.round_of(limit - 8), crate::layout::LeaseIndex(0), m.0);
        ring.managed(m).store(before.0, crate::atomics::Ordering::Relaxed);
    }
    ring.global().store(crate::word::RatioPos::new(2, limit - 3).0, crate::atomics::Ordering::Relaxed);
    let results: Vec<_> = (0..5).map(|seq| ring.write_on(0, 0, &[&payload(0, seq, 4000)])).collect();
    assert_eq!(results[..3], [Ok(()); 3]);
    assert_eq!(results[3..], [Err(Dropped::Exhausted); 2]);
    assert_eq!(ring.losses().dropped_exhausted, 2);
    let (blocks, end) = snapshot(&ring, Position::START);
    assert_eq!(blocks.len(), 3);
    assert_eq!(end.next, Position(limit));
}
