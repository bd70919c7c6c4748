//! From records to samples, and from what was decided to rows.
//!
//! The constraint that shaped it: what one side lacks is told and not passed over. Must not decide: the procedure does.

use super::pattern::select;
use super::procedure::{Sample, decide};
use super::{Comparison, LeftOut, Question, Row, Why};
use crate::error::{Error, Result};
use crate::results::{CellRecords, HeapPoint, Record, cells};
use crate::statistics::{
    Bootstrap, Effect, LogRatios, LogSamples, Merged, Study, geometric_mean, pairs, random_effects,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a row is about: configuration (for two directories), workload, heap, host (where hosts are kept apart).
type Key = (Option<String>, String, Option<HeapPoint>, Option<String>);

/// Values by host and block.
type Values = BTreeMap<(String, u32), f64>;

/// Compares two configurations of the same results by pairs of the same block. `a` and `b` name a configuration by
/// words divided by `|`, all of which must fit: the JDK, parts of the configuration, the collector, the tracer, `bare`
/// for none, a heap (`2x`).
///
/// # Errors
/// [`Error::UnknownConfiguration`], [`Error::AmbiguousConfiguration`], [`Error::Unknown`] of a heap, workload or metric,
/// [`Error::MixedCells`], [`Error::NothingToCompare`].
pub fn compare(records: &[Record], a: &str, b: &str, question: &Question) -> Result<Comparison> {
    check(&[records], question)?;
    let cells = cells(records)?;
    let (a, b) = (select(&cells, a)?, select(&cells, b)?);
    // Heaps that the user named may differ between the sides; others must be the same.
    let by_heap = a.heap.is_none() || b.heap.is_none();
    let key =
        |cell: &CellRecords<'_>| (None, cell.name.workload.clone(), by_heap.then_some(cell.name.heap), None);
    let (in_a, in_b) = (group(&a.cells, question, key), group(&b.cells, question, key));
    answer((&a.label, in_a), (&b.label, in_b), true, direction(&[records], question), question)
}

/// Compares the results of two directories, which have no blocks in common: each configuration that `configuration`
/// names, or every one that both have, with itself. Hosts are compared one by one, but for one host each.
///
/// # Errors
/// As [`compare`].
pub fn compare_apart(
    (a_name, a): (&str, &[Record]),
    (b_name, b): (&str, &[Record]),
    configuration: Option<&str>,
    question: &Question,
) -> Result<Comparison> {
    check(&[a, b], question)?;
    let (a_cells, b_cells) = (cells(a)?, cells(b)?);
    let hosts = |cells: &[CellRecords<'_>]| {
        cells.iter().map(|cell| cell.name.host.clone()).collect::<BTreeSet<_>>().len()
    };
    let one_each = hosts(&a_cells) == 1 && hosts(&b_cells) == 1;
    let key = |cell: &CellRecords<'_>| {
        let name = &cell.name;
        (Some(name.label()), name.workload.clone(), Some(name.heap), (!one_each).then(|| name.host.clone()))
    };
    let in_a = group(&chosen(&a_cells, configuration)?, question, key);
    let in_b = group(&chosen(&b_cells, configuration)?, question, key);
    answer((a_name, in_a), (b_name, in_b), false, direction(&[a, b], question), question)
}

/// The cells that a pattern names; all without one.
fn chosen<'a>(all: &'a [CellRecords<'a>], pattern: Option<&str>) -> Result<Vec<&'a CellRecords<'a>>> {
    match pattern {
        Some(pattern) => Ok(select(all, pattern)?.cells),
        None => Ok(all.iter().collect()),
    }
}

/// Refuses a metric or workload that no record has.
fn check(sides: &[&[Record]], question: &Question) -> Result<()> {
    let records = || sides.iter().flat_map(|side| side.iter());
    if let Some(workload) = &question.workload {
        let known: BTreeSet<&String> = records().map(|record| &record.workload).collect();
        if !known.contains(workload) {
            let known = known.into_iter().cloned().collect();
            return Err(Error::Unknown { kind: "workload", name: workload.clone(), known });
        }
    }
    let iterations = records().flat_map(|record| &record.iterations).filter(|iteration| iteration.measured);
    let known: BTreeSet<&String> = iterations.flat_map(|iteration| iteration.metrics.keys()).collect();
    if known.contains(&question.metric) {
        return Ok(());
    }
    let known = known.into_iter().cloned().collect();
    Err(Error::Unknown { kind: "metric", name: question.metric.clone(), known })
}

