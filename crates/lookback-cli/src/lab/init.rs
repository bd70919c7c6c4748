//! `lookback lab init`: an experiment's file to begin with.
//!
//! The constraint that shaped it: what is printed is valid as it is, for a test resolves the same text.

use crate::error::Result;
use crate::verbs::{Streams, stdout};
use clap::Args;
use clap::builder::PossibleValuesParser;
use lookback_lab::experiment::EXAMPLES;

/// Arguments of `lookback lab init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// What it is about: collectors, tracers, or programs without a JVM
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "gc",
        value_parser = PossibleValuesParser::new(EXAMPLES.map(|example| example.name))
    )]
    like: String,
}

/// Prints the example.
pub(crate) fn run(args: &InitArgs, streams: &mut Streams<'_>) -> Result<()> {
    let example = EXAMPLES.iter().find(|example| example.name == args.like);
    write!(streams.out, "{}", example.map_or("", |example| example.text)).map_err(stdout)
}
