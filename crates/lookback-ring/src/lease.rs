//! Leases: which data block a metadata block manages, and how far its writers have confirmed.
//!
//! The constraint: a writer can be stopped or killed for ever between allocating and confirming, and its late stores
//! must hit nothing that is used again. The paper lets its metadata block, and with it every block of that column, be
//! skipped as long. Here a metadata block has several leases, a Confirmed and a data block each, of which Managed names
//! the current one: who comes round to a block that is held closes it and *leaves it behind*, going on with another
//! lease. So a stalled writer costs its data block and nothing else, and when it goes on, lease and block are
//! free again by themselves.
//!
//! A lease is free when its Confirmed is full. It is taken by the exchange of its full Confirmed for the taker's
//! round with nothing confirmed, and becomes the current one by the exchange of Managed; whoever fails at the second
//! gives it back. Nobody else ever writes to a lease but by confirming.

use crate::Ring;
use crate::atomics::Ordering;
use crate::layout::{BlockIndex, LEASES, LeaseIndex, MetadataIndex};
use crate::word::{LeaseBlock, Position, Round, RoundPos};

impl Ring {
    /// Confirmed of a lease.
    pub(crate) fn confirmed_of(&self, m: MetadataIndex, lease: LeaseIndex) -> RoundPos {
        // ORDERING: Acquire; pairs with the Release additions in `confirm`: what is confirmed is written, and what
        // comes after a full Confirmed comes after all the block's writers (I4, I5).
        self.shape.unpack(self.confirmed(m, lease).load(Ordering::Acquire))
    }

    pub(crate) fn leases(&self) -> impl Iterator<Item = LeaseIndex> + use<> {
        (0..LEASES).map(LeaseIndex)
    }

    /// The lease and the data block of a round in which the caller holds space.
    ///
    /// By the round, not by Managed, which can have gone on: the caller's own bytes keep the lease as it is.
    pub(crate) fn held_lease(&self, m: MetadataIndex, round: Round) -> (LeaseIndex, BlockIndex) {
        let held = self.unconfirmed(m).find(|&(_, confirmed)| confirmed.round == round);
        // In a sound region there is one.
        let lease = held.map_or(LeaseIndex(0), |(lease, _)| lease);
        (lease, self.shape.block_named(self.block_word_of(m, lease).block()))
    }

    /// The leases that are not full.
    pub(crate) fn unconfirmed(&self, m: MetadataIndex) -> impl Iterator<Item = (LeaseIndex, RoundPos)> + '_ {
        let leases = self.leases().map(move |lease| (lease, self.confirmed_of(m, lease)));
        leases.filter(|(_, confirmed)| confirmed.pos < self.shape.block_size)
    }

    /// The data block of a lease in `round`; `None` while it is not known yet, because the one who took the lease has
    /// not come that far.
    pub(crate) fn block_leased(
        &self,
        m: MetadataIndex,
        lease: LeaseIndex,
        round: Round,
    ) -> Option<BlockIndex> {
        let word = self.block_word_of(m, lease);
        word.is_of(round).then(|| self.shape.block_named(word.block()))
    }

    fn block_word_of(&self, m: MetadataIndex, lease: LeaseIndex) -> LeaseBlock {
        // Relaxed: stored before the exchange of Managed and of Allocated, by which whoever asks for the block of a
        // published lease has learnt of it; of others the round in the word tells.
        LeaseBlock(self.lease_block(m, lease).load(Ordering::Relaxed))
    }

    /// A lease other than `current` that is free, and its full Confirmed.
    pub(crate) fn spare_lease(
        &self,
        m: MetadataIndex,
        current: LeaseIndex,
    ) -> Option<(LeaseIndex, RoundPos)> {
        let others = self.leases().filter(|&lease| lease != current);
        let mut confirmed = others.map(|lease| (lease, self.confirmed_of(m, lease)));
        confirmed.find(|(_, confirmed)| confirmed.pos >= self.shape.block_size)
    }

    /// Whether a writer that was left behind still holds the data block, as far as leases other than `own` tell.
    pub(crate) fn is_left_behind(&self, m: MetadataIndex, block: BlockIndex, own: LeaseIndex) -> bool {
        self.unconfirmed(m).any(|(lease, _)| lease != own && self.block_word_of(m, lease).block() == block.0)
    }

    /// Data blocks that writers hold although the ring has gone on without them: they stalled or died between
    /// allocating and confirming.
    pub fn left_behind(&self) -> u32 {
        let current = |m| crate::word::Managed(self.managed(m).load(Ordering::Relaxed)).lease();
        let metadata = (0..self.shape.active()).map(MetadataIndex);
        metadata.map(|m| self.unconfirmed(m).filter(|&(lease, _)| lease != current(m)).count() as u32).sum()
    }

    /// Takes back the data blocks that dead writers hold: all whose position is below `dead_before` and that
    /// are closed. Returns how many.
    ///
    /// The caller knows that every process is dead that may have been writing to one of them: as a rule, that all
    /// that live have opened the ring when its end ([`Ring::end`]) was at `dead_before` or later. Otherwise a writer
    /// that goes on tears the block's next events.
    pub fn reclaim(&self, dead_before: Position) -> u32 {
        let shape = &self.shape;
        let mut reclaimed = 0;
        for m in (0..shape.active()).map(MetadataIndex) {
            // Relaxed: rounds and what is closed only grow.
            let allocated = shape.unpack(self.allocated(m).load(Ordering::Relaxed));
            for (lease, confirmed) in self.unconfirmed(m) {
                let position = confirmed.round.0 * shape.active() + m.0;
                let closed = allocated.round > confirmed.round
                    || (allocated.round == confirmed.round && allocated.pos >= shape.block_size);
                if position >= dead_before.0 || !closed {
                    continue;
                }
                let (held, full) = (
                    shape.pack(confirmed.round, confirmed.pos),
                    shape.pack(confirmed.round, shape.block_size),
                );
                // ORDERING: Release, as the confirmation that it stands for, though its writer's stores are ordered by
                // its death only, which the caller has learnt of. Failure means that somebody confirmed after all.
                let word = self.confirmed(m, lease);
                if word.compare_exchange(held, full, Ordering::Release, Ordering::Relaxed).is_ok() {
                    reclaimed += 1;
                }
            }
        }
        reclaimed
    }
}
