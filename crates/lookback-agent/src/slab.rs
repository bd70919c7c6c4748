//! A thread's slab: adopting one, emptying it into the ring, reading it from another thread.
//!
//! The constraint that shaped it: compiled code writes the slots with plain stores and keeps the cursor in a
//! Java field, so a slab is emptied only by its own thread, from a native method that was handed the cursor
//! or from an event on that thread. Another thread can copy it; the words up to the first zero word are
//! always a true prefix of what the thread did.
//!
//! Who writes what (layout: `lookback_format::region`):
//! ```text
//! slots, lost, poll 2 -> 1     the thread, compiled code
//! poll -> 0, first, seq        the thread, native code, within an odd FLUSHING
//! poll -> 2                    ticker and control thread
//! state, key, ids, name        the thread that adopts or releases; the name also the control thread
//! ```

use crate::clock;
use crate::java::Cursor;
use crate::region::{Loss, Region};
use crate::threads;
use lookback_format::event::{self, Chunk};
use lookback_format::region::{SlabCopy, put_text, read_slab, slab, text_at};
use lookback_format::slot::{self, GapCause};
use lookback_format::{Nanos, Seq, ThreadKey};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};

/// Hands slabs out.
pub(crate) struct Slabs {
    taken: Vec<AtomicU8>,
    /// Whether a slab's memory is claimed.
    claimed: Vec<AtomicBool>,
    next_key: AtomicU32,
    /// One more than the highest slab ever taken: nobody needs to look beyond.
    high: AtomicU32,
}

/// Who a slab belongs to.
pub(crate) struct Identity<'a> {
    pub(crate) name: &'a str,
    pub(crate) os_tid: u32,
    pub(crate) java_tid: u64,
}

impl Slabs {
    pub(crate) fn new(n: u32) -> Self {
        let taken = (0..n).map(|_| AtomicU8::new(0)).collect();
        let claimed = (0..n).map(|_| AtomicBool::new(false)).collect();
        Slabs { taken, claimed, next_key: AtomicU32::new(1), high: AtomicU32::new(0) }
    }

    /// One more than the highest slab ever taken.
    pub(crate) fn high(&self) -> u32 {
        // Relaxed: who misses the newest slab sees it next time.
        self.high.load(Ordering::Relaxed)
    }

    /// Whether a slab is free.
    pub(crate) fn has_free(&self) -> bool {
        // Relaxed: a look; who takes one finds out.
        self.taken.iter().any(|taken| taken.load(Ordering::Relaxed) == 0)
    }

    /// Whether slab `i` belongs to a thread.
    pub(crate) fn is_taken(&self, i: u32) -> bool {
        // ORDERING: Acquire; pairs with the Release of `adopt` and `release`, so that the words of a taken
        // slab are the new owner's.
        self.taken[i as usize].load(Ordering::Acquire) == 2
    }

    /// Takes a free slab for a thread and gives its index, with the first cursor.
    pub(crate) fn adopt(&self, region: &Region, who: &Identity<'_>, now: Nanos) -> Option<(u32, usize)> {
        // ORDERING: Acquire on success; pairs with the Release in `release`: the old owner is done.
        // Failure is Relaxed: nothing was read.
        let free = |t: &AtomicU8| t.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let i = self.taken.iter().position(free)? as u32;
        // Relaxed: ordered by the owner's Acquire and Release of `taken`.
        if !self.claimed[i as usize].load(Ordering::Relaxed) {
            if region.claim_slab(i).is_err() {
                self.taken[i as usize].store(0, Ordering::Relaxed);
                return None;
            }
            self.claimed[i as usize].store(true, Ordering::Relaxed);
        }
        let at = region.slab_at(i);
        // Relaxed throughout: published by the Release below (to the agent's threads) and by the cursor's
        // store into the Java field (to the thread itself, which reads nothing before it has the cursor).
        let set = |offset: usize, v: u32| region.u32(at + offset).store(v, Ordering::Relaxed);
        set(slab::POLL, slab::POLL_TICK);
        set(slab::LOST, 0);
        set(slab::FILLED, slot::FILLER);
        set(slab::GUARD, slab::GUARD_VALUE);
        set(slab::KEY, self.fresh_key().0);
        set(slab::SEQ, 0);
        set(slab::FLUSHING, 0);
        set(slab::OS_TID, who.os_tid);
        set(slab::WATCH_DEPTH, 0);
        region.u64(at + slab::MOUNTED).store(0, Ordering::Relaxed);
        region.u32(at + slab::HELD).store(0, Ordering::Relaxed);
        region
            .u64(at + slab::ACTIVE_BYTE)
            .store(std::ptr::from_ref(region.active(i)) as u64, Ordering::Relaxed);
        region.u64(at + slab::FIRST).store(now.0, Ordering::Relaxed);
        region.u64(at + slab::JAVA_TID).store(who.java_tid, Ordering::Relaxed);
        region.watching(i).store(0, Ordering::Relaxed);
        put_text(region.bytes_mut(at + slab::NAME, slab::NAME_BYTES + 2), who.name, slab::NAME_BYTES);
        set(slab::STATE, slab::STATE_ON);
        // ORDERING: Release; pairs with the Acquire in `is_taken`.
        self.taken[i as usize].store(2, Ordering::Release);
        self.high.fetch_max(i + 1, Ordering::Relaxed);
        Some((i, region.address(at + slab::SLOTS)))
    }

