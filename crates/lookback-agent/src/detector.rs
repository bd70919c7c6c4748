//! The first detector: a watched call that takes longer than its rule allows, also while it still runs.
//!
//! The constraint that shaped it: it runs on the program's threads. So a thread keeps its watched calls in
//! its own slab's cold page (a virtual thread in its carrier's while it is mounted, else see [`crate::unmounted`]),
//! a call that was too slow puts one small fact into a bounded queue, and all that takes time happens on the
//! control thread. It must not lock, allocate or wait.
//!
//! How slow a call is counts in thousandths of its rule's threshold, its severity. During a cool-down only what
//! is far worse than what was reported last is reported again: so a storm of slow calls makes one incident, and
//! a small stall does not hide the great one behind it.

use crate::region::{Loss, Region};
use crate::slab::OwnSlab;
use crate::slab::Slabs;
use crate::unmounted::{Call, Unmounted};
use crossbeam_queue::ArrayQueue;
use lookback_format::region::slab;
use lookback_format::{MethodId, Nanos, ThreadKey};
use lookback_options::SlowRule;
use std::sync::atomic::{AtomicU64, Ordering};

/// A watched call took too long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fired {
    place: Place,
    pub(crate) thread: ThreadKey,
    pub(crate) method: MethodId,
    pub(crate) rule: usize,
    pub(crate) start: Nanos,
    pub(crate) at: Nanos,
    pub(crate) running: bool,
}

/// Where a watched call is kept.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the slab of a platform thread; its place among the thread's watched calls, 0 = outermost.
    Slab { slab: u32, depth: u32 },
    /// In the slab of whichever carrier runs the virtual thread, or in the table of those that are unmounted.
    Virtual { tid: u64 },
}

/// Severity of a call that takes just as long as its rule allows.
const ALLOWED: u64 = 1_000;

/// The rules and what they have found.
pub(crate) struct Detector {
    pub(crate) rules: Vec<SlowRule>,
    /// How many slow calls each rule found, reported or not.
    pub(crate) found: Vec<AtomicU64>,
    /// The severity that a call must exceed to be reported.
    bar: AtomicU64,
    /// Calls that the control thread has not looked at. Whatever does not fit is one of very many.
    queue: ArrayQueue<Fired>,
    unmounted: Unmounted,
}

/// Takes the call at this place of a slab for reporting, if it is still the same.
fn claim_in_slab(region: &Region, slab: u32, depth: u32, f: &Fired) -> bool {
    let w = Watch::of(region, region.slab_at(slab), depth);
    // Relaxed: as in `exit`, whoever swaps first reports it.
    w.start() == f.start.0 && w.fired().swap(f.at.0, Ordering::Relaxed) == 0
}

/// How many watched calls of a slab's thread are kept.
fn depth_of(region: &Region, slab: u32) -> u32 {
    // ORDERING: Acquire; pairs with the Release in `enter` and `mount`.
    let depth = region.u32(region.slab_at(slab) + slab::WATCH_DEPTH).load(Ordering::Acquire);
    depth.min(slab::WATCH_MAX as u32)
}

