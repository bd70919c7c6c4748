//! What can be seen in records without statistics: counts, means, series, the order in which they ran.
//!
//! The constraint that shaped it: each of these is a plain count or mean whose definition fits a sentence. It must not
//! hold an interval, a test or an overhead: those come from `overhead` and `comparison`.

use super::plot::heap;
use super::study::{Estimate, MeanPoint, Means, Measured, MinHeap, Study, Tail, Tails, Tally, Turn, WarmUp};
use crate::metric::is_own;
use crate::plan::Plan;
use crate::results::{Disturbance, Outcome, Record};
use std::collections::{BTreeMap, BTreeSet};

/// The configuration as tables name it: JDK and modifiers.
pub(super) fn configuration(record: &Record) -> String {
    match (record.jdk.as_str(), record.configuration.as_str()) {
        ("", configuration) => configuration.to_owned(),
        (jdk, "") => jdk.to_owned(),
        (jdk, configuration) => format!("{jdk}|{configuration}"),
    }
}

/// How an invocation ended, in words.
pub(super) fn cause(outcome: &Outcome) -> Option<String> {
    Some(match outcome {
        Outcome::Ok => return None,
        Outcome::OutOfMemory => "out of memory".into(),
        Outcome::Crash { signal: 0 } => "the VM crashed".into(),
        Outcome::Crash { signal } => format!("crashed by signal {signal}"),
        Outcome::Failed { code, .. } => format!("exit code {code}"),
        Outcome::TimedOut => "took too long".into(),
        Outcome::WrongChecksum { .. } => "wrong checksum".into(),
        Outcome::NoFigures { .. } => "figures are missing".into(),
        Outcome::NotStarted { .. } => "could not be started".into(),
    })
}

fn disturbance(disturbance: &Disturbance) -> String {
    match disturbance {
        Disturbance::Steal { .. } => "disturbed: cores given to others".into(),
        Disturbance::Others { .. } => "disturbed: other processes".into(),
        Disturbance::Swap { .. } => "disturbed: swapping".into(),
    }
}

/// Why an invocation does not count, in words; more than one reason is possible.
fn causes(record: &Record) -> Vec<String> {
    match cause(&record.outcome) {
        Some(cause) => vec![cause],
        None => record.disturbances.iter().map(disturbance).collect(),
    }
}

/// Why nothing of these attempts counts: `out of memory in 5 of 5`.
fn why_nothing(records: &[&Record]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for cause in records.iter().flat_map(|record| causes(record)) {
        *counts.entry(cause).or_default() += 1;
    }
    let parts = counts.iter().map(|(cause, n)| format!("{cause} in {n} of {}", records.len()));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "was not run".into() } else { parts.join(", ") }
}

/// A cell as tables group it: workload, configuration and heap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    workload: String,
    configuration: String,
    /// In millionths, so that keys can be compared.
    multiple: Option<u64>,
}

impl Key {
    fn of(record: &Record) -> Key {
        let multiple = record.heap.and_then(|heap| heap.multiple);
        Key {
            workload: record.workload.clone(),
            configuration: configuration(record),
            multiple: multiple.map(|multiple| (multiple * 1e6).round() as u64),
        }
    }

    fn multiple(&self) -> Option<f64> {
        self.multiple.map(|millionths| millionths as f64 / 1e6)
    }
}

/// Records by cell. The order of cells is that of their first record's names.
fn by_cell(records: &[Record]) -> BTreeMap<Key, Vec<&Record>> {
    let mut cells: BTreeMap<Key, Vec<&Record>> = BTreeMap::new();
    for record in records {
        cells.entry(Key::of(record)).or_default().push(record);
    }
    cells
}

impl Study {
    /// What records show by themselves; `plan` gives names, the rule and the JDKs.
    pub fn observe(records: &[Record], plan: Option<&Plan>) -> Study {
        let cells = by_cell(records);
        let metrics = metrics(records, plan);
        let mut starts: Vec<&str> = records.iter().map(|record| record.started.as_str()).collect();
        starts.sort_unstable();
        let ends = |at: Option<&&str>| at.map(|at| (*at).to_owned()).unwrap_or_default();
        let hosts: BTreeSet<&String> = records.iter().map(|record| &record.host).collect();
        let main = main_metric(&metrics);
        Study {
            name: plan.map_or_else(|| "results".into(), |plan| plan.name.clone()),
            about: plan.map(|plan| plan.about.clone()).unwrap_or_default(),
            span: (ends(starts.first()), ends(starts.last())),
            hosts: hosts.into_iter().cloned().collect(),
            tally: tally(records),
            min_heaps: min_heaps(records),
            means: metrics.iter().map(|metric| means(metric, &cells)).collect(),
            tails: ["latency", "metered", "frame", "input"]
                .into_iter()
                .filter_map(|kind| tails(kind, &cells))
                .collect(),
            warm_ups: warm_ups(&cells),
            order: main.map(|metric| order(metric, records, &cells)).unwrap_or_default(),
            quiet: plan.map(|plan| plan.quiet.clone()),
            jdks: plan.map(|plan| plan.jdks.clone()).unwrap_or_default(),
            planned: plan.map(|plan| (plan.cells.len(), plan.order.len())),
            seed: plan.map(|plan| plan.seed),
            ..Study::default()
        }
    }

