//! Estimates of several hosts put together, with what the hosts differ by.
//!
//! The constraint that shaped it: hosts are few, two to ten, and a ratio measured on one may truly differ from that on
//! another. So the interval is for the mean of such hosts, after Hartung and Knapp with Student's t, which keeps its
//! level with few studies where the normal interval does not. Must not be given hosts without a standard error.
//!
//! Sources: DerSimonian and Laird (Controlled Clinical Trials, 1986) for the variance between; Hartung and Knapp
//! (Statistics in Medicine, 2001) for the interval; Roever et al. (BMC Medical Research Methodology, 2015) for never
//! letting it be narrower than the scatter within the hosts allows.

use super::distribution::student_quantile;
use super::interval::{Estimate, Interval};
use serde::{Deserialize, Serialize};

/// What one host says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Study {
    /// The estimate, a logarithm where it is a ratio.
    pub value: f64,
    /// Its standard error, above zero.
    pub error: f64,
}

/// What all say together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Merged {
    /// The mean over hosts; with two or more it has an interval.
    pub estimate: Estimate,
    /// Standard deviation between hosts beyond what their errors explain.
    pub between: f64,
    /// Percent of the variation that is between hosts (I squared).
    pub between_percent: f64,
    /// How many hosts.
    pub hosts: usize,
}

/// Puts estimates of hosts together; none without a host, or when an error is not above zero.
pub fn random_effects(studies: &[Study], level: f64) -> Option<Merged> {
    if studies.is_empty() || studies.iter().any(|study| study.error <= 0.0 || !study.error.is_finite()) {
        return None;
    }
    let count = studies.len() as f64;
    let fixed: Vec<f64> = studies.iter().map(|study| study.error.powi(-2)).collect();
    let scatter = scatter(studies, &fixed);
    let total: f64 = fixed.iter().sum();
    let squares: f64 = fixed.iter().map(|weight| weight * weight).sum();
    let between = if studies.len() > 1 {
        ((scatter - (count - 1.0)) / (total - squares / total)).max(0.0)
    } else {
        0.0
    };
    let weights: Vec<f64> = studies.iter().map(|study| 1.0 / (study.error.powi(2) + between)).collect();
    let total: f64 = weights.iter().sum();
    let value = weighted_mean(studies, &weights);
    let interval = (studies.len() > 1).then(|| {
        let q = (self::scatter(studies, &weights) / (count - 1.0)).max(1.0);
        let half = student_quantile(0.5 + level / 2.0, count - 1.0) * (q / total).sqrt();
        Interval { low: value - half, high: value + half }
    });
    let between_percent =
        if scatter > 0.0 { ((scatter - (count - 1.0)) / scatter).max(0.0) * 100.0 } else { 0.0 };
    Some(Merged {
        estimate: Estimate { value, interval },
        between: between.sqrt(),
        between_percent,
        hosts: studies.len(),
    })
}

fn weighted_mean(studies: &[Study], weights: &[f64]) -> f64 {
    let sum: f64 = studies.iter().zip(weights).map(|(study, weight)| study.value * weight).sum();
    sum / weights.iter().sum::<f64>()
}

/// Weighted squares of the deviations from the weighted mean: Cochran's Q.
fn scatter(studies: &[Study], weights: &[f64]) -> f64 {
    let middle = weighted_mean(studies, weights);
    studies.iter().zip(weights).map(|(study, weight)| weight * (study.value - middle).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;
    use crate::statistics::simulate::{normal, share};

    #[test]
    fn merged_by_hand() {
        // Values 0 and 2, errors 1: weights 1 and 1, mean 1, Q = 1 + 1 = 2, C = 2 - 2/2 = 1, between = (2 - 1) / 1 = 1.
        // Weights then 1/2 each, mean 1, q = (1/2 + 1/2) / 1 = 1, half = t(0.975, 1) * sqrt(1 / 1) = 12.7062.
        let studies = [Study { value: 0.0, error: 1.0 }, Study { value: 2.0, error: 1.0 }];
        let merged = random_effects(&studies, 0.95).unwrap();
        assert!((merged.estimate.value - 1.0).abs() < 1e-12);
        assert!((merged.between - 1.0).abs() < 1e-12);
        assert!((merged.between_percent - 50.0).abs() < 1e-9);
        assert!((merged.estimate.interval.unwrap().high - 13.7062).abs() < 1e-3);
    }

    #[test]
    fn the_interval_holds_the_mean_of_hosts_with_few_hosts() {
        let mut random = Random::new(2);
        let held = share(2000, |_| {
            let studies: Vec<Study> = (0..4)
                .map(|i| {
                    let error = 0.01 * f64::from(i + 1);
                    let host = 0.05 * normal(&mut random);
                    Study { value: 0.2 + host + error * normal(&mut random), error }
                })
                .collect();
            random_effects(&studies, 0.95).unwrap().estimate.interval.unwrap().contains(0.2)
        });
        assert!((0.93..0.985).contains(&held), "{held}");
    }

    #[test]
    fn one_host_has_no_interval_and_a_host_without_error_no_place() {
        let one = random_effects(&[Study { value: 0.3, error: 0.1 }], 0.95).unwrap();
        assert_eq!(one.estimate, Estimate { value: 0.3, interval: None });
        assert!(random_effects(&[Study { value: 0.3, error: 0.0 }], 0.95).is_none());
        assert!(random_effects(&[], 0.95).is_none());
    }
}
