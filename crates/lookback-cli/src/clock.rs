//! The machine's clocks.
//!
//! The constraint that shaped it: recordings have times of the monotonic clock, and say once what that was of the wall clock.

use lookback_format::Nanos;
use std::time::{SystemTime, UNIX_EPOCH};

/// Monotonic and wall clock, read together.
pub(crate) fn now() -> (Nanos, u64) {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec, and the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut t) };
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    (Nanos(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64), wall)
}
