//! From one thread's native events, in the order of time, to slices.
//!
//! The constraint that shaped it: ends name their type but not their begin, begins may be overwritten, and a
//! program may end spans in another order than it began them, while slices of a thread nest. Decided as
//! follows; what is cut carries the same flags as a method call that is:
//! - An end belongs to the innermost open span of its type. What is open above that ends with it,
//!   [`Flags::INFERRED_END`]; its own end, when it comes, is later than the slice can tell, and is counted.
//! - An end without a begin: the span began before the records did, [`Flags::CUT_START`]. It encloses what the
//!   innermost open span (the thread, when none is) has done so far.
//! - A begin without an end: the span reaches to the end of the records, [`Flags::CUT_END`].
//! - An instant is a slice without length, [`Flags::INSTANT`].
//!
//! Two passes, for the reason that [`crate::survey`] tells: a slice must stand before all that it encloses.

use crate::details::Details;
use crate::fold::Fold;
use crate::survey::{Search, Unseen};
use crate::{Columns, Flags, SliceIndex};
use lookback_format::native::Phase;
use lookback_format::{MethodId, Nanos, TypeId};
use std::collections::HashMap;

/// An event, its fields elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    pub(crate) time: Nanos,
    pub(crate) phase: Phase,
    pub(crate) method: MethodId,
    pub(crate) event_type: TypeId,
    /// Where its fields are among its thread's, and how long.
    pub(crate) at: u32,
    pub(crate) len: u32,
}

/// What became of a thread's events.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    pub(crate) slices: Columns,
    pub(crate) details: Details,
    /// Ends that came after the end of the span around theirs.
    pub(crate) late_ends: u64,
    /// As [`crate::decode::Decoded`] has them.
    pub(crate) folded: u64,
    pub(crate) folded_below: Nanos,
}

/// Decodes `events`, which are in the order of time. `until` closes what is open; about `most` slices are kept.
pub(crate) fn spans(events: &[Stored], fields: Vec<u8>, until: Nanos, most: usize) -> Spans {
    let mut first = Stack::default();
    for e in events {
        match e.phase {
            Phase::Begin => first.begin(e.method, 0),
            Phase::End => _ = first.end(e.method),
            Phase::Instant => {}
        }
    }
    let mut unseen = first.unseen;
    // As in the survey: what ends last is outermost, and the sort is stable.
    unseen.reverse();
    unseen.sort_by_key(|u| u.owner);
    let mut pass = Pass {
        slices: Columns::default(),
        details: Details::new(fields),
        stack: Stack::default(),
        unseen: &unseen,
        fold: Fold::new(most),
    };
    if let Some(e) = events.first() {
        pass.push_unseen(0, e.time);
    }
    events.iter().for_each(|e| pass.event(e));
    let end = events.last().map_or(until, |e| until.max(e.time));
    pass.close(0, end, Flags::CUT_END);
    Spans {
        slices: pass.slices,
        details: pass.details,
        late_ends: pass.stack.late_ends,
        folded: pass.fold.folded,
        folded_below: Nanos(pass.fold.least),
    }
}

#[derive(Clone, Copy)]
struct Frame {
    method: MethodId,
    number: u32,
    slice: u32,
    /// Its begin was not seen; only in the second pass.
    unseen: bool,
}

/// The open spans, and what ends of others are still to come.
struct Stack {
    open: Vec<Frame>,
    search: Search,
    number: u32,
    /// Ends of spans that were closed with the one around them.
    owed: HashMap<MethodId, u32>,
    late_ends: u64,
    unseen: Vec<Unseen>,
}

impl Default for Stack {
    fn default() -> Stack {
        let (open, owed, unseen) = (Vec::new(), HashMap::new(), Vec::new());
        Stack { open, search: Search::new(), number: 0, owed, late_ends: 0, unseen }
    }
}

/// What an end ends.
enum Ends {
    /// The span at this depth, and all above it.
    From(usize),
    /// One that was closed before.
    Closed,
    /// One whose begin was not seen.
    Unseen,
}

impl Stack {
    fn begin(&mut self, method: MethodId, slice: u32) {
        self.number += 1;
        self.open.push(Frame { method, number: self.number, slice, unseen: false });
    }

    /// Finds out what an end ends. In the first pass it also closes that.
    fn end(&mut self, method: MethodId) -> Ends {
        let ends = self.find(method);
        match ends {
            Ends::From(depth) => self.open.truncate(depth),
            Ends::Closed => {}
            Ends::Unseen => {
                let owner = self.open.last().map_or(0, |f| f.number);
                self.unseen.push(Unseen { owner, method });
            }
        }
        ends
    }

    #[inline]
    fn find(&mut self, method: MethodId) -> Ends {
        match self.open.last() {
            Some(f) if f.method == method && !f.unseen => Ends::From(self.open.len() - 1),
            _ => self.find_outer(method),
        }
    }

