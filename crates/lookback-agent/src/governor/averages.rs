//! How fast each method was recorded over a whole run, and what the next start makes of it: methods that cost too much are
//! not traced from the beginning, and methods that cost next to nothing have exact times.
//!
//! The constraint that shaped it: which method is which is known only once the program has run, and to rewrite a class for
//! it then would cost more than it gives. At the next start the class is rewritten in any case. A method that no look
//! has ever found is left as it is. A program is slow at first and fast once it is compiled (PMD: a million records a second in
//! its first 5 s, 6.6 from 20 s on), so the later half of a run counts twice as much as what was before, and so on.

use super::sample::Rate;
use lookback_format::{MethodId, Nanos};

/// Of the budget, that all exact times together may cost: 0.1 % of the program's processor time by default, as long as the
/// program does then what it did before.
const EXACT: f64 = 1.0 / 30.0;
/// Of the budget, that the records of all methods which are traced from the beginning may cost together: 0.03 % of the program's
/// processor time by default. What such methods cost beside their records, above all the compilers, is many times as much,
/// and here a method that goes costs nothing. PMD paid 17 % with a tenth of the budget, 3 % with a hundredth, 2 % with a
/// thousandth (docs/BUDGET.md, "How much a later start traces").
pub(super) const PLAIN: f64 = 0.01;
/// A run says something when it has lasted so long, and says it anew each time that it has lasted twice as long.
const FIRST: Nanos = Nanos(10_000_000_000);

/// A program is at work while it takes such a share of one core, Lookback's own threads with it.
const ACTIVE: f64 = 0.02;

/// Counts of a run, all of which are halved each time that something was said.
pub(super) struct Averages {
    begun: Nanos,
    due: Nanos,
    /// Seconds in which the program was at work, and those of its processor time, all of which count.
    active: f64,
    taken: f64,
    /// Seconds, and those of the program's processor time.
    seconds: f64,
    busy: f64,
    /// By a method's id, which are given in order.
    records: Vec<f32>,
}

impl Averages {
    pub(super) fn begin(now: Nanos) -> Averages {
        Averages {
            begun: now,
            due: now.plus(FIRST.0),
            active: 0.0,
            taken: 0.0,
            seconds: 0.0,
            busy: 0.0,
            records: Vec::new(),
        }
    }

    /// How long the run has lasted.
    pub(super) fn age(&self, now: Nanos) -> Nanos {
        now.since(self.begun)
    }

    /// How long the program was at work.
    pub(super) fn active(&self) -> Nanos {
        Nanos((self.active * 1e9) as u64)
    }

    /// The program's processor time of the whole run.
    pub(super) fn taken(&self) -> Nanos {
        Nanos((self.taken * 1e9) as u64)
    }

    /// Counts what was recorded in so many seconds, of which the program took `busy` of processor time.
    pub(super) fn add(&mut self, rates: &[Rate], seconds: f64, busy: f64) {
        if busy >= ACTIVE * seconds {
            self.active += seconds;
        }
        self.taken += busy;
        self.seconds += seconds;
        self.busy += busy;
        for rate in rates {
            let at = rate.id.0 as usize;
            if at >= self.records.len() {
                self.records.resize(at + 1, 0.0);
            }
            self.records[at] += (rate.per_second * seconds) as f32;
        }
    }

    /// Lets what was counted so far count half as much as what follows.
    pub(super) fn halve(&mut self) {
        self.seconds /= 2.0;
        self.busy /= 2.0;
        self.records.iter_mut().for_each(|records| *records /= 2.0);
    }

    /// Whether the run has lasted long enough, or long enough again.
    pub(super) fn is_due(&mut self, now: Nanos) -> bool {
        let is_due = now >= self.due;
        if is_due {
            self.due = now.plus(self.age(now).0);
        }
        is_due
    }

    /// Whether the run has lasted long enough to say what the program does.
    pub(super) fn says_something(&self, now: Nanos) -> bool {
        self.age(now) >= FIRST
    }

