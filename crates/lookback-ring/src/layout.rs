//! Where each word of the memory area is: [`Geometry`] (what the user chooses) and `Shape` (the
//! shifts, masks and offsets derived from it).
//!
//! The constraint: the area may come from a damaged or hostile file, so a `Shape` is only made from
//! a checked geometry, lives in private memory, and every index computed from words of the area is
//! masked or reduced by it. Nothing here reads or writes the area.

use crate::Error;
use crate::word::{RatioPos, Round, RoundPos};

/// First word of the area: the bytes `LKBRING1`.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"LKBRING1");
/// Version of the layout.
pub(crate) const VERSION: u64 = 2;

/// Sizes that the model checker shrinks, because each word of the area is an object to loom.
#[cfg(not(loom))]
mod size {
    /// The header has a page of its own, so that it can be mapped alone.
    pub(crate) const HEADER: u64 = 4096;
    /// A line of its own for each core.
    pub(crate) const CORE: u64 = 64;
    /// Allocated and Managed on one line, the leases on lines of their own.
    pub(crate) const METADATA: u64 = 64 + 16 * LEASES;
    /// Offset of Managed within a metadata block.
    pub(crate) const MANAGED: u64 = 8;
    /// Offset of the first lease within a metadata block.
    pub(crate) const LEASE: u64 = 64;
    pub(crate) const LEASES: u64 = 16;
    /// The three arrays begin at multiples of this.
    pub(crate) const ALIGN: u64 = 4096;
    pub(crate) const BLOCK_MIN: u32 = 4096;
    pub(crate) const GLOBAL: u64 = 128;
    pub(crate) const COUNTERS: u64 = 256;
    pub(crate) const RESIZE: u64 = 384;
    pub(crate) const READERS: u64 = 512;
    pub(crate) const READERS_MAX: usize = 64;
}
#[cfg(loom)]
mod size {
    pub(crate) const HEADER: u64 = 200;
    pub(crate) const CORE: u64 = 8;
    pub(crate) const METADATA: u64 = 16 + 16 * LEASES;
    pub(crate) const MANAGED: u64 = 8;
    pub(crate) const LEASE: u64 = 16;
    pub(crate) const LEASES: u64 = 2;
    pub(crate) const ALIGN: u64 = 8;
    pub(crate) const BLOCK_MIN: u32 = 32;
    pub(crate) const GLOBAL: u64 = 64;
    pub(crate) const COUNTERS: u64 = 72;
    pub(crate) const RESIZE: u64 = 160;
    pub(crate) const READERS: u64 = 192;
    pub(crate) const READERS_MAX: usize = 1;
}
pub(crate) use size::{COUNTERS, GLOBAL, LEASES, READERS, READERS_MAX, RESIZE};

const BLOCK_MAX: u32 = 1 << 20;
const ACTIVE_MAX: u32 = 1 << 16;
const CORES_MAX: u32 = 1 << 14;

/// Offsets in the header, in bytes.
pub(crate) mod header {
    pub(crate) const MAGIC: u64 = 0;
    pub(crate) const VERSION: u64 = 8;
    pub(crate) const BLOCK_SIZE: u64 = 16;
    pub(crate) const BLOCKS: u64 = 24;
    pub(crate) const ACTIVE: u64 = 32;
    pub(crate) const CORES: u64 = 40;
    pub(crate) const BYTES: u64 = 48;
}

/// Bytes of a data block's header: one word, the block's position.
pub(crate) const BLOCK_HEADER: u64 = 8;
/// Bytes of an entry's header.
pub(crate) const ENTRY_HEADER: u64 = 8;

/// Bits that Pos has beyond the block's own size. A writer looks before it adds, so Pos can exceed
/// the block only by what writers add that looked before the block was full: 4,095 of them at
/// once, each with the largest event, still cannot carry into Rnd.
const OVERSHOOT_BITS: u32 = 12;

/// The shape of a ring: what is reserved. It never changes after [`crate::Ring::format`]; how many of its
/// data blocks are in use does ([`crate::Ring::resize`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a data block: a power of two, 4 KiB to 1 MiB.
    pub block_size: u32,
    /// Number of data blocks that there is room for (the paper's N, at most), a multiple of `active`, at
    /// most 65,535 times it.
    pub blocks: u32,
    /// Number of metadata blocks, which is how many blocks can be written at a time (the paper's
    /// A): a power of two, at most 65,536.
    pub active: u32,
    /// Number of cores, each with a current block: 1 to 16,384.
    pub cores: u32,
}

impl Geometry {
    /// The geometry for an area of `bytes` bytes and `cores` cores, for small events:
    /// [`Geometry::for_events`] of 1,000 bytes.
    ///
    /// # Errors
    /// As [`Geometry::for_events`].
    pub fn fitting(bytes: usize, cores: u32) -> Result<Geometry, Error> {
        Geometry::for_events(bytes, cores, 1_000)
    }

