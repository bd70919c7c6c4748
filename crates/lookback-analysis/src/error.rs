//! The one error of this crate.
//!
//! Damage inside an incident is no error: it is counted and shown, and the rest is decoded. An error is what
//! leaves nothing to show.

use std::fmt;

/// Result of an analysis.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is nothing to show.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The page's template has no place for the data.
    Template {
        /// The mark that was looked for.
        placeholder: &'static str,
        /// How often it was found.
        found: usize,
    },
    /// A file of JDK Flight Recorder cannot be read.
    Jfr {
        /// Why.
        why: String,
    },
    /// The writer handed in failed.
    Io(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Template { placeholder, found } => write!(
                f,
                "the page's template must hold {placeholder} once and holds it {found} times; build the page anew"
            ),
            Error::Jfr { why } => write!(f, "{why}"),
            Error::Io(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(e) => Some(e),
            Error::Template { .. } | Error::Jfr { .. } => None,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        Error::Io(e)
    }
}
