//! Whether threads begin and end so often that to see each of them costs too much.
//!
//! The constraint that shaped it: what a short thread pays is not what it records, so no dropped method helps. Most of it is HotSpot's:
//! it makes a JVMTI state for each new thread while anybody asks for the ends of threads or for waits for monitors
//! (docs/BUDGET.md, "Short-lived threads"). So while there are too many, neither is asked for, and only who lives on is traced.

use lookback_format::Nanos;

/// Processor time that a thread costs which is seen to begin and to end, seconds, and one of which only the beginning is seen: measured on
/// an AMD EPYC (Zen 4), JDK 25, in a program that itself takes 260 us for each of its threads.
const SEEN: f64 = 24e-6;
const PASSED: f64 = 6e-6;
/// Too much for so long is no burst, and little for so long is no lull.
const BURST: Nanos = Nanos(5_000_000_000);
const LULL: Nanos = Nanos(30_000_000_000);
/// It is little when to see them would cost such a share of what is too much.
const LITTLE: f64 = 0.5;
/// What threads may cost in any case, a share of the budget: what goes beyond it for other reasons is no reason not to see them.
const LEAST: f64 = 0.25;

/// How many threads begin, and what is made of it.
pub(super) struct Churn {
    /// Threads that had begun when it was looked last, and a second before that.
    begun: u64,
    per_second: f64,
    /// Whether threads pass unseen, and since when that is not what it should be.
    passes: bool,
    since: Option<Nanos>,
}

impl Churn {
    /// So many threads have begun before.
    pub(super) fn new(begun: u64) -> Churn {
        Churn { begun, per_second: 0.0, passes: false, since: None }
    }

    /// So many threads have begun until now; it was looked last a `span` of seconds ago. The program takes `cpu` of a core, tracing may
    /// cost the share `budget` of it, and all but threads costs the share `others`. Whether they pass unseen from now on, or are seen
    /// again; none when it stays as it is.
    pub(super) fn look(
        &mut self,
        begun: u64,
        span: f64,
        cpu: f64,
        budget: f64,
        others: f64,
        now: Nanos,
    ) -> Option<bool> {
        let most = (budget - others).max(LEAST * budget);
        self.per_second = begun.saturating_sub(self.begun) as f64 / span.max(1e-9);
        self.begun = begun;
        let (limit, patience) = if self.passes { (LITTLE * most, LULL) } else { (most, BURST) };
        let is_over = self.per_second * SEEN > limit * cpu;
        if is_over != self.passes {
            let since = *self.since.get_or_insert(now);
            if now.since(since) >= patience {
                (self.passes, self.since) = (is_over, None);
                return Some(is_over);
            }
        } else {
            self.since = None;
        }
        None
    }

    /// What the beginnings and ends of threads cost, a share of the program's processor time, which is `cpu` of a core.
    pub(super) fn cost(&self, cpu: f64) -> f64 {
        self.per_second * if self.passes { PASSED } else { SEEN } / cpu.max(1e-9)
    }

    /// How many threads begin a second, when they pass unseen.
    pub(super) fn passing(&self) -> Option<f64> {
        self.passes.then_some(self.per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of one core that may spend 3 %, looked at each second; the numbers are how many threads begin in each.
    fn run(churn: &mut Churn, from: u64, begun: &mut u64, each: u64, seconds: u64) -> Vec<(u64, bool)> {
        let mut changes = Vec::new();
        for second in from..from + seconds {
            *begun += each;
            let changed = churn.look(*begun, 1.0, 1.0, 0.03, 0.0, Nanos(second * 1_000_000_000));
            changes.extend(changed.map(|passes| (second, passes)));
        }
        changes
    }

    #[test]
    fn many_for_long_pass_unseen_until_they_are_few_for_longer() {
        let (mut churn, mut begun) = (Churn::new(100), 100);
        assert_eq!(run(&mut churn, 0, &mut begun, 1_200, 100), [], "2.9 %");
        assert!((churn.cost(1.0) - 0.0288).abs() < 1e-9 && churn.passing().is_none());
        assert_eq!(run(&mut churn, 100, &mut begun, 4_000, 100), [(105, true)]);
        assert!((churn.cost(1.0) - 0.024).abs() < 1e-9, "what is left of 9.6 %");
        assert_eq!(churn.passing(), Some(4_000.0));
        assert_eq!(run(&mut churn, 200, &mut begun, 700, 100), [], "1.7 % are not little");
        assert_eq!(run(&mut churn, 300, &mut begun, 600, 100), [(330, false)]);
        assert_eq!(churn.passing(), None);
    }

    #[test]
    fn a_burst_is_seen_and_a_lull_changes_nothing() {
        let (mut churn, mut begun) = (Churn::new(0), 0);
        for round in 0..10 {
            assert_eq!(run(&mut churn, round * 20, &mut begun, 10_000, 5), [], "a pool begins");
            assert_eq!(run(&mut churn, round * 20 + 5, &mut begun, 0, 15), []);
        }
        assert_eq!(run(&mut churn, 200, &mut begun, 10_000, 10), [(205, true)]);
        for round in 0..10 {
            assert_eq!(run(&mut churn, 300 + round * 40, &mut begun, 0, 29), [], "nobody asks");
            assert_eq!(run(&mut churn, 329 + round * 40, &mut begun, 10_000, 11), []);
        }
    }

    #[test]
    fn the_share_is_of_what_the_program_takes() {
        let mut churn = Churn::new(0);
        let mut look = |begun: u64, cpu: f64, second: u64| {
            churn.look(begun, 1.0, cpu, 0.03, 0.0, Nanos(second * 1_000_000_000))
        };
        assert!((1..20).all(|second| look(second * 4_000, 4.0, second).is_none()), "2.4 % of four cores");
        let changed = (20..40).find_map(|second| look(second * 4_000, 2.0, second));
        assert_eq!(changed, Some(true), "4.8 % of two");
    }

    #[test]
    fn few_are_seen_even_if_all_else_costs_too_much() {
        let mut churn = Churn::new(0);
        let mut begun = 0;
        let mut pass = |each: u64, from: u64| {
            (from..from + 20).find_map(|second| {
                begun += each;
                churn.look(begun, 1.0, 1.0, 0.03, 0.1, Nanos(second * 1_000_000_000))
            })
        };
        assert_eq!(pass(0, 0), None);
        assert_eq!(pass(300, 20), None, "0.7 %");
        assert_eq!(pass(400, 40), Some(true), "1 %");
    }
}
