//! The records that a verb's figures are made of.
//!
//! The constraint that shaped it: a directory may hold records of cells that were changed since; that they are left out is
//! said, and not on standard output, where tools read figures.

use crate::error::{Error, Result};
use crate::verbs::Streams;
use lookback_lab::results::{Record, read_settled};
use std::path::Path;

/// The records of a directory that figures are made of; says how many others lie there.
pub(super) fn settled(dir: &Path, streams: &mut Streams<'_>) -> Result<Vec<Record>> {
    let found = read_settled(dir).map_err(Error::Lab)?;
    let dir = dir.display();
    match found.changed {
        0 => {}
        1 => streams.note(&format!("{dir}: left out one attempt of a cell that was changed since")),
        n => streams.note(&format!("{dir}: left out {n} attempts of cells that were changed since")),
    }
    Ok(found.records)
}
