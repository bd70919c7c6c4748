//! How long tracing has cost too much, in spite of all.
//!
//! The constraint that shaped it: methods are dropped once tracing has cost too much for long enough ([`OVER`]), and what that helps
//! is seen a moment later. So tracing ends on no less than twice as much.

use super::choice::OVER;
use lookback_format::Nanos;

/// What costs more than so many budgets is too much: the brake alone keeps to about one.
const BEYOND: f64 = 1.2;
/// Tracing ends when it has cost too much all the time for so long, and by so many budgets times seconds.
const PATIENCE: Nanos = Nanos(20_000_000_000);
const MOST: f64 = 2.0 * OVER;

/// A time in which tracing costs too much.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overrun {
    since: Nanos,
    until: Nanos,
    /// By how many budgets above one and for how long, budgets times seconds.
    over: f64,
}

impl Overrun {
    /// What has become of it now that tracing costs so many budgets.
    pub(super) fn next(before: Option<Overrun>, budgets: f64, now: Nanos) -> Option<Overrun> {
        let Overrun { since, until, over } = before.unwrap_or(Overrun { since: now, until: now, over: 0.0 });
        let span = now.since(until).0 as f64 / 1e9;
        (budgets > BEYOND).then_some(Overrun { since, until: now, over: over + (budgets - 1.0) * span })
    }

    /// How long it has taken, if that is too long.
    pub(super) fn too_long(self) -> Option<Nanos> {
        Some(self.until.since(self.since)).filter(|&took| took >= PATIENCE && self.over >= MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many seconds tracing ends that costs so many budgets.
    fn ends(budgets: f64) -> Option<u64> {
        let mut overrun = None;
        (0..1_000).find(|&second| {
            overrun = Overrun::next(overrun, budgets, Nanos(second * 1_000_000_000));
            overrun.is_some_and(|o| o.too_long().is_some())
        })
    }

    #[test]
    fn it_ends_the_sooner_the_more_it_costs_and_never_before_methods_were_dropped() {
        assert_eq!(ends(1.2), None);
        assert_eq!(ends(1.5), Some(80), "methods are dropped after 40 s");
        assert_eq!(ends(3.0), Some(20), "after 10 s");
        assert_eq!(ends(100.0), Some(20));
    }

    #[test]
    fn what_costs_little_for_a_moment_begins_anew() {
        let begun = Overrun::next(None, 9.0, Nanos(0));
        let later = Overrun::next(begun, 9.0, Nanos(19_000_000_000));
        assert!(later.is_some_and(|o| o.too_long().is_none()));
        assert!(Overrun::next(later, 1.0, Nanos(19_500_000_000)).is_none());
    }
}
