//! What a tracer costs: the traced program by the bare one, at the same heap, collector and JDK.
//!
//! The constraint that shaped it: for a tracer there is a program without it, so the ratio is measured and not bounded,
//! and its pairs are of the same block. Must not compare configurations that differ in anything but the tracer.

use super::over_hosts::{OverHosts, Studies, merged};
use crate::error::Result;
use crate::results::{CellName, CellRecords, HeapPoint, Record, cells};
use crate::statistics::{Bootstrap, Estimate, LogRatios, MeanOfMeans, Study, geometric_mean, median, pairs};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Overheads of all tracers in the records.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TracerCosts {
    /// One a traced cell that has a bare one.
    pub overheads: Vec<TracerOverhead>,
    /// Over workloads.
    pub summaries: Vec<TracerSummary>,
    /// Over hosts, where two or more have it: of each workload, and of all where each has two pairs or more.
    pub over_hosts: Vec<OverHosts>,
    /// Traced cells without a ratio, and why.
    pub left_out: Vec<(CellName, String)>,
}

/// What a tracer costs one workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TracerOverhead {
    /// The traced cell.
    pub name: CellName,
    /// The tracer.
    pub tracer: String,
    /// JDK and configuration of the bare program.
    pub bare: String,
    /// Pairs.
    pub n: usize,
    /// Traced by bare, with Student's interval.
    pub ratio: Estimate,
    /// The same with the bias-corrected and accelerated bootstrap interval.
    pub by_bootstrap: Estimate,
}

/// What a tracer costs over workloads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TracerSummary {
    /// The host.
    pub host: String,
    /// JDK and configuration.
    pub label: String,
    /// The heap.
    pub heap: HeapPoint,
    /// How many workloads.
    pub workloads: usize,
    /// Geometric mean of the ratios, with Student's interval for these workloads where each has two pairs or more.
    pub geometric_mean: Estimate,
    /// Median of the ratios.
    pub median: f64,
    /// The workload with the largest ratio, and that ratio.
    pub worst: (String, f64),
}

/// Ratios of a metric of traced programs by their bare ones.
///
/// # Errors
/// [`crate::Error::MixedCells`].
pub fn tracer_overheads(records: &[Record], metric: &str, bootstrap: &Bootstrap) -> Result<TracerCosts> {
    let cells = cells(records)?;
    let (mut overheads, mut left_out) = (Vec::new(), Vec::new());
    let mut strata: BTreeMap<(String, String, HeapPoint), Vec<LogRatios>> = BTreeMap::new();
    let mut studies = Studies::new();
    for traced in &cells {
        let Some(tracer) = traced.tracer else { continue };
        let Some(bare) = bare_of(traced, &cells) else {
            left_out.push((traced.name.clone(), "the bare program is not among the results".into()));
            continue;
        };
        let found = pairs(&bare.values(metric), &traced.values(metric));
        let Some(ratios) = LogRatios::of(&found) else {
            let why = format!("no pairs; bare: {}; traced: {}", bare.tally(), traced.tally());
            left_out.push((traced.name.clone(), why));
            continue;
        };
        overheads.push(TracerOverhead {
            name: traced.name.clone(),
            tracer: tracer.to_owned(),
            bare: bare.name.label(),
            n: ratios.values().len(),
            ratio: ratios.ratio(bootstrap.level),
            by_bootstrap: ratios.ratio_by_bootstrap(bootstrap),
        });
        if let Some(error) = ratios.error() {
            let key = (Some(traced.name.workload.clone()), traced.name.label(), traced.name.heap);
            studies.entry(key).or_default().push(Study { value: ratios.mean(), error });
        }
        let key = (traced.name.host.clone(), traced.name.label(), traced.name.heap);
        strata.entry(key).or_default().push(ratios);
    }
    let summaries = strata
        .iter()
        .filter_map(|((host, label, heap), ratios)| {
            let of_point: Vec<&TracerOverhead> = overheads
                .iter()
                .filter(|o| o.name.host == *host && o.name.label() == *label && o.name.heap == *heap)
                .collect();
            summary(&of_point, ratios, bootstrap.level)
        })
        .collect();
    for ((_, label, heap), ratios) in &strata {
        let own: Option<Vec<_>> = ratios.iter().map(LogRatios::stratum).collect();
        if let Some(all) = own.and_then(|own| MeanOfMeans::of(&own)) {
            let study = Study { value: all.mean, error: all.error };
            studies.entry((None, label.clone(), *heap)).or_default().push(study);
        }
    }
    let over_hosts = merged(studies, bootstrap.level);
    Ok(TracerCosts { overheads, summaries, over_hosts, left_out })
}

