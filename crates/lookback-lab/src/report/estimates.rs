//! The values of a study that statistics give: lower bound overheads, what tracers cost, configurations against each
//! other.
//!
//! The constraint that shaped it: the figures are those of `lookback lab lbo` and `lookback lab compare`, asked in the
//! same way, so that a report and a command never disagree. What cannot be told is left out with its reason; it must not
//! compute anything itself.

use super::plot::{capital, heap};
use super::study::{
    Estimate, Matrix, OverheadPoint, OverheadSummary, Overheads, Pair, Study, TracerCost, TracerPoint,
    TracerSummary, Verdict,
};
use crate::comparison::{self, Question};
use crate::error::{Error, Result};
use crate::metric::{DISTILLABLE, within_pauses};
use crate::overhead::{
    Distillation, Exclusion, FEWEST, LowerBounds, Program, Scope, Summary, Wanted, lower_bounds,
    tracer_overheads,
};
use crate::results::{CellName, HeapPoint, Record, cells};
use crate::statistics::{self, Bootstrap, warmup};
use std::collections::BTreeSet;

/// Configurations of a matrix: more would make a table that nobody reads, and tests whose number grows by the square.
const MOST: usize = 8;

fn estimate(found: &statistics::Estimate, n: usize) -> Estimate {
    Estimate { value: found.value, interval: found.interval.map(|i| (i.low, i.high)), n }
}

/// The name in tables; where several hosts ran, each is told apart.
struct Names {
    several: bool,
}

impl Names {
    fn label(&self, host: &str, label: &str) -> String {
        if self.several { format!("{label} on {host}") } else { label.to_owned() }
    }

    fn of(&self, name: &CellName) -> String {
        self.label(&name.host, &name.label())
    }
}

impl Study {
    /// Adds what statistics tell of the records: of the metrics that were asked for, or of the main one when none was.
    /// `wanted` is the heap, as a multiple, that configurations are compared at.
    ///
    /// # Errors
    /// [`Error::MixedCells`]: one name stands for different cells, so nothing can be told of them together.
    pub fn estimate(&mut self, records: &[Record], asked: &[String], wanted: f64) -> Result<()> {
        let all = cells(records)?;
        let names = Names { several: self.hosts.len() > 1 };
        let there: BTreeSet<&str> = records
            .iter()
            .flat_map(|record| &record.iterations)
            .flat_map(|iteration| iteration.metrics.keys().map(String::as_str))
            .collect();
        let main = self.main_metric().map(str::to_owned);
        let is_asked = |metric: &&&str| match asked {
            [] => main.as_deref() == Some(**metric),
            asked => asked.iter().any(|name| name == **metric),
        };
        let several_bare: BTreeSet<(&str, HeapPoint)> = all
            .iter()
            .filter(|cell| cell.tracer.is_none() && cell.collector.is_some())
            .map(|cell| (cell.collector.unwrap_or_default(), cell.name.heap))
            .collect();
        // A lower bound is the lowest of several: of one collector at one heap it says nothing.
        if several_bare.len() > 1 {
            for metric in DISTILLABLE.iter().filter(is_asked) {
                for distillation in Distillation::ALL {
                    // Wall time has no threads: both distillations of it are the same.
                    if *metric == "wall" && distillation == Distillation::Threads {
                        continue;
                    }
                    let share = match distillation {
                        Distillation::Pauses => within_pauses(metric),
                        Distillation::Threads => "cpu.gc".into(),
                    };
                    if there.contains(share.as_str()) {
                        let bounds = lower_bounds(records, &Wanted::of(metric, distillation))?;
                        self.overheads.extend(overheads(&bounds, &names));
                    }
                }
            }
        }
        if all.iter().any(|cell| cell.tracer.is_some()) {
            for metric in DISTILLABLE.iter().filter(is_asked).filter(|metric| there.contains(**metric)) {
                self.tracers.extend(tracer(records, metric, &names)?);
            }
        }
        if let Some(metric) = &main {
            self.matrices.extend(matrix(records, metric, wanted)?);
        }
        for series in &mut self.warm_ups {
            // The latest of all invocations: from then on each is steady.
            let from: Option<Vec<usize>> =
                series.invocations.iter().map(|times| warmup(times)?.steady_from).collect();
            series.steady_from = from.and_then(|from| u32::try_from(*from.iter().max()?).ok());
        }
        Ok(())
    }
}

