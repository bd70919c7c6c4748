//! What is to be run: the cells of an experiment, each a workload under one configuration, and their invocations in
//! the order in which they run.
//!
//! The constraint that shaped it: a plan holds everything that an invocation needs and nothing that has to be looked up
//! while it runs, so that a plan can be shown, estimated, divided among machines and gone on with. It must not start
//! anything.

mod cell;
mod estimate;
mod order;
mod shard;

pub use cell::{Cell, CellId, HeapSize, Invocation, Jvm, Launch, Pin, SOCKET};
pub use estimate::{Basis, Durations, Estimate};
pub use order::Order;
pub use shard::Shard;

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// An experiment, resolved on one machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment's name: a word for file names and titles.
    pub name: String,
    /// What it is about, a sentence; may be empty.
    pub about: String,
    /// Seed of the order.
    pub seed: u64,
    /// The cells, in the order of tables.
    pub cells: Vec<Cell>,
    /// All invocations in the order in which they run: `cell` is an index into `cells`.
    pub order: Vec<Invocation>,
    /// The cores that everything runs on.
    pub pin: Pin,
    /// How often an invocation that was disturbed, or that failed by no fault of its own, is run again.
    pub retries: u32,
    /// How long a turn is, when the cells of a workload on a JDK with a heap run at the same time and take turns; 0: each runs
    /// by itself.
    #[serde(default)]
    pub turns: Duration,
    /// Metrics that tables and overheads are made of; all that can be measured is recorded.
    pub metrics: Vec<String>,
    /// What an invocation counts as disturbed by.
    pub quiet: Quiet,
    /// The JDKs that the cells use.
    pub jdks: Vec<Jdk>,
}

impl Plan {
    /// Reads a resolved plan, such as the `plan.json` of a results directory.
    ///
    /// # Errors
    /// [`Error::Read`], and [`Error::NotAPlan`] for a file that is no plan or whose order names a cell that it lacks.
    pub fn read(path: &Path) -> Result<Plan> {
        let bytes = std::fs::read(path).map_err(|error| Error::Read { path: path.to_owned(), error })?;
        let not_a_plan = |why: String| Error::NotAPlan { path: path.to_owned(), why };
        let plan: Plan = serde_json::from_slice(&bytes).map_err(|error| not_a_plan(error.to_string()))?;
        match plan.order.iter().find(|invocation| invocation.cell >= plan.cells.len()) {
            Some(stray) => Err(not_a_plan(format!(
                "its order names cell {}, and it has {}",
                stray.cell,
                plan.cells.len()
            ))),
            None => Ok(plan),
        }
    }
}

/// A JDK as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jdk {
    /// Its name in the experiment.
    pub name: String,
    /// Its directory.
    pub home: std::path::PathBuf,
    /// What its `release` file says: `17.0.15+6-Debian`.
    pub version: String,
    /// SHA-256 of `lib/server/libjvm.so`, hexadecimal.
    pub hash: String,
}

/// From when on an invocation counts as disturbed by others: the rule that is stated before anything is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quiet {
    /// Share of the invocation's time that the hypervisor gave to others, of all its cores: percent.
    pub steal_percent: f64,
    /// CPU time that other processes took while it ran, of all its cores: percent.
    pub others_percent: f64,
    /// Bytes that were swapped in or out while it ran.
    pub swap_bytes: u64,
    /// How long to wait before an invocation until the machine is quiet.
    pub patience: Duration,
}

impl Default for Quiet {
    fn default() -> Self {
        Quiet { steal_percent: 2.0, others_percent: 5.0, swap_bytes: 0, patience: Duration::from_secs(60) }
    }
}
