//! Tests that need no assumption about the noise: they ask how often a difference as large comes about when the labels
//! are given out anew.
//!
//! The constraint that shaped it: all cells run once in a block, in a random order, so when two configurations do not
//! differ, which of a pair's values carries which name was decided by that order alone. Giving the names out again is
//! then an exact test whatever the noise is: outliers, two modes, drift from block to block. Such a test has a finest
//! p-value, which a small sample cannot go below; who uses it must ask for that first.
//!
//! Sources: Fisher, "The Design of Experiments" (1935), section 21, for signs; Phipson and Smyth (2010) for p-values
//! from random relabellings, which are never zero; Janssen (1997) for the studentised statistic of two samples.

use super::random::Random;
use super::summary::{mean, variance};

/// Most pairs whose signs are all tried, 2^13 ways by symmetry.
const ALL_SIGNS: usize = 14;

/// Most values of both samples together whose divisions are all tried: at most 12,870 of them.
const ALL_DIVISIONS: usize = 16;

/// Values that differ by less than this share are equal: sums in another order round differently.
const ROUNDING: f64 = 1e-9;

/// How many ways are tried when all would be too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flips {
    /// How many ways.
    pub count: usize,
    /// Seed of the ways.
    pub seed: u64,
}

impl Default for Flips {
    fn default() -> Self {
        Flips { count: 10_000, seed: 1 }
    }
}

/// The smallest p-value that [`sign_flip_test`] can give for this many pairs.
pub fn finest_p(pairs: usize) -> f64 {
    0.5_f64.powi(pairs as i32 - 1).min(1.0)
}

/// The smallest p-value that [`swap_test`] can give for samples of these sizes, when both are as large; half of it
/// otherwise.
pub fn finest_swap_p(a: usize, b: usize) -> f64 {
    let divisions: f64 = (1..=a).map(|i| (b + i) as f64 / i as f64).product();
    (2.0 / divisions).min(1.0)
}

/// Two-sided p-value that the differences, each with a random sign, have as large a sum. Of no difference it is 1.
///
/// For several groups at once, each difference is divided by its group's size first; the sum is then that of the
/// groups' means.
pub fn sign_flip_test(differences: &[f64], flips: &Flips) -> f64 {
    flip(&[differences.to_vec()], flips)
}

/// Two-sided p-value that the differences, each with a random sign, have as large a sum, or their signed ranks
/// (Wilcoxon, Biometrics Bulletin 1945) as large a one: the larger of both, each by its standard deviation, is the
/// statistic. Of no difference it is 1.
///
/// The sum sees what the mean says, and a few outliers blind it; ranks go on to see what the other pairs say. One
/// statistic of both is tested exactly as one, and for normal noise it takes 5 % more pairs than the sum alone.
pub fn sign_flip_test_with_ranks(differences: &[f64], flips: &Flips) -> f64 {
    flip(&[differences.to_vec(), signed_ranks(differences)], flips)
}

/// Ranks of the differences without their signs, ties sharing their mean rank, with the signs; 0 for no difference.
pub fn signed_ranks(differences: &[f64]) -> Vec<f64> {
    let mut sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let rank = |d: &f64| {
        let below = sizes.partition_point(|&size| size < d.abs());
        let up_to = sizes.partition_point(|&size| size <= d.abs());
        (below + up_to + 1) as f64 / 2.0
    };
    differences.iter().map(|d| if *d == 0.0 { 0.0 } else { rank(d).copysign(*d) }).collect()
}

/// P-value of the largest sum of several series of as many values, each scaled to the same standard deviation, when
/// the same signs are flipped in all.
fn flip(series: &[Vec<f64>], flips: &Flips) -> f64 {
    let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let series: Vec<Vec<f64>> = series
        .iter()
        .map(|values| (norm(values), values))
        .filter(|(norm, _)| *norm > 0.0)
        .map(|(norm, values)| values.iter().map(|value| value / norm).collect())
        .collect();
    let Some(first) = series.first() else { return 1.0 };
    let bound = statistic(&series, |_| 0) - ROUNDING;
    if first.len() <= ALL_SIGNS {
        // The first keeps its sign: the other half of the ways has the same sums with the other sign.
        let ways = 1_u64 << (first.len() - 1);
        let as_large = (0..ways).filter(|&signs| statistic(&series, |_| signs) >= bound).count();
        return as_large as f64 / ways as f64;
    }
    let mut random = Random::new(flips.seed);
    let mut signs = vec![0_u64; first.len().div_ceil(64)];
    let as_large = (0..flips.count)
        .filter(|_| {
            signs.iter_mut().for_each(|word| *word = random.bits());
            statistic(&series, |word| signs[word]) >= bound
        })
        .count();
    (as_large + 1) as f64 / (flips.count + 1) as f64
}

/// The largest sum without its sign, when the values have the signs of these words of 64 bits.
fn statistic(series: &[Vec<f64>], signs: impl Fn(usize) -> u64) -> f64 {
    let sum = |values: &[f64]| {
        let mut sum = 0.0;
        for (word, part) in values.chunks(64).enumerate() {
            let signs = signs(word);
            for (i, value) in part.iter().enumerate() {
                // The bit becomes the number's sign: no branch that is guessed wrong every other time.
                sum += f64::from_bits(value.to_bits() ^ ((signs >> i & 1) << 63));
            }
        }
        sum.abs()
    };
    series.iter().map(|values| sum(values)).fold(0.0, f64::max)
}