/// The cell without a tracer whose configuration says the most of what the traced one says, and nothing else but
/// `bare`.
fn bare_of<'a>(traced: &CellRecords<'_>, cells: &'a [CellRecords<'a>]) -> Option<&'a CellRecords<'a>> {
    let words = |cell: &CellRecords<'_>| -> BTreeSet<String> {
        let parts = cell.name.configuration.split('|').filter(|part| *part != "bare" && !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let of_traced = words(traced);
    let same_place = |cell: &&CellRecords<'_>| {
        let (a, b) = (&cell.name, &traced.name);
        a.host == b.host && a.workload == b.workload && a.jdk == b.jdk && a.heap == b.heap
    };
    cells
        .iter()
        .filter(|cell| cell.tracer.is_none() && cell.collector == traced.collector)
        .filter(same_place)
        .filter(|cell| words(cell).is_subset(&of_traced))
        // What is left over must be the tracer's one modifier, or something else differs as well.
        .find(|cell| of_traced.len() - words(cell).len() == 1)
}

fn summary(overheads: &[&TracerOverhead], ratios: &[LogRatios], level: f64) -> Option<TracerSummary> {
    let values: Vec<f64> = overheads.iter().map(|overhead| overhead.ratio.value).collect();
    let worst = overheads.iter().max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))?;
    let strata: Option<Vec<_>> = ratios.iter().map(LogRatios::stratum).collect();
    let with_interval = strata.and_then(|strata| MeanOfMeans::of(&strata)).map(|all| all.estimate(level));
    let plain = Estimate { value: geometric_mean(&values)?.ln(), interval: None };
    Some(TracerSummary {
        host: worst.name.host.clone(),
        label: worst.name.label(),
        heap: worst.name.heap,
        workloads: overheads.len(),
        geometric_mean: with_interval.unwrap_or(plain).map(f64::exp),
        median: median(&values)?,
        worst: (worst.name.workload.clone(), worst.ratio.value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::made_up::record;

    #[test]
    fn a_traced_program_is_paired_with_its_bare_one() {
        let mut records = Vec::new();
        for (workload, factor) in [("h2", 1.02), ("fop", 1.05), ("xalan", 1.3)] {
            for block in 1..=6_u32 {
                let level = 100.0 * f64::from(block);
                for (configuration, cost) in
                    [("g1|bare", level), ("g1|compact|bare", 9.0 * level), ("g1|lookback", factor * level)]
                {
                    records.push(record(workload, configuration, 2.0, block, &[("cpu", cost)]));
                }
            }
        }
        let found = tracer_overheads(&records, "cpu", &Bootstrap::default()).unwrap();
        assert_eq!(found.overheads.len(), 3);
        assert!(found.overheads.iter().all(|o| o.bare == "17|g1|bare" && o.n == 6 && o.tracer == "lookback"));
        let summary = &found.summaries[0];
        // The cube root of 1.02 * 1.05 * 1.3.
        assert!((summary.geometric_mean.value - (1.02_f64 * 1.05 * 1.3).cbrt()).abs() < 1e-9);
        assert!((summary.median - 1.05).abs() < 1e-9);
        assert_eq!((summary.worst.0.as_str(), summary.workloads), ("xalan", 3));
    }

    #[test]
    fn hosts_that_differ_are_merged_and_how_far_they_differ_is_told() {
        let mut records = Vec::new();
        for (host, factor) in [("a", 1.02), ("b", 1.10)] {
            for block in 1..=6_u32 {
                let scatter = 1.0 + 0.001 * f64::from(block % 3);
                for (configuration, cost) in [("g1|bare", 100.0), ("g1|lookback", 100.0 * factor * scatter)] {
                    let one = record("h2", configuration, 2.0, block, &[("cpu", cost)]);
                    records.push(Record { host: host.into(), ..one });
                }
            }
        }
        let found = tracer_overheads(&records, "cpu", &Bootstrap::default()).unwrap().over_hosts;
        assert_eq!(found.iter().filter(|one| one.workload.is_none()).count(), 1);
        let h2 = found.iter().find(|one| one.workload.as_deref() == Some("h2")).unwrap();
        let middle = (1.02_f64 * 1.10).sqrt() * 1.001;
        assert!((h2.overhead.value - middle).abs() < 1e-4, "{h2:?}");
        assert!(h2.between_percent > 99.0 && h2.hosts == 2, "{h2:?}");
        // Two values differ by so much from their mean, by n - 1.
        assert!((h2.between - (1.10_f64 / 1.02).ln() / 2.0_f64.sqrt()).abs() < 1e-3, "{h2:?}");
    }

    #[test]
    fn what_differs_in_more_than_the_tracer_has_no_bare_program() {
        let records = [
            record("h2", "g1|bare", 2.0, 1, &[("cpu", 1.0)]),
            record("h2", "g1|compact|lookback", 2.0, 1, &[("cpu", 1.0)]),
            record("h2", "g1|lookback", 3.0, 1, &[("cpu", 1.0)]),
        ];
        let found = tracer_overheads(&records, "cpu", &Bootstrap::default()).unwrap();
        assert!(found.overheads.is_empty());
        assert_eq!(found.left_out.len(), 2);
    }
}
