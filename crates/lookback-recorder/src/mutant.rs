//! Deliberate faults for the model checker: each takes away one ordering or one check, and a model in
//! `tests/loom.rs` must reject it. In what ships they fold to nothing.

/// One fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(loom), allow(dead_code, reason = "only the models build them in"))]
pub(crate) enum Mutant {
    /// The code as it ships.
    None,
    /// A definition's head is committed by a Relaxed store.
    CommitRelaxed,
    /// The space of a definition is taken by a look and a store instead of one compare-and-swap.
    TakenByStore,
    /// A reader of the log loads heads Relaxed.
    HeadRelaxed,
    /// The fence between taking the old ticks away and the new nanoseconds is missing.
    WriterFenceMissing,
    /// New ticks are stored Relaxed.
    TicksRelaxed,
    /// The reader's fence before its second look at the ticks is missing.
    ReaderFenceMissing,
    /// The reader does not look at the ticks again.
    NotRechecked,
}

/// Whether this fault is built in.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) const fn mutated(_: Mutant) -> bool {
    false
}

/// The fault of the model that runs.
#[cfg(loom)]
pub(crate) static BUILT_IN: std::sync::Mutex<Mutant> = std::sync::Mutex::new(Mutant::None);

/// Whether this fault is built in.
#[cfg(loom)]
pub(crate) fn mutated(mutant: Mutant) -> bool {
    *BUILT_IN.lock().unwrap_or_else(std::sync::PoisonError::into_inner) == mutant
}
