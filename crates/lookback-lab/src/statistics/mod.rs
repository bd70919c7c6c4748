//! Pure statistics of measurements: numbers in, values out.
//!
//! The constraint that shaped it: the unit is the invocation, a process of its own. Iterations of one process share its
//! heap layout, its compiled code and its machine state, so they are no independent measurements (Georges et al.,
//! OOPSLA 2007; Kalibera and Jones, ISMM 2013). What comes in here are therefore values an invocation, and costs are
//! taken by their logarithm, on which a difference is a ratio and noise that multiplies is alike at every size.
//! Whatever is random is drawn from a seed that the caller gives, so a figure can be made again. Nothing here knows a
//! record, a workload or a collector, and nothing judges what a difference means.

mod bootstrap;
mod changepoint;
mod distribution;
mod effect;
mod interval;
mod merge;
mod multiple;
mod paired;
mod permutation;
mod power;
mod random;
#[cfg(test)]
pub(crate) mod simulate;
mod strata;
mod summary;
mod unpaired;
mod warmup;

pub use bootstrap::{Bootstrap, DEFAULT_RESAMPLES};
pub use changepoint::{Segment, segments};
pub use distribution::{binomial_at_least, normal_cdf, normal_quantile, student_quantile, student_two_sided};
pub use effect::{Effect, cliffs_delta, common_language, hedges_g};
pub use interval::{Estimate, Interval};
pub use merge::{Merged, Study, random_effects};
pub use multiple::holm;
pub use paired::{LogRatios, pairs};
pub use permutation::{
    Flips, finest_p, finest_swap_p, sign_flip_test, sign_flip_test_with_ranks, signed_ranks, swap_test,
};
pub use power::{Spread, detectable, needed_for_difference, power};
pub use random::Random;
pub use strata::{MeanOfMeans, Stratum};
pub use summary::{
    coefficient_of_variation, geometric_mean, mean, median, quantile, standard_deviation, variance,
};
pub use unpaired::LogSamples;
pub use warmup::{Warmup, WarmupKind, warmup};
