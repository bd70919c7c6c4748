//! Why a class file could not be read at all.
//!
//! Constraint: the bytes come from any class loader of any program, so every
//! failure is an ordinary value with the facts needed to find the spot.
//! A single bad method is not an error: it is left alone and counted, see
//! [`crate::SkipReason`]. This file must not know how errors are shown.

use std::fmt;

/// A class file that cannot be read; nothing of it was rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes end before the structure that begins or continues at `offset` does.
    Truncated {
        /// Byte offset in the class file of the read that did not fit.
        offset: usize,
    },
    /// The first four bytes are not `CAFEBABE`.
    BadMagic {
        /// What stood there, big-endian.
        found: u32,
    },
    /// Older than 45.3 (Java 1.1): the `Code` attribute had narrower fields then.
    UnsupportedVersion {
        /// Major version.
        major: u16,
        /// Minor version.
        minor: u16,
    },
    /// A constant pool entry has a tag that no specification defines, so its length is unknown.
    UnknownConstant {
        /// Index of the entry.
        index: u16,
        /// The tag found.
        tag: u8,
    },
    /// A constant pool index is zero, out of range, or names an entry of another kind.
    BadConstant {
        /// The index as found in the class file.
        index: u16,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::Truncated { offset } => {
                write!(f, "class file not read: it ends inside the structure at byte {offset}")
            }
            Error::BadMagic { found } => {
                write!(f, "class file not read: it begins with {found:08x} instead of cafebabe")
            }
            Error::UnsupportedVersion { major, minor } => {
                write!(f, "class file not read: version {major}.{minor} is older than 45.3 (Java 1.1)")
            }
            Error::UnknownConstant { index, tag } => {
                write!(f, "class file not read: constant pool entry {index} has the unknown tag {tag}")
            }
            Error::BadConstant { index } => {
                write!(f, "class file not read: constant pool index {index} is not of the kind needed there")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<crate::reader::Cut> for Error {
    fn from(cut: crate::reader::Cut) -> Self {
        Error::Truncated { offset: cut.at }
    }
}
