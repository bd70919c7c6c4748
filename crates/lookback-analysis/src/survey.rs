//! First pass over a thread's stream: which exits have no entry, and how many slices there will be.
//!
//! The constraint that shaped it: an exit without an entry ends a call that was already running where the
//! records begin, so its slice must stand *before* all that the call enclosed. Finding those exits first lets
//! the second pass write every column front to back.
//!
//! How: entries and segments are numbered in order. An exit that matches nothing on the stack belongs to a
//! call that encloses what the innermost open call (its owner; the segment, when none is open) has made so
//! far. Calls of the same owner that end later enclose those that end earlier. A gap begins a new segment; one that the
//! brake made only a new part of it, see [`crate::bridge`].

use crate::bridge::{self, Bridge, Frame, TIMED_BIT};
use crate::clock::{Clock, Ticks};
use crate::methods::{CARRIER, Methods, PRECISE};
use crate::pieces::{Piece, Pieces};
use lookback_format::event::Chunk;
use lookback_format::slot::{EXIT, GapCause};
use lookback_format::{MethodId, Nanos};

/// Failed searches of the stack may cost this many steps a thread, so that hostile slots cannot make the
/// decode quadratic; after that only the innermost [`NEAR`] frames are searched. A real trace needs none: its
/// unmatched exits come when nothing is open.
const SEARCH_BUDGET: usize = 1 << 24;
const NEAR: usize = 64;

/// A call that runs all through `from..to` whatever its thread's records say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) method: MethodId,
    pub(crate) from: Nanos,
    pub(crate) to: Nanos,
}

/// A call whose entry was not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unseen {
    /// Number of the entry or segment that it lies in.
    pub(crate) owner: u32,
    pub(crate) method: MethodId,
}

/// What the first pass found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Entries seen.
    pub(crate) entries: usize,
    /// Calls whose entry was not seen, by owner, outermost first.
    pub(crate) unseen: Vec<Unseen>,
    /// Of each gap that the brake made: how many of the innermost open calls end there, see [`crate::bridge`]. Empty
    /// when all gaps cut all calls.
    pub(crate) ends: Vec<u32>,
}

/// Where the stack must be cut to leave a call of a method, or `None` when it does not hold one.
/// A mounted virtual thread's frames are separated from the carrier's own: the search ends at the carrier, unless it is
/// for one.
pub(crate) struct Search {
    budget: usize,
}

impl Search {
    pub(crate) const fn new() -> Self {
        Search { budget: SEARCH_BUDGET }
    }

    /// `frames` gives the methods from the innermost outwards, with whether each is a carrier.
    #[cold]
    pub(crate) fn find(
        &mut self,
        method: u32,
        frames: impl Iterator<Item = (u32, bool)>,
        depth: usize,
    ) -> Option<usize> {
        let most = if self.budget > 0 { depth } else { NEAR };
        let mut steps = 0;
        for (m, carrier) in frames.take(most) {
            steps += 1;
            if m == method {
                return Some(depth - steps);
            }
            if carrier {
                break;
            }
        }
        self.budget = self.budget.saturating_sub(steps);
        None
    }
}

/// Set in a frame's method word when it is a carrier; method identifiers have 30 bits.
pub(crate) const CARRIER_BIT: u32 = 1 << 31;

/// Surveys the stream `chunks`; `breaks` tells before which chunks records are missing.
pub(crate) fn survey(
    chunks: &[Chunk],
    breaks: impl Fn(usize) -> bool,
    methods: &Methods,
    ticks: Ticks,
    known: Option<Known>,
) -> Survey {
    if chunks.iter().any(|c| bridge::is_braked(&c.slots)) {
        pass::<true>(chunks, breaks, methods, ticks, known)
    } else {
        pass::<false>(chunks, breaks, methods, ticks, known)
    }
}

/// `BRIDGE`: whether calls may go on across gaps of the brake.
fn pass<const BRIDGE: bool>(
    chunks: &[Chunk],
    breaks: impl Fn(usize) -> bool,
    methods: &Methods,
    ticks: Ticks,
    known: Option<Known>,
) -> Survey {
    let from = chunks.first().map_or(Nanos(0), |c| c.first);
    let mut pass = Pass {
        found: Survey::default(),
        methods,
        known,
        stack: Vec::new(),
        search: Search::new(),
        number: 0,
        part: 0,
        now: from.0,
        exact: false,
        segment: Segment { number: 0, from, unseen: 0 },
        bridge: Bridge::default(),
    };
    let mut clock = Clock::new(ticks);
    for (i, chunk) in chunks.iter().enumerate() {
        if breaks(i) {
            pass.gap(chunks[i - 1].last, chunk.first);
        }
        if BRIDGE {
            clock.chunk(chunk.first, chunk.last);
        }
        let mut pieces = Pieces::new(&chunk.slots).peekable();
        while let Some(piece) = pieces.next() {
            match piece {
                Piece::Slots(slots) => pass.slots::<BRIDGE>(slots),
                Piece::Gap(cause, _) if BRIDGE && cause.is_brake() => {
                    let from = clock.next();
                    clock.stamp(pieces.peek());
                    if cause == GapCause::BrakeAll {
                        pass.doubt_precise();
                    }
                    pass.brake(from, clock.next());
                }
                Piece::Gap(..) | Piece::Unreadable(_) => pass.gap(chunk.last, chunk.last),
                stamp @ (Piece::Time(_) | Piece::Tick(_)) if BRIDGE => {
                    clock.stamp(Some(&stamp));
                    (pass.now, pass.exact) = (clock.next().0, matches!(stamp, Piece::Time(_)));
                }
                Piece::Time(_) | Piece::Tick(_) | Piece::Mount(..) | Piece::Ready(..) => {}
            }
        }
    }
    let end = chunks.last().map_or(Nanos(0), |c| c.last);
    pass.end_segment(end);
    pass.bridge.close();
    let mut found = pass.found;
    found.ends = pass.bridge.ends;
    // The call that ends last is the outermost: later ones first, and the sort is stable.
    found.unseen.reverse();
    found.unseen.sort_by_key(|u| u.owner);
    found
}

