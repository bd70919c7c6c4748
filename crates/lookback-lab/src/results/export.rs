//! Records for other tools, as text: comma-separated values and JSON lines.
//!
//! The constraint that shaped it: both are streams of plain values without rounding; what is shown to people is made
//! by [`crate::report`]. It must not choose among records: those that do not count are there, marked.

use super::columns::{Columns, Value};
use super::record::Record;
use crate::error::{Error, Result};
use std::io::{self, Write};
use std::path::Path;

/// Writes a row an iteration by RFC 4180, with the columns of [`super::write_parquet`]; an empty field is null.
/// `path` is for messages.
///
/// # Errors
/// [`Error::Write`] when the stream fails.
pub fn write_csv(records: &[Record], out: impl Write, path: &Path) -> Result<()> {
    let failed = |error: csv::Error| Error::Write { path: path.to_owned(), error: io::Error::other(error) };
    let table = Columns::of(records);
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    if !table.columns.is_empty() {
        writer.write_record(table.columns.iter().map(|column| &column.name)).map_err(failed)?;
    }
    for row in 0..table.rows {
        writer.write_record(table.columns.iter().map(|column| text(&column.values[row]))).map_err(failed)?;
    }
    writer.flush().map_err(|error| Error::Write { path: path.to_owned(), error })
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Unsigned(value) => value.map(|value| value.to_string()),
        Value::Number(value) => value.map(|value| value.to_string()),
        Value::Truth(value) => value.map(|value| value.to_string()),
    }
    .unwrap_or_default()
}

/// Writes a record a line, as it stands in `results.jsonl`. `path` is for messages.
///
/// # Errors
/// [`Error::Write`] when the stream fails.
pub fn write_jsonl(records: &[Record], mut out: impl Write, path: &Path) -> Result<()> {
    let failed = |error| Error::Write { path: path.to_owned(), error };
    for record in records {
        serde_json::to_writer(&mut out, record).map_err(|error| failed(error.into()))?;
        out.write_all(b"\n").map_err(failed)?;
    }
    out.flush().map_err(failed)
}
