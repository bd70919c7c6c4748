//! `lookback lab jit`: what a tracer changes in the work of the JIT compilers.
//!
//! The constraint that shaped it: runs and comparison are parted by a directory of logs, so that logs of other programs,
//! made by hand, are compared by the same words, and a comparison can be made again with another demand for agreement.

use super::experiment::MINIMA;
use super::plan::PlanArgs;
use super::tools::ToolsArgs;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::progress::Progress as Bar;
use crate::table::{facts, table};
use crate::verbs::{Streams, stdout};
use clap::{Args, ValueHint};
use lookback_lab::jit::{self, Changed, Difference, Group, Method, Perturbation, Prior, Run};
use lookback_lab::machine::{System, resolve};
use lookback_lab::plan::{Cell, Plan};
use std::path::{Path, PathBuf};

/// Arguments of `lookback lab jit`.
#[derive(Debug, Args)]
pub(crate) struct JitArgs {
    /// Directory of the logs: bare/N/compilation.log, traced/N/..., control/N/...; runs that are missing are made there
    /// when an experiment is given
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    logs: PathBuf,
    /// The experiment's file to take the two configurations from
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "workload")]
    experiment: Option<PathBuf>,
    /// A plan that was resolved before, instead of an experiment's file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "workload", conflicts_with = "experiment")]
    plan: Option<PathBuf>,
    /// The workload to run
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// The configuration without the tracer, as `17|g1`; may be left out where there is only one
    #[arg(long, value_name = "CONFIG", requires = "workload")]
    bare: Option<String>,
    /// The configuration with the tracer
    #[arg(long, value_name = "CONFIG", requires = "workload")]
    traced: Option<String>,
    /// Runs of each group
    #[arg(long, value_name = "N", default_value_t = 3, requires = "workload", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// How many runs of each group must say the same [default: all of 4, four fifths of more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    agree: Option<u32>,
    /// Lines of each table
    #[arg(long, value_name = "N", default_value_t = 15)]
    top: usize,
    /// Print JSON: the prior
    #[arg(long)]
    json: bool,
    /// Write the prior, a file for who decides what to trace
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// The file of minimum heaps
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, default_value = MINIMA)]
    min_heap: PathBuf,
    #[command(flatten)]
    tools: ToolsArgs,
}

/// Makes what runs are missing, compares, and prints.
pub(crate) fn run(args: &JitArgs, streams: &mut Streams<'_>) -> Result<()> {
    let names = match &args.workload {
        Some(workload) => record(args, workload, streams)?,
        None => Names::of_directory(&args.logs),
    };
    let read = |group| jit::runs(&args.logs, group).map_err(Error::Lab);
    let (bare, traced, control) = (read(Group::Bare)?, read(Group::Traced)?, read(Group::Control)?);
    if bare.is_empty() || traced.is_empty() {
        return Err(Error::Usage {
            what: format!(
                "{} holds no logs to compare: it needs bare/1/{log} and traced/1/{log}",
                args.logs.display(),
                log = jit::LOG
            ),
            hint: format!(
                "let the lab make them with --experiment and --workload, or run each program with {}",
                jit::OPTIONS.join(" ")
            ),
        });
    }
    for damage in bare.iter().chain(&traced).chain(&control).filter_map(|run| run.damaged.as_ref()) {
        streams.note(&format!("{damage}; what stands before is used"));
    }
    let fewest =
        [bare.len(), traced.len()].into_iter().chain((!control.is_empty()).then_some(control.len())).min();
    let agree = args.agree.map_or_else(|| enough(fewest.unwrap_or(1)), |agree| agree as usize);
    let perturbation = Perturbation::of(&bare, &traced, &control, agree);
    let prior = Prior::of(&perturbation, &names.workload, release(&bare), &names.bare, &names.traced);
    if let Some(file) = &args.output {
        let json = serde_json::to_vec_pretty(&prior)
            .map_err(|error| Error::Write { file: file.clone(), error: error.into() })?;
        std::fs::write(file, json).map_err(|error| Error::Write { file: file.clone(), error })?;
    }
    if args.json {
        let json = serde_json::to_string(&prior).map_err(|error| stdout(error.into()))?;
        return writeln!(streams.out, "{json}").map_err(stdout);
    }
    print(&perturbation, &prior, args.top, streams).map_err(stdout)
}

