//! The rule that calls an invocation disturbed, and waiting for a quiet machine before one.
//!
//! The constraint that shaped it: whether a figure counts is decided by what the machine did and never by the figure
//! itself, or noise would be chosen by its result.

use super::counters::{Counters, Observer};
use crate::plan::Quiet;
use crate::results::Disturbance;
use std::time::Duration;

/// How long the machine is looked at before it counts as quiet: long enough that a step of the counters (10 ms) is
/// 2 % of it.
const LOOK: Duration = Duration::from_millis(500);

/// What disturbed a process that used `own` CPU time from `before` to `after`.
///
/// A share counts as beyond the rule when it is so without the counters' `step` on each core, which a reading may be
/// wrong by: else an invocation of 100 ms would be disturbed by one tick.
pub fn judge(
    quiet: &Quiet,
    before: &Counters,
    after: &Counters,
    own: Duration,
    step: Duration,
) -> Vec<Disturbance> {
    let reading = before.until(after, own);
    let all = before.time_until(after).as_secs_f64();
    let doubt = if all > 0.0 { 100.0 * (step * before.cores).as_secs_f64() / all } else { 0.0 };
    let mut disturbances = Vec::new();
    if reading.steal_percent - doubt > quiet.steal_percent {
        disturbances.push(Disturbance::Steal { percent: reading.steal_percent });
    }
    if reading.others_percent - doubt > quiet.others_percent {
        disturbances.push(Disturbance::Others { percent: reading.others_percent });
    }
    if reading.swap_bytes > quiet.swap_bytes {
        disturbances.push(Disturbance::Swap { bytes: reading.swap_bytes });
    }
    disturbances
}

/// Waits until the machine is quiet by the rule, at most for the plan's patience. `tell` hears of each look that was
/// not quiet, with the time waited so far; when it answers false, the wait ends.
///
/// An invocation begins afterwards in any case: it is judged by what happens while it runs.
pub fn wait_for_quiet(
    quiet: &Quiet,
    observer: &mut dyn Observer,
    tell: &mut dyn FnMut(&[Disturbance], Duration) -> bool,
) {
    if quiet.patience.is_zero() {
        return;
    }
    let step = observer.step();
    let begin = observer.counters();
    let mut last = begin.clone();
    loop {
        observer.pause(LOOK);
        let now = observer.counters();
        let disturbances = judge(quiet, &last, &now, Duration::ZERO, step);
        let waited = now.at.saturating_sub(begin.at);
        if disturbances.is_empty() || !tell(&disturbances, waited) || waited >= quiet.patience {
            return;
        }
        last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which others use a given share of one core in each look.
    struct Scripted {
        now: Counters,
        busy: Vec<f64>,
        looks: usize,
    }

    impl Observer for Scripted {
        fn counters(&mut self) -> Counters {
            self.now.clone()
        }
        fn pause(&mut self, time: Duration) {
            let busy = self.busy.get(self.looks).copied().unwrap_or(0.0);
            self.looks += 1;
            self.now.at += time;
            self.now.idle += time.mul_f64(1.0 - busy);
        }
        fn step(&self) -> Duration {
            Duration::from_millis(10)
        }
    }

    fn machine(busy: &[f64]) -> Scripted {
        Scripted { now: Counters { cores: 1, ..Counters::default() }, busy: busy.to_vec(), looks: 0 }
    }

    #[test]
    fn it_waits_as_long_as_others_are_busy_and_no_longer_than_its_patience() {
        let quiet = Quiet { patience: Duration::from_secs(2), ..Quiet::default() };
        let mut told = Vec::new();
        let mut hear = |d: &[Disturbance], waited: Duration| {
            told.push((d.to_vec(), waited.as_millis()));
            true
        };
        let mut calm = machine(&[0.5, 0.2]);
        wait_for_quiet(&quiet, &mut calm, &mut hear);
        assert_eq!(calm.looks, 3);
        let mut never = machine(&[1.0; 100]);
        wait_for_quiet(&quiet, &mut never, &mut hear);
        assert_eq!(never.looks, 4, "2 s in looks of half a second");
        assert_eq!(told.len(), 2 + 4);
        assert_eq!(told[0].1, 500);
        assert!(matches!(told[0].0[..], [Disturbance::Others { .. }]), "{told:?}");
        let mut stopped = machine(&[1.0; 100]);
        wait_for_quiet(&quiet, &mut stopped, &mut |_, _| false);
        assert_eq!(stopped.looks, 1);
        let mut unasked = machine(&[1.0]);
        wait_for_quiet(&Quiet { patience: Duration::ZERO, ..quiet }, &mut unasked, &mut |_, _| true);
        assert_eq!(unasked.looks, 0);
    }

    #[test]
    fn a_short_invocation_is_not_disturbed_by_one_tick() {
        let quiet = Quiet::default();
        let before = Counters { cores: 1, ..Counters::default() };
        let ms = Duration::from_millis;
        let step = ms(10);
        let after = |all: u64, idle: u64| Counters { at: ms(all), idle: ms(idle), ..before.clone() };
        assert_eq!(judge(&quiet, &before, &after(100, 0), ms(90), step), [], "10 of 100 ms may be one tick");
        let found = judge(&quiet, &before, &after(10_000, 0), ms(9_000), step);
        assert_eq!(found, [Disturbance::Others { percent: 10.0 }]);
        let found = judge(
            &quiet,
            &before,
            &Counters { steal: ms(500), swap_bytes: 1, ..after(10_000, 9_500) },
            ms(0),
            step,
        );
        assert_eq!(found, [Disturbance::Steal { percent: 5.0 }, Disturbance::Swap { bytes: 1 }]);
    }
}
