//! `lookback lab run`: runs what is left of an experiment.
//!
//! The constraint that shaped it: it is started, interrupted and started again with the same words, and each time it
//! says first what it found.

use super::experiment::MINIMA;
use super::plan::PlanArgs;
use super::watch::watched;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::output::seconds;
use crate::table::table;
use crate::verbs::{Streams, stdout};
use clap::{Args, ValueHint};
use lookback_lab::plan::{HeapSize, Plan, Shard};
use lookback_lab::run::{Left, Options, Selection, Status, Summary};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `lookback lab run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    plan: PlanArgs,
    /// The part of one machine of several: K of N; may be given several times
    #[arg(long, value_name = "K/N")]
    shard: Vec<Shard>,
    /// The name that results have for this machine [default: its own]
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// The file of minimum heaps
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, default_value = MINIMA)]
    min_heap: PathBuf,
    /// The directory of results [default: lab-results/NAME]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    /// Run only cells whose workload or configuration matches; may be given several times, `*` stands for anything
    #[arg(long, value_name = "PATTERN")]
    only: Vec<String>,
    /// Run only the first N invocations of each cell
    #[arg(long, value_name = "N")]
    invocations: Option<u32>,
    /// Go on with cells whose first two invocations failed in the same way
    #[arg(long)]
    keep_failing: bool,
    /// Run nothing; show what is done, what is left, and how long that takes
    #[arg(long)]
    dry_run: bool,
}

/// Runs the plan.
pub(crate) fn run(args: &RunArgs, streams: &mut Streams<'_>) -> Result<()> {
    let (plan, source) = args.plan.load(&args.min_heap, streams)?;
    let plan = if args.shard.is_empty() { plan } else { plan.shards(&args.shard) };
    let directory = args.out.clone().unwrap_or_else(|| PathBuf::from("lab-results").join(&plan.name));
    let shown = printable(&directory.display().to_string());
    let options = Options {
        directory,
        source,
        selection: Selection::new(&args.only, &plan).map_err(Error::Lab)?,
        invocations: args.invocations,
        keep_failing: args.keep_failing,
        harness: args.plan.harness(),
        host: args.host.clone(),
    };
    if args.dry_run {
        return show(&plan, &options, streams);
    }
    let summary = watched(&plan, &options, streams)?;
    writeln!(streams.out, "{shown}: {}", words(&summary)).map_err(stdout)
}

/// A run in a line.
fn words(summary: &Summary) -> String {
    let Summary { all, before, good, failed, disturbed, skipped, repeated } = *summary;
    let mut parts = vec![format!("{good} good")];
    let counts = [
        (failed, "failed"),
        (disturbed, "disturbed at each attempt"),
        (skipped, "skipped"),
        (repeated, "run again"),
    ];
    parts.extend(counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
    let known = if before > 0 { format!(", {before} were done before") } else { String::new() };
    format!("{} of {all} invocations: {}{known}", all - before, parts.join(", "))
}

/// What would be done.
fn show(plan: &Plan, options: &Options, streams: &mut Streams<'_>) -> Result<()> {
    let status = Status::of(plan, options).map_err(Error::Lab)?;
    let time =
        |time: Option<Duration>| time.map_or("not known yet".into(), |time| seconds(time.as_secs_f64()));
    let rows: Vec<Vec<String>> = status
        .cells
        .iter()
        .map(|of| {
            vec![
                of.cell.id.to_string(),
                printable(&of.cell.workload),
                printable(&of.cell.jdk),
                printable(&of.cell.configuration),
                of.cell.heap.map_or("-".into(), heap),
                format!("{}/{}", of.done, of.all),
                of.failing.as_ref().map_or_else(
                    || time(of.time),
                    |failing| format!("given up: {}", printable(&failing.to_string())),
                ),
            ]
        })
        .collect();
    let head = ["CELL", "WORKLOAD", "JDK", "CONFIGURATION", "HEAP", "DONE", "AN INVOCATION"];
    table(streams.out, &head, &rows).map_err(stdout)?;
    let left = status.left;
    let time = time(left.time.filter(|_| left.done < left.all || left.all == 0));
    let rest = left.all - left.done;
    let rest = if rest == 0 { "nothing is left".into() } else { format!("{rest} are left: {time}") };
    writeln!(streams.out, "{} of {} invocations are done; {rest}", left.done, left.all).map_err(stdout)?;
    if status.strangers > 0 {
        streams.note(&of_other_plans(status.strangers, &left));
    }
    Ok(())
}

/// What is told of cells that are not of the plan: when some of the plan's own are done and others are left, also that figures of
/// two times of the machine would be compared.
pub(super) fn of_other_plans(strangers: usize, left: &Left) -> String {
    let told =
        format!("{strangers} cells with results there are not of this plan; they are kept and take no part");
    if left.done == 0 || left.done == left.all {
        return told;
    }
    format!(
        "{told}. What is left is measured at another time than what is done: where the two are compared, measure all \
         anew with --out NEW-DIRECTORY"
    )
}

/// A heap for people.
pub(super) fn heap(heap: HeapSize) -> String {
    let size = format!("{} MiB", heap.bytes >> 20);
    heap.multiple.map_or_else(|| size.clone(), |multiple| format!("{multiple:.2}x ({size})"))
}