/// Whose call it is that is watched in this slab, whose thread has the key `own`.
fn whose(region: &Region, slab: u32, own: ThreadKey, depth: u32) -> (ThreadKey, Place) {
    // Relaxed: see `OwnSlab::set_mounted`.
    match region.u64(region.slab_at(slab) + slab::MOUNTED).load(Ordering::Relaxed) {
        0 | slab::UNMOUNTED => (own, Place::Slab { slab, depth }),
        tid => (ThreadKey::of_virtual(tid), Place::Virtual { tid }),
    }
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
        let found = rules.iter().map(|_| AtomicU64::new(0)).collect();
        Detector {
            rules: rules.to_vec(),
            found,
            bar: AtomicU64::new(ALLOWED),
            queue: ArrayQueue::new(64),
            unmounted: Unmounted::new(if rules.is_empty() { 0 } else { Unmounted::CELLS }),
        }
    }

    /// How slow a call is that fell under `rule`; 0 for a rule that is none. Rounded up, so that it is more than
    /// [`ALLOWED`] whenever the call took longer than the threshold.
    fn severity(&self, rule: usize, took: Nanos) -> u64 {
        self.rules.get(rule).map_or(0, |r| took.0.saturating_mul(ALLOWED).div_ceil(r.threshold.max(1)))
    }

    /// Whether a call of this severity is to be reported now.
    fn exceeds_bar(&self, severity: u64) -> bool {
        // Relaxed: a threshold; who sees it late reports a call that is looked at once more before it is written.
        severity > self.bar.load(Ordering::Relaxed)
    }

    /// From now on only calls are reported that are twice as slow as one that took so long.
    pub(crate) fn cool_down(&self, f: &Fired, took: Nanos) {
        self.bar.fetch_max(self.severity(f.rule, took).saturating_mul(2), Ordering::Relaxed);
    }

    /// The cool-down is over: every slow call is reported.
    pub(crate) fn cooled_down(&self) {
        self.bar.store(ALLOWED, Ordering::Relaxed);
    }

    /// The slowest of the calls that are to be reported now, running or ended; the lesser ones that have ended
    /// are forgotten (control thread).
    pub(crate) fn worst(&self, region: &Region, slabs: &Slabs, now: Nanos) -> Option<Fired> {
        let severity = |f: &Fired| self.severity(f.rule, f.at.since(f.start));
        let is_worth = |f: &Fired| self.exceeds_bar(severity(f));
        let ended = std::iter::from_fn(|| self.queue.pop()).filter(is_worth).max_by_key(severity);
        let mounted = self.slowest_running(region, slabs, now);
        let unmounted = self.slowest_unmounted(now);
        let running = mounted.into_iter().chain(unmounted).filter(is_worth).max_by_key(severity);
        match running.filter(|r| ended.as_ref().is_none_or(|e| severity(r) > severity(e))) {
            Some(f) if self.claim(region, &f) => Some(f),
            _ => ended,
        }
    }

    /// Takes a running call for reporting, so that its end does not report it again. Not when it has ended.
    fn claim(&self, region: &Region, f: &Fired) -> bool {
        let ours = match f.place {
            Place::Slab { slab, depth } => claim_in_slab(region, slab, depth, f),
            Place::Virtual { tid } => {
                self.unmounted.claim(tid, f.start)
                    || self.carrying(region, tid).any(|(slab, depth)| claim_in_slab(region, slab, depth, f))
            }
        };
        if ours {
            self.count(f.rule);
        }
        ours
    }

    fn count(&self, rule: usize) {
        // Relaxed: a counter.
        self.found[rule].fetch_add(1, Ordering::Relaxed);
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
            let severity = self.severity(rule, now.since(start));
            // Relaxed: whoever swaps first reports it; nothing else depends on it.
            if severity > ALLOWED && w.fired().swap(now.0, Ordering::Relaxed) == 0 {
                self.count(rule);
                if self.exceeds_bar(severity) {
                    let (thread, place) = whose(region, own.index, own.key(), d);
                    let f = Fired { place, thread, method, rule, start, at: now, running: false };
                    let _ = self.queue.push(f);
                }
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

    /// The slowest watched call that still runs and was not reported.
    fn slowest_running(&self, region: &Region, slabs: &Slabs, now: Nanos) -> Option<Fired> {
        let mut slowest = None;
        for i in 0..slabs.high() {
            // Relaxed: a hint; a call that began just now is not slow yet.
            if region.watching(i).load(Ordering::Relaxed) == 0 || !slabs.is_taken(i) {
                continue;
            }
            let at = region.slab_at(i);
            for d in 0..depth_of(region, i) {
                let w = Watch::of(region, at, d);
                let (method, rule, start) = (MethodId(w.method()), w.rule() as usize, Nanos(w.start()));
                let severity = self.severity(rule, now.since(start));
                let worse = slowest.as_ref().is_none_or(|&(s, _)| severity > s);
                if worse && w.fired().load(Ordering::Relaxed) == 0 && w.start() == start.0 {
                    let (thread, place) = whose(region, i, slabs.key(region, i), d);
                    let f = Fired { place, thread, method, rule, start, at: now, running: true };
                    slowest = Some((severity, f));
                }
            }
        }
        slowest.map(|(_, f)| f)
    }

    /// Whether a watched call that runs now has taken half as long as is too long, or more.
    pub(crate) fn is_half_slow(&self, region: &Region, slabs: &Slabs, now: Nanos) -> bool {
        let mut running =
            self.slowest_running(region, slabs, now).into_iter().chain(self.slowest_unmounted(now));
        running.any(|f| self.severity(f.rule, now.since(f.start)) > ALLOWED / 2)
    }

    /// Whether a call that fired while it ran still does.
    pub(crate) fn still_runs(&self, region: &Region, f: &Fired) -> bool {
        match f.place {
            Place::Slab { slab: index, depth } => {
                let at = region.slab_at(index);
                let same = region.u32(at + slab::KEY).load(Ordering::Relaxed) == f.thread.0;
                same && depth < depth_of(region, index) && Watch::of(region, at, depth).start() == f.start.0
            }
            // A call that is moved is in both places for a moment, and in one of them else: so who looks into both
            // twice finds it.
            Place::Virtual { tid } => {
                let starts = |(i, d)| Watch::of(region, region.slab_at(i), d).start() == f.start.0;
                self.unmounted.has(tid, f.start)
                    || self.carrying(region, tid).any(starts)
                    || self.unmounted.has(tid, f.start)
                    || self.carrying(region, tid).any(starts)
            }
        }
    }

    /// The watched calls, as slab and depth, of carriers that run this virtual thread: of one, or of none.
    fn carrying<'a>(&self, region: &'a Region, tid: u64) -> impl Iterator<Item = (u32, u32)> + 'a {
        // Relaxed: see `OwnSlab::set_mounted`.
        let carries =
            move |i: u32| region.u64(region.slab_at(i) + slab::MOUNTED).load(Ordering::Relaxed) == tid;
        let watching = (0..region.slabs).filter(|&i| region.watching(i).load(Ordering::Relaxed) != 0);
        watching
            .filter(move |&i| carries(i))
            .flat_map(move |i| (0..depth_of(region, i)).map(move |depth| (i, depth)))
    }

    /// The slowest watched call of an unmounted virtual thread that was not reported.
    fn slowest_unmounted(&self, now: Nanos) -> Option<Fired> {
        let mut slowest: Option<(u64, Fired)> = None;
        self.unmounted.due(
            now,
            &|rule| self.rules.get(rule as usize).map_or(0, |r| r.threshold),
            &mut |tid, c| {
                let (method, rule, start) = (MethodId(c.method), c.rule as usize, Nanos(c.start));
                let severity = self.severity(rule, now.since(start));
                if slowest.is_none_or(|(s, _)| severity > s) {
                    let (thread, place) = (ThreadKey::of_virtual(tid), Place::Virtual { tid });
                    let f = Fired { place, thread, method, rule, start, at: now, running: true };
                    slowest = Some((severity, f));
                }
            },
        );
        slowest.map(|(_, f)| f)
    }

    /// The thread, a carrier, begins to run a virtual thread: takes up the watched calls that this had open.
    pub(crate) fn mount(&self, region: &Region, own: &OwnSlab<'_>, tid: u64) {
        Self::forget(region, own);
        let at = region.slab_at(own.index);
        self.unmounted.take(tid, |depth, calls| {
            for d in 0..depth.min(slab::WATCH_MAX as u32) {
                let w = Watch::of(region, at, d);
                // Of what is nested deeper than the table keeps, only the depth is known: as if it were reported.
                let c = calls.get(d as usize).copied().unwrap_or(Call { fired: 1, ..Call::default() });
                w.fired().store(c.fired, Ordering::Relaxed);
                region.u32(w.at).store(c.method, Ordering::Relaxed);
                region.u32(w.at + 4).store(c.rule, Ordering::Relaxed);
                region.u64(w.at + 8).store(c.start, Ordering::Relaxed);
            }
            // ORDERING: Release; as in `enter`.
            region.u32(at + slab::WATCH_DEPTH).store(depth, Ordering::Release);
            region.watching(own.index).store(1, Ordering::Relaxed);
        });
    }

    /// The thread has left the frames of its virtual thread: keeps the watched calls that this has open.
    pub(crate) fn unmount(&self, region: &Region, own: &OwnSlab<'_>) {
        let at = region.slab_at(own.index);
        // Relaxed: only this thread writes it.
        let depth = region.u32(at + slab::WATCH_DEPTH).load(Ordering::Relaxed);
        if depth == 0 {
            return;
        }
        let call = |d: u32| {
            let w = Watch::of(region, at, d);
            let fired = w.fired().load(Ordering::Relaxed);
            Call { method: w.method(), rule: w.rule(), start: w.start(), fired }
        };
        let calls = [0, 1].map(|d| if d < depth { call(d) } else { Call { fired: 1, ..Call::default() } });
        let threshold = |rule: u32| self.rules.get(rule as usize).map_or(0, |r| r.threshold);
        let is_kept = own.carries().is_some_and(|tid| self.unmounted.put(tid, depth, &calls, &threshold));
        if !is_kept {
            region.lose(Loss::Unmounted, u64::from(depth));
        }
        Self::forget(region, own);
    }

    /// Forgets the watched calls of all unmounted virtual threads: tracing was off, so they may have ended.
    pub(crate) fn forget_unmounted(&self) {
        self.unmounted.clear();
    }
}
