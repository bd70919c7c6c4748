//! BTrace's block-partitioned ring buffer, in one caller-given memory area that stays readable when
//! the process is gone.
//!
//! Source: "Enabling Efficient Mobile Tracing with BTrace", ASPLOS 2025, sections 3 and 4. The area
//! is cut into N data blocks. Each core has a current block, into which the threads on it
//! write; a full block is exchanged for the next of one global sequence. So the latest events of
//! all cores are kept, whichever core wrote them, and cores do not contend.
//!
//! The constraint that shaped it: a writer can be preempted or killed between any two instructions,
//! and nobody may wait for it. It must not block, allocate, or make system calls on the producer's
//! side; it does not know what events mean, and does no I/O.
//!
//! # Glossary
//! - *Position*: a block's number in the global sequence, from A upwards.
//! - *Metadata block*: Allocated, Managed and the leases, for position mod A. There are A of them, so at
//!   most A blocks can be written at a time.
//! - *Lease*: Confirmed, and the data block that it counts for. A metadata block has 16, of which Managed names
//!   the current one; others are free or *left behind*, held by a writer that stalled (`lease.rs`).
//! - *Round* (Rnd): position / A. *Ratio*: N / A, as many rows as are in use; a resize changes it.
//! - *Data block* of a position: (round mod ratio) x A + position mod A, with the ratio that is in force when
//!   the metadata block has been locked for the round. *Row*: round mod ratio.
//! - *Entry*: one event: a header word, the payload, zeros up to a multiple of 8.
//! - *Filler* (the paper's dummy): an entry without event, over the rest of a closed block.
//!
//! # The area
//! Little-endian words of 64 bits, each only accessed by atomic operations.
//!
//! | offset | content |
//! |---|---|
//! | 0 | magic, the bytes `LKBRING1`, written last |
//! | 8 | version of the layout, 2 |
//! | 16 | bytes of a data block, B: a power of two, 4096 to 1048576 |
//! | 24 | data blocks that there is room for, a multiple of A, at most 65535 A; N is at most that |
//! | 32 | A, number of metadata blocks: a power of two, at most 65536 |
//! | 40 | C, number of cores, 1 to 16384 |
//! | 48 | bytes of the area, as follows from the above |
//! | 128 | global `ratio_and_pos`: bits 63-48 ratio, bits 47-0 next position |
//! | 256 | dropped events: all metadata blocks held |
//! | 264 | dropped events: other writers filled each new block first |
//! | 272 | dropped events: larger than a block |
//! | 280 | dropped events: sequence of positions used up |
//! | 288 | payload bytes of all dropped events |
//! | 296 | positions skipped |
//! | 304 | positions overtaken before they were ready |
//! | 312 | blocks closed unused |
//! | 320 | lagging blocks closed |
//! | 328 | bytes of filler |
//! | 336 | blocks left behind |
//! | 384 | epoch of resizing: odd while the ratio changes |
//! | 392 | the first position that got the present ratio |
//! | 400 | rows that may hold anything |
//! | 408 | process that resizes, 0: none |
//! | 512 ... 1023 | 64 notes of readers: process (upper 32 bits), epoch; 0: free |
//! | 4096 + 64 c | position of core c's block (8 bytes used) |
//! | M = 4096 + 64 C, rounded up to 4096 | metadata blocks |
//! | M + 320 m | Allocated of metadata block m |
//! | M + 320 m + 8 | Managed: bits 31-0 the data block, 35-32 the current lease, 63-36 the round (its low bits) |
//! | M + 320 m + 64 + 16 l | lease l: Confirmed |
//! | M + 320 m + 72 + 16 l | lease l: bits 31-0 its data block, 63-32 for which round (its low bits) |
//! | D = M + 320 A, rounded up to 4096 | data blocks |
//! | D + B b | data block b: its position (0: never used), then entries |
//!
//! All other words are zero. Allocated and Confirmed have the round in the upper 52 - log2(B) bits
//! and a number of bytes of the block in the others. An entry's header:
//!
//! | bits | content |
//! |---|---|
//! | 15-0 | kind |
//! | 35-16 | length of the payload in bytes |
//! | 37-36 | state: 0 none, 1 reserved, 2 committed, 3 filler |
//! | 63-38 | stamp: the low 26 bits of the block's round |
//!
//! # A metadata block's life
//! ```text
//!  Confirmed (r', B)        a lease that is full, from some round r' < r; Allocated (< r, >= B)
//!      |  taker: exchange Confirmed -> (r, 0)                   [locked]
//!      |  taker: look at the ratio, store the lease's data block
//!      |  taker: exchange Managed -> (r, lease, data block)     [published]
//!      |      fails if a newer taker was faster: then Confirmed += B, and nothing has happened
//!      |  taker: store the position in the data block
//!      |  taker: exchange Allocated -> (r, 8)                   [open] ----+
//!      |      fails if a closer was faster: then all of it is filler       | closer: exchange
//!      |  taker: Confirmed += 8                                            | Allocated -> (r, B),
//!      |  writers: Allocated += size, write, Confirmed += size             | write filler,
//!      |  closer (no room left, or a lap later): as on the right ----------+ Confirmed += rest
//!      v
//!  Confirmed (r, B)         full again when the last of them has confirmed
//! ```
//! A taker that finds the current lease in an earlier round and not full, even after closing, leaves it
//! behind and takes a free one: somebody has not confirmed. When the position's own data block is
//! held by a lease that was left behind, or no lease is free, it skips the position; the data block is left
//! as it was. A lease left behind becomes full, and its data block usable, when its last writer confirms; what a
//! dead writer holds is taken back by [`Ring::reclaim`].
//!
//! # Invariants
//! - I1: Allocated and Confirmed never decrease. Every change of Confirmed is a read-modify-write.
//! - I2: in a round each byte of the block is reserved once: the header by the taker, the rest by
//!   additions to Allocated or by one closer. A closer that came before Allocated was opened leaves
//!   all of it to the taker.
//! - I3: whoever has reserved bytes has not confirmed them; the lease's Confirmed is therefore not full, and lease
//!   and data block stay as they are, whether left behind or not. An addition to Allocated can land in a
//!   later round than the writer looked at: the round it returns is the one whose block the space is in.
//! - I4: users of a data block in a later round come after those of earlier rounds: Release of
//!   Confirmed, Acquire by the taker, Release of Allocated, Acquire by the writer.
//! - I5: when Confirmed equals Allocated (both in the same round), all bytes below are written.
//! - I6: a store to a data block in a later round comes after Managed and the block header told of that
//!   round, and giving the block back comes after its header was changed. So a reader that, after its copy,
//!   finds that Managed names the data block in no other round and the header is unchanged has copied
//!   nothing of a later round.
//! - I7: data blocks of column m (number mod A) are only written by who holds space in metadata block m, so
//!   takers that saw different ratios never share a data block.
//! - I8: whoever locks a lease after a resizer has found it full uses the resizer's ratio.
//!   So what the resizer gives back is written by nobody (see `resize.rs`).
//!
//! # Rejected
//! - One global buffer (BBQ): contended. A buffer for each core or thread: what idle ones keep is
//!   old, what busy ones lose is new (paper, section 2).
//! - A compare-and-swap instead of the addition to Allocated: cannot land in a later round, but
//!   is not wait-free.
//! - Marking skipped blocks: see `advance.rs`.
//! - The ratio in each core's word, as in the paper: writers learn their data block from Managed, so only
//!   takers need it.
//! - No Confirmed, but a look at the stamps of all entries by who takes the block: saves one addition, 0.5 ns
//!   of 13, and costs a walk over the whole block on the slow path.
//! - A restartable sequence (rseq) instead of atomic operations: the kernel restarts it on the writer's own core
//!   only, so another core can close the block only behind a membarrier, which takes 10 us, and cannot at all
//!   where another process is the writer (docs/RING.md).

