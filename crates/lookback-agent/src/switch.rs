//! Whether the program is to be traced now.
//!
//! The constraint that shaped it: while tracing is off nothing of ours may wake up, so who has nothing to do then sleeps
//! here until it is on again, or has ended for good.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Condvar, Mutex};

const OFF: u8 = 0;
const ON: u8 = 1;
const ENDED: u8 = 2;

/// A switch.
pub(crate) struct Switch {
    state: AtomicU8,
    lock: Mutex<()>,
    changed: Condvar,
}

/// What became of waiting for a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// It was on already.
    On,
    /// It is on now.
    Waited,
    /// It never will be again.
    Ended,
}

impl Switch {
    pub(crate) fn new(on: bool) -> Switch {
        Switch { state: AtomicU8::new(u8::from(on)), lock: Mutex::new(()), changed: Condvar::new() }
    }

    pub(crate) fn is_on(&self) -> bool {
        // Relaxed: threads of the program that see it late are told by their polls.
        self.state.load(Ordering::Relaxed) == ON
    }

    /// Turns it on or off, unless it has ended; whether that changed it.
    pub(crate) fn set(&self, on: bool) -> bool {
        let _lock = self.lock.lock().unwrap_or_else(|e| e.into_inner());
        let (was, new) = if on { (OFF, ON) } else { (ON, OFF) };
        self.changed.notify_all();
        self.state.compare_exchange(was, new, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Turns it off for good.
    pub(crate) fn end(&self) {
        let _lock = self.lock.lock().unwrap_or_else(|e| e.into_inner());
        self.changed.notify_all();
        self.state.store(ENDED, Ordering::Relaxed);
    }

    /// Returns when it is on, or has ended; at once, and without a lock, when it is on already.
    pub(crate) fn until_on(&self) -> Until {
        if self.is_on() {
            return Until::On;
        }
        // Relaxed: changed under the lock.
        let state = || self.state.load(Ordering::Relaxed);
        let lock = self.lock.lock().unwrap_or_else(|e| e.into_inner());
        drop(self.changed.wait_while(lock, |()| state() == OFF).unwrap_or_else(|e| e.into_inner()));
        if state() == ENDED { Until::Ended } else { Until::Waited }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_woken() {
        let switch = Switch::new(false);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| switch.until_on());
            assert!(!switch.set(false) && switch.set(true));
            waiting.join().unwrap();
        });
        assert!(switch.until_on() == Until::On && switch.is_on());
    }

    #[test]
    fn who_waits_is_woken_by_the_end_and_nothing_turns_it_on_again() {
        let switch = Switch::new(false);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| switch.until_on());
            switch.end();
            assert_eq!(waiting.join().unwrap(), Until::Ended);
        });
        assert!(!switch.set(true) && !switch.is_on());
        assert_eq!(switch.until_on(), Until::Ended);
    }
}
