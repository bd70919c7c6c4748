//! Many comparisons of cells that stand or fall together: a study.
//!
//! The constraint that shaped it: whoever asks a hundred questions gets five wrong alarms, unless they are asked as one
//! family. So all p-values are adjusted together, whatever metric, workload or heap they are of, and the test is chosen
//! for so many. Must not decide: the procedure does.

use super::compare::{Prepared, prepare};
use super::procedure::decide;
use super::{Difference, Question, Why};
use crate::results::CellRecords;
use serde::Serialize;

/// A question of a family: does cell `b` differ from cell `a` in a metric?
#[derive(Debug, Clone, Copy)]
pub struct Contrast<'a> {
    /// What is compared with.
    pub a: &'a CellRecords<'a>,
    /// What is compared.
    pub b: &'a CellRecords<'a>,
    /// The metric, of which less is better.
    pub metric: &'a str,
}

/// The answer to a question of a family.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrasted {
    /// How many pairs of the same block there are.
    pub pairs: usize,
    /// Geometric means of A and B, in the metric's unit.
    pub levels: [f64; 2],
    /// What was found, its p-value adjusted for the whole family.
    pub difference: Difference,
}

/// Answers all questions of a family, in their order. The question's metric and workload take no part.
pub fn family(contrasts: &[Contrast<'_>], question: &Question) -> Vec<Result<Contrasted, Why>> {
    let mut samples = Vec::new();
    let prepared: Vec<Result<Prepared, Why>> = contrasts
        .iter()
        .map(|contrast| {
            let question = Question { metric: contrast.metric.to_owned(), ..question.clone() };
            let (sample, prepared) =
                prepare(Some(&vec![contrast.a]), Some(&vec![contrast.b]), true, &question)?;
            samples.push(sample);
            Ok(prepared)
        })
        .collect();
    let mut differences = decide(&samples, question, false).0.into_iter();
    let answers = prepared.into_iter().map(|prepared| {
        let prepared = prepared?;
        // Each prepared contrast has a sample, and each sample a difference.
        let difference = differences.next().ok_or(Why::NotPositive)?;
        Ok(Contrasted { pairs: prepared.n[0], levels: prepared.levels, difference })
    });
    answers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Verdict;
    use crate::results::made_up::record;
    use crate::results::{Record, cells};

    /// Twelve blocks: B takes 10 % more CPU time and as much wall time as A, the odd blocks a little less.
    fn records() -> Vec<Record> {
        let scatter = |block: u32| 1.0 + 0.01 * f64::from(block % 2) - 0.005;
        (1..=12)
            .flat_map(|block| {
                let b = [("cpu", 1.1 * scatter(block)), ("wall", scatter(block))];
                [
                    record("h2", "a", 2.0, block, &[("cpu", 1.0), ("wall", 1.0), ("pauses", 0.0)]),
                    record("h2", "b", 2.0, block, &[b[0], b[1], ("pauses", 0.0)]),
                ]
            })
            .collect()
    }

    #[test]
    fn p_values_are_adjusted_over_all_metrics_and_what_cannot_be_compared_keeps_its_place() {
        let records = records();
        let cells = cells(&records).unwrap();
        let of = |metric| Contrast { a: &cells[0], b: &cells[1], metric };
        let question = Question::of("cpu");
        let found = family(&[of("pauses"), of("cpu"), of("wall")], &question);
        assert_eq!(found[0], Err(Why::NotPositive));
        let cpu = found[1].as_ref().unwrap();
        assert_eq!((cpu.difference.verdict, cpu.pairs), (Verdict::Worse, 12));
        assert_eq!(found[2].as_ref().unwrap().difference.verdict, Verdict::NotDistinguishable);
        let alone = family(&[of("cpu")], &question);
        let p = |answer: &Result<Contrasted, Why>| answer.as_ref().unwrap().difference.adjusted_p.unwrap();
        assert!(
            (p(&found[1]) - 2.0 * p(&alone[0])).abs() < 1e-9,
            "two tests, and the smaller p counts twice"
        );
    }
}
