//! The one place that picks the atomics: core's in what ships, loom's under `--cfg loom`.
//!
//! Everything else in this crate imports them from here, so that the model checker runs the code
//! that ships. It must not offer anything that only one of the two has.
//!
//! What loom cannot see: it does not reorder a load with a later store of the same thread (load
//! buffering) and it treats a SeqCst access as AcqRel. The ring uses no SeqCst but as fences, which loom
//! does model, and relies on no order between a Relaxed load and a later Relaxed store.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};
