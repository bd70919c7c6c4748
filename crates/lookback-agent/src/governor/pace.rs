//! How soon classes that have waited come in, and how many at a time.
//!
//! The constraint that shaped it: what a batch takes the VM and the control thread is known once it has come in, and what it takes the
//! compilers only seconds later. HotSpot throws away what calls a method of a rewritten class, hot code as well, though nothing of
//! these classes was compiled: 391 classes of H2 at once had its compilers work for 2.4 s, and 20 at a time for 0 to 0.7 s. So batches
//! begin small, the compilers are watched for a while after each, and the next one waits until all of it is a small share.

use crate::retransform;
use lookback_format::Nanos;

/// Of the program's processor time, that batches may take with all that follows from them; or what harms nobody, `super::HARMLESS`.
const SHARE: f64 = 0.01;
/// How long the compilers are watched, before the first batch and after each: two and a half seconds had H2's at work.
const WATCH: Nanos = Nanos(4_000_000_000);
/// For each second that the compilers are at work, the program runs for about another one what is not compiled again yet: 1.7 s and 1.5 s
/// of H2.
const INTERPRETED: f64 = 2.0;
/// What a batch should take with all that, seconds: nobody notices a quarter, and to ask the VM for less does not pay.
const WORTH: f64 = 0.25;
/// Classes of the first batch, and of the least.
const FEW: usize = 20;

pub(super) struct Pace {
    /// What comes next, and not before when.
    step: Step,
    next: Nanos,
    /// Classes of the next batch.
    most: usize,
}

#[derive(Clone, Copy)]
enum Step {
    /// What the compilers do without a batch begins to be looked at.
    Look,
    /// A batch.
    Come,
    /// A batch has come in: what follows from it.
    Weigh(Batch),
}

/// One that has come in.
#[derive(Clone, Copy)]
struct Batch {
    classes: usize,
    begun: Nanos,
    ended: Nanos,
    /// How many compilers were at work before.
    usual: f64,
}

impl Pace {
    pub(super) fn begin(now: Nanos) -> Pace {
        Pace { step: Step::Look, next: now, most: FEW }
    }

    /// Whether a batch has come in whose cost is not known yet.
    pub(super) fn is_watching(&self) -> bool {
        matches!(self.step, Step::Weigh(_))
    }

    /// Has a batch of at most so many classes come in if it is time, with `come`, which says how many did. Whether some have. The program
    /// takes `cpu` of a core; `at_work` tells how many compilers were, on average, since it was asked last.
    pub(super) fn look(
        &mut self,
        cpu: f64,
        now: impl Fn() -> Nanos,
        mut at_work: impl FnMut(Nanos) -> Option<f64>,
        come: impl FnOnce(usize) -> usize,
    ) -> bool {
        let begun = now();
        if begun < self.next {
            return false;
        }
        let at_work = at_work(begun).unwrap_or_default();
        match self.step {
            Step::Look => (self.step, self.next) = (Step::Come, begun.plus(WATCH.0)),
            Step::Come => {
                let classes = come(self.most);
                if classes > 0 {
                    let ended = now();
                    self.step = Step::Weigh(Batch { classes, begun, ended, usual: at_work });
                    self.next = ended.plus(WATCH.0);
                }
                return classes > 0;
            }
            Step::Weigh(batch) => {
                let compiled = (at_work - batch.usual).max(0.0) * seconds(batch.begun, begun);
                let cost = seconds(batch.begun, batch.ended) + INTERPRETED * compiled;
                self.step = Step::Come;
                self.next = batch.ended.plus((cost / (SHARE * cpu).max(super::HARMLESS) * 1e9) as u64);
                let worth = (batch.classes as f64 * WORTH / cost.max(1e-9)) as usize;
                self.most = worth.clamp(self.most / 2, self.most * 2).clamp(FEW, retransform::BATCH);
            }
        }
        false
    }
}

fn seconds(from: Nanos, to: Nanos) -> f64 {
    to.since(from).0 as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Compilers that are at work for so long for each class, and as long as `usual` says without any. When each batch comes in within so
    /// many seconds, and of how many classes, of a program that takes two cores; a batch itself takes 0.05 s.
    fn batches(usual: f64, for_each: f64, until: f64) -> Vec<(f64, usize)> {
        let (clock, owed, asked) = (Cell::new(0.0), Cell::new(0.0), Cell::new(0.0));
        let mut pace = Pace::begin(Nanos(0));
        let mut came = Vec::new();
        while clock.get() < until {
            let now = || Nanos((clock.get() * 1e9) as u64);
            let at_work = |_| {
                let span = clock.get() - asked.replace(clock.get());
                (span > 0.0).then(|| usual + owed.take() / span)
            };
            let come = |most| {
                came.push((clock.get(), most));
                owed.set(for_each * most as f64);
                clock.set(clock.get() + 0.05);
                most
            };
            pace.look(2.0, now, at_work, come);
            clock.set(clock.get() + 0.25);
        }
        came
    }

    #[test]
    fn what_costs_nothing_but_the_batch_comes_in_faster_and_faster() {
        let batches = batches(0.0, 0.0, 60.0);
        let classes: Vec<usize> = batches.iter().map(|b| b.1).collect();
        assert_eq!(classes[..6], [20, 40, 80, 160, 320, 500]);
        assert!(batches[0].0 >= 4.0 && batches[5].0 < 30.0, "{batches:?}");
    }

    #[test]
    fn what_has_the_compilers_work_comes_in_slowly() {
        for usual in [0.0, 0.5] {
            // 0.4 s for the first, and as much of what is interpreted, of a fiftieth of a second each second.
            let batches = batches(usual, 0.02, 600.0);
            let (times, classes): (Vec<f64>, Vec<usize>) = batches.iter().copied().unzip();
            assert!(classes.iter().all(|&n| n == FEW), "{batches:?}");
            assert!(times.windows(2).all(|t| (42.0..43.5).contains(&(t[1] - t[0]))), "{batches:?}");
        }
    }

    #[test]
    fn a_batch_that_cost_much_is_followed_by_smaller_ones() {
        let mut pace = Pace { step: Step::Come, next: Nanos(0), most: 400 };
        let second = |n: u64| Nanos(n * 1_000_000_000);
        assert!(pace.look(1.0, || second(1), |_| Some(0.1), |most| most) && pace.is_watching());
        assert!(!pace.look(1.0, || second(4), |_| unreachable!("too soon"), |_| unreachable!()));
        assert!(!pace.look(1.0, || second(6), |_| Some(0.6), |_| unreachable!()));
        // Half a compiler for 5 s, twice, a hundredth of one core.
        assert_eq!((pace.most, pace.next, pace.is_watching()), (200, second(501), false));
    }

    #[test]
    fn what_cannot_come_in_yet_is_tried_again_at_once() {
        let mut pace = Pace { step: Step::Come, next: Nanos(0), most: 20 };
        assert!(!pace.look(1.0, || Nanos(5), |_| None, |_| 0) && !pace.is_watching());
        assert!(pace.look(1.0, || Nanos(6), |_| None, |_| 3));
    }
}
