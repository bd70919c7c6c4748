//! The virtual counter of AArch64.
//!
//! The constraint: the architecture demands that it has one rate and is the same on all cores, so it can always
//! be trusted; it is coarse on some machines (tens of nanoseconds).

use lookback_format::ring_file::ClockKind;
use std::arch::asm;

/// What these ticks are.
pub(super) const KIND: ClockKind = ClockKind::Cntvct;

/// Whether the counter is a clock on this machine.
pub(super) fn constant() -> bool {
    true
}

/// The counter. The processor may read it a little earlier or later than the instructions around it say.
#[inline(always)]
pub(super) fn read() -> u64 {
    let ticks: u64;
    // SAFETY: Linux lets programs read the register.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

/// The counter, after everything before it.
pub(super) fn read_in_order() -> u64 {
    // SAFETY: a barrier that every processor of the architecture has.
    unsafe { asm!("isb", options(nostack, preserves_flags)) };
    read()
}
