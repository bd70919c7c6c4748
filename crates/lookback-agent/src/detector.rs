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
use crate::unmounted::{KEPT, Unmounted};
use crate::watched::Call;
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

impl Fired {
    fn new(place: Place, thread: ThreadKey, c: &Call, at: Nanos, running: bool) -> Fired {
        let (method, rule) = (MethodId(c.method), c.rule as usize);
        Fired { place, thread, method, rule, start: c.start, at, running }
    }
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
            Place::Slab { slab, depth } => region.watched(slab, depth).claim(f.start),
            Place::Virtual { tid } => {
                self.unmounted.claim(tid, f.start)
                    || self
                        .carrying(region, tid)
                        .any(|(slab, depth)| region.watched(slab, depth).claim(f.start))
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
        // Relaxed: only this thread writes it.
        let d = depth.load(Ordering::Relaxed);
        if (d as usize) < slab::WATCH_MAX {
            region.watched(own.index, d).set(&Call { method, rule, start: now, reported: false });
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
            let words = region.watched(own.index, d);
            let call = words.own();
            let rule = call.rule as usize;
            let severity = self.severity(rule, now.since(call.start));
            if severity > ALLOWED && !words.take().reported {
                self.count(rule);
                if self.exceeds_bar(severity) {
                    let (thread, place) = whose(region, own.index, own.key(), d);
                    let _ = self.queue.push(Fired::new(place, thread, &call, now, false));
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
            for d in 0..depth_of(region, i) {
                let Some(call) = region.watched(i, d).get().filter(|c| !c.reported) else { continue };
                let severity = self.severity(call.rule as usize, now.since(call.start));
                if slowest.as_ref().is_none_or(|&(s, _)| severity > s) {
                    let (thread, place) = whose(region, i, slabs.key(region, i), d);
                    slowest = Some((severity, Fired::new(place, thread, &call, now, true)));
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
                same && depth < depth_of(region, index) && region.watched(index, depth).is(f.start)
            }
            // A call that is moved is in both places for a moment, and in one of them else: so who looks into both
            // twice finds it.
            Place::Virtual { tid } => {
                let starts = |(i, d)| region.watched(i, d).is(f.start);
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
                let severity = self.severity(c.rule as usize, now.since(c.start));
                if slowest.is_none_or(|(s, _)| severity > s) {
                    let (thread, place) = (ThreadKey::of_virtual(tid), Place::Virtual { tid });
                    slowest = Some((severity, Fired::new(place, thread, &c, now, true)));
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
                // Of what is nested deeper than the table keeps, only the depth is known.
                region.watched(own.index, d).set(calls.get(d as usize).unwrap_or(&Call::UNKNOWN));
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
        let taken = |d: usize| match u32::try_from(d) {
            Ok(d) if d < depth => region.watched(own.index, d).take(),
            _ => Call::UNKNOWN,
        };
        let calls: [Call; KEPT] = std::array::from_fn(taken);
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
