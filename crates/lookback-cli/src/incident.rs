//! Opens incident files, and ring files as the incident that a snapshot makes of them; turns what is wrong with them into errors with their names.

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::ring_file::{self, RingFile, is_ring_file};
use lookback_analysis::Recording;
use lookback_format::incident::Reader;
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, Write};
use std::path::Path;

/// Opens an incident, or a ring file.
///
/// # Errors
/// [`Error::Read`] or [`Error::Format`].
pub(crate) fn open(file: &Path) -> Result<Reader<BufReader<File>>> {
    let read = |error| Error::Read { file: file.to_owned(), error };
    let opened = match is_ring_file(file) {
        true => snapshot(file)?,
        false => File::open(file).map_err(read)?,
    };
    Reader::open(BufReader::new(opened)).map_err(|error| match error {
        lookback_format::Error::Io(error) => read(error),
        error => Error::Format { file: file.to_owned(), error },
    })
}

/// A snapshot of a ring file, in a file without a name.
fn snapshot(ring: &Path) -> Result<File> {
    let failed = |error| Error::Write { file: std::env::temp_dir(), error };
    let mut file = tempfile::tempfile().map_err(failed)?;
    {
        let progress = Progress::bytes("reading the ring");
        let mut out = BufWriter::with_capacity(1 << 20, &mut file);
        ring_file::write(RingFile::open(ring)?, &mut out, ring, &mut |done, all| progress.at(done, all))?;
        out.flush().map_err(failed)?;
    }
    file.rewind().map_err(failed)?;
    Ok(file)
}

/// Opens and decodes an incident. Damage is within the result.
///
/// # Errors
/// As [`open`].
pub(crate) fn load(file: &Path) -> Result<Recording> {
    let mut reader = open(file)?;
    let _spinner = Progress::spinner("decoding the incident");
    Ok(Recording::load(&mut reader))
}
