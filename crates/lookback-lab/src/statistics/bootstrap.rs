//! Bootstrap intervals: how a statistic varies when the invocations are drawn again.
//!
//! The constraint that shaped it: samples here are small, 5 to 30 invocations, where the plain percentile interval is
//! too narrow. So the percentile interval is expanded for the sample's size, and the other one is bias-corrected and
//! accelerated. Must draw whole invocations only: what is given is one value an invocation.
//!
//! Sources: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapters 13 and 14; Hesterberg, "What
//! Teachers Should Know About the Bootstrap" (The American Statistician, 2015), section 4.3 for the expansion.

use super::distribution::{normal_cdf, normal_quantile, student_quantile};
use super::interval::{Estimate, Interval};
use super::random::Random;
use super::summary::{mean, quantile_of_sorted};
use serde::Serialize;

/// Resamples of an interval unless told otherwise: the ends of a 95 % interval then vary by about 3 % of its width
/// from seed to seed.
pub const DEFAULT_RESAMPLES: usize = 2000;

/// How intervals are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bootstrap {
    /// How often the sample is drawn again.
    pub resamples: usize,
    /// The share of intervals that are to hold the true value, such as 0.95.
    pub level: f64,
    /// Seed of what is drawn.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { resamples: DEFAULT_RESAMPLES, level: 0.95, seed: 1 }
    }
}

impl Bootstrap {
    /// Expanded percentile interval of a statistic; none for an empty sample. A sample of one has no interval.
    pub fn percentile(&self, values: &[f64], statistic: impl Fn(&[f64]) -> f64) -> Option<Estimate> {
        let value = (!values.is_empty()).then(|| statistic(values))?;
        let interval = (values.len() > 1)
            .then(|| self.interval(&mut self.replicates(values, &statistic), values.len()))
            .flatten();
        Some(Estimate { value, interval })
    }

    /// Bias-corrected and accelerated interval of a statistic; none for an empty sample. A sample of one has no
    /// interval.
    pub fn bca(&self, values: &[f64], statistic: impl Fn(&[f64]) -> f64) -> Option<Estimate> {
        let value = (!values.is_empty()).then(|| statistic(values))?;
        if values.len() < 2 {
            return Some(Estimate { value, interval: None });
        }
        let mut drawn = self.replicates(values, &statistic);
        drawn.sort_unstable_by(f64::total_cmp);
        let below = drawn.iter().filter(|&&other| other < value).count() as f64;
        let equal = drawn.iter().filter(|&&other| other == value).count() as f64;
        // Half a replicate away from 0 and 1, where the normal quantile is not finite.
        let count = drawn.len() as f64;
        let share = ((below + equal / 2.0) / count).clamp(0.5 / count, 1.0 - 0.5 / count);
        let bias = normal_quantile(share);
        let acceleration = acceleration(values, &statistic);
        let end = |p: f64| {
            let z = bias + normal_quantile(p);
            let at = normal_cdf(bias + z / (1.0 - acceleration * z));
            quantile_of_sorted(&drawn, at)
        };
        let tail = (1.0 - self.level) / 2.0;
        let interval = end(tail).zip(end(1.0 - tail)).map(|(low, high)| Interval { low, high });
        Some(Estimate { value, interval })
    }

    /// Expanded percentile interval from replicates of a statistic of `n` values; replicates are put in order. None
    /// without a replicate or with fewer than two values.
    pub fn interval(&self, replicates: &mut [f64], n: usize) -> Option<Interval> {
        let tail = expanded_tail(self.level, n)?;
        replicates.sort_unstable_by(f64::total_cmp);
        let low = quantile_of_sorted(replicates, tail)?;
        Some(Interval { low, high: quantile_of_sorted(replicates, 1.0 - tail)? })
    }

    fn replicates(&self, values: &[f64], statistic: &impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let mut random = Random::new(self.seed);
        let mut sample = Vec::new();
        (0..self.resamples)
            .map(|_| {
                draw(values, &mut sample, &mut random);
                statistic(&sample)
            })
            .collect()
    }
}

