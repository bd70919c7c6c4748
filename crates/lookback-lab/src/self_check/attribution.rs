//! The collector's CPU time against what the workload `known-gc` measured of it by itself.
//!
//! The constraint that shaped it: the workload's own figures come from the JVM's clocks around each collection that it
//! asks for, and know nothing of the lab. Its clock has steps of 10 ms, so sums over iterations are compared and never
//! single ones.

use super::finding::{Finding, Value};
use crate::measure::STDOUT;
use crate::results::{Iteration, Record};
use std::collections::BTreeMap;
use std::path::Path;

/// How far the lab's figure may lie from the known one, percent.
const WITHIN: f64 = 5.0;

/// The collector's CPU time, sums over iterations, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Attribution {
    /// By the lab.
    measured: f64,
    /// By the workload.
    known: f64,
}

/// The collector's CPU time of each iteration as the workload printed it, nanoseconds:
/// `known K mutator_cpu_ns N gc_cpu_ns N ...`.
fn known_costs(output: &str) -> BTreeMap<u32, f64> {
    let known = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["known", number, "mutator_cpu_ns", _, "gc_cpu_ns", gc, ..] = words[..] else {
            return None;
        };
        Some((number.parse().ok()?, gc.parse().ok()?))
    };
    output.lines().filter_map(known).collect()
}

impl Attribution {
    /// Adds an iteration.
    ///
    /// # Errors
    /// Words, when either does not have it.
    fn add(&mut self, iteration: &Iteration, known: &BTreeMap<u32, f64>) -> Result<(), String> {
        let number = iteration.number;
        let measured = iteration.metrics.get("cpu.gc").ok_or(format!("iteration {number} has no cpu.gc"))?;
        let known = known.get(&number).ok_or(format!("the workload told nothing of iteration {number}"))?;
        self.measured += measured;
        self.known += known;
        Ok(())
    }

    /// How far the lab's figure lies from the known one, percent.
    fn percent(&self) -> f64 {
        (self.measured / self.known - 1.0) * 100.0
    }
}

/// Judges the records of a directory of results.
pub(super) fn judge(records: &[Record], directory: &Path) -> Finding {
    let mut sums: BTreeMap<String, Attribution> = BTreeMap::new();
    let mut problems = Vec::new();
    for record in records {
        let name = format!("{}-{}", record.jdk, record.configuration);
        let sum = sums.entry(name.clone()).or_default();
        if record.counts()
            && let Err(why) = add(sum, record, directory)
        {
            problems.push(format!("{name}: {why}"));
        }
    }
    let mut values = Vec::new();
    let mut worst: Option<(&String, f64)> = None;
    for (name, sum) in &sums {
        if sum.known <= 0.0 {
            problems.push(format!("{name}: no invocation counts"));
            continue;
        }
        let percent = sum.percent();
        values.push(Value::new(name, percent, "percent"));
        if worst.is_none_or(|(_, before)| percent.abs() > before.abs()) {
            worst = Some((name, percent));
        }
    }
    let words = match (worst, problems.is_empty()) {
        (_, false) => problems.join("; "),
        (None, true) => "there is no invocation".into(),
        (Some((name, percent)), true) => format!(
            "the collector's CPU time lies within {:.1} % of what the program knows (worst: {name}, {percent:+.1} %); \
             {WITHIN} % are allowed",
            percent.abs()
        ),
    };
    let near = worst.is_some_and(|(_, percent)| percent.abs() <= WITHIN);
    Finding { check: "attribution", passed: near && problems.is_empty(), words, values }
}

fn add(sum: &mut Attribution, record: &Record, directory: &Path) -> Result<(), String> {
    let path = directory.join(&record.raw).join(STDOUT);
    let output = std::fs::read_to_string(&path)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let known = known_costs(&output);
    record.iterations.iter().filter(|iteration| iteration.measured).try_for_each(|i| sum.add(i, &known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::made_up::record;

    fn records(directory: &Path, gc: f64) -> Vec<Record> {
        let metrics = [("cpu.gc", gc), ("cpu.mutator", 50.0)];
        let mut one = record("known-gc", "serial", 0.0, 1, &metrics);
        one.raw = "raw".into();
        std::fs::create_dir_all(directory.join("raw")).unwrap();
        let output = "iteration 1 known-gc 1.0 ms\nknown 1 mutator_cpu_ns 50 gc_cpu_ns 100 gc_wall_ns 9\n";
        std::fs::write(directory.join("raw").join(STDOUT), output).unwrap();
        vec![one]
    }

    #[test]
    fn what_is_near_passes_and_what_is_far_or_missing_fails() {
        let dir = tempfile::tempdir().unwrap();
        let found = judge(&records(dir.path(), 104.0), dir.path());
        assert!(found.passed, "{found:?}");
        assert_eq!(found.values.len(), 1);
        assert_eq!((found.values[0].name.as_str(), found.values[0].value.round()), ("17-serial", 4.0));
        assert!(!judge(&records(dir.path(), 93.0), dir.path()).passed);
        let mut without = records(dir.path(), 100.0);
        without[0].iterations[0].number = 2;
        let found = judge(&without, dir.path());
        assert!(!found.passed && found.words.contains("nothing of iteration 2"), "{found:?}");
        assert!(!judge(&[], dir.path()).passed);
        without[0].outcome = crate::results::Outcome::OutOfMemory;
        assert!(judge(&without, dir.path()).words.contains("no invocation counts"));
    }
}
