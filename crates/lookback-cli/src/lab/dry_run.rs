//! `lookback lab plan`: what an experiment would run, in which order, how long it takes, and what is missing for it.
//!
//! The constraint that shaped it: a run takes hours, so all of it can be looked at before. Nothing is started here, and
//! what rests on a guess says so.

use super::experiment::ExperimentArgs;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::output::seconds;
use crate::table::{facts, table};
use crate::verbs::{Streams, stdout};
use clap::{Args, ValueHint};
use lookback_lab::experiment::{Missing, Resolved, guess_seconds};
use lookback_lab::plan::{Basis, Cell, Durations, Estimate, Plan, Shard};
use lookback_lab::run::{Harness, command_line};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Arguments of `lookback lab plan`.
#[derive(Debug, Args)]
pub(crate) struct DryRunArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// The part of one machine of several: K of N
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// A results directory whose durations the estimate is made from
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "lab-results/NAME")]
    results: PathBuf,
    /// Print the whole plan as JSON
    #[arg(long)]
    json: bool,
    /// Print what an invocation of this cell runs, for a shell; the begin of its identity is enough
    #[arg(long, value_name = "CELL", conflicts_with = "json")]
    command: Option<String>,
}

/// How many entries of the order are shown.
const FIRST: usize = 10;

/// Prints the plan.
pub(crate) fn run(args: &DryRunArgs, streams: &mut Streams<'_>) -> Result<()> {
    let mut resolved = args.experiment.resolve(streams)?;
    if let Some(shard) = args.shard {
        resolved.plan = resolved.plan.shard(shard);
    }
    let plan = &resolved.plan;
    if let Some(id) = &args.command {
        return print_command(id, plan, args.experiment.tools.harness().as_ref(), streams);
    }
    let results = if args.results == Path::new("lab-results/NAME") {
        Path::new("lab-results").join(&plan.name)
    } else {
        args.results.clone()
    };
    let estimate = Estimate::of(plan, &Durations::read(&results), guess_seconds);
    if args.json {
        return print_json(&resolved, &estimate, streams);
    }
    print(&resolved, &estimate, args.shard, streams).map_err(stdout)
}

/// The directory that an invocation by hand gets.
const BY_HAND: &str = "/tmp/lookback-invocation";

fn print_command(id: &str, plan: &Plan, harness: Option<&Harness>, streams: &mut Streams<'_>) -> Result<()> {
    let cells: Vec<_> = plan.cells.iter().filter(|cell| cell.id.0.starts_with(id)).collect();
    let [cell] = cells.as_slice() else {
        let what = match cells.len() {
            0 => format!("no cell of the plan is called {id}"),
            count => format!("{count} cells of the plan begin with {id}"),
        };
        let hint = "`lookback lab plan` without --command lists the cells".into();
        return Err(Error::Usage { what: printable(&what), hint });
    };
    let line = command_line(cell, Path::new(BY_HAND), harness).map_err(Error::Lab)?;
    // An invocation's directory is made before it starts, with a directory to work in.
    writeln!(streams.out, "mkdir -p {BY_HAND}/work && cd {BY_HAND}/work && {}", printable(line.trim_end()))
        .map_err(stdout)
}

fn print_json(resolved: &Resolved, estimate: &Estimate, streams: &mut Streams<'_>) -> Result<()> {
    let basis = |basis| estimate.bases.get(&basis).copied().unwrap_or(0);
    let all = json!({
        "plan": resolved.plan,
        "missing": resolved.missing.iter().map(Missing::to_string).collect::<Vec<_>>(),
        "left_out": resolved.skipped.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "estimate": {
            "seconds": estimate.total.as_secs_f64(),
            "invocations_measured": basis(Basis::Cell),
            "invocations_by_workload": basis(Basis::Workload),
            "invocations_guessed": basis(Basis::Guess),
        },
    });
    writeln!(streams.out, "{all:#}").map_err(stdout)
}

fn print(
    resolved: &Resolved,
    estimate: &Estimate,
    shard: Option<Shard>,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let plan = &resolved.plan;
    let out = &mut *streams.out;
    let part = shard.map(|shard| format!(", shard {shard}")).unwrap_or_default();
    let mut rows = vec![("experiment", format!("{}{part}", plan.name))];
    if !plan.about.is_empty() {
        rows.push(("about", printable(&plan.about)));
    }
    for jdk in &plan.jdks {
        rows.push(("JDK", printable(&format!("{}: {} in {}", jdk.name, jdk.version, jdk.home.display()))));
    }
    rows.push(("cells", plan.cells.len().to_string()));
    rows.push(("invocations", plan.order.len().to_string()));
    rows.push(("time", time(estimate)));
    facts(out, &rows)?;
    writeln!(out)?;
    let rows: Vec<_> = plan.cells.iter().map(|cell| row(cell, plan)).collect();
    table(out, &["CELL", "WORKLOAD", "JDK", "CONFIGURATION", "HEAP", "ITERATIONS", "INVOCATIONS"], &rows)?;
    let first = plan.order.iter().take(FIRST).map(|one| {
        let cell = &plan.cells[one.cell];
        vec![
            one.number.to_string(),
            cell.workload.clone(),
            cell.jdk.clone(),
            cell.configuration.clone(),
            heap(cell),
        ]
    });
    let first: Vec<_> = first.collect();
    if !first.is_empty() {
        writeln!(out, "\nIt begins with:")?;
        table(out, &["BLOCK", "WORKLOAD", "JDK", "CONFIGURATION", "HEAP"], &first)?;
    }
    if !resolved.missing.is_empty() {
        writeln!(out, "\nMissing before it can run:")?;
        for missing in &resolved.missing {
            writeln!(out, "- {}", printable(&missing.to_string()))?;
        }
        let hint =
            lookback_lab::Error::Incomplete { path: PathBuf::new(), missing: resolved.missing.clone() }
                .hint();
        writeln!(out, "  try: {hint}")?;
    }
    Ok(())
}

fn row(cell: &Cell, plan: &Plan) -> Vec<String> {
    let index = plan.cells.iter().position(|other| other.id == cell.id);
    let count = plan.order.iter().filter(|one| Some(one.cell) == index).count();
    let measured: Vec<_> = cell.measured.iter().map(u32::to_string).collect();
    vec![
        cell.id.to_string(),
        printable(&cell.workload),
        printable(&cell.jdk),
        printable(&cell.configuration),
        heap(cell),
        format!("{} (measured: {})", cell.iterations, measured.join(", ")),
        count.to_string(),
    ]
}

fn heap(cell: &Cell) -> String {
    match cell.heap {
        None => "-".into(),
        Some(heap) => match heap.multiple {
            Some(multiple) => format!("{multiple:.2}x, {} MiB", heap.bytes >> 20),
            None => format!("{} MiB", heap.bytes >> 20),
        },
    }
}

fn time(estimate: &Estimate) -> String {
    let count = |basis| estimate.bases.get(&basis).copied().unwrap_or(0);
    let of = [
        (count(Basis::Cell), "as measured"),
        (count(Basis::Workload), "by other cells of the workload"),
        (count(Basis::Guess), "guessed"),
    ];
    let of: Vec<_> =
        of.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let basis = if of.is_empty() { String::new() } else { format!(" (invocations: {})", of.join(", ")) };
    format!("about {}{basis}", seconds(estimate.total.as_secs_f64()))
}
