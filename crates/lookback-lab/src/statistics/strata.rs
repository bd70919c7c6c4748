//! A mean of means: several groups' estimates with the same weight each.
//!
//! The constraint that shaped it: workloads are not drawn from anything, each counts the same, and what is uncertain is
//! each one's own mean (Student's t with the degrees of freedom of Satterthwaite, Biometrics Bulletin 1946). Must not be
//! used for hosts, which stand for others like them: see the merge of hosts.

use super::distribution::student_quantile;
use super::interval::{Estimate, Interval};
use super::power::Spread;

/// One group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stratum {
    /// Its mean.
    pub mean: f64,
    /// Standard error of the mean.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
    /// How a single difference in it varies.
    pub spread: Spread,
}

/// Several groups' mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanOfMeans {
    /// The mean of the groups' means.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
    /// How it varies when each group has n: for telling how many are needed.
    pub spread: Spread,
}

impl MeanOfMeans {
    /// The mean of these groups' means; none without a group.
    pub fn of(groups: &[Stratum]) -> Option<MeanOfMeans> {
        let count = groups.len() as f64;
        let first = groups.first()?;
        let mean = groups.iter().map(|group| group.mean).sum::<f64>() / count;
        let parts = groups.iter().map(|group| (group.error.powi(2), group.freedom));
        let (variance, freedom) = satterthwaite(parts);
        let spreads = groups.iter().map(|group| (group.spread.deviation.powi(2), group.spread.freedom));
        let (single, single_freedom) = satterthwaite(spreads);
        let samples = first.spread.samples * groups.len() as u32;
        let deviation = single.sqrt() / count;
        Some(MeanOfMeans {
            mean,
            error: variance.sqrt() / count,
            freedom,
            spread: Spread { deviation, freedom: single_freedom, samples },
        })
    }

    /// The mean with Student's interval.
    pub fn estimate(&self, level: f64) -> Estimate {
        let half = student_quantile(0.5 + level / 2.0, self.freedom) * self.error;
        Estimate {
            value: self.mean,
            interval: Some(Interval { low: self.mean - half, high: self.mean + half }),
        }
    }

    /// P-value of Student's test that the mean is zero.
    pub fn student_p(&self) -> f64 {
        super::paired::student_p(self.mean, self.error, self.freedom)
    }
}

/// The sum of variances and the degrees of freedom of that sum.
fn satterthwaite(parts: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let sum: f64 = parts.clone().map(|(variance, _)| variance).sum();
    let below: f64 = parts.clone().map(|(variance, freedom)| variance * variance / freedom).sum();
    let all: f64 = parts.map(|(_, freedom)| freedom).sum();
    (sum, if below > 0.0 { sum * sum / below } else { all })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_groups_by_hand() {
        let spread = |deviation| Spread { deviation, freedom: 4.0, samples: 1 };
        let groups = [
            Stratum { mean: 0.1, error: 3.0, freedom: 4.0, spread: spread(3.0) },
            Stratum { mean: 0.3, error: 4.0, freedom: 4.0, spread: spread(4.0) },
        ];
        // Mean 0.2; error sqrt(9 + 16) / 2 = 2.5; freedom 25^2 / (81/4 + 256/4) = 625 / 84.25 = 7.4184.
        let all = MeanOfMeans::of(&groups).unwrap();
        assert!((all.mean - 0.2).abs() < 1e-12 && (all.error - 2.5).abs() < 1e-12);
        assert!((all.freedom - 7.4184).abs() < 1e-4);
        assert_eq!((all.spread.deviation, all.spread.samples), (2.5, 2));
        assert!(all.student_p() > 0.9);
        assert!(MeanOfMeans::of(&[]).is_none());
    }
}
