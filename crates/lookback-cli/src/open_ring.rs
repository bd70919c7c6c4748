//! A ring in memory that somebody else owns: the type that keeps the two together.
//!
//! The constraint: `lookback_ring::Ring` holds an address and no lifetime, because it may lie in any memory; here it
//! always lies in a map of this process, which must outlive it.

use lookback_ring::Ring;
use std::marker::PhantomData;
use std::ops::Deref;

/// A ring that cannot outlive its memory.
pub(crate) struct OpenRing<'a>(Ring, PhantomData<&'a mut ()>);

impl OpenRing<'_> {
    /// Opens the ring in `len` bytes at `base`. The caller's signature ties the result to the memory.
    ///
    /// # Errors
    /// Why there is no ring, in words.
    ///
    /// # Safety
    /// As for [`Ring::open`], for the lifetime of the result.
    pub(crate) unsafe fn open<'a>(base: *mut u8, len: usize) -> Result<OpenRing<'a>, String> {
        // SAFETY: passed on from the caller.
        let ring = unsafe { Ring::open(base, len) };
        ring.map(|ring| OpenRing(ring, PhantomData)).map_err(|e| e.to_string())
    }
}

impl Deref for OpenRing<'_> {
    type Target = Ring;

    fn deref(&self) -> &Ring {
        &self.0
    }
}
