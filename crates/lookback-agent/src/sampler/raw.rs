//! A sample as a thread of the program leaves it, before anybody has looked what its frames are called.
//!
//! The constraint that shaped it: it is filled where nothing may be allocated, so it has room for all frames from the beginning.

use super::collect::MOST_FRAMES;
use lookback_format::Nanos;
use lookback_jvmti::Frame;

/// Where a thread was.
pub(super) struct Raw {
    /// What names the thread: a slab's index, or the system's number.
    pub(super) thread: u32,
    /// Java's id of the virtual thread that it runs; 0: none.
    pub(super) virtual_tid: u64,
    pub(super) at: Nanos,
    /// How many of the frames are there.
    pub(super) len: usize,
    pub(super) frames: [Frame; MOST_FRAMES],
}

// SAFETY: plain data; the VM's identifiers of methods mean the same on every thread.
unsafe impl Send for Raw {}

impl Raw {
    pub(super) fn empty() -> Raw {
        let none = Frame { method: std::ptr::null_mut(), location: 0 };
        Raw { thread: 0, virtual_tid: 0, at: Nanos(0), len: 0, frames: [none; MOST_FRAMES] }
    }
}
