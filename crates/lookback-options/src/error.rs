//! What is wrong with an option: which key, which value, why, and what would be right.

use std::fmt;

/// A bad option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No key has this name.
    UnknownKey {
        /// The name given.
        key: String,
        /// The key that comes nearest.
        nearest: Option<&'static str>,
    },
    /// A key without `=value`.
    NoValue {
        /// The key.
        key: String,
    },
    /// A value that its key cannot take.
    BadValue {
        /// The key.
        key: String,
        /// The value given.
        value: String,
        /// Why not.
        why: String,
        /// A value that would be right.
        example: &'static str,
    },
    /// `lookback.toml` cannot be read as TOML.
    BadFile {
        /// The parser's words, with the line.
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownKey { key, nearest: Some(n) } => {
                write!(f, "unknown option '{key}'; did you mean '{n}'?")
            }
            Error::UnknownKey { key, nearest: None } => {
                write!(f, "unknown option '{key}'; `lookback config` lists all")
            }
            Error::NoValue { key } => write!(f, "option '{key}' has no value; write {key}=VALUE"),
            Error::BadValue { key, value, why, example } => {
                write!(f, "option {key}={value}: {why}; for example {key}={example}")
            }
            Error::BadFile { why } => write!(f, "lookback.toml: {why}"),
        }
    }
}

impl std::error::Error for Error {}
