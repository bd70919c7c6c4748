//! Who is reading: epochs of the consumers, so that memory is not given back under a reader (paper,
//! section 4.4).
//!
//! A reader notes the epoch it began in; a resizer begins a new epoch after it has changed the ratio and
//! waits until no reader of an earlier one is left. Readers of the new epoch use the new ratio and never
//! touch what is given back.
//!
//! The constraint: a reader can be killed while its note stands. So the note names its process, nobody is made
//! to wait for it, and what a forgotten reader can do to memory given back is to read zeros, which the block
//! header tells it, and to make the kernel provide a page again. Producers never look here.
//!
//! A note is one word: process id in the upper 32 bits, the epoch in the lower; 0 is free.

use crate::Ring;
use crate::atomics::{AtomicU64, Ordering, fence};
use crate::layout::{READERS, READERS_MAX};

/// A reader at work; its note is taken back on drop.
pub(crate) struct Reading<'a> {
    ring: &'a Ring,
    note: Option<&'a AtomicU64>,
    epoch: u64,
}

impl Ring {
    /// Notes that this process reads. When there are too many readers at once it does without a note, which
    /// costs memory at worst (see above).
    pub(crate) fn begin_reading(&self) -> Reading<'_> {
        // ORDERING: Acquire; pairs with the Release in `end_change`: what belongs to this epoch is seen. An epoch
        // that is out of date makes the resizer wait once too often.
        let epoch = self.epoch().load(Ordering::Acquire);
        let note = (u64::from(process()) << 32) | (epoch & u64::from(u32::MAX));
        // Relaxed: the fence below orders it.
        let free =
            |word: &&AtomicU64| word.compare_exchange(0, note, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        let note = (0..READERS_MAX).map(|i| self.reader(i)).find(free);
        // ORDERING: SeqCst fence; pairs with the resizer's between its change of the ratio and its look
        // at the notes: either it sees this note, or what we read from here on is the new ratio.
        fence(Ordering::SeqCst);
        Reading { ring: self, note, epoch }
    }

    /// A process that has been reading since before `epoch`.
    pub(crate) fn reader_before(&self, epoch: u64) -> Option<u32> {
        (0..READERS_MAX).find_map(|i| {
            // ORDERING: Acquire; pairs with the Release in `drop`: a reader that has left has read
            // everything it will.
            let note = self.reader(i).load(Ordering::Acquire);
            let since = epoch.wrapping_sub(note) as u32;
            (note != 0 && since != 0 && since < 1 << 31).then_some((note >> 32) as u32)
        })
    }

    fn reader(&self, index: usize) -> &AtomicU64 {
        self.word(READERS as usize / 8 + index)
    }
}

impl Reading<'_> {
    /// Whether no resize has changed the ratio since the reading began, as far as what was read up to now
    /// depends on it.
    pub(crate) fn is_current(&self) -> bool {
        // ORDERING: Acquire fence; pairs with the Release fence in `begin_change`.
        fence(Ordering::Acquire);
        // Relaxed: ordered by the fence.
        self.epoch.is_multiple_of(2) && self.ring.epoch().load(Ordering::Relaxed) == self.epoch
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if let Some(note) = self.note {
            // ORDERING: Release; pairs with the Acquire in `reader_before`.
            note.store(0, Ordering::Release);
        }
    }
}

/// Never 0.
fn process() -> u32 {
    if cfg!(loom) { 1 } else { std::process::id().max(1) }
}
