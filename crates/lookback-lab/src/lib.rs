//! The overhead laboratory: what a collector, a tracer or any other change of a JVM's configuration costs, measured so
//! that the figure holds.
//!
//! It is the methodology of "Memory Management on Mobile Devices" (ISMM 2024) for HotSpot: lower bound overheads
//! (Cai et al., ISPASS 2022), heaps as multiples of each workload's own minimum, cold invocations in an interleaved
//! order, costs attributed to measured iterations, intervals by bootstrap. `docs/LAB.md` is its manual.
//!
//! The way of a figure, a folder each:
//!
//! ```text
//! experiment file -> plan -> run -> results -> statistics -> overhead, comparison -> report
//!                     ^       ^
//!                heap sizes  machine
//! ```
//!
//! The constraint that shaped it: a figure must be able to be wrong in no silent way. So what was run is told by a
//! hash of everything that could change it ([`plan::CellId`]), every invocation leaves a [`results::Record`] whatever
//! became of it, and what was left out of a figure stands beside it. This crate must not print and must not end the
//! process: it tells its progress to who called it.

pub mod comparison;
mod error;
pub mod experiment;
mod hash;
pub mod heap;
pub mod hosts;
pub mod jit;
pub mod machine;
pub mod measure;
pub mod metric;
pub mod overhead;
pub mod plan;
pub mod report;
pub mod results;
pub mod run;
pub mod self_check;
pub mod sensitivity;
pub mod statistics;

pub use error::{Error, Result};
