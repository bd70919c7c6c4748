//! What a sensitivity study found: of each workload, whether its costs differ between the answers beyond noise.
//!
//! The constraint that shaped it: two things can differ and must not be confused. Against other constants: then the
//! chosen ones make the result. Against the truth alone: then the program reads its heap, the constants do what they
//! are for, and they do not matter. Must not count a difference that the family's tests do not tell.

use super::answer::{Answer, CONSTANTS};
use crate::comparison::{Contrast, Contrasted, Question, Test, Verdict, family};
use crate::error::Result;
use crate::results::{CellRecords, HeapPoint, Record, cells};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is compared: execution time and the collector's cost.
pub const METRICS: [&str; 4] = ["cpu", "wall", "cpu.gc", "wall.pauses"];

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// Each workload under each configuration.
    pub workloads: Vec<OfWorkload>,
    /// How many comparisons the p-values are adjusted for.
    pub tests: usize,
    /// The share of false alarms that is allowed over all of them.
    pub alpha: f64,
}

/// A workload under a configuration, over all heaps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfWorkload {
    /// The workload.
    pub workload: String,
    /// JDK and configuration: `17|g1`.
    pub configuration: String,
    /// The host.
    pub host: String,
    /// The answer.
    pub matters: Matters,
    /// Whether a difference is told where the maximum alone was another: it asks for `maxMemory`.
    pub reads_maximum: bool,
    /// Whether a difference is told where the total alone was another: it asks for `totalMemory` or `freeMemory`.
    pub reads_total: bool,
    /// All differences that are told, in the order of metrics, answers and heaps.
    pub told: Vec<Found>,
    /// Of each metric, the largest difference from the constants, told or not.
    pub largest: Vec<Found>,
    /// Answers with which it does not run to the end, where it does with the constants, or the reverse.
    pub failing: Vec<Failing>,
    /// How many of its comparisons had enough pairs for a test.
    pub tested: usize,
    /// How many could not be tested: too few pairs, a value of zero, no figures.
    pub untested: usize,
}

/// Whether what a workload is told of its heap matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Matters {
    /// Neither the constants nor whether there are any.
    No,
    /// It differs between the truth and the constants, and not between constants.
    Truth,
    /// It differs between constants.
    Constants,
    /// Nothing could be tested.
    Unknown,
}

/// A comparison of an answer with the constants.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The metric.
    pub metric: String,
    /// The answer: `256m:128m`, `own`.
    pub answer: String,
    /// The heap.
    pub heap: HeapPoint,
    /// How many pairs, their levels, and by how much the answer's is more than the constants'.
    #[serde(flatten)]
    pub by: Contrasted,
}

/// An answer that decides whether a program runs to the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failing {
    /// The answer.
    pub answer: String,
    /// The heap.
    pub heap: HeapPoint,
    /// What became of the invocations with it.
    pub tally: String,
    /// And with the constants.
    pub with_constants: String,
}

/// Host, workload, JDK and configuration.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str);

/// A comparison to be made: whose, which answer, and the cells.
struct Asked<'a> {
    key: Key<'a>,
    answer: Answer,
    contrast: Contrast<'a>,
}

/// What the records of a study say. Records of other cells take no part.
///
/// # Errors
/// [`crate::Error::MixedCells`].
pub fn study(records: &[Record], question: &Question) -> Result<Study> {
    let cells = cells(records)?;
    let mut points: BTreeMap<(Key<'_>, HeapPoint), Vec<(Answer, &CellRecords<'_>)>> = BTreeMap::new();
    for cell in &cells {
        let name = &cell.name;
        if let Some((configuration, answer)) = Answer::of(&name.configuration) {
            let key = (name.host.as_str(), name.workload.as_str(), name.jdk.as_str(), configuration);
            points.entry((key, name.heap)).or_default().push((answer, cell));
        }
    }
    let mut found: BTreeMap<Key<'_>, OfWorkload> = BTreeMap::new();
    let mut asked = Vec::new();
    for ((key, _), answers) in &points {
        let of = found.entry(*key).or_insert_with(|| OfWorkload::new(*key));
        let Some((_, constants)) = answers.iter().find(|(answer, _)| *answer == CONSTANTS) else { continue };
        for &(answer, cell) in answers.iter().filter(|(answer, _)| *answer != CONSTANTS) {
            if let Some(failing) = failing(answer, cell, constants) {
                of.failing.push(failing);
                continue;
            }
            let contrast = |metric| Contrast { a: constants, b: cell, metric };
            asked.extend(METRICS.map(|metric| Asked { key: *key, answer, contrast: contrast(metric) }));
        }
    }
    let contrasts: Vec<_> = asked.iter().map(|asked| asked.contrast).collect();
    for (asked, answer) in asked.iter().zip(family(&contrasts, question)) {
        let Some(of) = found.get_mut(&asked.key) else { continue };
        match answer {
            Ok(by) if by.difference.test != Test::None => of.add(asked, by),
            _ => of.untested += 1,
        }
    }
    let mut workloads: Vec<_> = found.into_values().collect();
    workloads.iter_mut().for_each(OfWorkload::judge);
    let tests = workloads.iter().map(|of| of.tested).sum();
    Ok(Study { workloads, tests, alpha: question.alpha })
}

/// Whether one runs to the end and the other never does.
fn failing(answer: Answer, cell: &CellRecords<'_>, constants: &CellRecords<'_>) -> Option<Failing> {
    let (with, without) = (cell.tally(), constants.tally());
    let never = |tally: &crate::results::Tally| tally.counted + tally.disturbed == 0 && tally.invocations > 0;
    let differs = never(&with) && without.complete() || never(&without) && with.complete();
    differs.then(|| Failing {
        answer: answer.to_string(),
        heap: cell.name.heap,
        tally: with.to_string(),
        with_constants: without.to_string(),
    })
}