/// Fills `sample` with as many of the values, drawn with replacement.
fn draw(values: &[f64], sample: &mut Vec<f64>, random: &mut Random) {
    sample.clear();
    sample.extend((0..values.len()).map(|_| values[random.below(values.len())]));
}

/// The share below the lower end. A bootstrap of n values has a spread that is too small by sqrt((n-1)/n) and has
/// normal tails where Student's belong; the level is widened so that both are made good for a mean.
fn expanded_tail(level: f64, n: usize) -> Option<f64> {
    if n < 2 {
        return None;
    }
    let n = n as f64;
    let t = student_quantile((1.0 - level) / 2.0, n - 1.0);
    Some(normal_cdf((n / (n - 1.0)).sqrt() * t))
}

/// How the statistic's spread changes with its value, from leaving out one value at a time.
fn acceleration(values: &[f64], statistic: &impl Fn(&[f64]) -> f64) -> f64 {
    let mut rest = values[1..].to_vec();
    let mut without = Vec::with_capacity(values.len());
    for i in 0..values.len() {
        without.push(statistic(&rest));
        if i < rest.len() {
            rest[i] = values[i];
        }
    }
    let middle = mean(&without).unwrap_or_default();
    let squares: f64 = without.iter().map(|value| (middle - value).powi(2)).sum();
    let cubes: f64 = without.iter().map(|value| (middle - value).powi(3)).sum();
    if squares == 0.0 { 0.0 } else { cubes / (6.0 * squares.powf(1.5)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::simulate::{normal, share};

    fn average(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Means of 8 log-normal values: the share of intervals that hold the true mean.
    #[test]
    fn intervals_hold_the_true_mean_nearly_as_often_as_they_say() {
        let truth = (0.1_f64 * 0.1 / 2.0).exp();
        let mut random = Random::new(11);
        let bootstrap = Bootstrap { resamples: 400, ..Bootstrap::default() };
        let mut held = |method: fn(&Bootstrap, &[f64]) -> Option<Estimate>| {
            share(600, |_| {
                let values: Vec<f64> = (0..8).map(|_| (0.1 * normal(&mut random)).exp()).collect();
                method(&bootstrap, &values).unwrap().interval.unwrap().contains(truth)
            })
        };
        let expanded = held(|bootstrap, values| bootstrap.percentile(values, average));
        let bca = held(|bootstrap, values| bootstrap.bca(values, average));
        // The standard error of a share of 0.95 of 600 is 0.009.
        assert!((0.92..0.98).contains(&expanded), "{expanded}");
        assert!((0.85..0.97).contains(&bca), "{bca}");
    }

    #[test]
    fn a_bca_interval_leans_towards_the_long_tail() {
        let values = [1.0, 1.1, 1.2, 1.3, 1.2, 1.1, 4.0, 1.0, 1.2, 1.1];
        let bootstrap = Bootstrap::default();
        let plain = bootstrap.percentile(&values, average).unwrap();
        let bca = bootstrap.bca(&values, average).unwrap();
        let (low, high) = (bca.interval.unwrap().low, bca.interval.unwrap().high);
        assert!(low > 1.1 && high > plain.value + 0.5, "{low} {high}");
        assert!(high - bca.value > 2.0 * (bca.value - low), "{low} {high}");
    }

    #[test]
    fn samples_too_small_have_no_interval_and_equal_values_have_a_point() {
        let bootstrap = Bootstrap::default();
        assert!(bootstrap.bca(&[], average).is_none());
        assert_eq!(bootstrap.bca(&[2.0], average), Some(Estimate { value: 2.0, interval: None }));
        let point = Some(Interval { low: 2.0, high: 2.0 });
        assert_eq!(bootstrap.bca(&[2.0, 2.0, 2.0], average).unwrap().interval, point);
        assert_eq!(bootstrap.percentile(&[2.0, 2.0, 2.0], average).unwrap().interval, point);
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let values = [1.0, 2.0, 4.0, 3.0, 9.0];
        let with = |seed| Bootstrap { seed, ..Bootstrap::default() }.bca(&values, average);
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
    }
}
