//! The agent's own threads, and whether they are gone.
//!
//! The constraint that shaped it: a later attachment maps other memory where theirs is, so it must know that none of them
//! is left. Each holds one end of a channel that nobody writes to; the last that ends closes it.

use lookback_jvmti::native_thread;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The threads.
pub(crate) struct Helpers {
    alive: Mutex<Option<Sender<()>>>,
    gone: Mutex<Receiver<()>>,
}

impl Default for Helpers {
    fn default() -> Self {
        let (alive, gone) = channel();
        Helpers { alive: Mutex::new(Some(alive)), gone: Mutex::new(gone) }
    }
}

impl Helpers {
    /// Starts one.
    ///
    /// # Errors
    /// In words, when the system gives no thread or none is to be started any more.
    pub(crate) fn start(&self, name: &str, f: impl FnOnce() + Send + 'static) -> Result<(), String> {
        let alive = self.alive.lock().unwrap_or_else(|e| e.into_inner()).clone();
        let alive = alive.ok_or("the agent leaves this process")?;
        native_thread(name, move || {
            f();
            drop(alive);
        })
    }

    /// Starts none any more, and waits until all have ended; false when some are left.
    pub(crate) fn are_gone(&self, most: Duration) -> bool {
        self.alive.lock().unwrap_or_else(|e| e.into_inner()).take();
        let gone = self.gone.lock().unwrap_or_else(|e| e.into_inner());
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
    fn one_that_panics_is_gone() {
        let helpers = Helpers::default();
        helpers.start("bad", || std::panic::resume_unwind(Box::new(()))).unwrap();
        assert!(helpers.are_gone(Duration::from_secs(60)));
    }
}
