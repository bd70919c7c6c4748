//! What a report shows: ready values, as plain as they are drawn.
//!
//! The constraint that shaped it: a report must not compute a figure, or there would be two answers to one question. So
//! estimates, intervals and exclusions come from `overhead` and `comparison`, counts and series from the records, and
//! whoever has other sources can fill these fields as well.

use super::quantity::Quantity;
use crate::overhead::Roles;
use crate::plan::{Jdk, Quiet};
use std::collections::BTreeMap;

/// An estimate, its interval and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Between what it lies at the confidence that the study states; none when it was not told.
    pub interval: Option<(f64, f64)>,
    /// Invocations, or for a mean over workloads, workloads.
    pub n: usize,
}

/// An estimate, or why there is none.
pub type Measured = std::result::Result<Estimate, String>;

/// Everything that a report shows.
#[derive(Debug, Clone, Default)]
pub struct Study {
    /// The experiment's name.
    pub name: String,
    /// What it is about; may be empty.
    pub about: String,
    /// From when to when it ran, RFC 3339; empty without records.
    pub span: (String, String),
    /// Names of the machines.
    pub hosts: Vec<String>,
    /// What became of the invocations.
    pub tally: Tally,
    /// How many records are left out because their cells were changed since and measured anew.
    pub changed: usize,
    /// The smallest heaps that programs ran in.
    pub min_heaps: Vec<MinHeap>,
    /// Lower bound overheads, one a metric and distillation.
    pub overheads: Vec<Overheads>,
    /// What tracers cost, one a metric.
    pub tracers: Vec<TracerCost>,
    /// Configurations against each other.
    pub matrices: Vec<Matrix>,
    /// Plain means of metrics.
    pub means: Vec<Means>,
    /// Distributions of latencies or frame times.
    pub tails: Vec<Tails>,
    /// Iterations of invocations.
    pub warm_ups: Vec<WarmUp>,
    /// Invocations in the order in which they ran.
    pub order: Vec<Turn>,
    /// The rule by which an invocation counts as disturbed, where it is known.
    pub quiet: Option<Quiet>,
    /// The JDKs.
    pub jdks: Vec<Jdk>,
    /// Facts of the machine, name and value.
    pub machine: Vec<(String, String)>,
    /// The experiment file.
    pub experiment: Option<String>,
    /// How many cells were planned, and with how many invocations together.
    pub planned: Option<(usize, usize)>,
    /// Seed of the order.
    pub seed: Option<u64>,
}

/// A configuration as tables name it: `17|g1|bare`.
pub type Configuration = String;

/// What became of invocations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Invocations that count.
    pub counted: usize,
    /// All attempts.
    pub all: usize,
    /// Those that do not count, by configuration and cause.
    pub causes: BTreeMap<(Configuration, String), usize>,
    /// Attempts by configuration, and those that count.
    pub attempts: BTreeMap<Configuration, (usize, usize)>,
}

/// The smallest heap that a program ran in (paper, Table 4).
#[derive(Debug, Clone, PartialEq)]
pub struct MinHeap {
    /// The workload.
    pub workload: String,
    /// JDK and collector, or all that share the value.
    pub configuration: Configuration,
    /// Bytes.
    pub bytes: std::result::Result<u64, String>,
}

/// Lower bound overheads of a metric (paper, sections 2.2 and 6).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overheads {
    /// The metric's name.
    pub metric: String,
    /// How the baseline was distilled: `pauses`, `threads`.
    pub distillation: String,
    /// Confidence of the intervals, percent.
    pub confidence: f64,
    /// One a workload, configuration and heap.
    pub points: Vec<OverheadPoint>,
    /// Over the workloads that completed at one heap, one a configuration and heap: for tables.
    pub summaries: Vec<OverheadSummary>,
    /// Over the workloads that completed at every heap, one a configuration and heap: for curves.
    pub curves: Vec<OverheadSummary>,
    /// What the overheads are relative to, one a workload (and JDK): words.
    pub baselines: Vec<(String, String)>,
}

impl Overheads {
    /// The heaps of its points as multiples, each once, from the smallest on.
    pub(super) fn multiples(&self) -> Vec<f64> {
        heaps(self.points.iter().map(|point| point.multiple))
    }
}

/// Heaps as multiples, each once, from the smallest on; those in bytes are left out.
pub(super) fn heaps(multiples: impl Iterator<Item = Option<f64>>) -> Vec<f64> {
    let mut multiples: Vec<f64> = multiples.flatten().collect();
    multiples.sort_by(f64::total_cmp);
    multiples.dedup();
    multiples
}

/// One lower bound overhead.
#[derive(Debug, Clone, PartialEq)]
pub struct OverheadPoint {
    /// The workload.
    pub workload: String,
    /// The configuration.
    pub configuration: Configuration,
    /// Heap as a multiple of the minimum; none for a heap given in bytes.
    pub multiple: Option<f64>,
    /// The overhead, a ratio.
    pub ratio: Measured,
}

