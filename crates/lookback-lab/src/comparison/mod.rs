//! Comparison of two configurations: is B better than A, worse, or can the data not tell?
//!
//! The constraint that shaped it: the answer must be right when nothing differs. Two runs of the same configuration are
//! told apart in at most a share alpha of the comparisons, for the noise that machines really have, and from five
//! invocations on. "Not distinguishable" is an answer as the others are, so beside it stands what the data could have
//! shown and how many more invocations it takes. Must not choose the test by what it finds.
//!
//! How it is decided:
//!
//! 1. Values are an invocation's mean over its measured iterations, taken by their logarithm. Values of the same block
//!    of the same host are a pair; two directories of results have no blocks in common and are compared as samples.
//! 2. Pairs are tested by flipping signs, which assumes nothing but that the order within a block was random; the
//!    statistic is the larger of the mean and the sum of ranks, so that a few outliers blind it less, and both must lie
//!    on the same side. Samples are tested by dividing them anew. Where the sample is too small for such a test to have at least five outcomes below alpha,
//!    Student's test on the logarithms stands in, and says so. Fewer than five pairs are not tested.
//! 3. P-values of all workloads are adjusted by Holm. What is then at most alpha is `better` or `worse`.
//! 4. Over all workloads, the mean of their means is tested in the same way, as one test beside the others.

mod compare;
mod family;
mod pattern;
mod procedure;
#[cfg(test)]
mod simulation;

pub use compare::{compare, compare_apart};
pub use family::{Contrast, Contrasted, family};
pub use procedure::{FEWEST, Test};

use crate::results::HeapPoint;
use crate::statistics::{Bootstrap, Effect, Estimate, Flips, Merged};
use serde::Serialize;
use std::fmt;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The metric.
    pub metric: String,
    /// The share of false alarms that is allowed.
    pub alpha: f64,
    /// The probability with which a promised number of invocations finds what it was promised for.
    pub power: f64,
    /// A difference in percent of which is told how many invocations it takes.
    pub detect_percent: Option<f64>,
    /// Only this workload.
    pub workload: Option<String>,
    /// Ways that tests try.
    pub flips: Flips,
    /// How bootstrap intervals are drawn; their level is 1 - alpha.
    pub bootstrap: Bootstrap,
}

impl Question {
    /// The question for a metric at 5 %, with a power of 80 %.
    pub fn of(metric: &str) -> Question {
        Question {
            metric: metric.to_owned(),
            alpha: 0.05,
            power: 0.8,
            detect_percent: None,
            workload: None,
            flips: Flips::default(),
            bootstrap: Bootstrap::default(),
        }
    }
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What A is.
    pub a: String,
    /// What B is.
    pub b: String,
    /// The metric.
    pub metric: String,
    /// Whether a larger value is better: for the workload's own metrics in something by second.
    pub more_is_better: bool,
    /// The share of false alarms that is allowed.
    pub alpha: f64,
    /// The power of what is promised.
    pub power: f64,
    /// The difference, in percent, of [`Difference::more_for_detect`].
    pub detect_percent: Option<f64>,
    /// Whether values are pairs of the same block.
    pub paired: bool,
    /// One a workload and heap, in their order.
    pub rows: Vec<Row>,
    /// All rows with a test together; none with fewer than two.
    pub overall: Option<Difference>,
    /// What could not be compared.
    pub left_out: Vec<LeftOut>,
}

/// One workload at one heap.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The workload.
    pub workload: String,
    /// The configuration, when every configuration of two directories is compared with itself.
    pub configuration: Option<String>,
    /// The host, when hosts are compared one by one.
    pub host: Option<String>,
    /// Heaps of A and B.
    pub heaps: [HeapPoint; 2],
    /// Geometric means of A and B, in the metric's unit.
    pub levels: [f64; 2],
    /// How many values each has; of pairs, how many pairs.
    pub n: [usize; 2],
    /// What was found.
    pub difference: Difference,
    /// The ratio with the bias-corrected and accelerated bootstrap interval; for pairs.
    pub by_bootstrap: Option<Estimate>,
    /// Effect sizes of B against A on the logarithms.
    pub effect: Option<Effect>,
    /// The ratio's logarithm over hosts that stand for others like them; with two or more hosts.
    pub over_hosts: Option<Merged>,
}

/// What was found of a difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The answer.
    pub verdict: Verdict,
    /// B by A, with Student's interval at 1 - alpha, not adjusted for the number of workloads.
    pub ratio: Estimate,
    /// The test.
    pub test: Test,
    /// Its p-value; none when there was no test.
    pub p: Option<f64>,
    /// The p-value adjusted by Holm.
    pub adjusted_p: Option<f64>,
    /// How many more invocations of each would tell the observed difference; 0 when it is told. None when the
    /// variation is not known, or no number below a million would do.
    pub more_for_observed: Option<usize>,
    /// How many more of each would tell the difference that was asked for.
    pub more_for_detect: Option<usize>,
    /// The smallest difference, in percent, that these data would have shown with the power asked for.
    pub detectable_percent: Option<f64>,
}

/// The answer for one workload or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// B is better than A.
    Better,
    /// B is worse than A.
    Worse,
    /// The data cannot tell.
    NotDistinguishable,
}

/// What could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The workload.
    pub workload: String,
    /// The configuration and heap, as in A; as in B where A has none.
    pub point: String,
    /// Why.
    pub why: Why,
}

/// Why a workload could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// A does not have it.
    NotInA,
    /// B does not have it.
    NotInB,
    /// There is no pair or value of this metric; what became of the invocations.
    NoValues {
        /// Of A.
        a: String,
        /// Of B.
        b: String,
    },
    /// A value is zero or below, of which there is no ratio.
    NotPositive,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}", self.workload, self.point, self.why)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::NotInA => f.write_str("A does not have it"),
            Why::NotInB => f.write_str("B does not have it"),
            Why::NoValues { a, b } => write!(f, "no values to compare; A: {a}; B: {b}"),
            Why::NotPositive => f.write_str("a value is zero, of which there is no ratio"),
        }
    }
}
