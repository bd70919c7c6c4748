//! How far a run is, without running anything and beside one that goes on.
//!
//! The constraint that shaped it: it decides by the same [`Schedule`] as the run itself, so that what is shown is what
//! would be done.

use super::progress::Left;
use super::runner::Options;
use super::schedule::Schedule;
use crate::error::Result;
use crate::plan::{Cell, Plan};
use crate::results::{Outcome, RECORDS, Record, read_lines};
use std::time::Duration;

/// How far a plan's run is.
#[derive(Debug)]
pub struct Status<'a> {
    /// Its chosen cells, in the plan's order.
    pub cells: Vec<CellStatus<'a>>,
    /// All together.
    pub left: Left,
    /// Cells with results that are not of this plan.
    pub strangers: usize,
}

/// How far a cell is.
#[derive(Debug)]
pub struct CellStatus<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// Its chosen invocations.
    pub all: usize,
    /// Those that are done.
    pub done: usize,
    /// The failure that its first invocations share, if it is given up for it.
    pub failing: Option<Outcome>,
    /// How long an invocation takes, from what was measured.
    pub time: Option<Duration>,
}

impl<'a> Status<'a> {
    /// The status of a plan's run into the options' directory, which need not be there.
    ///
    /// # Errors
    /// Those of [`crate::results::read_lines`].
    pub fn of(plan: &'a Plan, options: &Options) -> Result<Status<'a>> {
        let records = read_lines::<Record>(&options.directory.join(RECORDS))?.lines;
        let schedule = Schedule::new(plan.retries, &records);
        let mut counts = vec![(0, 0); plan.cells.len()];
        let chosen = options.chosen(plan);
        let mut rest = Vec::new();
        for invocation in &chosen {
            let cell = &plan.cells[invocation.cell];
            let (all, done) = &mut counts[invocation.cell];
            *all += 1;
            if schedule.attempt(&cell.id, invocation.number).is_none() {
                *done += 1;
            } else {
                rest.push(cell);
            }
        }
        let cells = plan.cells.iter().zip(counts).filter(|(_, (all, _))| *all > 0);
        let cells = cells.map(|(cell, (all, done))| CellStatus {
            cell,
            all,
            done,
            failing: schedule.failing(&cell.id).filter(|_| !options.keep_failing).cloned(),
            time: schedule.expected(cell),
        });
        Ok(Status {
            cells: cells.collect(),
            left: schedule.left(rest.into_iter(), chosen.len(), options.keep_failing),
            strangers: schedule.strangers(&plan.cells),
        })
    }
}
