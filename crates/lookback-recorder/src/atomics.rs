//! The one place that picks the atomics of the code that is model-checked: the standard library's in what ships,
//! loom's under `--cfg loom`, where `tests/loom.rs` takes these files up.
//!
//! What loom cannot see: load buffering, and SeqCst accesses; the code here relies on neither.

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use std::sync::atomic::AtomicUsize;
