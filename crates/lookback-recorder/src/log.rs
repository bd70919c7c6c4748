//! [`Log`]: the definitions in a ring file, to which any number of processes append without a lock.
//!
//! The constraint: a process can be killed between any two instructions, and nobody may wait for it or undo
//! what it did. Hence records that never move, whose length is set by the same compare-and-swap that takes their
//! space. Nothing here knows what records mean.
//!
//! # Glossary
//! - *Head*: a record's first word: length, kind, state.
//! - *End*: the header's word that says how many bytes are in use. A hint: the log's end is the first head
//!   of 0, and nothing rests on the hint but speed.
//! - *Claimed*: what of the log this process knows to have memory behind it.
//!
//! # A record's life
//! ```text
//!  0           nobody's
//!   |  appender: compare-and-swap of the head 0 -> (length, kind, RESERVED)
//!   |      fails when another was first: the appender moves over its record, and End with it
//!   v
//!  RESERVED    the appender writes the content; if it is killed, the record stays so for ever and is
//!   |          passed over by its length
//!   |  appender: store of the head (length, kind, COMMITTED)
//!   v
//!  COMMITTED   never changes again
//! ```
//!
//! # Invariants
//! - L1: a head changes from 0 once, and its length and kind never change then. So records do not
//!   overlap, and whoever finds a head knows where the next is.
//! - L2: only the appender that changed a head from 0 writes that record.
//! - L3: a head in state COMMITTED is stored after the content; who sees it (Acquire) sees the content.
//! - L4: End is only moved to where a record ends. It lags behind when an appender was killed before it
//!   moved it; the next one moves over the record and helps it forward.
//!
//! # Rejected
//! - An addition to End, then writing the record: a killed writer leaves a hole of unknown length.
//! - A lock in the file: its holder can be killed.

use crate::atomics::{AtomicU64, AtomicUsize, Ordering};
use crate::mutant::{Mutant, mutated};
use lookback_format::definitions::{COMMITTED, HEAD_BYTES, Head, RESERVED, id_at, offset_of};

/// Bytes of the log that are claimed at a time: 64 pages, so that a claim is one system call in a
/// thousand definitions.
pub(crate) const CLAIM_STEP: usize = 256 << 10;

/// Takes memory for bytes `at` to `at + len` of the log, and says whether there is some.
pub(crate) type Claim<'a> = &'a dyn Fn(usize, usize) -> bool;

/// The log, for as long as somebody looks at it.
pub(crate) struct Log<'a> {
    /// All of its space.
    pub(crate) words: &'a [AtomicU64],
    /// Written by appenders, read by appenders.
    pub(crate) end: &'a AtomicU64,
    /// How many bytes from its beginning have memory behind them, as far as this process knows. Not shared.
    pub(crate) claimed: &'a AtomicUsize,
    /// How more is claimed.
    pub(crate) claim: Claim<'a>,
}