/// Lower bound overheads of a configuration over workloads.
#[derive(Debug, Clone, PartialEq)]
pub struct OverheadSummary {
    /// The configuration.
    pub configuration: Configuration,
    /// Heap as a multiple of the minimum.
    pub multiple: Option<f64>,
    /// Geometric mean.
    pub geomean: Measured,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// The arithmetic mean in parts, by whose threads took it.
    pub roles: Option<Roles>,
    /// Workloads that are left out of it, and why.
    pub excluded: Vec<(String, String)>,
}

/// What tracers cost: traced over bare, paired within blocks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TracerCost {
    /// The metric.
    pub metric: String,
    /// Confidence of the intervals, percent.
    pub confidence: f64,
    /// One a workload and traced configuration.
    pub rows: Vec<TracerPoint>,
    /// Over workloads, one a traced configuration: geometric mean, median and worst workload.
    pub summaries: Vec<TracerSummary>,
}

/// What a tracer costs a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct TracerPoint {
    /// The workload.
    pub workload: String,
    /// The traced configuration.
    pub configuration: Configuration,
    /// Traced over bare.
    pub ratio: Measured,
}

/// What a tracer costs over workloads.
#[derive(Debug, Clone, PartialEq)]
pub struct TracerSummary {
    /// The traced configuration.
    pub configuration: Configuration,
    /// Geometric mean.
    pub geomean: Measured,
    /// Median.
    pub median: f64,
    /// The workload with the highest ratio.
    pub worst: (String, f64),
}

/// A verdict on two configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The first costs less.
    Better,
    /// The first costs more.
    Worse,
    /// The data cannot tell.
    Indistinguishable,
}

/// Configurations against each other by one metric.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrix {
    /// The metric.
    pub metric: String,
    /// The procedure, a sentence: test, level, correction.
    pub procedure: String,
    /// One a pair.
    pub pairs: Vec<Pair>,
}

/// Two configurations.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The first.
    pub a: Configuration,
    /// The second.
    pub b: Configuration,
    /// First over second.
    pub ratio: Measured,
    /// What can be said.
    pub verdict: Verdict,
    /// Invocations that are still needed to tell the difference that was seen, where that is known.
    pub more: Option<usize>,
}

/// Plain means of a metric: one a workload, configuration and heap.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Means {
    /// The metric.
    pub metric: String,
    /// Unit of a workload's own metric as its `result` line has it; empty for the lab's metrics.
    pub unit: String,
    /// The means over invocations that count.
    pub points: Vec<MeanPoint>,
}

impl Means {
    /// What its numbers are.
    pub fn quantity(&self) -> Quantity {
        match Quantity::of_metric(&self.metric) {
            Quantity::Plain => Quantity::of_unit(&self.unit),
            known => known,
        }
    }

    /// The unit in words for a caption, where numbers do not carry it: `, in 1/s`.
    pub(super) fn in_unit(&self) -> String {
        let carried = self.unit.is_empty() || self.quantity() != Quantity::Plain;
        if carried { String::new() } else { format!(", in {}", self.unit) }
    }
}

/// A mean of invocations.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanPoint {
    /// The workload.
    pub workload: String,
    /// The configuration.
    pub configuration: Configuration,
    /// Heap as a multiple of the minimum.
    pub multiple: Option<f64>,
    /// The mean, in the metric's unit.
    pub mean: Measured,
}

/// Distributions of one kind, by workload (paper, Figure 3).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tails {
    /// What is distributed: `latency`, `metered`, `frame`, `input`.
    pub kind: String,
    /// One a workload, configuration and heap.
    pub curves: Vec<Tail>,
}

impl Tails {
    /// The curves at the multiple nearest to this one; those of heaps in bytes stay.
    pub fn at(&self, wanted: f64) -> Tails {
        let multiples = self.curves.iter().filter_map(|tail| tail.multiple);
        let nearest = super::tables::nearest(multiples, wanted);
        let mine = |tail: &&Tail| tail.multiple.is_none() || tail.multiple == nearest;
        Tails { kind: self.kind.clone(), curves: self.curves.iter().filter(mine).cloned().collect() }
    }
}

/// A distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Tail {
    /// The workload.
    pub workload: String,
    /// The configuration.
    pub configuration: Configuration,
    /// Heap as a multiple of the minimum.
    pub multiple: Option<f64>,
    /// Percentile (0 to 100) and nanoseconds, rising.
    pub points: Vec<(f64, f64)>,
}

/// The iterations of a cell's invocations.
#[derive(Debug, Clone, PartialEq)]
pub struct WarmUp {
    /// The workload.
    pub workload: String,
    /// The configuration.
    pub configuration: Configuration,
    /// The metric.
    pub metric: String,
    /// Each invocation's values by iteration, from the first.
    pub invocations: Vec<Vec<f64>>,
    /// The first iteration that is measured, from 1.
    pub measured_from: u32,
    /// The iteration at which a steady state was found to begin, where it was looked for and found.
    pub steady_from: Option<u32>,
}

/// An invocation in the order in which they ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The workload.
    pub workload: String,
    /// Its value over the median of its cell.
    pub relative: f64,
    /// Whether it counts.
    pub counts: bool,
    /// Its block.
    pub block: u32,
    /// The machine.
    pub host: String,
}
