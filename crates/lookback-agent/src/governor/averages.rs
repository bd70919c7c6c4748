//! How fast each method was recorded over a whole run, and what the next start makes of it: methods that cost too much are
//! not traced from the beginning, and methods that cost next to nothing have exact times.
//!
//! The constraint that shaped it: which method is which is known only once the program has run, and to rewrite a class for
//! it then would cost more than it gives. At the next start the class is rewritten in any case. A method that no look
//! has ever found is left as it is.

use super::choice::LOW;
use super::sample::Rate;
use lookback_format::{MethodId, Nanos};

/// Of the budget, that all exact times together may cost: 0.1 % of the program's processor time by default, as long as the
/// program does then what it did before.
const EXACT: f64 = 1.0 / 30.0;
/// A run says something when it has lasted so long, and says it anew each time that it has lasted twice as long.
const FIRST: Nanos = Nanos(10_000_000_000);

/// Counts of a run.
pub(super) struct Averages {
    begun: Nanos,
    /// The program's processor time then.
    busy: Nanos,
    due: Nanos,
    /// By a method's id, which are given in order.
    records: Vec<f32>,
}

impl Averages {
    /// Begins at `now`, when the program has taken processor time for `busy`.
    pub(super) fn begin(now: Nanos, busy: Nanos) -> Averages {
        Averages { begun: now, busy, due: now.plus(FIRST.0), records: Vec::new() }
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

    /// What may be spent on records, nanoseconds a second, when that is a `share` of the program's processor time, which is
    /// `busy` now.
    fn room(&self, share: f64, now: Nanos, busy: Nanos) -> f64 {
        share * busy.since(self.busy).0 as f64 / now.since(self.begun).0.max(1) as f64 * 1e9
    }

    /// How many of the methods that were `seen`, the first ones, may have exact times. `budget` is a share of the program's
    /// processor time, which is `busy` now, `timed` what a record with an exact time costs, nanoseconds.
    pub(super) fn exact(
        &self,
        seen: &[(MethodId, f64)],
        (budget, timed): (f64, f64),
        (now, busy): (Nanos, Nanos),
    ) -> usize {
        fitting(seen, timed, self.room(EXACT * budget, now, busy))
    }

    /// How many of them, the last ones, cost too much to trace: without them the rest keeps to what is left after a change.
    /// `plain` is what a record costs, nanoseconds.
    pub(super) fn too_dear(
        &self,
        seen: &[(MethodId, f64)],
        (budget, plain): (f64, f64),
        (now, busy): (Nanos, Nanos),
    ) -> usize {
        seen.len() - fitting(seen, plain, self.room(LOW * budget, now, busy))
    }
}

/// How many of the first methods fit into so much room, when a record costs so much.
fn fitting(methods: &[(MethodId, f64)], record: f64, mut room: f64) -> usize {
    let fits = methods.iter().take_while(|(_, per_second)| {
        room -= per_second * record;
        room >= 0.0
    });
    fits.count()
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
        let mut averages = Averages::begin(Nanos(0), Nanos(0));
        // Of ten seconds it was recorded in one only.
        averages.add(&[rate(1, 50_000.0)], 1.0);
        for _ in 0..10 {
            averages.add(&[rate(3, 16_000.0), rate(4, 100_000.0), rate(7, 10.0)], 1.0);
        }
        assert_eq!(averages.seen(Nanos(9 * SECOND)), [], "too soon");
        let now = Nanos(10 * SECOND);
        let seen = averages.seen(now);
        let methods = [(7, 10.0), (1, 5_000.0), (3, 16_000.0), (4, 100_000.0)];
        assert_eq!(seen, methods.map(|(id, rate)| (MethodId(id), rate)));
        // A tenth of a percent of one core is 1,000,000 ns a second: 21,010 records are 1,050,500.
        let fit = |record, busy| averages.exact(&seen, (0.03, record), (now, Nanos(busy * SECOND)));
        assert_eq!((fit(50.0, 10), fit(40.0, 10), fit(50.0, 20), fit(50.0, 0)), (2, 3, 3, 0));
        // 0.9 % are 9,000,000 ns a second.
        let dear = |record| averages.too_dear(&seen, (0.03, record), (now, Nanos(10 * SECOND)));
        assert_eq!((dear(3.0), dear(80.0), dear(500.0)), (0, 1, 2));
    }

    #[test]
    fn it_is_said_each_time_that_the_run_has_lasted_twice_as_long() {
        let mut averages = Averages::begin(Nanos(5 * SECOND), Nanos(0));
        let due: Vec<u64> = (5..200).filter(|&s| averages.is_due(Nanos(s * SECOND))).collect();
        assert_eq!(due, [15, 25, 45, 85, 165]);
    }
}