    #[cold]
    fn find_outer(&mut self, method: MethodId) -> Ends {
        let frames = self.open.iter().rev().map(|f| (f.method.0, false));
        let found = self.search.find(method.0, frames, self.open.len());
        // The first pass does not see the spans without a begin, so here they come after what is owed.
        match found.filter(|&depth| !self.open[depth].unseen) {
            Some(depth) => self.close_above(depth),
            None if self.is_owed(method) => Ends::Closed,
            None => found.map_or(Ends::Unseen, |depth| self.close_above(depth)),
        }
    }

    fn close_above(&mut self, depth: usize) -> Ends {
        for f in self.open[depth + 1..].iter().filter(|f| !f.unseen) {
            *self.owed.entry(f.method).or_default() += 1;
        }
        Ends::From(depth)
    }

    fn is_owed(&mut self, method: MethodId) -> bool {
        let owed = self.owed.get_mut(&method).filter(|n| **n > 0);
        self.late_ends += u64::from(owed.is_some());
        owed.map(|n| *n -= 1).is_some()
    }
}

struct Pass<'a> {
    slices: Columns,
    details: Details,
    stack: Stack,
    unseen: &'a [Unseen],
    fold: Fold,
}

impl Pass<'_> {
    fn event(&mut self, e: &Stored) {
        match e.phase {
            Phase::Begin => {
                self.open(e.method, e.time, Flags::SPAN, (e.event_type, e.at, e.len));
                self.push_unseen(self.stack.number, e.time);
            }
            Phase::Instant if self.fold.least == 0 => {
                let detail = self.details.add(e.event_type, e.at, e.len);
                self.push(e.method, e.time, Flags::INSTANT, detail);
            }
            Phase::Instant => self.fold.folded += 1,
            Phase::End => {
                if let Ends::From(depth) = self.stack.find(e.method) {
                    self.close(depth + 1, e.time, Flags::INFERRED_END);
                    self.leave(e.time);
                }
            }
        }
    }

    fn open(&mut self, method: MethodId, at: Nanos, flags: Flags, (of, from, len): (TypeId, u32, u32)) {
        let detail = self.details.add(of, from, len);
        let slice = self.push(method, at, flags, detail);
        self.stack.begin(method, slice);
    }

    /// Spans of this owner whose begin was not seen start with it. They are not numbered: nothing can belong
    /// to them that the first pass did not see.
    fn push_unseen(&mut self, owner: u32, at: Nanos) {
        let n = self.unseen.iter().take_while(|u| u.owner == owner).count();
        let (here, rest) = self.unseen.split_at(n);
        self.unseen = rest;
        for u in here {
            let slice =
                self.push(u.method, at, Flags::SPAN.with(Flags::CUT_START), crate::details::NO_DETAIL);
            let number = self.stack.number;
            self.stack.open.push(Frame { method: u.method, number, slice, unseen: true });
        }
    }

    fn push(&mut self, method: MethodId, at: Nanos, flags: Flags, detail: u32) -> u32 {
        if self.slices.len() >= self.fold.limit() {
            self.fold.shrink(&mut self.slices, self.stack.open.iter_mut().map(|f| &mut f.slice));
        }
        let s = &mut self.slices;
        let slice = s.len() as u32;
        s.start.push(at);
        s.end.push(at);
        s.method.push(method);
        s.depth.push(self.stack.open.len() as u32);
        s.parent.push(self.stack.open.last().map_or(SliceIndex::NONE, |f| SliceIndex(f.slice)));
        s.flags.push(flags);
        s.error.push(0);
        s.detail.push(detail);
        slice
    }

    /// The innermost span ends.
    fn leave(&mut self, at: Nanos) {
        let Some(f) = self.stack.open.pop() else { return };
        let (slice, s) = (f.slice as usize, &mut self.slices);
        if at.since(s.start[slice]).0 < self.fold.least && slice + 1 == s.len() {
            self.details.take_back(s.detail[slice]);
            s.truncate(slice);
            self.fold.folded += 1;
        } else {
            s.end[slice] = at;
        }
    }

    fn close(&mut self, depth: usize, at: Nanos, flag: Flags) {
        let s = &mut self.slices;
        for f in self.stack.open.drain(depth..) {
            let i = f.slice as usize;
            s.end[i] = at;
            s.flags[i] = s.flags[i].with(flag);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `b1` begins a span of type 1, `e1` ends it, `i1` is an instant; each a nanosecond after the other.
    fn events(text: &str) -> Vec<Stored> {
        let event = |(n, word): (usize, &str)| {
            let (phase, method) = word.split_at(1);
            let phase = match phase {
                "b" => Phase::Begin,
                "e" => Phase::End,
                _ => Phase::Instant,
            };
            let method = method.parse().unwrap();
            Stored {
                time: Nanos(100 + n as u64),
                phase,
                method: MethodId(method),
                event_type: TypeId(method),
                at: 0,
                len: 0,
            }
        };
        text.split(' ').enumerate().map(event).collect()
    }

    /// `method@start-end:flags` of each slice, indented by its depth.
    fn decoded(text: &str, most: usize) -> (Vec<String>, Spans) {
        let s = spans(&events(text), Vec::new(), Nanos(200), most);
        let line = |i: SliceIndex| {
            let c = s.slices.get(i);
            let marks = [
                (Flags::CUT_START, "<"),
                (Flags::CUT_END, ">"),
                (Flags::INFERRED_END, "~"),
                (Flags::INSTANT, "!"),
            ];
            let marks: String = marks.iter().filter(|(f, _)| c.flags.has(*f)).map(|(_, m)| *m).collect();
            let (from, to) = (c.start.0 - 100, c.end.0 - 100);
            format!("{}{}@{from}-{to}{marks}", " ".repeat(c.depth as usize), c.method.0)
        };
        (s.slices.indices().map(line).collect(), s)
    }

    #[test]
    fn spans_nest_and_instants_lie_in_them() {
        let (lines, s) = decoded("b1 b2 i3 e2 e1 i3", 100);
        assert_eq!(lines, ["1@0-4", " 2@1-3", "  3@2-2!", "3@5-5!"]);
        assert_eq!((s.late_ends, s.folded), (0, 0));
        assert_eq!(s.slices.parent[2], SliceIndex(1));
    }

    #[test]
    fn an_end_without_a_begin_encloses_what_came_before_it() {
        let (lines, _) = decoded("b1 e1 e2 b1 e1 e3", 100);
        assert_eq!(lines, ["3@0-5<", " 2@0-2<", "  1@0-1", " 1@3-4"]);
        let (lines, _) = decoded("b1 i3 e2 e1", 100);
        assert_eq!(lines, ["1@0-3", " 2@0-2<", "  3@1-1!"]);
    }

    #[test]
    fn a_begin_without_an_end_reaches_to_the_end() {
        let (lines, _) = decoded("b1 b2 e2 b1", 100);
        assert_eq!(lines, ["1@0-100>", " 2@1-2", " 1@3-100>"]);
    }

    #[test]
    fn spans_that_overlap_are_cut_where_the_outer_one_ends() {
        let (lines, s) = decoded("b1 b2 e1 i3 e2 e2", 100);
        assert_eq!(lines, ["2@0-5<", " 1@0-2", "  2@1-2~", " 3@3-3!"]);
        assert_eq!(s.late_ends, 1, "the second end of 2 is of a span that began before");
    }

    #[test]
    fn what_is_too_much_is_folded_into_its_caller() {
        let inner = "b2 e2 ".repeat(200);
        let (lines, s) = decoded(&format!("b1 {inner}e1"), 64);
        assert_eq!(lines[0], "1@0-401");
        assert_eq!(s.folded as usize + lines.len(), 201);
        assert!(lines.len() <= 64 && s.folded_below.0 > 1);
    }

    /// Whatever the events, slices nest, stand in call order, and every begin, end and instant is accounted for.
    #[test]
    fn any_events_make_slices_that_nest() {
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for round in 0..2_000 {
            let most = if round % 2 == 0 { 1_000 } else { 64 };
            let words: Vec<String> = (0..random(400))
                .map(|_| format!("{}{}", ["b", "b", "e", "e", "i"][random(5) as usize], random(5)))
                .collect();
            let text = if words.is_empty() { "i1".to_owned() } else { words.join(" ") };
            let made = spans(&events(&text), Vec::new(), Nanos(0), most);
            let s = &made.slices;
            for i in s.indices() {
                let it = s.get(i);
                assert!(it.start <= it.end, "{text}");
                assert!(i.0 == 0 || s.start[i.at() - 1] <= it.start, "{text}");
                match it.parent.some() {
                    Some(p) => {
                        let around = s.get(p);
                        assert!(p < i && around.depth + 1 == it.depth, "{text}");
                        assert!(around.start <= it.start && it.end <= around.end, "{text}");
                    }
                    None => assert_eq!(it.depth, 0, "{text}"),
                }
            }
            let cut = s.flags.iter().filter(|f| f.has(Flags::CUT_START)).count();
            let begun = text.split(' ').filter(|w| !w.starts_with('e')).count();
            // Of those that are folded it is not told which were cut.
            if made.folded == 0 {
                assert_eq!(s.len(), begun + cut, "{text}");
            }
        }
    }

    #[test]
    fn nothing_is_a_thread_without_slices() {
        assert!(spans(&[], Vec::new(), Nanos(9), 10).slices.is_empty());
    }
}
