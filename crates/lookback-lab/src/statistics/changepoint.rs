//! Where a series changes its level or its spread.
//!
//! The constraint that shaped it: the number of changes is not known, and the best division of a series into segments
//! must be found exactly, since a greedy one misses a short cold phase beside a long warm one. Must be given values whose
//! noise is alike at every level: logarithms of times.
//!
//! Source: Killick, Fearnhead and Eckley, "Optimal Detection of Changepoints With a Linear Computational Cost" (JASA,
//! 2012): PELT, here with the cost of a normal distribution whose mean and variance both change.

/// A part of a series within which nothing changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Index of its first value.
    pub begin: usize,
    /// Index after its last value.
    pub end: usize,
    /// Mean of its values.
    pub mean: f64,
    /// Variance of its values, with n.
    pub variance: f64,
}

/// The division of a series with the smallest cost: each segment costs twice its negative log-likelihood, each change
/// `penalty`. A variance below `floor` counts as `floor`, so that values that are alike by chance are no segment.
pub fn segments(values: &[f64], penalty: f64, floor: f64) -> Vec<Segment> {
    let sums = Sums::of(values);
    // Smallest cost of the values before an index, and where its last segment begins.
    let mut best = vec![(-penalty, 0_usize)];
    let mut starts = vec![0_usize];
    for end in 1..=values.len() {
        let cost = |&start: &usize| best[start].0 + sums.segment(start, end).cost(floor);
        let costs: Vec<f64> = starts.iter().map(cost).collect();
        let (at, lowest) = costs
            .iter()
            .copied()
            .enumerate()
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
            .expect("the newest start is never pruned before it was tried");
        best.push((lowest + penalty, starts[at]));
        // A start that is worse already by a whole change can never be the best of a later end.
        let mut kept = costs.iter();
        starts.retain(|_| kept.next().is_some_and(|&cost| cost <= lowest + penalty));
        starts.push(end);
    }
    let mut found = Vec::new();
    let mut end = values.len();
    while end > 0 {
        let begin = best[end].1;
        found.push(sums.segment(begin, end));
        end = begin;
    }
    found.reverse();
    found
}

impl Segment {
    /// How many values.
    pub fn len(&self) -> usize {
        self.end - self.begin
    }

    /// Whether it has no value; no segment of [`segments`] has none.
    pub fn is_empty(&self) -> bool {
        self.end == self.begin
    }

    /// Twice the negative log-likelihood without its constant.
    fn cost(&self, floor: f64) -> f64 {
        let variance = self.variance.max(floor);
        self.len() as f64 * (variance.ln() + self.variance / variance)
    }
}

/// Sums of values and squares before each index, of values about their mean, so that little is lost by rounding.
struct Sums {
    middle: f64,
    values: Vec<(f64, f64)>,
}

impl Sums {
    fn of(values: &[f64]) -> Sums {
        let middle = super::summary::mean(values).unwrap_or_default();
        let mut sums = vec![(0.0, 0.0)];
        let mut sum = (0.0, 0.0);
        for value in values {
            let about = value - middle;
            sum = (sum.0 + about, sum.1 + about * about);
            sums.push(sum);
        }
        Sums { middle, values: sums }
    }

    fn segment(&self, begin: usize, end: usize) -> Segment {
        let n = (end - begin) as f64;
        let mean = (self.values[end].0 - self.values[begin].0) / n;
        let variance = ((self.values[end].1 - self.values[begin].1) / n - mean * mean).max(0.0);
        Segment { begin, end, mean: mean + self.middle, variance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;
    use crate::statistics::simulate::normal;

    fn series(levels: &[(usize, f64, f64)], seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut values = Vec::new();
        for &(n, level, deviation) in levels {
            values.extend((0..n).map(|_| level + deviation * normal(&mut random)));
        }
        values
    }

    /// All divisions of a short series tried: pruning loses none.
    #[test]
    fn the_division_found_is_the_best_of_all() {
        for seed in 0..60 {
            let values = series(&[(3, 0.3, 0.05), (5, 0.0, 0.05), (4, 0.1, 0.02)], seed);
            let (penalty, floor) = (4.0, 1e-4);
            let sums = Sums::of(&values);
            let total = |parts: &[Segment]| {
                parts.iter().map(|part| part.cost(floor)).sum::<f64>() + penalty * (parts.len() - 1) as f64
            };
            let lowest = (0_u32..1 << (values.len() - 1))
                .map(|cuts| {
                    let mut ends: Vec<_> = (1..values.len()).filter(|i| cuts >> (i - 1) & 1 == 1).collect();
                    ends.push(values.len());
                    let begins = [0].into_iter().chain(ends.iter().copied());
                    let parts: Vec<_> = begins.zip(&ends).map(|(b, &e)| sums.segment(b, e)).collect();
                    total(&parts)
                })
                .fold(f64::INFINITY, f64::min);
            let found = total(&segments(&values, penalty, floor));
            assert!((found - lowest).abs() < 1e-9, "seed {seed}: {found} {lowest}");
        }
    }

    #[test]
    fn changes_of_level_and_of_spread_are_found_where_they_are() {
        let values = series(&[(30, 1.0, 0.02), (40, 0.5, 0.02), (50, 0.5, 0.3)], 1);
        let found = segments(&values, 15.0 * (120.0_f64).ln(), 1e-4);
        let ends: Vec<_> = found.iter().map(|segment| segment.end).collect();
        assert_eq!(ends.len(), 3, "{found:?}");
        assert_eq!(ends[0], 30);
        assert!(ends[1].abs_diff(70) <= 3, "{ends:?}");
        assert!((found[0].mean - 1.0).abs() < 0.02 && (found[1].variance.sqrt() - 0.02).abs() < 0.01);
    }

    #[test]
    fn nothing_and_one_value_are_series_too() {
        assert!(segments(&[], 1.0, 1e-4).is_empty());
        assert_eq!(segments(&[3.0], 1.0, 1e-4).len(), 1);
        assert_eq!(segments(&[3.0; 9], 1.0, 1e-4).len(), 1);
    }
}
