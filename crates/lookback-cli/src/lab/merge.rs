//! `lookback lab merge`: results of several directories in one.
//!
//! The constraint that shaped it: it may be made again while shards still run, and adds what is new.

use crate::control::printable;
use crate::error::{Error, Result};
use crate::verbs::{Streams, stdout};
use clap::{Args, ValueHint};
use lookback_lab::results::{Merged, merge};
use std::path::{Path, PathBuf};

/// Arguments of `lookback lab merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Directories of results
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, required = true)]
    sources: Vec<PathBuf>,
    /// The directory that they go into; it may have results already
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: PathBuf,
}

/// Merges.
pub(crate) fn run(args: &MergeArgs, streams: &mut Streams<'_>) -> Result<()> {
    merge_into(&args.sources, &args.out, streams)
}

/// Merges, and says what came of it.
pub(super) fn merge_into(sources: &[PathBuf], out: &Path, streams: &mut Streams<'_>) -> Result<()> {
    let Merged { added, known } = merge(sources, out).map_err(Error::Lab)?;
    let out = printable(&out.display().to_string());
    writeln!(streams.out, "{out}: {added} records added, {known} were there").map_err(stdout)
}
