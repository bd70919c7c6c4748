//! A slowdown of known size: found with as many invocations as were promised, and its size.
//!
//! The constraint that shaped it: a promise of 80 % is broken one time in five by design, and an interval of 95 % one
//! time in twenty, which no check can stand. So both are asked for at 99 %, and a failure is then an event of two in a
//! hundred. How many are run is decided by a pilot whose invocations do not count.

use super::Extent;
use super::finding::{Finding, Value};
use crate::comparison::{Question, Verdict, compare};
use crate::results::Record;

const CHECK: &str = "planted";
/// From so many pairs on the sign-flip test decides at this alpha: 2^-9 times five is 0.0098.
const FEWEST: u32 = 10;

fn question(extent: &Extent) -> Question {
    Question { alpha: 0.01, power: 0.99, detect_percent: Some(extent.planted_percent), ..Question::of("cpu") }
}

/// How many invocations it takes by the records of the pilot.
///
/// # Errors
/// A finding that failed: they could not be compared, or it takes too many.
pub(super) fn needed(pilot: &[Record], extent: &Extent) -> Result<u32, Finding> {
    let failed = |words: String, values| Finding { check: CHECK, passed: false, words, values };
    let found = compare(pilot, "a", "b", &question(extent))
        .map_err(|error| failed(format!("the pilot says nothing: {error}; {}", error.hint()), vec![]))?;
    let row = found.rows.first();
    let needed = row.and_then(|row| Some(row.n[0] + row.difference.more_for_detect?));
    let needed = needed.and_then(|needed| u32::try_from(needed).ok());
    match needed {
        Some(needed) if needed <= extent.most => Ok(needed.max(FEWEST)),
        Some(needed) => Err(failed(
            format!(
                "a slowdown of {} % takes {needed} invocations here, more than {}: the machine is too noisy",
                extent.planted_percent, extent.most
            ),
            vec![Value::new("needed", needed.into(), "count")],
        )),
        None => Err(failed("the pilot has too few undisturbed pairs to say anything".into(), vec![])),
    }
}

/// Judges the records of so many invocations.
pub(super) fn judge(records: &[Record], needed: u32, extent: &Extent) -> Finding {
    let percent = extent.planted_percent;
    let mut finding = Finding {
        check: CHECK,
        passed: false,
        words: String::new(),
        values: vec![Value::new("needed", needed.into(), "count")],
    };
    let found = match compare(records, "a", "b", &question(extent)) {
        Ok(found) => found,
        Err(error) => {
            finding.words = format!("they cannot be compared: {error}; {}", error.hint());
            return finding;
        }
    };
    let Some(row) = found.rows.first() else { return finding };
    let ratio = row.difference.ratio;
    finding.values.push(Value::new("ratio", ratio.value, "ratio"));
    let interval = ratio.interval;
    if let Some(interval) = interval {
        finding.values.push(Value::new("ratio.low", interval.low, "ratio"));
        finding.values.push(Value::new("ratio.high", interval.high, "ratio"));
    }
    let truth = 1.0 + percent / 100.0;
    let worse = row.difference.verdict == Verdict::Worse;
    let held = interval.is_some_and(|interval| interval.contains(truth));
    finding.passed = worse && held;
    let range = interval.map_or("none".into(), |i| format!("{:.4} to {:.4}", i.low, i.high));
    finding.words = format!(
        "{} % more work is {} by {} pairs, of {needed} that the pilot promised; its ratio is {:.4}, interval {range}, \
         which {} {truth}",
        percent,
        if worse { "found" } else { "not found" },
        row.n[0],
        ratio.value,
        if held { "holds" } else { "does not hold" }
    );
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::made_up::record;
    use crate::statistics::Random;
    use crate::statistics::simulate::normal;

    fn records(n: u32, ratio: f64, spread: f64) -> Vec<Record> {
        let mut random = Random::new(11);
        let mut cost = || (spread * normal(&mut random)).exp();
        (1..=n)
            .flat_map(|block| {
                [("a", cost()), ("b", ratio * cost())]
                    .map(|(name, cpu)| record("steady", name, 0.0, block, &[("cpu", cpu)]))
            })
            .collect()
    }

    #[test]
    fn the_promised_number_finds_it_and_its_size() {
        let extent = Extent::WHOLE;
        let needed = needed(&records(10, 1.02, 0.02), &extent).unwrap();
        assert!((20..150).contains(&needed), "{needed}");
        let found = judge(&records(needed, 1.02, 0.02), needed, &extent);
        assert!(found.passed, "{found:?}");
    }

    #[test]
    fn no_slowdown_one_of_another_size_and_too_much_noise_fail() {
        let extent = Extent::WHOLE;
        assert!(!judge(&records(60, 1.0, 0.02), 60, &extent).passed);
        let wrong = judge(&records(60, 1.05, 0.02), 60, &extent);
        assert!(!wrong.passed && wrong.words.contains("does not hold"), "{wrong:?}");
        let noisy = needed(&records(10, 1.02, 0.2), &extent).unwrap_err();
        assert!(noisy.words.ends_with("too noisy"), "{noisy:?}");
        assert!(needed(&records(1, 1.02, 0.02), &extent).is_err());
        assert!(needed(&[], &extent).unwrap_err().words.starts_with("the pilot says nothing"));
    }
}