    /// The metric that the order of invocations is shown by.
    pub fn main_metric(&self) -> Option<&str> {
        let names: Vec<String> = self.means.iter().map(|means| means.metric.clone()).collect();
        let main = main_metric(&names)?.to_owned();
        self.means.iter().map(|means| means.metric.as_str()).find(|name| *name == main)
    }
}

/// CPU time before wall time: it does not hide what other threads do.
fn main_metric(metrics: &[String]) -> Option<&str> {
    let first = ["task_clock", "cpu", "wall"].into_iter().find(|name| metrics.iter().any(|m| m == name));
    first.or_else(|| metrics.first().map(String::as_str))
}

/// The metrics to show: the plan's, then those of the lab that a table is made of, then the workloads' own unless the plan
/// names some of these: a benchmark may print a hundred.
fn metrics(records: &[Record], plan: Option<&Plan>) -> Vec<String> {
    let there: BTreeSet<&String> =
        records.iter().flat_map(|r| &r.iterations).flat_map(|i| i.metrics.keys()).collect();
    let planned = plan.map(|plan| plan.metrics.clone()).unwrap_or_default();
    let usual = ["wall", "task_clock", "cpu", "cpu.gc", "pauses", "rss", "allocated", "frame.janky"];
    let usual = usual.into_iter().map(str::to_owned);
    let chosen = planned.iter().any(|name| is_own(name));
    let own = there.iter().filter(|name| !chosen && is_own(name)).map(|name| (*name).clone());
    let mut names: Vec<String> = Vec::new();
    for name in planned.into_iter().chain(usual).chain(own) {
        if there.contains(&name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn tally(records: &[Record]) -> Tally {
    let mut tally = Tally { all: records.len(), ..Tally::default() };
    for record in records {
        let name = configuration(record);
        let attempts = tally.attempts.entry(name.clone()).or_default();
        attempts.1 += 1;
        if record.counts() {
            attempts.0 += 1;
            tally.counted += 1;
        }
        for cause in causes(record) {
            *tally.causes.entry((name.clone(), cause)).or_default() += 1;
        }
    }
    tally
}

/// The minimum that a heap was said to be a multiple of. Heaps are whole MiB, so the largest tells it best.
fn min_heaps(records: &[Record]) -> Vec<MinHeap> {
    const MIB: f64 = 1048576.0;
    let mut largest: BTreeMap<(String, String), (f64, u64)> = BTreeMap::new();
    for record in records {
        let Some((multiple, bytes)) = record.heap.and_then(|heap| Some((heap.multiple?, heap.bytes))) else {
            continue;
        };
        let collector = record.collector.clone().unwrap_or_else(|| record.configuration.clone());
        let name = if record.jdk.is_empty() { collector } else { format!("{}|{collector}", record.jdk) };
        let known = largest.entry((record.workload.clone(), name)).or_insert((multiple, bytes));
        if multiple > known.0 {
            *known = (multiple, bytes);
        }
    }
    let heap = |((workload, configuration), (multiple, bytes)): (_, (f64, u64))| {
        let bytes = (bytes as f64 / multiple / MIB).round().max(1.0) * MIB;
        MinHeap { workload, configuration, bytes: Ok(bytes as u64) }
    };
    largest.into_iter().map(heap).collect()
}

fn mean(metric: &str, records: &[&Record]) -> Measured {
    let counted = records.iter().filter(|record| record.counts());
    let values: Vec<f64> = counted.filter_map(|record| record.mean(metric)).collect();
    if values.is_empty() {
        let any = records.iter().any(|record| record.counts());
        return Err(if any { "was not measured".into() } else { why_nothing(records) });
    }
    let value = values.iter().sum::<f64>() / values.len() as f64;
    Ok(Estimate { value, interval: None, n: values.len() })
}

fn means(metric: &str, cells: &BTreeMap<Key, Vec<&Record>>) -> Means {
    // A workload that ran and never has the metric is not about it; one that never ran says so.
    let about = |workload: &str| {
        let mut counted = cells
            .iter()
            .filter(|(k, _)| k.workload == workload)
            .flat_map(|(_, r)| r)
            .filter(|r| r.counts())
            .peekable();
        counted.peek().is_none() || counted.any(|record| record.mean(metric).is_some())
    };
    let about: BTreeSet<&str> = cells
        .keys()
        .map(|key| key.workload.as_str())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .filter(|w| about(w))
        .collect();
    let point = |(key, records): (&Key, &Vec<&Record>)| MeanPoint {
        workload: key.workload.clone(),
        configuration: key.configuration.clone(),
        multiple: key.multiple(),
        mean: mean(metric, records),
    };
    let points = cells.iter().filter(|(key, _)| about.contains(key.workload.as_str())).map(point).collect();
    let units = cells.values().flatten().flat_map(|record| &record.iterations);
    let unit = units.filter_map(|iteration| iteration.units.get(metric)).next().cloned().unwrap_or_default();
    Means { metric: metric.to_owned(), unit, points }
}

/// The percentiles that records hold, each the mean over invocations.
fn tails(kind: &str, cells: &BTreeMap<Key, Vec<&Record>>) -> Option<Tails> {
    let places = [(50.0, "p50"), (90.0, "p90"), (99.0, "p99"), (99.9, "p99.9"), (100.0, "max")];
    let mut curves = Vec::new();
    for (key, records) in cells {
        let point = |(percentile, name): &(f64, &str)| {
            let value = mean(&format!("{kind}.{name}"), records).ok()?;
            Some((*percentile, value.value))
        };
        let points: Vec<(f64, f64)> = places.iter().filter_map(point).collect();
        // A single percentile is no curve; the tables have it.
        if points.len() > 1 {
            let (workload, configuration) = (key.workload.clone(), key.configuration.clone());
            curves.push(Tail { workload, configuration, multiple: key.multiple(), points });
        }
    }
    (!curves.is_empty()).then(|| Tails { kind: kind.to_owned(), curves })
}

/// Iterations of the first configuration of each workload, at the heap nearest to twice the smallest.
fn warm_ups(cells: &BTreeMap<Key, Vec<&Record>>) -> Vec<WarmUp> {
    /// Fewer iterations show nothing of a warm-up.
    const FEWEST: usize = 3;
    /// More lines than these hide each other.
    const MOST: usize = 8;
    let mut found: Vec<WarmUp> = Vec::new();
    let workloads: BTreeSet<&String> = cells.keys().map(|key| &key.workload).collect();
    for workload in workloads {
        let mine = || cells.iter().filter(|(key, _)| key.workload == *workload);
        let first = mine().map(|(key, _)| &key.configuration).next();
        let far = |key: &Key| key.multiple().map_or(0.0, |m| (m / super::HEAP).ln().abs());
        let nearest = mine()
            .filter(|(key, _)| Some(&key.configuration) == first)
            .min_by(|(a, _), (b, _)| far(a).total_cmp(&far(b)));
        let Some((key, records)) = nearest else { continue };
        let counted: Vec<&&Record> = records.iter().filter(|record| record.counts()).collect();
        let wall = |record: &&&Record| {
            let values: Vec<f64> =
                record.iterations.iter().map_while(|i| i.metrics.get("wall").copied()).collect();
            (values.len() >= FEWEST).then_some(values)
        };
        let invocations: Vec<Vec<f64>> = counted.iter().filter_map(wall).take(MOST).collect();
        let measured = counted.first().and_then(|r| r.iterations.iter().find(|i| i.measured));
        let Some(measured) = measured.filter(|_| !invocations.is_empty()) else { continue };
        let at = key.multiple().map(|m| format!(" {}", heap(m))).unwrap_or_default();
        found.push(WarmUp {
            workload: format!("{}{at}", key.workload),
            configuration: key.configuration.clone(),
            metric: "wall".into(),
            invocations,
            measured_from: measured.number,
            steady_from: None,
        });
    }
    found
}

/// All invocations with figures, in the order of their start.
fn order(metric: &str, records: &[Record], cells: &BTreeMap<Key, Vec<&Record>>) -> Vec<Turn> {
    let median = |records: &[&Record]| {
        let mut values: Vec<f64> =
            records.iter().filter(|r| r.counts()).filter_map(|r| r.mean(metric)).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().filter(|median| *median > 0.0)
    };
    let medians: BTreeMap<&Key, f64> =
        cells.iter().filter_map(|(key, records)| Some((key, median(records)?))).collect();
    let mut ran: Vec<&Record> = records.iter().collect();
    ran.sort_by(|a, b| (&a.host, &a.started).cmp(&(&b.host, &b.started)));
    let turn = |record: &&Record| {
        let median = medians.get(&Key::of(record))?;
        Some(Turn {
            workload: record.workload.clone(),
            relative: record.mean(metric)? / median,
            counts: record.counts(),
            block: record.invocation,
            host: record.host.clone(),
        })
    };
    ran.iter().filter_map(turn).collect()
}
