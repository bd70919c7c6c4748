//! What recording costs, measured while the program runs: recording is switched off for a moment and on again, at random
//! times and in random order, and the program's processor time for the same work is compared.
//!
//! The constraint that shaped it: what a program does has no unit that all programs share, and few moments may be missing
//! from a recording. So its work is the bytes that it allocates, a trial takes 10 ms without recording, trials are seconds
//! apart, and an interval says how little is known yet. Numbers in, an estimate out; it knows no VM.

use lookback_format::costs::Measured;
use std::collections::VecDeque;

/// The newest trials that count: about ten minutes of them.
const MOST: usize = 150;
/// Below so many nothing is said.
const FEWEST: usize = 10;
/// Of the trials, the share that is cut off at each end: a collection, a compilation or another program fell into them.
const TRIMMED: f64 = 0.2;
/// A moment counts when so many bytes were allocated in it, and so much processor time was taken, nanoseconds: less is
/// noise.
const LEAST: (u64, u64) = (64 << 10, 1_000_000);

/// What the program did in a moment, or in several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    /// Bytes allocated.
    pub(super) bytes: u64,
    /// Processor time, nanoseconds.
    pub(super) cpu: u64,
}

impl Moment {
    /// Both.
    pub(super) fn and(self, other: Moment) -> Moment {
        Moment { bytes: self.bytes + other.bytes, cpu: self.cpu + other.cpu }
    }

    /// The logarithm of nanoseconds a byte.
    fn price(self) -> Option<f64> {
        let counts = self.bytes >= LEAST.0 && self.cpu >= LEAST.1;
        counts.then(|| (self.cpu as f64 / self.bytes as f64).ln())
    }
}

/// The trials so far.
#[derive(Debug, Default)]
pub(super) struct Trials {
    /// Of each: by how much dearer work was while recording was on, a difference of logarithms.
    differences: VecDeque<f64>,
}

impl Trials {
    /// One more; whether it counts.
    pub(super) fn add(&mut self, off: Moment, on: Moment) -> bool {
        let Some(difference) = on.price().zip(off.price()).map(|(on, off)| on - off) else { return false };
        if self.differences.len() == MOST {
            self.differences.pop_front();
        }
        self.differences.push_back(difference);
        true
    }

    /// What was measured until now says nothing about what is traced from now on.
    pub(super) fn forget(&mut self) {
        self.differences.clear();
    }

    /// The trimmed mean with its interval of 95 %, by the variance of the winsorized sample (J. W. Tukey, D. H.
    /// McLaughlin: "Less vulnerable confidence and significance procedures for location based on a single sample", Sankhya
    /// A 25, 1963). Shares of the program's processor time, percent.
    pub(super) fn estimate(&self) -> Option<Measured> {
        let n = self.differences.len();
        if n < FEWEST {
            return None;
        }
        let mut sorted: Vec<f64> = self.differences.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let cut = (n as f64 * TRIMMED) as usize;
        let kept = n - 2 * cut;
        let mean = sorted[cut..n - cut].iter().sum::<f64>() / kept as f64;
        let winsorized = sorted.iter().map(|d| d.clamp(sorted[cut], sorted[n - cut - 1]));
        let middle = winsorized.clone().sum::<f64>() / n as f64;
        let variance = winsorized.map(|d| (d - middle).powi(2)).sum::<f64>() / (n - 1) as f64;
        let half = quantile(kept - 1) * (variance / n as f64).sqrt() / (kept as f64 / n as f64);
        let percent = |difference: f64| 100.0 * (1.0 - (-difference).exp());
        Some(Measured {
            percent: percent(mean),
            low: percent(mean - half),
            high: percent(mean + half),
            trials: n as u32,
        })
    }
}

/// The 97.5 % quantile of Student's distribution with `degrees` of freedom, at least 3, by Cornish and Fisher's expansion.
fn quantile(degrees: usize) -> f64 {
    const Z: f64 = 1.959_964;
    let power = |n: i32| Z.powi(n);
    let terms = [
        (power(3) + Z) / 4.0,
        (5.0 * power(5) + 16.0 * power(3) + 3.0 * Z) / 96.0,
        (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * Z) / 384.0,
    ];
    (1..).zip(terms).map(|(n, term)| term / (degrees as f64).powi(n)).sum::<f64>() + Z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from -1 to 1, by a linear congruence.
    fn noise() -> impl FnMut() -> f64 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
        }
    }

    fn moment(dearer: f64) -> Moment {
        Moment { bytes: 10_000_000, cpu: (10_000_000.0 * dearer) as u64 }
    }

    #[test]
    fn what_recording_costs_is_found_among_much_more_noise_and_is_within_the_interval() {
        let mut random = noise();
        let mut inside = 0;
        for _ in 0..200 {
            let mut trials = Trials::default();
            for i in 0..MOST {
                // Every tenth moment is one with a collection in it.
                let spoiled = if i % 10 == 0 { 5.0 } else { 1.0 };
                let (off, on) = (1.0 + 0.1 * random(), (1.0 + 0.1 * random()) / 0.98);
                assert!(trials.add(moment(off), moment(on * spoiled)));
            }
            let found = trials.estimate().expect("enough trials");
            // The spoiled ones are all on one side, which shifts what is cut off by about a tenth of the spread.
            assert!((found.percent - 2.0).abs() < 4.0 && found.high - found.low < 5.0, "{found:?}");
            inside += u32::from(found.low < 3.0 && found.high > 2.0);
        }
        assert!(inside > 180, "{inside} of 200");
    }

    #[test]
    fn where_recording_costs_nothing_the_interval_says_so_in_nineteen_of_twenty() {
        let mut random = noise();
        let outside = (0..1_000)
            .filter(|_| {
                let mut trials = Trials::default();
                for _ in 0..30 {
                    trials.add(moment(1.0 + 0.3 * random()), moment(1.0 + 0.3 * random()));
                }
                let found = trials.estimate().expect("enough trials");
                found.low > 0.0 || found.high < 0.0
            })
            .count();
        assert!((20..90).contains(&outside), "{outside} of 1,000");
    }

    #[test]
    fn few_trials_say_nothing_and_moments_without_work_are_none() {
        let mut trials = Trials::default();
        let idle = Moment { bytes: 100, cpu: 10_000_000 };
        assert!(!trials.add(idle, moment(1.0)) && !trials.add(moment(1.0), idle));
        for _ in 1..FEWEST {
            trials.add(moment(1.0), moment(1.0));
        }
        assert_eq!(trials.estimate(), None);
        trials.add(moment(1.0), moment(1.0));
        let found = trials.estimate().expect("enough");
        assert_eq!((found.percent, found.low, found.high), (0.0, 0.0, 0.0));
        trials.forget();
        assert_eq!(trials.estimate(), None);
    }

    #[test]
    fn the_quantiles_are_those_of_the_tables() {
        for (degrees, table) in [(5, 2.571), (9, 2.262), (29, 2.045), (1_000, 1.962)] {
            assert!((quantile(degrees) - table).abs() < 0.01, "{degrees}: {}", quantile(degrees));
        }
    }
}
