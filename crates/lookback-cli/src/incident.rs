//! Opens incident files, and turns what is wrong with them into errors with their names.

use crate::error::{Error, Result};
use crate::progress::Progress;
use lookback_analysis::Recording;
use lookback_format::incident::Reader;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Opens an incident.
///
/// # Errors
/// [`Error::Read`] or [`Error::Format`].
pub(crate) fn open(file: &Path) -> Result<Reader<BufReader<File>>> {
    let read = |error| Error::Read { file: file.to_owned(), error };
    let opened = File::open(file).map_err(read)?;
    Reader::open(BufReader::new(opened)).map_err(|error| match error {
        lookback_format::Error::Io(error) => read(error),
        error => Error::Format { file: file.to_owned(), error },
    })
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