    /// A key for a thread without a slab.
    pub(crate) fn fresh_key(&self) -> ThreadKey {
        // Relaxed: uniqueness is all that is needed.
        ThreadKey(self.next_key.fetch_add(1, Ordering::Relaxed))
    }

    /// The key of the thread that slab `i` belongs to.
    pub(crate) fn key(&self, region: &Region, i: u32) -> ThreadKey {
        // Relaxed: written before the slab was published.
        ThreadKey(region.u32(region.slab_at(i) + slab::KEY).load(Ordering::Relaxed))
    }

    /// The taken slab of the thread with this Java id.
    pub(crate) fn of_thread(&self, region: &Region, java_tid: u64) -> Option<u32> {
        // Relaxed: written before the slab was published.
        let tid = |i: u32| region.u64(region.slab_at(i) + slab::JAVA_TID).load(Ordering::Relaxed);
        (0..self.high()).find(|&i| self.is_taken(i) && tid(i) == java_tid)
    }

    /// Gives a slab back that its thread has emptied and will not touch again.
    pub(crate) fn release(&self, region: &Region, i: u32) {
        // Relaxed: ordered before the store below by its Release.
        region.u32(region.slab_at(i) + slab::STATE).store(slab::STATE_FREE, Ordering::Relaxed);
        // ORDERING: Release; pairs with the Acquire in `adopt`.
        self.taken[i as usize].store(0, Ordering::Release);
    }
}

/// A slab of this process, in the hands of its own thread.
#[derive(Clone, Copy)]
pub(crate) struct OwnSlab<'a> {
    region: &'a Region,
    at: usize,
    pub(crate) index: u32,
}

impl<'a> OwnSlab<'a> {
    /// The slab that `cursor` points into, or just behind.
    pub(crate) fn of_cursor(region: &'a Region, cursor: Cursor) -> Option<Self> {
        let address = cursor.address();
        let inside = if address & (slab::SLOTS_END - 1) == 0 { address.checked_sub(1)? } else { address };
        Some(Self::at(region, region.slab_of(inside)?))
    }

    /// Slab `index`.
    pub(crate) fn at(region: &'a Region, index: u32) -> Self {
        OwnSlab { region, at: region.slab_at(index), index }
    }

