//! The speculative consumer (paper, section 4.3): copies blocks while producers go on, and throws
//! a copy away when the block was overtaken meanwhile.
//!
//! The constraint: producers never notice a reader. It writes nothing to the area but its note
//! (`readers.rs`), which no producer reads; in particular, unlike the paper's consumer, it does not close a
//! block in use: a snapshot must not cost the program its half-filled blocks. Such a block is delivered as it
//! is and again next time.

use core::ops::Range;

use crate::Ring;
use crate::atomics::{AtomicU64, Ordering, fence};
use crate::copy::load;
use crate::entry::{Block, Header, State};
use crate::layout::{BLOCK_HEADER, BlockIndex, ENTRY_HEADER, MetadataIndex, Shape};
use crate::mutant::Mutant;
use crate::readers::Reading;
use crate::word::{Managed, Position, RatioPos, Round};

/// How a snapshot ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotEnd {
    /// Where to go on: the first position that was not complete. What was delivered from there on
    /// will be delivered again; replace by position.
    pub next: Position,
    /// Blocks delivered.
    pub delivered: u64,
    /// Of these, the ones not yet complete.
    pub incomplete: u64,
    /// What was not delivered.
    pub lost: Lost,
}

/// Positions from `from` on that were not delivered, or not whole, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Their data block has been reused since, or was before the snapshot came to it; skipped
    /// positions that are older than the ring count here too.
    pub overwritten: u64,
    /// Never filled: a stalled writer held the metadata block.
    pub skipped: u64,
    /// Handed out, but not begun yet (or skipped; that cannot be told yet).
    pub pending: u64,
    /// Not readable now because a writer had not confirmed. Never in [`Ring::salvage`].
    pub busy: u64,
    /// Entries left out because they were never finished. Only in [`Ring::salvage`].
    pub unfinished_entries: u64,
    /// Bytes of blocks that cannot be read because a writer died before it said how long its entry
    /// is. Only in [`Ring::salvage`].
    pub unreadable_bytes: u64,
}

/// What the visit of a position found.
pub(crate) enum Visit {
    /// It is in the buffer: so many bytes, complete or not.
    Copied {
        bytes: usize,
        complete: bool,
    },
    Overwritten,
    Skipped,
    Pending,
    Busy,
}

/// What to do with a block that has unconfirmed entries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unconfirmed {
    /// The paper's rule: such a block cannot be read.
    Leave,
    /// Deliver what is committed.
    Salvage,
}

/// How often a block with unconfirmed entries is looked at before it counts as busy. A running
/// writer confirms within a few hundred ns; a preempted one takes ms, for which nobody waits.
const BUSY_LOOKS: u32 = if cfg!(loom) { 1 } else { 100 };

/// Where the data of positions is, as far as a reader that begins now can tell.
pub(crate) struct Places<'a> {
    reading: Reading<'a>,
    /// From this position on the ratio tells.
    changed_at: u64,
    ratio: u64,
    /// What block headers tell of older positions: position and block, ascending.
    named: Vec<(u64, BlockIndex)>,
}

impl Places<'_> {
    /// The positions of a range that block headers name.
    pub(crate) fn named_in(&self, range: Range<u64>) -> Vec<u64> {
        self.named.iter().map(|&(position, _)| position).filter(|position| range.contains(position)).collect()
    }

    fn block_of(&self, shape: &Shape, position: u64) -> Option<BlockIndex> {
        if position >= self.changed_at {
            return Some(shape.block_of(shape.metadata_of(position), shape.round_of(position), self.ratio));
        }
        let found = self.named.binary_search_by_key(&position, |&(position, _)| position).ok()?;
        Some(self.named[found].1)
    }
}

impl Ring {
    /// The position that the next block will get: how far the ring has come, for those who follow it.
    pub fn end(&self) -> Position {
        // Relaxed: a figure; each block is guarded by its metadata.
        Position(RatioPos(self.global().load(Ordering::Relaxed)).position())
    }

