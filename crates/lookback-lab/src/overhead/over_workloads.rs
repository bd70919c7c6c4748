//! Overheads over workloads: geometric mean, mean, least and most (the last rows of the paper's Table 5).
//!
//! The constraint that shaped it: two means can be compared only when they are over the same workloads, and the hardest
//! workloads are those that a collector cannot run. So a mean is over the workloads that ran to the end at every point
//! it is compared with, and those left out are listed with what became of them. Must not drop a workload for its value.

use super::lower_bound::{Drawn, Wanted};
use super::roles::Roles;
use crate::results::HeapPoint;
use crate::statistics::{Estimate, geometric_mean, mean};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// With what a mean can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// With those of other configurations at the same heap: for tables.
    OneHeap,
    /// With those at all heaps: for curves.
    EveryHeap,
}

/// Overheads of a configuration at a heap over workloads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The host.
    pub host: String,
    /// With what it can be compared.
    pub scope: Scope,
    /// JDK and configuration.
    pub label: String,
    /// The heap.
    pub heap: HeapPoint,
    /// The workloads.
    pub workloads: Vec<String>,
    /// Geometric mean, with its bootstrap interval.
    pub geometric_mean: Estimate,
    /// Arithmetic mean.
    pub mean: f64,
    /// The least of all.
    pub least: f64,
    /// The most of all.
    pub most: f64,
    /// The arithmetic mean in parts, by whose threads took it.
    pub roles: Option<Roles>,
}

/// A workload that means were taken without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exclusion {
    /// The host.
    pub host: String,
    /// Of which means.
    pub scope: Scope,
    /// The heap; none over all heaps.
    pub heap: Option<HeapPoint>,
    /// The workload.
    pub workload: String,
    /// Where it did not run to the end: configuration, heap, what became of its invocations.
    pub points: Vec<(String, HeapPoint, String)>,
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is left out ", self.workload)?;
        match self.heap {
            Some(heap) => write!(f, "at {heap}: ")?,
            None => f.write_str("over all heaps: ")?,
        }
        let points: Vec<_> =
            self.points.iter().map(|(label, heap, why)| format!("{label} at {heap}: {why}")).collect();
        f.write_str(&points.join("; "))
    }
}

type Point = (String, HeapPoint);

/// Means over workloads, and what they were taken without. Epsilon has none: it runs out of memory by design, and would
/// leave only the workloads that hardly allocate.
pub(super) fn summarise(drawn: &[Drawn], wanted: &Wanted) -> (Vec<Summary>, Vec<Exclusion>) {
    let compared: Vec<&Drawn> = drawn
        .iter()
        .filter(|drawn| {
            wanted.has(drawn.cell.name.heap) && drawn.cell.collector.as_deref() != Some("epsilon")
        })
        .collect();
    let hosts: BTreeSet<&str> = compared.iter().map(|drawn| drawn.cell.name.host.as_str()).collect();
    let (mut summaries, mut exclusions) = (Vec::new(), Vec::new());
    for host in hosts {
        let of_host: Vec<&Drawn> =
            compared.iter().copied().filter(|drawn| drawn.cell.name.host == host).collect();
        let heaps: BTreeSet<HeapPoint> = of_host.iter().map(|drawn| drawn.cell.name.heap).collect();
        for &heap in &heaps {
            let at_heap: Vec<_> =
                of_host.iter().copied().filter(|drawn| drawn.cell.name.heap == heap).collect();
            one(&at_heap, host, Some(heap), wanted, &mut summaries, &mut exclusions);
        }
        if heaps.len() > 1 {
            one(&of_host, host, None, wanted, &mut summaries, &mut exclusions);
        }
    }
    (summaries, exclusions)
}

fn one(
    drawn: &[&Drawn],
    host: &str,
    heap: Option<HeapPoint>,
    wanted: &Wanted,
    summaries: &mut Vec<Summary>,
    exclusions: &mut Vec<Exclusion>,
) {
    let scope = if heap.is_some() { Scope::OneHeap } else { Scope::EveryHeap };
    let complete = |drawn: &Drawn| drawn.cell.overhead.is_some() && drawn.cell.tally.complete();
    let point = |drawn: &Drawn| (drawn.cell.name.label(), drawn.cell.name.heap);
    // A point at which nothing ran compares with nothing, and must not leave all workloads out.
    let points: BTreeSet<Point> =
        drawn.iter().filter(|drawn| complete(drawn)).map(|drawn| point(drawn)).collect();
    let workloads: BTreeSet<&str> = drawn.iter().map(|drawn| drawn.cell.name.workload.as_str()).collect();
    let cell = |workload: &str, at: &Point| {
        drawn.iter().copied().find(|drawn| drawn.cell.name.workload == workload && point(drawn) == *at)
    };
    let mut kept = Vec::new();
    for workload in workloads {
        let missing: Vec<_> = points
            .iter()
            .filter_map(|at| match cell(workload, at) {
                Some(found) if complete(found) => None,
                Some(found) if found.cell.tally.complete() => {
                    Some((at.0.clone(), at.1, format!("no baseline with {} invocations", found.cell.n)))
                }
                Some(found) => Some((at.0.clone(), at.1, found.cell.tally.to_string())),
                None => Some((at.0.clone(), at.1, "not run".to_owned())),
            })
            .collect();
        if missing.is_empty() {
            kept.push(workload);
        } else {
            let (host, workload) = (host.to_owned(), workload.to_owned());
            exclusions.push(Exclusion { host, scope, heap, workload, points: missing });
        }
    }
    for at in &points {
        let cells: Vec<&Drawn> = kept.iter().filter_map(|workload| cell(workload, at)).collect();
        let values: Vec<f64> = cells.iter().filter_map(|drawn| Some(drawn.cell.overhead?.value)).collect();
        let Some((geometric, arithmetic)) = geometric_mean(&values).zip(mean(&values)) else { continue };
        summaries.push(Summary {
            host: host.to_owned(),
            scope,
            label: at.0.clone(),
            heap: at.1,
            workloads: kept.iter().map(|workload| (*workload).to_owned()).collect(),
            geometric_mean: Estimate { value: geometric, interval: interval(&cells, wanted) },
            mean: arithmetic,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(0.0, f64::max),
            roles: Roles::mean(cells.iter().map(|drawn| drawn.cell.roles)),
        });
    }
}

/// The interval of the geometric mean: workloads are drawn independently of each other, so the resamples of each are
/// put together one by one.
fn interval(cells: &[&Drawn], wanted: &Wanted) -> Option<crate::statistics::Interval> {
    let resamples = cells.iter().map(|drawn| drawn.replicates.len()).min()?;
    let mut means: Vec<f64> = (0..resamples)
        .map(|i| {
            let sum: f64 = cells.iter().map(|drawn| drawn.replicates[i].ln()).sum();
            (sum / cells.len() as f64).exp()
        })
        .collect();
    let freedom: usize = cells.iter().map(|drawn| drawn.cell.n.saturating_sub(1)).sum();
    wanted.drawing.bootstrap.interval(&mut means, freedom + 1)
}
