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
//! - *Metadata block*: three words, Allocated, Managed and Confirmed, for position mod A. There are A
//!   of them, so at most A blocks can be written at a time.
//! - *Round* (Rnd): position / A. *Ratio*: N / A.
//! - *Data block* of a position: (round mod ratio) x A + position mod A, that is, position mod N.
//! - *Entry*: one event: a header word, the payload, zeros up to a multiple of 8.
//! - *Filler* (the paper's dummy): an entry without event, over the rest of a closed block.
//!
//! # The area
//! Little-endian words of 64 bits, each only accessed by atomic operations.
//!
//! | offset | content |
//! |---|---|
//! | 0 | magic, the bytes `LKBRING1`, written last |
//! | 8 | version of the layout, 1 |
//! | 16 | bytes of a data block, B: a power of two, 4096 to 1048576 |
//! | 24 | N, number of data blocks, a multiple of A, at most 65535 A |
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
//! | 4096 + 64 c | core c's `ratio_and_pos` (8 bytes used) |
//! | M = 4096 + 64 C, rounded up to 4096 | metadata blocks |
//! | M + 128 m | Allocated of metadata block m |
//! | M + 128 m + 8 | Managed: the data block that metadata block m manages in its round |
//! | M + 128 m + 64 | Confirmed of metadata block m |
//! | D = M + 128 A, rounded up to 4096 | data blocks |
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
//!  Confirmed (r', B)        full, in some round r' < r; Allocated (r', >= B)
//!      |  taker: exchange Confirmed -> (r, 0)                   [locked]
//!      |  taker: store Managed, and the position in the data block
//!      |  taker: exchange Allocated -> (r, 8)                   [open] ----+
//!      |      fails if a closer was faster: then all of it is filler       | closer: exchange
//!      |  taker: Confirmed += 8                                            | Allocated -> (r, B),
//!      |  writers: Allocated += size, write, Confirmed += size             | write filler,
//!      |  closer (no room left, or a lap later): as on the right ----------+ Confirmed += rest
//!      v
//!  Confirmed (r, B)         full again when the last of them has confirmed
//! ```
//! A taker that finds Confirmed in an earlier round and not full, even after closing, skips the
//! position: somebody has not confirmed. The position's data block is left as it was.
//!
//! # Invariants
//! - I1: Allocated and Confirmed never decrease. Every change of Confirmed is a read-modify-write.
//! - I2: in a round each byte of the block is reserved once: the header by the taker, the rest by
//!   additions to Allocated or by one closer. A closer that came before Allocated was opened leaves
//!   all of it to the taker.
//! - I3: whoever has reserved bytes has not confirmed them; Confirmed is therefore not full, and the
//!   block keeps its round. An addition to Allocated can land in a later round than the writer looked
//!   at: the round it returns is the one whose block the space is in.
//! - I4: users of a data block in a later round come after those of earlier rounds: Release of
//!   Confirmed, Acquire by the taker, Release of Allocated, Acquire by the writer.
//! - I5: when Confirmed equals Allocated (both in the same round), all bytes below are written.
//! - I6: a store to a data block in a later round comes after Confirmed reached that round, and
//!   Confirmed leaves the round after the block header was changed. So a reader that, after its copy,
//!   finds Confirmed in no later round of the same data block and the header unchanged has copied
//!   nothing of a later round.
//!
//! # Rejected
//! - One global buffer (BBQ): contended. A buffer for each core or thread: what idle ones keep is
//!   old, what busy ones lose is new (paper, section 2).
//! - A compare-and-swap instead of the addition to Allocated: cannot land in a later round, but
//!   is not wait-free.
//! - Marking skipped blocks: see `advance.rs`.

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
mod layout;
mod losses;
mod memory;
mod mutant;
mod produce;
mod ring;
#[cfg(all(test, not(loom)))]
mod tests;
mod word;

pub use consume::{Lost, SnapshotEnd};
pub use entry::{Block, Entries, Entry};
pub use error::{Dropped, Error};
pub use layout::Geometry;
pub use losses::Losses;
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

        /// Position of the block a reservation is in.
        pub fn model_position(&self, reservation: &Reservation) -> u64 {
            reservation.round.0 * u64::from(self.geometry().active) + reservation.metadata.0
        }
    }
}
