//! What a run tells its caller while it goes on.
//!
//! The constraint that shaped it: a run of days is watched on a terminal, in a log, or not at all, so events carry facts
//! and the caller finds the words.

use crate::plan::Cell;
use crate::results::{Disturbance, Outcome, Record};
use std::time::Duration;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Invocations that are done, those of earlier runs and the skipped ones included.
    pub done: usize,
    /// All invocations that were chosen.
    pub all: usize,
    /// How long the others will take, from what was measured so far; none before anything was.
    pub time: Option<Duration>,
}

/// Something that happened.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A run that was there goes on.
    Resumed {
        /// How far it is.
        left: Left,
        /// Bytes of a record that a kill had torn, and that were cut off.
        torn: usize,
        /// Cells with results that are not of this plan; they are kept and take no part.
        strangers: usize,
        /// Processes that an earlier run had left behind, and that were killed.
        leftovers: usize,
    },
    /// The machine is not quiet; it is waited for.
    Waiting {
        /// What is going on.
        disturbances: &'a [Disturbance],
        /// For how long by now.
        waited: Duration,
        /// How long it may go on.
        patience: Duration,
    },
    /// An invocation begins.
    Begins {
        /// Of this cell.
        cell: &'a Cell,
        /// Which of its invocations.
        number: u32,
        /// Which attempt.
        attempt: u32,
        /// How far the run is.
        left: Left,
    },
    /// An invocation has ended, and its record is on the disk.
    Ended {
        /// The record.
        record: &'a Record,
        /// Whether it is run again.
        again: bool,
        /// Processes that it had left behind outside of its group, and that were killed.
        leftovers: usize,
        /// How far the run is.
        left: Left,
    },
    /// A cell is given up: its first invocations failed in the same way.
    Skipped {
        /// The cell.
        cell: &'a Cell,
        /// How they failed.
        outcome: &'a Outcome,
        /// How many invocations are not run.
        invocations: usize,
    },
}
