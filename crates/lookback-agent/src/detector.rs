//! The first detector: a watched call that takes longer than its rule allows, also while it still runs.
//!
//! The constraint that shaped it: it runs on the program's threads. So a thread keeps its watched calls in
//! its own slab's cold page, a call that was too slow puts one small fact into a bounded queue, and all that
//! takes time happens on the control thread. It must not lock, allocate or wait.

use crate::region::{Loss, Region};
use crate::slab::OwnSlab;
use crate::slab::Slabs;
use crossbeam_queue::ArrayQueue;
use lookback_format::region::slab;
use lookback_format::{MethodId, Nanos, ThreadKey};
use lookback_options::SlowRule;
use std::sync::atomic::{AtomicU64, Ordering};

/// A watched call took too long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fired {
    pub(crate) slab: u32,
    /// Its place among the thread's watched calls, 0 = outermost.
    pub(crate) depth: u32,
    pub(crate) thread: ThreadKey,
    pub(crate) method: MethodId,
    pub(crate) rule: usize,
    pub(crate) start: Nanos,
    pub(crate) at: Nanos,
    pub(crate) running: bool,
}

/// The rules and what they have found.
pub(crate) struct Detector {
    pub(crate) rules: Vec<SlowRule>,
    /// How often each rule found a call.
    pub(crate) fired: Vec<AtomicU64>,
    /// Calls that the control thread has not looked at. Whatever does not fit is one of very many.
    pub(crate) queue: ArrayQueue<Fired>,
}

/// The words of one watched call in a slab.
struct Watch<'a> {
    region: &'a Region,
    at: usize,
}

impl Watch<'_> {
    fn of(region: &Region, slab_at: usize, depth: u32) -> Watch<'_> {
        Watch { region, at: slab_at + slab::WATCHES + depth as usize * slab::WATCH_BYTES }
    }

    // Relaxed in all of these: the words belong to the thread; the control thread's look is checked by the
    // start time, which it reads before and after.
    fn method(&self) -> u32 {
        self.region.u32(self.at).load(Ordering::Relaxed)
    }

    fn rule(&self) -> u32 {
        self.region.u32(self.at + 4).load(Ordering::Relaxed)
    }

    fn start(&self) -> u64 {
        self.region.u64(self.at + 8).load(Ordering::Relaxed)
    }

    fn fired(&self) -> &AtomicU64 {
        self.region.u64(self.at + 16)
    }
}

impl Detector {
    pub(crate) fn new(rules: &[SlowRule]) -> Self {
        let fired = rules.iter().map(|_| AtomicU64::new(0)).collect();
        Detector { rules: rules.to_vec(), fired, queue: ArrayQueue::new(64) }
    }

    /// The rule that a method falls under.
    pub(crate) fn rule_of(&self, class: &str, method: &str, annotations: &[&str]) -> Option<u16> {
        let hit = self.rules.iter().position(|r| r.pattern.matches(class, method, annotations));
        hit.and_then(|i| u16::try_from(i).ok())
    }

    /// The thread enters a watched call.
    pub(crate) fn enter(&self, region: &Region, own: &OwnSlab<'_>, method: u32, rule: u32, now: Nanos) {
        let at = region.slab_at(own.index);
        let depth = region.u32(at + slab::WATCH_DEPTH);
        // Relaxed: see `Watch`.
        let d = depth.load(Ordering::Relaxed);
        if (d as usize) < slab::WATCH_MAX {
            let w = Watch::of(region, at, d);
            w.fired().store(0, Ordering::Relaxed);
            region.u32(w.at).store(method, Ordering::Relaxed);
            region.u32(w.at + 4).store(rule, Ordering::Relaxed);
            region.u64(w.at + 8).store(now.0, Ordering::Relaxed);
        } else {
            region.lose(Loss::WatchDepth, 1);
        }
        // ORDERING: Release; pairs with the Acquire in `look`: who sees the depth sees the call's words.
        depth.store(d + 1, Ordering::Release);
        region.watching(own.index).store(1, Ordering::Relaxed);
    }

