//! The one error of this crate.
//!
//! Counters that the machine refuses are no errors: the report says so, and the rest is measured.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Result of what the harness does.
pub type Result<T> = std::result::Result<T, Error>;

/// Why nothing is measured, or why a mark does not count.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An option is not one, or its value is not.
    Option {
        /// As it was given.
        given: String,
        /// What is wrong with it.
        why: String,
    },
    /// `out=FILE` is missing.
    NoOutput,
    /// An operation on a file or a socket failed.
    Io {
        /// What was tried, as an infinitive: "open", "listen on".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The VM refused something that cannot be done without.
    Vm {
        /// What was asked for, and how it was refused.
        why: String,
    },
    /// An iteration begins before the last has ended.
    Open {
        /// The workload whose iteration has not ended.
        name: String,
        /// Its number.
        iteration: i32,
    },
    /// Something ends that has not begun.
    NotBegun {
        /// The workload that was named.
        name: String,
        /// The number that was named.
        iteration: i32,
    },
    /// Requests without an iteration that they could belong to, or not as many ends as starts.
    Requests {
        /// What is wrong.
        why: &'static str,
    },
    /// A series without an iteration that it could belong to, or without values.
    Series {
        /// Its name.
        name: String,
    },
    /// A value that is no finite number.
    NotFinite {
        /// Its name.
        name: String,
    },
    /// A name of more bytes than names have.
    NameTooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// A line that is no command.
    Command {
        /// What is wrong.
        why: &'static str,
    },
    /// A line of a report that is none.
    Report {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Option { given, why } => write!(
                f,
                "the option '{given}' {why}; the options are out=FILE, memory=MAX:TOTAL, socket=PATH and pauses=on|off"
            ),
            Error::NoOutput => write!(f, "no file to write to is named: out=FILE"),
            Error::Io { what, path, source } => write!(f, "cannot {what} {}: {source}", path.display()),
            Error::Vm { why } => write!(f, "{why}"),
            Error::Open { name, iteration } => {
                write!(f, "iteration {iteration} of {name} has not ended; one is measured at a time")
            }
            Error::NotBegun { name, iteration } => {
                write!(f, "iteration {iteration} of {name} has not begun, so it cannot end")
            }
            Error::Requests { why } => write!(f, "{why}"),
            Error::Series { name } => {
                write!(f, "the series {name} has no values, or is told before its iteration has ended")
            }
            Error::NotFinite { name } => write!(f, "the value {name} is not a finite number"),
            Error::NameTooLong { bytes } => write!(
                f,
                "a name of {bytes} bytes; a name has at least one byte and at most {}",
                crate::session::MOST_NAME
            ),
            Error::Command { why } => {
                write!(f, "{why}; the commands are: begin NAME K, end NAME K, value NAME X")
            }
            Error::Report { line, source } => {
                write!(f, "line {line} is not of a report of this harness: {source}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            Error::Report { source, .. } => Some(source),
            _ => None,
        }
    }
}
