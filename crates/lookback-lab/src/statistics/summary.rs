//! Means, quantiles and spread of a sample.
//!
//! The constraint that shaped it: an empty sample has no mean, so each function says for which samples it gives a value.
//! Must not sort or change what it is given.

/// Arithmetic mean; none for an empty sample.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Geometric mean: the mean of ratios (Fleming and Wallace, CACM 1986); none for an empty sample or when a value is
/// not above zero.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.iter().any(|&value| value <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logs).map(f64::exp)
}

/// Variance with n - 1; none for fewer than two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let middle = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    Some(squares / (values.len() - 1) as f64)
}

/// Standard deviation with n - 1; none for fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    variance(values).map(f64::sqrt)
}

/// Standard deviation as a share of the mean; none for fewer than two values or a mean of zero.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let middle = mean(values).filter(|&middle| middle != 0.0)?;
    Some(standard_deviation(values)? / middle.abs())
}

/// Quantile `q`, 0 to 1, between two values by a straight line (definition 7 of Hyndman and Fan, 1996); none for an
/// empty sample.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, q)
}

/// [`quantile`] of values that are in order already.
pub(super) fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = q.clamp(0.0, 1.0) * last as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (at - below as f64) * (sorted[above] - sorted[below]))
}

/// The value in the middle; none for an empty sample.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_worked_by_hand() {
        // Mean 20 / 4 = 5; squares of deviations 9 + 1 + 1 + 9 = 20, by 3.
        let values = [2.0, 4.0, 6.0, 8.0];
        assert_eq!(mean(&values), Some(5.0));
        assert!((variance(&values).unwrap() - 20.0 / 3.0).abs() < 1e-12);
        assert!((coefficient_of_variation(&values).unwrap() - (20.0_f64 / 3.0).sqrt() / 5.0).abs() < 1e-12);
        // Position 0.25 * 3 = 0.75 between 2 and 4.
        assert_eq!(quantile(&values, 0.25), Some(3.5));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        // The cube root of 1 * 2 * 4.
        assert!((geometric_mean(&[1.0, 2.0, 4.0]).unwrap() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn samples_that_are_too_small_have_no_value() {
        assert_eq!(mean(&[]), None);
        assert_eq!(median(&[]), None);
        assert_eq!(variance(&[1.0]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(coefficient_of_variation(&[-1.0, 1.0]), None);
    }
}
