//! The record of one invocation: a line of `results.jsonl`.
//!
//! The constraint that shaped it: a failure is a result as well. Out of memory, a crash or a wrong checksum is data, and
//! a disturbed invocation stays in the file, marked, so that what was left out can be counted and looked at.

use crate::plan::{CellId, HeapSize};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The version of the record's form.
pub const SCHEMA: u32 = 1;

/// What one invocation gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`] of who wrote it.
    pub schema: u32,
    /// The cell.
    pub cell: CellId,
    /// The workload's name.
    pub workload: String,
    /// The JDK's name; empty without one.
    pub jdk: String,
    /// The configuration's name.
    pub configuration: String,
    /// The collector, when it is named.
    pub collector: Option<String>,
    /// The tracer; none is the bare program.
    pub tracer: Option<String>,
    /// The heap.
    pub heap: Option<HeapSize>,
    /// Which invocation of the cell, from 1; also the number of its block.
    pub invocation: u32,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// The machine's name.
    pub host: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Wall time of the whole process, nanoseconds by a clock that does not jump.
    pub process_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// What others did to it, beyond the plan's rule; an empty list is a quiet run.
    pub disturbances: Vec<Disturbance>,
    /// What the machine did meanwhile.
    pub machine: Reading,
    /// The iterations in order; those before a failure too.
    pub iterations: Vec<Iteration>,
    /// Directory of its raw output, relative to the results' directory.
    pub raw: String,
}

impl Record {
    /// Whether its figures count: it went well and nobody disturbed it.
    pub fn counts(&self) -> bool {
        self.outcome == Outcome::Ok && self.disturbances.is_empty()
    }

    /// Mean of a metric over the measured iterations; none when one of them does not have it, or none was measured.
    pub fn mean(&self, metric: &str) -> Option<f64> {
        let measured: Vec<_> = self.iterations.iter().filter(|iteration| iteration.measured).collect();
        let values: Option<Vec<f64>> =
            measured.iter().map(|iteration| iteration.metrics.get(metric).copied()).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// How an invocation ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// Exit code 0, the right checksum, figures of every measured iteration.
    Ok,
    /// The heap was too small.
    OutOfMemory,
    /// The VM crashed, or a signal that the lab did not send ended it.
    Crash {
        /// The signal's number; 0 when the VM wrote an error file and ended by itself.
        signal: i32,
    },
    /// Another exit code than 0.
    Failed {
        /// The exit code.
        code: i32,
        /// The last line of standard error.
        last_words: String,
    },
    /// It took longer than the plan allows and was killed.
    TimedOut,
    /// Its checksum is another than in the plan or than in other invocations of the same workload and JDK.
    WrongChecksum {
        /// What was expected.
        expected: String,
        /// What was printed.
        found: String,
    },
    /// It ended well, and a measured iteration has no figures.
    NoFigures {
        /// What is missing.
        why: String,
    },
    /// It could not be started.
    NotStarted {
        /// Why.
        why: String,
    },
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Ok => f.write_str("ok"),
            Outcome::OutOfMemory => f.write_str("out of memory"),
            Outcome::Crash { signal: 0 } => f.write_str("the VM crashed"),
            Outcome::Crash { signal } => write!(f, "ended by signal {signal}"),
            Outcome::Failed { code, last_words } if last_words.is_empty() => write!(f, "exit code {code}"),
            Outcome::Failed { code, last_words } => write!(f, "exit code {code}: {last_words}"),
            Outcome::TimedOut => f.write_str("took too long"),
            Outcome::WrongChecksum { expected, found } if found.is_empty() => {
                write!(f, "no checksum instead of {expected}")
            }
            Outcome::WrongChecksum { expected, found } => write!(f, "checksum {found} instead of {expected}"),
            Outcome::NoFigures { why } => write!(f, "no figures: {why}"),
            Outcome::NotStarted { why } => write!(f, "could not be started: {why}"),
        }
    }
}

/// A way in which others disturbed an invocation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Disturbance {
    /// The hypervisor gave the cores to others.
    Steal {
        /// Percent of the cores' time.
        percent: f64,
    },
    /// Other processes ran on the cores.
    Others {
        /// Percent of the cores' time.
        percent: f64,
    },
    /// Memory was swapped.
    Swap {
        /// Bytes in and out.
        bytes: u64,
    },
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Disturbance::Steal { percent } => {
                write!(f, "the hypervisor took {percent:.1} % of the cores' time")
            }
            Disturbance::Others { percent } => write!(f, "others used {percent:.1} % of the cores' time"),
            Disturbance::Swap { bytes } => write!(f, "{} KiB were swapped", bytes >> 10),
        }
    }
}

/// What the machine did while an invocation ran.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reading {
    /// Percent of the pinned cores' time that the hypervisor gave to others.
    pub steal_percent: f64,
    /// Percent of the pinned cores' time that other processes used.
    pub others_percent: f64,
    /// Bytes swapped in and out.
    pub swap_bytes: u64,
    /// Load average over a minute when it began.
    pub load: f64,
    /// Microseconds in which some task waited for a core (pressure stall information); 0 where the kernel has none.
    pub cpu_pressure_us: u64,
    /// Microseconds in which some task waited for memory.
    pub memory_pressure_us: u64,
    /// Microseconds in which some task waited for I/O.
    pub io_pressure_us: u64,
}

/// One iteration of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// Its number, from 1.
    pub number: u32,
    /// Whether its figures count.
    pub measured: bool,
    /// Figures by the names of [`crate::metric::METRICS`] or the workload's own, in the unit of the metric.
    pub metrics: BTreeMap<String, f64>,
    /// Units of the workload's own metrics.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, String>,
}
