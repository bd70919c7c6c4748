//! How large a difference is against the spread of what differs.
//!
//! The constraint that shaped it: a difference can be told for certain and be of no weight, or the other way about, so
//! sizes stand beside tests. Must not say whether a difference is real.
//!
//! Sources: Hedges (Journal of Educational Statistics, 1981) for g; Cliff (Psychological Bulletin, 1993) for delta;
//! Vargha and Delaney (2000) for the common language effect size with ties.

use super::summary::{mean, variance};
use serde::{Deserialize, Serialize};

/// Effect sizes of B against A.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Difference of the means in standard deviations, corrected for small samples; none without spread.
    pub hedges_g: Option<f64>,
    /// From -1, each of B below each of A, to 1.
    pub cliffs_delta: f64,
    /// Probability that a value of B lies above one of A.
    pub common_language: f64,
}

impl Effect {
    /// Effect sizes of `b` against `a`, of logarithms where the values are costs; none when either is empty.
    pub fn of(a: &[f64], b: &[f64]) -> Option<Effect> {
        Some(Effect {
            hedges_g: hedges_g(a, b),
            cliffs_delta: cliffs_delta(a, b)?,
            common_language: common_language(a, b)?,
        })
    }
}

/// Difference of the means, b - a, by the standard deviation within both, times 1 - 3 / (4 df - 1), which takes away
/// the bias of small samples. None with fewer than two values on a side or without spread.
pub fn hedges_g(a: &[f64], b: &[f64]) -> Option<f64> {
    let (in_a, in_b) = (a.len() as f64 - 1.0, b.len() as f64 - 1.0);
    let pooled = (in_a * variance(a)? + in_b * variance(b)?) / (in_a + in_b);
    let correction = 1.0 - 3.0 / (4.0 * (in_a + in_b) - 1.0);
    (pooled > 0.0).then_some((mean(b)? - mean(a)?) / pooled.sqrt() * correction)
}

/// Share of pairs in which b lies above a, less the share in which it lies below; none when either is empty.
pub fn cliffs_delta(a: &[f64], b: &[f64]) -> Option<f64> {
    let pairs = a.len() * b.len();
    let sign = |x: f64, y: f64| i64::from(y > x) - i64::from(y < x);
    let sum: i64 = a.iter().flat_map(|&x| b.iter().map(move |&y| sign(x, y))).sum();
    (pairs > 0).then(|| sum as f64 / pairs as f64)
}

/// Probability that a value of b lies above one of a, half of the ties counted; none when either is empty.
pub fn common_language(a: &[f64], b: &[f64]) -> Option<f64> {
    cliffs_delta(a, b).map(|delta| (delta + 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_worked_by_hand() {
        // Means 2 and 4, both variances 1, pooled 1: d = 2; df = 4: g = 2 * (1 - 3/15) = 1.6.
        let (a, b) = ([1.0, 2.0, 3.0], [3.0, 4.0, 5.0]);
        assert!((hedges_g(&a, &b).unwrap() - 1.6).abs() < 1e-12);
        // Of 9 pairs one is a tie (3, 3) and 8 are above: 8/9; (8/9 + 1) / 2.
        assert!((cliffs_delta(&a, &b).unwrap() - 8.0 / 9.0).abs() < 1e-12);
        assert!((common_language(&a, &b).unwrap() - 17.0 / 18.0).abs() < 1e-12);
        assert_eq!(cliffs_delta(&b, &a).unwrap(), -cliffs_delta(&a, &b).unwrap());
        assert_eq!(hedges_g(&[1.0, 1.0], &[2.0, 2.0]), None);
        assert!(Effect::of(&a, &[]).is_none());
    }
}