#[cfg(not(target_endian = "little"))]
compile_error!("the layout of the ring is little-endian");

mod advance;
mod atomics;
mod consume;
mod copy;
#[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
mod copy_x86_64;
#[cfg(not(loom))]
mod cpu;
mod entry;
mod error;
mod follow;
mod layout;
mod lease;
mod losses;
mod memory;
mod mutant;
mod produce;
mod readers;
mod resize;
mod ring;
#[cfg(all(test, not(loom)))]
mod tests;
mod word;

pub use consume::{Lost, SnapshotEnd};
pub use entry::{Block, Entries, Entry};
pub use error::{Dropped, Error};
pub use follow::{Delivery, Follower, LossCause, LostBlock};
pub use layout::Geometry;
pub use losses::Losses;
pub use resize::{Obstacle, Resized};
pub use ring::Ring;
pub use word::Position;

/// A writer that stops between its steps, and faults: for the model checker and, with the feature
/// `stalls`, for experiments with writers that are preempted in the middle.
#[cfg(any(loom, feature = "stalls"))]
pub mod model {
    use crate::{Dropped, Ring};

    #[cfg(loom)]
    pub use crate::mutant::Mutant;
    pub use crate::produce::Reservation;

    impl Ring {
        /// The first half of [`Ring::write_on`]: takes space.
        ///
        /// # Errors
        /// As [`Ring::write`].
        pub fn model_reserve(&self, core: usize, length: usize) -> Result<Reservation, Dropped> {
            self.reserve(core, length)
        }

        /// The second half: writes and confirms. `parts` has the length given before.
        pub fn model_commit(&self, reservation: Reservation, kind: u16, parts: &[&[u8]]) {
            self.commit_parts(&reservation, kind, parts);
        }

        /// Makes bytes of the area zeros, the last ones first, as giving memory back does.
        #[cfg(loom)]
        pub fn model_release(&self, bytes: core::ops::Range<usize>) {
            let words = (bytes.start / 8..bytes.end / 8).rev();
            words.for_each(|at| self.word(at).store(0, crate::atomics::Ordering::Relaxed));
        }

        /// Whether bytes of the area are zeros.
        #[cfg(loom)]
        pub fn model_is_released(&self, bytes: core::ops::Range<usize>) -> bool {
            (bytes.start / 8..bytes.end / 8)
                .all(|at| self.word(at).load(crate::atomics::Ordering::Relaxed) == 0)
        }

        /// Position of the block a reservation is in.
        pub fn model_position(&self, reservation: &Reservation) -> u64 {
            reservation.round.0 * u64::from(self.geometry().active) + reservation.metadata.0
        }
    }
}
