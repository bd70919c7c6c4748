//! One file a verb, or a family of verbs: from checked arguments to what the user reads.
//!
//! The constraint that shaped them: a verb writes its result to `out` and its side remarks to `notes`, and
//! returns an error; it neither prints by itself nor exits.

pub(crate) mod attach;
pub(crate) mod config;
pub(crate) mod control;
pub(crate) mod convert;
pub(crate) mod info;
pub(crate) mod ls;
pub(crate) mod profile;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod report;
pub(crate) mod resize;
pub(crate) mod run;
pub(crate) mod snapshot;

use crate::control::printable;
use crate::error::Error;
use lookback_format::units::count;
use std::collections::BTreeMap;
use std::io::Write;

/// Where a verb writes.
pub(crate) struct Streams<'a> {
    /// Standard output: the result.
    pub(crate) out: &'a mut dyn Write,
    /// Standard error: remarks.
    pub(crate) notes: &'a mut dyn Write,
}

impl Streams<'_> {
    /// A remark; a closed standard error is nobody's concern.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = writeln!(self.notes, "lookback: {text}");
    }
}

/// Standard output failed.
pub(crate) fn stdout(error: std::io::Error) -> Error {
    Error::Stdout(error)
}

/// Text from a file or another process, safe for a terminal, with a word for none.
pub(crate) fn named(text: &str) -> String {
    if text.is_empty() { "(unknown)".to_owned() } else { printable(text) }
}

/// A count, with what it counts: `1,234 abstract`.
pub(crate) fn counted(n: u64, what: &str) -> String {
    format!("{} {}", count(n), printable(what))
}

/// Lines below each other, with a word for none.
pub(crate) fn lines(lines: impl IntoIterator<Item = String>, none: &str) -> String {
    let lines: Vec<_> = lines.into_iter().collect();
    if lines.is_empty() { none.to_owned() } else { lines.join("\n") }
}

/// What was lost, by cause.
pub(crate) fn losses(by_cause: &BTreeMap<String, u64>) -> String {
    lines(by_cause.iter().map(|(cause, n)| counted(*n, cause)), "none")
}