/// How many of so many runs must agree.
fn enough(runs: usize) -> usize {
    if runs < 5 { runs } else { (runs * 4).div_ceil(5) }
}

fn release(runs: &[Run]) -> &str {
    runs.iter().map(|run| run.release.as_str()).find(|release| !release.is_empty()).unwrap_or("unknown")
}

/// What the compared programs are called.
struct Names {
    workload: String,
    bare: String,
    traced: String,
}

impl Names {
    fn of_directory(directory: &Path) -> Names {
        let workload =
            directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Names { workload, bare: Group::Bare.name().into(), traced: Group::Traced.name().into() }
    }
}

/// Makes the runs that are missing.
fn record(args: &JitArgs, workload: &str, streams: &mut Streams<'_>) -> Result<Names> {
    if args.experiment.is_none() && args.plan.is_none() {
        return Err(Error::Usage {
            what: format!("nothing says what the workload `{workload}` is"),
            hint: "name the experiment's file with --experiment; without --workload the logs of DIR are compared".into(),
        });
    }
    let source = PlanArgs::of(args.experiment.clone(), args.plan.clone(), args.tools.clone());
    let (plan, _) = source.load(&args.min_heap, streams)?;
    let (bare, traced) = pair(&plan, workload, args.bare.as_deref(), args.traced.as_deref())?;
    let cores = resolve(&plan.pin).map_err(Error::Lab)?;
    interrupt::watch();
    let bar = Bar::steps();
    let mut tell = |number: u32, all: u32, group: Group| {
        let now = format!("run {number} of {all}: {workload}, {}", group.name());
        bar.at(u64::from(number) - 1, all.into());
        bar.say(&now);
        if bar.is_hidden() {
            streams.note(&now);
        }
    };
    let observer = &mut System::new(&cores);
    let stop = &interrupt::asked;
    jit::record(&plan, [bare, traced], args.runs, &args.logs, observer, stop, &mut tell)
        .map_err(Error::Lab)?;
    drop(bar);
    Ok(Names { workload: workload.into(), bare: full_name(bare), traced: full_name(traced) })
}

/// The configuration with its JDK, as experiment files write it.
fn name(cell: &Cell) -> String {
    format!("{}|{}", cell.jdk, cell.configuration)
}

/// As [`name`], with the heap: no two cells of a workload share it.
fn full_name(cell: &Cell) -> String {
    let heap = cell.heap.map(|heap| format!("|{} MiB", heap.bytes >> 20)).unwrap_or_default();
    format!("{}{heap}", name(cell))
}

/// The two cells that are meant.
fn pair<'a>(
    plan: &'a Plan,
    workload: &str,
    bare: Option<&str>,
    traced: Option<&str>,
) -> Result<(&'a Cell, &'a Cell)> {
    let cells: Vec<&Cell> =
        plan.cells.iter().filter(|cell| cell.workload == workload && cell.launch.jvm.is_some()).collect();
    if cells.is_empty() {
        let mut all: Vec<_> = plan.cells.iter().map(|cell| cell.workload.as_str()).collect();
        all.dedup();
        return Err(Error::Usage {
            what: format!("the plan has no workload `{workload}` that runs on a JVM"),
            hint: format!("it has {}", all.join(", ")),
        });
    }
    let only = |wanted: Option<&str>, traced: bool| {
        let fits = |cell: &&&Cell| match wanted {
            Some(wanted) => [&full_name(cell), &name(cell), &cell.configuration, &cell.id.0]
                .iter()
                .any(|own| *own == wanted),
            None => cell.tracer.is_some() == traced,
        };
        let found: Vec<&&Cell> = cells.iter().filter(fits).collect();
        if let [cell] = found[..] {
            return Ok(*cell);
        }
        let option = if traced { "--traced" } else { "--bare" };
        let names: Vec<_> = cells.iter().map(|cell| format!("`{}`", full_name(cell))).collect();
        let what = match (found.is_empty(), wanted) {
            (true, Some(wanted)) => format!("`{workload}` has no configuration `{wanted}`"),
            (true, None) => format!("no configuration of `{workload}` is fit for {option}"),
            (false, _) => format!("several configurations of `{workload}` are fit for {option}"),
        };
        Err(Error::Usage { what, hint: format!("name one of {} with {option}", names.join(", ")) })
    };
    Ok((only(bare, false)?, only(traced, true)?))
}