fn overheads(bounds: &LowerBounds, names: &Names) -> Option<Overheads> {
    let mut found = Overheads {
        metric: bounds.wanted.metric.clone(),
        distillation: bounds.wanted.distillation.name().to_owned(),
        confidence: bounds.wanted.drawing.bootstrap.level * 100.0,
        ..Overheads::default()
    };
    for program in &bounds.programs {
        for cell in &program.cells {
            let ratio = match &cell.overhead {
                Some(overhead) => Ok(estimate(overhead, cell.n)),
                None => Err(cell.tally.to_string()),
            };
            found.points.push(OverheadPoint {
                workload: cell.name.workload.clone(),
                configuration: names.of(&cell.name),
                multiple: cell.name.heap.as_multiple(),
                ratio,
            });
        }
        found.baselines.push(baseline(program, names));
    }
    // Means of one heap are for tables; those of every heap are over the same workloads and are for curves.
    let of = |scope: Scope| -> Vec<OverheadSummary> {
        let summaries = bounds.summaries.iter().filter(|summary| summary.scope == scope);
        summaries.map(|summary| summarised(summary, &bounds.exclusions, names)).collect()
    };
    found.summaries = of(Scope::OneHeap);
    found.curves = of(Scope::EveryHeap);
    let any = found.points.iter().any(|point| point.ratio.is_ok());
    any.then_some(found)
}

fn summarised(summary: &Summary, exclusions: &[Exclusion], names: &Names) -> OverheadSummary {
    let mine = exclusions.iter().filter(|exclusion| {
        exclusion.host == summary.host
            && exclusion.scope == summary.scope
            && exclusion.heap.is_none_or(|heap| heap == summary.heap)
    });
    let why = |exclusion: &Exclusion| {
        let points = exclusion.points.iter().map(|(label, heap, why)| format!("{label} at {heap}: {why}"));
        (exclusion.workload.clone(), points.collect::<Vec<_>>().join("; "))
    };
    OverheadSummary {
        configuration: names.label(&summary.host, &summary.label),
        multiple: summary.heap.as_multiple(),
        geomean: Ok(estimate(&summary.geometric_mean, summary.workloads.len())),
        min: summary.least,
        max: summary.most,
        mean: summary.mean,
        roles: summary.roles,
        excluded: mine.map(why).collect(),
    }
}

/// What a program's overheads are relative to, in words.
fn baseline(program: &Program, names: &Names) -> (String, String) {
    let jdk = if program.jdk.is_empty() { String::new() } else { format!(" on {}", program.jdk) };
    let name = names.label(&program.host, &format!("{}{jdk}", program.workload));
    let Some(baseline) = &program.baseline else {
        return (name, "none: no cell has five invocations that count".into());
    };
    let mut chosen: Vec<&(usize, f64)> = baseline.chosen.iter().collect();
    chosen.sort_by(|a, b| b.1.total_cmp(&a.1));
    let words = |(cell, share): &&(usize, f64)| {
        let cell = program.cells.get(*cell)?;
        Some(format!("{} at {} ({:.0} %)", cell.name.configuration, cell.name.heap, share * 100.0))
    };
    // The cells that were chosen most often tell what the bound rests on.
    let most: Vec<String> = chosen.iter().filter_map(words).take(3).collect();
    let few = program.passed_over().map(|cell| {
        format!(
            "; lower, but {} of {FEWEST} invocations: {} at {}",
            cell.n, cell.name.configuration, cell.name.heap
        )
    });
    (name, most.join(", ") + &few.collect::<String>())
}

fn tracer(records: &[Record], metric: &str, names: &Names) -> Result<Option<TracerCost>> {
    let bootstrap = Bootstrap::default();
    let found = tracer_overheads(records, metric, &bootstrap)?;
    // A heap is part of the configuration when there are several.
    let heaps: BTreeSet<HeapPoint> = found.overheads.iter().map(|o| o.name.heap).collect();
    let at = |label: String, point: HeapPoint| match (heaps.len() > 1, point.as_multiple()) {
        (true, Some(multiple)) => format!("{label} at {}", heap(multiple)),
        (true, None) => format!("{label} at {point}"),
        (false, _) => label,
    };
    let point = |name: &CellName, ratio| TracerPoint {
        workload: name.workload.clone(),
        configuration: at(names.of(name), name.heap),
        ratio,
    };
    let known = found.overheads.iter().map(|o| point(&o.name, Ok(estimate(&o.ratio, o.n))));
    let missing = found.left_out.iter().map(|(name, why)| point(name, Err(why.clone())));
    let summary = |s: &crate::overhead::TracerSummary| TracerSummary {
        configuration: at(names.label(&s.host, &s.label), s.heap),
        geomean: Ok(estimate(&s.geometric_mean, s.workloads)),
        median: s.median,
        worst: s.worst.clone(),
    };
    let cost = TracerCost {
        metric: metric.to_owned(),
        confidence: bootstrap.level * 100.0,
        rows: known.chain(missing).collect(),
        summaries: found.summaries.iter().map(summary).collect(),
    };
    Ok(cost.rows.iter().any(|row| row.ratio.is_ok()).then_some(cost))
}

