//! A configuration against itself: how often a difference is told that is not there.
//!
//! The constraint that shaped it: the promise is a rate. Of forty honest comparisons at 5 %, more than two are alarms
//! one time in three, so "at most two" would call a right procedure wrong as often. The check fails when there are more
//! than a rate of 5 % gives in 99 of 100 such checks; the number stands beside it for who wants to judge.

use super::Extent;
use super::finding::{Finding, Value};
use crate::comparison::{Question, Test, Verdict, compare};
use crate::results::Record;
use crate::statistics::binomial_at_least;

/// How likely so many alarms may be before they speak against the rate.
const UNLIKELY: f64 = 0.01;

/// Judges the records of an experiment with configurations `a` and `b`, as many comparisons one after the other.
pub(super) fn judge(records: &[Record], extent: &Extent) -> Finding {
    let question = Question::of("cpu");
    let (mut told, mut tested) = (0_u32, 0_u32);
    for comparison in 0..extent.comparisons {
        let first = comparison * extent.invocations + 1;
        let own = first..first + extent.invocations;
        let some: Vec<Record> =
            records.iter().filter(|record| own.contains(&record.invocation)).cloned().collect();
        // What cannot be compared was disturbed or failed, and is counted as untested.
        let Ok(found) = compare(&some, "a", "b", &question) else { continue };
        for row in found.rows.iter().filter(|row| row.difference.test != Test::None) {
            tested += 1;
            told += u32::from(row.difference.verdict != Verdict::NotDistinguishable);
        }
    }
    let likelihood = binomial_at_least(told.into(), tested.into(), question.alpha);
    let enough = 2 * tested >= extent.comparisons && tested > 0;
    let words = if enough {
        format!(
            "{told} of {tested} comparisons of a configuration with itself tell a difference; a rate of 5 % gives so \
             many or more in {:.0} of 100 such checks",
            likelihood * 100.0
        )
    } else {
        format!(
            "only {tested} of {} comparisons of a configuration with itself had five undisturbed pairs; \
             run it in a new directory on a quiet machine",
            extent.comparisons
        )
    };
    Finding {
        check: "same",
        passed: enough && likelihood >= UNLIKELY,
        words,
        values: vec![
            Value::new("told", told.into(), "count"),
            Value::new("comparisons", tested.into(), "count"),
            Value::new("told-share", 100.0 * f64::from(told) / f64::from(tested.max(1)), "percent"),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::made_up::record;
    use crate::statistics::Random;
    use crate::statistics::simulate::normal;

    /// Forty comparisons of ten blocks with 3 % of scatter, in `differing` of which B takes half as much again.
    fn records(differing: u32) -> Vec<Record> {
        let mut random = Random::new(7);
        let mut cost = || (0.03 * normal(&mut random)).exp();
        (1..=400)
            .flat_map(|block| {
                let factor = if (block - 1) / 10 < differing { 1.5 } else { 1.0 };
                [("a", cost()), ("b", factor * cost())]
                    .map(|(name, cpu)| record("steady", name, 0.0, block, &[("cpu", cpu)]))
            })
            .collect()
    }

    #[test]
    fn no_more_alarms_than_the_rate_gives_pass_and_many_fail() {
        let found = judge(&records(0), &Extent::WHOLE);
        assert!(found.passed && found.values[0].value <= 5.0, "{found:?}");
        let found = judge(&records(10), &Extent::WHOLE);
        assert!(!found.passed && found.values[0].value >= 10.0, "{found:?}");
    }

    #[test]
    fn a_disturbed_machine_is_no_pass() {
        let few: Vec<_> = records(0).into_iter().filter(|record| record.invocation % 10 < 4).collect();
        let found = judge(&few, &Extent::WHOLE);
        assert!(!found.passed && found.words.starts_with("only 0 of 40"), "{found:?}");
    }
}
