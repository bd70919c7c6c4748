//! Calls as they appear from samples: what stays the same from one sample of a thread to the next was one call, as far as anybody
//! can tell.
//!
//! The constraint that shaped it: a recording without trace points should be seen by the same means as one with them, along
//! the time, by every viewer. So each sample stands for the interval around it, and equal callers of neighbours are joined. Such a
//! call says so: its ends are inferred, and may be off by an interval; that it was one call, and not several, nobody knows.

use crate::samples::Samples;
use crate::{Columns, Flags, SliceIndex};
use lookback_format::sample::Activity;
use lookback_format::{MethodId, Nanos};

/// The calls of one thread, whose samples are these, by time.
pub(crate) fn calls(samples: &Samples, of_thread: &[u32], interval: Nanos) -> Columns {
    let half = (interval.0 / 2).max(1);
    let error = u32::try_from(interval.0).unwrap_or(u32::MAX);
    let mut open = Open { calls: Columns::default(), stack: Vec::new(), until: Nanos(0) };
    let mut path = Vec::new();
    for &i in of_thread {
        let i = i as usize;
        let at = samples.at[i];
        let from = Nanos(at.0.saturating_sub(half));
        // One that came late belongs to the one before; where more than one is missing, nothing is known between.
        let joins = !open.stack.is_empty() && from.since(open.until).0 <= interval.0;
        let begin = if joins { open.until.min(at) } else { from };
        path.clear();
        path.extend(samples.contexts.frames(samples.context[i]).map(|c| samples.contexts.method[c.at()]));
        path.reverse();
        open.go_on(&path, samples.activity[i] == Activity::Waiting, begin, !joins, error);
        open.until = at.plus(half);
    }
    let end = open.until;
    open.close(0, end);
    open.calls
}

struct Open {
    calls: Columns,
    /// The open calls, outermost first.
    stack: Vec<SliceIndex>,
    /// How far they are known to go.
    until: Nanos,
}

impl Open {
    /// From `begin` on the thread is in these methods, outermost first.
    fn go_on(&mut self, path: &[MethodId], waits: bool, begin: Nanos, anew: bool, error: u32) {
        let flags = |at: usize| {
            let wait = if waits && at + 1 == path.len() { Flags::WAIT } else { Flags::default() };
            Flags::INFERRED_END.with(wait)
        };
        let same = |at: usize, &s: &SliceIndex| {
            path.get(at) == Some(&self.calls.method[s.at()]) && self.calls.flags[s.at()] == flags(at)
        };
        let kept =
            if anew { 0 } else { self.stack.iter().enumerate().take_while(|(at, s)| same(*at, s)).count() };
        let end = if anew { self.until } else { begin };
        self.close(kept, end);
        for (at, &method) in path.iter().enumerate().skip(kept) {
            let index = SliceIndex(self.calls.len() as u32);
            let c = &mut self.calls;
            c.start.push(begin);
            c.end.push(begin);
            c.method.push(method);
            c.depth.push(at as u32);
            c.parent.push(self.stack.last().copied().unwrap_or(SliceIndex::NONE));
            c.flags.push(flags(at));
            c.error.push(error);
            self.stack.push(index);
        }
    }

    /// Ends all but the outermost `kept` calls.
    fn close(&mut self, kept: usize, end: Nanos) {
        for s in self.stack.drain(kept..) {
            let began = self.calls.start[s.at()];
            self.calls.end[s.at()] = end.max(began);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_format::ThreadKey;
    use lookback_format::sample::{Frame, Sample};

    /// Calls as `method@start..end`, indented by depth, of samples at 10 ns.
    fn of(samples: &[(u64, &[u32], Activity)]) -> Vec<String> {
        let mut all = Samples::default();
        for (at, methods, activity) in samples {
            let frame = |&m: &u32| Frame { method: MethodId(m), line: 0, bci: None };
            all.add(&Sample {
                thread: ThreadKey(1),
                at: Nanos(*at),
                activity: *activity,
                engine: None,
                is_cut: false,
                frames: methods.iter().rev().map(frame).collect(),
            });
        }
        let order: Vec<u32> = (0..samples.len() as u32).collect();
        let c = calls(&all, &order, Nanos(10));
        let shown = c.indices().map(|i| c.get(i)).map(|s| {
            let wait = if s.flags.has(Flags::WAIT) { "w" } else { "" };
            let indent = " ".repeat(s.depth as usize);
            format!("{indent}{}{wait}@{}..{}", s.method.0, s.start.0, s.end.0)
        });
        shown.collect()
    }

    #[test]
    fn what_stays_from_sample_to_sample_is_one_call() {
        use Activity::Running;
        let got = of(&[(10, &[1, 2], Running), (20, &[1, 2, 3], Running), (31, &[1, 4], Running)]);
        assert_eq!(got, ["1@5..36", " 2@5..25", "  3@15..25", " 4@25..36"]);
    }

    #[test]
    fn where_samples_are_missing_calls_end() {
        use Activity::Running;
        let got = of(&[(10, &[1], Running), (100, &[1], Running)]);
        assert_eq!(got, ["1@5..15", "1@95..105"]);
    }

    #[test]
    fn waiting_is_another_call_than_running() {
        use Activity::{Running, Waiting};
        let got = of(&[(10, &[1, 2], Running), (20, &[1, 2], Waiting), (30, &[1, 2], Waiting)]);
        assert_eq!(got, ["1@5..35", " 2@5..15", " 2w@15..35"]);
    }

    #[test]
    fn two_samples_at_one_time_do_no_harm() {
        use Activity::Running;
        assert_eq!(of(&[(10, &[1], Running), (10, &[2], Running)]), ["1@5..10", "2@10..15"]);
    }
}
