//! Deliberate faults for the model checker: each takes away one ordering or one check, and a model
//! in `tests/loom.rs` must reject it. Outside of loom they fold to nothing.

/// One fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(loom), allow(unreachable_pub, reason = "public for the models only"))]
pub enum Mutant {
    /// The code as it ships.
    None,
    /// The look at Allocated, before Managed is read, is Relaxed instead of Acquire.
    LookRelaxed,
    /// An addition to Allocated that lands in a newer round is taken for one in the expected round.
    LandingIgnored,
    /// The space of such an addition is not used (and so never confirmed).
    LandingAbandoned,
    /// A lease is taken over although its writers have not confirmed.
    HeldLeaseTaken,
    /// A data block is used although a writer that was left behind holds it.
    HeldBlockTaken,
    /// A lease that was locked in vain is not given back.
    LeaseKept,
    /// Managed is changed without a look at whether someone newer has changed it.
    PublishedBlindly,
    /// The one who closes a block that is being prepared confirms it in place of the one preparing it.
    ConfirmedByCloser,
    /// Confirmation is Relaxed instead of Release.
    ConfirmRelaxed,
    /// The reader does not look again after the copy.
    NotRechecked,
    /// The reader's fence between the copy and the second look is missing.
    ReaderFenceMissing,
    /// The writer's fence between the addition to Allocated and the payload is missing.
    WriterFenceMissing,
    /// Who takes a block uses the ratio of before it locked the metadata block.
    RatioNotReread,
    /// The taker's fence between the lock and the look at the ratio is missing.
    TakerFenceMissing,
    /// The resizer's fence between the change of the ratio and the look at the metadata is missing.
    ResizerFenceMissing,
    /// A block is given back although its writers have not confirmed.
    ReleasedWhileHeld,
    /// A block is given back although a reader may be copying it, and with its header as it was.
    ReleasedWhileRead,
}
