//! `lookback lab export`: all records for other tools.
//!
//! The constraint that shaped it: nothing is chosen and nothing rounded; who wants less takes it from the file.

use crate::error::{Error, Result};
use crate::output::{self, Access, bytes};
use crate::verbs::Streams;
use clap::{Args, ValueEnum};
use lookback_lab::results::{self, Record, write_csv, write_jsonl, write_parquet};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Arguments of `lookback lab export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The directory of results, or of a published run
    dir: PathBuf,
    /// Where to write; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The format; without it, the file's name says it
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Replace a file that is there
    #[arg(short, long)]
    force: bool,
}

/// The formats of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Apache Parquet, a row an iteration
    Parquet,
    /// Comma-separated values, a row an iteration
    Csv,
    /// A record a line
    Jsonl,
}

impl Format {
    fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "parquet" => Some(Format::Parquet),
            "csv" => Some(Format::Csv),
            "jsonl" => Some(Format::Jsonl),
            _ => None,
        }
    }
}

/// Exports.
pub(crate) fn run(args: &ExportArgs, streams: &mut Streams<'_>) -> Result<()> {
    let format = args.format.or_else(|| Format::of(&args.output)).ok_or_else(|| Error::Usage {
        what: format!("{} is no name of an export", args.output.display()),
        hint: "name it .parquet, .csv or .jsonl, or say --format".into(),
    })?;
    output::check(&args.output, args.force)?;
    let records = results::read(&args.dir)?;
    let path = &args.output;
    if output::is_stdout(path) {
        // Past the stream that takes colours away: Parquet is no text.
        return write(&records, format, io::stdout(), path);
    }
    let size = output::write(path, args.force, Access::Usual, |file| write(&records, format, file, path))?;
    let shown = crate::control::printable(&path.display().to_string());
    streams.note(&format!("{shown}  {}, {} records", bytes(size), records.len()));
    Ok(())
}

fn write<W: Write + Send>(records: &[Record], format: Format, out: W, path: &Path) -> Result<()> {
    let out = BufWriter::with_capacity(1 << 20, out);
    let done = match format {
        Format::Parquet => write_parquet(records, out, path),
        Format::Csv => write_csv(records, out, path),
        Format::Jsonl => write_jsonl(records, out, path),
    };
    done.map_err(|error| match error {
        lookback_lab::Error::Write { error, .. } => output::failed(path)(error),
        error => error.into(),
    })
}
