//! `lookback lab modifiers`: the modifiers that every experiment has.
//!
//! The constraint that shaped it: it shows what they add to a command line, for that is what a configuration means.

use crate::error::Result;
use crate::table::table;
use crate::verbs::{Streams, stdout};
use clap::Args;
use lookback_lab::experiment::modifiers;
use serde_json::json;

/// Arguments of `lookback lab modifiers`.
#[derive(Debug, Args)]
pub(crate) struct ModifiersArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints all modifiers.
pub(crate) fn run(args: &ModifiersArgs, streams: &mut Streams<'_>) -> Result<()> {
    let all = modifiers();
    if args.json {
        let all: Vec<_> = all
            .iter()
            .map(|m| json!({"name": m.name, "about": m.about, "java": m.versions, "adds": m.adds}))
            .collect();
        return writeln!(streams.out, "{}", json!(all)).map_err(stdout);
    }
    let java = |versions: &str| if versions.is_empty() { "any".to_owned() } else { versions.to_owned() };
    let rows: Vec<_> = all
        .iter()
        .map(|m| vec![m.name.clone(), java(&m.versions), m.about.clone(), m.adds.join(" ")])
        .collect();
    table(streams.out, &["NAME", "JAVA", "WHAT", "ADDS"], &rows).map_err(stdout)
}
