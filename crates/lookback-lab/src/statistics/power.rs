//! How many invocations it takes, and what a number of them can show.
//!
//! The constraint that shaped it: how much values vary is itself known from a few of them only. A number worked out as
//! if it were known keeps its promise too seldom, so the power is averaged over what the standard deviation may be,
//! given what was measured. Must not be asked on after every invocation: who goes on until a test finds something,
//! finds it.
//!
//! Sources: Julious and Owen, "Sample size calculations for clinical studies allowing for uncertainty about the
//! variance" (Pharmaceutical Statistics, 2006); Abramowitz and Stegun 26.7.10 for the noncentral t distribution.

use super::distribution::{chi_squared_quantile, normal_cdf, student_quantile};
use serde::{Deserialize, Serialize};

/// More invocations than this are never waited for: no number is told.
const MOST: usize = 1_000_000;

/// Points over which the standard deviation is averaged, each of the same probability.
const POINTS: usize = 48;

/// How observations vary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Standard deviation of one difference of logarithms.
    pub deviation: f64,
    /// Degrees of freedom behind the deviation.
    pub freedom: f64,
    /// How many samples give the deviation, each of which grows with n: 1 when a difference is that of a pair, 2 when it
    /// is that of two samples; of several groups their sum.
    pub samples: u32,
}

impl Spread {
    fn freedom_of(&self, n: usize) -> f64 {
        f64::from(self.samples) * (n as f64 - 1.0)
    }

    /// What the standard deviation may be: deviation / sqrt(chi squared / freedom).
    fn deviations(&self) -> Vec<f64> {
        (0..POINTS)
            .map(|i| {
                let p = (i as f64 + 0.5) / POINTS as f64;
                self.deviation / (chi_squared_quantile(p, self.freedom) / self.freedom).sqrt()
            })
            .collect()
    }

    fn power_at(&self, deviations: &[f64], n: usize, difference: f64, alpha: f64) -> f64 {
        let freedom = self.freedom_of(n);
        let t = student_quantile(1.0 - alpha / 2.0, freedom);
        let scale = (1.0 + t * t / (2.0 * freedom)).sqrt();
        let sum: f64 = deviations
            .iter()
            .map(|deviation| {
                let shift = difference.abs() * (n as f64).sqrt() / deviation;
                normal_cdf((shift - t * (1.0 - 1.0 / (4.0 * freedom))) / scale)
            })
            .sum();
        sum / deviations.len() as f64
    }
}

/// Probability that a two-sided test at `alpha` finds a difference of logarithms with `n` pairs, or with `n` values a
/// sample; 0 for fewer than two.
pub fn power(spread: &Spread, n: usize, difference: f64, alpha: f64) -> f64 {
    if n < 2 { 0.0 } else { spread.power_at(&spread.deviations(), n, difference, alpha) }
}

/// The smallest number with which a difference of logarithms is found with this power; none above a million.
pub fn needed_for_difference(spread: &Spread, difference: f64, alpha: f64, power: f64) -> Option<usize> {
    let deviations = spread.deviations();
    smallest(|n| spread.power_at(&deviations, n, difference, alpha) >= power)
}

/// The smallest difference of logarithms that `n` find with this power; none for fewer than two.
pub fn detectable(spread: &Spread, n: usize, alpha: f64, power: f64) -> Option<f64> {
    if n < 2 {
        return None;
    }
    let deviations = spread.deviations();
    let found = |difference: f64| spread.power_at(&deviations, n, difference, alpha) >= power;
    let mut high = spread.deviation.max(f64::MIN_POSITIVE);
    // With n = 2 a difference of some hundred deviations is needed; 2^40 of them are beyond any sample.
    for _ in 0..40 {
        if found(high) {
            break;
        }
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if found(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// The smallest number from 2 on for which something holds that goes on to hold.
fn smallest(holds: impl Fn(usize) -> bool) -> Option<usize> {
    let mut high = 2;
    while !holds(high) {
        if high >= MOST {
            return None;
        }
        high = (high * 2).min(MOST);
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::paired::LogRatios;
    use crate::statistics::random::Random;
    use crate::statistics::simulate::{normal, share};

    fn known(deviation: f64) -> Spread {
        Spread { deviation, freedom: 1e5, samples: 1 }
    }

    /// Tables of the paired t-test (Cohen 1988): a difference of half a deviation takes 34 pairs for 80 % at 5 %, one
    /// of a whole deviation 10.
    #[test]
    fn numbers_are_those_of_the_tables_when_the_deviation_is_known() {
        assert_eq!(needed_for_difference(&known(1.0), 0.5, 0.05, 0.8), Some(34));
        assert_eq!(needed_for_difference(&known(1.0), 1.0, 0.05, 0.8), Some(10));
        let difference = detectable(&known(1.0), 34, 0.05, 0.8).unwrap();
        assert!((0.49..=0.5).contains(&difference), "{difference}");
    }

    #[test]
    fn what_is_known_less_well_takes_more() {
        let few = Spread { freedom: 4.0, ..known(0.1) };
        let more = Spread { freedom: 40.0, ..known(0.1) };
        let needed = |spread: &Spread| needed_for_difference(spread, 0.02, 0.05, 0.8).unwrap();
        assert!(needed(&few) > needed(&more) && needed(&more) > needed(&known(0.1)));
        assert_eq!(needed_for_difference(&known(1.0), 0.0, 0.05, 0.8), None);
        assert_eq!(detectable(&few, 1, 0.05, 0.8), None);
    }

    /// A pilot of eight pairs says how many are needed; that many are measured afresh, and the difference is found.
    #[test]
    fn the_promise_holds_over_pilots_and_experiments() {
        let mut random = Random::new(6);
        let mut sample = |n: usize, shift: f64| {
            let pairs: Vec<_> = (0..n).map(|_| (1.0, (shift + 0.07 * normal(&mut random)).exp())).collect();
            LogRatios::of(&pairs).unwrap()
        };
        let found = share(2000, |_| {
            let pilot = sample(8, 0.0).spread().unwrap();
            let n = needed_for_difference(&pilot, 0.05, 0.05, 0.8).unwrap();
            sample(n, 0.05).student_p().unwrap() <= 0.05
        });
        // Standard error 0.009.
        assert!((0.78..0.84).contains(&found), "{found}");
    }
}
