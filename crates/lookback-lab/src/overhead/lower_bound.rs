//! Lower bound overheads of all cells of the records.
//!
//! The constraint that shaped it: a cell that could not run is part of the result, as a collector that needs more heap
//! than there is pays for it there. So every cell is in the answer, with what became of its invocations. Must not take
//! a traced program: its cost is not a collector's.

use super::baseline::{Baseline, Bounds, Cost, Drawing, bounds, is_candidate, mean_distilled, mean_total};
use super::distill::{Distillation, cost};
use super::over_workloads::{Exclusion, Summary, summarise};
use super::roles::Roles;
use crate::error::{Error, Result};
use crate::metric::DISTILLABLE;
use crate::results::{CellName, CellRecords, HeapPoint, Record, Tally, cells};
use crate::statistics::Estimate;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Wanted {
    /// One of [`DISTILLABLE`].
    pub metric: String,
    /// How costs are distilled.
    pub distillation: Distillation,
    /// Only these heaps are compared; none is all. Baselines are taken over all heaps in any case.
    pub heaps: Option<Vec<HeapPoint>>,
    /// Only this workload.
    pub workload: Option<String>,
    /// How baselines are drawn.
    pub drawing: Drawing,
}

impl Wanted {
    /// All overheads of a metric by a distillation.
    pub fn of(metric: &str, distillation: Distillation) -> Wanted {
        Wanted {
            metric: metric.to_owned(),
            distillation,
            heaps: None,
            workload: None,
            drawing: Drawing::default(),
        }
    }

    /// Whether a heap is compared.
    pub fn has(&self, heap: HeapPoint) -> bool {
        self.heaps.as_ref().is_none_or(|heaps| heaps.contains(&heap))
    }
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LowerBounds {
    /// What was asked.
    pub wanted: Wanted,
    /// Each workload on each JDK and host.
    pub programs: Vec<Program>,
    /// Means over workloads.
    pub summaries: Vec<Summary>,
    /// Workloads that means were taken without.
    pub exclusions: Vec<Exclusion>,
}

/// A workload on a JDK and host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Program {
    /// The host.
    pub host: String,
    /// The workload.
    pub workload: String,
    /// The JDK's name.
    pub jdk: String,
    /// The baseline; none when no cell has five invocations with a distilled cost.
    pub baseline: Option<Baseline>,
    /// All cells without a tracer, those of heaps that are not compared too; [`Baseline`] has indexes into them.
    pub cells: Vec<CellOverhead>,
}

impl Program {
    /// The least overhead of Epsilon, which collects nothing, where it ran: below 1, the baseline is known to be too
    /// high by that; far above 1, Epsilon pays for memory that was never touched before.
    pub fn epsilon(&self) -> Option<f64> {
        let epsilon = self.cells.iter().filter(|cell| cell.collector.as_deref() == Some("epsilon"));
        epsilon.filter_map(|cell| Some(cell.overhead?.value)).reduce(f64::min)
    }

    /// Cells that look lower than the baseline and have too few invocations to be it: with more of them, all overheads of
    /// the program may be higher, and an overhead below 1 is theirs.
    pub fn passed_over(&self) -> impl Iterator<Item = &CellOverhead> {
        let baseline = self.baseline.as_ref().map_or(0.0, |baseline| baseline.value);
        let lower = move |cell: &&CellOverhead| cell.distilled.is_some_and(|cost| cost < baseline);
        self.cells.iter().filter(|cell| !cell.candidate).filter(lower)
    }
}

/// A cell and its overhead.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellOverhead {
    /// What it is called.
    pub name: CellName,
    /// The collector.
    pub collector: Option<String>,
    /// What became of its invocations.
    pub tally: Tally,
    /// Invocations with a total cost.
    pub n: usize,
    /// Mean total cost in the metric's unit.
    pub total: Option<f64>,
    /// Mean distilled cost in the metric's unit.
    pub distilled: Option<f64>,
    /// Whether it may be the baseline: at least [`FEWEST`] invocations have a distilled cost.
    ///
    /// [`FEWEST`]: super::FEWEST
    pub candidate: bool,
    /// Total by baseline.
    pub overhead: Option<Estimate>,
    /// Total by the lowest mean as it stands: too high by luck.
    pub naive: Option<f64>,
    /// The overhead in parts, by whose threads took it; none of wall time, or when roles were not measured.
    pub roles: Option<Roles>,
}

