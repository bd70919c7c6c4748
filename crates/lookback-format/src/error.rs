//! The one error of this crate: what is wrong with some bytes, and where.

use std::fmt;

/// Result of reading or writing one of Lookback's formats.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with some bytes.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not of this format at all.
    Foreign {
        /// The format that was expected.
        expected: &'static str,
        /// The first bytes found, for the message.
        found: Vec<u8>,
    },
    /// Written by another version of Lookback.
    Version {
        /// The format.
        what: &'static str,
        /// The version found.
        found: u32,
        /// The newest version that this build reads.
        supported: u32,
    },
    /// Fewer bytes than the format needs.
    Truncated {
        /// The part that is cut.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes there.
        found: u64,
    },
    /// A field holds a value that cannot be.
    Corrupt {
        /// The part.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A section that every incident has is not there.
    Missing {
        /// Name of the section.
        section: String,
    },
    /// The stream handed in failed.
    Io(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Foreign { expected, found } => {
                write!(f, "not {expected}: it begins with {:02x?}", &found[..found.len().min(8)])
            }
            Error::Version { what, found, supported } => write!(
                f,
                "{what} has format version {found}, this build reads up to {supported}; use a Lookback that is as new as the one that wrote it"
            ),
            Error::Truncated { what, needed, found } => {
                write!(f, "{what} is cut short: {needed} bytes needed, {found} there")
            }
            Error::Corrupt { what, why } => write!(f, "{what} is damaged: {why}"),
            Error::Missing { section } => write!(f, "the section {section} is missing"),
            Error::Io(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(e) => Some(e),
            _ => None,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        Error::Io(e)
    }
}
