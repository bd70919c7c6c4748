//! Watched calls of virtual threads that no carrier runs.
//!
//! The constraint that shaped it: a hundred thousand requests may wait at once, each in a watched call, and threads park
//! and go on millions of times. So this is a table of one size, memory of the process that is not there before it is
//! used; a carrier looks at a few neighbouring cells and takes no lock; and the control thread passes over the table only
//! when a call in it has become too slow. What finds no room is counted, and its end goes unnoticed. It must not
//! know what is slow.
//!
//! A cell: `tid` 0 free, [`BUSY`] being filled, else whose calls it holds. Carriers fill and free it; of one virtual
//! thread only one at a time, and the VM's scheduler orders them. The control thread reads, and claims calls.

use crate::watched::{Call, Words};
use lookback_format::Nanos;
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How many nested calls of a thread are kept; of the others only how many there were. So a cell is one cache line.
pub(crate) const KEPT: usize = 3;
/// A thread's calls are in one of so many neighbouring cells.
const NEAR: usize = 8;
/// What was found too slow and not claimed is looked at again after so long: 8 MiB are not read at each look.
const AGAIN: u64 = 100_000_000;
/// No thread has this id.
const BUSY: u64 = u64::MAX;

#[repr(C, align(64))]
struct Cell {
    tid: AtomicU64,
    depth: AtomicU64,
    calls: [Words; KEPT],
}

/// The table.
pub(crate) struct Unmounted {
    cells: Box<[Cell]>,
    /// How many cells are in use.
    used: AtomicU32,
    /// Before this moment no call in the table becomes too slow.
    due: AtomicU64,
}

impl Unmounted {
    /// For a hundred thousand virtual threads that wait at once: 8 MiB, of which only what is used becomes memory.
    pub(crate) const CELLS: usize = 1 << 17;

    /// A table with so many cells, a power of two or none.
    pub(crate) fn new(cells: usize) -> Self {
        Unmounted { cells: zeroed(cells), used: AtomicU32::new(0), due: AtomicU64::new(u64::MAX) }
    }

    /// The cells in which a thread's calls may be.
    fn near(&self, tid: u64) -> impl Iterator<Item = &Cell> {
        // Ids are given in order: multiplied by 2^64 / the golden ratio, neighbours are far from each other.
        let mixed = tid.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let most = self.cells.len().wrapping_sub(1);
        (0..NEAR.min(self.cells.len())).map(move |i| &self.cells[(mixed as usize + i) & most])
    }

    fn find(&self, tid: u64) -> Option<&Cell> {
        // Relaxed: a hint for those that have nothing to find here, which are most.
        if self.used.load(Ordering::Relaxed) == 0 {
            return None;
        }
        // ORDERING: Acquire; pairs with the Release in `put`: the calls are there.
        self.near(tid).find(|c| c.tid.load(Ordering::Acquire) == tid)
    }