/// A cell with what its bootstrap resamples gave.
pub(super) struct Drawn {
    pub(super) cell: CellOverhead,
    pub(super) replicates: Vec<f64>,
}

/// Lower bound overheads of the records, without those of traced programs.
///
/// # Errors
/// [`Error::NotDistillable`], [`Error::Unknown`] of a workload, heap or metric, [`Error::MixedCells`].
pub fn lower_bounds(records: &[Record], wanted: &Wanted) -> Result<LowerBounds> {
    if !DISTILLABLE.contains(&wanted.metric.as_str()) {
        return Err(Error::NotDistillable { metric: wanted.metric.clone() });
    }
    let all = cells(records)?;
    check(&all, wanted)?;
    let mut programs: BTreeMap<(&str, &str, &str), Vec<&CellRecords<'_>>> = BTreeMap::new();
    for cell in all.iter().filter(|cell| cell.tracer.is_none()) {
        let name = &cell.name;
        if wanted.workload.as_ref().is_none_or(|workload| name.workload == *workload) {
            programs.entry((&name.host, &name.workload, &name.jdk)).or_default().push(cell);
        }
    }
    let mut found = Vec::new();
    let mut drawn = Vec::new();
    for ((host, workload, jdk), cells) in programs {
        let (baseline, cells) = program(&format!("{host}/{workload}/{jdk}"), &cells, wanted);
        found.push(Program {
            host: host.into(),
            workload: workload.into(),
            jdk: jdk.into(),
            baseline,
            cells: cells.iter().map(|drawn| drawn.cell.clone()).collect(),
        });
        drawn.extend(cells);
    }
    let (summaries, exclusions) = summarise(&drawn, wanted);
    Ok(LowerBounds { wanted: wanted.clone(), programs: found, summaries, exclusions })
}

