//! Which methods are dropped and which come back, from how fast they are recorded and what a record costs.
//!
//! The constraint that shaped it: a change has all compiled code thrown away that has to do with a class, and to compile it
//! anew may cost more than the records do in an hour: of javac, two methods cost 20 s of processor time. The brake keeps to
//! the budget in any case. So, once code is compiled, methods are dropped only when tracing would cost more than the whole
//! budget for long; then it goes well below it at once, and the next change waits longer. What could be better is left to the
//! next start (`averages.rs`). It knows no VM: numbers in, methods out.

use super::averages::PLAIN;
use super::sample::{Rate, Sample};
use lookback_format::{MethodId, Nanos};
use rustc_hash::{FxHashMap, FxHashSet};

/// Of the budget: what records may cost after a change; while they cost less than that, methods may come back. The budget is
/// for all: the rest goes to own threads, and to what compilers lose. What is gained by more is little: of Jackson's 1,551
/// methods 10.1 % must go for 3 %, 12.3 % for 1.5 %, 13.5 % for 0.9 %.
pub(super) const LOW: f64 = 0.3;
/// What they may cost before a change, while the program is young and nothing is known of earlier runs.
const HIGH_AT_FIRST: f64 = 0.5;
/// And after it: what is recorded fast then, still interpreted, will be recorded ten times as fast soon, and each further change
/// has compilers begin anew. Methods that were dropped too early come back.
const LOW_AT_FIRST: f64 = 0.1;
const YOUNG: Nanos = Nanos(8_000_000_000);
/// How long tracing may cost twice the budget before methods are dropped, seconds; half as long thrice the budget, and
/// so on.
pub(super) const OVER: f64 = 20.0;
/// What it costs to have a method back, seconds of processor time, most of it the compilers' (0.2 and 1.4 s of Saxon); what may
/// be spent on that, of the program's processor time; and how much of that can be saved, seconds.
const EACH: f64 = 0.5;
const CHANGES: f64 = 0.005;
const SAVED: f64 = 5.0;
/// Nobody decides on fewer records than these a second: they cost nothing, and say little.
const FEWEST_RECORDS: f64 = 10_000.0;
/// From one change to the next: at first, and at most after several in a row.
const SHORTEST: u64 = 250_000_000;
const LONGEST: u64 = 5_000_000_000;
/// After so long without a change, the next one need not wait.
const CALM: u64 = 30_000_000_000;
/// How long a method is dropped at least, times four each time that it was too costly again.
const COOLING: u64 = 60_000_000_000;
/// As often a method counts that an earlier run of the program has found to be too costly: 16 minutes.
const KNOWN: u32 = 3;

/// A change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) drop: Vec<MethodId>,
    pub(crate) restore: Vec<MethodId>,
}

/// A method that is dropped, or was.
#[derive(Clone, Copy, Debug)]
struct Past {
    /// Since when; none when it is traced again.
    since: Option<Nanos>,
    /// How often it was dropped.
    times: u32,
    /// How fast it was recorded then, records a second.
    per_second: f64,
}

/// Decides, with what it remembers of earlier decisions.
pub(crate) struct Chooser {
    /// Share of the program's processor time.
    budget: f64,
    begun: Nanos,
    /// Whether earlier runs have told anything.
    has_learned: bool,
    past: FxHashMap<MethodId, Past>,
    /// What tracing costs, smoothed over about a second; share of the program's processor time.
    cost: f64,
    /// What of it cannot be dropped: waits and watched methods, and what could not be changed just now.
    fixed: f64,
    /// By how many budgets it was above the budget and for how long, budgets times seconds.
    over: f64,
    decided: Nanos,
    changed: Option<Nanos>,
    pause: u64,
    /// What it may cost now to have methods back, seconds of processor time.
    saved: f64,
}

impl Chooser {
    pub(crate) fn new(budget: f64, now: Nanos) -> Chooser {
        Chooser {
            budget,
            begun: now,
            has_learned: false,
            past: FxHashMap::default(),
            cost: 0.0,
            fixed: 0.0,
            over: 0.0,
            decided: now,
            changed: None,
            pause: SHORTEST,
            saved: 0.0,
        }
    }

    /// A method is dropped that was recorded so fast in an earlier run.
    pub(crate) fn recall(&mut self, id: MethodId, per_second: f64, now: Nanos) {
        self.has_learned = true;
        self.past.insert(id, Past { since: Some(now), times: KNOWN, per_second });
    }

