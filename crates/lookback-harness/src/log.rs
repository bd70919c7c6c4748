//! The few lines that the harness prints, on standard error.
//!
//! The constraint that shaped it: the program's own output stays as it is. Each line is one write and begins with
//! `[lookback-harness]`. A closed standard error is no error.

use std::io::Write;

/// Prints one line.
#[cold]
pub(crate) fn line(text: &str) {
    let line = format!("[lookback-harness] {}\n", text.replace('\n', " "));
    let _ = std::io::stderr().write_all(line.as_bytes());
}
