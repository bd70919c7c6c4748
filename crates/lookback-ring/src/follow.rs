//! A consumer that follows the producers: each event once, each block's end known, each loss told with its
//! place.
//!
//! The constraint: producers go on and cores fall idle with half-filled blocks, so an event must not wait for
//! its block to be full, and none may be given twice. The follower therefore remembers of each block that is
//! still in use how much of it has been delivered; there are at most as many of them as positions in use.
//! It holds no lock and nothing of the ring's between two looks, so any number of them can follow one ring.

use std::collections::BTreeMap;

use crate::Ring;
use crate::consume::{Lost, Places, Unconfirmed, Visit};
use crate::entry::{Block, Entries};
use crate::layout::BLOCK_HEADER;
use crate::word::Position;

/// What a look of a [`Follower`] brings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Delivery<'a> {
    /// Events of a block that have not been delivered before, in order.
    Events {
        /// The block's place in the sequence of all blocks.
        position: Position,
        /// The new ones.
        events: Entries<'a>,
        /// Nothing will be added to this block any more.
        complete: bool,
    },
    /// The rest of a block, or all of it, will not come.
    Lost(LostBlock),
}

/// A block that a follower did not get, or not to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostBlock {
    /// First position that is meant.
    pub position: Position,
    /// How many positions, from that on.
    pub blocks: u64,
    /// Bytes of the block that were delivered before, its header included; 0: nothing of it.
    pub delivered: u64,
    /// Why.
    pub cause: LossCause,
}

/// Why a block is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossCause {
    /// Its space was reused, or given back, before the follower came.
    Overwritten,
    /// It never held anything: a stalled writer held the metadata block. Nothing is lost.
    Skipped,
}

/// A consumer's place in a ring. Independent of all others.
#[derive(Clone, Debug, Default)]
pub struct Follower {
    /// First position not looked at.
    next: u64,
    /// Older positions that are not done with, and the bytes delivered of each.
    open: BTreeMap<u64, usize>,
    buffer: Vec<u8>,
}

impl Follower {
    /// Begins at `from`: [`Position::START`] for all that is retained, [`Ring::end`] for what comes.
    pub fn new(from: Position) -> Follower {
        Follower { next: from.0, ..Follower::default() }
    }

    /// Delivers what has come since the last look and returns how many deliveries that were; 0 when there was
    /// nothing new. Blocks come in the order of their positions; events of one core are in order, as they
    /// are in its blocks.
    pub fn look(&mut self, ring: &Ring, out: &mut dyn FnMut(Delivery<'_>)) -> usize {
        self.look_as(ring, Unconfirmed::Leave, out)
    }

    /// The last look, after the death of the writers: as [`Ring::salvage`].
    pub fn last_look(mut self, ring: &Ring, out: &mut dyn FnMut(Delivery<'_>)) -> usize {
        self.look_as(ring, Unconfirmed::Salvage, out)
    }

    fn look_as(&mut self, ring: &Ring, mode: Unconfirmed, out: &mut dyn FnMut(Delivery<'_>)) -> usize {
        self.buffer.resize(ring.shape.block_size as usize, 0);
        let first = self.next.max(ring.shape.active());
        let oldest = self.open.keys().next().copied().unwrap_or(first);
        let (places, window, end) = ring.places(oldest);
        let mut deliveries = 0;
        let mut deliver = |delivery: Delivery<'_>| {
            deliveries += 1;
            out(delivery);
        };
        let open: Vec<u64> = self.open.keys().copied().collect();
        open.into_iter().for_each(|position| self.visit(ring, &places, position, mode, &mut deliver));
        // New ones that are older than the ring is long: only what has survived by chance is still there.
        let window = window.max(first);
        let mut from = first;
        for position in places.named_in(first..window).into_iter().chain([window]) {
            if position > from {
                deliver(lost(from, position - from, 0, LossCause::Overwritten));
            }
            if position < window {
                self.visit(ring, &places, position, mode, &mut deliver);
            }
            from = position + 1;
        }
        (window..end).for_each(|position| self.visit(ring, &places, position, mode, &mut deliver));
        self.next = end.max(self.next);
        deliveries
    }

    fn visit(
        &mut self,
        ring: &Ring,
        places: &Places<'_>,
        position: u64,
        mode: Unconfirmed,
        deliver: &mut impl FnMut(Delivery<'_>),
    ) {
        let before = self.open.get(&position).copied().unwrap_or(0);
        match ring.visit(position, places, mode, &mut self.buffer, &mut Lost::default()) {
            Visit::Copied { bytes, complete } => {
                let from = before.max(BLOCK_HEADER as usize);
                if bytes > from || complete {
                    let events =
                        Block::entries_of(&self.buffer[..bytes], from, ring.shape.round_of(position));
                    deliver(Delivery::Events { position: Position(position), events, complete });
                }
                match complete {
                    true => self.open.remove(&position),
                    false => self.open.insert(position, bytes),
                };
            }
            visit @ (Visit::Overwritten | Visit::Skipped) => {
                let skipped = before == 0 && matches!(visit, Visit::Skipped);
                let cause = if skipped { LossCause::Skipped } else { LossCause::Overwritten };
                deliver(lost(position, 1, before as u64, cause));
                self.open.remove(&position);
            }
            Visit::Pending | Visit::Busy => {
                self.open.entry(position).or_insert(0);
            }
        }
    }
}

fn lost<'a>(position: u64, blocks: u64, delivered: u64, cause: LossCause) -> Delivery<'a> {
    Delivery::Lost(LostBlock { position: Position(position), blocks, delivered, cause })
}
