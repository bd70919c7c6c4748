//! The one place that picks the atomics and the shared memory of what is model-checked: the standard library's in what ships,
//! loom's under `--cfg loom`, where `tests/loom.rs` takes these files up; and the faults that the models must reject.
//!
//! What loom cannot see: load buffering, and SeqCst accesses; the code here relies on neither.

#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub(super) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Memory that threads touch one after the other.
#[cfg(not(loom))]
pub(super) struct Shared<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> Shared<T> {
    pub(super) fn new(content: T) -> Self {
        Shared(std::cell::UnsafeCell::new(content))
    }

    pub(super) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    pub(super) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// As above; the checker sees when two threads touch it at once.
#[cfg(loom)]
pub(super) use loom::cell::UnsafeCell as Shared;

/// Deliberate faults: each takes away one ordering. In what ships they fold to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mutant {
    /// A box is claimed Relaxed.
    Claim,
    /// A box is handed over Relaxed.
    Put,
    /// The sampler looks Relaxed whether a box is full.
    Drain,
    /// The sampler gives a box back Relaxed.
    Free,
}

/// The ordering, unless the fault is built in that takes it away.
#[cfg(not(loom))]
#[inline(always)]
pub(super) const fn weakened(_: Mutant, ordering: Ordering) -> Ordering {
    ordering
}

/// The fault of the model that runs.
#[cfg(loom)]
pub(super) static BUILT_IN: std::sync::Mutex<Option<Mutant>> = std::sync::Mutex::new(None);

/// The ordering, unless the fault is built in that takes it away.
#[cfg(loom)]
pub(super) fn weakened(mutant: Mutant, ordering: Ordering) -> Ordering {
    let built_in = *BUILT_IN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if built_in == Some(mutant) { Ordering::Relaxed } else { ordering }
}
