//! Which classes of libraries wait for their trace points at a program's first start, and when they get them.
//!
//! The constraint that shaped it: what a first start pays, it pays for code of which nothing is known yet. It is compiled with
//! trace points, found to be hot, and compiled anew: processor time of the first 30 s +53 % in the geometric mean of eight
//! programs, where waits alone cost 1 % (docs/BUDGET.md, "The first start"). But what the compilers have left alone can be
//! rewritten for next to nothing, and later what is only warm. So all but the program's own code waits, comes in later as far as it
//! is not hot, and what is hot by then has no trace points at the next start either.

use rustc_hash::FxHashSet;
use std::sync::{Mutex, MutexGuard};

/// So many methods of the program's own have trace points from the first start on. Beyond that, what is its own waits as well:
/// some programs are all their own.
const OWN: usize = 1_000;
/// What is loaded beyond so many waiting classes waits for the next start.
const MOST: usize = 50_000;

/// The classes, by hashes of their names.
pub(crate) struct Waiting {
    inner: Option<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    waiting: FxHashSet<u64>,
    /// Those that have waited.
    come: FxHashSet<u64>,
    /// Those of the program's own that need not wait, and how many methods they have.
    own: FxHashSet<u64>,
    own_methods: usize,
    /// Those that may have trace points now.
    ready: Vec<u64>,
}

impl Waiting {
    /// At a first start classes wait; at all others, none.
    pub(crate) fn new(is_first: bool) -> Waiting {
        Waiting { inner: is_first.then(Mutex::default) }
    }

    fn lock(&self) -> Option<MutexGuard<'_, Inner>> {
        self.inner.as_ref().map(|inner| inner.lock().unwrap_or_else(|e| e.into_inner()))
    }

    /// Whether classes wait at all.
    pub(crate) fn is_on(&self) -> bool {
        self.inner.is_some()
    }

    /// Whether a class is to wait.
    pub(crate) fn holds(&self, class: u64, is_own: impl FnOnce() -> bool) -> bool {
        let Some(mut inner) = self.lock() else { return false };
        if inner.come.contains(&class) || inner.own.contains(&class) {
            return false;
        }
        let goes_first = inner.own_methods < OWN && is_own();
        if goes_first {
            inner.own.insert(class);
        }
        !goes_first
    }

    /// A class has got trace points in so many methods.
    pub(crate) fn count(&self, class: u64, methods: usize) {
        if let Some(mut inner) = self.lock()
            && inner.own.contains(&class)
        {
            inner.own_methods += methods;
        }
    }

    /// A class waits.
    pub(crate) fn add(&self, class: u64) {
        if let Some(mut inner) = self.lock()
            && inner.waiting.len() < MOST
        {
            inner.waiting.insert(class);
        }
    }

    /// How many classes wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().map_or(0, |inner| inner.waiting.len())
    }

    /// Whether a class waits.
    pub(crate) fn has(&self, class: u64) -> bool {
        self.lock().is_some_and(|inner| inner.waiting.contains(&class))
    }

    /// Lets all classes come in but those that must go on waiting.
    pub(crate) fn sort(&self, goes_on: impl Fn(u64) -> bool) {
        if let Some(mut inner) = self.lock() {
            inner.ready = inner.waiting.iter().copied().filter(|&class| !goes_on(class)).collect();
        }
    }

    /// Whether some may come in.
    pub(crate) fn has_ready(&self) -> bool {
        self.lock().is_some_and(|inner| !inner.ready.is_empty())
    }

    /// As many as `most` of those that may come in, which wait no more. Those that run now wait until the compilers are asked again.
    pub(crate) fn take(&self, most: usize, runs: impl Fn(u64) -> bool) -> FxHashSet<u64> {
        let Some(mut inner) = self.lock() else { return FxHashSet::default() };
        let left = inner.ready.len().saturating_sub(most);
        let taken: FxHashSet<u64> =
            inner.ready.split_off(left).into_iter().filter(|&class| !runs(class)).collect();
        for class in &taken {
            inner.waiting.remove(class);
            inner.come.insert(*class);
        }
        taken
    }

    /// Lets go of everything; nothing waits any more, or comes in.
    pub(crate) fn forget(&self) {
        if let Some(mut inner) = self.lock() {
            *inner = Inner::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_the_programs_own_waits_until_it_is_known_to_be_cold() {
        let waiting = Waiting::new(true);
        assert!(!waiting.holds(1, || true), "the program's own");
        for class in [2, 3, 4] {
            assert!(waiting.holds(class, || false));
            waiting.add(class);
        }
        assert!(waiting.has(2) && !waiting.has(1));
        let take = |most| waiting.take(most, |_| false);
        assert_eq!((waiting.len(), take(9).len()), (3, 0), "nothing is known yet");
        waiting.sort(|class| class == 3);
        let first = take(1);
        assert_eq!((first.len(), waiting.len()), (1, 2));
        let both: FxHashSet<u64> = take(9).union(&first).copied().collect();
        assert_eq!((both, take(9)), ([2, 4].into_iter().collect(), FxHashSet::default()));
        assert!(!waiting.holds(2, || false) && waiting.holds(3, || false));
        waiting.sort(|_| false);
        assert_eq!(waiting.take(9, |class| class == 3).len(), 0, "it runs");
        waiting.sort(|_| false);
        assert_eq!(take(9), [3].into_iter().collect(), "it has cooled down");
    }

    #[test]
    fn a_program_that_is_all_its_own_waits_as_well() {
        let waiting = Waiting::new(true);
        assert!(!waiting.holds(1, || true));
        waiting.count(1, OWN);
        assert!(!waiting.holds(1, || true), "it is rewritten anew, and was not to wait");
        assert!(waiting.holds(2, || true));
    }

    #[test]
    fn at_a_later_start_nothing_waits() {
        let waiting = Waiting::new(false);
        assert!(!waiting.holds(1, || false));
        waiting.add(1);
        waiting.sort(|_| false);
        assert!(waiting.len() == 0 && !waiting.has_ready());
    }
}
