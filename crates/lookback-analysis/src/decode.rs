//! Second pass over a thread's stream: from slots to slices.
//!
//! The constraint that shaped it: it runs once for each of 16 million slots, so the way of an entry or an exit
//! that fits its stack has no search, no map and no allocation. What does not fit is decided as follows:
//! - An exit of a call that is not innermost but open: what is open above it ends now, [`Flags::INFERRED_END`]
//!   (its exits were never recorded; a virtual thread that was unmounted is the usual case).
//! - An exit of a call that is not open: the call began before the records did, see [`crate::survey`];
//!   [`Flags::CUT_START`].
//! - A gap: all open calls end where it begins, [`Flags::CUT_END`], and nothing is open after it. Across one that the
//!   brake made, calls may go on, see [`crate::bridge`]; where the thread waits, that is none.
//! - The end: all open calls reach to the end of the recording (of the thread, if it ended),
//!   [`Flags::CUT_END`].

use crate::clock::{Clock, Ticks};
use crate::fold::Fold;
use crate::methods::{CARRIER, KINDS, Methods};
use crate::pieces::{Piece, Pieces};
use crate::recording::{Gap, GapKind};
use crate::survey::{Known, Search, Survey, Unseen, survey};
use crate::{Columns, Flags, SliceIndex};
use lookback_format::event::Chunk;
use lookback_format::slot::EXIT;
use lookback_format::symbol::Wait;
use lookback_format::{MethodId, Nanos};

/// The decoded stream of one thread.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub(crate) slices: Columns,
    pub(crate) gaps: Vec<Gap>,
    /// Exits that neither pass could place; only hostile slots have them.
    pub(crate) unplaced: u64,
    /// Calls that were folded into their callers, and the duration that they were shorter than.
    pub(crate) folded: u64,
    pub(crate) folded_below: Nanos,
}

/// Decodes the chunks of one thread, which are in order and without duplicates. `end` closes what is open;
/// about `most` slices are kept, see [`crate::fold`].
pub(crate) fn decode(
    chunks: &[Chunk],
    methods: &Methods,
    ticks: Ticks,
    known: Option<Known>,
    end: Nanos,
    most: usize,
) -> Decoded {
    let survey = survey(chunks, |i| breaks(chunks, i), methods, ticks, known);
    let Survey { entries, unseen, ends } = survey;
    let mut d = Decoder {
        out: Decoded {
            slices: Columns::with_capacity((entries + unseen.len()).min(most + 1)),
            ..Decoded::default()
        },
        methods,
        stack: Vec::new(),
        unseen: &unseen,
        ends: &ends,
        number: 0,
        search: Search::new(),
        fold: Fold::new(most),
    };
    let mut clock = Clock::new(ticks);
    for (i, chunk) in chunks.iter().enumerate() {
        if i == 0 {
            clock.chunk(chunk.first, chunk.last);
            d.segment(chunk.first);
        } else if breaks(chunks, i) {
            let from = chunks[i - 1].last.max(clock.now());
            clock.chunk(chunk.first, chunk.last);
            let to = clock.next().max(from);
            let missing = chunk.seq.0 - chunks[i - 1].seq.0 - 1;
            let kind = if missing > 0 { GapKind::Chunks(missing) } else { GapKind::Within };
            let lost = u64::from(missing.max(unrecorded(chunk)));
            d.gap(Gap { from, to, lost, kind }, &mut clock);
        } else {
            clock.chunk(chunk.first, chunk.last);
        }
        d.chunk(chunk, &mut clock);
    }
    d.close_all(end.max(clock.now()));
    (d.out.folded, d.out.folded_below) = (d.fold.folded, Nanos(d.fold.least));
    d.out
}

/// Records that a chunk's header counts as lost and no gap record in it tells of.
pub(crate) fn unrecorded(chunk: &Chunk) -> u32 {
    let told = || Pieces::new(&chunk.slots).any(|p| matches!(p, Piece::Gap(..)));
    if chunk.lost == 0 || told() { 0 } else { chunk.lost }
}

/// Whether records are missing before chunk `i`.
fn breaks(chunks: &[Chunk], i: usize) -> bool {
    i > 0 && (chunks[i].seq.0 != chunks[i - 1].seq.0.wrapping_add(1) || unrecorded(&chunks[i]) > 0)
}

#[derive(Clone, Copy)]
struct Frame {
    method: u32,
    slice: u32,
    carrier: bool,
}

struct Decoder<'a> {
    out: Decoded,
    methods: &'a Methods,
    stack: Vec<Frame>,
    unseen: &'a [Unseen],
    /// Of the gaps of the brake that are to come: how many open calls end there.
    ends: &'a [u32],
    number: u32,
    search: Search,
    fold: Fold,
}