    /// Delivers copies of all blocks retained from `from` on, oldest first, without stopping or
    /// slowing the producers. A block is delivered whole, as far as it is filled, or not at all.
    ///
    /// Allocates (a block, and a list when `from` is further back than the ring is long).
    pub fn snapshot(&self, from: Position, out: &mut dyn FnMut(Block<'_>)) -> SnapshotEnd {
        self.collect(from, Unconfirmed::Leave, out)
    }

    /// As [`Ring::snapshot`], but blocks with unconfirmed entries are delivered too, without
    /// these entries: for after the death of the writers, when nobody will confirm any more. Behind
    /// an entry whose writer died before it said how long it is ([`Lost::unreadable_bytes`]), the next
    /// ones are searched for. It is also safe while writers live.
    pub fn salvage(&self, from: Position, out: &mut dyn FnMut(Block<'_>)) -> SnapshotEnd {
        self.collect(from, Unconfirmed::Salvage, out)
    }

    fn collect(&self, from: Position, mode: Unconfirmed, out: &mut dyn FnMut(Block<'_>)) -> SnapshotEnd {
        let first = from.0.max(self.shape.active());
        let (places, window, end) = self.places(first);
        let mut result = SnapshotEnd { next: Position(end.max(from.0)), ..SnapshotEnd::default() };
        let mut buffer = vec![0u8; self.shape.block_size as usize];
        let mut visit = |position: u64, result: &mut SnapshotEnd| {
            let (mut open, lost) = (false, &mut result.lost);
            match self.visit(position, &places, mode, &mut buffer, lost) {
                Visit::Copied { bytes, complete } => {
                    result.delivered += 1;
                    result.incomplete += u64::from(!complete);
                    open = !complete;
                    let round = self.shape.round_of(position);
                    out(Block { position: Position(position), bytes: &buffer[..bytes], complete, round });
                }
                Visit::Overwritten => lost.overwritten += 1,
                Visit::Skipped => lost.skipped += 1,
                Visit::Pending => (open, lost.pending) = (true, lost.pending + 1),
                Visit::Busy => (open, lost.busy) = (true, lost.busy + 1),
            }
            if open {
                result.next = result.next.min(Position(position));
            }
        };
        // Older than one length of the ring, yet still there because their successors were skipped.
        let older = places.named.partition_point(|&(position, _)| position < window);
        result.lost.overwritten = window - first - older as u64;
        for &(position, _) in &places.named[..older] {
            visit(position, &mut result);
        }
        for position in window..end {
            visit(position, &mut result);
        }
        result
    }

    /// Begins a reading of the positions from `first` on. With it: the first position that is not older
    /// than the ring is long, and the end.
    pub(crate) fn places(&self, first: u64) -> (Places<'_>, u64, u64) {
        let reading = self.begin_reading();
        let (ratio, changed_at, end) = (self.ratio(), self.changed_at().0, self.end().0);
        let window = first.max(end.saturating_sub(ratio * self.shape.active())).min(end.max(first));
        let told = changed_at.min(end).max(window);
        let named = if told > first { self.positions_in(first, told, ratio) } else { Vec::new() };
        (Places { reading, changed_at, ratio, named }, window, end)
    }

    /// The positions from `first` to below `end` that some data block's header names, ascending.
    fn positions_in(&self, first: u64, end: u64, ratio: u64) -> Vec<(u64, BlockIndex)> {
        let rows = self.rows_used().min(ratio);
        let blocks = (0..rows * self.shape.active()).map(BlockIndex);
        let named = blocks.filter_map(|index| {
            let position = self.header_of(index)?;
            let here = self.shape.metadata_of(position) == self.shape.metadata_of(index.0);
            (here && (first..end).contains(&position)).then_some((position, index))
        });
        let mut named: Vec<_> = named.collect();
        named.sort_unstable_by_key(|&(position, _)| position);
        named.dedup_by_key(|&mut (position, _)| position);
        named
    }

    fn header_of(&self, block: BlockIndex) -> Option<u64> {
        // Relaxed: what it says is checked against the metadata.
        self.data(block, 0, BLOCK_HEADER).first().map(|head| head.load(Ordering::Relaxed))
    }

    /// Copies the block at `position` into `buffer`, if it can be read.
    pub(crate) fn visit(
        &self,
        position: u64,
        places: &Places<'_>,
        mode: Unconfirmed,
        buffer: &mut [u8],
        lost: &mut Lost,
    ) -> Visit {
        let shape = &self.shape;
        let (m, round) = (shape.metadata_of(position), shape.round_of(position));
        for look in 0..=BUSY_LOOKS {
            let salvage = look == BUSY_LOOKS && mode == Unconfirmed::Salvage;
            // ORDERING: Acquire; pairs with the Release exchange in `take`: a published round's lease is seen.
            let managed = Managed(self.managed(m).load(Ordering::Acquire));
            match managed.cmp_round(round) {
                core::cmp::Ordering::Less => return Visit::Pending,
                core::cmp::Ordering::Equal => {
                    let (lease, block) = (managed.lease(), shape.block_named(managed.block()));
                    let confirmed = self.confirmed_of(m, lease);
                    if confirmed.round > round {
                        // Someone newer has locked the lease: it was full.
                        return self.copy_whole(m, block, position, shape.block_size, true, buffer);
                    }
                    // Allocated after Confirmed: if they are equal, both were at the first load, because
                    // Confirmed never exceeds Allocated.
                    // ORDERING: Acquire; pairs with the Release exchange of Allocated in `take`: if it is
                    // in our round, the block header is written.
                    let allocated = shape.unpack(self.allocated(m).load(Ordering::Acquire));
                    if allocated.round < round || confirmed.round < round {
                        return Visit::Pending;
                    }
                    // In a later round only when this one was closed.
                    let over = allocated.round > round;
                    let filled = if over { shape.block_size } else { shape.filled(allocated) & !7 };
                    if confirmed.pos == filled {
                        let complete = filled == shape.block_size;
                        return self.copy_whole(m, block, position, filled, complete, buffer);
                    }
                    if salvage {
                        return self.copy_committed(m, block, position, filled, buffer, lost);
                    }
                }
                core::cmp::Ordering::Greater => {
                    let held = self.unconfirmed(m).find(|(_, confirmed)| confirmed.round == round);
                    let held = held.and_then(|(lease, _)| self.block_leased(m, lease, round));
                    match held {
                        None => return self.copy_past(m, position, places, buffer),
                        // It was left behind.
                        Some(block) if salvage => {
                            return self.copy_committed(m, block, position, shape.block_size, buffer, lost);
                        }
                        Some(_) => {}
                    }
                }
            }
            core::hint::spin_loop();
        }
        Visit::Busy
    }

    /// Copies the block of a round that is over, if it was ever taken and its data block not reused.
    fn copy_past(&self, m: MetadataIndex, position: u64, places: &Places<'_>, buffer: &mut [u8]) -> Visit {
        let visit = match places.block_of(&self.shape, position) {
            Some(block) => self.copy_whole(m, block, position, self.shape.block_size, true, buffer),
            None => Visit::Overwritten,
        };
        match visit {
            // The ratio has changed, so it was looked for in the wrong place: next time.
            Visit::Overwritten | Visit::Skipped if !places.reading.is_current() => Visit::Busy,
            visit => visit,
        }
    }

    /// Whether the data block has been (or is being) reused or given back since it held `position`. To be
    /// asked after the copy.
    ///
    /// A round that uses the same data block first shows in Managed and then, before Managed leaves it, in
    /// the block header. Whoever gives the block back changes the header first.
    fn reused(&self, m: MetadataIndex, block: BlockIndex, position: u64) -> bool {
        if self.mutated(Mutant::NotRechecked) {
            return false;
        }
        if !self.mutated(Mutant::ReaderFenceMissing) {
            // ORDERING: Acquire fence; pairs with the Release fences of the writers: if a load before
            // it saw a store of a later round, the loads after it see Managed and the header of that
            // round (I6).
            fence(Ordering::Acquire);
        }
        // Relaxed: ordered by the fence.
        let managed = Managed(self.managed(m).load(Ordering::Relaxed));
        let later = managed.cmp_round(self.shape.round_of(position)).is_ne() && managed.block() == block.0;
        later || self.header_of(block) != Some(position)
    }

    /// Copies the first `bytes` bytes of a block, all confirmed.
    fn copy_whole(
        &self,
        m: MetadataIndex,
        block: BlockIndex,
        position: u64,
        bytes: u64,
        complete: bool,
        buffer: &mut [u8],
    ) -> Visit {
        match self.header_of(block) {
            Some(head) if head == position => {}
            Some(head) if head < position => return Visit::Skipped,
            _ => return Visit::Overwritten,
        }
        load(self.data(block, 0, bytes), &mut buffer[..bytes as usize]);
        match self.reused(m, block, position) {
            true => Visit::Overwritten,
            false => Visit::Copied { bytes: bytes as usize, complete },
        }
    }

    /// Copies the committed entries of a block's first `bytes` bytes; what is not committed becomes
    /// filler in the copy.
    fn copy_committed(
        &self,
        m: MetadataIndex,
        block: BlockIndex,
        position: u64,
        bytes: u64,
        buffer: &mut [u8],
        lost: &mut Lost,
    ) -> Visit {
        if self.header_of(block) != Some(position) {
            return Visit::Pending;
        }
        let round = self.shape.round_of(position);
        let buffer = &mut buffer[..bytes.max(BLOCK_HEADER) as usize];
        buffer[..8].copy_from_slice(&position.to_le_bytes());
        let mut at = BLOCK_HEADER;
        let (mut unfinished, mut unreadable) = (0, 0);
        while at < bytes {
            let words: &[AtomicU64] = self.data(block, at, bytes);
            // ORDERING: Acquire; pairs with the Release of the header in `commit`: the payload of
            // a committed entry is written.
            let word = words.first().map_or(0, |head| head.load(Ordering::Acquire));
            let header = Header::unpack(word, round).filter(|header| at + header.size() <= bytes);
            let (header, word) = match header {
                Some(header @ Header { state: State::Committed | State::Filler, .. }) => (header, word),
                Some(header) => {
                    unfinished += 1;
                    let filler = Header { state: State::Filler, ..header };
                    (filler, filler.pack(round))
                }
                None => {
                    let hole = self.next_entry(words, round).map_or(bytes - at, |words| words as u64 * 8);
                    unreadable += hole;
                    let filler = Header { state: State::Filler, kind: 0, length: hole - ENTRY_HEADER };
                    (filler, filler.pack(round))
                }
            };
            let (start, stop) = (at as usize, (at + header.size()) as usize);
            if header.state == State::Committed {
                load(&words[..(stop - start) / 8], &mut buffer[start..stop]);
            }
            buffer[start..start + 8].copy_from_slice(&word.to_le_bytes());
            at = stop as u64;
        }
        if self.reused(m, block, position) {
            return Visit::Overwritten;
        }
        lost.unfinished_entries += unfinished;
        lost.unreadable_bytes += unreadable;
        Visit::Copied { bytes: buffer.len(), complete: false }
    }

    /// Where, in words of `words`, entries go on behind a hole that a writer left who died before it said how long
    /// its entry is; never 0. What an earlier round left has another stamp; what happens to look like a header
    /// within a payload is not followed by others up to the end, or up to another hole.
    fn next_entry(&self, words: &[AtomicU64], round: Round) -> Option<usize> {
        let header = |at: usize| {
            // ORDERING: Acquire, as in `copy_committed`.
            Header::unpack(words.get(at)?.load(Ordering::Acquire), round)
        };
        let leads_on = |&at: &usize| {
            let (mut end, mut entries) = (at, 0);
            while let Some(header) = header(end) {
                (end, entries) = (end + header.size() as usize / 8, entries + 1);
            }
            end == words.len() || (entries >= 2 && end < words.len())
        };
        (1..words.len()).filter(|&at| header(at).is_some()).find(leads_on)
    }
}
