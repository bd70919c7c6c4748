//! Resizing while producers and consumers run (paper, sections 3.3 and 4.4): the ratio changes, and what is no
//! longer used is given back.
//!
//! The constraint: producers pay nothing for it. They never look at the ratio but when they take a block, after
//! they have locked its metadata block; from then on the block is held until its writers have confirmed. So a
//! resizer that has changed the ratio and then finds a metadata block at rest knows that whoever takes it later
//! uses the new ratio. What is given back is the caller's to give: nothing here makes a system call.
//!
//! ```text
//!   resizer                                   taker
//!   store ratio                               exchange Confirmed -> (r, 0)
//!   fence SeqCst                              fence SeqCst
//!   load Confirmed: full -> at rest           load ratio
//! ```
//! At least one of the two sees what the other stored.
//!
//! Only one resizer at a time: two would give back each other's blocks. It holds the word `resizer`, which
//! names its process, so that one that was killed is told from one that works.

use core::ops::Range;

use crate::atomics::{AtomicU64, Ordering, fence};
use crate::layout::{BLOCK_HEADER, BlockIndex, MetadataIndex, RESIZE};
use crate::losses::Counter;
use crate::mutant::Mutant;
use crate::word::{Position, RatioPos};
use crate::{Error, Ring};

/// What a resizer waits for, as told to its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// A writer has space in a block that is to be given back. When the caller does not wait, that block
    /// keeps its memory until a later resize.
    Writer,
    /// A process reads since before the change. When the caller does not wait, its reading on may make the
    /// system provide some of the memory again.
    Reader {
        /// Its process id, in its own namespace.
        pid: u32,
    },
}

/// What a resize came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resized {
    /// Data blocks in use from now on.
    pub blocks: u32,
    /// Data blocks that were given back.
    pub released: u32,
    /// Data blocks that should have been given back, but a writer held them. Resizing to the same number
    /// again gives them back once it has left.
    pub held: u32,
}

/// The resizer's words, by index.
const EPOCH: usize = 0;
const CHANGED_AT: usize = 1;
const ROWS_USED: usize = 2;
const RESIZER: usize = 3;

impl Ring {
    /// Data blocks in use.
    pub fn blocks(&self) -> u32 {
        (self.ratio() * self.shape.active()) as u32
    }

    /// Uses `blocks` data blocks from now on, of those that the area has room for. Nothing but the blocks'
    /// number changes for producers, who go on meanwhile.
    ///
    /// Growing keeps all that is retained. Shrinking gives up what is in the blocks given back, which can be
    /// some of the newest: take a snapshot before. `release` is called with each range of bytes of the area
    /// that nobody uses any more, and has to make them zeros without changing the mapping (for instance by
    /// `madvise` with `MADV_REMOVE` or `MADV_DONTNEED`).
    ///
    /// `wait` is asked, again and again, whether to wait for what is in the way; it may sleep. When it says no,
    /// the resize goes on without.
    ///
    /// # Errors
    /// [`Error::Geometry`] when `blocks` is not a multiple of `active` or more than there is room for,
    /// [`Error::Resizing`] when another resize is under way.
    pub fn resize(
        &self,
        blocks: u32,
        wait: &mut dyn FnMut(Obstacle) -> bool,
        release: &mut dyn FnMut(Range<usize>),
    ) -> Result<Resized, Error> {
        let active = self.shape.active() as u32;
        let refuse = |rule| Err(Error::Geometry { rule, value: u64::from(blocks) });
        if blocks < active || !blocks.is_multiple_of(active) {
            return refuse("blocks must be a multiple of active");
        }
        let ratio = u64::from(blocks / active);
        if ratio > self.shape.most() {
            return refuse("blocks must be at most what the area was made for");
        }
        let _resizing = self.begin_resizing()?;
        let shrinks = ratio < self.ratio() || ratio < self.rows_used();
        let epoch = self.change_ratio(ratio);
        if !self.mutated(Mutant::ResizerFenceMissing) {
            // ORDERING: SeqCst fence; pairs with the taker's in `ratio_once_locked` and the reader's in
            // `begin_reading`: whom we do not see from here on uses the new ratio.
            fence(Ordering::SeqCst);
        }
        let mut result = Resized { blocks, ..Resized::default() };
        if shrinks {
            let held = self.wait_for_writers(ratio, wait);
            if !self.mutated(Mutant::ReleasedWhileRead) {
                while let Some(pid) = self.reader_before(epoch) {
                    if !wait(Obstacle::Reader { pid }) {
                        break;
                    }
                }
            }
            // All that will ever be in use of the rows given up is noted by now: its takers have confirmed.
            self.release(ratio..self.rows_used(), &held, release, &mut result);
            if held.is_empty() {
                // Relaxed: it is a bound for the next resizer, who is ordered by the lock. No row from
                // `ratio` on can come into use, because nobody has the old ratio any more.
                self.rows_used_word().store(ratio, Ordering::Relaxed);
            }
        }
        Ok(result)
    }

