//! Before the decode: gives each virtual thread a stream of its own, made of its turns on the carriers.
//!
//! The constraint that shaped it: a virtual thread writes its slots where its carrier does, so a call that parks has its
//! entry in one thread's chunks and its exit in another's. And a recording may hold a million virtual threads, of
//! which nobody looks at more than a few. So carriers' chunks are passed over once for the turns (who, from when to
//! when, which words), and only the [`MOST_TRACKS`] threads that lasted longest, and the trigger's, get a track: their
//! words move into chunks of their own, and what stays of a turn on its carrier is one call named for the thread. The
//! words of the others stay where they are; a call that parks is in pieces there.
//!
//! Two turns are joined only when nothing can be missing between them: no carrier has lost records in that time. Else
//! there is a gap, and what was open is cut. It must not decode: what slots mean is not known here, but for the marks of
//! carriers and waits.

use crate::Flags;
use crate::decode::unrecorded;
use crate::methods::{CARRIER, Methods};
use crate::pieces::{Piece, Pieces};
use lookback_format::event::Chunk;
use lookback_format::slot::{EXIT, GapCause, entry, exit, gap, time};
use lookback_format::symbol::Wait;
use lookback_format::{MethodId, Nanos, Seq, ThreadKey};
use std::collections::HashSet;

/// So many virtual threads have tracks of their own: more than anybody looks at, few enough for every viewer.
pub(crate) const MOST_TRACKS: usize = 1_000;
/// Words of a TIME record.
const TIME_WORDS: u32 = 3;

/// A place in a carrier's chunks: which one, which word.
type At = (u32, u32);

/// A virtual thread's time on a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    tid: u64,
    carrier: u32,
    /// Its words, without the carrier's own entry and exit.
    from: At,
    to: At,
    start: Nanos,
    end: Nanos,
    /// Whether its beginning and its end were seen.
    begun: bool,
    ended: bool,
}

/// A virtual thread that has a track.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) tid: u64,
    pub(crate) chunks: Vec<Chunk>,
    /// What is open after the last chunk was open until then, for all that is known; none: until the recording ends.
    pub(crate) until: Option<Nanos>,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// How many virtual threads ran.
    pub(crate) seen: u64,
    /// Those that have a track, by key.
    pub(crate) streams: Vec<Stream>,
}

/// Takes virtual threads out of the chunks of `carriers`, which are all platform threads' and in order. `trigger` has a
/// track in any case; keys in `taken` are other threads'. The recording ends at `end`.
pub(crate) fn split(
    carriers: &mut [&mut Vec<Chunk>],
    methods: &mut Methods,
    trigger: Option<ThreadKey>,
    taken: &HashSet<ThreadKey>,
    end: Nanos,
) -> Found {
    if !methods.iter().any(|m| m.wait == Wait::Carrier) {
        return Found::default();
    }
    let mut scan = Scan { methods, turns: Vec::new(), ready: Vec::new(), holes: Vec::new() };
    for (i, chunks) in (0..).zip(carriers.iter()) {
        scan.carrier(i, chunks);
    }
    let (mut turns, mut ready, holes) = (scan.turns, scan.ready, Holes::new(scan.holes));
    ready.sort_unstable();
    turns.sort_unstable_by_key(|t| (t.tid, t.start, t.carrier, t.from));
    let mut threads: Vec<&[Turn]> = turns.chunk_by(|a, b| a.tid == b.tid).collect();
    let seen = threads.len() as u64;
    threads.sort_by_cached_key(|t| {
        let (first, last) = (t[0].start, t.iter().map(|t| t.end).max().unwrap_or_default());
        (Some(ThreadKey::of_virtual(t[0].tid)) != trigger, std::cmp::Reverse(last.since(first)), t[0].tid)
    });
    let mut keys = taken.clone();
    threads
        .retain(|t| keys.len() - taken.len() < MOST_TRACKS && keys.insert(ThreadKey::of_virtual(t[0].tid)));
    if threads.is_empty() {
        return Found { seen, streams: Vec::new() };
    }
    let ids = Ids {
        unmounted: methods.add("java.lang.VirtualThread", "<unmounted>", Wait::Unmounted),
        pinned: methods.add("java.lang.VirtualThread", "<pinned>", Wait::Pinned),
        ready: methods.add("java.lang.VirtualThread", "<ready>", Wait::Ready),
    };
    let mut moved = Vec::new();
    let streams = threads
        .into_iter()
        .map(|turns| {
            let name = format!("runContinuation #{}", turns[0].tid);
            let named = methods.add("java.lang.VirtualThread", &name, Wait::Carrier);
            moved.extend(turns.iter().map(|t| (t.carrier, *t, named)));
            let weaver = Weaver {
                carriers,
                methods,
                ids,
                holes: &holes,
                ready: of_thread(&ready, turns[0].tid),
                chunks: Vec::new(),
                depth: 0,
                newest: 0,
            };
            weaver.weave(turns, end)
        })
        .collect();
    moved.sort_unstable_by_key(|(carrier, t, _)| (*carrier, t.from));
    for turns in moved.chunk_by(|a, b| a.0 == b.0) {
        take_out(carriers[turns[0].0 as usize], turns.iter().map(|(_, t, named)| (*t, *named)));
    }
    Found { seen, streams }
}