impl Log<'_> {
    /// Appends a record (its bytes, head included, as encoded) and returns its id; `None` when the log is full
    /// or damaged, or no memory can be had for it.
    pub(crate) fn append(&self, record: &[u8]) -> Option<u32> {
        let (head, content) = record.split_first_chunk::<HEAD_BYTES>()?;
        let head = Head::read(u64::from_le_bytes(*head), record.len())?;
        let mut at = self.hint();
        let word = loop {
            let id = id_at(at)?;
            let word = self.head(at, record.len())?;
            let reserved = Head { state: RESERVED, ..head }.word();
            match take(word, reserved) {
                Ok(_) => break (id, word),
                Err(other) => at += Head::read(other, self.bytes() - at)?.bytes as usize,
            }
            self.move_end(at);
        };
        let (id, word) = word;
        let words = self.words.get(at / 8 + 1..).unwrap_or(&[]);
        for (to, from) in words.iter().zip(content.chunks_exact(8)) {
            // Relaxed: published by the head.
            to.store(u64::from_le_bytes(*from.first_chunk().unwrap_or(&[0; 8])), Ordering::Relaxed);
        }
        // ORDERING: Release; pairs with the Acquire of heads in `copy`: a committed record is whole (L3).
        let order = if mutated(Mutant::CommitRelaxed) { Ordering::Relaxed } else { Ordering::Release };
        word.store(Head { state: COMMITTED, ..head }.word(), order);
        self.move_end(at + record.len());
        Some(id)
    }

    /// Copies the log from the offset `from` on, at which a record begins, to its end. The copy of a
    /// record that is not committed has its head only.
    pub(crate) fn copy(&self, from: usize) -> Vec<u8> {
        let (mut out, mut at) = (Vec::new(), from);
        while let Some(word) = self.head(at, HEAD_BYTES) {
            // ORDERING: Acquire; pairs with the Release in `append` (L3).
            let order = if mutated(Mutant::HeadRelaxed) { Ordering::Relaxed } else { Ordering::Acquire };
            let word = word.load(order);
            let Some(head) = Head::read(word, self.bytes() - at) else {
                // What damages the log is copied, so that whoever reads the copy can tell.
                if word != 0 {
                    out.extend_from_slice(&word.to_le_bytes());
                }
                break;
            };
            let end = at + head.bytes as usize;
            if !self.is_claimed(end) {
                break;
            }
            out.extend_from_slice(&word.to_le_bytes());
            for word in &self.words[at / 8 + 1..end / 8] {
                let word = if head.state == COMMITTED { word.load(Ordering::Relaxed) } else { 0 };
                out.extend_from_slice(&word.to_le_bytes());
            }
            at = end;
        }
        out
    }

    /// Whether the record with this id is `record`.
    pub(crate) fn holds(&self, id: u32, record: &[u8]) -> bool {
        let Some(at) = offset_of(id) else { return false };
        let Some(end) = at.checked_add(record.len()).filter(|end| self.is_claimed(*end)) else {
            return false;
        };
        let words = self.words.get(at / 8..end / 8).unwrap_or(&[]);
        // ORDERING: Acquire, for the head; pairs with the Release in `append`. A record that is not committed
        // differs in its head from any that was encoded.
        words.len() * 8 == record.len()
            && words.iter().zip(record.chunks_exact(8)).all(|(word, bytes)| {
                bytes.first_chunk().is_some_and(|b| word.load(Ordering::Acquire) == u64::from_le_bytes(*b))
            })
    }

    fn bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// Where to look for the end. What no appender stores there is from a damaged file: then the whole log is
    /// gone through.
    fn hint(&self) -> usize {
        // Relaxed: the heads decide (L4).
        let end = self.end.load(Ordering::Relaxed);
        usize::try_from(end).ok().filter(|end| end % 8 == 0 && *end <= self.bytes()).unwrap_or(0)
    }

    fn move_end(&self, at: usize) {
        // Relaxed: as in `hint`. The maximum, because another may be further.
        self.end.fetch_max(at as u64, Ordering::Relaxed);
    }

    /// The head at an offset, when a record of `len` bytes has room there.
    fn head(&self, at: usize, len: usize) -> Option<&AtomicU64> {
        at.checked_add(len).is_some_and(|end| self.is_claimed(end)).then(|| self.words.get(at / 8))?
    }

    /// Whether the log reaches to `end` and has memory up to there. Looking at a hole of a shared mapping takes
    /// memory as storing into it does.
    fn is_claimed(&self, end: usize) -> bool {
        // Relaxed: a figure of this process; claiming twice does no harm.
        let claimed = self.claimed.load(Ordering::Relaxed);
        if end <= claimed {
            return true;
        }
        let goal = end.next_multiple_of(CLAIM_STEP).min(self.bytes());
        let done = end <= self.bytes() && (self.claim)(claimed, goal - claimed);
        if done {
            self.claimed.fetch_max(goal, Ordering::Relaxed);
        }
        done
    }
}

