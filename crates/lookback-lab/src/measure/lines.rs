//! A line of the harness's report as it is read here: those that say something of an iteration.
//!
//! The constraint that shaped it: reports are kept as raw output and read again by later versions, so a line of a kind
//! that is not known is passed over. It must not describe again what [`lookback_harness::report`] does.

use lookback_harness::report::{Iteration, Requests, Series, Value};
use serde::Deserialize;

/// A line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Line {
    /// An iteration has ended.
    Iteration(Box<Iteration>),
    /// The requests of an iteration.
    Requests(Requests),
    /// A series of an iteration, one number a frame or input event.
    Series(Series),
    /// A value that was told after its iteration had ended.
    Value(Value),
    /// One that says nothing of an iteration.
    #[serde(other)]
    Other,
}