impl OfWorkload {
    fn new((host, workload, jdk, configuration): Key<'_>) -> OfWorkload {
        OfWorkload {
            workload: workload.to_owned(),
            configuration: [jdk, configuration]
                .into_iter()
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>()
                .join("|"),
            host: host.to_owned(),
            matters: Matters::Unknown,
            reads_maximum: false,
            reads_total: false,
            told: Vec::new(),
            largest: Vec::new(),
            failing: Vec::new(),
            tested: 0,
            untested: 0,
        }
    }

    fn add(&mut self, asked: &Asked<'_>, by: Contrasted) {
        self.tested += 1;
        let told = by.difference.verdict != Verdict::NotDistinguishable;
        let found = Found {
            metric: asked.contrast.metric.to_owned(),
            answer: asked.answer.to_string(),
            heap: asked.contrast.b.name.heap,
            by,
        };
        self.reads_maximum |= told && asked.answer.only_maximum();
        self.reads_total |= told && asked.answer.only_total();
        let size = |found: &Found| found.by.difference.ratio.value.ln().abs();
        match self.largest.iter_mut().find(|largest| largest.metric == found.metric) {
            Some(largest) if size(largest) < size(&found) => *largest = found.clone(),
            Some(_) => {}
            None => self.largest.push(found.clone()),
        }
        if told {
            self.told.push(found);
        }
    }

    /// Decides when all is added.
    fn judge(&mut self) {
        let own = Answer(None).to_string();
        let mut answers =
            self.told.iter().map(|found| &found.answer).chain(self.failing.iter().map(|f| &f.answer));
        self.matters = match (answers.clone().next(), self.tested) {
            (None, 0) => Matters::Unknown,
            (None, _) => Matters::No,
            _ if answers.all(|answer| *answer == own) => Matters::Truth,
            _ => Matters::Constants,
        };
        let place = |metric: &str| METRICS.iter().position(|known| *known == metric);
        self.told.sort_by(|a, b| {
            (place(&a.metric), &a.answer, a.heap).cmp(&(place(&b.metric), &b.answer, b.heap))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Outcome;
    use crate::results::made_up::record;
    use crate::sensitivity::ANSWERS;

    /// Fifteen blocks with each answer; `cost` gives the factor of the CPU time, with 1 % of scatter.
    fn records(workload: &str, cost: impl Fn(Answer) -> f64) -> Vec<Record> {
        let mut records = Vec::new();
        for block in 1..=15_u32 {
            for (i, answer) in ANSWERS.into_iter().enumerate() {
                let scatter = 1.0 + 0.01 * (f64::from((block * 7 + i as u32 * 5) % 11) / 11.0 - 0.5);
                let cpu = 1e9 * scatter * cost(answer);
                let metrics = [("cpu", cpu), ("wall", 1e9 * scatter), ("cpu.gc", 0.0)];
                records.push(record(workload, &answer.name("g1"), 2.0, block, &metrics));
            }
        }
        records
    }

    fn of(records: &[Record]) -> OfWorkload {
        study(records, &Question::of("cpu")).unwrap().workloads.remove(0)
    }

    #[test]
    fn a_program_that_does_not_ask_is_told_so() {
        let found = of(&records("h2", |_| 1.0));
        assert_eq!((found.matters, found.tested), (Matters::No, 14), "cpu and wall of seven answers");
        assert_eq!(found.untested, 14, "zeros of the collector, and pauses that nobody measured");
        assert_eq!(found.largest.len(), 2);
        assert_eq!(found.configuration, "17|g1");
    }

    #[test]
    fn a_program_that_asks_for_the_maximum_is_found_and_told_apart_from_one_that_asks_for_the_total() {
        let maximum =
            of(&records("h2", |answer| answer.0.map_or(1.1, |(most, _)| (most >> 20) as f64 / 512.0)));
        assert_eq!(maximum.matters, Matters::Constants);
        assert_eq!((maximum.reads_maximum, maximum.reads_total), (true, false));
        let largest = &maximum.largest[0];
        assert_eq!(largest.metric, "cpu");
        assert!((largest.by.difference.ratio.value.ln().abs() - 4.0_f64.ln()).abs() < 0.01, "128m or 2g");
        let total = of(&records("h2", |answer| answer.0.map_or(1.0, |(_, all)| (all >> 20) as f64 / 128.0)));
        assert_eq!((total.reads_maximum, total.reads_total), (false, true));
    }

    #[test]
    fn a_program_that_differs_from_the_truth_alone_does_not_speak_against_the_constants() {
        let found = of(&records("h2", |answer| if answer.0.is_none() { 1.5 } else { 1.0 }));
        assert_eq!(found.matters, Matters::Truth);
        assert!(found.told.iter().all(|told| told.answer == "own"));
    }

    #[test]
    fn an_answer_with_which_a_program_dies_matters() {
        let mut all = records("h2", |_| 1.0);
        for record in all.iter_mut().filter(|record| record.configuration.ends_with("=2g:512m")) {
            record.outcome = Outcome::OutOfMemory;
            record.iterations.clear();
        }
        let found = of(&all);
        assert_eq!(found.matters, Matters::Constants);
        assert_eq!(found.failing[0].tally, "out of memory 15/15");
    }

    #[test]
    fn without_enough_pairs_nothing_is_said() {
        let mut all = records("h2", |answer| answer.0.map_or(1.0, |(_, all)| all as f64));
        all.retain(|record| record.invocation <= 4);
        assert_eq!(of(&all).matters, Matters::Unknown);
        assert!(study(&[], &Question::of("cpu")).unwrap().workloads.is_empty());
    }
}
