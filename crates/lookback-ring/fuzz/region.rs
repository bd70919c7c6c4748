//! Everything that can be done with a region that a hostile or broken process has written: it ends, does not panic,
//! and stays within the area. Shared by the fuzz target and the test that runs its corpus.
//!
//! The constraint: random bytes are no ring, and are refused at once. So an input is a list of changes to a ring that
//! holds events: the first byte says which ring, then come changes of 10 bytes each, the number of a word and its new
//! value. Between two groups of changes, parted by the word 0xffff, all of it is used, as if another process made them
//! meanwhile.

use std::alloc::{Layout, alloc_zeroed, dealloc};

use lookback_ring::{Block, Delivery, Follower, Geometry, Position, Ring};

/// A zeroed area just as long as the ring, so that the sanitizer sees an access beyond it.
struct Area(*mut u8, Layout);

impl Area {
    fn new(bytes: usize) -> Area {
        let layout = Layout::from_size_align(bytes, 4096).expect("a layout");
        // SAFETY: the size is not zero.
        let area = unsafe { alloc_zeroed(layout) };
        assert!(!area.is_null(), "{bytes} bytes");
        Area(area, layout)
    }

    fn ring(&self) -> Option<Ring> {
        // SAFETY: valid, aligned, and outlives every ring of this file.
        unsafe { Ring::open(self.0, self.1.size()) }.ok()
    }

    /// Stores a word, as another process could.
    fn set(&self, word: usize, value: u64) {
        let words = self.1.size() / 8;
        // SAFETY: below the area's end, aligned; atomic, as all that others do to it.
        let word = unsafe { &*self.0.cast::<std::sync::atomic::AtomicU64>().add(word % words) };
        word.store(value, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.0, self.1) }
    }
}

/// Runs one input.
pub(crate) fn try_input(input: &[u8]) {
    let Some((&first, changes)) = input.split_first() else { return };
    let (active_bits, ratio, cores) =
        (u32::from(first & 3), 1 + u32::from(first >> 2 & 3), 1 + u32::from(first >> 4 & 1));
    let geometry =
        Geometry { block_size: 4096, blocks: ratio << active_bits, active: 1 << active_bits, cores };
    let area = Area::new(geometry.bytes());
    {
        // SAFETY: as in `Area::ring`.
        let ring = unsafe { Ring::format(area.0, area.1.size(), geometry) }.expect("a good geometry");
        let events = u64::from(first >> 5) * 40;
        for event in 0..events {
            let length = 8 + (event * 37 % 300) as usize;
            ring.write_on(event as usize, 1, &[&vec![event as u8; length]]).expect("an undamaged ring");
        }
    }
    let mut follower = Follower::new(Position::START);
    for change in changes.chunks_exact(10) {
        let (word, value) = change.split_at(2);
        let word = u16::from_le_bytes([word[0], word[1]]);
        if word == u16::MAX {
            use_region(&area, &mut follower, value[0]);
        } else {
            area.set(usize::from(word), u64::from_le_bytes(*value.first_chunk().expect("eight bytes")));
        }
    }
    use_region(&area, &mut follower, first);
}

fn use_region(area: &Area, follower: &mut Follower, choice: u8) {
    let Some(ring) = area.ring() else { return };
    let geometry = ring.geometry();
    assert!(geometry.bytes() <= area.1.size(), "a ring beyond its area");
    let mut bytes = 0;
    let mut look = |block: Block<'_>| {
        assert!(block.bytes.len() <= geometry.block_size as usize);
        bytes += block.entries().map(|entry| entry.payload.len()).sum::<usize>();
    };
    ring.snapshot(Position::START, &mut look);
    ring.salvage(Position(u64::from(choice)), &mut look);
    assert!(bytes <= 2 * area.1.size(), "more than there is");
    let mut deliveries = 0;
    follower.look(&ring, &mut |delivery| match delivery {
        Delivery::Events { events, .. } => deliveries += events.count(),
        _ => deliveries += 1,
    });
    for core in 0..3 {
        let _ = ring.write_on(core, 1, &[&[0; 64], &[1; 1000]]);
        let _ = ring.write_words(2, [1, 2, 3]);
    }
    let blocks = geometry.active * u32::from(choice >> 4);
    let mut release = |range: std::ops::Range<usize>| {
        assert!(range.end <= area.1.size() && range.start < range.end, "gives back what it does not have");
        (range.start / 8..range.end / 8).for_each(|word| area.set(word, 0));
    };
    if ring.resize(blocks, &mut |_| false, &mut release).is_err() {
        ring.abandon_resize(u32::from(choice));
    }
    let _ = (ring.losses().dropped(), ring.blocks(), ring.end());
    follower.clone().last_look(&ring, &mut |_| deliveries += 1);
}
