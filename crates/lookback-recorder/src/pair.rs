//! A clock snapshot's two words, which readers must get as they were written together.
//!
//! The constraint: no lock, because the writer can be killed between the two, and readers in other processes must
//! not wait. The ticks serve as the version, too: they grow with each snapshot and are 0 while they change.
//!
//! ```text
//!  writer                              reader
//!  ticks = 0                           t = ticks (Acquire); 0: nothing is there
//!  fence Release                       n = nanos
//!  nanos = n                           fence Acquire
//!  ticks = t (Release)                 ticks still t: (t, n) belong together
//! ```
//!
//! - P1: who sees the new nanoseconds sees that the old ticks are gone (the fences).
//! - P2: who sees the new ticks sees their nanoseconds (Release, Acquire).
//!
//! A writer that was killed leaves ticks of 0, and the next one writes as ever. Two writers at the same time
//! could mix their pairs up; see `Clock::keep` for when that can be.

use crate::atomics::{AtomicU64, Ordering, fence};
use crate::mutant::{Mutant, mutated};

/// Writes a pair; `ticks` is not 0.
pub(crate) fn store([to_ticks, to_nanos]: [&AtomicU64; 2], ticks: u64, nanos: u64) {
    // Relaxed: ordered by the fence.
    to_ticks.store(0, Ordering::Relaxed);
    if !mutated(Mutant::WriterFenceMissing) {
        // ORDERING: Release fence; pairs with the Acquire fence in `load` (P1). A Release on the store before
        // it would order what came earlier, not what follows.
        fence(Ordering::Release);
    }
    // Relaxed: published by the ticks.
    to_nanos.store(nanos, Ordering::Relaxed);
    // ORDERING: Release; pairs with the Acquire in `load` (P2).
    let order = if mutated(Mutant::TicksRelaxed) { Ordering::Relaxed } else { Ordering::Release };
    to_ticks.store(ticks, order);
}

/// Reads a pair; `None` when there is none, or it is being written.
pub(crate) fn load([ticks, nanos]: [&AtomicU64; 2]) -> Option<(u64, u64)> {
    // ORDERING: Acquire; pairs with the Release of the ticks in `store` (P2).
    let before = ticks.load(Ordering::Acquire);
    // Relaxed: ordered by the Acquire before it and the fence behind it.
    let pair = (before, nanos.load(Ordering::Relaxed));
    if !mutated(Mutant::ReaderFenceMissing) {
        // ORDERING: Acquire fence; pairs with the Release fence in `store` (P1).
        fence(Ordering::Acquire);
    }
    let same = mutated(Mutant::NotRechecked) || ticks.load(Ordering::Relaxed) == before;
    (before != 0 && same).then_some(pair)
}
