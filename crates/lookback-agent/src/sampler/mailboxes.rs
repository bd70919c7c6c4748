//! Where threads of the program leave samples of themselves: from a signal's handler, or at a trace point.
//!
//! The constraint that shaped it: a handler may allocate nothing, take no lock and wait for nobody, not even for the
//! thread that it interrupted in the middle of this. So there are boxes of one size; who wants one tries a few, and who finds
//! none counts a loss. A box is its taker's until it is marked as full, and then the sampler's until it is marked as free.
//! `tests/loom.rs` takes this file up and checks it.
//!
//! ```text
//!  FREE --(claim: a thread of the program)--> TAKEN --(Claimed::put)--> FULL --(drain: the sampler)--> FREE
//!                                               \-----(nothing to tell)----------------------------/
//! ```
//! I1: at any moment at most one side touches what is in a box. I2: what either side reads of a box was all written before.

use super::checked::{AtomicU32, AtomicU64, Mutant, Ordering, Shared, weakened};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const FULL: u32 = 2;

/// Boxes that one thread tries.
const TRIES: u32 = 8;

struct Mailbox<T> {
    state: AtomicU32,
    content: Shared<T>,
}

/// The boxes.
pub(super) struct Mailboxes<T> {
    boxes: Box<[Mailbox<T>]>,
    next: AtomicU32,
    lost: AtomicU64,
}

// SAFETY: a box's content is touched by one side at a time (I1), which may be any thread.
unsafe impl<T: Send> Sync for Mailboxes<T> {}

/// A box in the hands of the thread that fills it.
pub(super) struct Claimed<'a, T>(&'a Mailbox<T>);

impl<T> Mailboxes<T> {
    /// So many boxes, with what `empty` makes in them.
    pub(super) fn new(n: usize, empty: impl Fn() -> T) -> Mailboxes<T> {
        let boxes = (0..n).map(|_| Mailbox { state: AtomicU32::new(FREE), content: Shared::new(empty()) });
        Mailboxes { boxes: boxes.collect(), next: AtomicU32::new(0), lost: AtomicU64::new(0) }
    }

    /// A free box; none when the few that were tried are not.
    pub(super) fn claim(&self) -> Option<Claimed<'_, T>> {
        // Relaxed: any number does.
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let n = self.boxes.len() as u32;
        let tried = (0..TRIES.min(n)).map(|i| &self.boxes[(first.wrapping_add(i) % n) as usize]);
        // ORDERING: Acquire on success; pairs with the Release in `drain`, and in `put` where nothing was told: who had the
        // box before is done with it (I1). Failure is Relaxed: nothing is read.
        let acquire = weakened(Mutant::Claim, Ordering::Acquire);
        let take =
            |b: &&Mailbox<T>| b.state.compare_exchange(FREE, TAKEN, acquire, Ordering::Relaxed).is_ok();
        let found = tried.into_iter().find(take).map(Claimed);
        if found.is_none() {
            // Relaxed: a counter.
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        found
    }

    /// Hands over what is in the full boxes, and empties them. One thread does this.
    pub(super) fn drain(&self, mut f: impl FnMut(&T)) {
        for b in &self.boxes {
            // ORDERING: Acquire; pairs with the Release in `Claimed::put` (I2).
            if b.state.load(weakened(Mutant::Drain, Ordering::Acquire)) == FULL {
                // SAFETY: full, so it is the sampler's (I1), of which there is one.
                b.content.with(|content| f(unsafe { &*content }));
                // ORDERING: Release; pairs with the Acquire in `claim`.
                b.state.store(FREE, weakened(Mutant::Free, Ordering::Release));
            }
        }
    }

    /// How many found no box since this was asked last.
    pub(super) fn lost(&self) -> u64 {
        // Relaxed: a counter.
        self.lost.swap(0, Ordering::Relaxed)
    }
}

impl<T> Claimed<'_, T> {
    /// Has `fill` fill the box, and hands it over if that gives true.
    pub(super) fn put(self, fill: impl FnOnce(&mut T) -> bool) {
        // SAFETY: claimed, so it is this thread's alone (I1).
        let is_filled = self.0.content.with_mut(|content| fill(unsafe { &mut *content }));
        // ORDERING: Release; pairs with the Acquire in `drain` (I2), and in `claim` where it is free again.
        let release = weakened(Mutant::Put, Ordering::Release);
        self.0.state.store(if is_filled { FULL } else { FREE }, release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_found_once_and_whole() {
        const THREADS: u32 = 3;
        let mailboxes = Mailboxes::new(4, || (0_u32, Vec::<u64>::new()));
        let mut found = vec![0_u64; THREADS as usize];
        let mut look = || {
            mailboxes.drain(|(thread, numbers)| {
                let n = numbers[0];
                assert!(numbers.len() as u64 == 1 + n % 7 && numbers.iter().all(|&m| m == n));
                found[*thread as usize] += 1;
            });
        };
        let put = |thread: u32| {
            let mut put = 0;
            for n in 0..20_000_u64 {
                let Some(claimed) = mailboxes.claim() else { continue };
                claimed.put(|content| {
                    *content = (thread, vec![n; 1 + n as usize % 7]);
                    n % 5 != 0
                });
                put += u64::from(n % 5 != 0);
            }
            put
        };
        let put: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|t| scope.spawn(move || put(t))).collect();
            while threads.iter().any(|t| !t.is_finished()) {
                look();
            }
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        look();
        assert_eq!(found, put);
        assert!(put.iter().sum::<u64>() + mailboxes.lost() <= 20_000 * u64::from(THREADS));
    }

    #[test]
    fn who_finds_none_is_counted() {
        let mailboxes = Mailboxes::new(1, || ());
        let claimed = mailboxes.claim().unwrap();
        assert!(mailboxes.claim().is_none());
        assert_eq!((mailboxes.lost(), mailboxes.lost()), (1, 0));
        claimed.put(|_| false);
        assert!(mailboxes.claim().is_some());
    }
}
