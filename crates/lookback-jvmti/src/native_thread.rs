//! Threads of an agent's own.
//!
//! The constraint that shaped it: they live in somebody else's process. The program's signals are not theirs to
//! handle, and a panic ends the thread and nothing else.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Starts a thread on which no signal of the program is handled.
///
/// # Errors
/// In words, when the system gives no thread.
pub fn native_thread(name: &str, f: impl FnOnce() + Send + 'static) -> Result<(), String> {
    // SAFETY: zeros are a valid signal set; both calls get valid pointers.
    let old = unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
        old
    };
    let body = move || {
        let _ = catch_unwind(AssertUnwindSafe(f));
    };
    let spawned = std::thread::Builder::new().name(name.into()).spawn(body);
    // SAFETY: the set saved above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, std::ptr::null_mut()) };
    spawned.map(drop).map_err(|e| format!("cannot start the thread {name}: {e}"))
}
