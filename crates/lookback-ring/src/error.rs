//! What can go wrong: a memory area that is no ring ([`Error`]), an event that was not recorded
//! ([`Dropped`]). Both carry facts only; nothing here prints, and nothing here allocates, because a
//! dropped event is reported from the hot path.

use core::fmt;

/// Why a memory area cannot be formatted or opened as a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The area does not begin with the magic word.
    NotARing,
    /// The area was written by another version of the layout.
    Version {
        /// The version found in the header.
        found: u64,
        /// The version this build reads and writes.
        supported: u64,
    },
    /// A geometry no ring can have.
    Geometry {
        /// Which condition does not hold.
        rule: &'static str,
        /// The offending value.
        value: u64,
    },
    /// The area is shorter than its geometry needs.
    TooShort {
        /// Bytes needed.
        needed: u64,
        /// Bytes given.
        given: u64,
    },
    /// Another resize is under way.
    Resizing {
        /// Its process id, in its own namespace.
        pid: u32,
    },
    /// The area does not begin at a multiple of 4096.
    Misaligned {
        /// Address modulo 4096.
        remainder: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::NotARing => write!(f, "the memory area is not a ring: it does not begin with LKBRING1"),
            Error::Version { found, supported } => {
                write!(f, "the ring has layout version {found}, but only version {supported} can be read")
            }
            Error::Geometry { rule, value } => {
                write!(f, "the ring's geometry is invalid: {rule}, got {value}")
            }
            Error::TooShort { needed, given } => {
                write!(f, "the memory area is too short for the ring: {needed} bytes needed, {given} given")
            }
            Error::Resizing { pid } => write!(f, "process {pid} is resizing the ring"),
            Error::Misaligned { remainder } => {
                write!(f, "the memory area begins {remainder} bytes after a multiple of 4096")
            }
        }
    }
}

impl core::error::Error for Error {}

/// Why one event was not recorded. The ring has already counted it (see [`crate::Losses`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dropped {
    /// Every metadata block is held by a writer that has not confirmed.
    Blocked,
    /// Other writers of the core filled each new block before this one got room in it.
    Contended,
    /// The event is larger than a block can hold.
    TooLarge,
    /// The ring has used up its sequence of block positions.
    Exhausted,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dropped::Blocked => "event dropped: every metadata block is held by a stalled writer",
            Dropped::Contended => "event dropped: other writers filled each new block first",
            Dropped::TooLarge => "event dropped: it is larger than a block",
            Dropped::Exhausted => "event dropped: the sequence of block positions is used up",
        })
    }
}

impl core::error::Error for Dropped {}