/// Takes the space of a record, if the head is still nobody's; else returns what is there.
fn take(word: &AtomicU64, reserved: u64) -> Result<u64, u64> {
    if mutated(Mutant::TakenByStore) {
        let found = word.load(Ordering::Relaxed);
        if found == 0 {
            word.store(reserved, Ordering::Relaxed);
        }
        return if found == 0 { Ok(found) } else { Err(found) };
    }
    // ORDERING: Relaxed on both sides: what is decided is decided within this one word (L1), and the content
    // behind it was 0 since the file was made.
    word.compare_exchange(0, reserved, Ordering::Relaxed, Ordering::Relaxed)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use lookback_format::definitions::{Definitions, encode_name};
    use std::sync::atomic::AtomicBool;

    /// A log of this process, with memory behind all of it but what `refuse` says.
    struct Space {
        words: Vec<AtomicU64>,
        end: AtomicU64,
        claimed: AtomicUsize,
        refuse: AtomicBool,
    }

    impl Space {
        fn new(bytes: usize) -> Space {
            Space {
                words: (0..bytes / 8).map(|_| AtomicU64::new(0)).collect(),
                end: AtomicU64::new(0),
                claimed: AtomicUsize::new(0),
                refuse: AtomicBool::new(false),
            }
        }

        fn with<T>(&self, then: impl FnOnce(&Log<'_>) -> T) -> T {
            let claim = |_, _| !self.refuse.load(Ordering::Relaxed);
            let Space { words, end, claimed, .. } = self;
            then(&Log { words, end, claimed, claim: &claim })
        }

        fn append(&self, name: &str) -> Option<u32> {
            self.with(|log| log.append(&record(name)))
        }

        fn names(&self) -> Vec<String> {
            let all = Definitions::read(&self.with(|log| log.copy(0)));
            all.names().map(|(_, name)| name.to_owned()).collect()
        }
    }

    fn record(name: &str) -> Vec<u8> {
        let mut record = Vec::new();
        encode_name(name, &mut record);
        record
    }

    #[test]
    fn appenders_on_many_threads_lose_nothing() {
        const EACH: usize = 500;
        let space = Space::new(1 << 20);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let space = &space;
                scope.spawn(move || {
                    for i in 0..EACH {
                        let name = format!("{thread}-{}", "x".repeat(i % 40));
                        let id = space.append(&name).unwrap();
                        assert!(space.with(|log| log.holds(id, &record(&name))));
                    }
                });
            }
        });
        assert_eq!(space.names().len(), 8 * EACH);
        let used = space.with(|log| log.copy(0)).len() as u64;
        assert_eq!(space.end.load(Ordering::Relaxed), used);
    }

    #[test]
    fn a_killed_appenders_record_is_passed_over() {
        let space = Space::new(4096);
        space.append("before").unwrap();
        // What an appender leaves that dies after it has taken its space: End stays behind, too.
        let reserved = Head { bytes: 64, kind: 1, state: RESERVED };
        space.words[space.end.load(Ordering::Relaxed) as usize / 8].store(reserved.word(), Ordering::Relaxed);
        space.append("after").unwrap();
        assert_eq!(space.names(), ["before", "after"]);
        let all = Definitions::read(&space.with(|log| log.copy(0)));
        assert_eq!((all.unfinished, all.damaged_at), (1, None));
    }

    #[test]
    fn a_full_log_takes_what_still_fits() {
        let space = Space::new(64);
        assert!(space.append("0123").is_some());
        assert!(space.append(&"long".repeat(20)).is_none());
        assert!(space.append("4567").is_some());
        assert!((0..10).all(|i| space.append("89ab").is_some() == (i < 2)));
        assert_eq!(space.names(), ["0123", "4567", "89ab", "89ab"]);
        assert!(space.append("").is_none(), "no room for a head");
    }

    #[test]
    fn what_has_no_memory_is_not_touched() {
        let space = Space::new(2 * CLAIM_STEP);
        space.append("x").unwrap();
        assert_eq!(space.claimed.load(Ordering::Relaxed), CLAIM_STEP);
        space.refuse.store(true, Ordering::Relaxed);
        let fits = (0..CLAIM_STEP).take_while(|_| space.append("y").is_some()).count();
        assert_eq!((fits + 1) * record("y").len(), CLAIM_STEP);
        assert_eq!(space.names().len(), fits + 1, "reading stops there, too");
    }

    #[test]
    fn a_wrong_end_costs_time_only() {
        for end in [1, 7, u64::MAX, 1 << 40] {
            let space = Space::new(4096);
            space.append("a").unwrap();
            space.end.store(end, Ordering::Relaxed);
            space.append("b").unwrap();
            assert_eq!(space.names(), ["a", "b"], "{end}");
        }
        let space = Space::new(4096);
        space.words[0].store(13, Ordering::Relaxed);
        assert!(space.append("a").is_none(), "a log that is damaged takes nothing");
        assert_eq!(Definitions::read(&space.with(|log| log.copy(0))).damaged_at, Some(0));
    }
}
