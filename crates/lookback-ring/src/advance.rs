//! The producer's slow path (paper, section 4.2): close what lags, take the next block, make it the
//! core's current one, skip what a stalled writer holds.
//!
//! The constraint: a writer may stop for ever between any two steps, and no other writer may wait
//! for it; so each step leaves a state that others can finish or step over, and every loop is bounded.
//!
//! Where this differs from the paper, and why:
//! - A skipped block is not marked. Its header then does not hold its position, which tells a reader
//!   as much; and a mark set late would hit the block's next user, when the sequence has lapped the one
//!   who skips.
//! - "The previous round is done" is "Confirmed is full in some earlier round": after a skip the
//!   round is not the one just before.
//! - A block that a writer holds is left behind with its lease (`lease.rs`). Only a position whose own data block is
//!   still held from an earlier round is skipped.
//! - The loop over candidates ends: when all metadata blocks are held, the event is dropped, counted.

use crate::atomics::Ordering;
use crate::layout::{BLOCK_HEADER, LEASES, LeaseIndex, MetadataIndex};
use crate::losses::Counter;
use crate::mutant::Mutant;
use crate::produce::Reservation;
use crate::word::{LeaseBlock, Managed, Position, RatioPos, Round};
use crate::{Dropped, Ring};

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Take {
    /// It is ours, with nothing in it but the block header.
    Taken,
    /// A writer holds its data block, or all leases.
    Blocked,
    /// The sequence has come round and someone newer has the metadata block, or has closed the block.
    Overtaken,
}

/// After this many skips in a row all metadata is looked at, before more positions are used up.
const SKIPS_BEFORE_LOOK: u32 = 8;
/// How often [`Ring::lock`] starts again because others changed Confirmed; each time is someone
/// else's progress.
const TAKE_TRIES: u32 = 8;

impl Ring {
    /// Reserves `size` bytes when the core's block, at position `known` when it was read last, had no room.
    #[cold]
    #[inline(never)]
    pub(crate) fn reserve_slowly(
        &self,
        core: usize,
        mut known: Position,
        size: u64,
    ) -> Result<Reservation, Dropped> {
        let shape = &self.shape;
        self.close_rest(known);
        let mut skips = 0;
        // Twice A: skipping all of A once is the usual end, the rest is for lost races.
        for _ in 0..2 * shape.active() + 2 {
            // Relaxed: as in `reserve`.
            let current = Position(self.core(core).load(Ordering::Relaxed));
            if current != known {
                // Another thread of the core has brought a block.
                known = current;
                if let Some(reservation) = self.try_reserve_slowly(known, size) {
                    return Ok(reservation);
                }
                self.close_rest(known);
            }
            let Some(next) = self.next_candidate() else { return Err(Dropped::Exhausted) };
            match self.take(next) {
                Take::Taken => {
                    if let Some(reservation) = self.install(core, known, next).and_then(|()| {
                        known = next;
                        self.try_reserve_slowly(next, size)
                    }) {
                        return Ok(reservation);
                    }
                    skips = 0;
                }
                Take::Overtaken => self.count(Counter::OvertakenBlocks, 1),
                Take::Blocked => {
                    self.count(Counter::SkippedBlocks, 1);
                    skips += 1;
                    if u64::from(skips) >= shape.active()
                        || (skips % SKIPS_BEFORE_LOOK == 0 && !self.any_metadata_free())
                    {
                        return Err(Dropped::Blocked);
                    }
                }
            }
        }
        Err(Dropped::Contended)
    }

    /// The next position of the global sequence, or `None` at its end.
    fn next_candidate(&self) -> Option<Position> {
        // Relaxed, both: positions only need to be distinct; what they name is guarded by its
        // metadata. The look keeps the position from running into the ratio.
        if RatioPos(self.global().load(Ordering::Relaxed)).position() >= self.shape.limit {
            return None;
        }
        let position = RatioPos(self.global().fetch_add(1, Ordering::Relaxed)).position();
        (position < self.shape.limit).then_some(Position(position))
    }

