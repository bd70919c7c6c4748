//! What is done, what is to be run again, and which cells are not worth going on with: all from records.
//!
//! The constraint that shaped it: a run that goes on after a kill must decide as one that was never interrupted, so
//! nothing is remembered that does not stand in a record.
//!
//! An invocation is done with its first attempt that is not to be repeated. Repeated, up to the plan's retries, is what
//! others disturbed: one that ended well or that took too long. Out of memory, a crash or a wrong checksum is no
//! neighbour's fault, is data, and is not repeated. What could not be started is not data: it is tried again while the
//! machine lacks something for the moment, and once in each later run.

use super::outcome::same_failure;
use super::progress::Left;
use crate::plan::{Cell, CellId};
use crate::results::{Outcome, Record};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

/// How many invocations of a cell must fail in the same way before the others are skipped.
const ENOUGH: usize = 2;

/// What is known of a plan's invocations.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    retries: u32,
    cells: HashMap<CellId, BTreeMap<u32, State>>,
    durations: HashMap<CellId, Mean>,
    by_workload: HashMap<String, Mean>,
    all: Mean,
}

/// What became of an invocation so far.
#[derive(Debug)]
struct State {
    /// The highest attempt.
    attempt: u32,
    /// How many attempts were disturbed.
    disturbed: u32,
    /// How it ended, once it counts as ended.
    settled: Option<Outcome>,
    /// How the last attempt of this run could not be started.
    not_started: Option<Outcome>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Mean {
    sum: Duration,
    count: u32,
}

impl Mean {
    fn add(&mut self, time: Duration) {
        self.sum += time;
        self.count += 1;
    }

    fn get(self) -> Option<Duration> {
        (self.count > 0).then(|| self.sum / self.count)
    }
}

impl Schedule {
    /// What earlier runs left.
    pub(super) fn new(retries: u32, records: &[Record]) -> Schedule {
        let mut schedule = Schedule { retries, ..Schedule::default() };
        for record in records {
            schedule.add(record);
        }
        // What could not be started then may be there now.
        for state in schedule.cells.values_mut().flat_map(BTreeMap::values_mut) {
            state.not_started = None;
        }
        schedule
    }

    /// Has an invocation that could not be started tried again in this run.
    pub(super) fn try_again(&mut self, cell: &CellId, number: u32) {
        if let Some(state) = self.cells.get_mut(cell).and_then(|states| states.get_mut(&number)) {
            state.not_started = None;
        }
    }

    /// Takes note of a record.
    pub(super) fn add(&mut self, record: &Record) {
        let states = self.cells.entry(record.cell.clone()).or_default();
        let state = states.entry(record.invocation).or_insert(State {
            attempt: 0,
            disturbed: 0,
            settled: None,
            not_started: None,
        });
        state.attempt = state.attempt.max(record.attempt);
        state.not_started = None;
        match &record.outcome {
            Outcome::NotStarted { .. } => state.not_started = Some(record.outcome.clone()),
            Outcome::Ok | Outcome::TimedOut if !record.disturbances.is_empty() => {
                state.disturbed += 1;
                if state.disturbed > self.retries {
                    state.settled = Some(record.outcome.clone());
                }
            }
            outcome => state.settled = Some(outcome.clone()),
        }
        if !matches!(record.outcome, Outcome::NotStarted { .. }) {
            let time = Duration::from_nanos(record.process_ns);
            self.durations.entry(record.cell.clone()).or_default().add(time);
            self.by_workload.entry(record.workload.clone()).or_default().add(time);
            self.all.add(time);
        }
    }

    /// The attempt that an invocation needs, from 1; none when it is done, or could not be started in this run.
    pub(super) fn attempt(&self, cell: &CellId, number: u32) -> Option<u32> {
        match self.cells.get(cell).and_then(|states| states.get(&number)) {
            None => Some(1),
            Some(state) if state.settled.is_some() || state.not_started.is_some() => None,
            Some(state) => Some(state.attempt + 1),
        }
    }

    /// The failure that a cell's invocations share, when they are not worth going on with.
    pub(super) fn failing(&self, cell: &CellId) -> Option<&Outcome> {
        let ends = self
            .cells
            .get(cell)?
            .values()
            .filter_map(|state| state.settled.as_ref().or(state.not_started.as_ref()));
        let first: Vec<_> = ends.take(ENOUGH).collect();
        let all_alike = first.len() == ENOUGH && first.iter().all(|&outcome| same_failure(outcome, first[0]));
        all_alike.then(|| first[0])
    }

    /// How long an invocation of a cell takes: as long as its own did, else those of its workload, else those of all;
    /// none before any has run.
    pub(super) fn expected(&self, cell: &Cell) -> Option<Duration> {
        let own = self.durations.get(&cell.id).and_then(|mean| mean.get());
        own.or_else(|| self.by_workload.get(&cell.workload).and_then(|mean| mean.get()))
            .or_else(|| self.all.get())
    }

