//! Ratios of two samples that did not run in the same blocks, as of two experiments.
//!
//! The constraint that shaped it: without blocks, what the machine did in between stands in the difference, and no test
//! can take it out. So this is used only where there are no pairs, and who shows it says so. Must not assume that both
//! vary alike (Welch, Biometrika 1947).

use super::distribution::student_quantile;
use super::interval::{Estimate, Interval};
use super::paired::student_p;
use super::permutation::{Flips, swap_test};
use super::power::Spread;
use super::strata::Stratum;
use super::summary::{mean, variance};

/// Logarithms of two samples; at least one value each.
#[derive(Debug, Clone, PartialEq)]
pub struct LogSamples {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl LogSamples {
    /// The logarithms; none for an empty sample or when a value is not above zero.
    pub fn of(a: &[f64], b: &[f64]) -> Option<LogSamples> {
        let logs = |values: &[f64]| {
            let all = values.iter().all(|value| *value > 0.0 && value.is_finite());
            (all && !values.is_empty()).then(|| values.iter().map(|value| value.ln()).collect::<Vec<_>>())
        };
        Some(LogSamples { a: logs(a)?, b: logs(b)? })
    }

    /// Difference of the means of the logarithms, B less A.
    pub fn difference(&self) -> f64 {
        mean(&self.b).unwrap_or_default() - mean(&self.a).unwrap_or_default()
    }

    /// Standard error of the difference and its degrees of freedom by Welch and Satterthwaite; none with fewer than
    /// two values in a sample.
    pub fn error(&self) -> Option<(f64, f64)> {
        let part = |values: &[f64]| Some(variance(values)? / values.len() as f64);
        let (in_a, in_b) = (part(&self.a)?, part(&self.b)?);
        let rest = |part: f64, values: &[f64]| part * part / (values.len() as f64 - 1.0);
        let below = rest(in_a, &self.a) + rest(in_b, &self.b);
        let most = (self.a.len() + self.b.len() - 2) as f64;
        let freedom = if below > 0.0 { (in_a + in_b).powi(2) / below } else { most };
        Some(((in_a + in_b).sqrt(), freedom))
    }

    /// Ratio of the geometric means, B by A, with Welch's interval.
    pub fn ratio(&self, level: f64) -> Estimate {
        let value = self.difference();
        let interval = self.error().map(|(error, freedom)| {
            let half = student_quantile(0.5 + level / 2.0, freedom) * error;
            Interval { low: value - half, high: value + half }
        });
        Estimate { value, interval }.map(f64::exp)
    }

    /// As one group of several; none with fewer than two values in a sample.
    pub fn stratum(&self) -> Option<Stratum> {
        let (error, freedom) = self.error()?;
        Some(Stratum { mean: self.difference(), error, freedom, spread: self.spread()? })
    }

    /// The logarithms of both.
    pub fn values(&self) -> (&[f64], &[f64]) {
        (&self.a, &self.b)
    }

    /// P-value of Welch's test that the ratio is 1; none with fewer than two values in a sample.
    pub fn welch_p(&self) -> Option<f64> {
        let (error, freedom) = self.error()?;
        Some(student_p(self.difference(), error, freedom))
    }

    /// P-value of the permutation test that the ratio is 1.
    pub fn swap_p(&self, flips: &Flips) -> f64 {
        swap_test(&self.a, &self.b, flips)
    }

    /// How a difference of one value of each varies, to tell how many of each are needed; none with fewer than two
    /// values in a sample.
    pub fn spread(&self) -> Option<Spread> {
        let (_, freedom) = self.error()?;
        let deviation = (variance(&self.a)? + variance(&self.b)?).sqrt();
        Some(Spread { deviation, freedom, samples: 2 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welch_worked_by_hand() {
        // Logarithms 0, 1, 2 (mean 1, variance 1) and 3, 5 (mean 4, variance 2): parts 1/3 and 1, error sqrt(4/3),
        // freedom (4/3)^2 / ((1/9)/2 + 1/1) = 1.77778 / 1.05556 = 1.68421.
        let exp = |values: &[f64]| values.iter().map(|value| value.exp()).collect::<Vec<_>>();
        let samples = LogSamples::of(&exp(&[0.0, 1.0, 2.0]), &exp(&[3.0, 5.0])).unwrap();
        let (error, freedom) = samples.error().unwrap();
        assert!((error - (4.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((freedom - 1.68421).abs() < 1e-5);
        assert!((samples.ratio(0.95).value - 3.0_f64.exp()).abs() < 1e-9);
        assert!((samples.spread().unwrap().deviation - 3.0_f64.sqrt()).abs() < 1e-12);
        let p = samples.welch_p().unwrap();
        assert!((0.1..0.2).contains(&p), "{p}");
        // t = 3 / sqrt(4/3) = 2.598. Of ten divisions only 0, 1 against 2, 3, 5 is farther apart: 2.8333 /
        // sqrt(0.5/2 + 2.3333/3) = 2.795.
        assert!((samples.swap_p(&Flips::default()) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn equal_values_do_not_differ_and_what_has_no_ratio_has_none() {
        let same = LogSamples::of(&[2.0, 2.0], &[2.0, 2.0]).unwrap();
        assert_eq!(same.welch_p(), Some(1.0));
        let apart = LogSamples::of(&[2.0, 2.0], &[4.0, 4.0]).unwrap();
        assert_eq!(apart.welch_p(), Some(0.0));
        assert!(LogSamples::of(&[0.0], &[1.0]).is_none());
        assert_eq!(LogSamples::of(&[1.0], &[1.0, 2.0]).unwrap().error(), None);
    }
}
