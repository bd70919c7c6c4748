//! Files of JSON lines that are appended to and survive a kill: `results.jsonl`, `min-heap.jsonl`.
//!
//! The constraint that shaped it: a line is there whole or not at all. So each is one write, is on the disk before
//! anything goes on (`fdatasync`), and is taken back when it fails half-way. A kill in the middle of that one write
//! leaves a last line without an end: it is cut off when the file is opened for writing, and passed over by readers.
//! A damaged line anywhere else was not written by this code, so it is an error and never skipped.

use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What a file of lines holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Read<T> {
    /// Its lines, in the order in which they were written.
    pub lines: Vec<T>,
    /// Bytes of a last line that was not written to its end; 0 for a whole file.
    pub torn: usize,
}

/// Reads all lines of a file; a file that is not there has none.
///
/// # Errors
/// [`Error::Read`], and [`Error::Damaged`] with the number of a line that is not what it should be.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Read<T>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Read { lines: Vec::new(), torn: 0 });
        }
        Err(error) => return Err(Error::Read { path: path.to_owned(), error }),
    };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = Vec::new();
    for (i, line) in bytes[..whole].split_inclusive(|&byte| byte == b'\n').enumerate() {
        let damaged = |why: serde_json::Error| Error::Damaged {
            path: path.to_owned(),
            line: i + 1,
            why: why.to_string(),
        };
        lines.push(serde_json::from_slice(line).map_err(damaged)?);
    }
    Ok(Read { lines, torn: bytes.len() - whole })
}

/// A file of lines, open for appending.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    length: u64,
}

impl Lines {
    /// Opens a file, or makes it, and cuts off a torn last line.
    ///
    /// # Errors
    /// [`Error::Write`], and those of [`read_lines`].
    pub fn open<T: DeserializeOwned>(path: &Path) -> Result<(Lines, Read<T>)> {
        let read = read_lines(path)?;
        let failed = |error| Error::Write { path: path.to_owned(), error };
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(failed)?;
        let length = file.seek(SeekFrom::End(0)).map_err(failed)? - read.torn as u64;
        file.set_len(length).map_err(failed)?;
        Ok((Lines { path: path.to_owned(), file, length }, read))
    }

    /// Appends a line; it is on the disk when this returns.
    ///
    /// # Errors
    /// [`Error::Write`]; then nothing of the line is left in the file.
    pub fn append<T: Serialize>(&mut self, line: &T) -> Result<()> {
        let mut bytes = serde_json::to_vec(line).map_err(|error| self.failed(error.into()))?;
        bytes.push(b'\n');
        // One write: a process that is killed cannot come between two.
        let written = self.file.write_all(&bytes).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // If that fails too, the next opening cuts the line off.
            let _ = self.file.set_len(self.length);
            return Err(self.failed(error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::Write { path: self.path.clone(), error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_is_passed_over_by_readers_and_cut_off_by_the_writer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("numbers");
        let (mut lines, before) = Lines::open::<u32>(&path).unwrap();
        assert_eq!(before, Read { lines: vec![], torn: 0 });
        lines.append(&1).unwrap();
        lines.append(&2).unwrap();
        let whole = std::fs::read(&path).unwrap();
        // Torn at each byte of a third line, also one that would be a number by itself.
        for torn in ["3", "34", "34\u{0}"] {
            std::fs::write(&path, [&whole[..], torn.as_bytes()].concat()).unwrap();
            assert_eq!(read_lines::<u32>(&path).unwrap(), Read { lines: vec![1, 2], torn: torn.len() });
            let (mut lines, read_again) = Lines::open::<u32>(&path).unwrap();
            assert_eq!(read_again.torn, torn.len());
            lines.append(&9).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n9\n");
        }
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_told_with_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("numbers");
        for text in ["1\nx\n3\n", "1\n\n3\n", "1\n\"a\"\n"] {
            std::fs::write(&path, text).unwrap();
            let failed = Lines::open::<u32>(&path).unwrap_err();
            assert!(matches!(&failed, Error::Damaged { line: 2, .. }), "{failed}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "nothing is changed");
        }
        assert!(
            matches!(read_lines::<u32>(dir.path()), Err(Error::Read { .. })),
            "a directory is not a file of no lines"
        );
    }

    #[test]
    fn a_full_disk_is_an_error_and_lines_before_it_stay() {
        // Every write to it fails for want of room.
        let full = Path::new("/dev/full");
        let file = OpenOptions::new().append(true).open(full).unwrap();
        let mut lines = Lines { path: full.into(), file, length: 0 };
        let failed = lines.append(&"x").unwrap_err();
        assert!(failed.hint().contains("free some space"), "{failed}: {}", failed.hint());
    }
}