fn check(all: &[CellRecords<'_>], wanted: &Wanted) -> Result<()> {
    let bare = || all.iter().filter(|cell| cell.tracer.is_none());
    if let Some(workload) = &wanted.workload {
        let known: BTreeSet<_> = bare().map(|cell| cell.name.workload.clone()).collect();
        if !known.contains(workload) {
            let known = known.into_iter().collect();
            return Err(Error::Unknown { kind: "workload", name: workload.clone(), known });
        }
    }
    let known: BTreeSet<_> = bare().map(|cell| cell.name.heap).collect();
    if let Some(heap) = wanted.heaps.iter().flatten().find(|heap| !known.contains(heap)) {
        let known = known.iter().map(HeapPoint::to_string).collect();
        return Err(Error::Unknown { kind: "heap", name: heap.to_string(), known });
    }
    let has = |metric: &str| bare().any(|cell| cell.counted().any(|record| record.mean(metric).is_some()));
    if !has(&wanted.metric) {
        let known =
            DISTILLABLE.iter().filter(|metric| has(metric)).map(|metric| (*metric).to_owned()).collect();
        return Err(Error::Unknown { kind: "metric", name: wanted.metric.clone(), known });
    }
    Ok(())
}

fn program(name: &str, cells: &[&CellRecords<'_>], wanted: &Wanted) -> (Option<Baseline>, Vec<Drawn>) {
    let costs: Vec<Vec<Cost>> = cells
        .iter()
        .map(|cell| {
            let of = |record: &Record| {
                let (total, distilled) = cost(record, &wanted.metric, wanted.distillation)?;
                Some(Cost { block: record.invocation, total, distilled })
            };
            cell.counted().filter_map(of).collect()
        })
        .collect();
    // Cells without any cost take no part, and indexes are those of all cells again afterwards.
    let places: Vec<usize> = (0..costs.len()).filter(|&i| !costs[i].is_empty()).collect();
    let with_costs: Vec<Vec<Cost>> = places.iter().map(|&i| costs[i].clone()).collect();
    let mut bounds = bounds(name, &with_costs, &wanted.drawing);
    if let Some(Bounds { baseline, .. }) = &mut bounds {
        baseline.naive_cell = places[baseline.naive_cell];
        baseline.chosen.iter_mut().for_each(|(cell, _)| *cell = places[*cell]);
    }
    let chosen = bounds.as_ref().and_then(|bounds| bounds.baseline.chosen.first());
    let of_baseline = chosen.map_or(0, |&(cell, _)| costs[cell].len());
    let mut drawn: Vec<Drawn> = cells
        .iter()
        .zip(&costs)
        .map(|(cell, costs)| Drawn {
            cell: CellOverhead {
                name: cell.name.clone(),
                collector: cell.collector.map(str::to_owned),
                tally: cell.tally(),
                n: costs.len(),
                total: mean_total(costs),
                distilled: mean_distilled(costs),
                candidate: is_candidate(costs),
                overhead: None,
                naive: None,
                roles: None,
            },
            replicates: Vec::new(),
        })
        .collect();
    let Some(bounds) = bounds else { return (None, drawn) };
    for ((place, overhead), replicates) in places.into_iter().zip(bounds.overheads).zip(bounds.replicates) {
        let Drawn { cell, replicates: kept } = &mut drawn[place];
        let interval = wanted.drawing.bootstrap.interval(&mut replicates.clone(), cell.n.min(of_baseline));
        cell.overhead = Some(Estimate { value: overhead, interval });
        cell.naive = cell.total.map(|total| total / bounds.baseline.naive);
        let with_total = cells[place]
            .counted()
            .filter(|record| cost(record, &wanted.metric, wanted.distillation).is_some());
        let roles = Roles::mean(with_total.map(|record| Roles::of(record, &wanted.metric)));
        cell.roles = roles.map(|roles| roles.by(bounds.baseline.value));
        *kept = replicates;
    }
    (Some(bounds.baseline), drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overhead::Scope;
    use crate::results::Outcome;
    use crate::results::made_up::record;
    use crate::statistics::Bootstrap;

    fn wanted() -> Wanted {
        let bootstrap = Bootstrap { resamples: 100, ..Bootstrap::default() };
        Wanted {
            drawing: Drawing { divisions: 20, divisions_a_resample: 1, bootstrap },
            ..Wanted::of("cpu", Distillation::Pauses)
        }
    }

    /// Five invocations that scatter by nothing.
    fn cell(workload: &str, collector: &str, heap: f64, cpu: f64, pauses: f64) -> Vec<Record> {
        (1..=5)
            .map(|i| record(workload, collector, heap, i, &[("cpu", cpu), ("cpu.pauses", pauses)]))
            .collect()
    }

    fn out_of_memory(workload: &str, collector: &str, heap: f64) -> Vec<Record> {
        let mut records = cell(workload, collector, heap, 1.0, 0.0);
        for record in &mut records {
            record.outcome = Outcome::OutOfMemory;
            record.iterations.clear();
        }
        records
    }

    /// A table in the manner of Cai et al., section 4. Serial and Z on two workloads at 2x and 4x:
    ///
    /// ```text
    ///                 total  in pauses  distilled
    /// h2   serial 2x    130         30        100
    /// h2   serial 4x    115         10        105
    /// h2   zgc    2x    200          0        200
    /// h2   zgc    4x    160          0        160   baseline 100: 1.30 1.15 2.00 1.60
    /// fop  serial 2x     66         10         56
    /// fop  serial 4x     55          5         50
    /// fop  zgc    2x     out of memory
    /// fop  zgc    4x     80          0         80   baseline  50: 1.32 1.10  --  1.60
    /// xalan serial 2x    40         20         20
    /// xalan serial 4x    30          5         25
    /// xalan zgc    2x    30          0         30
    /// xalan zgc    4x    25          0         25   baseline  20: 2.00 1.50 1.50 1.25
    /// ```
    fn table() -> Vec<Record> {
        [
            cell("h2", "serial", 2.0, 130.0, 30.0),
            cell("h2", "serial", 4.0, 115.0, 10.0),
            cell("h2", "zgc", 2.0, 200.0, 0.0),
            cell("h2", "zgc", 4.0, 160.0, 0.0),
            cell("fop", "serial", 2.0, 66.0, 10.0),
            cell("fop", "serial", 4.0, 55.0, 5.0),
            out_of_memory("fop", "zgc", 2.0),
            cell("fop", "zgc", 4.0, 80.0, 0.0),
            cell("xalan", "serial", 2.0, 40.0, 20.0),
            cell("xalan", "serial", 4.0, 30.0, 5.0),
            cell("xalan", "zgc", 2.0, 30.0, 0.0),
            cell("xalan", "zgc", 4.0, 25.0, 0.0),
        ]
        .concat()
    }

    fn overhead(found: &LowerBounds, workload: &str, configuration: &str, heap: &str) -> Option<f64> {
        let cells = found.programs.iter().flat_map(|program| &program.cells);
        let mut cells = cells.filter(|cell| {
            cell.name.workload == workload
                && cell.name.configuration == configuration
                && cell.name.heap.to_string() == heap
        });
        Some(cells.next()?.overhead?.value)
    }

    #[test]
    fn a_table_worked_by_hand() {
        let found = lower_bounds(&table(), &wanted()).unwrap();
        for (workload, expected) in [
            ("h2", [Some(1.3), Some(1.15), Some(2.0), Some(1.6)]),
            ("fop", [Some(1.32), Some(1.1), None, Some(1.6)]),
            ("xalan", [Some(2.0), Some(1.5), Some(1.5), Some(1.25)]),
        ] {
            let points = [("serial", "2x"), ("serial", "4x"), ("zgc", "2x"), ("zgc", "4x")];
            for ((collector, heap), expected) in points.into_iter().zip(expected) {
                let got = overhead(&found, workload, collector, heap);
                let near = got.zip(expected).is_some_and(|(got, expected)| (got - expected).abs() < 1e-9);
                assert!(near || got == expected, "{workload} {collector} {heap}: {got:?}");
            }
        }
        let fop = &found.programs[0];
        assert_eq!(fop.cells[2].tally.to_string(), "out of memory 5/5");
        assert_eq!(fop.baseline.as_ref().unwrap().chosen, [(1, 1.0)]);
    }

    #[test]
    fn means_are_over_workloads_that_ran_at_every_point() {
        let found = lower_bounds(&table(), &wanted()).unwrap();
        let summary = |scope: Scope, label: &str, heap: &str| {
            let mut all = found.summaries.iter();
            all.find(|s| s.scope == scope && s.label == label && s.heap.to_string() == heap).unwrap().clone()
        };
        // At 2x without fop: serial sqrt(1.3 * 2), zgc sqrt(2 * 1.5); at 4x with it: zgc cube root of 1.6 * 1.6 * 1.25.
        let at_2x = summary(Scope::OneHeap, "17|serial", "2x");
        assert_eq!(at_2x.workloads, ["h2", "xalan"]);
        assert!((at_2x.geometric_mean.value - (1.3_f64 * 2.0).sqrt()).abs() < 1e-9);
        assert!((at_2x.least - 1.3).abs() < 1e-9 && (at_2x.most - 2.0).abs() < 1e-9);
        assert!((at_2x.mean - 1.65).abs() < 1e-9);
        let zgc = summary(Scope::OneHeap, "17|zgc", "4x");
        assert!((zgc.geometric_mean.value - (1.6_f64 * 1.6 * 1.25).cbrt()).abs() < 1e-9);
        // Over all heaps fop is out everywhere.
        let everywhere = summary(Scope::EveryHeap, "17|zgc", "4x");
        assert!((everywhere.geometric_mean.value - (1.6_f64 * 1.25).sqrt()).abs() < 1e-9);
        let words: Vec<_> = found.exclusions.iter().map(Exclusion::to_string).collect();
        assert_eq!(
            words,
            [
                "fop is left out at 2x: 17|zgc at 2x: out of memory 5/5",
                "fop is left out over all heaps: 17|zgc at 2x: out of memory 5/5",
            ]
        );
    }

    #[test]
    fn heaps_that_are_not_compared_are_candidates_all_the_same() {
        let only = Wanted { heaps: Some(vec!["4x".parse().unwrap()]), ..wanted() };
        let found = lower_bounds(&table(), &only).unwrap();
        assert!(
            (overhead(&found, "h2", "serial", "4x").unwrap() - 1.15).abs() < 1e-9,
            "the baseline is of 2x"
        );
        assert!(found.summaries.iter().all(|summary| summary.heap.to_string() == "4x"));
        assert!(found.exclusions.is_empty());
        let none = Wanted { heaps: Some(vec!["3x".parse().unwrap()]), ..wanted() };
        assert!(matches!(lower_bounds(&table(), &none), Err(Error::Unknown { kind: "heap", .. })));
    }

    #[test]
    fn a_jdk_and_a_host_have_baselines_of_their_own() {
        let mut other = cell("h2", "serial", 2.0, 65.0, 15.0);
        other.iter_mut().for_each(|record| record.jdk = "25".into());
        let mut elsewhere = cell("h2", "serial", 2.0, 1300.0, 300.0);
        elsewhere.iter_mut().for_each(|record| record.host = "slow".into());
        let found = lower_bounds(&[table(), other, elsewhere].concat(), &wanted()).unwrap();
        let of = |host: &str, jdk: &str| {
            let program =
                found.programs.iter().find(|p| p.host == host && p.jdk == jdk && p.workload == "h2");
            program.unwrap().cells[0].overhead.unwrap().value
        };
        for overhead in [of("host", "17"), of("host", "25"), of("slow", "17")] {
            assert!((overhead - 1.3).abs() < 1e-9, "{overhead}");
        }
    }

    #[test]
    fn epsilon_is_a_candidate_and_traced_programs_are_not() {
        let epsilon = cell("h2", "epsilon", 0.0, 90.0, 0.0);
        let traced = cell("h2", "g1|lookback", 2.0, 10.0, 0.0);
        let found = lower_bounds(&[table(), epsilon, traced].concat(), &wanted()).unwrap();
        let h2 = found.programs.iter().find(|program| program.workload == "h2").unwrap();
        assert!((h2.baseline.as_ref().unwrap().value - 90.0).abs() < 1e-9);
        assert_eq!(h2.epsilon(), Some(1.0));
        assert!(h2.cells.iter().all(|cell| cell.name.configuration != "g1|lookback"));
        assert!(found.summaries.iter().all(|summary| summary.label != "17|epsilon"));
    }

    /// Serial takes 130: 90 the program, 30 the collector, 10 the compilers; the baseline is 100. Z takes 200: 110, 70, 20.
    #[test]
    fn an_overhead_is_the_sum_of_its_roles() {
        let with = |collector, cpu, pauses, [mutator, gc, jit]: [f64; 3]| {
            let parts = [("cpu.mutator", mutator), ("cpu.gc", gc), ("cpu.jit", jit), ("cpu.vm", 0.0)];
            let metrics = [&[("cpu", cpu), ("cpu.pauses", pauses)], &parts[..]].concat();
            (1..=5).map(move |i| record("h2", collector, 2.0, i, &metrics)).collect::<Vec<_>>()
        };
        let records =
            [with("serial", 130.0, 30.0, [90.0, 30.0, 10.0]), with("zgc", 200.0, 0.0, [110.0, 70.0, 20.0])];
        let found = lower_bounds(&records.concat(), &wanted()).unwrap();
        let roles: Vec<Roles> = found.programs[0].cells.iter().map(|cell| cell.roles.unwrap()).collect();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        for (roles, [mutator, gc, jit]) in roles.iter().zip([[0.9, 0.3, 0.1], [1.1, 0.7, 0.2]]) {
            assert!(
                close(roles.mutator, mutator) && close(roles.gc, gc) && close(roles.jit, jit),
                "{roles:?}"
            );
        }
        assert_eq!(found.summaries[1].roles, Some(roles[1]), "of one workload the mean is its own");
        let without = lower_bounds(&table(), &wanted()).unwrap();
        assert!(without.summaries.iter().all(|summary| summary.roles.is_none()));
    }

    /// Z with four invocations of 80 where the baseline is 100; with a fifth it is the baseline itself.
    #[test]
    fn a_lower_cost_of_too_few_invocations_is_passed_over_and_told() {
        let passed_over = |records: &[Record]| -> Vec<String> {
            let found = lower_bounds(records, &wanted()).unwrap();
            let h2 = found.programs.into_iter().find(|program| program.workload == "h2").unwrap();
            h2.passed_over().map(|cell| format!("{} {}", cell.name.configuration, cell.n)).collect()
        };
        let z = cell("h2", "zgc", 8.0, 80.0, 0.0);
        assert_eq!(passed_over(&[table(), z[..4].to_vec()].concat()), ["zgc 4"]);
        assert!(passed_over(&[table(), z].concat()).is_empty());
        assert!(
            passed_over(&[table(), cell("h2", "zgc", 8.0, 120.0, 0.0)[..4].to_vec()].concat()).is_empty()
        );
    }

    #[test]
    fn what_cannot_be_told_is_refused() {
        let of = |metric: &str| lower_bounds(&table(), &Wanted { metric: metric.into(), ..wanted() });
        assert!(matches!(of("rss"), Err(Error::NotDistillable { .. })));
        assert!(matches!(of("wall"), Err(Error::Unknown { kind: "metric", known, .. }) if known == ["cpu"]));
    }
}