    fn u32(&self, offset: usize) -> &'a AtomicU32 {
        self.region.u32(self.at + offset)
    }

    /// The thread's key.
    pub(crate) fn key(&self) -> ThreadKey {
        // Relaxed: written before this thread got the slab.
        ThreadKey(self.u32(slab::KEY).load(Ordering::Relaxed))
    }

    /// How many chunks the thread has written.
    pub(crate) fn chunks(&self) -> u32 {
        // Relaxed: only this thread writes it.
        self.u32(slab::SEQ).load(Ordering::Relaxed)
    }

    /// Tells the system's number of the thread, the current one, where it was not known: it was found by another.
    pub(crate) fn tell_os_tid(&self) {
        let tid = self.u32(slab::OS_TID);
        // Relaxed: a figure for others.
        if tid.load(Ordering::Relaxed) == 0 {
            tid.store(threads::gettid(), Ordering::Relaxed);
        }
    }

    /// Whether the control thread wants the thread to stop.
    pub(crate) fn is_off(&self) -> bool {
        // Relaxed: a flag; seen one poll later at worst.
        self.u32(slab::STATE).load(Ordering::Relaxed) == slab::STATE_OFF
    }

    /// The poll word.
    pub(crate) fn poll(&self) -> u32 {
        // Relaxed: only this thread lowers it.
        self.u32(slab::POLL).load(Ordering::Relaxed)
    }

    /// Takes note of a tick: the poll is answered, the ticker may set it again.
    pub(crate) fn answer_poll(&self) {
        self.u32(slab::POLL).store(0, Ordering::Relaxed);
        // ORDERING: Release; pairs with the ticker's Acquire, which sets the poll only after it saw this
        // byte: its 2 cannot be overwritten by the 0 above.
        self.region.active(self.index).store(1, Ordering::Release);
    }

    /// Writes words at the cursor; empties the slab first when they would not fit.
    pub(crate) fn put(&self, cursor: usize, words: &[u32], now: Nanos) -> usize {
        let mut cursor = cursor;
        if cursor - self.base() + words.len() * 4 > slab::SLOTS_END {
            let at = cursor - self.base();
            cursor = self.empty(cursor, now);
            if at < slab::SLOTS_END {
                // Relaxed: as below. A slot may stand here that is written anew with its time.
                self.u32(at).store(0, Ordering::Relaxed);
            }
        }
        for &w in words {
            // Relaxed: readers take what is there up to the first zero word. x86 keeps the stores' order;
            // elsewhere a reader may see a later word first, which the zero before it hides.
            self.u32(cursor - self.base()).store(w, Ordering::Relaxed);
            cursor += 4;
        }
        cursor
    }

    /// Writes a slot with its exact time.
    pub(crate) fn put_exact(&self, cursor: usize, slot: u32, now: Nanos) -> usize {
        let [time, low, high] = slot::time(now);
        self.put(cursor, &[time, low, high, slot], now)
    }

    /// Java id of the virtual thread that the thread carries, as far as is recorded.
    pub(crate) fn carries(&self) -> Option<u64> {
        Some(self.mounted()).filter(|&tid| tid != 0 && tid != slab::UNMOUNTED)
    }

    /// What stands in the slab about it, see [`slab::MOUNTED`].
    pub(crate) fn mounted(&self) -> u64 {
        // Relaxed: only this thread writes it.
        self.region.u64(self.at + slab::MOUNTED).load(Ordering::Relaxed)
    }

    pub(crate) fn set_mounted(&self, tid: u64) {
        // Relaxed: the control thread reads it beside the watched calls, and looks twice.
        self.region.u64(self.at + slab::MOUNTED).store(tid, Ordering::Relaxed);
    }

    /// Whether precise methods are held back as well while the thread is braked.
    pub(crate) fn holds_precise(&self) -> bool {
        // Relaxed, here and below: only this thread uses it.
        self.u32(slab::HELD).load(Ordering::Relaxed) != 0
    }

    pub(crate) fn hold_precise(&self, on: bool) {
        self.u32(slab::HELD).store(u32::from(on), Ordering::Relaxed);
    }

    /// Writes the entry into the method that runs a virtual thread.
    pub(crate) fn put_mount(&self, cursor: usize, slot: u32, tid: u64, now: Nanos) -> usize {
        let ([time, low, high], [mount, tid_low, tid_high]) = (slot::time(now), slot::mount(tid, false));
        self.put(cursor, &[time, low, high, mount, tid_low, tid_high, slot], now)
    }

    /// Says at the beginning of a chunk which virtual thread runs.
    pub(crate) fn put_carried(&self, cursor: usize, now: Nanos) -> usize {
        match self.carries() {
            Some(tid) => self.put(cursor, &slot::mount(tid, true), now),
            None => cursor,
        }
    }

    /// Says that records are missing from now on; nothing is lost that was recorded.
    pub(crate) fn put_gap(&self, cursor: usize, cause: GapCause, now: Nanos) -> usize {
        // How many is not known yet.
        self.put(cursor, &slot::gap(cause, 0), now)
    }

    /// The thread stops recording: empties the slab but for a word that says so.
    pub(crate) fn stop(&self, cursor: usize, now: Nanos) {
        let begin = self.empty(cursor, now);
        // Whose turn ends meanwhile is not seen.
        self.set_mounted(0);
        self.put_gap(begin, GapCause::Off, now);
    }

    /// The cursor of a thread that has stopped, for it to go on.
    pub(crate) fn stopped(&self) -> usize {
        self.base() + slab::SLOTS + size_of_val(&slot::gap(GapCause::Off, 0))
    }

    /// Another thread wants the next slot to have its time.
    pub(crate) fn want_time(&self) {
        // Relaxed: seen one slot later at worst.
        self.u32(slab::POLL).store(slab::POLL_TICK, Ordering::Relaxed);
    }

    /// How many words stand before `cursor`.
    pub(crate) fn words_before(&self, cursor: usize) -> usize {
        (cursor - self.base() - slab::SLOTS) / 4
    }

    /// Address of the slab.
    pub(crate) fn base(&self) -> usize {
        self.region.address(self.at)
    }

    /// Whether the slab is filled so far that it should be emptied.
    pub(crate) fn is_filled(&self, cursor: usize) -> bool {
        cursor - self.base() >= slab::FILLED
    }

    /// Moves the slots before `cursor` into the ring, as one chunk (as several when they are very many), and
    /// gives the cursor to go on with.
    pub(crate) fn empty(&self, cursor: usize, now: Nanos) -> usize {
        let flushing = self.u32(slab::FLUSHING);
        // Relaxed: only this thread writes it; the fence orders it before what follows.
        let begun = flushing.load(Ordering::Relaxed).wrapping_add(1);
        flushing.store(begun, Ordering::Relaxed);
        // ORDERING: Release fence; pairs with the Acquire fence in `copy`: who saw a slot of the time after
        // sees the odd number.
        fence(Ordering::Release);
        let overruns = self.u32(slab::LOST).swap(0, Ordering::Relaxed);
        let whole = (slab::SLOTS_END - slab::SLOTS) as u32 / 4;
        let lost = overruns.saturating_mul(whole);
        if overruns > 0 {
            self.region.lose(Loss::SlabOverrun, u64::from(lost));
        }
        let end = if overruns > 0 { slab::SLOTS_END } else { cursor - self.base() };
        let first = self.region.u64(self.at + slab::FIRST);
        let seq = self.u32(slab::SEQ);
        // Exclusive: only this thread touches its slots, others copy through atomics and check FLUSHING.
        let bytes = self.region.bytes_mut(self.at + slab::SLOTS, end - slab::SLOTS);
        let filled = cursor - self.base() - slab::SLOTS;
        let gap = slot::gap(GapCause::SlabOverrun, lost).map(u32::to_le_bytes);
        let mut begin = 0;
        while begin < filled {
            let n = whole_records(&bytes[begin..filled], self.region.ring.max_payload() - 64);
            let s = Seq(seq.load(Ordering::Relaxed));
            let from = Nanos(first.load(Ordering::Relaxed));
            let lost_here = if begin == 0 { lost } else { 0 };
            let header = Chunk::header(self.key(), s, from, now, lost_here);
            let gap = if lost_here > 0 { gap.as_flattened() } else { &[] };
            let slots = &bytes[begin..begin + n];
            self.region.record(event::kind::CHUNK, &[&header, gap, slots]);
            // The slots go before the number does: who is killed between leaves them twice under one
            // number, which a reader sees, and never under two.
            bytes[begin..begin + n].fill(0);
            // ORDERING: Release fence; keeps the zeros before the number for who reads the file after a kill.
            fence(Ordering::Release);
            seq.store(s.0.wrapping_add(1), Ordering::Relaxed);
            begin += n;
        }
        if end > slab::IN_FILE {
            self.region.release_deep(self.index);
        }
        bytes[filled..].fill(0);
        first.store(now.0, Ordering::Relaxed);
        self.u32(slab::FILLED).store(slot::FILLER, Ordering::Relaxed);
        // ORDERING: Release; pairs with the Acquire loads in `copy`: an even number means all the above is
        // visible.
        flushing.store(begun.wrapping_add(1), Ordering::Release);
        self.base() + slab::SLOTS
    }
}

