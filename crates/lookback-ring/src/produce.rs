//! The producer's fast path (paper, section 4.1): allocate, write, confirm within a block.
//!
//! The constraint: [`Ring::write`] runs inside somebody else's program. It never blocks, never
//! allocates, never makes a system call (but for the fallback of the CPU number) and calls
//! into nothing. What does not fit the fast path is in `advance.rs`.

use crate::atomics::{Ordering, fence};
use crate::copy::Payload;
use crate::entry::{Header, State, entry_size};
use crate::layout::{BlockIndex, LeaseIndex, MetadataIndex};
use crate::losses::Counter;
use crate::mutant::Mutant;
use crate::word::{Managed, Position, Round, RoundPos};
use crate::{Dropped, Ring};

/// Space allocated and not yet confirmed: as long as it exists, the block stays what it is (I3).
/// Dropping it without confirming is what a thread that dies in `write` does.
#[derive(Debug)]
#[cfg_attr(
    not(any(loom, feature = "stalls")),
    allow(unreachable_pub, reason = "public for models and experiments only")
)]
pub struct Reservation {
    pub(crate) metadata: MetadataIndex,
    pub(crate) round: Round,
    pub(crate) lease: LeaseIndex,
    pub(crate) block: BlockIndex,
    /// Byte offset in the block.
    pub(crate) offset: u64,
    /// Bytes, header included.
    pub(crate) size: u64,
}

/// Why an attempt at reserving brought no space where it was looked for. All but the first have changed Allocated
/// and must be settled.
enum Missed {
    /// The block is not the one looked for any more, or has no room.
    Full,
    /// The addition met less room than the look had seen.
    TooShort(MetadataIndex, RoundPos),
    /// The addition landed in a later round than was looked at.
    Later { metadata: MetadataIndex, looked_at: Round, got: RoundPos },
}

impl Ring {
    /// Records one event whose payload is `parts`, joined, on the current core's block.
    ///
    /// Wait-free: one addition to Allocated, the copy, one addition to Confirmed; when the block is
    /// full, a bounded number of attempts at a new one.
    ///
    /// # Errors
    /// [`Dropped`], when the event was not recorded; it has been counted in [`Ring::losses`].
    #[inline]
    pub fn write(&self, kind: u16, parts: &[&[u8]]) -> Result<(), Dropped> {
        self.write_on(self.current_core(), kind, parts)
    }

    /// As [`Ring::write`], on the block of `core` (taken modulo the number of cores), wherever the
    /// thread runs: for tests and for callers that know better than the scheduler.
    ///
    /// # Errors
    /// As [`Ring::write`].
    #[inline]
    pub fn write_on(&self, core: usize, kind: u16, parts: &[&[u8]]) -> Result<(), Dropped> {
        self.write_payload(self.core_index(core), kind, parts)
    }

    /// Records one event whose payload is `words`, each in little-endian order, on the current core's
    /// block: the fastest way, because the compiler knows the size.
    ///
    /// # Errors
    /// As [`Ring::write`].
    #[inline(always)]
    pub fn write_words<const N: usize>(&self, kind: u16, words: [u64; N]) -> Result<(), Dropped> {
        self.write_payload(self.current_core(), kind, words)
    }

    /// Records one event whose payload is `words` and then `tail`, on the current core's block. A time that
    /// was read just before belongs into `words`: as bytes in memory it would hold up the addition,
    /// which waits for stores before it.
    ///
    /// # Errors
    /// As [`Ring::write`].
    #[inline(always)]
    pub fn write_headed<const N: usize>(
        &self,
        kind: u16,
        words: [u64; N],
        tail: &[u8],
    ) -> Result<(), Dropped> {
        self.write_payload(self.current_core(), kind, (words, tail))
    }