    /// Lets go of a resize whose process has died: `pid` as [`Error::Resizing`] told it. Whether it
    /// has died is the caller's to know.
    pub fn abandon_resize(&self, pid: u32) {
        let (word, mine) = (self.resizer_word(), u64::from(std::process::id()));
        // ORDERING: Acquire, as in `begin_resizing`. Failure means that somebody else did it.
        if word.compare_exchange(u64::from(pid), mine, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            self.end_change(self.begin_change());
            drop(Resizing(word));
        }
    }

    fn begin_resizing(&self) -> Result<Resizing<'_>, Error> {
        let word = self.resizer_word();
        // ORDERING: Acquire; pairs with the Release in `drop`: we come after all that an earlier
        // resizer did.
        match word.compare_exchange(0, u64::from(std::process::id()), Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(Resizing(word)),
            Err(pid) => Err(Error::Resizing { pid: pid as u32 }),
        }
    }

    /// Puts the ratio in force, with the first position that gets it, and returns the new epoch.
    fn change_ratio(&self, ratio: u64) -> u64 {
        let changing = self.begin_change();
        let global = self.global();
        // Relaxed, all: the caller's fence orders it. Each failure is somebody's new position.
        let mut bits = global.load(Ordering::Relaxed);
        loop {
            let position = RatioPos(bits).position();
            let new = RatioPos::new(ratio, position).0;
            match global.compare_exchange_weak(bits, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.changed_at_word().store(position, Ordering::Relaxed);
                    return self.end_change(changing);
                }
                Err(now) => bits = now,
            }
        }
    }

    /// Makes the epoch odd: the ratio and the position of its change do not belong together for a while.
    /// Returns the odd epoch.
    fn begin_change(&self) -> u64 {
        // Relaxed: only the resizer writes it; it is odd already if the last one was killed.
        let epoch = self.epoch().load(Ordering::Relaxed) | 1;
        self.epoch().store(epoch, Ordering::Relaxed);
        // ORDERING: Release fence; pairs with the Acquire fence in `Reading::is_current`: who sees what is
        // stored from here on also sees the odd epoch.
        fence(Ordering::Release);
        epoch
    }

    /// Makes the epoch even again and returns it.
    fn end_change(&self, odd: u64) -> u64 {
        let epoch = odd.wrapping_add(1);
        // ORDERING: Release; pairs with the Acquire in `begin_reading`: who begins in the new epoch sees
        // the ratio and the position of its change.
        self.epoch().store(epoch, Ordering::Release);
        epoch
    }

    /// The ratio for a taker that has locked its metadata block.
    pub(crate) fn ratio_once_locked(&self) -> u64 {
        if !self.mutated(Mutant::TakerFenceMissing) {
            // ORDERING: SeqCst fence; pairs with the resizer's: either it sees our lock and waits for us, or
            // we see its ratio.
            fence(Ordering::SeqCst);
        }
        self.ratio()
    }

    /// Notes that blocks of a row (round mod ratio) have memory from now on.
    pub(crate) fn use_row(&self, row: u64) {
        let word = self.rows_used_word();
        // Relaxed: it only grows here, and a writer that finds it large enough adds nothing.
        if word.load(Ordering::Relaxed) <= row {
            // ORDERING: Release; pairs with the Acquire in `resize`.
            word.fetch_max(row + 1, Ordering::Release);
        }
    }

    /// Closes the blocks in rows from `ratio` on and waits for their writers. Returns who is still there:
    /// the metadata block and, if it is known, the data block.
    fn wait_for_writers(
        &self,
        ratio: u64,
        wait: &mut dyn FnMut(Obstacle) -> bool,
    ) -> Vec<(MetadataIndex, Option<BlockIndex>)> {
        if self.mutated(Mutant::ReleasedWhileHeld) {
            return Vec::new();
        }
        let shape = &self.shape;
        let first = ratio * shape.active();
        let mut held = Vec::new();
        for m in (0..shape.active()).map(MetadataIndex) {
            for lease in self.leases() {
                let still = loop {
                    let confirmed = self.confirmed_of(m, lease);
                    if confirmed.pos >= shape.block_size {
                        break None;
                    }
                    let block = self.block_leased(m, lease, confirmed.round);
                    if block.is_some_and(|block| block.0 < first) {
                        break None;
                    }
                    if self.close(m, confirmed.round) {
                        self.count(Counter::ClosedBlocks, 1);
                        continue;
                    }
                    if !wait(Obstacle::Writer) {
                        break Some((m, block));
                    }
                };
                held.extend(still);
            }
        }
        held
    }

    /// Gives the blocks of `rows` back, but for those held.
    fn release(
        &self,
        rows: Range<u64>,
        held: &[(MetadataIndex, Option<BlockIndex>)],
        release: &mut dyn FnMut(Range<usize>),
        result: &mut Resized,
    ) {
        let active = self.shape.active();
        let is_held = |block: BlockIndex| {
            let m = self.shape.metadata_of(block.0);
            held.iter().any(|&(who, which)| who == m && which.is_none_or(|which| which == block))
        };
        let mut run: Option<Range<u64>> = None;
        for block in (rows.start * active..rows.end * active).map(BlockIndex) {
            if is_held(block) {
                result.held += 1;
                run.take().into_iter().for_each(|run| release(self.bytes_of(run)));
                continue;
            }
            if !self.mutated(Mutant::ReleasedWhileRead)
                && let Some(head) = self.data(block, 0, BLOCK_HEADER).first()
            {
                // ORDERING: Release, though a system call follows: a reader that copies zeros of this block
                // then finds its header changed.
                head.store(0, Ordering::Release);
            }
            result.released += 1;
            run = Some(run.map_or(block.0, |run| run.start)..block.0 + 1);
        }
        run.into_iter().for_each(|run| release(self.bytes_of(run)));
    }

    fn bytes_of(&self, blocks: Range<u64>) -> Range<usize> {
        8 * self.shape.block_word(BlockIndex(blocks.start))..8 * self.shape.block_word(BlockIndex(blocks.end))
    }

    /// The first position whose data block follows from the ratio in force.
    pub(crate) fn changed_at(&self) -> Position {
        // Relaxed: see where it is stored.
        Position(self.changed_at_word().load(Ordering::Relaxed))
    }

    /// How many rows of data blocks, from the first, may hold anything.
    pub(crate) fn rows_used(&self) -> u64 {
        // Relaxed: a reader misses at most what comes into use now; for the resizer see there.
        self.rows_used_word().load(Ordering::Relaxed).min(self.shape.most())
    }

    pub(crate) fn epoch(&self) -> &AtomicU64 {
        self.word(RESIZE as usize / 8 + EPOCH)
    }

    fn changed_at_word(&self) -> &AtomicU64 {
        self.word(RESIZE as usize / 8 + CHANGED_AT)
    }

    fn rows_used_word(&self) -> &AtomicU64 {
        self.word(RESIZE as usize / 8 + ROWS_USED)
    }

    fn resizer_word(&self) -> &AtomicU64 {
        self.word(RESIZE as usize / 8 + RESIZER)
    }
}

/// The right to resize, given back on drop.
struct Resizing<'a>(&'a AtomicU64);

impl Drop for Resizing<'_> {
    fn drop(&mut self) {
        // ORDERING: Release; pairs with the Acquire in `begin_resizing`.
        self.0.store(0, Ordering::Release);
    }
}
