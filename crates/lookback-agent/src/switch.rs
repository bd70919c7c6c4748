//! Whether the program is to be traced now.
//!
//! The constraint that shaped it: while tracing is off nothing of ours may wake up, so who has nothing to do then sleeps
//! here until it is on again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

/// A switch.
pub(crate) struct Switch {
    on: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Switch {
    pub(crate) fn new(on: bool) -> Switch {
        Switch { on: AtomicBool::new(on), lock: Mutex::new(()), changed: Condvar::new() }
    }

    pub(crate) fn is_on(&self) -> bool {
        // Relaxed: threads of the program that see it late are told by their polls.
        self.on.load(Ordering::Relaxed)
    }

    /// Turns it on or off; whether that changed it.
    pub(crate) fn set(&self, on: bool) -> bool {
        let _lock = self.lock.lock().unwrap_or_else(|e| e.into_inner());
        self.changed.notify_all();
        self.on.swap(on, Ordering::Relaxed) != on
    }

    /// Returns when it is on; at once, and without a lock, when it is already. Gives whether it had to wait.
    pub(crate) fn until_on(&self) -> bool {
        if self.is_on() {
            return false;
        }
        let lock = self.lock.lock().unwrap_or_else(|e| e.into_inner());
        drop(self.changed.wait_while(lock, |()| !self.is_on()).unwrap_or_else(|e| e.into_inner()));
        true
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
        assert!(!switch.until_on() && switch.is_on());
    }
}