    /// The geometry for an area of `bytes` bytes and `cores` cores, whose larger events have
    /// payloads of about `payload` bytes.
    ///
    /// `active` is 16 x `cores` (paper, section 5.1), rounded up to a power of two. The block is
    /// the largest up to 64 KiB that leaves at least 15 data blocks to a metadata block, because
    /// 1 - A/N of the area is the best that can hold the latest events (paper, table 1), and at
    /// least four events long, because an event that does not fit the rest of a block wastes half
    /// an event on average. Where the area is too small for all of that, first `active` gives way,
    /// down to one a core, then the four events, down to one.
    ///
    /// # Errors
    /// [`Error::TooShort`] when not even two blocks of one event for each core fit;
    /// [`Error::Geometry`] when no block can hold such an event.
    pub fn for_events(bytes: usize, cores: u32, payload: usize) -> Result<Geometry, Error> {
        let cores = cores.clamp(1, CORES_MAX);
        let floor = cores.next_power_of_two();
        let wanted = (16 * cores).next_power_of_two().min(ACTIVE_MAX);
        let block = |events: u64| {
            let bytes = BLOCK_HEADER + events * (ENTRY_HEADER + payload as u64).next_multiple_of(8);
            bytes.next_power_of_two().max(u64::from(size::BLOCK_MIN))
        };
        if payload as u64 > u64::from(BLOCK_MAX) || block(1) > u64::from(BLOCK_MAX) {
            let rule = "an event must fit a block of 1 MiB";
            return Err(Error::Geometry { rule, value: payload as u64 });
        }
        let roomy = block(4).min(u64::from(BLOCK_MAX));
        let wishes = [(roomy, 15, wanted), (roomy, 8, wanted / 2), (roomy, 2, floor), (block(1), 2, floor)];
        for (least_block, least_ratio, least_active) in wishes {
            let (least, most) = (least_block.trailing_zeros(), least_block.trailing_zeros().max(16));
            for block_bits in (least..=most).rev() {
                let mut active = wanted;
                while active >= least_active.max(floor) {
                    if let Some(g) = Geometry::filled(bytes as u64, 1 << block_bits, active, cores)
                        && g.blocks / active >= least_ratio
                    {
                        return Ok(g);
                    }
                    active /= 2;
                }
            }
        }
        let least = Geometry { block_size: block(1) as u32, blocks: 2 * floor, active: floor, cores };
        Err(Error::TooShort { needed: least.bytes() as u64, given: bytes as u64 })
    }

    /// As many data blocks as fit, or `None` when not even one row of them does.
    fn filled(bytes: u64, block_size: u32, active: u32, cores: u32) -> Option<Geometry> {
        let empty = Geometry { block_size, blocks: 0, active, cores };
        let room = bytes.checked_sub(empty.bytes() as u64)?;
        let ratio = (room / (u64::from(block_size) * u64::from(active))).min(u64::from(u16::MAX));
        let blocks = u32::try_from(ratio * u64::from(active)).ok()?;
        (ratio > 0).then_some(Geometry { blocks, ..empty })
    }

    /// Bytes of the whole area: header, core words, metadata and data blocks.
    pub fn bytes(&self) -> usize {
        let shape = self.data_offset();
        (shape + u64::from(self.blocks) * u64::from(self.block_size)) as usize
    }

    fn metadata_offset(&self) -> u64 {
        (size::HEADER + u64::from(self.cores) * size::CORE).next_multiple_of(size::ALIGN)
    }

    fn data_offset(&self) -> u64 {
        (self.metadata_offset() + u64::from(self.active) * size::METADATA).next_multiple_of(size::ALIGN)
    }

    /// Refuses what no ring can have.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let rule = |holds: bool, rule: &'static str, value: u32| match holds {
            true => Ok(()),
            false => Err(Error::Geometry { rule, value: u64::from(value) }),
        };
        let (b, n, a) = (self.block_size, self.blocks, self.active);
        rule(b.is_power_of_two(), "block_size must be a power of two", b)?;
        rule((size::BLOCK_MIN..=BLOCK_MAX).contains(&b), "block_size must be 4 KiB to 1 MiB", b)?;
        rule(a.is_power_of_two() && a <= ACTIVE_MAX, "active must be a power of two up to 65,536", a)?;
        rule(n >= a && n % a == 0, "blocks must be a multiple of active", n)?;
        rule(n / a <= u32::from(u16::MAX), "blocks must be at most 65,535 times active", n)?;
        rule((1..=CORES_MAX).contains(&self.cores), "cores must be 1 to 16,384", self.cores)
    }
}

