//! Counters of everything that was not recorded or was given up, by cause, kept in the area itself
//! so that they survive the process.
//!
//! They are counted on cold paths only. Relaxed throughout: each stands for itself and orders
//! nothing.

use crate::Ring;
use crate::atomics::Ordering::Relaxed;
use crate::layout::COUNTERS;

/// Index of a counter: its word is at byte 256 + 8 x index of the area.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counter {
    DroppedBlocked = 0,
    DroppedContended = 1,
    DroppedTooLarge = 2,
    DroppedExhausted = 3,
    DroppedBytes = 4,
    SkippedBlocks = 5,
    OvertakenBlocks = 6,
    WastedBlocks = 7,
    ClosedBlocks = 8,
    FillerBytes = 9,
    LeftBehind = 10,
}

/// What a ring lost or gave up since it was formatted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Losses {
    /// Events dropped because every metadata block was held by a writer that had not confirmed.
    pub dropped_blocked: u64,
    /// Events dropped because other writers of the core filled each new block first.
    pub dropped_contended: u64,
    /// Events dropped because they are larger than a block can hold.
    pub dropped_too_large: u64,
    /// Events dropped because the sequence of positions was used up.
    pub dropped_exhausted: u64,
    /// Payload bytes of all dropped events.
    pub dropped_bytes: u64,
    /// Positions skipped because a writer still held their data block from an earlier round (paper, section 3.4), or all
    /// leases of the metadata block.
    pub skipped_blocks: u64,
    /// Positions given up because the sequence had lapped them before they were ready.
    pub overtaken_blocks: u64,
    /// Blocks closed unused because another thread of the core had brought a new one first.
    pub wasted_blocks: u64,
    /// Blocks closed before they were full because the sequence came round to their metadata
    /// block (paper, section 3.2).
    pub closed_blocks: u64,
    /// Bytes filled up in blocks that were closed, for whatever reason.
    pub filler_bytes: u64,
    /// Blocks that the ring went on without, because a writer still held them when the sequence came round;
    /// [`Ring::left_behind`] tells how many are held now.
    pub blocks_left_behind: u64,
}

impl Losses {
    /// Events that were not recorded, whatever the cause.
    pub fn dropped(&self) -> u64 {
        // Saturating: the counters of a damaged file can hold anything.
        [self.dropped_contended, self.dropped_too_large, self.dropped_exhausted]
            .into_iter()
            .fold(self.dropped_blocked, u64::saturating_add)
    }
}

impl Ring {
    pub(crate) fn count(&self, counter: Counter, by: u64) {
        self.word(COUNTERS as usize / 8 + counter as usize).fetch_add(by, Relaxed);
    }

    /// The counters as they are now; each on its own, not at one instant.
    pub fn losses(&self) -> Losses {
        let get = |counter: Counter| self.word(COUNTERS as usize / 8 + counter as usize).load(Relaxed);
        Losses {
            dropped_blocked: get(Counter::DroppedBlocked),
            dropped_contended: get(Counter::DroppedContended),
            dropped_too_large: get(Counter::DroppedTooLarge),
            dropped_exhausted: get(Counter::DroppedExhausted),
            dropped_bytes: get(Counter::DroppedBytes),
            skipped_blocks: get(Counter::SkippedBlocks),
            overtaken_blocks: get(Counter::OvertakenBlocks),
            wasted_blocks: get(Counter::WastedBlocks),
            closed_blocks: get(Counter::ClosedBlocks),
            filler_bytes: get(Counter::FillerBytes),
            blocks_left_behind: get(Counter::LeftBehind),
        }
    }
}
