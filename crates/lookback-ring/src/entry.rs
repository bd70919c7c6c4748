//! The header of an entry, one word, and the walk over the entries of a copied block.
//!
//! The constraint: a block is never cleared, so what an earlier round left behind and what a writer
//! reserved but never wrote must not pass for an entry. Hence the stamp (low bits of the block's
//! round) and the state in each header; the header is written in state Reserved before the payload and
//! in state Committed after it.
//!
//! ```text
//! bit 63 ............ 38 | 37 36 | 35 ............ 16 | 15 .... 0
//!     stamp (26 bits)    | state | payload length     | kind
//! ```
//!
//! States: 0 nothing was written here, 1 reserved, 2 committed, 3 filler (the paper's dummy, no
//! event). A word of zeros is state 0, so fresh memory holds no entry.
//!
//! A stamp repeats after 2^26 rounds of a metadata block: for a stale header to pass, its word must
//! have stayed unwritten for that many rounds and be reached as a header again.
//!
//! Nothing here touches the ring's memory: it reads private copies.

use crate::layout::{BLOCK_HEADER, ENTRY_HEADER};
use crate::word::{Position, Round};

const LENGTH_BITS: u32 = 20;
const STAMP_BITS: u32 = 26;

/// What an entry's header says about its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The space is taken, the payload is not (yet) written.
    Reserved = 1,
    /// The payload is whole.
    Committed = 2,
    /// No event: the rest of a closed block.
    Filler = 3,
}

/// An entry's header, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) state: State,
    pub(crate) kind: u16,
    /// Exact payload length in bytes; the entry takes [`entry_size`] of it.
    pub(crate) length: u64,
}

impl Header {
    #[inline]
    pub(crate) fn pack(self, round: Round) -> u64 {
        (round.0 << (64 - STAMP_BITS))
            | ((self.state as u64) << (16 + LENGTH_BITS))
            | (self.length << 16)
            | u64::from(self.kind)
    }

    /// `None` unless the word is a header of this round.
    pub(crate) fn unpack(word: u64, round: Round) -> Option<Header> {
        let state = match (word >> (16 + LENGTH_BITS)) & 3 {
            1 => State::Reserved,
            2 => State::Committed,
            3 => State::Filler,
            _ => return None,
        };
        let stamp = word >> (64 - STAMP_BITS);
        let length = (word >> 16) & ((1 << LENGTH_BITS) - 1);
        (stamp == round.0 & ((1 << STAMP_BITS) - 1)).then_some(Header { state, kind: word as u16, length })
    }

    /// Bytes of the entry in the block.
    pub(crate) fn size(self) -> u64 {
        entry_size(self.length)
    }
}

/// Bytes that an entry with a payload of `length` bytes takes in a block: a multiple of 8.
#[inline]
pub(crate) fn entry_size(length: u64) -> u64 {
    (ENTRY_HEADER + length).next_multiple_of(8)
}

/// One recorded event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The kind given to [`crate::Ring::write`].
    pub kind: u16,
    /// The parts given to [`crate::Ring::write`], joined, with their exact length.
    pub payload: &'a [u8],
}

/// A private copy of one data block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Its place in the sequence of all blocks.
    pub position: Position,
    /// The block's bytes as far as they were allocated, its 8-byte header (the position) first.
    pub bytes: &'a [u8],
    /// Nothing will be added to this block any more. A block that is not complete is delivered
    /// again, from its beginning, by the next snapshot.
    pub complete: bool,
    pub(crate) round: Round,
}

impl<'a> Block<'a> {
    /// Takes up a block that was stored away: `bytes` as delivered, `active` as in the ring's
    /// [`crate::Geometry`]. `None` when it is too short to hold a header or `active` is no power of
    /// two.
    pub fn from_bytes(bytes: &'a [u8], active: u32, complete: bool) -> Option<Block<'a>> {
        let position = word_at(bytes, 0)?;
        let round = Round(position >> active.is_power_of_two().then(|| active.trailing_zeros())?);
        Some(Block { position: Position(position), bytes, complete, round })
    }

    /// The events in the order in which their space was taken. Stops at the first word that is no
    /// header of this block; whatever the bytes, it ends and stays within them.
    pub fn entries(&self) -> Entries<'a> {
        Block::entries_of(self.bytes, BLOCK_HEADER as usize, self.round)
    }

    /// The events from byte `offset` on, where one begins.
    pub(crate) fn entries_of(bytes: &'a [u8], offset: usize, round: Round) -> Entries<'a> {
        Entries { bytes, offset, round }
    }
}

/// Iterator over the events of a [`Block`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    bytes: &'a [u8],
    offset: usize,
    round: Round,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            let header = Header::unpack(word_at(self.bytes, self.offset)?, self.round)?;
            let start = self.offset + ENTRY_HEADER as usize;
            let payload = self.bytes.get(start..start + header.length as usize)?;
            self.offset += header.size() as usize;
            if header.state == State::Committed {
                return Some(Entry { kind: header.kind, payload });
            }
        }
    }
}

fn word_at(bytes: &[u8], offset: usize) -> Option<u64> {
    let word = bytes.get(offset..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*word))
}