/// What the hot path needs of the geometry, in the form it needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Bytes of a data block.
    pub(crate) block_size: u64,
    block_bits: u32,
    pos_bits: u32,
    active_bits: u32,
    /// A - 1.
    active_mask: u64,
    /// Bits of Pos in Allocated and Confirmed.
    pos_mask: u64,
    /// N when all of the area is used.
    blocks: u64,
    /// N / A when all of the area is used.
    most: u64,
    pub(crate) cores: usize,
    /// Where the arrays begin, in words.
    metadata_at: u64,
    data_at: u64,
    /// First position that is never handed out.
    pub(crate) limit: u64,
}

/// Index of a metadata block, below A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MetadataIndex(pub(crate) u64);

/// Index of a lease of a metadata block, below [`LEASES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaseIndex(pub(crate) u64);

/// Index of a data block, below N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockIndex(pub(crate) u64);

impl Shape {
    /// `g` must have passed [`Geometry::check`].
    pub(crate) fn new(g: &Geometry) -> Shape {
        let block_bits = g.block_size.trailing_zeros();
        let pos_bits = block_bits + OVERSHOOT_BITS;
        let active_bits = g.active.trailing_zeros();
        // Whichever field ends first, Rnd or the position; 2^20 positions stay unused so that
        // writers between their look and their add cannot pass the end.
        let position_bits = (64 - pos_bits + active_bits).min(RatioPos::POSITION_BITS);
        Shape {
            block_size: u64::from(g.block_size),
            block_bits,
            pos_bits,
            active_bits,
            active_mask: u64::from(g.active) - 1,
            pos_mask: (1 << pos_bits) - 1,
            blocks: u64::from(g.blocks),
            most: u64::from(g.blocks / g.active),
            cores: g.cores as usize,
            metadata_at: g.metadata_offset() / 8,
            data_at: g.data_offset() / 8,
            limit: (1 << position_bits) - (1 << 20),
        }
    }

    pub(crate) fn active(&self) -> u64 {
        self.active_mask + 1
    }

    /// N / A when all of the area is used.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    #[inline]
    pub(crate) fn metadata_of(&self, position: u64) -> MetadataIndex {
        MetadataIndex(position & self.active_mask)
    }

    #[inline]
    pub(crate) fn round_of(&self, position: u64) -> Round {
        Round(position >> self.active_bits)
    }

    /// The data block a metadata block manages in a round (paper, section 3.3). Below N whatever
    /// the arguments, as long as `ratio` is at most [`Shape::most`].
    #[inline]
    pub(crate) fn block_of(&self, metadata: MetadataIndex, round: Round, ratio: u64) -> BlockIndex {
        BlockIndex(((round.0 % ratio) << self.active_bits) | metadata.0)
    }

    /// The ratio in a word of the area, or the most when that is not a possible one.
    #[inline]
    pub(crate) fn ratio_of(&self, word: RatioPos) -> u64 {
        let ratio = word.ratio();
        if ratio.wrapping_sub(1) < self.most { ratio } else { self.most }
    }

    #[inline]
    pub(crate) fn pack(&self, round: Round, pos: u64) -> u64 {
        (round.0 << self.pos_bits) | pos
    }

    #[inline]
    pub(crate) fn unpack(&self, word: u64) -> RoundPos {
        RoundPos { round: Round(word >> self.pos_bits), pos: word & self.pos_mask }
    }

    /// Pos as far as it means bytes of the block: it overshoots when writers add to a full block.
    #[inline]
    pub(crate) fn filled(&self, state: RoundPos) -> u64 {
        state.pos.min(self.block_size)
    }

    // Offsets of words, counted in words.

    #[inline]
    pub(crate) fn core_word(&self, core: usize) -> usize {
        (size::HEADER / 8) as usize + core * (size::CORE / 8) as usize
    }

    #[inline]
    pub(crate) fn allocated_word(&self, m: MetadataIndex) -> usize {
        (self.metadata_at + m.0 * (size::METADATA / 8)) as usize
    }

    #[inline]
    pub(crate) fn managed_word(&self, m: MetadataIndex) -> usize {
        self.allocated_word(m) + (size::MANAGED / 8) as usize
    }

    /// The data block that a word of the area names, or some data block when it names none.
    #[inline]
    pub(crate) fn block_named(&self, block: u64) -> BlockIndex {
        BlockIndex(if block < self.blocks { block } else { 0 })
    }

    /// Confirmed of a lease; its data block is in the word behind.
    #[inline]
    pub(crate) fn confirmed_word(&self, m: MetadataIndex, lease: LeaseIndex) -> usize {
        self.allocated_word(m) + (size::LEASE / 8 + 2 * lease.0) as usize
    }

    #[inline]
    pub(crate) fn block_word(&self, block: BlockIndex) -> usize {
        (self.data_at + (block.0 << (self.block_bits - 3))) as usize
    }
}