/// How many bytes of `slots`, at most `most`, end where a record ends.
fn whole_records(slots: &[u8], most: usize) -> usize {
    if slots.len() <= most {
        return slots.len();
    }
    let mut end = 0;
    loop {
        let word = u32::from_le_bytes([slots[end], slots[end + 1], slots[end + 2], slots[end + 3]]);
        let body = if word & slot::CONTROL == 0 { 0 } else { word >> slot::PAYLOAD_BITS & 0xf };
        let next = end + 4 + body as usize * 4;
        if next > most || next + 4 > slots.len() {
            return if end == 0 { slots.len().min(most) } else { end };
        }
        end = next;
    }
}

/// Who slab `i` belongs to; none when that changes meanwhile.
pub(crate) fn owner(region: &Region, i: u32) -> Option<(ThreadKey, u32, u64, String)> {
    let at = region.slab_at(i);
    // Relaxed, as below: another thread may be renaming the thread, and half a name does no harm.
    let word = |offset: usize| region.u32(at + offset).load(Ordering::Relaxed);
    let key = word(slab::KEY);
    let name: Vec<u8> = (slab::NAME..slab::NAME + slab::NAME_BYTES + 2)
        .step_by(4)
        .flat_map(|offset| word(offset).to_le_bytes())
        .collect();
    let java_tid = region.u64(at + slab::JAVA_TID).load(Ordering::Relaxed);
    let owner = (ThreadKey(key), word(slab::OS_TID), java_tid, text_at(&name, 0, slab::NAME_BYTES)?);
    (word(slab::KEY) == key).then_some(owner)
}

