//! The agent's own threads, and whether they are gone.
//!
//! The constraint that shaped it: a later attachment maps other memory where theirs is, so it must know that none of them
//! is left. Each holds one end of a channel that nobody writes to; the last that ends closes it. What they take is asked of
//! each one's own clock, which must not be asked once its thread has ended: another may have its number. And each thread of the
//! program asks at its start whether it is one of them, so no thread-local variable says so: memory for one is allocated at the
//! first look, on each new thread.

use crate::clock::{self, ThreadClock};
use lookback_jvmti::native_thread;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The library's numbers of those that run now; 0 where there is none. There are never so many.
static RUNNING: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];

/// Whether the current thread is one of them: it is never traced.
pub(crate) fn is_current() -> bool {
    let me = number();
    // Relaxed: what another thread writes is never the current one's number.
    RUNNING.iter().any(|running| running.load(Ordering::Relaxed) == me)
}

/// The library's number of the current thread, never 0.
fn number() -> u64 {
    // SAFETY: no arguments.
    unsafe { libc::pthread_self() }
}

/// Puts `to` where `from` stands.
fn replace(from: u64, to: u64) {
    // Relaxed: each thread looks for its own number only.
    let is_there =
        |at: &&AtomicU64| at.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    let _ = RUNNING.iter().find(is_there);
}

/// The threads.
pub(crate) struct Helpers {
    alive: Mutex<Option<Sender<()>>>,
    gone: Mutex<Receiver<()>>,
    taken: Arc<Mutex<Taken>>,
}

/// Processor time.
#[derive(Default)]
struct Taken {
    running: Vec<ThreadClock>,
    /// By those that have ended, nanoseconds.
    ended: u64,
}

/// One of them, while it runs.
struct Running {
    clock: Option<ThreadClock>,
    taken: Arc<Mutex<Taken>>,
    /// Dropped last.
    _alive: Sender<()>,
}

impl Running {
    fn begin(taken: Arc<Mutex<Taken>>, alive: Sender<()>) -> Running {
        let clock = ThreadClock::own();
        replace(0, number());
        lock(&taken).running.extend(clock);
        Running { clock, taken, _alive: alive }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        replace(number(), 0);
        let mut taken = lock(&self.taken);
        taken.running.retain(|clock| Some(*clock) != self.clock);
        taken.ended += clock::thread_cpu();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Default for Helpers {
    fn default() -> Self {
        let (alive, gone) = channel();
        Helpers { alive: Mutex::new(Some(alive)), gone: Mutex::new(gone), taken: Arc::default() }
    }
}

impl Helpers {
    /// Starts one.
    ///
    /// # Errors
    /// In words, when the system gives no thread or none is to be started any more.
    pub(crate) fn start(&self, name: &str, f: impl FnOnce() + Send + 'static) -> Result<(), String> {
        let alive = lock(&self.alive).clone();
        let alive = alive.ok_or("the agent leaves this process")?;
        let taken = Arc::clone(&self.taken);
        native_thread(name, move || {
            let _running = Running::begin(taken, alive);
            f();
        })
    }

    /// Processor time that all of them have taken, nanoseconds.
    pub(crate) fn cpu(&self) -> u64 {
        let taken = lock(&self.taken);
        taken.ended + taken.running.iter().map(|clock| clock.read()).sum::<u64>()
    }

    /// Starts none any more, and waits until all have ended; false when some are left.
    pub(crate) fn are_gone(&self, most: Duration) -> bool {
        lock(&self.alive).take();
        let gone = lock(&self.gone);
        gone.recv_timeout(most) == Err(RecvTimeoutError::Disconnected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_gone_when_the_last_has_ended() {
        let helpers = Helpers::default();
        let (end, ended) = channel::<()>();
        helpers.start("one", move || ended.recv().unwrap_or(())).unwrap();
        helpers.start("other", || {}).unwrap();
        assert!(!helpers.are_gone(Duration::from_millis(1)));
        drop(end);
        assert!(helpers.are_gone(Duration::from_secs(60)));
        assert!(helpers.start("late", || {}).is_err());
    }

    #[test]
    fn what_they_take_is_counted_while_they_run_and_after() {
        let helpers = Helpers::default();
        let (end, ended) = channel::<()>();
        let (tell, told) = channel();
        let work = move || {
            while clock::thread_cpu() < 5_000_000 {}
            tell.send(()).unwrap();
            ended.recv().unwrap_or(());
        };
        helpers.start("busy", work).unwrap();
        told.recv().unwrap();
        assert!(helpers.cpu() >= 5_000_000);
        drop(end);
        assert!(helpers.are_gone(Duration::from_secs(60)));
        assert!(helpers.cpu() >= 5_000_000);
    }

    #[test]
    fn each_knows_that_it_is_one() {
        let helpers = Helpers::default();
        let (tell, told) = channel();
        helpers.start("one", move || tell.send(is_current()).unwrap_or(())).unwrap();
        assert_eq!((told.recv(), is_current()), (Ok(true), false));
        assert!(helpers.are_gone(Duration::from_secs(60)));
        let other = std::thread::spawn(is_current);
        assert!(!other.join().unwrap(), "it may have the number of one that has ended");
    }

    #[test]
    fn one_that_panics_is_gone() {
        let helpers = Helpers::default();
        helpers.start("bad", || std::panic::resume_unwind(Box::new(()))).unwrap();
        assert!(helpers.are_gone(Duration::from_secs(60)));
    }
}
