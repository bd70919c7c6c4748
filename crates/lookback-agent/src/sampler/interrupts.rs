//! Interrupts threads that run with a signal, in proportion to their processor time.
//!
//! The constraint that shaped it: each thread has a timer of its own processor time, but the kernel looks at such timers only when
//! its own clock ticks, so for shorter intervals the sampler itself sends the signal to the threads that run. The handler stays
//! installed once it was, since a signal that comes late would end the program otherwise. What it does is for who begins to say,
//! and is as little as any signal handler may do.

use super::Pace;
use super::collect::Collector;
use super::os_threads::{OsThreads, is_running};
use super::thread_table::Live;
use crate::agent::Agent;
use crate::clock::ThreadClock;
use jni_sys::JNIEnv;
use lookback_format::{Nanos, ThreadKey};
use rustc_hash::FxHashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What the handler does with what was interrupted: an [`Action`]; 0: nothing.
static ACTION: AtomicUsize = AtomicUsize::new(0);
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Runs in the handler, with the context that the kernel gives it.
pub(super) type Action = fn(*mut c_void);

/// Threads that are interrupted until it is dropped.
pub(super) struct Interrupts {
    agent: &'static Agent,
    numbers: OsThreads,
    interval: Nanos,
    pace: Pace,
    /// By the system's number: the key, and its timer, or its processor time at the last look.
    threads: FxHashMap<u32, Target>,
    /// Whether threads have timers; else they are sent signals.
    have_timers: bool,
}

struct Target {
    key: ThreadKey,
    /// Kept for as long as the thread is.
    _timer: Option<Timer>,
    cpu: u64,
}

impl Interrupts {
    /// Begins, unless the signal is somebody else's. One at a time.
    pub(super) fn begin(
        agent: &'static Agent,
        env: *mut JNIEnv,
        interval: Nanos,
        action: Action,
    ) -> Result<Interrupts, String> {
        let numbers = OsThreads::find(agent, env)?;
        // Relaxed: the sampler's thread alone uses it.
        if !IS_INSTALLED.load(Ordering::Relaxed) {
            install()?;
            IS_INSTALLED.store(true, Ordering::Relaxed);
        }
        // ORDERING: Release; pairs with the Acquire in `handle`: what the action needs is there.
        ACTION.store(action as usize, Ordering::Release);
        let have_timers = interval >= kernel_tick();
        let (pace, threads) = (Pace::default(), FxHashMap::default());
        Ok(Interrupts { agent, numbers, interval, pace, threads, have_timers })
    }

    /// Interrupts who is due, or sees that the kernel does.
    pub(super) fn tick(&mut self, collector: &mut Collector<'_>, now: Nanos) {
        if self.pace.is_due(now) {
            self.refresh(collector, now);
        }
        if !self.have_timers {
            self.send();
        }
    }

    /// The key of the thread with this number of the system's.
    pub(super) fn key(&self, os_tid: u32) -> Option<ThreadKey> {
        self.threads.get(&os_tid).map(|target| target.key)
    }

    fn refresh(&mut self, collector: &mut Collector<'_>, now: Nanos) {
        let live = Live::look(self.agent, collector.env);
        let mut before = std::mem::take(&mut self.threads);
        for &thread in &live.threads {
            let Some(sampled) = collector.thread(thread, Some(&self.numbers), now) else { continue };
            if sampled.os_tid == 0 {
                continue;
            }
            let target = before.remove(&sampled.os_tid).unwrap_or_else(|| {
                let timer = self.have_timers.then(|| Timer::start(sampled.os_tid, self.interval)).flatten();
                Target { key: sampled.key, _timer: timer, cpu: 0 }
            });
            self.threads.insert(sampled.os_tid, Target { key: sampled.key, ..target });
        }
        self.pace.looked(now);
    }

    /// Interrupts the threads that run.
    fn send(&mut self) {
        for (&os_tid, target) in &mut self.threads {
            let cpu = ThreadClock::of(os_tid).read();
            if std::mem::replace(&mut target.cpu, cpu) != cpu && is_running(os_tid) {
                // SAFETY: no pointers are involved; a thread that has ended is an error.
                unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), os_tid, libc::SIGPROF) };
            }
        }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        // Relaxed: a signal that comes late does nothing, or does it in vain.
        ACTION.store(0, Ordering::Relaxed);
    }
}

/// How often the kernel looks at timers of processor time: when its own clock ticks.
fn kernel_tick() -> Nanos {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is valid to write.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut t) };
    Nanos(t.tv_nsec as u64)
}

/// Installs the handler, unless somebody else has one: that would be theirs, and their signals ours.
fn install() -> Result<(), String> {
    // SAFETY: zeros are a valid action with no handler; the pointers are valid.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGPROF, std::ptr::null(), &raw mut old);
        if old.sa_sigaction != libc::SIG_DFL && old.sa_sigaction != libc::SIG_IGN {
            return Err("SIGPROF is in use in this program (another profiler?); choose another engine".into());
        }
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handle as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigemptyset(&raw mut new.sa_mask);
        match libc::sigaction(libc::SIGPROF, &raw const new, std::ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(format!("SIGPROF: {}", std::io::Error::last_os_error())),
        }
    }
}

unsafe extern "C" fn handle(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // ORDERING: Acquire; pairs with the Release in `Interrupts::begin`.
    let action = ACTION.load(Ordering::Acquire);
    if action == 0 {
        return;
    }
    // SAFETY: an `Action` was stored there; errno's place is the thread's own.
    let (act, errno) = unsafe { (std::mem::transmute::<usize, Action>(action), *libc::__errno_location()) };
    act(context);
    // SAFETY: as above. What was interrupted may be about to read it.
    unsafe { *libc::__errno_location() = errno };
}

/// A timer of a thread's processor time, which sends that thread the signal.
struct Timer(libc::timer_t);

impl Timer {
    fn start(os_tid: u32, interval: Nanos) -> Option<Timer> {
        let mut timer = std::ptr::null_mut();
        let every = libc::timespec {
            tv_sec: (interval.0 / 1_000_000_000) as libc::time_t,
            tv_nsec: (interval.0 % 1_000_000_000) as libc::c_long,
        };
        let spec = libc::itimerspec { it_interval: every, it_value: every };
        // SAFETY: zeros are a valid event; all pointers are valid.
        unsafe {
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGPROF;
            event.sigev_notify_thread_id = os_tid as libc::pid_t;
            let clock = ThreadClock::of(os_tid).id();
            if libc::timer_create(clock, &raw mut event, &raw mut timer) != 0 {
                return None;
            }
            let timer = Timer(timer);
            (libc::timer_settime(timer.0, 0, &raw const spec, std::ptr::null_mut()) == 0).then_some(timer)
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: created by `start`, and deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::gettid;

    #[test]
    fn the_kernels_clock_ticks_a_hundred_to_a_thousand_times_a_second() {
        assert!((1_000_000..=10_000_000).contains(&kernel_tick().0), "{:?}", kernel_tick());
    }

    #[test]
    fn a_timer_of_processor_time_needs_a_thread_that_lives() {
        assert!(Timer::start(gettid(), Nanos(3_600_000_000_000)).is_some());
        let ended = std::thread::spawn(gettid).join().unwrap();
        assert!(Timer::start(ended, Nanos(1_000_000)).is_none());
    }
}