fn print(p: &Perturbation, prior: &Prior, top: usize, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let difference = &p.difference;
    let noise = match &p.noise {
        Some(noise) => format!("{} of {} between equal runs", noise.changed_sites, noise.sites),
        None => "not measured: there is no control group".into(),
    };
    let levels = match &p.noise {
        Some(noise) => format!("{}; {} between equal runs", difference.levels.len(), noise.changed_levels),
        None => difference.levels.len().to_string(),
    };
    let [bare, traced] = difference.totals;
    let change = |figure: fn(&jit::Totals) -> u64| format!("{} -> {}", figure(&bare), figure(&traced));
    let own = difference.own_calls;
    facts(
        streams.out,
        &[
            ("workload", format!("{} on {}", prior.workload, printable(&prior.jvm))),
            (
                "runs",
                format!(
                    "{} of {}, {} of {}; {} of each must agree",
                    difference.bare, prior.runs.bare, difference.traced, prior.runs.traced, difference.agree
                ),
            ),
            ("call sites", format!("{} whose fate the runs of both agree on", difference.sites)),
            ("de-inlined", difference.de_inlined.len().to_string()),
            ("newly inlined", difference.newly_inlined.len().to_string()),
            ("changed without a tracer", noise),
            ("methods at another level", levels),
            ("methods in C2's code", change(|t| t.c2_methods)),
            ("C2's code, bytes", change(|t| t.c2_code_bytes)),
            ("C1's code, bytes", change(|t| t.c1_code_bytes)),
            ("C2's code given up", change(|t| t.invalidated)),
            ("uncommon traps", change(|t| t.traps)),
            ("the tracer's own calls", format!("{} inlined, {} not", own.inlined, own.refused)),
        ],
    )?;
    sites(p, "de-inlined", &difference.de_inlined, top, streams)?;
    sites(p, "newly inlined", &difference.newly_inlined, top, streams)?;
    other_levels(difference, top, streams)
}

fn sites(
    p: &Perturbation,
    what: &str,
    sites: &[Changed],
    top: usize,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    if sites.is_empty() {
        return Ok(());
    }
    writeln!(
        streams.out,
        "\n{} of {} call sites {what}, by calls until C2 compiled them:",
        top.min(sites.len()),
        sites.len()
    )?;
    let bytes = |bytes: Option<u32>| bytes.map_or("?".into(), |bytes| bytes.to_string());
    let row = |site: &Changed| {
        vec![
            site.calls.to_string(),
            short(&site.callee),
            format!("{} -> {}", bytes(site.callee_bytes[0]), bytes(site.callee_bytes[1])),
            format!("{}{}", short(&site.caller), site.bci.map(|bci| format!(" @{bci}")).unwrap_or_default()),
            format!(
                "{}{}",
                printable(&site.reason),
                if p.is_unsteady(site) { " (also between equal runs)" } else { "" }
            ),
        ]
    };
    let rows: Vec<_> = sites.iter().take(top).map(row).collect();
    table(streams.out, &["CALLS", "CALLEE", "BYTES", "CALLER", "REASON"], &rows)
}

fn other_levels(difference: &Difference, top: usize, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let levels = &difference.levels;
    if levels.is_empty() {
        return Ok(());
    }
    writeln!(
        streams.out,
        "\n{} of {} methods at another level (0 is not compiled, 4 is C2):",
        top.min(levels.len()),
        levels.len()
    )?;
    let rows: Vec<_> = levels
        .iter()
        .take(top)
        .map(|level| {
            vec![
                level.invocations.to_string(),
                format!("{} -> {}", level.levels[0], level.levels[1]),
                short(&level.method),
            ]
        })
        .collect();
    table(streams.out, &["CALLS", "LEVEL", "METHOD"], &rows)
}

/// Class without package, and method.
fn short(method: &Method) -> String {
    let class = method.class.rsplit('/').next().unwrap_or(&method.class);
    printable(&format!("{class}.{}", method.name))
}
