//! `lookback lab check`: whether an experiment's file is valid here.
//!
//! The constraint that shaped it: it says all that `lookback lab run` could find wrong before it starts anything, and
//! changes nothing, so that an editor or a hook can run it.

use super::experiment::ExperimentArgs;
use crate::control::printable;
use crate::error::Result;
use crate::verbs::{Streams, stdout};
use clap::Args;

/// Arguments of `lookback lab check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
}

/// Checks the file.
pub(crate) fn run(args: &CheckArgs, streams: &mut Streams<'_>) -> Result<()> {
    let resolved = args.experiment.resolve(streams)?;
    let file = args.experiment.file().display().to_string();
    let missing = match resolved.missing.len() {
        0 => String::new(),
        count => format!("; {count} missing before it can run, see `lookback lab plan`"),
    };
    let plan = &resolved.plan;
    writeln!(
        streams.out,
        "{} is valid: {} cells, {} invocations{missing}",
        printable(&file),
        plan.cells.len(),
        plan.order.len()
    )
    .map_err(stdout)
}