    #[inline(always)]
    fn write_payload(&self, core: usize, kind: u16, payload: impl Payload) -> Result<(), Dropped> {
        let length = payload.length();
        if length > self.max_payload() {
            return Err(self.drop_event(Dropped::TooLarge, length));
        }
        // Relaxed: the word only says where to look; the metadata word says what is there.
        let current = Position(self.core(core).load(Ordering::Relaxed));
        match self.try_reserve(current, entry_size(length as u64)) {
            Ok(reservation) => self.commit(&reservation, kind, payload),
            // The event is finished out of line, so that nothing of the fast path has to be
            // kept in memory for it.
            Err(missed) => self.write_slowly(core, current, kind, payload.copied(), missed)?,
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn write_slowly(
        &self,
        core: usize,
        current: Position,
        kind: u16,
        payload: impl Payload,
        missed: Missed,
    ) -> Result<(), Dropped> {
        let length = payload.length();
        let size = entry_size(length as u64);
        let reservation = match self.settle(missed, size) {
            Some(reservation) => reservation,
            None => {
                self.reserve_slowly(core, current, size).map_err(|cause| self.drop_event(cause, length))?
            }
        };
        self.commit(&reservation, kind, payload);
        Ok(())
    }

    /// The first half of [`Ring::write_on`], for tests that stop a writer there: takes space for a
    /// payload of `length` bytes.
    #[cfg(any(test, loom, feature = "stalls"))]
    pub(crate) fn reserve(&self, core: usize, length: usize) -> Result<Reservation, Dropped> {
        let core = self.core_index(core);
        let size = entry_size(length as u64);
        let current = Position(self.core(core).load(Ordering::Relaxed));
        match self.try_reserve_slowly(current, size) {
            Some(reservation) => Ok(reservation),
            None => self.reserve_slowly(core, current, size).map_err(|cause| self.drop_event(cause, length)),
        }
    }

    /// The second half: `parts` has the length given before.
    #[cfg(any(test, loom, feature = "stalls"))]
    pub(crate) fn commit_parts(&self, reservation: &Reservation, kind: u16, parts: &[&[u8]]) {
        self.commit(reservation, kind, parts);
    }

    /// Allocates `size` bytes in the block at position `at`, if it is current and has room, or wherever the
    /// addition lands.
    ///
    /// All that does not depend on the addition comes before it, because nothing overtakes a locked
    /// operation.
    #[inline(always)]
    fn try_reserve(&self, at: Position, size: u64) -> Result<Reservation, Missed> {
        let shape = &self.shape;
        let (metadata, round) = (shape.metadata_of(at.0), shape.round_of(at.0));
        let allocated = self.allocated(metadata);
        // ORDERING: Acquire; pairs with the Release exchange of Allocated in `take`: if this is the
        // round's value, Managed below is the round's, too. For the rest it is a look that keeps Pos from
        // overshooting without bound; the addition decides.
        let order = if self.mutated(Mutant::LookRelaxed) { Ordering::Relaxed } else { Ordering::Acquire };
        let seen = shape.unpack(allocated.load(order));
        let room = shape.block_size.wrapping_sub(size);
        if seen.round != round || seen.pos > room {
            return Err(Missed::Full);
        }
        // Relaxed: ordered by the look.
        let managed = Managed(self.managed(metadata).load(Ordering::Relaxed));
        let (lease, block) = (managed.lease(), shape.block_named(managed.block()));
        // ORDERING: Acquire; pairs with the Release exchange of Allocated in `take`, by which the
        // block's new user has come after all its earlier users (I4). Without it this thread's
        // stores could be ordered before theirs.
        let got = shape.unpack(allocated.fetch_add(size, Ordering::Acquire));
        if got.pos > room {
            return Err(Missed::TooShort(metadata, got));
        }
        if got.round != round {
            return Err(Missed::Later { metadata, looked_at: round, got });
        }
        // Lease and block are the round's: Managed changes only when the block is full or closed, and it was not.
        Ok(Reservation { metadata, round, lease, block, offset: got.pos, size })
    }

    /// As [`Ring::try_reserve`], for the slow path: every addition has been made good.
    #[cold]
    #[inline(never)]
    pub(crate) fn try_reserve_slowly(&self, at: Position, size: u64) -> Option<Reservation> {
        self.try_reserve(at, size).map_or_else(|missed| self.settle(missed, size), Some)
    }

    /// Makes good an addition that did not come out as it was meant to.
    fn settle(&self, missed: Missed, size: u64) -> Option<Reservation> {
        match missed {
            Missed::Full => None,
            Missed::TooShort(metadata, got) => {
                // What was left, if anything, is reserved, but too small: it becomes filler.
                if got.pos < self.shape.block_size {
                    self.fill(metadata, got.round, self.held_lease(metadata, got.round), got.pos);
                }
                None
            }
            Missed::Later { .. } if self.mutated(Mutant::LandingAbandoned) => None,
            // The paper does not mention this: the space is as legitimately reserved there as any other.
            Missed::Later { metadata, looked_at, got } => {
                let round = if self.mutated(Mutant::LandingIgnored) { looked_at } else { got.round };
                let (lease, block) = self.held_lease(metadata, got.round);
                Some(Reservation { metadata, round, lease, block, offset: got.pos, size })
            }
        }
    }

    /// Writes the entry and confirms it.
    #[inline(always)]
    pub(crate) fn commit(&self, reservation: &Reservation, kind: u16, payload: impl Payload) {
        let &Reservation { metadata, round, lease, block, offset, size } = reservation;
        let length = payload.length() as u64;
        let words = self.data(block, offset, offset + size);
        let header = |state| Header { state, kind, length }.pack(round);
        self.writer_fence();
        if let Some((head, space)) = words.split_first() {
            // Relaxed: tells a reader after this writer's death how much to leave out; if it is
            // not seen, the reader stops here.
            head.store(header(State::Reserved), Ordering::Relaxed);
            payload.store(space);
            // ORDERING: Release; pairs with the Acquire of headers in `salvage`, which reads
            // blocks with unconfirmed entries: a committed header comes with its payload.
            head.store(header(State::Committed), Ordering::Release);
        }
        self.confirm(metadata, lease, size);
    }

    /// Counts `size` bytes as written, which gives the reservation back.
    #[inline]
    pub(crate) fn confirm(&self, metadata: MetadataIndex, lease: LeaseIndex, size: u64) {
        // ORDERING: Release; pairs with the Acquire of Confirmed in `take` (the next user of
        // the block comes after this one, I4) and in the consumer (a confirmed entry is whole, I5).
        // As every change of Confirmed is a read-modify-write, one Acquire meets all of them.
        let order = match self.mutated(Mutant::ConfirmRelaxed) {
            false => Ordering::Release,
            true => Ordering::Relaxed,
        };
        self.confirmed(metadata, lease).fetch_add(size, order);
    }

    /// Comes after taking a reservation and before the first store to its data.
    #[inline]
    pub(crate) fn writer_fence(&self) {
        if !self.mutated(Mutant::WriterFenceMissing) {
            // ORDERING: Release fence; pairs with the consumer's Acquire fence between its copy and
            // its second look at Confirmed: who sees a store of this round also sees that the
            // round has begun (I6). A Release on the addition would order earlier stores only.
            fence(Ordering::Release);
        }
    }

    /// Makes the rest of a block, from `pos` on, filler and confirms it. The caller has reserved it.
    pub(crate) fn fill(
        &self,
        metadata: MetadataIndex,
        round: Round,
        (lease, block): (LeaseIndex, BlockIndex),
        pos: u64,
    ) {
        let size = self.shape.block_size.saturating_sub(pos);
        self.writer_fence();
        if let Some(head) = self.data(block, pos & !7, self.shape.block_size).first() {
            let header = Header { state: State::Filler, kind: 0, length: size.saturating_sub(8) };
            // ORDERING: Release, as in `commit`, though filler has no payload: for uniformity.
            head.store(header.pack(round), Ordering::Release);
        }
        self.count(Counter::FillerBytes, size);
        self.confirm(metadata, lease, size);
    }

    /// Counts an event that is not recorded.
    #[cold]
    #[inline(never)]
    fn drop_event(&self, cause: Dropped, length: usize) -> Dropped {
        self.count(
            match cause {
                Dropped::Blocked => Counter::DroppedBlocked,
                Dropped::Contended => Counter::DroppedContended,
                Dropped::TooLarge => Counter::DroppedTooLarge,
                Dropped::Exhausted => Counter::DroppedExhausted,
            },
            1,
        );
        self.count(Counter::DroppedBytes, length as u64);
        cause
    }
}