    /// The thread leaves a watched call.
    pub(crate) fn exit(&self, region: &Region, own: &OwnSlab<'_>, now: Nanos) {
        let at = region.slab_at(own.index);
        let depth = region.u32(at + slab::WATCH_DEPTH);
        // Relaxed: only this thread writes it.
        let Some(d) = depth.load(Ordering::Relaxed).checked_sub(1) else {
            return; // entered before tracing was on
        };
        if (d as usize) < slab::WATCH_MAX {
            let w = Watch::of(region, at, d);
            let (method, rule, start) = (MethodId(w.method()), w.rule() as usize, Nanos(w.start()));
            let slow = self.rules.get(rule).is_some_and(|r| now.since(start).0 > r.threshold);
            // Relaxed: whoever swaps first reports it; nothing else depends on it.
            if slow && w.fired().swap(now.0, Ordering::Relaxed) == 0 {
                let thread = own.key();
                let slab = own.index;
                self.report(Fired { slab, depth: d, thread, method, rule, start, at: now, running: false });
            }
        }
        // Relaxed: the words above are not reused before a later Release store of the depth.
        depth.store(d, Ordering::Relaxed);
        if d == 0 {
            region.watching(own.index).store(0, Ordering::Relaxed);
        }
    }

    /// Forgets the thread's watched calls: it will not be seen to leave them.
    pub(crate) fn forget(region: &Region, own: &OwnSlab<'_>) {
        // Relaxed: as in `exit`.
        region.u32(region.slab_at(own.index) + slab::WATCH_DEPTH).store(0, Ordering::Relaxed);
        region.watching(own.index).store(0, Ordering::Relaxed);
    }

    /// Looks for watched calls that still run and have taken too long (control thread).
    pub(crate) fn look(&self, region: &Region, slabs: &Slabs, now: Nanos) {
        for i in 0..slabs.high() {
            // Relaxed: a hint; a call that began just now is not slow yet.
            if region.watching(i).load(Ordering::Relaxed) == 0 || !slabs.is_taken(i) {
                continue;
            }
            let at = region.slab_at(i);
            // ORDERING: Acquire; pairs with the Release in `enter`.
            let depth = region.u32(at + slab::WATCH_DEPTH).load(Ordering::Acquire);
            for d in 0..depth.min(slab::WATCH_MAX as u32) {
                let w = Watch::of(region, at, d);
                let (method, rule, start) = (MethodId(w.method()), w.rule() as usize, Nanos(w.start()));
                let slow = self.rules.get(rule).is_some_and(|r| now.since(start).0 > r.threshold);
                if slow && w.fired().load(Ordering::Relaxed) == 0 && w.start() == start.0 {
                    w.fired().store(now.0, Ordering::Relaxed);
                    // Relaxed: written before the thread had the slab.
                    let thread = ThreadKey(region.u32(at + slab::KEY).load(Ordering::Relaxed));
                    self.report(Fired {
                        slab: i,
                        depth: d,
                        thread,
                        method,
                        rule,
                        start,
                        at: now,
                        running: true,
                    });
                }
            }
        }
    }

    /// Whether a call that fired while it ran still does.
    pub(crate) fn still_runs(&self, region: &Region, f: &Fired) -> bool {
        let at = region.slab_at(f.slab);
        // ORDERING: Acquire; as in `look`.
        let depth = region.u32(at + slab::WATCH_DEPTH).load(Ordering::Acquire);
        let same = region.u32(at + slab::KEY).load(Ordering::Relaxed) == f.thread.0;
        same && depth > f.depth && Watch::of(region, at, f.depth).start() == f.start.0
    }

    fn report(&self, f: Fired) {
        // Relaxed: a counter.
        self.fired[f.rule].fetch_add(1, Ordering::Relaxed);
        let _ = self.queue.push(f);
    }
}
