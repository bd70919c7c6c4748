//! What recording really costs, and how much of its allowance each thread may spend so that all together keep to the budget.
//!
//! The constraint that shaped it: threads know nothing of each other, so each has an allowance by the clock, which is right for one
//! that has a core for itself: eight that share two cores could spend four times the budget, and methods are dropped only after
//! long (`choice.rs`). So what all spend is looked at several times a second, and all allowances follow it.

/// No thread gets less of its allowance than this: what it does is still seen now and then.
const LEAST: f64 = 1.0 / 32.0;
/// From one look to the next, allowances fall at most to half, since what was spent may have been one burst, and rise by at most
/// a quarter.
const FALL: f64 = 0.5;
const RISE: f64 = 1.25;
/// A look counts for a quarter: what is told is about the last second.
const NEW: f64 = 0.25;

#[derive(Clone, Copy, Debug)]
pub(super) struct Spending {
    /// What records cost that were made, smoothed; a share of the program's processor time.
    cost: f64,
    /// The share of its allowance that each thread may spend.
    allowed: f64,
}

impl Spending {
    pub(super) fn begin() -> Spending {
        Spending { cost: 0.0, allowed: 1.0 }
    }

    /// Since the last look records that the brake holds back have cost `plain` and others `exact`, shares of the program's processor
    /// time. There is such a `room` for the plain ones; none where whatever they cost harms nobody.
    pub(super) fn look(&mut self, plain: f64, exact: f64, room: Option<f64>) {
        self.cost += (plain + exact - self.cost) * NEW;
        let factor = room.map_or(RISE, |room| room / plain.max(1e-9));
        self.allowed = (self.allowed * factor.clamp(FALL, RISE)).clamp(LEAST, 1.0);
    }

    pub(super) fn cost(self) -> f64 {
        self.cost
    }

    pub(super) fn allowed(self) -> f64 {
        self.allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is spent at each of so many looks, when all threads want `wanted` and their whole allowances are `whole`, of 3 %.
    fn spent(spending: &mut Spending, wanted: f64, whole: f64, looks: usize) -> Vec<f64> {
        let look = |_| {
            let cost = wanted.min(whole * spending.allowed());
            spending.look(cost, 0.01, Some(0.03));
            cost
        };
        (0..looks).map(look).collect()
    }

    #[test]
    fn what_many_threads_spend_is_the_budget_within_a_second() {
        let mut spending = Spending::begin();
        // Eight threads on two cores.
        let costs = spent(&mut spending, 0.2, 0.12, 8);
        assert_eq!(costs[..3], [0.12, 0.06, 0.03]);
        assert!(costs[3..].iter().all(|c| (c - 0.03).abs() < 1e-9), "{costs:?}");
        // They would spend twice the budget, each less than its allowance.
        let costs = spent(&mut Spending::begin(), 0.06, 0.24, 8);
        assert!(costs[4..].iter().all(|c| (c - 0.03).abs() < 1e-9), "{costs:?}");
    }

    #[test]
    fn what_is_within_the_budget_has_the_whole_allowance_again_after_seconds() {
        let mut spending = Spending { cost: 0.03, allowed: LEAST };
        let costs = spent(&mut spending, 0.02, 0.03, 16);
        assert_eq!(spending.allowed(), 1.0);
        assert_eq!(costs.last(), Some(&0.02));
    }

    #[test]
    fn what_harms_nobody_is_not_held_back_and_nobody_is_held_back_for_good() {
        let mut spending = Spending { cost: 0.5, allowed: 1.0 };
        spending.look(0.4, 0.1, None);
        assert_eq!(spending.allowed(), 1.0);
        (0..99).for_each(|_| spending.look(0.4, 0.1, Some(0.01)));
        assert_eq!(spending.allowed(), LEAST);
        assert!((spending.cost() - 0.5).abs() < 1e-9);
    }
}