    fn remember(&mut self, decision: &Decision, sample: &Sample, now: Nanos) {
        let drop: FxHashSet<MethodId> = decision.drop.iter().copied().collect();
        for rate in sample.methods.iter().filter(|rate| drop.contains(&rate.id)) {
            self.dropped_now(rate.id, rate.per_second, now);
        }
        for id in &decision.restore {
            self.past.entry(*id).and_modify(|p| p.since = None);
        }
    }

    /// A method is dropped that was recorded so fast.
    fn dropped_now(&mut self, id: MethodId, per_second: f64, now: Nanos) {
        let times = self.past.get(&id).map_or(0, |past| past.times) + 1;
        self.past.insert(id, Past { since: Some(now), times, per_second });
    }

    /// A method that was to be dropped is traced as before.
    pub(crate) fn not_dropped(&mut self, id: MethodId) {
        self.past.entry(id).and_modify(|past| (past.since, past.times) = (None, past.times - 1));
    }

    /// A method that was to come back is still dropped.
    pub(crate) fn not_restored(&mut self, id: MethodId, now: Nanos) {
        self.past.entry(id).and_modify(|past| past.since = Some(now));
    }

    /// The share of the program's processor time that it may cost.
    pub(crate) fn budget(&self) -> f64 {
        self.budget
    }

    /// What tracing costs now, a share of the program's processor time.
    pub(crate) fn cost(&self) -> f64 {
        self.cost
    }

    /// What of it cannot be dropped.
    pub(crate) fn fixed(&self) -> f64 {
        self.fixed
    }

    /// Whether a method was never too costly.
    pub(crate) fn never_dropped(&self, id: MethodId) -> bool {
        !self.past.contains_key(&id)
    }

