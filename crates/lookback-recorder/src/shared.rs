//! [`Shared`]: what all handles of one recorder share: the mapping, and this process's view of it.
//!
//! The constraint: events are recorded from here, by any thread, so what that needs is found by a load
//! and never changes. All else (names, threads, processes) is the cold side: it may allocate and make system
//! calls, but it never waits for anybody, because that could be a process that was killed.

use crate::clock::{self, Clock};
use crate::index::Index;
use crate::log::Log;
use crate::mapping::{FixedWord, Mapping};
use crate::threads;
use lookback_format::definitions::{self, UNDEFINED_THREAD};
use lookback_format::ring_file::{
    CATEGORIES, CATEGORIES_AT, CATEGORY_BYTES, ClockMap, Header, Level, header,
};
use lookback_format::{CategoryIndex, NameId, ProcessId, ThreadKey, Ticks};
use lookback_ring::Ring;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, TryLockError};

/// How often the index is tried for before a definition is appended without it. Who holds it is done within
/// microseconds, unless it is a thread that a fork left behind.
const TRIES: u32 = 1_000;

/// Gives each recorder of this process a number, from 1; see [`threads`].
static RECORDERS: AtomicU32 = AtomicU32::new(1);

/// One recorder of this process.
pub(crate) struct Shared {
    pub(crate) ring: Ring,
    clock: Clock,
    number: u32,
    /// Ticks of the latest clock snapshot.
    latest: FixedWord,
    pub(crate) header: Header,
    pub(crate) path: PathBuf,
    /// What this process is called.
    program: String,
    /// Process id in the upper half, its definition in the lower.
    process: AtomicU64,
    claimed: AtomicUsize,
    index: Mutex<Index>,
    pub(crate) mapping: Mapping,
}

impl Shared {
    pub(crate) fn new(
        mapping: Mapping,
        ring: Ring,
        header: Header,
        clock: Clock,
        path: PathBuf,
        program: String,
    ) -> Shared {
        threads::watch_forks();
        let shared = Shared {
            ring,
            clock,
            // Relaxed: only has to be another number each time.
            number: RECORDERS.fetch_add(1, Ordering::Relaxed),
            latest: mapping.fixed(header::SNAPSHOT_LATEST),
            header,
            path,
            program,
            process: AtomicU64::new(0),
            claimed: AtomicUsize::new(0),
            index: Mutex::default(),
            mapping,
        };
        shared.clock.snapshot(&shared.mapping);
        shared.process();
        shared
    }

    /// The time now. Takes a clock snapshot when it is time for one.
    #[inline(always)]
    pub(crate) fn now(&self) -> Ticks {
        let now = self.clock.now();
        // SAFETY: found in `self.mapping`, which lives as long as `self`.
        // Relaxed: a figure; the snapshot looks again.
        let latest = unsafe { self.latest.get() }.load(Ordering::Relaxed);
        // Signed: another core can be a few ticks ahead.
        if now.0.wrapping_sub(latest) as i64 > self.clock.period {
            self.clock.snapshot(&self.mapping);
        }
        now
    }

    /// The calling thread's id.
    #[inline(always)]
    pub(crate) fn thread(&self) -> ThreadKey {
        match threads::id_at(self.number) {
            Some(id) => ThreadKey(id),
            None => self.define_thread(None),
        }
    }

    /// Defines the calling thread, by this name or by what the operating system calls it.
    #[cold]
    #[inline(never)]
    pub(crate) fn define_thread(&self, name: Option<&str>) -> ThreadKey {
        let name = name.map_or_else(|| self.name(&threads::os_name()), |name| self.name(name));
        let os_tid = threads::os_tid();
        let (mut record, process) = (Vec::new(), self.process());
        definitions::Thread { process, os_tid, name }.encode(&mut record);
        let id = self.intern(&record).unwrap_or(UNDEFINED_THREAD | os_tid);
        threads::keep(self.number, id);
        ThreadKey(id)
    }

    /// This process's id, which is another one in the child of a fork.
    fn process(&self) -> ProcessId {
        let pid = std::process::id();
        // Relaxed: the word says all; two threads that define the process at once make two definitions.
        let word = self.process.load(Ordering::Relaxed);
        if (word >> 32) as u32 == pid {
            return ProcessId(word as u32);
        }
        let (mut record, name) = (Vec::new(), self.name(&self.program));
        definitions::Process { pid, name, start: clock::monotonic() }.encode(&mut record);
        let id = self.intern(&record).unwrap_or(0);
        self.process.store(u64::from(pid) << 32 | u64::from(id), Ordering::Relaxed);
        ProcessId(id)
    }

    /// The id of a text; 0 when there is no room for it.
    pub(crate) fn name(&self, name: &str) -> NameId {
        let mut record = Vec::new();
        definitions::encode_name(name, &mut record);
        NameId(self.intern(&record).unwrap_or(0))
    }

