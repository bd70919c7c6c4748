//! The caller's memory area as a slice of atomic words; the only file with `unsafe` memory access.
//!
//! The constraint: no pointer is ever stored in the area, and every access goes through the
//! bounds-checked slice, so that nothing read from a hostile file can lead outside it.

use crate::atomics::AtomicU64;

/// The area. Other processes may map it too: it is only ever accessed by atomic operations.
#[cfg(not(loom))]
pub(crate) struct Memory(core::ptr::NonNull<[AtomicU64]>);

#[cfg(not(loom))]
impl Memory {
    /// # Safety
    /// `mem` is valid for reads and writes of `len` bytes, a multiple of 8 in address, accessed
    /// by nothing but atomic operations of 8 bytes meanwhile, and outlives the value.
    pub(crate) unsafe fn new(mem: core::ptr::NonNull<u8>, len: usize) -> Memory {
        Memory(core::ptr::NonNull::slice_from_raw_parts(mem.cast(), len / 8))
    }

    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the creator of this value promised that the area is valid, aligned, only
        // accessed atomically and outlives `self`; any bit pattern is a u64.
        unsafe { self.0.as_ref() }
    }
}

// SAFETY: the pointer is only used for atomic accesses through `words`, from any thread.
#[cfg(not(loom))]
unsafe impl Send for Memory {}
// SAFETY: as for Send: shared references give shared access to atomics.
#[cfg(not(loom))]
unsafe impl Sync for Memory {}

/// The area as the model checker sees it.
#[cfg(loom)]
pub(crate) struct Memory(Vec<AtomicU64>);

#[cfg(loom)]
impl Memory {
    pub(crate) fn zeroed(len: usize) -> Memory {
        Memory((0..len / 8).map(|_| AtomicU64::new(0)).collect())
    }

    pub(crate) fn words(&self) -> &[AtomicU64] {
        &self.0
    }
}
