//! The clock of all records: `CLOCK_MONOTONIC`, nanoseconds.
//!
//! Java's `System.nanoTime` reads the same clock, so times can be compared with the program's own. It is
//! read through the vDSO (no system call); never on the hot path.

use lookback_format::Nanos;

fn read(clock: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec; the clocks used exist on every Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(clock, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// The time now.
pub(crate) fn now() -> Nanos {
    Nanos(read(libc::CLOCK_MONOTONIC))
}

/// Processor time that the current thread has used, nanoseconds. A system call.
pub(crate) fn thread_cpu() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Processor time that all threads of the process have used. A system call.
pub(crate) fn process_cpu() -> Nanos {
    Nanos(read(libc::CLOCK_PROCESS_CPUTIME_ID))
}

/// The monotonic clock and the wall clock (nanoseconds since 1970) at the same moment.
pub(crate) fn pair() -> (Nanos, u64) {
    (now(), read(libc::CLOCK_REALTIME))
}
