//! Who held the monitor that a thread waited for, and what it did meanwhile.
//!
//! The constraint that shaped it: the VM names a monitor's owner only while somebody waits for it, so when
//! the wait was over before the recording was written the owner is inferred from the slices. The evidence is
//! part of the answer, and the words of the report follow it: a guess is never told as a fact.

use crate::chain::Chain;
use crate::waits::LongestWait;
use crate::{Flags, Recording, SliceIndex, SliceRef};
use lookback_format::symbol::Wait;
use lookback_format::{MethodId, Nanos};
use std::collections::HashSet;

/// How the holder is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// The VM named the monitor's owner when the recording was written, and the wait still lasted.
    Owner,
    /// Its thread ran in a method of the lock's class, or in the method that waited, for most of the wait.
    SameCode,
    /// A call of its thread covered most of the wait and ended just when the wait did.
    EndedTogether,
}

/// The thread that held a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Position of its thread.
    pub thread: usize,
    /// How it is known.
    pub evidence: Evidence,
    /// From when to when it held the monitor, as far as is known and within the wait.
    pub held: (Nanos, Nanos),
    /// Whether records of the holder are missing during the wait, so that it may have held it for longer.
    pub partly: bool,
    /// What it did then; empty when its slices do not show it.
    pub chain: Chain,
    /// How many further threads held the monitor in turn during the wait.
    pub others: usize,
    /// How many further threads waited for the same monitor during the wait.
    pub queue: usize,
}

struct Candidate {
    thread: usize,
    slice: SliceIndex,
    held: (Nanos, Nanos),
}

impl Candidate {
    fn time(&self) -> Nanos {
        self.held.1.since(self.held.0)
    }
}

impl Holder {
    /// Who held the monitor of `wait`; `None` when it is no wait for a monitor or nothing points to anyone.
    #[must_use]
    pub fn of(r: &Recording, wait: &LongestWait) -> Option<Holder> {
        if wait.kind != Wait::Monitor {
            return None;
        }
        let w = r.slice(wait.slice);
        let case = Case {
            r,
            waiter: wait.slice.thread,
            window: (w.start, w.end),
            monitors: monitors(r, wait.on.as_deref()),
            code: code(r, wait),
        };
        let mut in_code: Vec<_> = (0..r.threads.len()).filter_map(|t| case.in_code(t)).collect();
        in_code.sort_by_key(|c| std::cmp::Reverse(c.time()));
        let length = w.duration();
        let turns = in_code.iter().filter(|c| c.time().0 > length.0 / 100).count();
        let queue = (0..r.threads.len()).filter(|&t| t != case.waiter && case.waited(t).0 > 0);
        let (evidence, thread, found) = if let Some(owner) = case.owner(w.end, w.flags) {
            let seen = in_code.into_iter().find(|c| c.thread == owner).or_else(|| case.outermost(owner));
            (Evidence::Owner, owner, seen)
        } else if let Some(c) = in_code.into_iter().next().filter(|c| c.time().0 >= length.0 / 10) {
            (Evidence::SameCode, c.thread, Some(c))
        } else {
            let c = case.ended_together()?;
            (Evidence::EndedTogether, c.thread, Some(c))
        };
        let queue = queue.filter(|&t| t != thread).count();
        let partly = r.threads[thread].gaps.iter().any(|g| g.from < w.end && g.to > w.start);
        let held = found.as_ref().map_or(case.window, |c| c.held);
        let chain = found.map(|c| Chain::below(r, SliceRef { thread, slice: c.slice }, c.held));
        let chain = chain.unwrap_or_default();
        Some(Holder { thread, evidence, held, partly, chain, others: turns.saturating_sub(1), queue })
    }
}

/// The synthetic methods of waits for a monitor of this class.
fn monitors(r: &Recording, on: Option<&str>) -> HashSet<MethodId> {
    let same = r.methods.iter().filter(|m| m.wait == Wait::Monitor && Some(&*m.class) == on);
    same.map(|m| m.id).collect()
}

/// The methods that may hold the lock: those of its class, and the one that waited.
fn code(r: &Recording, wait: &LongestWait) -> HashSet<MethodId> {
    let on = wait.on.as_deref();
    let of_class = r.methods.iter().filter(|m| !m.wait.is_wait() && Some(&*m.class) == on).map(|m| m.id);
    of_class.chain(wait.caller.map(|c| r.slice(c).method)).collect()
}

