//! Overheads of several hosts put together.
//!
//! The constraint that shaped it: each host has baselines of its own, so what can be merged are ratios, and hosts stand
//! for others like them. Must not hide that hosts differ: how much of the variation lies between them is told.

use super::lower_bound::LowerBounds;
use super::over_workloads::Scope;
use crate::results::HeapPoint;
use crate::statistics::{Estimate, Study, normal_quantile, random_effects};
use serde::Serialize;
use std::collections::BTreeMap;

/// An overhead over hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OverHosts {
    /// The workload; none for the geometric mean over workloads at one heap.
    pub workload: Option<String>,
    /// JDK and configuration.
    pub label: String,
    /// The heap.
    pub heap: HeapPoint,
    /// The overhead, with the interval for such hosts in general.
    pub overhead: Estimate,
    /// Standard deviation of the overhead's logarithm between hosts, beyond what their own errors explain (tau).
    pub between: f64,
    /// Percent of the variation that is between hosts (I squared).
    pub between_percent: f64,
    /// How many hosts.
    pub hosts: usize,
}

/// Overheads that two hosts or more have, merged by random effects on the logarithm.
pub fn over_hosts(found: &LowerBounds) -> Vec<OverHosts> {
    let level = found.wanted.drawing.bootstrap.level;
    let z = normal_quantile(0.5 + level / 2.0);
    let mut studies = Studies::new();
    let mut add = |workload: Option<&str>, label: String, heap: HeapPoint, overhead: Estimate| {
        if let Some(interval) = overhead.interval {
            let error = (interval.high / interval.low).ln() / (2.0 * z);
            let study = Study { value: overhead.value.ln(), error };
            studies.entry((workload.map(str::to_owned), label, heap)).or_default().push(study);
        }
    };
    for cell in found.programs.iter().flat_map(|program| &program.cells) {
        if let Some(overhead) = cell.overhead.filter(|_| found.wanted.has(cell.name.heap)) {
            add(Some(&cell.name.workload), cell.name.label(), cell.name.heap, overhead);
        }
    }
    for summary in found.summaries.iter().filter(|summary| summary.scope == Scope::OneHeap) {
        add(None, summary.label.clone(), summary.heap, summary.geometric_mean);
    }
    merged(studies, level)
}

/// What each host says of a workload, or all of them, under a configuration at a heap.
pub(super) type Studies = BTreeMap<(Option<String>, String, HeapPoint), Vec<Study>>;

/// What two hosts or more say, merged; what only one does is left out.
pub(super) fn merged(studies: Studies, level: f64) -> Vec<OverHosts> {
    studies
        .into_iter()
        .filter(|(_, studies)| studies.len() > 1)
        .filter_map(|((workload, label, heap), studies)| {
            let merged = random_effects(&studies, level)?;
            Some(OverHosts {
                workload,
                label,
                heap,
                overhead: merged.estimate.map(f64::exp),
                between: merged.between,
                between_percent: merged.between_percent,
                hosts: merged.hosts,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overhead::{Distillation, Wanted, lower_bounds};
    use crate::results::made_up::record;

    #[test]
    fn hosts_of_other_speed_are_merged_by_their_ratios() {
        let mut records = Vec::new();
        for (host, speed) in [("a", 1.0), ("b", 3.0)] {
            for invocation in 1..=6_u32 {
                let scatter = 1.0 + 0.01 * f64::from(invocation % 3);
                for (collector, cpu, pauses) in [("serial", 130.0, 30.0), ("g1", 180.0, 40.0)] {
                    let metrics = [("cpu", cpu * speed * scatter), ("cpu.pauses", pauses * speed * scatter)];
                    let mut one = record("h2", collector, 2.0, invocation, &metrics);
                    one.host = host.into();
                    records.push(one);
                }
            }
        }
        let found = lower_bounds(&records, &Wanted::of("cpu", Distillation::Pauses)).unwrap();
        let merged = over_hosts(&found);
        let g1 = merged.iter().find(|m| m.workload.as_deref() == Some("h2") && m.label == "17|g1").unwrap();
        assert_eq!((g1.hosts, g1.between, g1.between_percent), (2, 0.0, 0.0), "their ratios are the same");
        assert!((g1.overhead.value - 1.8).abs() < 0.01, "{g1:?}");
        assert!(g1.overhead.interval.unwrap().contains(1.8));
        assert_eq!(merged.iter().filter(|m| m.workload.is_none()).count(), 2);
    }
}
