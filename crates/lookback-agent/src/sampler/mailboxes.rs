//! Where threads of the program leave samples of themselves: from a signal's handler, or at a trace point.
//!
//! The constraint that shaped it: a handler may allocate nothing, take no lock and wait for nobody, not even for the
//! thread that it interrupted in the middle of this. So there are boxes of one size; who wants one tries a few, and who finds none counts
//! a loss. A box is its taker's until it is marked as full, and then the sampler's until it is marked as free.
//!
//! ```text
//!  FREE --(claim: a thread of the program)--> TAKEN --(Claimed::put)--> FULL --(drain: the sampler)--> FREE
//!                                               \-----(dropped)------------------------------------/
//! ```
//! I1: at any moment at most one side touches what is in a box. I2: what the sampler reads of a box was all written before.

use super::collect::MOST_FRAMES;
use lookback_format::Nanos;
use lookback_jvmti::Frame;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const FULL: u32 = 2;

/// Boxes that one thread tries.
const TRIES: u32 = 8;

/// A sample as a thread leaves it.
pub(super) struct Raw {
    /// What names the thread: a slab's index, or the system's number.
    pub(super) thread: u32,
    /// Java's id of the virtual thread that it runs; 0: none.
    pub(super) virtual_tid: u64,
    pub(super) at: Nanos,
    /// How many of the frames are there.
    pub(super) len: usize,
    pub(super) frames: [Frame; MOST_FRAMES],
}

struct Mailbox {
    state: AtomicU32,
    raw: UnsafeCell<Raw>,
}

/// The boxes.
pub(super) struct Mailboxes {
    boxes: Box<[Mailbox]>,
    next: AtomicU32,
    lost: AtomicU64,
}

// SAFETY: a box's content is touched by one side at a time (I1); frames are plain data.
unsafe impl Sync for Mailboxes {}
// SAFETY: as above.
unsafe impl Send for Mailboxes {}

/// A box in the hands of the thread that fills it.
pub(super) struct Claimed<'a>(&'a Mailbox);

impl Mailboxes {
    pub(super) fn new(n: usize) -> Mailboxes {
        let empty = Frame { method: std::ptr::null_mut(), location: 0 };
        let raw = || Raw { thread: 0, virtual_tid: 0, at: Nanos(0), len: 0, frames: [empty; MOST_FRAMES] };
        let boxes = (0..n).map(|_| Mailbox { state: AtomicU32::new(FREE), raw: UnsafeCell::new(raw()) });
        Mailboxes { boxes: boxes.collect(), next: AtomicU32::new(0), lost: AtomicU64::new(0) }
    }

    /// A free box; none when the few that were tried are not.
    pub(super) fn claim(&self) -> Option<Claimed<'_>> {
        // Relaxed: any number does.
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let n = self.boxes.len() as u32;
        let tried = (0..TRIES).map(|i| &self.boxes[(first.wrapping_add(i) % n) as usize]);
        // ORDERING: Acquire on success; pairs with the Release in `drain`: the sampler has read what was in it (I1).
        // Failure is Relaxed: nothing is read.
        let take = |b: &&Mailbox| {
            b.state.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let found = tried.into_iter().find(take).map(Claimed);
        if found.is_none() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        found
    }

    /// Hands over what is in the full boxes, and empties them.
    pub(super) fn drain(&self, mut f: impl FnMut(&Raw)) {
        for b in &self.boxes {
            // ORDERING: Acquire; pairs with the Release in `Claimed::put` (I2).
            if b.state.load(Ordering::Acquire) == FULL {
                // SAFETY: full, so it is the sampler's (I1), of which there is one.
                f(unsafe { &*b.raw.get() });
                // ORDERING: Release; pairs with the Acquire in `claim`.
                b.state.store(FREE, Ordering::Release);
            }
        }
    }

    /// How many found no box since this was asked last.
    pub(super) fn lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }
}

impl Claimed<'_> {
    /// Has `fill` fill the box, and hands it over if that gives true.
    pub(super) fn put(self, fill: impl FnOnce(&mut Raw) -> bool) {
        // SAFETY: claimed, so it is this thread's alone (I1).
        let is_filled = fill(unsafe { &mut *self.0.raw.get() });
        // ORDERING: Release; pairs with the Acquire in `drain` (I2), and in `claim` where it is free again.
        self.0.state.store(if is_filled { FULL } else { FREE }, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_found_once_and_whole() {
        const THREADS: u32 = 3;
        let mailboxes = Mailboxes::new(4);
        let mut found = vec![0_u64; THREADS as usize];
        let mut look = || {
            mailboxes.drain(|raw| {
                assert!(raw.frames[..raw.len].iter().all(|f| f.location as u64 == raw.at.0));
                assert!(raw.len == 1 + raw.at.0 as usize % 7);
                found[raw.thread as usize] += 1;
            });
        };
        let put = |thread: u32| {
            let mut put = 0;
            for n in 0..20_000_u64 {
                let Some(claimed) = mailboxes.claim() else { continue };
                claimed.put(|raw| {
                    (raw.thread, raw.at, raw.len) = (thread, Nanos(n), 1 + n as usize % 7);
                    raw.frames[..raw.len].iter_mut().for_each(|f| f.location = n as i64);
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
        let mailboxes = Mailboxes::new(1);
        let claimed = mailboxes.claim().unwrap();
        assert!(mailboxes.claim().is_none());
        assert_eq!((mailboxes.lost(), mailboxes.lost()), (1, 0));
        claimed.put(|_| false);
        assert!(mailboxes.claim().is_some());
    }
}
