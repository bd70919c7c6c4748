//! How many threads are in an event of the VM right now: an agent that has left forgets nothing before there are none.
//!
//! The constraint that shaped it: a program that hands work from thread to thread has hundred thousands of events a second, on all
//! cores, and one counter for all of them goes from core to core with each. So there are several, and which one a thread takes
//! follows from where its stack is: that needs no thread-local variable.

use std::sync::atomic::{AtomicU32, Ordering};

const COUNTERS: usize = 16;

/// The counters.
pub(crate) struct Inside([Counter; COUNTERS]);

/// In cache lines of its own: processors fetch two at a time.
#[repr(align(128))]
struct Counter(AtomicU32);

/// Counts as one until it is dropped.
pub(crate) struct Counted<'a>(&'a AtomicU32);

impl Inside {
    pub(crate) const fn new() -> Inside {
        Inside([const { Counter(AtomicU32::new(0)) }; COUNTERS])
    }

    /// Counts the current thread.
    pub(crate) fn enter(&self) -> Counted<'_> {
        let here = 0_u8;
        // Stacks are a MiB apart, or a part of that.
        let stack = ((&raw const here).addr() >> 18) as u64;
        let at = stack.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - COUNTERS.ilog2());
        let counter = &self.0[at as usize].0;
        // ORDERING: SeqCst, as is the load in `is_empty`: for who writes something before that, and has it read by those who have
        // entered, SeqCst as well. Either a thread is counted there, or it reads what was written. No weaker ordering keeps a store
        // before a later load. That holds for each counter by itself.
        counter.fetch_add(1, Ordering::SeqCst);
        Counted(counter)
    }

    /// Whether nobody is counted. Who enters meanwhile may be missed.
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: see `enter`; Acquire also pairs with the Release in `Counted::drop`.
        self.0.iter().all(|counter| counter.0.load(Ordering::SeqCst) == 0)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        // ORDERING: Release; pairs with the load in `Inside::is_empty`: what the event has done comes before.
        self.0.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    #[test]
    fn one_that_leaves_on_another_stack_is_not_counted_any_more() {
        let inside = Inside::new();
        assert!(inside.is_empty());
        let counted = inside.enter();
        let other = inside.enter();
        drop(counted);
        assert!(!inside.is_empty());
        thread::scope(|scope| scope.spawn(move || drop(other)).join().unwrap());
        assert!(inside.is_empty());
    }

    #[test]
    fn threads_share_a_counter_seldom() {
        let inside = Inside::new();
        let counter = || std::ptr::from_ref(inside.enter().0).addr();
        thread::scope(|scope| {
            // All at once: else they have the same stack, one after the other.
            let threads: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| (counter(), thread::sleep(std::time::Duration::from_millis(50)))))
                .collect();
            let counters: HashSet<usize> = threads.into_iter().map(|t| t.join().unwrap().0).collect();
            assert!(counters.len() >= 6, "{}", counters.len());
        });
    }

    #[test]
    fn whoever_is_missed_knows_that_it_is_over() {
        for _ in 0..500 {
            let (inside, is_over, late) = (Inside::new(), AtomicBool::new(false), AtomicBool::new(false));
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        loop {
                            let _counted = inside.enter();
                            if is_over.load(Ordering::SeqCst) {
                                break;
                            }
                            // What may not be done any more once it was found to be empty.
                            assert!(!late.load(Ordering::SeqCst));
                        }
                    });
                }
                is_over.store(true, Ordering::SeqCst);
                while !inside.is_empty() {
                    thread::yield_now();
                }
                late.store(true, Ordering::SeqCst);
            });
        }
    }
}
