//! `lookback lab min-heap`: finds the smallest heaps that an experiment's heaps are multiples of.
//!
//! The constraint that shaped it: it takes long and is interrupted, so what is found is on the disk at once and is not
//! searched for again.

use super::experiment::MINIMA;
use super::plan::PlanArgs;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::output::seconds;
use crate::progress::Progress as Bar;
use crate::table::table;
use crate::verbs::{Streams, stdout};
use clap::{Args, ValueHint};
use lookback_lab::heap::{Finder, Found, Key, Progress, Rule, find};
use lookback_lab::machine::{System, resolve};
use std::path::PathBuf;

/// Arguments of `lookback lab min-heap`.
#[derive(Debug, Args)]
pub(crate) struct MinHeapArgs {
    #[command(flatten)]
    plan: PlanArgs,
    /// The file of minimum heaps
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, default_value = MINIMA)]
    out: PathBuf,
    /// Search for this workload only
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Search with this collector only
    #[arg(long, value_name = "NAME")]
    collector: Option<String>,
    /// How many runs of how many must end well for a size to pass
    #[arg(long, value_name = "K/N", default_value = "3/3", value_parser = passes)]
    passes: (u32, u32),
    /// The largest heap to try; three quarters of the available memory at most
    #[arg(long, value_name = "SIZE", value_parser = lookback_options::parse_bytes)]
    most: Option<u64>,
    /// Search again for what the file has
    #[arg(long)]
    again: bool,
}

/// `K/N`.
fn passes(text: &str) -> std::result::Result<(u32, u32), String> {
    let number = |part: &str| part.trim().parse::<u32>().ok().filter(|&n| n > 0);
    let parts = text.split_once('/').and_then(|(k, n)| number(k).zip(number(n)));
    parts.filter(|(k, n)| k <= n).ok_or_else(|| "write it as K/N with K at most N, such as 3/3 or 4/5".into())
}

/// Searches, and prints what was found.
pub(crate) fn run(args: &MinHeapArgs, streams: &mut Streams<'_>) -> Result<()> {
    let (plan, cells) = args.plan.load_searches(&args.out, streams)?;
    let (passes, of) = args.passes;
    let finder = Finder {
        file: args.out.clone(),
        rule: Rule { passes, of, ..Rule::new(args.most.unwrap_or(u64::MAX)) },
        workload: args.workload.clone(),
        collector: args.collector.clone(),
        again: args.again,
        harness: args.plan.harness(),
    };
    let cores = resolve(&plan.pin).map_err(Error::Lab)?;
    interrupt::watch();
    let bar = Bar::steps();
    let mut current = String::new();
    let tell = &mut |progress: &Progress<'_>| match progress {
        Progress::Begins { key, jdk, done, all, before } => {
            current = name(key, jdk);
            bar.at(*done as u64, *all as u64);
            bar.say(&current);
            if *before > 0 {
                bar.suspend(|| streams.note(&format!("{current}: going on after {before} runs")));
            }
        }
        Progress::Ran { bytes: heap, outcome, runs } => {
            let outcome = printable(&outcome.to_string());
            let line = format!("{current}: run {runs}, {} MiB: {outcome}", heap >> 20);
            // In a log, too, a search of many minutes is seen to go on.
            if bar.is_hidden() { streams.note(&line) } else { bar.say(&line) }
        }
        Progress::Ended { found } => {
            let end = format!("{}: {}", name(&found.key, &found.jdk), result(found));
            bar.suspend(|| streams.note(&end));
        }
        _ => {}
    };
    let found = find(&plan, &cells, &finder, &mut System::new(&cores), &interrupt::asked, tell);
    drop(bar);
    let rows: Vec<Vec<String>> = found
        .map_err(Error::Lab)?
        .iter()
        .map(|found| {
            let minimum = found.minimum.as_ref();
            vec![
                printable(&found.key.workload),
                printable(&found.jdk),
                printable(&found.key.collector),
                minimum.map_or("-".into(), |minimum| format!("{} MiB", minimum.bytes >> 20)),
                minimum.map_or("-".into(), |minimum| minimum.runs.to_string()),
                minimum.map_or_else(
                    || result(found),
                    |minimum| format!("{} on {}", minimum.found, printable(&minimum.host)),
                ),
            ]
        })
        .collect();
    table(streams.out, &["WORKLOAD", "JDK", "COLLECTOR", "MINIMUM", "RUNS", "FOUND"], &rows).map_err(stdout)
}

fn name(key: &Key, jdk: &str) -> String {
    printable(&format!("{} {jdk} {}", key.workload, key.collector))
}

fn result(found: &Found) -> String {
    match (&found.minimum, &found.last_failure) {
        (Some(minimum), _) => format!(
            "{} MiB after {} runs; longer than {} counted as failed",
            minimum.bytes >> 20,
            minimum.runs,
            seconds(minimum.limit_ns as f64 / 1e9)
        ),
        (None, Some(failure)) => {
            format!("not even the largest heap passed: {}", printable(&failure.to_string()))
        }
        (None, None) => "not even the largest heap passed".into(),
    }
}