    /// How far a run of `all` invocations is that has those of these cells before it; cells that are given up count as
    /// done unless they are kept on with.
    pub(super) fn left<'a>(
        &self,
        rest: impl Iterator<Item = &'a Cell>,
        all: usize,
        keep_failing: bool,
    ) -> Left {
        let (mut count, mut time) = (0, Some(Duration::ZERO));
        for cell in rest.filter(|cell| keep_failing || self.failing(&cell.id).is_none()) {
            count += 1;
            time = time.zip(self.expected(cell)).map(|(sum, one)| sum + one);
        }
        Left { done: all - count, all, time }
    }

    /// Cells that have records and are not among these.
    pub(super) fn strangers(&self, cells: &[Cell]) -> usize {
        let known: HashSet<&CellId> = cells.iter().map(|cell| &cell.id).collect();
        self.cells.keys().filter(|id| !known.contains(id)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{cell, record};
    use super::*;
    use crate::results::Disturbance;

    fn id() -> CellId {
        cell("w", &[]).id
    }

    fn of(invocation: u32, attempt: u32, outcome: Outcome, disturbed: bool) -> Record {
        let disturbances = if disturbed { vec![Disturbance::Steal { percent: 9.0 }] } else { vec![] };
        Record { disturbances, ..record(&cell("w", &[]), invocation, attempt, outcome) }
    }

    #[test]
    fn disturbed_ones_are_repeated_up_to_the_plan_s_retries_and_failures_are_not() {
        let next = |records: &[Record]| Schedule::new(2, records).attempt(&id(), 1);
        assert_eq!(next(&[]), Some(1));
        assert_eq!(next(&[of(1, 1, Outcome::Ok, false)]), None);
        assert_eq!(next(&[of(2, 1, Outcome::Ok, false)]), Some(1), "another invocation");
        assert_eq!(next(&[of(1, 1, Outcome::Ok, true)]), Some(2));
        assert_eq!(next(&[of(1, 1, Outcome::TimedOut, true)]), Some(2));
        assert_eq!(next(&[of(1, 1, Outcome::TimedOut, false)]), None);
        assert_eq!(next(&[of(1, 1, Outcome::OutOfMemory, true)]), None);
        let disturbed: Vec<_> = (1..=3).map(|attempt| of(1, attempt, Outcome::Ok, true)).collect();
        assert_eq!(next(&disturbed[..2]), Some(3));
        assert_eq!(next(&disturbed), None, "3 attempts are 2 retries");
    }

    #[test]
    fn what_could_not_be_started_is_tried_again_in_the_next_run_only() {
        let failed = of(1, 1, Outcome::NotStarted { why: "x".into() }, false);
        let mut schedule = Schedule::new(2, std::slice::from_ref(&failed));
        assert_eq!(schedule.attempt(&id(), 1), Some(2));
        schedule.add(&Record { attempt: 2, ..failed });
        assert_eq!(schedule.attempt(&id(), 1), None);
        schedule.try_again(&id(), 1);
        assert_eq!(schedule.attempt(&id(), 1), Some(3));
    }

    #[test]
    fn a_cell_is_given_up_when_its_first_two_fail_alike() {
        let failing = |records: &[Record]| Schedule::new(0, records).failing(&id()).cloned();
        let oom = |number| of(number, 1, Outcome::OutOfMemory, false);
        assert_eq!(failing(&[oom(1)]), None);
        assert_eq!(failing(&[oom(1), oom(2)]), Some(Outcome::OutOfMemory));
        assert_eq!(
            failing(&[oom(9), oom(8)]),
            Some(Outcome::OutOfMemory),
            "a shard's first are not number 1"
        );
        assert_eq!(failing(&[oom(1), of(2, 1, Outcome::TimedOut, false)]), None);
        assert_eq!(failing(&[of(1, 1, Outcome::Ok, false), oom(2), oom(3)]), None);
    }

    #[test]
    fn the_time_of_a_cell_is_its_own_and_else_its_workload_s() {
        let timed = |workload: &str, seconds: u64| Record {
            process_ns: seconds * 1_000_000_000,
            ..record(&cell(workload, &[]), 1, 1, Outcome::Ok)
        };
        let schedule = Schedule::new(0, &[timed("a", 2), timed("b", 4), timed("b", 6)]);
        assert_eq!(Schedule::default().expected(&cell("a", &[])), None);
        assert_eq!(schedule.expected(&cell("a", &[])), Some(Duration::from_secs(2)));
        let other = Cell { id: CellId("other".into()), ..cell("b", &[]) };
        assert_eq!(schedule.expected(&other), Some(Duration::from_secs(5)));
        assert_eq!(schedule.expected(&cell("c", &[])), Some(Duration::from_secs(4)));
        assert_eq!(schedule.strangers(&[cell("a", &[])]), 1);
    }
}
