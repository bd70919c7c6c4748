//! `lookback lab self-check`: whether the lab itself tells the truth.
//!
//! The constraint that shaped it: it runs for an hour and more and is interrupted, and its figures are read by machines
//! as those of the other benchmarks are. Nothing here judges.

use super::experiment::told;
use super::tools::ToolsArgs;
use super::watch::Watch;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::verbs::{Streams, stdout};
use clap::{Args, ValueHint};
use lookback_lab::self_check::{Extent, Finding, Progress, SelfCheck};
use std::path::PathBuf;

/// Arguments of `lookback lab self-check`.
#[derive(Debug, Args)]
pub(crate) struct SelfCheckArgs {
    /// How often a configuration is compared with itself [default: 40, with --quick 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    aa: Option<u32>,
    /// Show within some minutes that all parts work, on a busy machine too: small programs, a slowdown of 50 % instead of
    /// 2 %, and nothing counts as disturbed
    #[arg(long)]
    quick: bool,
    /// The directory of results [default: lab-results/self-check, with --quick lab-results/self-check-quick]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    #[command(flatten)]
    tools: ToolsArgs,
}

/// Runs the checks; fails when one of them does.
pub(crate) fn run(args: &SelfCheckArgs, streams: &mut Streams<'_>) -> Result<()> {
    let (extent, name) =
        if args.quick { (Extent::QUICK, "self-check-quick") } else { (Extent::WHOLE, "self-check") };
    let check = SelfCheck {
        directory: args.out.clone().unwrap_or_else(|| PathBuf::from("lab-results").join(name)),
        extent: Extent { comparisons: args.aa.unwrap_or(extent.comparisons), ..extent },
        around: args.tools.surroundings(),
        harness: args.tools.harness(),
    };
    interrupt::watch();
    let mut watch = Watch::new(streams);
    let found = check.run(&interrupt::asked, &mut |progress| match progress {
        Progress::Begins { plan, number, all } => watch.line(&format!(
            "{number} of {all}: {}: {}: {} invocations",
            plan.name,
            printable(&plan.about),
            plan.order.len()
        )),
        Progress::Event(event) => watch.event(event),
        Progress::Found(finding) => watch.line(&words(finding)),
        _ => {}
    });
    drop(watch);
    let found = found.map_err(|error| told(error, streams))?;
    for finding in &found {
        for value in &finding.values {
            let digits = if value.unit == "count" { 0 } else { 4 };
            let line = format!("self-check.{}.{} {:.digits$}", finding.check, value.name, value.value);
            writeln!(streams.out, "result {line} {}", value.unit).map_err(stdout)?;
        }
        let passed = u8::from(finding.passed);
        writeln!(streams.out, "result self-check.{}.passed {passed} count", finding.check).map_err(stdout)?;
    }
    let failed: Vec<_> = found.iter().filter(|finding| !finding.passed).map(words).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Error::Lab(lookback_lab::Error::SelfCheck { failed, all: found.len() }))
}

fn words(finding: &Finding) -> String {
    let mark = if finding.passed { "passed" } else { "FAILED" };
    printable(&format!("{} {mark}: {}", finding.check, finding.words))
}
