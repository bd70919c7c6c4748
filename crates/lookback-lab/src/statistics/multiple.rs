//! Many tests at once: p-values adjusted so that they can be held against alpha as one would be.
//!
//! The constraint that shaped it: of twenty workloads that do not differ, one differs by chance at 5 %. Must be given
//! all tests of a family, those that found nothing too.

/// P-values by Holm (1979), in the order given: with them, the probability of any false alarm is at most alpha,
/// whatever depends on what.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut highest = 0.0_f64;
    for (rank, &i) in order.iter().enumerate() {
        highest = highest.max((p_values[i] * (p_values.len() - rank) as f64).min(1.0));
        adjusted[i] = highest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: &[f64], expected: &[f64]) {
        assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{got:?} {expected:?}");
    }

    #[test]
    fn adjusted_by_hand() {
        // In order 0.01, 0.02, 0.03, 0.04. Holm: times 4, 3, 2, 1 = 0.04, 0.06, 0.06, 0.04, never falling.
        let p = [0.04, 0.01, 0.03, 0.02];
        near(&holm(&p), &[0.06, 0.04, 0.06, 0.06]);
        near(&holm(&[0.9, 0.8]), &[1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