    /// Makes `next`, just taken, the core's current block unless the core has got another one
    /// since it was at `old`; in that case closes `next` and returns `None`.
    fn install(&self, core: usize, old: Position, next: Position) -> Option<()> {
        // Relaxed: as in `reserve`, the word only says where to look.
        let swapped =
            self.core(core).compare_exchange(old.0, next.0, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if !swapped {
            self.close_rest(next);
            self.count(Counter::WastedBlocks, 1);
        }
        swapped.then_some(())
    }

    /// Tries to get the block at `position` for its round. Steps as numbered in the paper's figure 9.
    fn take(&self, position: Position) -> Take {
        let shape = &self.shape;
        let (m, round) = (shape.metadata_of(position.0), shape.round_of(position.0));
        let ratio_before = self.mutated(Mutant::RatioNotReread).then(|| self.ratio());
        // Steps 2 to 4: close what lags, and lock a lease for our round.
        let (managed, lease) = match self.lock(m, round) {
            Ok(locked) => locked,
            Err(take) => return take,
        };
        let ratio = ratio_before.unwrap_or_else(|| self.ratio_once_locked());
        let block = shape.block_of(m, round, ratio);
        // Relaxed: published by the exchange of Managed.
        self.lease_block(m, lease).store(LeaseBlock::new(round, block.0).0, Ordering::Relaxed);
        if self.is_left_behind(m, block, lease) && !self.mutated(Mutant::HeldBlockTaken) {
            self.give_back(m, lease);
            return Take::Blocked;
        }
        self.use_row(round.0 % ratio);
        // ORDERING: Release; pairs with the Acquire in `lock` and of the readers: who sees our round sees our lease's
        // block. Failure means that someone newer has left our lease behind: it is still ours to give back.
        let expected = if self.mutated(Mutant::PublishedBlindly) {
            self.managed(m).load(Ordering::Relaxed)
        } else {
            managed.0
        };
        let published = self.managed(m).compare_exchange(
            expected,
            Managed::new(round, lease, block.0).0,
            Ordering::Release,
            Ordering::Relaxed,
        );
        if published.is_err() {
            self.give_back(m, lease);
            return Take::Overtaken;
        }
        if lease != managed.lease() {
            self.count(Counter::LeftBehind, 1);
        }
        // Step 5: the header. What only we confirm holds the block.
        if let Some(head) = self.data(block, 0, BLOCK_HEADER).first() {
            // Relaxed: published by the exchange of Allocated or by the confirmation below. No fence
            // before it, as before other data: a reader that copied the new position sees it again
            // when it looks at this very word after the copy.
            head.store(position.0, Ordering::Relaxed);
        }
        // Step 6: open the block to its core. Relaxed load: the exchange decides.
        let allocated = self.allocated(m);
        let mut bits = allocated.load(Ordering::Relaxed);
        let opened = loop {
            // Fails only when a late addition overshoots the full old round (at most once a
            // writer) or when the block was closed.
            if shape.unpack(bits).round >= round {
                break false;
            }
            // ORDERING: Release; pairs with the Acquire addition in `try_reserve` (I4).
            match allocated.compare_exchange(
                bits,
                shape.pack(round, BLOCK_HEADER),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => break true,
                Err(now) => bits = now,
            }
        };
        // Step 7: unlock. When it was closed meanwhile, the closer has left all of it to us.
        if opened {
            self.confirm(m, lease, BLOCK_HEADER);
            return Take::Taken;
        }
        if !self.mutated(Mutant::ConfirmedByCloser) {
            self.fill(m, round, (lease, block), BLOCK_HEADER);
            self.confirm(m, lease, BLOCK_HEADER);
        }
        Take::Overtaken
    }

    /// Gives back a lease that was locked in vain.
    fn give_back(&self, m: MetadataIndex, lease: LeaseIndex) {
        if !self.mutated(Mutant::LeaseKept) {
            self.confirm(m, lease, self.shape.block_size);
        }
    }

    /// Locks a lease of the metadata block for `round`: the current one when all have confirmed there, else a free
    /// one, and the current one is to be left behind. Returns it with Managed as it was.
    fn lock(&self, m: MetadataIndex, round: Round) -> Result<(Managed, LeaseIndex), Take> {
        let shape = &self.shape;
        for _ in 0..TAKE_TRIES {
            // ORDERING: Acquire; pairs with the Release exchange in `take`: the leases' blocks of all rounds up to
            // this one are seen, and our stores come after what their takers saw (I4).
            let managed = Managed(self.managed(m).load(Ordering::Acquire));
            let current = managed.lease();
            let seen = self.confirmed_of(m, current);
            if managed.cmp_round(round).is_ge() || seen.round >= round {
                return Err(Take::Overtaken);
            }
            let (mut lease, mut full) = (current, seen);
            if seen.pos < shape.block_size {
                if self.close(m, seen.round) {
                    self.count(Counter::ClosedBlocks, 1);
                }
                if self.confirmed_of(m, current).pos >= shape.block_size {
                    continue;
                }
                if !self.mutated(Mutant::HeldLeaseTaken) {
                    (lease, full) = self.spare_lease(m, current).ok_or(Take::Blocked)?;
                }
            }
            // ORDERING: AcqRel. Acquire as for the load of Confirmed, whose value it confirms. Release is not
            // needed for that (the addition chain goes on through any read-modify-write); it lets a closer
            // that sees our round come after what we have seen.
            let locked = self.confirmed(m, lease).compare_exchange(
                shape.pack(full.round, full.pos),
                shape.pack(round, 0),
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if locked.is_ok() {
                return Ok((managed, lease));
            }
        }
        Err(Take::Blocked)
    }

    /// Closes the rest of the block at `position`, if that is still the metadata block's current one.
    fn close_rest(&self, position: Position) {
        let (m, round) = (self.shape.metadata_of(position.0), self.shape.round_of(position.0));
        // Relaxed: the exchange in `close` decides. A block not yet opened is none of ours.
        if self.shape.unpack(self.allocated(m).load(Ordering::Relaxed)).round == round {
            self.close(m, round);
        }
    }

    /// Reserves all that is left of the metadata block's block in `round` and makes it filler. When
    /// the block is only being prepared (step 4 done, 6 not), all of it is left to its preparer, who
    /// alone knows which block it is: so it cannot be reused under a late store. Returns whether
    /// there was anything to close.
    ///
    /// `round` was read from Confirmed or Allocated, so Confirmed has reached it.
    pub(crate) fn close(&self, m: MetadataIndex, round: Round) -> bool {
        let shape = &self.shape;
        let allocated = self.allocated(m);
        // Relaxed: the exchange decides.
        let mut bits = allocated.load(Ordering::Relaxed);
        loop {
            let seen = shape.unpack(bits);
            if seen.round > round || (seen.round == round && seen.pos >= shape.block_size) {
                return false;
            }
            // ORDERING: Acquire; as the addition in `try_reserve`: our filler comes after the
            // stores of the block's earlier users.
            match allocated.compare_exchange_weak(
                bits,
                shape.pack(round, shape.block_size),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) if seen.round == round => {
                    self.fill(m, round, self.held_lease(m, round), seen.pos);
                    return true;
                }
                Ok(_) => {
                    if self.mutated(Mutant::ConfirmedByCloser) {
                        self.confirm(m, self.held_lease(m, round).0, shape.block_size);
                    }
                    return true;
                }
                Err(now) => bits = now,
            }
        }
    }

    /// Whether some metadata block has a free lease, as far as a look without effect can tell: wrong either way
    /// costs a dropped event or some positions.
    fn any_metadata_free(&self) -> bool {
        (0..self.shape.active()).map(MetadataIndex).any(|m| (self.unconfirmed(m).count() as u64) < LEASES)
    }
}
