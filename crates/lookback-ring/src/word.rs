//! The packed words of the area and their fields.
//!
//! The constraint: each is changed by one atomic operation, so everything that must change together
//! sits in one word. Nothing here knows where the words are.

use core::cmp::Ordering;
use core::fmt;

use crate::layout::{LEASES, LeaseIndex};

/// A block's place in the one sequence of all blocks ever handed out, by all cores. It grows by one
/// with each block and is never reused; the first one is A (the number of metadata blocks).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl Position {
    /// Before every block.
    pub const START: Position = Position(0);
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How often a metadata block has been used (the paper's Rnd): position / A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Round(pub(crate) u64);

/// Allocated or Confirmed of a metadata block, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundPos {
    pub(crate) round: Round,
    /// Bytes allocated or confirmed; Allocated may overshoot the block.
    pub(crate) pos: u64,
}

/// Managed of a metadata block: in the lower 32 bits the data block, above it 4 bits for the lease, above those the
/// low 28 bits of the round for which it is managed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Managed(pub(crate) u64);

impl Managed {
    const ROUND_BITS: u32 = 28;

    pub(crate) fn new(round: Round, lease: LeaseIndex, block: u64) -> Managed {
        Managed((round.0 << (64 - Self::ROUND_BITS)) | (lease.0 << 32) | block)
    }

    #[inline]
    pub(crate) fn block(self) -> u64 {
        self.0 & u64::from(u32::MAX)
    }

    #[inline]
    pub(crate) fn lease(self) -> LeaseIndex {
        LeaseIndex((self.0 >> 32) & (LEASES - 1))
    }

    /// How its round compares with another, which must be within 2^27 rounds of it.
    pub(crate) fn cmp_round(self, round: Round) -> Ordering {
        let ahead = (self.0 >> (64 - Self::ROUND_BITS)).wrapping_sub(round.0) << (64 - Self::ROUND_BITS);
        (ahead as i64).cmp(&0)
    }
}

/// The data block of a lease and, in the upper 32 bits, the low bits of the round of which that is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaseBlock(pub(crate) u64);

impl LeaseBlock {
    pub(crate) fn new(round: Round, block: u64) -> LeaseBlock {
        LeaseBlock((round.0 << 32) | block)
    }

    pub(crate) fn block(self) -> u64 {
        self.0 & u64::from(u32::MAX)
    }

    pub(crate) fn is_of(self, round: Round) -> bool {
        self.0 >> 32 == round.0 & u64::from(u32::MAX)
    }
}

/// The global `ratio_and_pos`: N/A in the upper 16 bits, the next position in the lower 48.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RatioPos(pub(crate) u64);

impl RatioPos {
    pub(crate) const POSITION_BITS: u32 = 48;

    pub(crate) fn new(ratio: u64, position: u64) -> RatioPos {
        RatioPos((ratio << Self::POSITION_BITS) | position)
    }

    #[inline]
    pub(crate) fn ratio(self) -> u64 {
        self.0 >> Self::POSITION_BITS
    }

    #[inline]
    pub(crate) fn position(self) -> u64 {
        self.0 & ((1 << Self::POSITION_BITS) - 1)
    }
}