struct Segment {
    number: u32,
    from: Nanos,
    unseen: usize,
}

struct Pass<'a> {
    found: Survey,
    methods: &'a Methods,
    known: Option<Known>,
    stack: Vec<Frame>,
    search: Search,
    number: u32,
    /// Number of the segment, or of the part of it that began with the last gap of the brake.
    part: u32,
    /// The last stamp, where it matters how long calls are, and whether the next slot has exactly that time.
    now: u64,
    exact: bool,
    segment: Segment,
    bridge: Bridge,
}

impl Pass<'_> {
    fn slots<const BRIDGE: bool>(&mut self, slots: &[u32]) {
        for &slot in slots {
            let method = slot & MethodId::MAX;
            if slot & EXIT == 0 {
                self.number += 1;
                self.found.entries += 1;
                let carrier = self.methods.mark(MethodId(method)) & CARRIER != 0;
                if BRIDGE && self.stack.is_empty() {
                    self.bridge.entered(method);
                }
                let method = if carrier { method | CARRIER_BIT } else { method };
                let method = if BRIDGE && self.exact { method | TIMED_BIT } else { method };
                self.stack.push(Frame { method, number: self.number, at: self.now });
            } else if let Some(f) = self.stack.pop_if(|f| f.method() == method) {
                if BRIDGE {
                    self.bridge.whole(method, self.now.saturating_sub(f.at));
                }
            } else {
                self.leave_outer(method);
            }
            if BRIDGE {
                self.exact = false;
            }
        }
    }

    #[cold]
    fn leave_outer(&mut self, method: u32) {
        let is_carrier = self.methods.mark(MethodId(method)) & CARRIER != 0;
        let old = self.bridge.depth();
        // A timed call that was open at a gap still is, so what is left encloses none such; but a virtual thread is
        // unmounted with all its calls.
        let ends_search = |f: Frame| (f.method & CARRIER_BIT != 0 || f.is_timed()) && !is_carrier;
        let frames =
            self.stack.iter().rev().map(|f| (f.method(), f.method & CARRIER_BIT != 0 && !is_carrier));
        let frames = frames.chain(self.bridge.frames().map(|f| (f.method(), ends_search(f))));
        match self.search.find(method, frames, self.stack.len() + old) {
            Some(depth) if depth >= old => self.stack.truncate(depth - old),
            Some(depth) => {
                self.stack.clear();
                self.bridge.leave(depth);
            }
            // The records begin while a virtual thread was mounted: all that is open was opened by it.
            None if is_carrier => {
                self.stack.clear();
                let owner = self.bridge.unmounted(self.part, self.segment.number);
                self.found.unseen.push(Unseen { owner, method: MethodId(method) });
            }
            None => {
                let owner = match self.stack.last() {
                    Some(f) => f.number,
                    None => self.bridge.owner(method, self.part, self.segment.number),
                };
                self.found.unseen.push(Unseen { owner, method: MethodId(method) });
            }
        }
    }

    /// At the gap that begins now, calls of precise methods may end as others may.
    fn doubt_precise(&mut self) {
        let methods = self.methods;
        let is_precise = |f: &Frame| methods.mark(MethodId(f.method())) & PRECISE != 0;
        self.bridge.doubt(&mut self.stack, is_precise);
    }

    /// The brake's gap.
    fn brake(&mut self, from: Nanos, to: Nanos) {
        let known = self.known.filter(|k| k.from <= from && to <= k.to).map(|k| k.method);
        self.bridge.gap(&mut self.stack, to.since(from).0, known, self.part);
        self.number += 1;
        (self.part, self.now, self.exact) = (self.number, to.0, false);
    }

    fn gap(&mut self, from: Nanos, to: Nanos) {
        self.end_segment(from);
        self.bridge.close();
        self.stack.clear();
        self.number += 1;
        self.part = self.number;
        self.segment = Segment { number: self.number, from: to, unseen: self.found.unseen.len() };
    }

    /// A call that is known to run all through a segment is its outermost one, unless the records show it.
    fn end_segment(&mut self, to: Nanos) {
        let Some(k) = self.known.filter(|k| k.from < self.segment.from && to <= k.to) else { return };
        let here = Unseen { owner: self.segment.number, method: k.method };
        if !self.found.unseen[self.segment.unseen..].contains(&here) {
            self.found.unseen.push(here);
        }
    }
}
