//! Which slices go into the report page or a trace when there are more than its viewer can draw.
//!
//! The constraint that shaped it: what is near the slow call matters most, and a slice without its callers is
//! a puzzle. So there are three classes: inside the slow call, at the same time, and the rest; each has a
//! share of the room and keeps its longest slices. A caller is never shorter than its call and never in a
//! class that is kept less, so the callers of a kept slice are kept.

use crate::words::duration;
use crate::{Flags, Recording, SliceIndex, SliceRef};
use lookback_format::Nanos;
use std::collections::HashSet;

/// A deeper slice is not drawn by the page.
pub(crate) const MOST_DEPTH: u32 = 20_000;
const CLASSES: usize = 3;
/// Durations are counted in steps of 1/16 of their power of two.
const STEPS: usize = 64 * 16;

/// What of a recording is shown.
#[derive(Clone, Debug)]
pub struct Trim {
    slow: Option<(SliceRef, SliceIndex)>,
    /// The slow call's callers.
    around: HashSet<SliceRef>,
    window: (Nanos, Nanos),
    /// The least step that a slice of each class must have.
    least: [usize; CLASSES],
    /// How many slices are kept, and how many are not.
    pub(crate) kept: u64,
    hidden: u64,
    /// How many of those because of their depth.
    deep: u64,
}

/// The step of a duration, and the least duration of a step.
fn step(d: Nanos) -> usize {
    if d.0 < 16 {
        return d.0 as usize;
    }
    let power = d.0.ilog2() as usize;
    (power - 3) * 16 + (d.0 >> (power - 4)) as usize % 16
}

fn least(step: usize) -> Nanos {
    if step < 16 {
        return Nanos(step as u64);
    }
    let power = step / 16 + 3;
    Nanos((16 + step as u64 % 16) << (power - 4))
}

impl Trim {
    /// Chooses at most `most` slices, the trigger's slice and its callers always among them.
    #[must_use]
    pub fn new(r: &Recording, most: usize) -> Trim {
        let slow = r.trigger_slice();
        let all = (Nanos(0), Nanos(u64::MAX));
        let callers = slow.iter().flat_map(|s| {
            let callers = r.threads[s.thread].slices.callers(s.slice);
            callers.map(|slice| SliceRef { thread: s.thread, slice })
        });
        let mut t = Trim {
            around: callers.collect(),
            slow: slow.map(|s| (s, r.threads[s.thread].slices.subtree_end(s.slice))),
            window: slow.map_or(all, |s| (r.slice(s).start, r.slice(s).end)),
            least: [0; CLASSES],
            kept: 0,
            hidden: 0,
            deep: 0,
        };
        let total = r.slices();
        if total > most {
            let mut counts = vec![[0_u64; CLASSES]; STEPS];
            for (thread, track) in r.threads.iter().enumerate() {
                for i in track.slices.indices() {
                    let at = SliceRef { thread, slice: i };
                    counts[step(track.slices.duration(i))][t.class(r, at)] += 1;
                }
            }
            // Half of the room is for the slow call, half of the rest for what ran beside it. What a class
            // leaves over goes to the next one.
            let mut room = most as u64;
            let mut floor = 0;
            for (class, share) in [2, 2, 1].into_iter().enumerate() {
                let mut left = room / share;
                let mut least = STEPS;
                while least > floor && counts[least - 1][class] <= left {
                    least -= 1;
                    left -= counts[least][class];
                    room -= counts[least][class];
                }
                t.least[class] = least;
                floor = least;
            }
        }
        for (thread, track) in r.threads.iter().enumerate() {
            let kept = track.slices.indices().filter(|&slice| t.keeps(r, SliceRef { thread, slice }));
            t.kept += kept.count() as u64;
            t.deep += track.slices.depth.iter().filter(|&&d| d >= MOST_DEPTH).count() as u64;
        }
        t.hidden = total as u64 - t.kept;
        t
    }

    fn class(&self, r: &Recording, at: SliceRef) -> usize {
        let s = &r.threads[at.thread].slices;
        let i = at.slice.at();
        match self.slow {
            Some((slow, end)) if at.thread == slow.thread && slow.slice <= at.slice && at.slice < end => 0,
            _ if s.start[i] <= self.window.1 && s.end[i] >= self.window.0 => 1,
            _ => 2,
        }
    }

    /// Whether a slice is kept.
    pub(crate) fn keeps(&self, r: &Recording, at: SliceRef) -> bool {
        let s = &r.threads[at.thread].slices;
        if s.depth[at.slice.at()] >= MOST_DEPTH {
            return false;
        }
        step(s.duration(at.slice)) >= self.least[self.class(r, at)]
            || s.flags[at.slice.at()].has(Flags::TRIGGER)
            || self.around.contains(&at)
    }

    /// How many calls are not shown, those that the recording does not keep among them, and why; `None` when
    /// all are.
    #[must_use]
    pub fn hidden(&self, r: &Recording) -> Option<(u64, String)> {
        let folded = r.folded();
        let calls = self.hidden.saturating_add(folded.0);
        (calls > 0).then(|| (calls, self.reason(folded)))
    }

    /// Why slices are not kept. `folded` are the calls that the recording does not keep either.
    fn reason(&self, folded: (u64, Nanos)) -> String {
        let [inside, beside, rest] = self.least.map(|s| least(s.min(STEPS - 1)));
        let mut why = Vec::new();
        let mut shorter = |than: Nanos, place: &str| {
            if than.0 > 0 {
                why.push(format!("shorter than {}{place}", duration(than)));
            }
        };
        match self.slow {
            None => shorter(beside, ""),
            Some(_) if beside == rest => {
                shorter(inside, " inside the slow call");
                shorter(beside, " outside the slow call");
            }
            Some(_) => {
                shorter(inside, " inside the slow call");
                shorter(beside, " beside it");
                shorter(rest, " at other times");
            }
        }
        if folded.0 > 0 {
            shorter(folded.1, " and too many to keep");
        }
        if self.deep > 0 {
            why.push(format!("deeper than {MOST_DEPTH} calls"));
        }
        why.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_ascend_with_durations() {
        let mut before = 0;
        for d in (0..5_000).chain((20..64).map(|p| 1 << p)).chain([u64::MAX]) {
            let s = step(Nanos(d));
            assert!(s >= before && s < STEPS && least(s).0 <= d, "{d}: step {s}, least {:?}", least(s));
            before = s;
        }
        assert_eq!(least(step(Nanos(1 << 20))), Nanos(1 << 20));
    }
}