/// Methods that the stage adds to the records.
#[derive(Clone, Copy)]
struct Ids {
    unmounted: Option<MethodId>,
    pinned: Option<MethodId>,
    ready: Option<MethodId>,
}

/// Finds turns, and times in which there may have been others.
struct Scan<'a> {
    methods: &'a Methods,
    turns: Vec<Turn>,
    /// When virtual threads were handed to their scheduler.
    ready: Vec<(u64, Nanos)>,
    holes: Vec<(Nanos, Nanos)>,
}

impl Scan<'_> {
    fn carrier(&mut self, carrier: u32, chunks: &[Chunk]) {
        let holes = self.holes.len();
        if !self.turns_of(carrier, chunks) {
            // Another thread: but when all that is older was overwritten, carriers may be gone altogether.
            let begins = chunks.first().filter(|c| c.seq.0 > 0).map(|c| (Nanos(0), c.first));
            self.holes.truncate(holes);
            self.holes.extend(begins);
        }
    }

    /// Whether the thread is a carrier.
    fn turns_of(&mut self, carrier: u32, chunks: &[Chunk]) -> bool {
        let mut is_carrier = false;
        let mut open: Option<Turn> = None;
        for (n, chunk) in (0_u32..).zip(chunks) {
            let before = n.checked_sub(1).map(|b| &chunks[b as usize]);
            let (missing, lost) = match before {
                None => (chunk.seq.0 > 0, false),
                Some(b) => (chunk.seq.0 != b.seq.0.wrapping_add(1), unrecorded(chunk) > 0),
            };
            if missing || lost {
                let from = before.map_or(Nanos(0), |b| b.last);
                self.holes.push((from, if lost { chunk.last } else { chunk.first }));
                self.close(&mut open, (n, 0), from, false);
            }
            let mut pieces = Pieces::with_mounts(&chunk.slots);
            let offset = |pieces: &Pieces<'_>| (chunk.slots.len() - pieces.rest()) as u32;
            // The last stamp if it was exact, and where it stands.
            let mut stamp: Option<(Nanos, u32)> = None;
            let mut next: Option<u64> = None;
            loop {
                let at = offset(&pieces);
                match pieces.next() {
                    // Of a slab that was copied while its thread went on: other carriers have nothing of that time.
                    Some(Piece::Time(t)) if t > chunk.last => {
                        self.close(&mut open, (n, at), chunk.last, false);
                        return is_carrier;
                    }
                    Some(Piece::Time(t)) => stamp = Some((t.max(chunk.first), at)),
                    Some(Piece::Mount(tid, false)) => (next, is_carrier) = (Some(tid), true),
                    Some(Piece::Ready(tid, t)) if t <= chunk.last => {
                        self.ready.push((tid, t.max(chunk.first)))
                    }
                    Some(Piece::Mount(tid, true)) => {
                        is_carrier = true;
                        if open.is_none_or(|t| t.tid != tid) {
                            let start = stamp.map_or(chunk.first, |s| s.0);
                            self.close(&mut open, (n, at), start, false);
                            open = Some(turn(tid, carrier, (n, offset(&pieces)), start, false));
                        }
                    }
                    Some(Piece::Slots(slots)) => {
                        let first = slots[0];
                        let is_carrier = self.methods.mark(MethodId(first & MethodId::MAX)) & CARRIER != 0;
                        match (next.take(), stamp.take()) {
                            (Some(tid), Some((t, stands))) if is_carrier && first & EXIT == 0 => {
                                self.close(&mut open, (n, stands), t, false);
                                let words = offset(&pieces) - slots.len() as u32 + 1;
                                open = Some(turn(tid, carrier, (n, words), t, true));
                            }
                            (None, Some((t, stands))) if is_carrier && first & EXIT != 0 => {
                                // Its words end where the stamp stands, when nothing but that is between.
                                let adjoins = stands + TIME_WORDS == offset(&pieces) - slots.len() as u32;
                                self.close(&mut open, (n, if adjoins { stands } else { at }), t, adjoins);
                            }
                            _ => {}
                        }
                    }
                    Some(Piece::Ready(..)) => {}
                    Some(Piece::Tick(_)) => stamp = None,
                    Some(Piece::Gap(cause, _)) if cause.is_brake() => stamp = None,
                    Some(Piece::Gap(..) | Piece::Unreadable(_)) => {
                        self.holes.push((chunk.first, chunk.last));
                        self.close(&mut open, (n, at), stamp.map_or(chunk.last, |s| s.0), false);
                    }
                    None => break,
                }
            }
        }
        let end = chunks.last().map_or(Nanos(0), |c| c.last);
        self.close(&mut open, (chunks.len() as u32, 0), end, false);
        is_carrier
    }

    fn close(&mut self, open: &mut Option<Turn>, to: At, end: Nanos, ended: bool) {
        if let Some(turn) = open.take() {
            self.turns.push(Turn { to, end: end.max(turn.start), ended, ..turn });
        }
    }
}