impl Decoder<'_> {
    fn chunk(&mut self, chunk: &Chunk, clock: &mut Clock) {
        let mut pieces = Pieces::new(&chunk.slots).peekable();
        while let Some(piece) = pieces.next() {
            match piece {
                Piece::Slots(slots) => {
                    let mut run = clock.run(slots.len(), pieces.peek());
                    let (first, rest) = run.error;
                    let mut error = first;
                    let mut at = run.at;
                    for &slot in slots {
                        at = run.at;
                        let method = slot & MethodId::MAX;
                        if slot & EXIT == 0 {
                            self.enter(method, Nanos(at), error);
                        } else {
                            self.leave(method, Nanos(at), error);
                        }
                        error = rest;
                        run.step();
                    }
                    clock.passed(at);
                }
                Piece::Time(at) => clock.time(at),
                Piece::Mount(..) | Piece::Ready(..) => {}
                Piece::Tick(low) => clock.tick(low),
                Piece::Gap(cause, lost) => {
                    let from = clock.now().max(chunk.first);
                    let next = pieces.peek();
                    clock.stamp(next);
                    // A thread that is stopped or braked has nothing after it.
                    let to = if next.is_some() { clock.next() } else { chunk.last }.max(from);
                    let gap = Gap { from, to, lost: u64::from(lost), kind: GapKind::Recorded(cause) };
                    match self.ends.split_first() {
                        Some((&ended, rest)) if cause.is_brake() => {
                            self.ends = rest;
                            let goes_on = self.stack.len().saturating_sub(ended as usize);
                            self.close_to(goes_on, gap.from, 0, Flags::CUT_END);
                            self.part(gap.to, clock);
                            if !self.stands_still() {
                                self.out.gaps.push(gap);
                            }
                        }
                        _ => self.gap(gap, clock),
                    }
                }
                Piece::Unreadable(words) => {
                    let from = clock.now().max(chunk.first);
                    let to = chunk.last.max(from);
                    self.gap(Gap { from, to, lost: words as u64, kind: GapKind::Unreadable }, clock);
                }
            }
        }
    }

    #[inline]
    fn enter(&mut self, method: u32, at: Nanos, error: u32) {
        self.number += 1;
        self.push(method, at, error, 0);
        if self.unseen.first().is_some_and(|u| u.owner == self.number) {
            self.push_unseen(at);
        }
    }

    #[inline]
    fn push(&mut self, method: u32, at: Nanos, error: u32, flags: u8) {
        if self.out.slices.start.len() >= self.fold.limit() {
            self.fold.shrink(&mut self.out.slices, self.stack.iter_mut().map(|f| &mut f.slice));
        }
        let mark = self.methods.mark(MethodId(method));
        let s = &mut self.out.slices;
        let slice = s.start.len() as u32;
        let parent = self.stack.last().map_or(SliceIndex::NONE, |f| SliceIndex(f.slice));
        s.start.push(at);
        s.end.push(at);
        s.method.push(MethodId(method));
        s.depth.push(self.stack.len() as u32);
        s.parent.push(parent);
        s.flags.push(Flags(flags | mark & KINDS.0));
        s.error.push(error);
        self.stack.push(Frame { method, slice, carrier: mark & CARRIER != 0 });
    }

    /// The calls of this owner whose entries were not seen begin with it.
    #[cold]
    fn push_unseen(&mut self, at: Nanos) {
        let n = self.unseen.iter().take_while(|u| u.owner == self.number).count();
        let (here, rest) = self.unseen.split_at(n);
        self.unseen = rest;
        for u in here {
            self.push(u.method.0, at, 0, Flags::CUT_START.0);
        }
    }

    #[inline]
    fn leave(&mut self, method: u32, at: Nanos, error: u32) {
        match self.stack.last() {
            Some(f) if f.method == method => {
                let slice = f.slice as usize;
                self.stack.pop();
                let s = &mut self.out.slices;
                if at.since(s.start[slice]).0 < self.fold.least && slice + 1 == s.start.len() {
                    s.truncate(slice);
                    self.fold.folded += 1;
                    return;
                }
                s.end[slice] = at;
                s.error[slice] = s.error[slice].max(error);
            }
            _ => self.leave_outer(method, at, error),
        }
    }

    #[cold]
    fn leave_outer(&mut self, method: u32, at: Nanos, error: u32) {
        let is_carrier = self.methods.mark(MethodId(method)) & CARRIER != 0;
        let frames = self.stack.iter().rev().map(|f| (f.method, f.carrier && !is_carrier));
        let Some(depth) = self.search.find(method, frames, self.stack.len()) else {
            self.out.unplaced += 1;
            return;
        };
        self.close_to(depth + 1, at, error, Flags::INFERRED_END);
        self.leave(method, at, error);
    }

    fn close_to(&mut self, depth: usize, at: Nanos, error: u32, flag: Flags) {
        let s = &mut self.out.slices;
        for f in self.stack.drain(depth..) {
            let i = f.slice as usize;
            s.end[i] = at.max(s.start[i]);
            s.error[i] = s.error[i].max(error);
            s.flags[i] = s.flags[i].with(flag);
        }
    }

    fn close_all(&mut self, at: Nanos) {
        self.close_to(0, at, 0, Flags::CUT_END);
    }

    fn gap(&mut self, gap: Gap, clock: &mut Clock) {
        self.close_all(gap.from);
        self.part(gap.to, clock);
        self.out.gaps.push(gap);
    }

    /// Records go on after a gap.
    fn part(&mut self, at: Nanos, clock: &mut Clock) {
        clock.passed(at.0);
        self.number += 1;
        self.segment(at);
    }

    /// Whether the thread runs nothing that could be recorded: nothing is missing in a gap of the brake there.
    fn stands_still(&self) -> bool {
        let wait = self.stack.last().map(|f| self.methods.wait(MethodId(f.method)));
        matches!(wait, Some(Wait::Monitor | Wait::ObjectWait | Wait::Park | Wait::Sleep))
    }

    /// Records begin here: so do the calls that were running already.
    fn segment(&mut self, at: Nanos) {
        if self.unseen.first().is_some_and(|u| u.owner == self.number) {
            self.push_unseen(at);
        }
    }
}
