//! Ratios of pairs: values of two configurations that ran in the same block.
//!
//! The constraint that shaped it: a machine drifts by more than what is looked for, and within a block it drifts little,
//! so the ratio within a block is the observation and its logarithm is what is averaged. Must not pair by position: a
//! block in which one of the two failed has no pair.

use super::bootstrap::Bootstrap;
use super::distribution::{student_quantile, student_two_sided};
use super::interval::{Estimate, Interval};
use super::permutation::{Flips, sign_flip_test_with_ranks, signed_ranks};
use super::power::Spread;
use super::strata::Stratum;
use super::summary::{mean, standard_deviation};
use std::collections::BTreeMap;

/// The values that both have for the same key, a block, in the order of keys.
pub fn pairs<K: Ord>(a: &BTreeMap<K, f64>, b: &BTreeMap<K, f64>) -> Vec<(f64, f64)> {
    a.iter().filter_map(|(key, &in_a)| b.get(key).map(|&in_b| (in_a, in_b))).collect()
}

/// Logarithms of ratios, one a block; at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRatios(Vec<f64>);

impl LogRatios {
    /// The logarithms of second by first; none without a pair, or when a value is not above zero, of which there is
    /// no ratio.
    pub fn of(pairs: &[(f64, f64)]) -> Option<LogRatios> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let all = pairs.iter().all(|&(a, b)| positive(a) && positive(b));
        (all && !pairs.is_empty()).then(|| LogRatios(pairs.iter().map(|(a, b)| (b / a).ln()).collect()))
    }

    /// The logarithms.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Mean of the logarithms.
    pub fn mean(&self) -> f64 {
        mean(&self.0).unwrap_or_default()
    }

    /// Standard error of the mean; none for one pair.
    pub fn error(&self) -> Option<f64> {
        Some(standard_deviation(&self.0)? / (self.0.len() as f64).sqrt())
    }

    /// Geometric mean of the ratios, with Student's interval.
    pub fn ratio(&self, level: f64) -> Estimate {
        let freedom = self.0.len() as f64 - 1.0;
        let interval = self.error().map(|error| {
            let half = student_quantile(0.5 + level / 2.0, freedom) * error;
            Interval { low: self.mean() - half, high: self.mean() + half }
        });
        Estimate { value: self.mean(), interval }.map(f64::exp)
    }

    /// Geometric mean of the ratios, with the bias-corrected and accelerated interval.
    pub fn ratio_by_bootstrap(&self, bootstrap: &Bootstrap) -> Estimate {
        let estimate = bootstrap.bca(&self.0, |sample| mean(sample).unwrap_or_default());
        estimate.unwrap_or(Estimate { value: self.mean(), interval: None }).map(f64::exp)
    }

    /// As one group of several; none for one pair.
    pub fn stratum(&self) -> Option<Stratum> {
        let freedom = self.0.len() as f64 - 1.0;
        Some(Stratum { mean: self.mean(), error: self.error()?, freedom, spread: self.spread()? })
    }

    /// P-value of Student's paired test that the ratio is 1; none for one pair.
    pub fn student_p(&self) -> Option<f64> {
        Some(student_p(self.mean(), self.error()?, self.0.len() as f64 - 1.0))
    }

    /// P-value of the sign-flip test with ranks that the ratio is 1.
    pub fn sign_flip_p(&self, flips: &Flips) -> f64 {
        sign_flip_test_with_ranks(&self.0, flips)
    }

    /// Whether the mean and the ranks of the logarithms lie on the same side: else no test tells which side it is.
    pub fn sides_agree(&self) -> bool {
        self.mean() * signed_ranks(&self.0).iter().sum::<f64>() > 0.0
    }

    /// How the logarithms vary, to tell how many are needed; none for one pair.
    pub fn spread(&self) -> Option<Spread> {
        let freedom = self.0.len() as f64 - 1.0;
        standard_deviation(&self.0).map(|deviation| Spread { deviation, freedom, samples: 1 })
    }
}

/// P-value of a mean against zero. Without scatter, any mean but zero is certain.
pub(super) fn student_p(mean: f64, error: f64, freedom: f64) -> f64 {
    if mean == 0.0 { 1.0 } else { student_two_sided(mean / error, freedom) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_made_by_block() {
        let a = BTreeMap::from([(1, 1.0), (2, 2.0), (4, 4.0)]);
        let b = BTreeMap::from([(2, 20.0), (3, 30.0), (4, 40.0)]);
        assert_eq!(pairs(&a, &b), vec![(2.0, 20.0), (4.0, 40.0)]);
    }

    #[test]
    fn a_ratio_worked_by_hand() {
        // Ratios e, 1, e^2: logarithms 1, 0, 2, mean 1, deviation 1, error 1/sqrt(3) = 0.57735; t(0.975, 2) = 4.30265:
        // half 2.48414. t = 1 / 0.57735 = 1.73205, p = 0.22540 for two degrees of freedom.
        let e = std::f64::consts::E;
        let ratios = LogRatios::of(&[(1.0, e), (2.0, 2.0), (1.0, e * e)]).unwrap();
        let ratio = ratios.ratio(0.95);
        assert!((ratio.value - e).abs() < 1e-12);
        assert!((ratio.interval.unwrap().high.ln() - 3.48414).abs() < 1e-4);
        assert!((ratios.student_p().unwrap() - 0.22540).abs() < 1e-4);
        assert!((ratios.ratio_by_bootstrap(&Bootstrap::default()).value - e).abs() < 1e-12);
        // 1, 0, 2 sum to 3, ranks too; as large are 1+0+2 and its mirror, each with both signs of 0: 4 of 8.
        assert_eq!(ratios.sign_flip_p(&Flips::default()), 0.5);
    }

    #[test]
    fn what_has_no_ratio_has_none() {
        assert!(LogRatios::of(&[(1.0, 0.0)]).is_none());
        assert!(LogRatios::of(&[(1.0, f64::NAN)]).is_none());
        assert!(LogRatios::of(&[]).is_none());
        let one = LogRatios::of(&[(1.0, 2.0)]).unwrap();
        assert_eq!(one.ratio(0.95).interval, None);
        assert_eq!(one.student_p(), None);
        assert!(one.spread().is_none());
    }
}