/// Two-sided p-value that the values of both samples, divided at random into two of the same sizes, have as large a
/// difference of means by its standard error. With fewer than two values in a sample it is 1.
pub fn swap_test(a: &[f64], b: &[f64], flips: &Flips) -> f64 {
    if a.len() < 2 || b.len() < 2 {
        return 1.0;
    }
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    let bound = studentised(&all, a.len()) * (1.0 - ROUNDING);
    if all.len() <= ALL_DIVISIONS {
        return all_divisions(&all, a.len(), bound);
    }
    let mut random = Random::new(flips.seed);
    let as_large = (0..flips.count)
        .filter(|_| {
            random.shuffle(&mut all);
            studentised(&all, a.len()) >= bound
        })
        .count();
    (as_large + 1) as f64 / (flips.count + 1) as f64
}

fn all_divisions(all: &[f64], first: usize, bound: f64) -> f64 {
    let (mut ways, mut as_large) = (0_u32, 0_u32);
    let mut divided = Vec::with_capacity(all.len());
    for division in 0_u32..1 << all.len() {
        if division.count_ones() as usize != first {
            continue;
        }
        divided.clear();
        for wanted in [1, 0] {
            divided.extend((0..all.len()).filter(|i| division >> i & 1 == wanted).map(|i| all[i]));
        }
        ways += 1;
        as_large += u32::from(studentised(&divided, first) >= bound);
    }
    f64::from(as_large) / f64::from(ways)
}

/// Difference of the means of the first `n` and of the others by its standard error, without its sign.
fn studentised(all: &[f64], n: usize) -> f64 {
    let (a, b) = all.split_at(n);
    let difference = mean(a).zip(mean(b)).map_or(0.0, |(x, y)| (x - y).abs());
    let error = |values: &[f64]| variance(values).unwrap_or_default() / values.len() as f64;
    let error = (error(a) + error(b)).sqrt();
    if difference == 0.0 { 0.0 } else { difference / error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::simulate::{normal, share};

    #[test]
    fn signs_tried_by_hand() {
        // Of 1, 2, 3 the sums are 6, 4, 2, 0, 0, -2, -4, -6: two of eight are as large as 6.
        let flips = Flips::default();
        assert_eq!(sign_flip_test(&[1.0, 2.0, 3.0], &flips), 0.25);
        assert_eq!(finest_p(3), 0.25);
        // -1, 2, 3 sum to 4: 6, 4, -4, -6 are as large: four of eight.
        assert_eq!(sign_flip_test(&[-1.0, 2.0, 3.0], &flips), 0.5);
        // One outlier on the other side: any sum of 0.1, ..., 0.7 and -9 is as large as theirs, -6.2. Ranks 1, ..., 7
        // and -8 sum to 20; as large are those whose negative ranks sum to at most 8, of which there are 1 + 1 + 1 + 2
        // + 2 + 3 + 4 + 5 + 6 = 25, and their mirrors: 50 of 256.
        let mut outlier: Vec<f64> = (1..=7).map(|i| f64::from(i) / 10.0).collect();
        outlier.push(-9.0);
        assert_eq!(sign_flip_test(&outlier, &flips), 1.0);
        assert_eq!(sign_flip_test_with_ranks(&outlier, &flips), 50.0 / 256.0);
        assert_eq!(signed_ranks(&[0.3, -0.1, 0.0, 0.3]), [3.5, -2.0, 0.0, 3.5]);
        assert_eq!(sign_flip_test(&[], &flips), 1.0);
        assert_eq!(sign_flip_test(&[0.0; 20], &flips), 1.0);
    }

    #[test]
    fn divisions_tried_by_hand() {
        // 1, 2 against 8, 9: of six divisions this and its mirror are the largest.
        assert!((swap_test(&[1.0, 2.0], &[8.0, 9.0], &Flips::default()) - 2.0 / 6.0).abs() < 1e-12);
        assert!((finest_swap_p(2, 2) - 2.0 / 6.0).abs() < 1e-12);
        assert!((finest_swap_p(5, 5) - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(swap_test(&[1.0], &[2.0, 3.0], &Flips::default()), 1.0);
        assert_eq!(swap_test(&[1.0, 1.0], &[1.0, 1.0], &Flips::default()), 1.0);
    }

    #[test]
    fn random_ways_come_near_to_all_ways() {
        let mut random = Random::new(4);
        let few: Vec<f64> = (0..ALL_SIGNS).map(|_| 0.3 + normal(&mut random)).collect();
        // A pair without a difference doubles the ways and changes no sum: past the limit, ways are drawn.
        let mut more = few.clone();
        more.push(0.0);
        let (exact, drawn) =
            (sign_flip_test(&few, &Flips::default()), sign_flip_test(&more, &Flips::default()));
        assert!((exact - drawn).abs() < 0.02, "{exact} {drawn}");
    }

    /// Noise with two modes and rare large values, without any difference: the test keeps its level.
    #[test]
    fn the_level_holds_for_noise_that_is_far_from_normal() {
        let mut random = Random::new(9);
        let flips = Flips { count: 500, seed: 3 };
        let draw = |random: &mut Random| match random.below(20) {
            0 => 5.0 + normal(random),
            1..10 => 1.0,
            _ => 0.1 * normal(random),
        };
        let signs = share(2000, |_| {
            let differences: Vec<f64> = (0..10).map(|_| draw(&mut random) - draw(&mut random)).collect();
            sign_flip_test(&differences, &flips) <= 0.05
        });
        let swaps = share(400, |_| {
            let mut sample = || (0..10).map(|_| draw(&mut random)).collect::<Vec<_>>();
            let (a, b) = (sample(), sample());
            swap_test(&a, &b, &flips) <= 0.05
        });
        // Standard errors 0.005 and 0.011.
        assert!(signs <= 0.065, "{signs}");
        assert!(swaps <= 0.085, "{swaps}");
    }
}