fn turn(tid: u64, carrier: u32, from: At, start: Nanos, begun: bool) -> Turn {
    Turn { tid, carrier, from, to: from, start, end: start, begun, ended: false }
}

/// Times in which some carrier has lost records, in order and apart from each other.
struct Holes(Vec<(Nanos, Nanos)>);

impl Holes {
    fn new(mut all: Vec<(Nanos, Nanos)>) -> Holes {
        all.sort_unstable();
        let mut merged: Vec<(Nanos, Nanos)> = Vec::new();
        for (from, to) in all {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to.max(from))),
            }
        }
        Holes(merged)
    }

    fn touch(&self, from: Nanos, to: Nanos) -> bool {
        let next = self.0.partition_point(|h| h.1 <= from);
        self.0.get(next).is_some_and(|h| h.0 < to)
    }
}

/// What there is of one thread, in what is in order.
fn of_thread(ready: &[(u64, Nanos)], tid: u64) -> &[(u64, Nanos)] {
    let from = ready.partition_point(|r| r.0 < tid);
    let len = ready[from..].partition_point(|r| r.0 == tid);
    &ready[from..from + len]
}

/// Makes one virtual thread's stream.
struct Weaver<'a> {
    carriers: &'a [&'a mut Vec<Chunk>],
    methods: &'a Methods,
    ids: Ids,
    holes: &'a Holes,
    /// When it was handed to its scheduler.
    ready: &'a [(u64, Nanos)],
    chunks: Vec<Chunk>,
    /// How many calls are open, about.
    depth: u64,
    /// The newest slot.
    newest: u32,
}

