//! How long a plan will take.
//!
//! The constraint that shaped it: an estimate from measured runs and a guess are not the same, so the basis of each is
//! told. Waiting for a quiet machine and repeated invocations are not in it.

use super::{Cell, CellId, Plan};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

/// Mean durations of processes that ran before.
#[derive(Debug, Clone, Default)]
pub struct Durations {
    cells: BTreeMap<CellId, Mean>,
    workloads: BTreeMap<String, Mean>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum_ns: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, ns: u64) {
        self.sum_ns += ns as f64;
        self.count += 1.0;
    }

    fn seconds(self) -> f64 {
        self.sum_ns / self.count / 1e9
    }
}

/// What of a record is needed here.
#[derive(Deserialize)]
struct Ran {
    cell: CellId,
    workload: String,
    process_ns: u64,
}

impl Durations {
    /// Those in the records of a results' directory; none where it has no records. A line that is no record does not
    /// matter for an estimate.
    pub fn read(results: &Path) -> Durations {
        let mut durations = Durations::default();
        let Ok(file) = fs::File::open(results.join("results.jsonl")) else { return durations };
        for line in BufReader::new(file).lines().map_while(std::result::Result::ok) {
            if let Ok(ran) = serde_json::from_str::<Ran>(&line) {
                durations.add(ran.cell, ran.workload, ran.process_ns);
            }
        }
        durations
    }

    /// One more process.
    pub fn add(&mut self, cell: CellId, workload: String, process_ns: u64) {
        self.cells.entry(cell).or_default().add(process_ns);
        self.workloads.entry(workload).or_default().add(process_ns);
    }

    fn of(&self, cell: &Cell, guess: impl Fn(&Cell) -> f64) -> (Basis, f64) {
        let (basis, seconds) = self.of_process(cell, guess);
        // A rehearsal is the same program once more.
        (basis, if cell.launch.rehearsal.is_empty() { seconds } else { 2.0 * seconds })
    }

    fn of_process(&self, cell: &Cell, guess: impl Fn(&Cell) -> f64) -> (Basis, f64) {
        if let Some(mean) = self.cells.get(&cell.id) {
            return (Basis::Cell, mean.seconds());
        }
        match self.workloads.get(&cell.workload) {
            Some(mean) => (Basis::Workload, mean.seconds()),
            None => (Basis::Guess, guess(cell)),
        }
    }
}

/// What a duration was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Basis {
    /// The same cell ran before.
    Cell,
    /// The same workload ran before, under another configuration.
    Workload,
    /// A guess.
    Guess,
}

/// How long a plan will take.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// In all.
    pub total: Duration,
    /// How many invocations rest on what.
    pub bases: BTreeMap<Basis, usize>,
}

impl Estimate {
    /// Of all invocations in the plan's order; `guess` gives seconds for a cell that nothing is known of.
    pub fn of(plan: &Plan, durations: &Durations, guess: impl Fn(&Cell) -> f64) -> Estimate {
        let cells: Vec<_> = plan.cells.iter().map(|cell| durations.of(cell, &guess)).collect();
        let mut bases = BTreeMap::new();
        let mut seconds = 0.0;
        for one in &plan.order {
            let (basis, each) = cells[one.cell];
            *bases.entry(basis).or_default() += 1;
            seconds += each;
        }
        Estimate { total: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX), bases }
    }
}
