//! `lookback lab sensitivity`: whether it matters what programs are told of their heap.
//!
//! The constraint that shaped it: the answer is a sentence a workload, and beside it stands the largest difference, so
//! that "does not matter" can be seen to be more than "was not looked at". Nothing here decides.

use super::experiment::MINIMA;
use super::figures::{change, changes, p_value, value};
use super::plan::PlanArgs;
use super::watch::watched;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::table::table;
use crate::verbs::{Streams, stdout};
use clap::{Args, ValueHint};
use lookback_lab::comparison::Question;
use lookback_lab::results::read_of;
use lookback_lab::run::Options;
use lookback_lab::sensitivity::{CONSTANTS, Found, Matters, OfWorkload, Study, plan, study};
use std::path::PathBuf;

/// Arguments of `lookback lab sensitivity`.
#[derive(Debug, Args)]
pub(crate) struct SensitivityArgs {
    #[command(flatten)]
    plan: PlanArgs,
    /// Study this workload only
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Study with this collector only
    #[arg(long, value_name = "NAME")]
    collector: Option<String>,
    /// The file of minimum heaps
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, default_value = MINIMA)]
    min_heap: PathBuf,
    /// The directory of results [default: lab-results/NAME-sensitivity]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    /// Run only the first N invocations of each cell
    #[arg(long, value_name = "N")]
    invocations: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs what is left of the study and says what it found.
pub(crate) fn run(args: &SensitivityArgs, streams: &mut Streams<'_>) -> Result<()> {
    let (base, source) = args.plan.load(&args.min_heap, streams)?;
    let plan = plan(&base, args.workload.as_deref(), args.collector.as_deref()).map_err(Error::Lab)?;
    let directory = args.out.clone().unwrap_or_else(|| PathBuf::from("lab-results").join(&plan.name));
    let options = Options {
        directory: directory.clone(),
        source,
        invocations: args.invocations,
        harness: args.plan.harness(),
        ..Options::default()
    };
    watched(&plan, &options, streams)?;
    let records = read_of(&directory, &plan).map_err(Error::Lab)?;
    let found = study(&records, &Question::of("cpu")).map_err(Error::Lab)?;
    if args.json {
        return crate::verbs::control::json(&found, streams);
    }
    show(&found, streams)
}

fn show(found: &Study, streams: &mut Streams<'_>) -> Result<()> {
    let head = [
        "WORKLOAD",
        "CONFIGURATION",
        "METRIC",
        "LARGEST AT",
        "N",
        "WITH 512m:128m",
        "BY IT",
        "INTERVAL",
        "P",
    ];
    let rows: Vec<_> =
        found.workloads.iter().flat_map(|of| of.largest.iter().map(|one| row(of, one))).collect();
    table(streams.out, &head, &rows).map_err(stdout)?;
    for of in &found.workloads {
        writeln!(streams.out, "{}", printable(&words(of))).map_err(stdout)?;
    }
    let remark = format!(
        "P: adjusted for {} comparisons with {CONSTANTS} (Holm), told at {}. LARGEST AT: what maxMemory and totalMemory \
         answered (own: the truth) and the heap at which a metric differs most, told or not.",
        found.tests, found.alpha
    );
    writeln!(streams.out, "{remark}").map_err(stdout)
}

fn row(of: &OfWorkload, one: &Found) -> Vec<String> {
    let difference = &one.by.difference;
    vec![
        printable(&of.workload),
        printable(&of.configuration),
        one.metric.clone(),
        at(one),
        one.by.pairs.to_string(),
        value(&one.metric, one.by.levels[0]),
        change(difference.ratio.value),
        changes(difference.ratio.interval),
        p_value(difference.adjusted_p),
    ]
}

fn at(one: &Found) -> String {
    format!("{} {}", one.answer, one.heap)
}

/// What was found of a workload, in a sentence or two.
fn words(of: &OfWorkload) -> String {
    let name = format!("{} under {}", of.workload, of.configuration);
    let mut words = match of.matters {
        Matters::No => format!("{name}: the chosen constants do not matter"),
        Matters::Truth => format!("{name}: it reads its heap, and the chosen constants do not matter"),
        Matters::Constants => format!("{name}: it reads its heap, and the chosen constants matter"),
        _ => format!("{name}: nothing could be compared"),
    };
    let asks = [(of.reads_maximum, "maxMemory"), (of.reads_total, "totalMemory")];
    let asks: Vec<_> = asks.iter().filter(|(asks, _)| *asks).map(|(_, what)| *what).collect();
    if !asks.is_empty() {
        words += &format!("; it asks for {}", asks.join(" and "));
    }
    let told: Vec<_> = of
        .told
        .iter()
        .map(|one| format!("{} {} at {}", one.metric, change(one.by.difference.ratio.value), at(one)))
        .collect();
    if !told.is_empty() {
        words += &format!(": {}", told.join(", "));
    }
    for failing in &of.failing {
        words += &format!(
            "; at {} {}: {} (with {CONSTANTS}: {})",
            failing.answer, failing.heap, failing.tally, failing.with_constants
        );
    }
    if of.untested > 0 {
        words += &format!("; {} of {} comparisons had too few values", of.untested, of.untested + of.tested);
    }
    words
}
