//! A watched call that runs, as three words: in the slab of the thread that runs it, or in the table of those that no carrier
//! runs (`unmounted.rs`).
//!
//! The constraint that shaped it: the thread that ends a call and the control thread may find it too slow at the same
//! moment, and another call may have taken its place since either looked. So its start and whether it was reported stand
//! in one word: one of the two reports it, and nobody takes another call for it. No lock, and for a thread that enters a
//! call nothing but stores.

use lookback_format::Nanos;
use lookback_format::region::slab;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// A watched call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) method: u32,
    pub(crate) rule: u32,
    pub(crate) start: Nanos,
    pub(crate) reported: bool,
}

impl Call {
    /// Nothing is known of it, and it is not to be reported.
    pub(crate) const UNKNOWN: Call = Call { method: 0, rule: 0, start: Nanos(0), reported: true };

    /// Start and whether it was reported, in one word. Times have 63 bits: 292 years.
    fn state(&self) -> u64 {
        self.start.0 << 1 | u64::from(self.reported)
    }
}

/// Where one is kept. Its thread writes it; the control thread reads it, and claims it.
#[repr(C)]
pub(crate) struct Words {
    method: AtomicU32,
    rule: AtomicU32,
    state: AtomicU64,
}

const _: () = assert!(size_of::<Words>() == slab::WATCH_BYTES);

impl Words {
    /// Writes a call over the one that was there (its thread).
    pub(crate) fn set(&self, c: &Call) {
        // ORDERING: no call is here before the words change, and the new one is here after them: pairs with `get`.
        self.state.store(slab::WATCH_NONE, Ordering::Relaxed);
        fence(Ordering::Release);
        self.method.store(c.method, Ordering::Relaxed);
        self.rule.store(c.rule, Ordering::Relaxed);
        // ORDERING: Release; pairs with the Acquire in `get`.
        self.state.store(c.state(), Ordering::Release);
    }

    /// The call; none while there is none, or where another takes its place (any thread).
    pub(crate) fn get(&self) -> Option<Call> {
        // ORDERING: Acquire, and the fence before the second look: what is read between is of this call if both say so.
        let state = self.state.load(Ordering::Acquire);
        let call = self.with(state);
        fence(Ordering::Acquire);
        (state != slab::WATCH_NONE && self.state.load(Ordering::Relaxed) >> 1 == state >> 1).then_some(call)
    }

    /// The call; the control thread may report it meanwhile (its thread).
    pub(crate) fn own(&self) -> Call {
        // Relaxed: its own thread has written it all but the flag.
        self.with(self.state.load(Ordering::Relaxed))
    }

    /// The call, which nobody else reports from now on. It still stands here, as one that was reported (its thread).
    pub(crate) fn take(&self) -> Call {
        // Relaxed: who sets the flag first reports the call, and nothing else depends on it.
        let reported = self.state.fetch_or(1, Ordering::Relaxed) & 1 == 1;
        Call { reported, ..self.own() }
    }

    /// Takes the call that began then for reporting; false when that is done, or it is not here any more (control thread).
    pub(crate) fn claim(&self, start: Nanos) -> bool {
        let [waits, reported] =
            [false, true].map(|reported| Call { start, reported, ..Call::UNKNOWN }.state());
        // Relaxed: as in `take`.
        self.state.compare_exchange(waits, reported, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Whether the call that began then is here.
    pub(crate) fn is(&self, start: Nanos) -> bool {
        // Relaxed: nothing else is read.
        self.state.load(Ordering::Relaxed) >> 1 == start.0
    }

    /// The call, its state being this.
    fn with(&self, state: u64) -> Call {
        // Relaxed: see those who call it.
        Call {
            method: self.method.load(Ordering::Relaxed),
            rule: self.rule.load(Ordering::Relaxed),
            start: Nanos(state >> 1),
            reported: state & 1 == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread enters and leaves calls while the control thread reads and claims them: none is reported twice or not at all, and
    /// what is read is of one call.
    #[test]
    fn each_call_is_reported_once_and_none_for_another() {
        const CALLS: u64 = 1_000_000;
        let words = Words { method: 0.into(), rule: 0.into(), state: slab::WATCH_NONE.into() };
        let done = std::sync::atomic::AtomicBool::new(false);
        let (ended, claimed) = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let mut ended = 0;
                for i in 1..=CALLS {
                    let c = Call { method: i as u32, rule: !i as u32, start: Nanos(i), reported: false };
                    words.set(&c);
                    let taken = words.take();
                    assert_eq!(Call { reported: false, ..taken }, c);
                    assert!(words.is(c.start), "who looks for it in two places finds it");
                    ended += u64::from(!taken.reported);
                }
                done.store(true, Ordering::Relaxed);
                ended
            });
            let mut claimed = 0;
            while !done.load(Ordering::Relaxed) {
                let Some(c) = words.get().filter(|c| !c.reported) else { continue };
                assert_eq!((c.method, c.rule), (c.start.0 as u32, !c.start.0 as u32));
                claimed += u64::from(words.claim(c.start));
            }
            (thread.join().expect("the thread"), claimed)
        });
        assert_eq!(ended + claimed, CALLS);
    }
}
