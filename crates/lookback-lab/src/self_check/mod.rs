//! Does the lab itself tell the truth? Four checks against what is known beforehand.
//!
//! ```text
//! lower-bound  overheads of tables that were worked by hand
//! attribution  the collector's CPU time of `known-gc`, which measures each of its collections by itself
//! same         a configuration against itself, many times: how often is a difference told that is not there?
//! planted      `steady` with a slowdown of known size: found with as many invocations as were promised, and its size?
//! ```
//!
//! The constraint that shaped it: what is checked is the whole way from an experiment's file to the answer, so a check
//! writes a file, runs it as any other and asks the same questions; it has no way of its own. Nothing here may print.

mod arithmetic;
mod attribution;
mod driver;
mod extent;
mod files;
mod finding;
mod planted;
mod same;

pub use driver::{Progress, SelfCheck};
pub use extent::Extent;
pub use finding::{Finding, Value};
