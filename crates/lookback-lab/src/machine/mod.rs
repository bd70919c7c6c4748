//! The machine that is measured on: what it is, what it did while an invocation ran, and whether it was quiet.
//!
//! The constraint that shaped it: a figure is worth as much as the machine was quiet, and nobody remembers afterwards.
//! So facts are written once a run, counters are read around each invocation, and the rule that calls one disturbed is
//! part of the plan, stated before anything is measured. Nothing here may change the machine.

mod advice;
mod counters;
mod cpus;
mod facts;
mod quiet;

pub use advice::{Advice, advice};
pub use counters::{Counters, Observer, System};
pub(crate) use cpus::set_of;
pub use cpus::{allowed, resolve};
pub use facts::Facts;
pub use quiet::{judge, wait_for_quiet};
