//! This ring, as a tracer of the replay: the shipped code, written on the core that the trace names.

use crate::trace::Event;
use crate::{BLOCK, MEMORY, Tracer};
use lookback_ring::{Geometry, Position, Ring};
use std::alloc::{Layout, alloc_zeroed};

pub(crate) struct BTrace {
    ring: Ring,
    payload: Vec<u8>,
}

impl BTrace {
    /// A ring with `factor` times as many active blocks as cores, rounded up to a power of two; `None` when the
    /// memory is too small for that. As in the paper, data blocks count as memory and metadata does not (1 % here).
    pub(crate) fn new(cores: usize, factor: usize) -> Option<BTrace> {
        let active = (cores * factor).next_power_of_two() as u32;
        let ratio = (MEMORY / BLOCK) as u32 / active;
        let blocks = (ratio >= 2).then_some(ratio * active)?;
        let geometry = Geometry { block_size: BLOCK as u32, blocks, active, cores: cores as u32 };
        let bytes = geometry.bytes();
        let layout = Layout::from_size_align(bytes, 4096).ok()?;
        // SAFETY: the size is not zero. Never freed: a benchmark.
        let memory = unsafe { alloc_zeroed(layout) };
        // SAFETY: fresh memory of this length, page-aligned, never freed.
        let ring = unsafe { Ring::format(memory, bytes, geometry) }.ok()?;
        Some(BTrace { ring, payload: vec![0; BLOCK] })
    }
}

impl Tracer for BTrace {
    fn write(&mut self, event: &Event, number: u64) {
        self.payload[..8].copy_from_slice(&number.to_le_bytes());
        let written = self.ring.write_on(event.core, 1, &[&self.payload[..event.length]]);
        assert!(written.is_ok(), "nothing is lost when nobody stalls");
    }

    fn kept(&mut self) -> Vec<u64> {
        let mut kept = Vec::new();
        self.ring.snapshot(Position::START, &mut |block| {
            let number = |payload: &[u8]| payload.first_chunk().map(|b| u64::from_le_bytes(*b));
            kept.extend(block.entries().filter_map(|e| number(e.payload)));
        });
        kept
    }
}
