//! Running a plan: one process an invocation, cold, pinned and alone, and a record of each.
//!
//! The constraint that shaped it: a run takes days and ends in any way there is: Ctrl-C, `kill -9`, a full disk, a
//! machine that goes down. So what is done is known by the records alone ([`schedule`]), each is on the disk before the
//! next invocation begins, no process outlives its invocation ([`process`], [`leftovers`]), and an invocation that
//! fails is a result and no reason to stop. Nothing here may print.

mod command;
mod invocation;
mod leftovers;
mod outcome;
mod process;
mod progress;
mod runner;
mod schedule;
mod selection;
mod status;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod tests_support;

pub use command::{Harness, command_line};
pub use progress::{Event, Left};
pub use runner::{Options, Summary, run};
pub use selection::Selection;
pub use status::{CellStatus, Status};

pub(crate) use invocation::{Context, Executed, Task};