    /// Keeps the calls of a virtual thread that is unmounted, `depth` in all. False when there is no room.
    pub(crate) fn put(
        &self,
        tid: u64,
        depth: u32,
        calls: &[Call; KEPT],
        threshold: &dyn Fn(u32) -> u64,
    ) -> bool {
        // ORDERING: Acquire on success; pairs with the Release in `take`: its owner has read the old calls.
        // Failure is Relaxed: nothing was read.
        let free = |c: &&Cell| c.tid.compare_exchange(0, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let Some(cell) = self.near(tid).find(free) else { return false };
        let mut due = u64::MAX;
        cell.depth.store(u64::from(depth), Ordering::Relaxed);
        for (words, c) in cell.calls.iter().zip(calls) {
            words.set(c);
            if !c.reported {
                due = due.min(c.start.0.saturating_add(threshold(c.rule)));
            }
        }
        self.used.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Release; pairs with the Acquire in `find` and `due`.
        cell.tid.store(tid, Ordering::Release);
        // ORDERING: AcqRel; pairs with the swap in `due`: either this is later and the table is passed over again, or
        // what is stored above is seen by who passes over it after the swap.
        self.due.fetch_min(due, Ordering::AcqRel);
        true
    }

    /// Takes up the calls of a virtual thread, if there are any: `f` gets their number and what is known of them.
    /// They are out of the table when it returns.
    pub(crate) fn take(&self, tid: u64, f: impl FnOnce(u32, &[Call; KEPT])) {
        let Some(cell) = self.find(tid) else { return };
        // Relaxed: published by the cell's `tid`.
        f(cell.depth.load(Ordering::Relaxed) as u32, &cell.calls.each_ref().map(Words::take));
        self.free(cell, tid);
    }

    /// Frees a cell unless somebody has done so.
    fn free(&self, cell: &Cell, tid: u64) {
        // ORDERING: Release; pairs with the Acquire in `put`. Failure is Relaxed: nothing was read.
        if cell.tid.compare_exchange(tid, 0, Ordering::Release, Ordering::Relaxed).is_ok() {
            // Relaxed: as in `find`.
            self.used.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether a call of a virtual thread that began then is in the table.
    pub(crate) fn has(&self, tid: u64, start: Nanos) -> bool {
        self.find(tid).is_some_and(|c| c.calls.iter().any(|w| w.is(start)))
    }

    /// Takes a call for reporting; false when it is reported already, or is not here any more.
    pub(crate) fn claim(&self, tid: u64, start: Nanos) -> bool {
        self.find(tid).is_some_and(|c| c.calls.iter().any(|w| w.claim(start)))
    }

    /// Gives `found` the calls that are not reported and have taken longer than `threshold` allows their rule.
    pub(crate) fn due(&self, now: Nanos, threshold: &dyn Fn(u32) -> u64, found: &mut dyn FnMut(u64, Call)) {
        // Relaxed: who misses the newest finds it the next time.
        if self.due.load(Ordering::Relaxed) > now.0 || self.used.load(Ordering::Relaxed) == 0 {
            return;
        }
        // ORDERING: AcqRel; pairs with the one in `put`.
        self.due.swap(u64::MAX, Ordering::AcqRel);
        let mut next = u64::MAX;
        for cell in &self.cells {
            // ORDERING: Acquire; pairs with the Release in `put`.
            let tid = cell.tid.load(Ordering::Acquire);
            if tid == 0 || tid == BUSY {
                continue;
            }
            for call in cell.calls.iter().filter_map(Words::get).filter(|c| !c.reported) {
                let due = call.start.0.saturating_add(threshold(call.rule));
                next = next.min(due.max(if due <= now.0 { now.0.saturating_add(AGAIN) } else { 0 }));
                // Of another thread since, or of none: then what was read may be of both.
                if due <= now.0 && cell.tid.load(Ordering::Acquire) == tid {
                    found(tid, call);
                }
            }
        }
        // Relaxed: it only ever calls for another look.
        self.due.fetch_min(next, Ordering::Relaxed);
    }

    /// Empties the table.
    pub(crate) fn clear(&self) {
        for cell in &self.cells {
            // Relaxed: what is put meanwhile may stay.
            let tid = cell.tid.load(Ordering::Relaxed);
            if tid != 0 && tid != BUSY {
                self.free(cell, tid);
            }
        }
    }
}

/// Cells that are all zero and are not touched: a vector would write each of them.
fn zeroed(cells: usize) -> Box<[Cell]> {
    let Some(layout) = Layout::array::<Cell>(cells).ok().filter(|l| l.size() > 0) else {
        return Box::new([]);
    };
    // SAFETY: the layout is not empty; zeros are a valid Cell; length and layout are those that a box frees.
    unsafe {
        let memory = alloc_zeroed(layout).cast::<Cell>();
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        Box::from_raw(std::ptr::slice_from_raw_parts_mut(memory, cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(start: u64) -> Call {
        Call { method: 7, rule: 0, start: Nanos(start), reported: false }
    }

    const NONE: Call = Call::UNKNOWN;

    const NOBODY: [u64; 0] = [];

    fn due(t: &Unmounted, now: u64) -> Vec<u64> {
        let mut all = Vec::new();
        t.due(Nanos(now), &|_| 100, &mut |tid, _| all.push(tid));
        all
    }

    #[test]
    fn a_call_goes_in_and_comes_out_as_it_was() {
        let t = Unmounted::new(16);
        assert!(t.put(5, 4, &[call(10), call(20), NONE], &|_| 100));
        assert!(t.has(5, Nanos(20)) && !t.has(6, Nanos(20)));
        let mut got = None;
        t.take(5, |depth, calls| got = Some((depth, *calls)));
        assert_eq!(got, Some((4, [call(10), call(20), NONE])));
        t.take(5, |_, _| panic!("it is out"));
        assert!(!t.has(5, Nanos(20)));
    }

    #[test]
    fn what_is_too_slow_is_found_once_it_is_and_claimed_once() {
        let t = Unmounted::new(1 << 10);
        assert!(
            t.put(5, 1, &[call(10), NONE, NONE], &|_| 100) && t.put(6, 1, &[call(60), NONE, NONE], &|_| 100)
        );
        assert_eq!(due(&t, 109), NOBODY);
        assert_eq!(due(&t, 110), [5]);
        assert_eq!(due(&t, 111), NOBODY, "it was found just now");
        assert!(t.claim(5, Nanos(10)) && !t.claim(5, Nanos(10)));
        assert_eq!(due(&t, 159), NOBODY);
        assert_eq!(due(&t, 160), [6]);
        t.take(5, |_, calls| assert!(calls[0].reported));
        t.take(6, |_, calls| assert!(!calls[0].reported));
        assert!(!t.claim(6, Nanos(60)), "a carrier has it");
        assert_eq!(due(&t, 500), NOBODY);
    }

    #[test]
    fn many_threads_find_room_and_what_does_not_is_said() {
        let t = Unmounted::new(1 << 10);
        let kept = (1_000..1_700).filter(|&tid| t.put(tid, 1, &[call(tid), NONE, NONE], &|_| 100)).count();
        assert_eq!(kept, 700, "two thirds full with ids in order");
        let more = (5_000..9_000).filter(|&tid| t.put(tid, 1, &[call(tid), NONE, NONE], &|_| 100)).count();
        assert!((200..=324).contains(&more), "{more} of four thousand");
        for tid in 1_000..9_000 {
            t.take(tid, |_, calls| assert_eq!(calls[0].start.0, tid));
        }
        assert_eq!(t.used.load(Ordering::Relaxed), 0);
        assert!(t.put(1, 1, &[call(1), NONE, NONE], &|_| 100));
        t.clear();
        assert!(!t.has(1, Nanos(1)) && due(&t, 1_000).is_empty());
        assert!(!Unmounted::new(0).put(1, 1, &[NONE; KEPT], &|_| 1));
    }

    /// A carrier takes calls up while the control thread claims what is too slow: each is reported by one of them.
    #[test]
    fn a_call_is_reported_by_whoever_has_it_and_never_twice() {
        const CALLS: u64 = 200_000;
        let t = Unmounted::new(16);
        let done = std::sync::atomic::AtomicBool::new(false);
        let (ended, claimed) = std::thread::scope(|scope| {
            let carrier = scope.spawn(|| {
                let mut ended = 0;
                for i in 1..=CALLS {
                    assert!(t.put(7, 1, &[call(i), NONE, NONE], &|_| 0));
                    t.take(7, |_, calls| {
                        assert_eq!(calls[0].start.0, i);
                        ended += u64::from(!calls[0].reported);
                    });
                }
                done.store(true, Ordering::Relaxed);
                ended
            });
            let mut claimed = 0;
            while !done.load(Ordering::Relaxed) {
                let mut found = None;
                t.due(Nanos(u64::MAX - 1), &|_| 0, &mut |_, c| found = Some(c.start));
                t.due.store(0, Ordering::Relaxed);
                claimed += u64::from(found.is_some_and(|start| t.claim(7, start)));
            }
            (carrier.join().expect("the carrier"), claimed)
        });
        assert_eq!(ended + claimed, CALLS);
    }
}