    /// The methods that are dropped, with how fast they were recorded before.
    pub(crate) fn dropped(&self) -> impl Iterator<Item = (MethodId, f64)> + '_ {
        self.past.iter().filter(|(_, p)| p.since.is_some()).map(|(id, p)| (*id, p.per_second))
    }

    /// Decides on what was recorded. `record` is what one costs, nanoseconds; `cpu` what the program takes, seconds of
    /// processor time a second.
    pub(crate) fn decide(&mut self, sample: &Sample, record: f64, cpu: f64, now: Nanos) -> Option<Decision> {
        let share = |per_second: f64| per_second * record / 1e9 / cpu.max(1e-3);
        let cost = share(sample.per_second);
        let droppable = share(sample.methods.iter().map(|rate| rate.per_second).sum());
        let fixed = cost - droppable;
        // About the last second: a decision on a moment would be one on noise.
        let is_new = self.changed.is_some_and(|at| now.since(at) < Nanos(1_000_000_000));
        let newest = if is_new || cost > 2.0 * self.cost { 1.0 } else { 0.25 };
        self.cost += (cost - self.cost) * newest;
        self.fixed += (fixed - self.fixed) * newest;
        // It is asked several times a second, unless tracing was off.
        let span = (now.since(self.decided).0 as f64 / 1e9).min(1.0);
        self.decided = now;
        self.over = (self.over + (cost / self.budget - 1.0) * span).max(0.0);
        self.saved = (self.saved + CHANGES * cpu * span).min(SAVED);
        if !self.may_change(now) {
            return None;
        }
        let is_young = self.is_young(now);
        let is_dear = if is_young { self.cost > HIGH_AT_FIRST * self.budget } else { self.over > OVER };
        let decision = if is_dear && sample.per_second > FEWEST_RECORDS {
            let low = if is_young { LOW_AT_FIRST } else { LOW };
            Self::costliest(sample, share, droppable, self.room(low, fixed))
        } else {
            self.cooled(share, now)
        };
        let price = EACH * decision.restore.len() as f64;
        if decision == Decision::default() || self.saved < price {
            return None;
        }
        self.saved -= price;
        self.over = 0.0;
        self.remember(&decision, sample, now);
        let calm = self.changed.is_none_or(|at| now.since(at).0 >= CALM);
        self.pause = if calm { SHORTEST } else { (self.pause * 2).min(LONGEST) };
        self.changed = Some(now);
        Some(decision)
    }

    fn may_change(&self, now: Nanos) -> bool {
        self.changed.is_none_or(|at| now.since(at).0 >= self.pause)
    }

    /// Nothing was compiled for long, and what is hot is not known yet.
    fn is_young(&self, now: Nanos) -> bool {
        now.since(self.begun) < YOUNG && !self.has_learned
    }

    /// What methods may cost that can be dropped, where all may cost this share of the budget and `fixed` is what cannot be
    /// dropped. That may cost more alone: to be without what costs nothing beside it would save nothing.
    fn room(&self, all: f64, fixed: f64) -> f64 {
        (all * self.budget - fixed).max(all.min(LOW_AT_FIRST) * self.budget)
    }

    /// The costliest of the methods, which cost `left` together, until the rest costs no more than `enough`.
    fn costliest(sample: &Sample, share: impl Fn(f64) -> f64, mut left: f64, enough: f64) -> Decision {
        let mut methods: Vec<&Rate> = sample.methods.iter().collect();
        // Of two that cost the same, a leaf tells less: its time is its caller's.
        let weight = |rate: &Rate| rate.per_second * (0.5 + 0.5 * rate.leaf);
        methods.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        let mut dropped = Vec::new();
        for rate in methods {
            if left <= enough {
                break;
            }
            left -= share(rate.per_second);
            dropped.push(rate.id);
        }
        Decision { drop: dropped, restore: Vec::new() }
    }

    /// Methods that have cooled for long enough, the least costly first, as far as there is room for what they cost before;
    /// one that would not fit has its turn after four times as long, for it may have become cold. What is known to be too costly
    /// comes back only as far as a start would trace it: else a program that runs for days would cost what it did before
    /// anything was learned.
    fn cooled(&self, share: impl Fn(f64) -> f64, now: Nanos) -> Decision {
        let cooled = |p: &Past, factor: u64| {
            let least = COOLING
                .saturating_mul(4_u64.saturating_pow(p.times.saturating_sub(1)))
                .saturating_mul(factor);
            p.since.is_some_and(|at| now.since(at).0 >= least)
        };
        let mut all = self.cost - self.fixed;
        if self.cost >= self.budget || all >= self.room(LOW, self.fixed) {
            return Decision::default();
        }
        // What comes back may take more than the rest may cost before.
        let share_of = |p: &Past| if p.times < KNOWN { (LOW + HIGH_AT_FIRST) / 2.0 } else { PLAIN };
        let room = |p: &Past| self.room(share_of(p), self.fixed);
        let may_come = |p: &Past| cooled(p, 1) && all < room(p);
        let mut candidates: Vec<(MethodId, Past)> =
            self.past.iter().filter(|(_, p)| may_come(p)).map(|(id, p)| (*id, *p)).collect();
        candidates.sort_by(|a, b| a.1.per_second.total_cmp(&b.1.per_second));
        let most = (self.saved / EACH) as usize;
        let mut restore = Vec::new();
        for (id, past) in candidates {
            if restore.len() == most {
                break;
            }
            let cost = share(past.per_second);
            if all + cost <= room(&past) {
                all += cost;
            } else if !cooled(&past, 4) {
                continue;
            }
            restore.push(id);
        }
        Decision { drop: Vec::new(), restore }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// So long after the program was young.
    fn at(seconds: u64) -> Nanos {
        Nanos(YOUNG.0 + seconds * SECOND)
    }

    /// A program with these methods, millions of records a second of each, none of which is a leaf.
    fn sample(rates: &[(u32, f64)]) -> Sample {
        let methods: Vec<Rate> = rates
            .iter()
            .map(|&(id, millions)| Rate { id: MethodId(id), per_second: millions * 1e6, leaf: 0.0 })
            .collect();
        let per_second = methods.iter().map(|r| r.per_second).sum();
        Sample { per_second, plain: per_second, held_back: 0.0, methods }
    }

    /// Decides each second from this one on, until there is something to be done; the second, and what.
    fn until(c: &mut Chooser, s: &Sample, from: u64) -> (u64, Decision) {
        let decided = (from..from + 9_000).find_map(|t| c.decide(s, 1.0, 1.0, at(t)).map(|d| (t, d)));
        decided.expect("a decision")
    }

    fn ids(list: &[u32]) -> Vec<MethodId> {
        list.iter().copied().map(MethodId).collect()
    }

    #[test]
    fn the_hottest_go_first_and_no_more_than_needed() {
        let mut c = Chooser::new(0.03, Nanos(0));
        // 1 ns a record, one core: 100 million a second are 10 %.
        let (_, d) = until(&mut c, &sample(&[(1, 4.5), (2, 80.0), (3, 9.0), (4, 4.0)]), 1);
        assert_eq!(d.drop, ids(&[2, 3]), "leaves 0.85 % of 0.9 %");
        assert!(d.restore.is_empty());
        assert!((c.cost() - 0.0975).abs() < 1e-9);
    }

    #[test]
    fn while_the_program_is_young_more_go_at_once() {
        let young = Nanos(YOUNG.0 - 1);
        let methods = [(1, 4.5), (2, 80.0), (3, 9.0), (4, 4.0), (5, 1.0)];
        let d = Chooser::new(0.03, Nanos(0)).decide(&sample(&methods), 1.0, 1.0, young).unwrap();
        assert_eq!(d.drop, ids(&[2, 3, 1, 4]), "leaves 0.1 % of 0.3 %");
    }

    #[test]
    fn a_leaf_goes_before_what_costs_the_same() {
        let mut c = Chooser::new(0.03, Nanos(0));
        let mut s = sample(&[(1, 20.0), (2, 20.0)]);
        s.methods[1].leaf = 1.0;
        s.per_second = 28e6;
        assert_eq!(c.decide(&s, 1.0, 1.0, Nanos(SECOND)).unwrap().drop, ids(&[2, 1]));
    }

    #[test]
    fn what_costs_nothing_beside_waits_stays() {
        // Waits take twice the budget.
        let waiting = |methods| Sample { per_second: 60e6, ..sample(methods) };
        let seldom = waiting(&[(1, 0.001), (2, 1.0), (3, 1.9)]);
        let mut c = Chooser::new(0.03, Nanos(0));
        let young = (1..30).find_map(|quarter| c.decide(&seldom, 1.0, 1.0, Nanos(quarter * SECOND / 4)));
        assert_eq!((young, c.dropped().count()), (None, 0));
        assert_eq!((1..900).find_map(|s| c.decide(&seldom, 1.0, 1.0, at(s))), None);
        let (_, d) = until(&mut c, &waiting(&[(1, 0.001), (2, 1.0), (3, 9.0)]), 900);
        assert_eq!(d.drop, ids(&[3]));
    }

    #[test]
    fn within_the_budget_nothing_changes_and_two_cores_have_twice_the_room() {
        let mut c = Chooser::new(0.03, Nanos(0));
        assert_eq!(c.decide(&sample(&[(1, 14.0)]), 1.0, 1.0, at(1)), None);
        assert_eq!(c.decide(&sample(&[(1, 28.0)]), 1.0, 2.0, at(9)), None);
        assert!((20..40).any(|t| c.decide(&sample(&[(1, 160.0)]), 1.0, 2.0, at(t)).is_some()));
    }

    #[test]
    fn the_more_it_costs_the_sooner_methods_are_dropped_and_never_within_the_budget() {
        let when = |millions: f64| until(&mut Chooser::new(0.03, Nanos(0)), &sample(&[(1, millions)]), 1).0;
        assert_eq!((when(60.0), when(90.0), when(320.0), when(3_000.0)), (21, 11, 3, 1));
        let mut c = Chooser::new(0.03, Nanos(0));
        let never = (1..9_000).find_map(|s| c.decide(&sample(&[(1, 29.0)]), 1.0, 1.0, at(s)));
        assert_eq!(never, None);
        // Now and then above it, and as often below.
        let by_turns = |s: u64| if s.is_multiple_of(4) { 75.0 } else { 10.0 };
        let never = (1..9_000).find_map(|s| c.decide(&sample(&[(1, by_turns(s))]), 1.0, 1.0, at(s)));
        assert_eq!(never, None);
    }

    #[test]
    fn what_is_known_of_earlier_runs_makes_no_program_young() {
        let warm = sample(&[(1, 20.0)]);
        assert!(Chooser::new(0.03, Nanos(0)).decide(&warm, 1.0, 1.0, Nanos(SECOND)).is_some());
        let mut c = Chooser::new(0.03, Nanos(0));
        c.recall(MethodId(9), 1.0, Nanos(0));
        assert_eq!(c.decide(&warm, 1.0, 1.0, Nanos(SECOND)), None);
    }

    #[test]
    fn changes_in_a_row_wait_longer_and_after_calm_no_more() {
        let mut c = Chooser::new(0.03, Nanos(0));
        let mut changes = Vec::new();
        // A new hot method at each quarter of a second, as long as the program is young.
        for quarter in 0..31_u32 {
            let now = Nanos(u64::from(quarter + 1) * SECOND / 4);
            if c.decide(&sample(&[(quarter + 1, 100.0)]), 1.0, 1.0, now).is_some() {
                changes.push(quarter);
            }
        }
        assert_eq!(changes, [0, 1, 3, 7, 15]);
        until(&mut c, &sample(&[(900, 1_000.0)]), 70);
        assert_eq!(c.pause, SHORTEST);
    }

    #[test]
    fn what_cools_comes_back_as_far_as_there_is_room() {
        let mut c = Chooser::new(0.03, Nanos(0));
        let (dropped, _) = until(&mut c, &sample(&[(1, 90.0), (2, 10.0), (3, 8.0)]), 1);
        assert_eq!(c.dropped().count(), 2);
        let quiet = sample(&[(3, 1.0)]);
        let (second, d) = until(&mut c, &quiet, dropped + 1);
        assert_eq!((second - dropped, d.restore), (92, ids(&[2])), "the other one would not fit");
        let (second, d) = until(&mut c, &quiet, second + 1);
        assert_eq!((second - dropped, d.restore), (240, ids(&[1])), "it may have become cold");
        assert_eq!(c.dropped().count(), 0);
    }

    #[test]
    fn what_cools_comes_back_although_waits_cost_more_than_methods_may() {
        let mut c = Chooser::new(0.03, Nanos(0));
        let waits = |millions: f64, methods| {
            let s = sample(methods);
            Sample { per_second: s.per_second + millions * 1e6, ..s }
        };
        // They cost half of the budget, and methods beside them may cost a tenth.
        let (dropped, d) = until(&mut c, &waits(15.0, &[(1, 90.0), (2, 2.4), (3, 2.0)]), 1);
        assert_eq!(d.drop, ids(&[1, 2]));
        let quiet = waits(15.0, &[(3, 0.5)]);
        let (second, d) = until(&mut c, &quiet, dropped + 1);
        assert_eq!((second - dropped, d.restore), (92, ids(&[2])), "the other one would not fit");
        let above = (second + 1..9_000).find_map(|s| c.decide(&waits(31.0, &[(3, 0.5)]), 1.0, 1.0, at(s)));
        assert_eq!(above, None, "nothing comes back above the budget");
    }

    #[test]
    fn what_an_earlier_run_has_found_comes_back_late() {
        let mut c = Chooser::new(0.03, at(0));
        c.recall(MethodId(1), 1e5, at(0));
        c.recall(MethodId(2), 3e5, at(0));
        // 0.01 % of the 0.03 % that a start may cost.
        let calm = sample(&[(3, 0.1)]);
        let (second, d) = until(&mut c, &calm, 1);
        assert_eq!((second, d.restore), (960, ids(&[1])));
        let (second, d) = until(&mut c, &calm, second + 1);
        assert_eq!((second, d.restore), (3_840, ids(&[2])), "it would not fit, and may have become cold");
    }

    #[test]
    fn what_an_earlier_run_has_found_stays_away_while_the_rest_costs_what_a_start_may() {
        let mut c = Chooser::new(0.03, at(0));
        c.recall(MethodId(1), 1.0, at(0));
        // 0.1 %: far within the budget.
        let busy = sample(&[(2, 1.0)]);
        assert_eq!((1..9_000).find_map(|s| c.decide(&busy, 1.0, 1.0, at(s))), None);
    }

    #[test]
    fn what_could_not_be_changed_is_as_it_was() {
        let mut c = Chooser::new(0.03, Nanos(0));
        let hot = sample(&[(1, 100.0)]);
        let (second, d) = until(&mut c, &hot, 1);
        assert_eq!(d.drop, ids(&[1]));
        c.not_dropped(MethodId(1));
        assert_eq!(c.dropped().count(), 0);
        let (second, d) = until(&mut c, &hot, second + 1);
        assert_eq!(d.drop, ids(&[1]), "it is tried again");
        let quiet = sample(&[(2, 1.0)]);
        let (first, d) = until(&mut c, &quiet, second + 1);
        assert_eq!(d.restore, ids(&[1]));
        c.not_restored(MethodId(1), at(first));
        assert_eq!(c.dropped().count(), 1);
        assert_eq!(until(&mut c, &quiet, first).1.restore, ids(&[1]));
    }

    #[test]
    fn what_is_too_hot_again_stays_away_longer() {
        let mut c = Chooser::new(0.03, Nanos(0));
        let (hot, quiet) = (sample(&[(1, 100.0)]), sample(&[(2, 1.0)]));
        let (dropped, _) = until(&mut c, &hot, 1);
        let back: Vec<u64> = (dropped + 1..2_000)
            .filter(|&s| {
                let traced = c.dropped().count() == 0;
                let sample = if traced { &hot } else { &quiet };
                c.decide(sample, 1.0, 1.0, at(s)).is_some_and(|d| !d.restore.is_empty())
            })
            .collect();
        assert_eq!(back.len(), 2, "{back:?}");
        assert!(back[1] - back[0] >= 960, "{back:?}");
    }
}
