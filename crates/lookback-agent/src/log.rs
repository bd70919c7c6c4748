//! The few lines that the agent prints, on standard error.
//!
//! The constraint that shaped it: the program's own output stays as it is. Each line is one write, begins
//! with `[lookback]`, and all are silent with `quiet=on`. A closed standard error is no error.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// Silences [`line`] from now on.
pub(crate) fn set_quiet(quiet: bool) {
    // Relaxed: a line more or less at the moment of the change does no harm.
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Prints one line.
pub(crate) fn line(text: &str) {
    // Relaxed: see `set_quiet`.
    if !QUIET.load(Ordering::Relaxed) {
        let line = format!("[lookback] {}\n", text.replace('\n', " "));
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}
