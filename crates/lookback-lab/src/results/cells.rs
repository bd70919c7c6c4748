//! Records by cell: of each invocation the last attempt, in the order of blocks.
//!
//! The constraint that shaped it: an invocation that was disturbed is run again, and only its last attempt can count;
//! counting both would make a sample larger where the machine was busier. Cells of the same names but other identities
//! must never be put together, nor those of two hosts.

use super::heap_point::HeapPoint;
use super::record::{Outcome, Record};
use crate::error::{Error, Result};
use crate::plan::CellId;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What a cell is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CellName {
    /// The host.
    pub host: String,
    /// The workload.
    pub workload: String,
    /// The JDK's name; empty without one.
    pub jdk: String,
    /// The configuration's name.
    pub configuration: String,
    /// The heap.
    pub heap: HeapPoint,
}

impl CellName {
    /// The name of a record's cell.
    pub fn of(record: &Record) -> CellName {
        CellName {
            host: record.host.clone(),
            workload: record.workload.clone(),
            jdk: record.jdk.clone(),
            configuration: record.configuration.clone(),
            heap: HeapPoint::of(record.heap),
        }
    }

    /// JDK and configuration as tables name them: `17|g1|bare`.
    pub fn label(&self) -> String {
        if self.jdk.is_empty() {
            self.configuration.clone()
        } else {
            format!("{}|{}", self.jdk, self.configuration)
        }
    }
}

/// The invocations of a cell on one host.
#[derive(Debug, Clone)]
pub struct CellRecords<'a> {
    /// What it is called.
    pub name: CellName,
    /// The collector, when it is named.
    pub collector: Option<&'a str>,
    /// The tracer; none is the bare program.
    pub tracer: Option<&'a str>,
    /// The last attempt of each invocation, in the order of invocations.
    pub records: Vec<&'a Record>,
}

impl<'a> CellRecords<'a> {
    /// The records that count.
    pub fn counted(&self) -> impl Iterator<Item = &'a Record> {
        self.records.iter().copied().filter(|record| record.counts())
    }

    /// A metric's mean over measured iterations, of each invocation that counts and has it, by block.
    pub fn values(&self, metric: &str) -> BTreeMap<u32, f64> {
        self.counted().filter_map(|record| Some((record.invocation, record.mean(metric)?))).collect()
    }

    /// What became of its invocations.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally { invocations: self.records.len(), ..Tally::default() };
        for record in &self.records {
            match (&record.outcome, record.counts()) {
                (_, true) => tally.counted += 1,
                (Outcome::Ok, _) => tally.disturbed += 1,
                (Outcome::OutOfMemory, _) => tally.out_of_memory += 1,
                (Outcome::Crash { .. }, _) => tally.crashed += 1,
                (Outcome::TimedOut, _) => tally.timed_out += 1,
                (Outcome::WrongChecksum { .. }, _) => tally.wrong_checksum += 1,
                (_, _) => tally.failed += 1,
            }
        }
        tally
    }
}

/// What became of a cell's invocations, each by its last attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All.
    pub invocations: usize,
    /// Those whose figures count.
    pub counted: usize,
    /// Those that went well and were disturbed.
    pub disturbed: usize,
    /// Those whose heap was too small.
    pub out_of_memory: usize,
    /// Those whose VM crashed.
    pub crashed: usize,
    /// Those that took too long.
    pub timed_out: usize,
    /// Those with a wrong checksum.
    pub wrong_checksum: usize,
    /// Those that ended otherwise.
    pub failed: usize,
}

impl Tally {
    /// Whether none failed and at least one counts.
    pub fn complete(&self) -> bool {
        self.counted > 0 && self.counted + self.disturbed == self.invocations
    }
}

impl fmt::Display for Tally {
    /// `out of memory 5/5`, `counted 4/5, disturbed 1/5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("counted", self.counted),
            ("disturbed", self.disturbed),
            ("out of memory", self.out_of_memory),
            ("crashed", self.crashed),
            ("timed out", self.timed_out),
            ("wrong checksum", self.wrong_checksum),
            ("failed", self.failed),
        ];
        let mut first = true;
        for (word, count) in parts.into_iter().filter(|&(_, count)| count > 0) {
            write!(f, "{}{word} {count}/{}", if first { "" } else { ", " }, self.invocations)?;
            first = false;
        }
        if first { f.write_str("not run") } else { Ok(()) }
    }
}

/// The cells of the records, in the order of their names.
///
/// # Errors
/// [`Error::MixedCells`] when on one host a name stands for cells of two identities.
pub fn cells(records: &[Record]) -> Result<Vec<CellRecords<'_>>> {
    let mut named: BTreeMap<CellName, (BTreeSet<&CellId>, BTreeMap<u32, &Record>)> = BTreeMap::new();
    for record in records {
        let (ids, invocations) = named.entry(CellName::of(record)).or_default();
        ids.insert(&record.cell);
        let last = invocations.entry(record.invocation).or_insert(record);
        if record.attempt > last.attempt {
            *last = record;
        }
    }
    named
        .into_iter()
        .map(|(name, (ids, invocations))| {
            if ids.len() > 1 {
                return Err(Error::MixedCells {
                    cell: format!("{} under {} at {}", name.workload, name.label(), name.heap),
                    ids: ids.into_iter().map(CellId::to_string).collect(),
                });
            }
            let records: Vec<_> = invocations.into_values().collect();
            let first = records.first();
            Ok(CellRecords {
                name,
                collector: first.and_then(|record| record.collector.as_deref()),
                tracer: first.and_then(|record| record.tracer.as_deref()),
                records,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Disturbance;
    use crate::results::made_up::record;

    #[test]
    fn the_last_attempt_counts_and_failures_are_told() {
        let mut again = record("h2", "g1", 2.0, 1, &[("cpu", 9.0)]);
        again.attempt = 2;
        let mut first = record("h2", "g1", 2.0, 1, &[("cpu", 1.0)]);
        first.disturbances = vec![Disturbance::Swap { bytes: 1 }];
        let mut full = record("h2", "g1", 2.0, 2, &[]);
        full.outcome = Outcome::OutOfMemory;
        let records = [again, first, full];
        let cells = cells(&records).unwrap();
        assert_eq!(cells.len(), 1);
        assert_eq!(cells[0].values("cpu"), BTreeMap::from([(1, 9.0)]));
        assert_eq!(cells[0].tally().to_string(), "counted 1/2, out of memory 1/2");
        assert!(!cells[0].tally().complete());
        assert_eq!(cells[0].name.label(), "17|g1");
    }

    #[test]
    fn cells_of_one_name_and_two_identities_are_refused() {
        let mut records = [record("h2", "g1", 2.0, 1, &[]), record("h2", "g1", 2.0, 2, &[])];
        records[1].cell = CellId("other".into());
        assert!(matches!(cells(&records), Err(Error::MixedCells { ids, .. }) if ids.len() == 2));
        records[1].host = "elsewhere".into();
        assert_eq!(cells(&records).unwrap().len(), 2);
    }
}