/// All pairs of configurations at the heap nearest to the one wanted.
fn matrix(records: &[Record], metric: &str, wanted: f64) -> Result<Option<Matrix>> {
    let all = cells(records)?;
    let multiples = all.iter().filter_map(|cell| cell.name.heap.as_multiple());
    let point = super::tables::nearest(multiples, wanted);
    let here = |record: &&Record| match (HeapPoint::of(record.heap).as_multiple(), point) {
        (Some(multiple), Some(point)) => (multiple - point).abs() < 1e-3,
        (Some(_), None) => false,
        (None, _) => true,
    };
    // A workload that does not measure it (a benchmark beside programs) would fill the matrix with dashes.
    let has = |record: &&Record| !record.counts() || record.mean(metric).is_some();
    let here: Vec<Record> = records.iter().filter(here).filter(has).cloned().collect();
    let labels: BTreeSet<String> = cells(&here)?.iter().map(|cell| cell.name.label()).collect();
    let labels: Vec<String> = labels.into_iter().collect();
    if !(2..=MOST).contains(&labels.len()) {
        return Ok(None);
    }
    let question = Question::of(metric);
    let mut pairs = Vec::new();
    for (i, a) in labels.iter().enumerate() {
        for b in &labels[i + 1..] {
            pairs.push(pair(&here, a, b, &question)?);
        }
    }
    let heap = point.map(|m| format!(" at {} heap", heap(m))).unwrap_or_default();
    let procedure = capital(&format!(
        "all workloads{heap}, paired within blocks; each pair of configurations is a test of its own at {} % (lookback lab compare): with many pairs, some are told apart by chance.",
        question.alpha * 100.0
    ));
    Ok(Some(Matrix { metric: metric.to_owned(), procedure, pairs }))
}

fn pair(records: &[Record], a: &str, b: &str, question: &Question) -> Result<Pair> {
    let pair = |ratio, verdict, more| Pair { a: a.to_owned(), b: b.to_owned(), ratio, verdict, more };
    // The comparison is of B by A, and the matrix of the row by the column.
    let found = match comparison::compare(records, b, a, question) {
        Ok(found) => found,
        Err(Error::NothingToCompare { .. }) => {
            let none = Err("nothing that both have".to_owned());
            return Ok(pair(none, Verdict::Indistinguishable, None));
        }
        Err(error) => return Err(error),
    };
    // With a single workload its row is all there is.
    let only = || found.rows.first().map(|row| &row.difference);
    let Some(difference) = found.overall.as_ref().or_else(only) else {
        return Ok(pair(Err("nothing that both have".into()), Verdict::Indistinguishable, None));
    };
    let verdict = match difference.verdict {
        comparison::Verdict::Better => Verdict::Better,
        comparison::Verdict::Worse => Verdict::Worse,
        comparison::Verdict::NotDistinguishable => Verdict::Indistinguishable,
    };
    let n = found.rows.iter().map(|row| row.n[0]).sum();
    Ok(pair(Ok(estimate(&difference.ratio, n)), verdict, difference.more_for_observed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::made_up::record;

    #[test]
    fn a_configuration_that_never_measures_a_metric_is_not_in_its_matrix() {
        let records: Vec<Record> = (1..=6)
            .flat_map(|block| {
                let of = |name, value| record("h2", name, 0.0, block, &[("cpu", value)]);
                let classes = record("h2-classes", "default", 0.0, block, &[("startup.class", 15.0)]);
                [of("serial", 10.0), of("g1", 12.0 + f64::from(block)), classes]
            })
            .collect();
        let matrix = matrix(&records, "cpu", 2.0).unwrap().unwrap();
        let pairs: Vec<_> = matrix.pairs.iter().map(|pair| (pair.a.as_str(), pair.b.as_str())).collect();
        assert_eq!(pairs, [("17|g1", "17|serial")]);
    }
}
