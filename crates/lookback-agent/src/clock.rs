//! The clock of all records: `CLOCK_MONOTONIC`, nanoseconds.
//!
//! Java's `System.nanoTime` reads the same clock, so times can be compared with the program's own. It is
//! read through the vDSO (no system call); never on the hot path.

use lookback_format::Nanos;

fn read(clock: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec; the clocks used exist on every Linux; that of a thread that has
    // ended fails, and leaves 0.
    unsafe { libc::clock_gettime(clock, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// The time now.
pub(crate) fn now() -> Nanos {
    Nanos(read(libc::CLOCK_MONOTONIC))
}

/// Sleeps until this time of [`now`], or a little less.
pub(crate) fn sleep_until(at: u64) {
    let t = libc::timespec {
        tv_sec: (at / 1_000_000_000) as libc::time_t,
        tv_nsec: (at % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: a valid timespec; an interrupted sleep is only a shorter one.
    unsafe {
        libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const t, std::ptr::null_mut())
    };
}

/// Processor time that the current thread has used, nanoseconds. A system call.
pub(crate) fn thread_cpu() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The clock of the processor time of one thread, which others can read while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadClock(libc::clockid_t);

impl ThreadClock {
    /// Of the current thread.
    pub(crate) fn own() -> Option<ThreadClock> {
        let mut clock = 0;
        // SAFETY: the current thread lives, and `clock` is valid to write.
        let code = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
        (code == 0).then_some(ThreadClock(clock))
    }

    /// Of the thread of this process that the system knows by this number.
    pub(crate) fn of(os_tid: u32) -> ThreadClock {
        // What pthread_getcpuclockid makes of it: the scheduler's time (2) of one thread (4).
        ThreadClock((!(os_tid as libc::clockid_t) << 3) | 2 | 4)
    }

    /// As the kernel's functions take it.
    pub(crate) fn id(self) -> libc::clockid_t {
        self.0
    }

    /// Nanoseconds, exact also while the thread runs; the clock of the whole process is behind by up to a timer tick of
    /// the kernel for each thread that runs. A system call; 0 when the thread has just ended.
    pub(crate) fn read(self) -> u64 {
        read(self.0)
    }
}

/// Processor time that all threads of the process have used. A system call.
pub(crate) fn process_cpu() -> Nanos {
    Nanos(read(libc::CLOCK_PROCESS_CPUTIME_ID))
}

/// The monotonic clock and the wall clock (nanoseconds since 1970) at the same moment.
pub(crate) fn pair() -> (Nanos, u64) {
    (now(), read(libc::CLOCK_REALTIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_clock_is_the_same_by_its_number() {
        // SAFETY: no arguments.
        let tid = unsafe { libc::gettid() } as u32;
        assert_eq!(ThreadClock::own(), Some(ThreadClock::of(tid)));
        let begun = ThreadClock::of(tid).read();
        while ThreadClock::of(tid).read() < begun + 1_000_000 {}
        assert!(thread_cpu() >= begun + 1_000_000);
    }
}
