//! `lookback lab`: the overhead laboratory's verbs, a file a verb, each with its arguments and help.
//!
//! The constraint that shaped it: the laboratory is a library that says how far it is and what it found; here are the
//! words for a terminal, and nothing that could change a figure.

mod check;
mod compare;
mod dry_run;
mod experiment;
mod export;
mod figures;
mod init;
mod jit;
mod lbo;
mod machine;
#[cfg(test)]
mod made_up;
mod merge;
mod metrics;
mod min_heap;
mod modifiers;
mod plan;
mod publish;
mod report;
mod run;
mod self_check;
mod sensitivity;
mod settled;
mod shards;
mod tools;
mod watch;

use crate::error::Result;
use crate::verbs::Streams;
use clap::Subcommand;

/// What the laboratory is to do.
#[derive(Debug, Subcommand)]
pub(crate) enum LabVerb {
    /// Print an example of an experiment's file
    #[command(before_help = "\
Examples:
  lookback lab init > gc.toml
  lookback lab init --like tracer > tracer.toml")]
    Init(init::InitArgs),
    /// Check an experiment's file: all that is wrong, with lines
    #[command(before_help = "\
Examples:
  lookback lab check gc.toml
  for f in experiments/*.toml; do lookback lab check $f; done")]
    Check(check::CheckArgs),
    /// Show what an experiment would run, how long it takes, and what is missing
    #[command(before_help = "\
Examples:
  lookback lab plan gc.toml
  lookback lab plan gc.toml --shard 1/3
  lookback lab plan gc.toml --command 024f      what an invocation of a cell runs, for a shell
  lookback lab plan gc.toml --json | jq .estimate")]
    Plan(dry_run::DryRunArgs),
    /// List the modifiers that every experiment has
    #[command(before_help = "\
Examples:
  lookback lab modifiers
  lookback lab modifiers --json | jq '.[] | select(.name == \"zgc\")'")]
    Modifiers(modifiers::ModifiersArgs),
    /// List what is measured: names, units, meanings
    #[command(before_help = "\
Examples:
  lookback lab metrics
  lookback lab metrics --json | jq -r '.[].name'")]
    Metrics(metrics::MetricsArgs),
    /// Show what this machine is, and what is not ideal about it for measuring
    #[command(before_help = "\
Examples:
  lookback lab machine
  lookback lab machine --json | jq .facts.governors")]
    Machine(machine::MachineArgs),
    /// Find the smallest heap of each workload with each collector
    #[command(before_help = "\
Examples:
  lookback lab min-heap gc.toml
  lookback lab min-heap gc.toml --collector g1 --workload xalan
  lookback lab min-heap gc.toml --passes 4/5    for collectors that fail by chance near the minimum")]
    MinHeap(min_heap::MinHeapArgs),
    /// Run an experiment, or go on with one
    #[command(before_help = "\
Examples:
  lookback lab run gc.toml                      results go to lab-results/NAME
  lookback lab run gc.toml --invocations 2      a first look; the same command without it goes on
  lookback lab run gc.toml --only xalan --only '17|g1*'
  lookback lab run gc.toml --dry-run            what is done, what is left, how long it takes
  lookback lab run --plan lab-results/gc/plan.json --out elsewhere")]
    Run(run::RunArgs),
    /// Run an experiment on several machines, or go on with it: whole blocks on each, by GNU parallel over ssh
    #[command(before_help = "\
Examples:
  lookback lab shards gc.toml --hosts lab1,lab2,lab3
  lookback lab shards gc.toml --hosts-file hosts --send jars
  lookback lab shards gc.toml --local 2         two workers here, each with half of the cores")]
    Shards(shards::ShardsArgs),
    /// Bring the results of several directories into one
    #[command(before_help = "\
Examples:
  lookback lab merge one two three -o all")]
    Merge(merge::MergeArgs),
    /// Show lower bound overheads of collectors, and what tracers cost
    #[command(before_help = "\
Examples:
  lookback lab lbo lab-results/gc
  lookback lab lbo lab-results/gc --metric cpu --heap 2 --distill threads
  lookback lab lbo lab-results/gc --workload h2 --json | jq '.[0].programs[0].baseline'")]
    Lbo(lbo::LboArgs),
    /// Tell whether one configuration is better than another, worse, or whether the data cannot tell
    #[command(before_help = "\
Examples:
  lookback lab compare lab-results/gc '17|g1|bare' '17|parallel|bare'
  lookback lab compare lab-results/tracers bare lookback --metric wall --detect 2
  lookback lab compare lab-results/gc 'g1|2x' 'g1|3x' --workload h2
  lookback lab compare lab-results/before lab-results/after --json | jq .overall")]
    Compare(compare::CompareArgs),
    /// Tell whether it matters what programs are told of their heap
    #[command(before_help = "\
Examples:
  lookback lab sensitivity gc.toml              each workload with eight answers of maxMemory and totalMemory
  lookback lab sensitivity gc.toml --collector g1 --workload heap-reader
  lookback lab sensitivity gc.toml --json | jq '.workloads[] | {workload, matters}'")]
    Sensitivity(sensitivity::SensitivityArgs),
    /// Check the lab itself against what is known beforehand
    #[command(before_help = "\
Examples:
  lookback lab self-check                       an hour and more, on a quiet machine; goes on where it stopped
  lookback lab self-check --quick               do all parts work? some minutes, on any machine
  lookback lab self-check --aa 100 --out checks")]
    SelfCheck(self_check::SelfCheckArgs),
    /// Show what a tracer changes in the work of the JIT compilers: call sites that are inlined no more
    #[command(before_help = "\
Examples:
  lookback lab jit jit-h2 --experiment tracer.toml --workload h2 --bare '17|g1|bare' --traced '17|g1|lookback'
  lookback lab jit jit-h2 --plan lab-results/tracer/plan.json --workload h2
  lookback lab jit jit-h2 -o prior.json         compare logs that are there")]
    Jit(jit::JitArgs),
    /// Make a report of an experiment: a page, Markdown, LaTeX, text, or its figures
    #[command(before_help = "\
Examples:
  lookback lab report lab-results/gc --open
  lookback lab report lab-results/gc --format md -o gc.md
  lookback lab report lab-results/gc --format csv | head
  lookback lab report lab-results/gc --format png -o figures/")]
    Report(report::ReportArgs),
    /// Write all records for other tools: Parquet, CSV or JSON lines
    #[command(before_help = "\
Examples:
  lookback lab export lab-results/gc -o gc.parquet
  lookback lab export lab-results/gc -o gc.csv
  lookback lab export bench/runs/2026-11-22-0544-gc -o - --format jsonl | jq .outcome.kind")]
    Export(export::ExportArgs),
    /// Keep an experiment beside the source, and renew or check the figures of documents
    #[command(before_help = "\
Examples:
  lookback lab publish lab-results/gc --name gc --into README.md docs/LAB.md
  lookback lab publish --check README.md docs/*.md
  lookback lab publish --renew README.md        after a block was added by hand")]
    Publish(publish::PublishArgs),
}

/// Runs a verb of the laboratory.
pub(crate) fn run(verb: &LabVerb, streams: &mut Streams<'_>) -> Result<()> {
    match verb {
        LabVerb::Init(args) => init::run(args, streams),
        LabVerb::Check(args) => check::run(args, streams),
        LabVerb::Plan(args) => dry_run::run(args, streams),
        LabVerb::Modifiers(args) => modifiers::run(args, streams),
        LabVerb::Metrics(args) => metrics::run(args, streams),
        LabVerb::Machine(args) => machine::run(args, streams),
        LabVerb::MinHeap(args) => min_heap::run(args, streams),
        LabVerb::Run(args) => run::run(args, streams),
        LabVerb::Shards(args) => shards::run(args, streams),
        LabVerb::Merge(args) => merge::run(args, streams),
        LabVerb::Lbo(args) => lbo::run(args, streams),
        LabVerb::Compare(args) => compare::run(args, streams),
        LabVerb::Sensitivity(args) => sensitivity::run(args, streams),
        LabVerb::SelfCheck(args) => self_check::run(args, streams),
        LabVerb::Jit(args) => jit::run(args, streams),
        LabVerb::Report(args) => report::run(args, streams),
        LabVerb::Export(args) => export::run(args, streams),
        LabVerb::Publish(args) => publish::run(args, streams),
    }
}
