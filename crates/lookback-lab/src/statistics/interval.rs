//! A value with the interval that it stands in.
//!
//! The constraint that shaped it: a value without an interval is allowed, since one measurement has none, but it is
//! told apart by the type. Must not hold how the interval was made; who makes it says so.

use serde::{Deserialize, Serialize};

/// A confidence interval; both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// The interval with both ends changed by a growing function, as `exp` makes ratios of logarithms.
    pub fn map(self, growing: impl Fn(f64) -> f64) -> Interval {
        Interval { low: growing(self.low), high: growing(self.high) }
    }

    /// Whether the value lies within.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A value and what is known about how far it may be off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its interval; none when there were too few measurements for one.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// Value and interval changed by a growing function.
    pub fn map(self, growing: impl Fn(f64) -> f64) -> Estimate {
        Estimate { value: growing(self.value), interval: self.interval.map(|i| i.map(growing)) }
    }
}
