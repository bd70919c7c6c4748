//! [`Ring`]: a handle on a memory area, made by formatting or opening it, and the accessors of its
//! words that the producer's and the consumer's side share.
//!
//! The constraint: the handle holds nothing that changes. All state is in the area, so any number
//! of handles, in any process, on the same area are equal, and none needs to be closed.

use crate::atomics::{AtomicU64, Ordering};
use crate::layout::{
    self, BLOCK_HEADER, BlockIndex, ENTRY_HEADER, Geometry, LEASES, LeaseIndex, MetadataIndex, Shape, header,
};
use crate::memory::Memory;
use crate::mutant::Mutant;
use crate::word::RatioPos;
#[cfg(not(loom))]
use crate::{Error, cpu::CurrentCpu};

/// A block-partitioned ring buffer in a caller-given memory area.
pub struct Ring {
    memory: Memory,
    pub(crate) shape: Shape,
    geometry: Geometry,
    #[cfg(not(loom))]
    cpu: CurrentCpu,
    #[cfg(loom)]
    mutant: Mutant,
}

#[cfg(not(loom))]
impl Ring {
    /// Makes the area an empty ring. An area whose first page is all zeros is taken to be all
    /// zeros (a fresh file) and only the words that need it are written, so that no page of data is
    /// touched; any other area is zeroed whole.
    ///
    /// # Errors
    /// [`Error::Geometry`], [`Error::TooShort`] or [`Error::Misaligned`].
    ///
    /// # Safety
    /// - `mem` is valid for reads and writes of `len` bytes until the ring and all its copies of
    ///   borrowed data are gone; for a mapped file that includes that nobody truncates it.
    /// - Nobody uses the area otherwise than through rings, and nobody else uses it at all until
    ///   this function has returned.
    pub unsafe fn format(mem: *mut u8, len: usize, g: Geometry) -> Result<Ring, Error> {
        g.check()?;
        if len < g.bytes() {
            return Err(Error::TooShort { needed: g.bytes() as u64, given: len as u64 });
        }
        // SAFETY: passed on from the caller; `bytes` is at most `len`.
        let memory = unsafe { area(mem, g.bytes()) }?;
        let ring = Ring { memory, shape: Shape::new(&g), geometry: g, cpu: CurrentCpu::find() };
        ring.initialise();
        Ok(ring)
    }

    /// Opens an area that [`Ring::format`] has made, by this or another process, now or before the
    /// process died. Nothing is written. The area may hold anything: what is no ring is refused
    /// here, and whatever the other words say, no access leaves the area.
    ///
    /// # Errors
    /// Any [`Error`].
    ///
    /// # Safety
    /// As for [`Ring::format`], except that others may use the area through rings at any time.
    pub unsafe fn open(mem: *mut u8, len: usize) -> Result<Ring, Error> {
        // SAFETY: passed on from the caller.
        let memory = unsafe { area(mem, len) }?;
        let words = memory.words();
        // ORDERING: Acquire; pairs with the Release of the magic word in `initialise`, so that a
        // ring that is being formatted is either refused or seen whole.
        let magic = words.first().map_or(0, |word| word.load(Ordering::Acquire));
        if magic != layout::MAGIC {
            return Err(Error::NotARing);
        }
        // Relaxed: ordered by the magic word; a header cut short reads as zeros and is refused.
        let field = |at: u64| words.get(at as usize / 8).map_or(0, |word| word.load(Ordering::Relaxed));
        let version = field(header::VERSION);
        if version != layout::VERSION {
            return Err(Error::Version { found: version, supported: layout::VERSION });
        }
        // A value beyond 32 bits becomes one that no rule allows.
        let narrow = |at: u64| u32::try_from(field(at)).unwrap_or(u32::MAX);
        let geometry = Geometry {
            block_size: narrow(header::BLOCK_SIZE),
            blocks: narrow(header::BLOCKS),
            active: narrow(header::ACTIVE),
            cores: narrow(header::CORES),
        };
        geometry.check()?;
        let needed = geometry.bytes() as u64;
        if field(header::BYTES) != needed {
            return Err(Error::Geometry {
                rule: "bytes must follow from the geometry",
                value: field(header::BYTES),
            });
        }
        if needed > len as u64 {
            return Err(Error::TooShort { needed, given: len as u64 });
        }
        Ok(Ring { memory, shape: Shape::new(&geometry), geometry, cpu: CurrentCpu::find() })
    }

    /// Index of the core this thread runs on, below `cores`. It can be out of date at once; that
    /// costs contention, never correctness.
    #[inline]
    pub(crate) fn current_core(&self) -> usize {
        self.core_index(self.cpu.get())
    }
}

/// # Safety
/// As for [`Ring::format`].
#[cfg(not(loom))]
unsafe fn area(mem: *mut u8, len: usize) -> Result<Memory, Error> {
    let remainder = mem as usize % 4096;
    if remainder != 0 {
        return Err(Error::Misaligned { remainder });
    }
    let mem = core::ptr::NonNull::new(mem).ok_or(Error::TooShort { needed: 4096, given: 0 })?;
    // SAFETY: validity and exclusiveness are the caller's promise; the alignment was checked.
    Ok(unsafe { Memory::new(mem, len) })
}