    /// What was counted of the run, once it says something.
    pub(super) fn seen(&self, now: Nanos) -> Vec<(MethodId, f64)> {
        if self.says_something(now) { self.counted() } else { Vec::new() }
    }

    /// All methods that were recorded, the seldomest first, with how many records they made a second.
    pub(super) fn counted(&self) -> Vec<(MethodId, f64)> {
        let rate = |(id, &records): (u32, &f32)| (MethodId(id), f64::from(records) / self.seconds);
        let mut seen: Vec<_> =
            (0..).zip(&self.records).filter(|(_, records)| **records > 0.0).map(rate).collect();
        seen.sort_by(|a, b| a.1.total_cmp(&b.1));
        seen
    }

    /// What may be spent on records, nanoseconds a second, when that is a `share` of the program's processor time.
    fn room(&self, share: f64) -> f64 {
        share * self.busy / self.seconds * 1e9
    }

    /// How many of the methods that were `seen`, the first ones, may have exact times. `budget` is a share of the program's
    /// processor time, `timed` what a record with an exact time costs, nanoseconds.
    pub(super) fn exact(&self, seen: &[(MethodId, f64)], budget: f64, timed: f64) -> usize {
        fitting(seen, timed, self.room(EXACT * budget))
    }

    /// How many of them, the last ones, cost too much to trace: without them the rest keeps to what a start may cost.
    /// `plain` is what a record costs, nanoseconds.
    pub(super) fn too_dear(&self, seen: &[(MethodId, f64)], budget: f64, plain: f64) -> usize {
        seen.len() - fitting(seen, plain, self.room(PLAIN * budget))
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
        // Of ten seconds it was recorded in one only.
        let averages = |busy: f64| {
            let mut averages = Averages::begin(Nanos(0));
            let others = [rate(3, 16_000.0), rate(4, 100_000.0), rate(7, 10.0)];
            averages.add(&[&others[..], &[rate(1, 50_000.0)]].concat(), 1.0, busy);
            for _ in 1..10 {
                averages.add(&others, 1.0, busy);
            }
            averages
        };
        assert_eq!(averages(1.0).seen(Nanos(9 * SECOND)), [], "too soon");
        let seen = averages(1.0).seen(Nanos(10 * SECOND));
        let methods = [(7, 10.0), (1, 5_000.0), (3, 16_000.0), (4, 100_000.0)];
        assert_eq!(seen, methods.map(|(id, rate)| (MethodId(id), rate)));
        // A tenth of a percent of one core is 1,000,000 ns a second: 21,010 records are 1,050,500.
        let fit = |record, busy| averages(busy).exact(&seen, 0.03, record);
        assert_eq!((fit(50.0, 1.0), fit(40.0, 1.0), fit(50.0, 2.0), fit(50.0, 0.0)), (2, 3, 3, 0));
        // A hundredth of it are 300,000 ns a second.
        let dear = |record| averages(1.0).too_dear(&seen, 0.03, record);
        assert_eq!((dear(0.3), dear(8.0), dear(50.0)), (0, 1, 2));
    }

    #[test]
    fn what_was_recorded_lately_counts_more() {
        let mut averages = Averages::begin(Nanos(0));
        averages.add(&[rate(1, 1_000.0)], 10.0, 20.0);
        averages.halve();
        averages.add(&[rate(1, 4_000.0)], 10.0, 10.0);
        assert_eq!(averages.seen(Nanos(20 * SECOND)), [(MethodId(1), 3_000.0)]);
        // 20 s of processor time in 15.
        assert!((averages.room(0.03) - 0.04e9).abs() < 1.0);
        averages.add(&[], 10.0, 0.1);
        assert_eq!((averages.active(), averages.taken()), (Nanos(20 * SECOND), Nanos(30_100_000_000)));
    }

    #[test]
    fn it_is_said_each_time_that_the_run_has_lasted_twice_as_long() {
        let mut averages = Averages::begin(Nanos(5 * SECOND));
        let due: Vec<u64> = (5..200).filter(|&s| averages.is_due(Nanos(s * SECOND))).collect();
        assert_eq!(due, [15, 25, 45, 85, 165]);
    }
}