impl Weaver<'_> {
    fn weave(mut self, turns: &[Turn], end: Nanos) -> Stream {
        let mut last: Option<Turn> = None;
        for t in turns {
            // A carrier that finds another at it leaves at once. Only hostile records have more than nothing there.
            if t.from == t.to && last.is_some_and(|l| t.start < l.end) {
                continue;
            }
            let t = match last {
                Some(l) => {
                    let start = t.start.max(l.end);
                    Turn { start, end: t.end.max(start), ..*t }
                }
                None => *t,
            };
            self.turn(last, t);
            last = Some(t);
        }
        let tid = turns[0].tid;
        let Some(last) = last.filter(|l| l.ended) else { return self.stream(tid, None) };
        if self.holes.touch(last.end, end) {
            return self.stream(tid, Some(last.end));
        }
        let mut slots = Vec::new();
        let ready = self.ready_within(last.end, end);
        if self.depth > 0 && !self.waits() {
            self.begin(self.ids.unmounted, last.end, &mut slots);
            if let Some(at) = ready {
                self.end(self.ids.unmounted, at, &mut slots);
            }
        }
        if let Some(at) = ready {
            self.begin(self.ids.ready, at, &mut slots);
        }
        if !slots.is_empty() {
            self.push(last.end, end, slots);
        }
        self.stream(tid, None)
    }

    fn stream(self, tid: u64, until: Option<Nanos>) -> Stream {
        Stream { tid, chunks: self.chunks, until }
    }

    /// When it was handed to its scheduler in this time.
    fn ready_within(&mut self, from: Nanos, to: Nanos) -> Option<Nanos> {
        self.ready = &self.ready[self.ready.partition_point(|r| r.1 < from)..];
        self.ready.first().map(|r| r.1).filter(|at| *at < to)
    }

    fn begin(&self, id: Option<MethodId>, at: Nanos, slots: &mut Vec<u32>) {
        if let Some(id) = id {
            slots.extend(time(at));
            slots.push(entry(id));
        }
    }

    fn end(&self, id: Option<MethodId>, at: Nanos, slots: &mut Vec<u32>) {
        if let Some(id) = id {
            slots.extend(time(at));
            slots.push(exit(id));
        }
    }

    /// Whether the newest slot is the entry into a wait: then that says why it does not run.
    fn waits(&self) -> bool {
        self.newest & EXIT == 0 && self.methods.mark(MethodId(self.newest)) & Flags::WAIT.0 != 0
    }

    fn turn(&mut self, last: Option<Turn>, t: Turn) {
        let (mut first, mut slots) = (t.start, Vec::new());
        let ready = self.ready_within(last.map_or(Nanos(0), |l| l.end), t.start);
        if let Some(l) = last {
            first = l.end;
            if !l.ended || !t.begun || self.holes.touch(l.end, t.start) {
                slots.extend(gap(GapCause::Carrier, 0));
                self.depth = 0;
            } else if !self.waits() {
                self.begin(self.ids.unmounted, l.end, &mut slots);
                self.end(self.ids.unmounted, ready.unwrap_or(t.start), &mut slots);
            }
        }
        if let Some(at) = ready.filter(|_| t.begun) {
            first = first.min(at);
            self.begin(self.ids.ready, at, &mut slots);
            self.end(self.ids.ready, t.start, &mut slots);
        }
        slots.extend(time(t.start));
        let chunks = &self.carriers[t.carrier as usize];
        for n in t.from.0..=t.to.0 {
            let Some(chunk) = chunks.get(n as usize) else { break };
            let from = if n == t.from.0 { t.from.1 as usize } else { 0 };
            let to = if n == t.to.0 { t.to.1 as usize } else { chunk.slots.len() };
            let words = chunk.slots.get(from..to).unwrap_or_default();
            if n > t.from.0 {
                if words.is_empty() {
                    break;
                }
                first = chunk.first.max(t.start);
            }
            self.words(words, &mut slots);
            self.push(first, chunk.last.min(t.end), std::mem::take(&mut slots));
        }
    }

    /// Copies a turn's words. A wait for a monitor that begins and ends within the turn is one of the carrier as well.
    fn words(&mut self, words: &[u32], out: &mut Vec<u32>) {
        let mut pieces = Pieces::new(words);
        let mut copied = 0;
        let mut stamp: Option<Nanos> = None;
        // The method of a wait, its begin, and where its entry ends.
        let mut waiting: Option<(u32, Nanos, usize)> = None;
        while let Some(piece) = pieces.next() {
            let Piece::Slots(slots) = piece else {
                stamp = if let Piece::Time(t) = piece { Some(t) } else { None };
                waiting = waiting.filter(|_| stamp.is_some());
                continue;
            };
            self.newest = slots[slots.len() - 1];
            let exits = slots.iter().filter(|w| **w & EXIT != 0).count() as u64;
            self.depth = (self.depth + slots.len() as u64 - exits).saturating_sub(exits);
            if let (Some((entered, begun, after)), Some(ended), Some(id)) =
                (waiting.take(), stamp, self.ids.pinned)
                && slots[0] == entered | EXIT
            {
                out.extend_from_slice(&words[copied..after]);
                out.extend(time(begun));
                out.push(entry(id));
                out.extend(time(ended));
                out.push(exit(id));
                copied = after;
            }
            if let ([entered], Some(begun)) = (slots, stamp.take())
                && matches!(self.methods.wait(MethodId(*entered)), Wait::Monitor | Wait::ObjectWait)
            {
                waiting = Some((*entered, begun, words.len() - pieces.rest()));
            }
        }
        out.extend_from_slice(&words[copied..]);
    }

    fn push(&mut self, first: Nanos, last: Nanos, slots: Vec<u32>) {
        let seq = Seq(self.chunks.len() as u32);
        self.chunks.push(Chunk { thread: ThreadKey(0), seq, first, last: last.max(first), lost: 0, slots });
    }
}

