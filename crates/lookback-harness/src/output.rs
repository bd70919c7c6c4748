//! The file that the report goes to.
//!
//! The constraint that shaped it: a full disk loses data, never the program, and a line is there whole or not at all. Each
//! is one write at the file's end; one that was cut is taken back. Several JVMs may write to one file: it is never
//! emptied.

use crate::error::{Error, Result};
use crate::log;
use crate::report::Line;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The open file.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    path: PathBuf,
    lost: bool,
}

impl Output {
    pub(crate) fn open(path: &Path) -> Result<Output> {
        let file = OpenOptions::new().append(true).create(true).open(path);
        let file = file.map_err(|source| Error::Io { what: "open", path: path.to_owned(), source })?;
        Ok(Output { file, path: path.to_owned(), lost: false })
    }

    /// Appends a line. The first that cannot be written is one warning; so are all after it together.
    pub(crate) fn write(&mut self, line: &Line) {
        let written = serde_json::to_vec(line).map_err(io::Error::from).and_then(|mut bytes| {
            bytes.push(b'\n');
            self.append(&bytes)
        });
        if let Err(e) = written
            && !std::mem::replace(&mut self.lost, true)
        {
            log::line(&format!(
                "cannot write to {}: {e}; what does not fit is lost, the program goes on",
                self.path.display()
            ));
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        let written = loop {
            match self.file.write(bytes) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                written => break written?,
            }
        };
        if written < bytes.len() {
            // Not a regular file when it cannot be cut; then the reader finds a torn line.
            let _ = self.file.set_len(before);
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{self, Stop};

    #[test]
    fn lines_are_appended_and_a_file_that_cannot_be_written_does_no_harm() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out.jsonl");
        let line = |mono_ns| Line::Stop(Stop { mono_ns, unfinished: None });
        for mono_ns in [1, 2] {
            Output::open(&path).expect("it opens").write(&line(mono_ns));
        }
        let text = std::fs::read_to_string(&path).expect("it is there");
        assert_eq!(report::read(&text).expect("a report"), [line(1), line(2)]);

        let mut full = Output::open(Path::new("/dev/full")).expect("it opens");
        full.write(&line(3));
        assert!(full.lost);
        full.write(&line(4));

        let missing = Output::open(&dir.path().join("no/such/dir")).expect_err("no directory");
        assert!(missing.to_string().starts_with("cannot open "), "{missing}");
    }
}
