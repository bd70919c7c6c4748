//! `lookback lab metrics`: the lab's own metrics as a table or as JSON.
//!
//! The constraint that shaped it: the table in the library is the only place where a metric is described.

use crate::error::Result;
use crate::table::table;
use crate::verbs::{Streams, stdout};
use clap::Args;
use lookback_lab::metric::{METRICS, Unit};
use serde_json::json;

/// Arguments of `lookback lab metrics`.
#[derive(Debug, Args)]
pub(crate) struct MetricsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "ns",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
        Unit::Percent => "%",
    }
}

/// Prints all metrics.
pub(crate) fn run(args: &MetricsArgs, streams: &mut Streams<'_>) -> Result<()> {
    if args.json {
        let all: Vec<_> = METRICS
            .iter()
            .map(|m| json!({"name": m.name, "title": m.title, "unit": unit(m.unit), "about": m.about}))
            .collect();
        return writeln!(streams.out, "{}", json!(all)).map_err(stdout);
    }
    let rows: Vec<_> =
        METRICS.iter().map(|m| vec![m.name.into(), unit(m.unit).into(), m.about.into()]).collect();
    table(streams.out, &["NAME", "UNIT", "WHAT"], &rows).map_err(stdout)
}
