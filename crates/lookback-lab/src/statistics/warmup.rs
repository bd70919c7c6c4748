//! From which iteration on a series is steady, and whether it ever is.
//!
//! The constraint that shaped it: a fixed number of warm-up iterations is a guess; in-process measurements of a third of
//! all programs do not settle at a fastest level at all. So the series says itself. Must be given the iterations of one
//! process in their order.
//!
//! Source: Barrett et al., "Virtual Machine Warmup Blows Hot and Cold" (OOPSLA 2017), sections 4 and 5: changepoints,
//! segments that are alike, and the four classes; the last quarter of the iterations must be steady, as their last 500
//! of 2000. Other than there, times are taken by their logarithm, so that what counts as alike is a share and no number
//! of milliseconds, and short segments that stand out are set aside after the division instead of before.

use super::changepoint::{Segment, segments};
use serde::{Deserialize, Serialize};

/// Levels that differ by less, on the logarithm, are alike: 1 %.
const ALIKE: f64 = 0.01;

/// What a change costs, times the logarithm of the number of values. Barrett et al. chose 15 for 2000 iterations; series
/// here have 10 to 200. Simulated (500 series each): with 8, at most 1.4 % of steady series are seen to change, 0.8 %
/// when neighbours are alike by 0.5, and a first iteration 30 % slower than nine others with 3 % noise is found in 94 %;
/// with 6 it is 8 %, 6 % and all, with 15 none, none and 4 %.
const PENALTY: f64 = 8.0;

/// A segment this short between two others is something else that ran, and no level of the program.
const OUTLIER: usize = 2;

/// Fewer iterations than this show no level.
const FEWEST: usize = 4;

/// What a series does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarmupKind {
    /// One level all the way.
    Flat,
    /// It settles, and at its fastest level.
    Warmup,
    /// It settles, and was faster before.
    Slowdown,
    /// It has not settled when its last quarter begins.
    NoSteadyState,
}

/// How a series settles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warmup {
    /// The class.
    pub kind: WarmupKind,
    /// The first steady iteration, counted from 1; none without a steady state.
    pub steady_from: Option<usize>,
    /// Geometric mean of the steady iterations without outliers, in the values' unit; none without a steady state.
    pub level: Option<f64>,
    /// First iterations of all segments, counted from 1.
    pub changes: Vec<usize>,
    /// Iterations that stand out from those before and after them, counted from 1.
    pub outliers: Vec<usize>,
}

/// What a series of iteration times does; none for fewer than four of them or when one is not above zero.
pub fn warmup(times: &[f64]) -> Option<Warmup> {
    if times.len() < FEWEST || times.iter().any(|&time| time <= 0.0 || !time.is_finite()) {
        return None;
    }
    let logs: Vec<f64> = times.iter().map(|time| time.ln()).collect();
    let found = segments(&logs, PENALTY * (logs.len() as f64).ln(), ALIKE * ALIKE);
    let stands_out = |i: usize| i > 0 && i + 1 < found.len() && found[i].len() <= OUTLIER;
    let levels: Vec<&Segment> =
        found.iter().enumerate().filter(|&(i, _)| !stands_out(i)).map(|(_, segment)| segment).collect();
    let outliers: Vec<usize> =
        (0..found.len()).filter(|&i| stands_out(i)).flat_map(|i| found[i].begin + 1..=found[i].end).collect();
    let last = levels.last()?;
    // Means of segments scatter as well: what is alike grows with the variance of the last, as in the source.
    let same = ALIKE.max(last.variance);
    let alike = |segment: &Segment| (segment.mean - last.mean).abs() <= same;
    let first_steady = levels.iter().rposition(|segment| !alike(segment)).map_or(0, |i| i + 1);
    let steady_from = if first_steady == 0 { 0 } else { levels[first_steady].begin };
    let settled = steady_from <= logs.len() - logs.len().div_ceil(4);
    let kind = if !settled {
        WarmupKind::NoSteadyState
    } else if first_steady == 0 {
        WarmupKind::Flat
    } else if levels.iter().any(|segment| segment.mean < last.mean - same) {
        WarmupKind::Slowdown
    } else {
        WarmupKind::Warmup
    };
    let steady: Vec<f64> =
        (steady_from..times.len()).filter(|i| !outliers.contains(&(i + 1))).map(|i| times[i]).collect();
    Some(Warmup {
        kind,
        steady_from: settled.then_some(steady_from + 1),
        level: settled.then(|| super::summary::geometric_mean(&steady)).flatten(),
        changes: found.iter().map(|segment| segment.begin + 1).collect(),
        outliers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;
    use crate::statistics::simulate::{normal, share};

    fn series(levels: &[(usize, f64)], deviation: f64, random: &mut Random) -> Vec<f64> {
        let mut times = Vec::new();
        for &(n, level) in levels {
            times.extend((0..n).map(|_| level * (deviation * normal(random)).exp()));
        }
        times
    }

    #[test]
    fn each_class_is_told() {
        let mut random = Random::new(8);
        for (levels, kind, from) in [
            (&[(40, 100.0)][..], WarmupKind::Flat, Some(1)),
            (&[(8, 220.0), (4, 130.0), (28, 100.0)][..], WarmupKind::Warmup, Some(13)),
            (&[(20, 100.0), (20, 115.0)][..], WarmupKind::Slowdown, Some(21)),
            (&[(35, 100.0), (5, 140.0)][..], WarmupKind::NoSteadyState, None),
        ] {
            let found = warmup(&series(levels, 0.01, &mut random)).unwrap();
            assert_eq!((found.kind, found.steady_from), (kind, from), "{levels:?}: {found:?}");
            assert_eq!(found.level.is_some(), from.is_some());
        }
    }

    #[test]
    fn a_first_cold_iteration_is_warmup_and_one_disturbed_later_is_not() {
        let mut random = Random::new(3);
        let mut times = series(&[(1, 900.0), (19, 100.0)], 0.02, &mut random);
        assert_eq!(warmup(&times).unwrap().steady_from, Some(2));
        times.remove(0);
        times[9] = 2_000_000.0;
        let found = warmup(&times).unwrap();
        assert_eq!((found.kind, found.outliers.as_slice()), (WarmupKind::Flat, &[10][..]), "{found:?}");
        assert!((found.level.unwrap() - 100.0).abs() < 3.0);
    }

    #[test]
    fn steady_series_are_called_flat_whatever_their_noise() {
        let mut random = Random::new(10);
        for (n, deviation) in [(10, 0.02), (20, 0.3), (60, 0.05), (200, 0.1)] {
            let flat = share(300, |_| {
                let times = series(&[(n, 100.0)], deviation, &mut random);
                warmup(&times).unwrap().kind == WarmupKind::Flat
            });
            assert!(flat >= 0.98, "{n} {deviation}: {flat}");
        }
    }

    #[test]
    fn what_is_too_short_or_no_time_has_no_class() {
        assert!(warmup(&[1.0, 1.0, 1.0]).is_none());
        assert!(warmup(&[1.0, 0.0, 1.0, 1.0]).is_none());
    }
}