/// Whether more is better: less is for all metrics of the lab, and a workload's own are rates when their unit is
/// something by second.
fn direction(sides: &[&[Record]], question: &Question) -> bool {
    let mut iterations = sides.iter().flat_map(|side| side.iter()).flat_map(|record| &record.iterations);
    iterations.any(|iteration| iteration.units.get(&question.metric).is_some_and(|unit| unit.ends_with("/s")))
}

/// Cells of the same key: those of several hosts.
fn group<'a>(
    cells: &[&'a CellRecords<'a>],
    question: &Question,
    key: impl Fn(&CellRecords<'_>) -> Key,
) -> BTreeMap<Key, Vec<&'a CellRecords<'a>>> {
    let mut groups: BTreeMap<Key, Vec<_>> = BTreeMap::new();
    for &cell in cells {
        if question.workload.as_ref().is_none_or(|workload| cell.name.workload == *workload) {
            groups.entry(key(cell)).or_default().push(cell);
        }
    }
    groups
}

type Groups<'a> = BTreeMap<Key, Vec<&'a CellRecords<'a>>>;

fn answer(
    (a_name, a): (&str, Groups<'_>),
    (b_name, b): (&str, Groups<'_>),
    paired: bool,
    more_is_better: bool,
    question: &Question,
) -> Result<Comparison> {
    let mut left_out = Vec::new();
    let mut rows = Vec::new();
    let mut samples = Vec::new();
    for key in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
        match prepare(a.get(key), b.get(key), paired, question) {
            Ok((sample, row)) => {
                samples.push(sample);
                rows.push((key, row));
            }
            Err(why) => {
                let cell = a.get(key).or_else(|| b.get(key)).map(|cells| &cells[0].name);
                left_out.push(LeftOut {
                    workload: key.1.clone(),
                    point: cell.map(|name| format!("{}|{}", name.label(), name.heap)).unwrap_or_default(),
                    why,
                });
            }
        }
    }
    if rows.is_empty() {
        return Err(Error::NothingToCompare { left_out: left_out.iter().map(LeftOut::to_string).collect() });
    }
    let (differences, overall) = decide(&samples, question, more_is_better);
    let bootstrap = Bootstrap { level: 1.0 - question.alpha, ..question.bootstrap };
    let rows =
        rows.into_iter().zip(differences).zip(&samples).map(|(((key, prepared), difference), sample)| {
            let by_bootstrap = match sample {
                Sample::Paired(ratios) => Some(ratios.ratio_by_bootstrap(&bootstrap)),
                Sample::Apart(_) => None,
            };
            Row {
                workload: key.1.clone(),
                configuration: key.0.clone(),
                host: key.3.clone(),
                heaps: prepared.heaps,
                levels: prepared.levels,
                n: prepared.n,
                difference,
                by_bootstrap,
                effect: prepared.effect,
                over_hosts: prepared.over_hosts,
            }
        });
    Ok(Comparison {
        a: a_name.to_owned(),
        b: b_name.to_owned(),
        metric: question.metric.clone(),
        more_is_better,
        alpha: question.alpha,
        power: question.power,
        detect_percent: question.detect_percent,
        paired,
        rows: rows.collect(),
        overall,
        left_out,
    })
}

/// What of a row is known before the test.
pub(super) struct Prepared {
    heaps: [HeapPoint; 2],
    pub(super) levels: [f64; 2],
    pub(super) n: [usize; 2],
    effect: Option<Effect>,
    over_hosts: Option<Merged>,
}

pub(super) fn prepare(
    a: Option<&Vec<&CellRecords<'_>>>,
    b: Option<&Vec<&CellRecords<'_>>>,
    paired: bool,
    question: &Question,
) -> std::result::Result<(Sample, Prepared), Why> {
    let (a, b) = (a.ok_or(Why::NotInA)?, b.ok_or(Why::NotInB)?);
    let (mut in_a, mut in_b) = (values(a, &question.metric), values(b, &question.metric));
    let mut over_hosts = None;
    if paired {
        let both: BTreeSet<_> = in_a.keys().filter(|key| in_b.contains_key(*key)).cloned().collect();
        in_a.retain(|key, _| both.contains(key));
        in_b.retain(|key, _| both.contains(key));
        over_hosts = merged(&in_a, &in_b, 1.0 - question.alpha);
    }
    if in_a.is_empty() || in_b.is_empty() {
        return Err(Why::NoValues { a: tallies(a), b: tallies(b) });
    }
    let plain = |values: &Values| values.values().copied().collect::<Vec<f64>>();
    let (flat_a, flat_b) = (plain(&in_a), plain(&in_b));
    let logs = LogSamples::of(&flat_a, &flat_b).ok_or(Why::NotPositive)?;
    let level = |values: &[f64]| geometric_mean(values).unwrap_or_default();
    let prepared = Prepared {
        heaps: [a[0].name.heap, b[0].name.heap],
        levels: [level(&flat_a), level(&flat_b)],
        n: [flat_a.len(), flat_b.len()],
        effect: Effect::of(logs.values().0, logs.values().1),
        over_hosts,
    };
    let sample = if paired {
        Sample::Paired(LogRatios::of(&pairs(&in_a, &in_b)).ok_or(Why::NotPositive)?)
    } else {
        Sample::Apart(logs)
    };
    Ok((sample, prepared))
}

fn values(cells: &[&CellRecords<'_>], metric: &str) -> Values {
    let of = |cell: &&CellRecords<'_>| {
        let host = cell.name.host.clone();
        cell.values(metric).into_iter().map(move |(block, value)| ((host.clone(), block), value))
    };
    cells.iter().flat_map(of).collect()
}

fn tallies(cells: &[&CellRecords<'_>]) -> String {
    cells.iter().map(|cell| cell.tally().to_string()).collect::<Vec<_>>().join("; ")
}

/// The log-ratio over hosts; none with fewer than two of them, or when one has too few pairs for an error.
fn merged(a: &Values, b: &Values, level: f64) -> Option<Merged> {
    let hosts: BTreeSet<&String> = a.keys().map(|(host, _)| host).collect();
    let of = |values: &Values, host: &String| {
        values
            .iter()
            .filter(|((at, _), _)| at == host)
            .map(|((_, block), v)| (*block, *v))
            .collect::<BTreeMap<_, _>>()
    };
    let studies: Option<Vec<Study>> = hosts
        .iter()
        .map(|host| {
            let ratios = LogRatios::of(&pairs(&of(a, host), &of(b, host)))?;
            Some(Study { value: ratios.mean(), error: ratios.error()? })
        })
        .collect();
    if hosts.len() < 2 { None } else { random_effects(&studies?, level) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Verdict;
    use crate::results::Outcome;
    use crate::results::made_up::record;

    /// Ten blocks: the machine's level doubles from block to block, and G1 takes 1.1 times of Serial.
    fn records(workload: &str, ratio: f64) -> Vec<Record> {
        let noise = [0.99, 1.01, 1.0, 0.985, 1.02];
        (1..=10_u32)
            .flat_map(|block| {
                let level = 2.0_f64.powi(block as i32);
                let other = ratio * level * noise[block as usize % 5];
                [
                    record(workload, "serial", 2.0, block, &[("cpu", level)]),
                    record(workload, "g1", 2.0, block, &[("cpu", other)]),
                ]
            })
            .collect()
    }

    #[test]
    fn blocks_take_out_what_the_machine_did() {
        let found = compare(&records("h2", 1.1), "serial", "g1", &Question::of("cpu")).unwrap();
        let row = &found.rows[0];
        assert_eq!(row.difference.verdict, Verdict::Worse);
        assert!((row.difference.ratio.value - 1.1).abs() < 0.01);
        assert_eq!((row.n, row.workload.as_str(), found.paired), ([10, 10], "h2", true));
        assert!(found.overall.is_none());
    }

    #[test]
    fn without_blocks_the_same_values_cannot_be_told_apart() {
        let (all, question) = (records("h2", 1.1), Question::of("cpu"));
        let side = |name: &str| {
            let mut side: Vec<_> =
                all.iter().filter(|record| record.configuration == name).cloned().collect();
            side.iter_mut().for_each(|record| record.configuration = "same".into());
            side
        };
        let (a, b) = (side("serial"), side("g1"));
        let found = compare_apart(("A", &a), ("B", &b), None, &question).unwrap();
        assert_eq!(found.rows[0].difference.verdict, Verdict::NotDistinguishable);
        assert!(found.rows[0].difference.more_for_observed.unwrap() > 100);
        assert!(!found.paired);
    }

    #[test]
    fn what_is_missing_is_told() {
        let mut all = records("h2", 1.1);
        all.push(record("fop", "serial", 2.0, 1, &[("cpu", 1.0)]));
        let mut full = record("xalan", "g1", 2.0, 1, &[]);
        full.outcome = Outcome::OutOfMemory;
        all.extend([full, record("xalan", "serial", 2.0, 1, &[("cpu", 1.0)])]);
        let found = compare(&all, "serial", "g1", &Question::of("cpu")).unwrap();
        let words: Vec<_> = found.left_out.iter().map(LeftOut::to_string).collect();
        assert_eq!(
            words,
            [
                "fop at 17|serial|2x: B does not have it",
                "xalan at 17|serial|2x: no values to compare; A: counted 1/1; B: out of memory 1/1",
            ]
        );
        assert!(matches!(
            compare(&all, "serial", "g1", &Question::of("wall")),
            Err(Error::Unknown { kind: "metric", known, .. }) if known == ["cpu"]
        ));
        let only = Question { workload: Some("lusearch".into()), ..Question::of("cpu") };
        assert!(matches!(compare(&all, "serial", "g1", &only), Err(Error::Unknown { kind: "workload", .. })));
        let only = Question { workload: Some("xalan".into()), ..Question::of("cpu") };
        assert!(matches!(compare(&all, "serial", "g1", &only), Err(Error::NothingToCompare { .. })));
    }

    #[test]
    fn hosts_have_blocks_of_their_own_and_are_merged() {
        let mut all = records("h2", 1.1);
        all.extend(records("h2", 1.3).into_iter().map(|mut record| {
            record.host = "elsewhere".into();
            record
        }));
        let found = compare(&all, "serial", "g1", &Question::of("cpu")).unwrap();
        assert_eq!(found.rows[0].n, [20, 20]);
        let merged = found.rows[0].over_hosts.unwrap();
        assert_eq!(merged.hosts, 2);
        assert!((merged.estimate.value.exp() - (1.1_f64 * 1.3).sqrt()).abs() < 0.02);
        assert!(merged.estimate.interval.unwrap().contains(0.0), "two hosts say little of a third");
    }

    #[test]
    fn a_rate_is_better_when_it_is_more_and_zeros_have_no_ratio() {
        let mut all = records("h2", 1.1);
        for record in &mut all {
            record.iterations[0].units.insert("cpu".into(), "requests/s".into());
        }
        let found = compare(&all, "serial", "g1", &Question::of("cpu")).unwrap();
        assert_eq!(found.rows[0].difference.verdict, Verdict::Better);
        all[0].iterations[0].metrics.insert("cpu".into(), 0.0);
        let none = compare(&all, "serial", "g1", &Question::of("cpu"));
        assert!(matches!(none, Err(Error::NothingToCompare { left_out }) if left_out[0].contains("zero")));
    }

    #[test]
    fn heaps_of_one_configuration_can_be_compared() {
        let mut all = records("h2", 1.2);
        for record in &mut all {
            let multiple = if record.configuration == "g1" { 2.0 } else { 3.0 };
            record.configuration = "g1".into();
            record.cell = crate::plan::CellId(multiple.to_string());
            record.heap = Some(crate::plan::HeapSize { multiple: Some(multiple), bytes: 1 << 20 });
        }
        let found = compare(&all, "g1|3x", "g1|2x", &Question::of("cpu")).unwrap();
        assert_eq!(found.rows[0].heaps.map(|heap| heap.to_string()), ["3x", "2x"]);
        assert_eq!(found.rows[0].difference.verdict, Verdict::Worse);
    }
}