#[cfg(loom)]
impl Ring {
    /// An empty ring for the model checker, with a fault built in.
    pub fn model(geometry: Geometry, mutant: Mutant) -> Ring {
        assert!(geometry.check().is_ok(), "geometry of the model: {:?}", geometry.check());
        let memory = Memory::zeroed(geometry.bytes());
        let ring = Ring { memory, shape: Shape::new(&geometry), geometry, mutant };
        ring.initialise();
        ring
    }

    pub(crate) fn current_core(&self) -> usize {
        0
    }
}

impl Ring {
    /// The geometry the ring was formatted with.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Largest payload of one event, in bytes: a block less its header and the entry's.
    #[inline]
    pub fn max_payload(&self) -> usize {
        (self.shape.block_size - BLOCK_HEADER - ENTRY_HEADER) as usize
    }

    /// Writes the words an empty ring needs: metadata of round 0, all full, and position A as the
    /// next, so that every core's first write fetches a block (no core is at a position of round 0 but 0,
    /// which is full).
    fn initialise(&self) {
        let (words, shape) = (self.memory.words(), &self.shape);
        // Relaxed up to the magic word: nobody else uses the area yet, and its Release below
        // publishes all of it.
        let page = words.get(..512).unwrap_or(words);
        if page.iter().any(|word| word.load(Ordering::Relaxed) != 0) {
            words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        }
        let g = self.geometry;
        let set = |at: usize, value: u64| self.word(at).store(value, Ordering::Relaxed);
        for (at, value) in [
            (header::VERSION, layout::VERSION),
            (header::BLOCK_SIZE, u64::from(g.block_size)),
            (header::BLOCKS, u64::from(g.blocks)),
            (header::ACTIVE, u64::from(g.active)),
            (header::CORES, u64::from(g.cores)),
            (header::BYTES, g.bytes() as u64),
            (layout::GLOBAL, RatioPos::new(shape.most(), shape.active()).0),
        ] {
            set(at as usize / 8, value);
        }
        for m in (0..shape.active()).map(MetadataIndex) {
            // Round 0 is in the upper bits, as zero.
            set(shape.allocated_word(m), shape.block_size);
            set(shape.managed_word(m), m.0);
            for lease in (0..LEASES).map(LeaseIndex) {
                set(shape.confirmed_word(m, lease), shape.block_size);
            }
        }
        // ORDERING: Release; pairs with the Acquire in `open`.
        self.word(header::MAGIC as usize / 8).store(layout::MAGIC, Ordering::Release);
    }

    /// Whether the model checker has built this fault in.
    #[inline]
    pub(crate) fn mutated(&self, mutant: Mutant) -> bool {
        #[cfg(loom)]
        return self.mutant == mutant;
        #[cfg(not(loom))]
        return mutant == Mutant::None;
    }

    #[inline]
    pub(crate) fn core_index(&self, cpu: usize) -> usize {
        if cpu < self.shape.cores { cpu } else { cpu % self.shape.cores }
    }

    // The words. Who writes what, and with which ordering, is told in the crate's documentation.

    #[inline]
    pub(crate) fn word(&self, index: usize) -> &AtomicU64 {
        &self.memory.words()[index]
    }

    #[inline]
    pub(crate) fn global(&self) -> &AtomicU64 {
        self.word(layout::GLOBAL as usize / 8)
    }

    /// The ratio that is in force.
    pub(crate) fn ratio(&self) -> u64 {
        // Relaxed: who must not miss a change has a fence of its own before this.
        self.shape.ratio_of(RatioPos(self.global().load(Ordering::Relaxed)))
    }

    #[inline]
    pub(crate) fn core(&self, core: usize) -> &AtomicU64 {
        self.word(self.shape.core_word(core))
    }

    #[inline]
    pub(crate) fn allocated(&self, m: MetadataIndex) -> &AtomicU64 {
        self.word(self.shape.allocated_word(m))
    }

    #[inline]
    pub(crate) fn managed(&self, m: MetadataIndex) -> &AtomicU64 {
        self.word(self.shape.managed_word(m))
    }

    #[inline]
    pub(crate) fn confirmed(&self, m: MetadataIndex, lease: LeaseIndex) -> &AtomicU64 {
        self.word(self.shape.confirmed_word(m, lease))
    }

    pub(crate) fn lease_block(&self, m: MetadataIndex, lease: LeaseIndex) -> &AtomicU64 {
        self.word(self.shape.confirmed_word(m, lease) + 1)
    }

    /// The words of a data block from byte `from` to byte `to`, both multiples of 8 and at most
    /// the block size.
    #[inline]
    pub(crate) fn data(&self, block: BlockIndex, from: u64, to: u64) -> &[AtomicU64] {
        let base = self.shape.block_word(block);
        &self.memory.words()[base + from as usize / 8..base + to as usize / 8]
    }
}