    /// The id of a definition, which is found in the log or appended. What does not fit is counted.
    pub(crate) fn intern(&self, record: &[u8]) -> Option<u32> {
        self.with_log(|log| {
            for _ in 0..TRIES {
                match self.index.try_lock() {
                    Ok(mut index) => return index.intern(log, record),
                    // An index is right at any moment, also when a thread that held it has panicked.
                    Err(TryLockError::Poisoned(index)) => return index.into_inner().intern(log, record),
                    Err(TryLockError::WouldBlock) => std::thread::yield_now(),
                }
            }
            log.append(record)
        })
        .or_else(|| {
            // Relaxed: a counter.
            self.mapping.word(header::DEFINITIONS_LOST).fetch_add(1, Ordering::Relaxed);
            None
        })
    }

    /// A copy of all definitions.
    pub(crate) fn definitions(&self) -> Vec<u8> {
        self.with_log(|log| log.copy(0))
    }

    fn with_log<T>(&self, then: impl FnOnce(&Log<'_>) -> T) -> T {
        let (at, len) = self.header.definitions;
        let claim = |from: usize, bytes: usize| self.mapping.claim(at + from, bytes).is_ok();
        then(&Log {
            words: self.mapping.words(at, len),
            end: self.mapping.word(header::DEFINITIONS_END),
            claimed: &self.claimed,
            claim: &claim,
        })
    }

    /// The word of a category.
    pub(crate) fn category_word(&self, index: CategoryIndex) -> &AtomicU64 {
        self.mapping.word(category_at(index))
    }

    /// The same, to be found without any check later.
    pub(crate) fn category_fixed(&self, index: CategoryIndex) -> FixedWord {
        self.mapping.fixed(category_at(index))
    }

    /// The category of this name, which is found in the table or put there; category 0 when the table or
    /// the definitions are full.
    pub(crate) fn category(&self, name: &str) -> CategoryIndex {
        let mut record = Vec::new();
        definitions::encode_name(name, &mut record);
        let Some(id) = self.intern(&record) else { return CategoryIndex(0) };
        // Relaxed, as all of the header's words are here: a level for a start.
        let level = self.mapping.word(header::CLOCK).load(Ordering::Relaxed) >> 32;
        for index in (1..CATEGORIES as u16).map(CategoryIndex) {
            let word = self.category_word(index);
            // Relaxed: the name's definition is compared with by `Log::holds`, which has its own ordering.
            let mut seen = word.load(Ordering::Relaxed);
            while seen >> 32 == 0 {
                let named = level | u64::from(id) << 32;
                match word.compare_exchange(seen, named, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return index,
                    Err(other) => seen = other,
                }
            }
            let named = (seen >> 32) as u32;
            if named == id || self.with_log(|log| log.holds(named, &record)) {
                return index;
            }
        }
        CategoryIndex(0)
    }

    /// Sets a category's level; `None`: off.
    pub(crate) fn set_level(&self, index: CategoryIndex, level: Option<Level>) {
        replace_half(self.category_word(index), 0, level);
    }

    /// Sets the level of all categories, and of those to come.
    pub(crate) fn set_all_levels(&self, level: Option<Level>) {
        replace_half(self.mapping.word(header::CLOCK), 32, level);
        // Relaxed: a category that is named meanwhile has the level of the header.
        let named = |index: &CategoryIndex| {
            index.0 == 0 || self.category_word(*index).load(Ordering::Relaxed) >> 32 != 0
        };
        for index in (0..CATEGORIES as u16).map(CategoryIndex).take_while(named) {
            self.set_level(index, level);
        }
    }

    /// What turns ticks into nanoseconds, as far as is known now.
    pub(crate) fn clock_map(&self) -> ClockMap {
        self.clock.snapshot(&self.mapping);
        let Header { clock, ticks_per_second, .. } = self.header;
        ClockMap::new(clock, ticks_per_second, clock::snapshots(&self.mapping))
    }

    /// How many definitions were lost.
    pub(crate) fn definitions_lost(&self) -> u64 {
        self.mapping.word(header::DEFINITIONS_LOST).load(Ordering::Relaxed)
    }
}

fn category_at(index: CategoryIndex) -> usize {
    CATEGORIES_AT + usize::from(index.0) % CATEGORIES * CATEGORY_BYTES
}

/// Puts a level into the half of a word that begins at bit `shift`. The words of levels are shared with
/// something else, and are always accessed whole.
fn replace_half(word: &AtomicU64, shift: u32, level: Option<Level>) {
    let code = u64::from(level.map_or(0, Level::code)) << shift;
    let other = !(u64::from(u32::MAX) << shift);
    // Relaxed: a level takes effect when it is seen.
    let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| Some(old & other | code));
}
