//! The search for a smallest heap: doubling, then bisection, each size judged by several runs, the result confirmed.
//!
//! ```text
//! 1 GiB, 2, ...          until one run ends well: its time, times 10, is the limit of all that follow
//! 8 MiB, 16, 32, ...     until k of n runs end well: an upper bound
//! 4 x upper bound        one run, where that is more than the first: it may lower the limit
//! between                halved until the rest is 1 MiB or 2 %
//! result                 n runs more; when too few end well, a step up and again
//! ```
//!
//! The constraint that shaped it: that a size passes is a matter of chance near the minimum, and bisection believes each
//! answer for good. The confirmation is what a wrong one costs: it may leave the result a step too high, but not a heap
//! in which the workload fails one time in three. It knows nothing of processes.

use crate::error::Result;
use std::time::Duration;

/// When a size passes and how exact the result is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// How many of `of` runs have to end well.
    pub passes: u32,
    /// How many runs a size gets at most.
    pub of: u32,
    /// How far the result may be above the largest size that failed, percent of it; at least 1 MiB.
    pub resolution_percent: f64,
    /// How many times as long as in a generous heap a run may take.
    pub slow: f64,
    /// The largest size to try, bytes.
    pub most: u64,
}

impl Rule {
    /// 3 of 3 runs, 2 %, ten times as long.
    pub fn new(most: u64) -> Rule {
        Rule { passes: 3, of: 3, resolution_percent: 2.0, slow: 10.0, most }
    }
}

/// The unit of sizes: HotSpot's regions are multiples of it.
const MIB: u64 = 1 << 20;
/// Where doubling begins: no JVM of today runs much in less, and each doubling is a run that fails quickly.
const FIRST: u64 = 8 * MIB;
/// A heap that is generous for most programs: without a limit, a run near the minimum may take minutes.
const ROOMY: u64 = 1024 * MIB;
/// How many times the upper bound a generous heap is: collecting costs little there, and the machine has it.
const GENEROUS: u64 = 4;
/// Least time that a run may take, whatever the rule: a short run's time is mostly the VM's start.
const LEAST_LIMIT: Duration = Duration::from_secs(2);

/// A run in a heap of a given size.
pub(super) trait Trial {
    /// Runs, for `limit` at most; the time that it took when it ended well, else none.
    fn run(&mut self, bytes: u64, limit: Option<Duration>) -> Result<Option<Duration>>;
}

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Smallest {
    pub(super) bytes: u64,
    /// What runs were limited to.
    pub(super) limit: Duration,
}

/// Searches; none when not even the largest size passes.
pub(super) fn search(rule: &Rule, trial: &mut dyn Trial) -> Result<Option<Smallest>> {
    let most = rule.most / MIB * MIB;
    let mut roomy = ROOMY.min(most);
    let mut quickest = loop {
        match trial.run(roomy, None)? {
            Some(time) => break time,
            None if roomy >= most => return Ok(None),
            None => roomy = (2 * roomy).min(most),
        }
    };
    let limit_of = |time: Duration| time.mul_f64(rule.slow).max(LEAST_LIMIT);
    let mut limit = limit_of(quickest);
    // The largest size that failed.
    let mut low = 0;
    let mut high = FIRST.min(most);
    let mut slowest = loop {
        if let Some((_, slowest)) = passes(rule, trial, high, limit)? {
            break slowest;
        }
        low = high;
        if high >= most {
            return Ok(None);
        }
        high = (2 * high).min(most);
    };
    let generous = (GENEROUS * high).min(most);
    if generous > roomy
        && let Some(time) = trial.run(generous, Some(limit))?
    {
        quickest = quickest.min(time);
        limit = limit_of(quickest);
    }
    // The upper bound was found with a limit that may have been too large.
    while slowest > limit {
        low = high;
        if high >= most {
            return Ok(None);
        }
        high = (2 * high).min(most);
        slowest = passes(rule, trial, high, limit)?.map_or(Duration::MAX, |(_, slowest)| slowest);
    }
    while high - low > step(rule, high) {
        let middle = (low + (high - low) / 2).div_ceil(MIB) * MIB;
        // Rounding up may reach the upper end when less than 2 MiB are left.
        let middle = if middle >= high { high - MIB } else { middle };
        if passes(rule, trial, middle, limit)?.is_some() {
            high = middle;
        } else {
            low = middle;
        }
    }
    while passes(rule, trial, high, limit)?.is_none() {
        if high >= most {
            return Ok(None);
        }
        high = (high + step(rule, high)).min(most);
    }
    Ok(Some(Smallest { bytes: high, limit }))
}