struct Case<'a> {
    r: &'a Recording,
    waiter: usize,
    window: (Nanos, Nanos),
    monitors: HashSet<MethodId>,
    code: HashSet<MethodId>,
}

impl Case<'_> {
    fn overlapping(&self, thread: usize) -> impl Iterator<Item = SliceIndex> + '_ {
        let s = &self.r.threads[thread].slices;
        let (from, to) = self.window;
        // Starts ascend: nothing after this position begins before the wait ends.
        let most = s.start.partition_point(|&at| at < to);
        (0..most as u32).map(SliceIndex).filter(move |i| s.end[i.at()] > from)
    }

    /// The owner as the VM told it, when the wait lasted until the recording was written.
    fn owner(&self, end: Nanos, flags: Flags) -> Option<usize> {
        let live = self.r.threads[self.waiter].live.as_ref()?;
        let lasted = flags.has(Flags::CUT_END) || end >= self.r.manifest.trigger.at();
        self.r.thread(live.owner.filter(|_| lasted)?)
    }

    /// For how long `thread` held the monitor by one call of the code that locks it: after its own wait for
    /// the monitor, up to the end of the call.
    fn in_code(&self, thread: usize) -> Option<Candidate> {
        if thread == self.waiter {
            return None;
        }
        let s = &self.r.threads[thread].slices;
        let mut best: Option<Candidate> = None;
        let mut covered = Nanos(0);
        for slice in self.overlapping(thread).filter(|i| self.code.contains(&s.method[i.at()])) {
            let call = s.get(slice);
            if call.start < covered {
                continue;
            }
            let own_waits = s.inside(slice).filter(|i| self.monitors.contains(&s.method[i.at()]));
            let got = own_waits.map(|i| s.end[i.at()]).max().unwrap_or(call.start);
            covered = call.end;
            let held = (got.max(self.window.0), call.end.min(self.window.1));
            let c = Candidate { thread, slice, held };
            if c.time().0 > 0 && best.as_ref().is_none_or(|b| c.time() > b.time()) {
                best = Some(c);
            }
        }
        best
    }

    /// How long `thread` itself waited for the monitor during the wait.
    fn waited(&self, thread: usize) -> Nanos {
        let s = &self.r.threads[thread].slices;
        let waits = self.overlapping(thread).filter(|i| self.monitors.contains(&s.method[i.at()]));
        waits.fold(Nanos(0), |sum, i| sum.plus(s.get(i).overlap(self.window.0, self.window.1).0))
    }

    /// The outermost call of `thread` that covers most of the wait.
    fn outermost(&self, thread: usize) -> Option<Candidate> {
        let s = &self.r.threads[thread].slices;
        let roots = self.overlapping(thread).filter(|i| s.depth[i.at()] == 0);
        let slice = roots.max_by_key(|&i| s.get(i).overlap(self.window.0, self.window.1))?;
        let call = s.get(slice);
        Some(Candidate { thread, slice, held: (call.start.max(self.window.0), call.end.min(self.window.1)) })
    }

    /// The call of another thread that covered most of the wait and ended with it; of equals the innermost.
    fn ended_together(&self) -> Option<Candidate> {
        let (from, to) = self.window;
        let length = to.since(from);
        let near = self.r.manifest.tick.0.saturating_add(self.r.manifest.tick_late.0);
        (0..self.r.threads.len())
            .filter(|&t| t != self.waiter && self.waited(t).0 < length.0 / 2)
            .flat_map(|t| {
                let s = &self.r.threads[t].slices;
                self.overlapping(t).filter_map(move |slice| {
                    let call = s.get(slice);
                    let seen = call.overlap(from, to);
                    let fits = call.end.0.abs_diff(to.0) <= near
                        && !call.flags.has(Flags::CUT_END)
                        && seen.0 >= length.0 / 2;
                    let held = (call.start.max(from), call.end.min(to));
                    fits.then_some(((seen, call.depth), Candidate { thread: t, slice, held }))
                })
            })
            .max_by_key(|(rank, _)| *rank)
            .map(|(_, c)| c)
    }
}
