//! `lookback lab lbo`: lower bound overheads of collectors, and what tracers cost, as tables or as JSON.
//!
//! The constraint that shaped it: an overhead without its baseline says little, so what the baseline was, how sure the
//! choice is and what the naive value would be stand beside it. Nothing here computes a figure.

use super::figures::{NONE, between, change, changes, estimate, ratio, value};
use super::settled::settled;
use crate::error::{Error, Result};
use crate::table::table;
use crate::verbs::{Streams, stdout};
use clap::{Args, ValueEnum, ValueHint};
use lookback_lab::metric::metric_of;
use lookback_lab::overhead::{
    Distillation, FEWEST, LowerBounds, OverHosts, Program, Roles, Scope, Summary, TracerCosts, Wanted,
    lower_bounds, over_hosts, tracer_overheads,
};
use lookback_lab::results::{HeapPoint, Record};
use lookback_lab::statistics::Estimate;
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `lookback lab lbo`.
#[derive(Debug, Args)]
pub(crate) struct LboArgs {
    /// The directory of results
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    dir: PathBuf,
    /// The metric: wall, task_clock or cpu
    #[arg(long, value_name = "NAME", default_value = "task_clock")]
    metric: String,
    /// Only this heap: a multiple of the minimum (2, 2x) or a size (64m); may repeat. Baselines are taken over all heaps
    /// in any case
    #[arg(long, value_name = "HEAP", value_parser = heap)]
    heap: Vec<HeapPoint>,
    /// Only this workload
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// What is taken off the total: the metric's share in pauses, or the time of the collector's threads [default: one
    /// table each]
    #[arg(long, value_name = "HOW")]
    distill: Option<How>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A way to distill.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum How {
    /// Less the metric's share within stop-the-world pauses
    Pauses,
    /// Less the CPU time of the collector's threads
    Threads,
}

fn heap(text: &str) -> std::result::Result<HeapPoint, String> {
    let plain: Option<f64> = text.parse().ok().filter(|multiple| *multiple > 0.0 && *multiple < 1e6);
    plain.map(HeapPoint::multiple).or_else(|| text.parse().ok()).ok_or("a multiple such as 2, or 64m".into())
}

/// What `--json` gives, one a distillation.
#[derive(Debug, Serialize)]
struct Found {
    #[serde(flatten)]
    bounds: LowerBounds,
    over_hosts: Vec<OverHosts>,
    tracers: TracerCosts,
}

/// Tells overheads and prints them.
pub(crate) fn run(args: &LboArgs, streams: &mut Streams<'_>) -> Result<()> {
    let records = settled(&args.dir, streams)?;
    let ways: &[Distillation] = match args.distill {
        Some(How::Pauses) => &[Distillation::Pauses],
        Some(How::Threads) => &[Distillation::Threads],
        None => &Distillation::ALL,
    };
    let all: Vec<Found> = ways.iter().map(|&way| found(&records, args, way)).collect::<Result<_>>()?;
    if args.json {
        return crate::verbs::control::json(&all, streams);
    }
    for (i, found) in all.iter().enumerate() {
        if i > 0 {
            writeln!(streams.out).map_err(stdout)?;
        }
        show(found, streams)?;
    }
    all.first().map_or(Ok(()), |found| show_tracers(&found.tracers, &args.metric, streams))
}

fn found(records: &[Record], args: &LboArgs, distillation: Distillation) -> Result<Found> {
    let wanted = Wanted {
        heaps: (!args.heap.is_empty()).then(|| args.heap.clone()),
        workload: args.workload.clone(),
        ..Wanted::of(&args.metric, distillation)
    };
    let bounds = lower_bounds(records, &wanted).map_err(Error::Lab)?;
    let mut tracers =
        tracer_overheads(records, &args.metric, &wanted.drawing.bootstrap).map_err(Error::Lab)?;
    tracers.overheads.retain(|overhead| wanted.has(overhead.name.heap));
    tracers.summaries.retain(|summary| wanted.has(summary.heap));
    if let Some(workload) = &args.workload {
        tracers.overheads.retain(|overhead| overhead.name.workload == *workload);
        tracers.summaries.clear();
    }
    Ok(Found { over_hosts: over_hosts(&bounds), bounds, tracers })
}

fn show(found: &Found, streams: &mut Streams<'_>) -> Result<()> {
    let bounds = &found.bounds;
    let title = metric_of(&bounds.wanted.metric).map_or(bounds.wanted.metric.as_str(), |metric| metric.title);
    writeln!(
        streams.out,
        "lower bound overheads of {title}, distilled by {}",
        bounds.wanted.distillation.name()
    )
    .map_err(stdout)?;
    let several_hosts = bounds.programs.iter().any(|program| program.host != bounds.programs[0].host);
    let named =
        |host: &str, rest: &str| if several_hosts { format!("{host} {rest}") } else { rest.to_owned() };
    let mut rows = Vec::new();
    for program in &bounds.programs {
        for cell in program.cells.iter().filter(|cell| bounds.wanted.has(cell.name.heap)) {
            let mut row = vec![
                named(&program.host, &program.workload),
                cell.name.label(),
                cell.name.heap.to_string(),
                cell.n.to_string(),
            ];
            match cell.overhead {
                Some(overhead) => row.extend(estimate(overhead)),
                None => row.extend([NONE.into(), NONE.into()]),
            }
            row.push(cell.naive.map_or(NONE.into(), ratio));
            row.push(if cell.tally.counted == cell.tally.invocations {
                String::new()
            } else {
                cell.tally.to_string()
            });
            rows.push(row);
        }
    }
    let head = ["WORKLOAD", "CONFIGURATION", "HEAP", "N", "LBO", "INTERVAL", "NAIVE", "INVOCATIONS"];
    table(streams.out, &head, &rows).map_err(stdout)?;
    for program in &bounds.programs {
        writeln!(streams.out, "{}", baseline(program, &bounds.wanted.metric, several_hosts))
            .map_err(stdout)?;
    }
    show_means(bounds, &named, streams)?;
    show_hosts(&found.over_hosts, "LBO", &estimate, streams)
}

fn show_means(
    bounds: &LowerBounds,
    named: &dyn Fn(&str, &str) -> String,
    streams: &mut Streams<'_>,
) -> Result<()> {
    let one_heap = || bounds.summaries.iter().filter(|summary| summary.scope == Scope::OneHeap);
    let begun = |summary: &Summary| vec![named(&summary.host, &summary.label), summary.heap.to_string()];
    let rows: Vec<Vec<String>> = one_heap()
        .map(|summary| {
            let mut row = begun(summary);
            row.push(summary.workloads.len().to_string());
            row.extend(estimate(summary.geometric_mean));
            row.extend([summary.least, summary.most, summary.mean].map(ratio));
            row
        })
        .collect();
    if !rows.is_empty() {
        writeln!(streams.out, "\nover workloads").map_err(stdout)?;
        let head = ["CONFIGURATION", "HEAP", "WORKLOADS", "GEOMEAN", "INTERVAL", "MIN", "MAX", "MEAN"];
        table(streams.out, &head, &rows).map_err(stdout)?;
    }
    let in_parts = |summary: &Summary| {
        let Roles { mutator, gc, jit, vm } = summary.roles?;
        let mut row = begun(summary);
        row.extend([summary.mean, mutator, gc, jit, vm].map(ratio));
        Some(row)
    };
    let rows: Vec<Vec<String>> = one_heap().filter_map(in_parts).collect();
    if !rows.is_empty() {
        writeln!(streams.out, "\nthe mean, by whose threads took it").map_err(stdout)?;
        let head = ["CONFIGURATION", "HEAP", "MEAN", "PROGRAM", "COLLECTOR", "COMPILERS", "VM"];
        table(streams.out, &head, &rows).map_err(stdout)?;
    }
    for exclusion in bounds.exclusions.iter().filter(|exclusion| exclusion.scope == Scope::OneHeap) {
        writeln!(streams.out, "{exclusion}").map_err(stdout)?;
    }
    Ok(())
}

/// What hosts say together: `named` is what is told of them, as `figures` write it.
fn show_hosts(
    merged: &[OverHosts],
    named: &str,
    figures: &dyn Fn(Estimate) -> [String; 2],
    streams: &mut Streams<'_>,
) -> Result<()> {
    if merged.is_empty() {
        return Ok(());
    }
    let rows: Vec<Vec<String>> = merged
        .iter()
        .map(|row| {
            let workload = row.workload.clone().unwrap_or_else(|| "all".into());
            let mut cells = vec![workload, row.label.clone(), row.heap.to_string(), row.hosts.to_string()];
            cells.extend(figures(row.overhead));
            cells.extend(between(row.between, row.between_percent));
            cells
        })
        .collect();
    writeln!(streams.out, "\nover hosts").map_err(stdout)?;
    let head =
        ["WORKLOAD", "CONFIGURATION", "HEAP", "HOSTS", named, "INTERVAL", "HOSTS DIFFER", "BETWEEN HOSTS"];
    table(streams.out, &head, &rows).map_err(stdout)
}

/// What a program's overheads are relative to.
fn baseline(program: &Program, metric: &str, several_hosts: bool) -> String {
    let jdk = if program.jdk.is_empty() { String::new() } else { format!(" on {}", program.jdk) };
    let host = if several_hosts { format!(" at {}", program.host) } else { String::new() };
    let place = format!("{}{jdk}{host}", program.workload);
    let Some(baseline) = &program.baseline else {
        return format!(
            "baseline of {place}: none; no cell has five invocations whose collector's share was measured"
        );
    };
    let chosen = baseline.chosen.iter().take(3).map(|&(i, share)| {
        let name = &program.cells[i].name;
        format!("{} at {} {:.0} %", name.label(), name.heap, share * 100.0)
    });
    let mut text = format!(
        "baseline of {place}: {} (naive {}), chosen: {}",
        value(metric, baseline.value),
        value(metric, baseline.naive),
        chosen.collect::<Vec<_>>().join(", ")
    );
    if let Some(epsilon) = program.epsilon() {
        text.push_str(&format!("; Epsilon takes {} of it", ratio(epsilon)));
    }
    for cell in program.passed_over() {
        let (name, n) = (&cell.name, cell.n);
        let few =
            format!("; {} at {} looks lower, but has {n} of {FEWEST} invocations", name.label(), name.heap);
        text.push_str(&few);
    }
    text
}

fn show_tracers(tracers: &TracerCosts, metric: &str, streams: &mut Streams<'_>) -> Result<()> {
    if tracers.overheads.is_empty() && tracers.left_out.is_empty() {
        return Ok(());
    }
    writeln!(streams.out, "\noverheads of tracers ({metric}), by the bare program in the same blocks")
        .map_err(stdout)?;
    let several_hosts = tracers.overheads.iter().any(|one| one.name.host != tracers.overheads[0].name.host);
    let named =
        |host: &str, rest: &str| if several_hosts { format!("{host} {rest}") } else { rest.to_owned() };
    let rows: Vec<Vec<String>> = tracers
        .overheads
        .iter()
        .map(|overhead| {
            vec![
                named(&overhead.name.host, &overhead.name.workload),
                overhead.name.label(),
                overhead.name.heap.to_string(),
                overhead.n.to_string(),
                change(overhead.ratio.value),
                changes(overhead.ratio.interval),
            ]
        })
        .collect();
    let head = ["WORKLOAD", "CONFIGURATION", "HEAP", "N", "OVERHEAD", "INTERVAL"];
    table(streams.out, &head, &rows).map_err(stdout)?;
    let rows: Vec<Vec<String>> = tracers
        .summaries
        .iter()
        .map(|summary| {
            vec![
                named(&summary.host, &summary.label),
                summary.heap.to_string(),
                summary.workloads.to_string(),
                change(summary.geometric_mean.value),
                changes(summary.geometric_mean.interval),
                change(summary.median),
                format!("{} ({})", change(summary.worst.1), summary.worst.0),
            ]
        })
        .collect();
    if !rows.is_empty() {
        writeln!(streams.out).map_err(stdout)?;
        let head = ["CONFIGURATION", "HEAP", "WORKLOADS", "GEOMEAN", "INTERVAL", "MEDIAN", "WORST"];
        table(streams.out, &head, &rows).map_err(stdout)?;
    }
    let changed = |ratio: Estimate| [change(ratio.value), changes(ratio.interval)];
    show_hosts(&tracers.over_hosts, "OVERHEAD", &changed, streams)?;
    for (name, why) in &tracers.left_out {
        let line = format!("left out: {} under {} at {}: {why}", name.workload, name.label(), name.heap);
        writeln!(streams.out, "{line}").map_err(stdout)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::made_up;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: LboArgs,
    }

    fn output(arguments: &[&str]) -> Result<String> {
        let line = Line::parse_from([&["lbo"], arguments].concat());
        made_up::output(|streams| run(&line.args, streams))
    }

    /// Serial: 100 of which 20 are the collector's; G1: 120 of which 30 are. The baseline is Serial's 80 with a mean
    /// scatter of 1.001, so G1's overhead is 1.5 by that.
    #[test]
    fn tables_show_overheads_their_baseline_and_tracers() {
        let dir = made_up::results(1.0);
        let dir = dir.path().to_str().unwrap();
        let text = output(&[dir, "--metric", "cpu", "--heap", "2"]).unwrap();
        assert!(text.contains("distilled by pauses") && text.contains("distilled by threads"), "{text}");
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        assert!(line("h2        17|g1|bare").contains("1.498"), "{text}");
        assert!(line("h2        17|serial").contains("1.250"), "{text}");
        assert!(line("baseline of h2 on 17").contains("17|serial at 2x"), "{text}");
        assert!(text.contains("fop is left out at 2x: 17|g1|bare at 2x: not run"), "{text}");
        assert!(text.contains("overheads of tracers (cpu)") && text.contains("+3.0 %"), "{text}");
        assert!(!output(&[dir, "--metric", "cpu", "--distill", "pauses"]).unwrap().contains("by threads"));
    }

    #[test]
    fn json_has_all_figures_and_wrong_names_are_answered_with_what_there_is() {
        let dir = made_up::results(1.0);
        let dir = dir.path().to_str().unwrap();
        let json: serde_json::Value =
            serde_json::from_str(&output(&[dir, "--metric", "cpu", "--json"]).unwrap()).unwrap();
        assert_eq!(json.as_array().unwrap().len(), 2);
        assert_eq!(json[0]["programs"][1]["workload"], "h2");
        assert!(json[0]["summaries"][0]["geometric_mean"]["value"].is_f64());
        let unknown = output(&[dir, "--metric", "cpu", "--heap", "3x"]).unwrap_err();
        assert_eq!(unknown.to_string(), "there is no heap `3x` in the results");
        assert_eq!(unknown.hint(), "there is 2x");
        assert_eq!(output(&[dir, "--metric", "wall"]).unwrap_err().hint(), "there is cpu");
        assert_eq!(output(&[dir, "--metric", "rss"]).unwrap_err().exit_code(), crate::error::USAGE);
    }
}