/// How exact a result of this size is to be, bytes.
fn step(rule: &Rule, bytes: u64) -> u64 {
    let share = (bytes as f64 * rule.resolution_percent / 100.0) as u64;
    (share / MIB * MIB).max(MIB)
}

/// Runs a size until enough runs have ended well, or so many have not that the rest cannot mend it. The quickest and
/// the slowest time of those that ended well, or none.
fn passes(
    rule: &Rule,
    trial: &mut dyn Trial,
    bytes: u64,
    limit: Duration,
) -> Result<Option<(Duration, Duration)>> {
    let mut times = Vec::new();
    let mut bad = 0;
    while times.len() < rule.passes as usize {
        match trial.run(bytes, Some(limit))? {
            Some(time) => times.push(time),
            None => bad += 1,
        }
        if bad > rule.of.saturating_sub(rule.passes) {
            return Ok(None);
        }
    }
    Ok(times.iter().min().copied().zip(times.iter().max().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that needs a heap of a given size, takes longer the tighter it is, and fails by chance just above it.
    struct Program {
        needs: u64,
        /// From `needs` up to here every second run fails.
        noisy_to: u64,
        /// Below this it takes 100 times as long.
        slow_below: u64,
        runs: u32,
    }

    impl Trial for Program {
        fn run(&mut self, bytes: u64, limit: Option<Duration>) -> Result<Option<Duration>> {
            self.runs += 1;
            assert_eq!(bytes % MIB, 0);
            let time = Duration::from_secs(if bytes < self.slow_below { 100 } else { 1 });
            let fails = bytes < self.needs || (bytes < self.noisy_to && self.runs.is_multiple_of(2));
            Ok((!fails && limit.is_none_or(|limit| time <= limit)).then_some(time))
        }
    }

    fn program(needs_mib: u64) -> Program {
        Program { needs: needs_mib * MIB, noisy_to: 0, slow_below: 0, runs: 0 }
    }

    fn found(program: &mut Program) -> Option<u64> {
        search(&Rule::new(4096 * MIB), program).unwrap().map(|smallest| smallest.bytes / MIB)
    }

    #[test]
    fn a_sharp_edge_is_found_to_the_mebibyte_or_two_percent() {
        for needs in (1..=60).chain([8, 9, 16, 17, 64, 65]) {
            let found = found(&mut program(needs)).unwrap();
            assert!(found == needs, "{needs}: {found}");
        }
        for needs in [100, 257, 512, 1000, 3333, 4096] {
            let found = found(&mut program(needs)).unwrap();
            assert!((needs..=needs + needs / 50 + 1).contains(&found), "{needs}: {found}");
        }
        assert_eq!(found(&mut program(4097)), None);
    }

    #[test]
    fn a_size_in_which_a_run_takes_ten_times_as_long_is_too_small() {
        let mut thrashing = Program { slow_below: 30 * MIB, ..program(10) };
        assert_eq!(found(&mut thrashing), Some(30));
        // The upper bound itself is such a size: 16 passes without a limit.
        let mut thrashing = Program { slow_below: 60 * MIB, ..program(10) };
        assert_eq!(found(&mut thrashing), Some(60));
    }

    #[test]
    fn by_chance_passing_sizes_are_not_confirmed() {
        // From 20 to 40 MiB every second run fails, so 3 of 3 never pass there.
        let mut noisy = Program { noisy_to: 40 * MIB, ..program(20) };
        assert_eq!(found(&mut noisy), Some(40));
        // A rule of 2 of 4 takes them.
        let lenient = Rule { passes: 2, of: 4, ..Rule::new(4096 * MIB) };
        let mut noisy = Program { noisy_to: 40 * MIB, ..program(20) };
        assert_eq!(search(&lenient, &mut noisy).unwrap().unwrap().bytes, 20 * MIB);
    }

    #[test]
    fn the_number_of_runs_stays_small() {
        let mut one = program(500);
        found(&mut one).unwrap();
        assert!(one.runs < 60, "{}", one.runs);
    }
}
