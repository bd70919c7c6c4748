//! Ctrl-C and SIGTERM as a wish to end, for verbs that run until then.
//!
//! The constraint that shaped it: a handler may do next to nothing, so it sets a flag, and whoever waits looks at
//! it. A second Ctrl-C ends the command at once, whatever it is doing.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn ask(_: i32) {
    // Relaxed: a flag that says all there is to say.
    ASKED.store(true, Ordering::Relaxed);
}

/// Takes Ctrl-C and SIGTERM from now on.
pub(crate) fn watch() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: zeros are a valid sigaction, the handler only stores into an atomic, and the pointers are valid or null.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ask as *const () as usize;
            // Reset by the first one: the second has its usual effect.
            action.sa_flags = libc::SA_RESETHAND;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Whether somebody has asked for the end.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