/// Takes the words of `turns`, which are in order, out of their carrier's chunks; the call that is left of each is of the
/// method that comes with it.
fn take_out(chunks: &mut [Chunk], turns: impl Iterator<Item = (Turn, Option<MethodId>)>) {
    let mut gone: Vec<(At, At)> = Vec::new();
    for (t, named) in turns {
        let mut rename = |at: (u32, Option<u32>)| {
            let slots = chunks.get_mut(at.0 as usize).map(|c| &mut c.slots);
            let word = slots.zip(at.1).and_then(|(slots, w)| slots.get_mut(w as usize));
            if let (Some(word), Some(id)) = (word, named) {
                *word = *word & EXIT | id.0;
            }
        };
        if t.begun {
            rename((t.from.0, t.from.1.checked_sub(1)));
        }
        if t.ended {
            rename((t.to.0, t.to.1.checked_add(TIME_WORDS)));
        }
        gone.push((t.from, t.to));
    }
    let mut gone = gone.into_iter().peekable();
    for (n, chunk) in (0_u32..).zip(chunks) {
        let len = chunk.slots.len();
        let mut kept = Vec::new();
        let mut copied = 0;
        while let Some(&(from, to)) = gone.peek().filter(|(from, _)| from.0 <= n) {
            let begin = if from.0 < n { 0 } else { from.1 as usize };
            let end = if to.0 > n { len } else { to.1 as usize };
            kept.extend_from_slice(chunk.slots.get(copied..begin).unwrap_or_default());
            copied = end.clamp(copied, len);
            if to.0 > n {
                break;
            }
            gone.next();
        }
        if copied > 0 {
            kept.extend_from_slice(&chunk.slots[copied..]);
            chunk.slots = kept;
        }
    }
}
