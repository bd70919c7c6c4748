//! Architectures without a counter that is known to be a clock: `CLOCK_MONOTONIC` takes its place, so nothing
//! here is ever asked for a time.

use lookback_format::ring_file::ClockKind;

/// What these ticks are.
pub(super) const KIND: ClockKind = ClockKind::Monotonic;

/// Whether the counter is a clock on this machine.
pub(super) fn constant() -> bool {
    false
}

/// Never asked.
pub(super) fn read() -> u64 {
    0
}

/// Never asked.
pub(super) fn read_in_order() -> u64 {
    0
}
