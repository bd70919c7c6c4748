//! Damaged and hostile areas: reading and writing them ends, does not panic and stays inside.

use super::support::{Area, Random, geometry, payload};
use crate::{Block, Position, Ring};

/// Reads and writes whatever is in the area.
fn use_it(ring: &Ring, mutation: u64) -> usize {
    let mut bytes = 0;
    let mut look = |block: Block<'_>| {
        assert!(block.bytes.len() <= ring.geometry().block_size as usize);
        bytes += block.entries().map(|entry| entry.payload.len()).sum::<usize>();
    };
    ring.snapshot(Position::START, &mut look);
    ring.salvage(Position(mutation % 64), &mut look);
    for core in 0..3 {
        let _ = ring.write_on(core, 1, &[&[0; 64], &[1; 1000]]);
    }
    let _ = ring.losses().dropped();
    bytes
}

/// The area is as long as the ring and allocated by itself, so that an access outside it is an
/// access outside an allocation.
#[test]
fn any_words_can_be_damaged() {
    let g = geometry(4, 2, 2);
    let mut area = Area::new(g.bytes());
    {
        let ring = area.format(g).unwrap();
        for seq in 0..200 {
            ring.write_on(seq as usize, 1, &[&payload(0, seq, 64)]).unwrap();
        }
        // Left unconfirmed, so that there is something to salvage.
        drop(ring.reserve(0, 100));
    }
    let good = area.bytes().to_vec();
    let data_at = g.bytes() - 4 * 4096;
    let mut random = Random(1);
    let (mut opened, mut refused, mut read) = (0u64, 0u64, 0usize);
    for mutation in 0..100_000 {
        let mut damaged = Vec::new();
        for _ in 0..1 + random.below(4) {
            // The words that mean something, more often than the rest.
            let at = match random.below(8) {
                0 => random.below(8) * 8,
                1 => 128,
                2 => 4096 + 64 * random.below(2),
                3 | 4 => 8192 + 64 * random.below(4),
                5 => data_at as u64 + 4096 * random.below(4),
                6 => data_at as u64 + 8 * random.below(2048),
                _ => 8 * random.below(g.bytes() as u64 / 8),
            } as usize;
            let old = u64::from_le_bytes(good[at..at + 8].try_into().unwrap());
            let new = match random.below(6) {
                0 => random.next(),
                1 => old ^ (1 << random.below(64)),
                2 => old.wrapping_add(random.below(17)).wrapping_sub(8),
                3 => 0,
                4 => u64::MAX >> random.below(64),
                _ => old ^ (random.next() << random.below(64)),
            };
            area.bytes()[at..at + 8].copy_from_slice(&new.to_le_bytes());
            damaged.push(at);
        }
        match area.open() {
            Ok(ring) => {
                opened += 1;
                read += use_it(&ring, mutation);
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
        // Writing has changed more than the damage.
        area.bytes().copy_from_slice(&good);
    }
    assert!(opened > 50_000 && refused > 1_000, "{opened} opened, {refused} refused");
    assert!(read > 0);
}

#[test]
fn a_geometry_beyond_the_area_is_refused() {
    let g = geometry(4, 2, 2);
    let mut area = Area::new(g.bytes());
    assert_eq!(area.format(g).unwrap().geometry(), g);
    for (at, value) in
        [(16, 8192u64), (24, 6), (24, 1 << 40), (32, 8), (40, 65), (40, 0), (48, 0), (48, u64::MAX)]
    {
        let old: [u8; 8] = area.bytes()[at..at + 8].try_into().unwrap();
        area.bytes()[at..at + 8].copy_from_slice(&value.to_le_bytes());
        assert!(area.open().is_err(), "{value} at {at}");
        area.bytes()[at..at + 8].copy_from_slice(&old);
    }
    assert!(area.open().is_ok());
}

#[test]
fn blocks_from_outside_are_read_within_their_bytes() {
    let mut random = Random(7);
    let mut entries = 0;
    for _ in 0..100_000 {
        let mut bytes: Vec<u8> = (0..random.below(100)).map(|_| random.next() as u8).collect();
        // A plausible round and header, so that some entries are taken.
        if let Some(head) = bytes.get_mut(..16) {
            head[..8].copy_from_slice(&8u64.to_le_bytes());
            head[8..].copy_from_slice(&((2 << 38) | (2 << 36) | (random.below(100) << 16)).to_le_bytes());
        }
        if let Some(block) = Block::from_bytes(&bytes, 4, true) {
            entries += block.entries().count();
        }
    }
    assert!(entries > 0);
}