/// Copies slab `i` while its thread runs. `None` when it belongs to nobody, or was being emptied at each of
/// a few looks: then its slots are in the ring a moment later.
pub(crate) fn copy(region: &Region, i: u32) -> Option<SlabCopy> {
    let at = region.slab_at(i);
    let flushing = region.u32(at + slab::FLUSHING);
    let mut bytes = vec![0u8; slab::COLD_END];
    for _ in 0..8 {
        // ORDERING: Acquire; pairs with the Release at the end of `empty`.
        let before = flushing.load(Ordering::Acquire);
        if before % 2 == 1 {
            std::hint::spin_loop();
            continue;
        }
        let word = |offset: usize| region.u32(at + offset).load(Ordering::Relaxed);
        let mut offset = slab::SLOTS;
        let mut zeros = 0;
        // A TIME record may hold one zero word; two in a row, never.
        while offset < slab::SLOTS_END && zeros < 2 {
            let w = word(offset);
            zeros = if w == 0 { zeros + 1 } else { 0 };
            bytes[offset..offset + 4].copy_from_slice(&w.to_le_bytes());
            offset += 4;
        }
        bytes[offset..slab::SLOTS_END].fill(0);
        for offset in (0..slab::SLOTS).chain(slab::SLOTS_END..slab::COLD_END).step_by(4) {
            bytes[offset..offset + 4].copy_from_slice(&word(offset).to_le_bytes());
        }
        // ORDERING: Acquire fence; pairs with the Release fence in `empty`: if one of the words above was
        // written after a new emptying began, the load below sees another number.
        fence(Ordering::Acquire);
        if flushing.load(Ordering::Relaxed) == before {
            // Not before: nothing that was copied may be younger than the end of its chunk.
            return read_slab(&bytes, clock::now());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_never_cuts_a_record() {
        let mut words = Vec::new();
        for i in 0..2_000_u32 {
            words.push(i + 1);
            if i % 3 == 0 {
                words.extend(slot::time(Nanos(u64::from(i))));
            }
        }
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut begin = 0;
        let mut rejoined = Vec::new();
        while begin < bytes.len() {
            let n = whole_records(&bytes[begin..], 404);
            assert!(n > 0 && n <= 404);
            let piece: Vec<u32> = bytes[begin..begin + n]
                .chunks(4)
                .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
                .collect();
            let mut records = slot::Records::new(&piece);
            rejoined.extend(records.by_ref());
            assert_eq!(records.rest(), 0);
            begin += n;
        }
        assert_eq!(rejoined, slot::Records::new(&words).collect::<Vec<_>>());
    }
}
