//! The clocks, in nanoseconds.
//!
//! The constraint that shaped it: clocks of different sources must not be subtracted from each other. The process's
//! clock and the threads' are the scheduler's (`sum_exec_runtime`, field 1 of `schedstat`); a perf task clock is another,
//! and differs from it by up to 17 % in a run of seconds.

/// Nanoseconds of some clock here.
fn read(clock: libc::clockid_t) -> Option<u64> {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec; a clock that does not exist is an error code.
    let code = unsafe { libc::clock_gettime(clock, &raw mut t) };
    (code == 0).then(|| t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64)
}

/// Time as `System.nanoTime` tells it. No system call.
pub(crate) fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

/// Processor time of the process, with its threads that have ended.
///
/// The scheduler brings only the calling thread's share up to date; that of others which are running is as old as their
/// last switch or tick, unless [`of_thread`] has just read it.
pub(crate) fn process_cpu() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or(0)
}

/// Processor time of the calling thread.
pub(crate) fn thread_cpu() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// Processor time of a thread of this process; none when it has ended.
pub(crate) fn of_thread(tid: i32) -> Option<u64> {
    // The kernel's encoding of a thread's clock: CPUCLOCK_PERTHREAD_MASK (4) and CPUCLOCK_SCHED (2) below the
    // complement of its id.
    read((!tid << 3) | 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_clock_is_the_one_that_the_thread_itself_reads() {
        // SAFETY: no arguments.
        let tid = unsafe { libc::gettid() };
        let before = thread_cpu();
        let seen = of_thread(tid).expect("this thread lives");
        assert!((before..=thread_cpu()).contains(&seen));
        assert!(seen <= process_cpu());
        let above_all = (1 << 22) + 1;
        assert_eq!(of_thread(above_all), None, "the kernel gives ids up to 2^22");
    }
}
