//! Reading an experiment's file for the verbs that take one, and saying all that is wrong with it.
//!
//! The constraint that shaped it: a file is checked in full, so there are many problems in one error; each is a line of
//! its own, `FILE:LINE:COLUMN: what`, which editors and terminals know how to follow.

use super::tools::ToolsArgs;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::verbs::Streams;
use clap::{Args, ValueHint};
use lookback_lab::experiment::{Resolved, resolve};
use lookback_lab::heap::Minima;
use std::path::{Path, PathBuf};

/// Where minimum heaps are kept unless it is said otherwise.
pub(super) const MINIMA: &str = "lab-results/min-heap.jsonl";

/// Arguments that name an experiment.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    /// The experiment's file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// The file of minimum heaps
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, default_value = MINIMA)]
    min_heap: PathBuf,
    #[command(flatten)]
    pub(super) tools: ToolsArgs,
}

impl ExperimentArgs {
    /// The file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Reads and resolves it.
    pub(crate) fn resolve(&self, streams: &mut Streams<'_>) -> Result<Resolved> {
        read(&self.file, &self.tools, &self.min_heap, streams)
    }
}

/// Says all that is wrong with an experiment, or missing, line by line, before the error itself.
pub(super) fn told(error: lookback_lab::Error, streams: &mut Streams<'_>) -> Error {
    match &error {
        lookback_lab::Error::Experiment { problems, .. } => {
            for problem in problems {
                // A closed standard error is nobody's concern.
                let _ = writeln!(streams.notes, "{}", printable(&problem.to_string()));
            }
        }
        lookback_lab::Error::Incomplete { missing, .. } => {
            missing.iter().for_each(|one| streams.note(&printable(&one.to_string())));
        }
        _ => {}
    }
    Error::Lab(error)
}

/// Reads and resolves an experiment's file; what is wrong, and what is left out, is said line by line.
pub(super) fn read(
    file: &Path,
    tools: &ToolsArgs,
    minima: &Path,
    streams: &mut Streams<'_>,
) -> Result<Resolved> {
    let minima = Minima::read(minima).map_err(Error::Lab)?;
    let resolved = resolve(file, &tools.surroundings(), &minima).map_err(|error| told(error, streams))?;
    for skipped in &resolved.skipped {
        streams.note(&printable(&skipped.to_string()));
    }
    Ok(resolved)
}
