//! This ring, as a tracer of the replay: the shipped code, written on the core that the trace names.

use crate::trace::Event;
use crate::{BLOCK, MEMORY, Tracer};
use lookback_ring::model::Reservation;
use lookback_ring::{Block, Geometry, Position, Ring, SnapshotEnd};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::HashMap;

pub(crate) struct BTrace {
    ring: Ring,
    payload: Vec<u8>,
    /// What writers that are away have taken, and how long their payload is, by the event's number.
    begun: HashMap<u64, (Reservation, usize)>,
    /// How far back is read.
    from: From,
    memory: *mut u8,
    layout: Layout,
}

/// The ring also delivers blocks older than its length: the ones that were not replaced because their successors
/// were skipped. A reader who wants the latest asks for the last N positions only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    LastBlocks,
    Start,
}

impl BTrace {
    /// A ring with `factor` times as many active blocks as cores, rounded up to a power of two; `None` when the
    /// memory is too small for that. As in the paper, data blocks count as memory and metadata does not (1 % here).
    pub(crate) fn new(cores: usize, factor: usize, from: From) -> Option<BTrace> {
        let active = (cores * factor).next_power_of_two() as u32;
        let ratio = (MEMORY / BLOCK) as u32 / active;
        let blocks = (ratio >= 2).then_some(ratio * active)?;
        let geometry = Geometry { block_size: BLOCK as u32, blocks, active, cores: cores as u32 };
        let bytes = geometry.bytes();
        let layout = Layout::from_size_align(bytes, 4096).ok()?;
        // SAFETY: the size is not zero.
        let memory = unsafe { alloc_zeroed(layout) };
        // SAFETY: fresh memory of this length, page-aligned, freed with the ring.
        let ring = unsafe { Ring::format(memory, bytes, geometry) }.ok()?;
        Some(BTrace { ring, payload: vec![0; BLOCK], begun: HashMap::new(), from, memory, layout })
    }

    fn read(&self, with: impl Fn(&Ring, Position, &mut dyn FnMut(Block<'_>)) -> SnapshotEnd) -> Vec<u64> {
        let mut kept = Vec::new();
        let last = self.ring.end().0.saturating_sub(u64::from(self.ring.geometry().blocks));
        let from = if self.from == From::Start { Position::START } else { Position(last) };
        with(&self.ring, from, &mut |block| {
            let number = |payload: &[u8]| payload.first_chunk().map(|b| u64::from_le_bytes(*b));
            kept.extend(block.entries().filter_map(|e| number(e.payload)));
        });
        kept
    }

    fn payload(&mut self, number: u64, length: usize) -> &[u8] {
        self.payload[..8].copy_from_slice(&number.to_le_bytes());
        &self.payload[..length]
    }
}

impl Drop for BTrace {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and the ring is not used any more.
        unsafe { dealloc(self.memory, self.layout) };
    }
}

impl Tracer for BTrace {
    fn write(&mut self, event: &Event, number: u64) {
        self.payload(number, event.length);
        // What is dropped is missing from what is kept, and the ring counts it for `notes`.
        _ = self.ring.write_on(event.core, 1, &[&self.payload[..event.length]]);
    }

    fn begin(&mut self, event: &Event, number: u64) -> bool {
        let reserved = self.ring.model_reserve(event.core, event.length);
        reserved.map(|reservation| self.begun.insert(number, (reservation, event.length))).is_ok()
    }

    fn finish(&mut self, number: u64) {
        let (reservation, length) = self.begun.remove(&number).expect("an event that was begun");
        self.payload(number, length);
        self.ring.model_commit(reservation, 1, &[&self.payload[..length]]);
    }

    fn kept(&mut self) -> Vec<u64> {
        self.read(Ring::snapshot)
    }

    fn salvaged(&mut self) -> Option<Vec<u64>> {
        Some(self.read(Ring::salvage))
    }

    fn notes(&self) -> String {
        let losses = self.ring.losses();
        format!(
            ", {} dropped, {} blocks skipped, {} closed, {} bytes of filler",
            losses.dropped(),
            losses.skipped_blocks,
            losses.closed_blocks,
            losses.filler_bytes
        )
    }
}
