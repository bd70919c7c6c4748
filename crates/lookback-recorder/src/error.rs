//! What can go wrong when a recorder is created or opened. Recording itself has no errors: what is not recorded is
//! counted.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a recorder could not be created or opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is such a file already.
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// An operation on the file failed.
    Io {
        /// What was tried, as an infinitive: "open", "map".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The file system has no room.
    NoSpace {
        /// The file.
        path: PathBuf,
        /// Bytes asked for.
        bytes: u64,
    },
    /// It is a directory, a device or the like.
    NotAFile {
        /// What was given.
        path: PathBuf,
    },
    /// The file is no ring file, of another version, cut short or damaged.
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: lookback_format::Error,
    },
    /// The ring in the file is damaged or of another version, or none can be made of the size asked for.
    Ring {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: lookback_ring::Error,
    },
    /// The file was made before the machine was started last: its clock has begun anew since.
    OtherBoot {
        /// The file.
        path: PathBuf,
    },
    /// The file's times are of a counter that this machine does not have.
    Clock {
        /// The file.
        path: PathBuf,
        /// The clock.
        clock: lookback_format::ring_file::ClockKind,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exists { path } => {
                write!(f, "{} is there already; open it, or remove it first", path.display())
            }
            Error::Io { what, path, source } => write!(f, "cannot {what} {}: {source}", path.display()),
            Error::NoSpace { path, bytes } => write!(
                f,
                "no room for {} MiB at {}; choose a smaller ring or another file system",
                bytes.div_ceil(1 << 20),
                path.display()
            ),
            Error::NotAFile { path } => write!(f, "{} is not a regular file; name a file", path.display()),
            Error::Format { path, source } => write!(f, "cannot use {}: {source}", path.display()),
            Error::Ring { path, source } => write!(f, "cannot use {}: {source}", path.display()),
            Error::OtherBoot { path } => write!(
                f,
                "{} was made before this machine was started last; take a snapshot of it and create another",
                path.display()
            ),
            Error::Clock { path, clock } => write!(
                f,
                "{} has times of the clock {clock:?}, which this machine does not have; create another file",
                path.display()
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            Error::Format { source, .. } => Some(source),
            Error::Ring { source, .. } => Some(source),
            _ => None,
        }
    }
}
