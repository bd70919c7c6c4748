//! Which methods are recorded so seldom that exact times of all their calls cost next to nothing.
//!
//! The constraint that shaped it: a method that runs for long is not called often, but how often is known only once the
//! program has run, and to rewrite a class for it then would cost more than it tells. So what is counted in one run is for
//! the next, when the class is rewritten in any case; and a method that no look has ever found is left as it is.

use super::sample::Rate;
use lookback_format::{MethodId, Nanos};

/// Of the budget, that all exact times together may cost: 0.1 % of the program's processor time by default, as long as the
/// program does then what it did before.
const SHARE: f64 = 1.0 / 30.0;
/// A run says something when it has lasted so long, and says it anew each time that it has lasted twice as long.
const FIRST: Nanos = Nanos(10_000_000_000);

/// Counts of a run.
pub(super) struct Seldom {
    begun: Nanos,
    /// The program's processor time then.
    busy: Nanos,
    due: Nanos,
    /// By a method's id, which are given in order.
    records: Vec<f32>,
}

impl Seldom {
    /// Begins at `now`, when the program has taken processor time for `busy`.
    pub(super) fn begin(now: Nanos, busy: Nanos) -> Seldom {
        Seldom { begun: now, busy, due: now.plus(FIRST.0), records: Vec::new() }
    }

    /// Counts what was recorded in so many seconds.
    pub(super) fn add(&mut self, rates: &[Rate], seconds: f64) {
        for rate in rates {
            let at = rate.id.0 as usize;
            if at >= self.records.len() {
                self.records.resize(at + 1, 0.0);
            }
            self.records[at] += (rate.per_second * seconds) as f32;
        }
    }

    /// Whether the run has lasted long enough, or long enough again.
    pub(super) fn is_due(&mut self, now: Nanos) -> bool {
        let is_due = now >= self.due;
        if is_due {
            self.due = now.plus(now.since(self.begun).0);
        }
        is_due
    }

    /// All methods that were recorded, the seldomest first, with how many records they made a second; none before the run
    /// says anything.
    pub(super) fn seen(&self, now: Nanos) -> Vec<(MethodId, f64)> {
        let lasted = now.since(self.begun);
        if lasted < FIRST {
            return Vec::new();
        }
        let rate = |(id, &records): (u32, &f32)| (MethodId(id), f64::from(records) / (lasted.0 as f64 / 1e9));
        let mut seen: Vec<_> =
            (0..).zip(&self.records).filter(|(_, records)| **records > 0.0).map(rate).collect();
        seen.sort_by(|a, b| a.1.total_cmp(&b.1));
        seen
    }

    /// How many of the methods that were `seen` may have exact times. `budget` is a share of the program's processor time,
    /// which is `busy` now, `record` what an exact time costs, nanoseconds.
    pub(super) fn may_be_exact(
        &self,
        seen: &[(MethodId, f64)],
        (budget, record): (f64, f64),
        (now, busy): (Nanos, Nanos),
    ) -> usize {
        let cpu = busy.since(self.busy).0 as f64 / now.since(self.begun).0.max(1) as f64;
        let mut room = SHARE * budget * cpu * 1e9;
        let fits = seen.iter().take_while(|(_, per_second)| {
            room -= per_second * record;
            room >= 0.0
        });
        fits.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn rate(id: u32, per_second: f64) -> Rate {
        Rate { id: MethodId(id), per_second, leaf: 0.0 }
    }

    #[test]
    fn the_seldomest_fit_and_what_was_never_seen_is_not_among_them() {
        let mut seldom = Seldom::begin(Nanos(0), Nanos(0));
        // Of ten seconds it was recorded in one only.
        seldom.add(&[rate(1, 50_000.0)], 1.0);
        for _ in 0..10 {
            seldom.add(&[rate(3, 16_000.0), rate(4, 100_000.0), rate(7, 10.0)], 1.0);
        }
        assert_eq!(seldom.seen(Nanos(9 * SECOND)), [], "too soon");
        let now = Nanos(10 * SECOND);
        let seen = seldom.seen(now);
        let methods = [(7, 10.0), (1, 5_000.0), (3, 16_000.0), (4, 100_000.0)];
        assert_eq!(seen, methods.map(|(id, rate)| (MethodId(id), rate)));
        // A tenth of a percent of one core is 1,000,000 ns a second: 21,010 records are 1,050,500.
        let fit = |record, busy| seldom.may_be_exact(&seen, (0.03, record), (now, Nanos(busy * SECOND)));
        assert_eq!((fit(50.0, 10), fit(40.0, 10), fit(50.0, 20), fit(50.0, 0)), (2, 3, 3, 0));
    }

    #[test]
    fn it_is_said_each_time_that_the_run_has_lasted_twice_as_long() {
        let mut seldom = Seldom::begin(Nanos(5 * SECOND), Nanos(0));
        let due: Vec<u64> = (5..200).filter(|&s| seldom.is_due(Nanos(s * SECOND))).collect();
        assert_eq!(due, [15, 25, 45, 85, 165]);
    }
}
