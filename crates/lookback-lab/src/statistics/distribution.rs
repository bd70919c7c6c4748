//! Student's t and the normal distribution: quantiles and probabilities.
//!
//! The constraint that shaped it: these are somebody else's trade, so `statrs` computes them and this file only gives
//! them the shape in which they are used here. Must not be given degrees of freedom below 1.

use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

/// Student's t with `freedom` degrees of freedom.
fn student(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom).expect("degrees of freedom are positive")
}

/// The value below which Student's t with `freedom` degrees of freedom lies with probability `p`, 0 < p < 1.
pub fn student_quantile(p: f64, freedom: f64) -> f64 {
    student(freedom).inverse_cdf(p)
}

/// The probability that Student's t with `freedom` degrees of freedom lies as far from zero as `t` or farther: the
/// p-value of a two-sided test.
pub fn student_two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    2.0 * student(freedom).cdf(-t.abs())
}

/// The probability that of `n` things, each of which happens with probability `p`, 0 <= p <= 1, `k` or more happen.
pub fn binomial_at_least(k: u64, n: u64, p: f64) -> f64 {
    match k {
        0 => 1.0,
        k => Binomial::new(p, n).expect("a probability lies between 0 and 1").sf(k - 1),
    }
}

/// The probability that a standard normal value lies below `z`.
pub fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// The value below which a standard normal value lies with probability `p`, 0 < p < 1.
pub fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// The value below which chi squared with `freedom` degrees of freedom lies with probability `p`, 0 < p < 1.
///
/// The library's own quantile is not a number for some small p (0.01 of one degree of freedom), so where its
/// probability is not `p`, the value is found by halving.
pub(super) fn chi_squared_quantile(p: f64, freedom: f64) -> f64 {
    let distribution = ChiSquared::new(freedom).expect("degrees of freedom are positive");
    let value = distribution.inverse_cdf(p);
    if (distribution.cdf(value) - p).abs() < 1e-9 {
        return value;
    }
    let (mut low, mut high) = (0.0, freedom + 1.0);
    while distribution.cdf(high) < p {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if distribution.cdf(middle) < p { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the tables of Student (1908) as every textbook prints them.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (p, freedom, expected) in
            [(0.975, 1.0, 12.7062), (0.975, 4.0, 2.7764), (0.95, 9.0, 1.8331), (0.995, 29.0, 2.7564)]
        {
            let got = student_quantile(p, freedom);
            assert!((got - expected).abs() < 1e-4, "t({p}, {freedom}) = {got}");
            assert!((student_two_sided(got, freedom) - 2.0 * (1.0 - p)).abs() < 1e-6);
        }
        assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-6);
        assert!((normal_cdf(1.959_964) - 0.975).abs() < 1e-6);
        for (p, freedom, expected) in [(0.95, 3.0, 7.8147), (0.01, 1.0, 0.000_157), (0.99, 4.0, 13.2767)] {
            let got = chi_squared_quantile(p, freedom);
            assert!(
                (got - expected).abs() < 1e-4 * f64::max(expected, 0.01),
                "chi squared({p}, {freedom}) = {got}"
            );
        }
        assert_eq!(student_two_sided(f64::INFINITY, 3.0), 0.0);
    }
}
