//! The ring file: one file that every process that records maps shared, with a ring and what its events mean.
//!
//! The constraint that shaped it: it has no owner. Any process may come, go or be killed at any instruction,
//! and whoever opens it trusts none of what it reads. So each part is found from a header that never
//! changes, words that several processes touch are alone and atomic, and all that is read here comes from
//! copies.
//!
//! ```text
//! 0           header page (this module's offsets)
//! 4096        clock snapshots: 256 x (ticks u64 | nanoseconds of CLOCK_MONOTONIC u64); ticks 0 = none
//! 8192        categories: 1024 x (level u32 | name u32); name 0 = free; category 0 has no name
//! 16384       definitions: append-only log, see `definitions`
//! ring        see the ring's own layout
//! ```
//!
//! A category's name is an id of the definitions and is set by one compare-and-swap, so a category is never
//! half named and no two have the same name.

use crate::definitions::Definitions;
use crate::region::{put_text, text_at, u32_at, u64_at};
use crate::{CategoryIndex, Error, NameId, Nanos, Result};

pub use crate::clock_map::ClockMap;

/// First bytes of a ring file.
pub const MAGIC: [u8; 8] = *b"LKBFILE\n";
/// Version of this layout.
pub const VERSION: u32 = 1;
/// Parts begin at multiples of this.
pub const PAGE: usize = 4096;
/// Offset of the clock snapshots.
pub const SNAPSHOTS_AT: usize = 4096;
/// How many there is room for.
pub const SNAPSHOTS: usize = 256;
/// Bytes of one.
pub const SNAPSHOT_BYTES: usize = 16;
/// Offset of the categories.
pub const CATEGORIES_AT: usize = 8192;
/// How many there is room for.
pub const CATEGORIES: usize = 1024;
/// Bytes of one.
pub const CATEGORY_BYTES: usize = 8;
/// Offset at which the definitions begin, at the earliest.
pub const DEFINITIONS_AT: usize = 16_384;
/// Bytes of definitions where nothing else is asked for: names of 300,000 threads. The file is sparse
/// there; a page costs memory when the log reaches it.
pub const DEFINITIONS_BYTES: usize = 16 << 20;
/// Bytes that the name of a recording may have.
pub const NAME_BYTES: usize = 500;

/// Offsets in the header page.
pub mod header {
    /// [`super::MAGIC`], stored last.
    pub const MAGIC: usize = 0;
    /// u32, [`super::VERSION`].
    pub const VERSION: usize = 8;
    /// u32, process id of the creator.
    pub const PID: usize = 12;
    /// u64, whole length of the file in bytes.
    pub const BYTES: usize = 16;
    /// u64, offset of the definitions.
    pub const DEFINITIONS_AT: usize = 24;
    /// u64, their bytes.
    pub const DEFINITIONS_BYTES: usize = 32;
    /// u64, how many of these are in use: a hint, which whoever finds a record there moves on. Atomic.
    pub const DEFINITIONS_END: usize = 40;
    /// u64, offset of the ring.
    pub const RING_AT: usize = 48;
    /// u64, its bytes.
    pub const RING_BYTES: usize = 56;
    /// u32, see [`super::ClockKind`].
    pub const CLOCK: usize = 64;
    /// u32, the level that new categories get. Atomic.
    pub const LEVEL: usize = 68;
    /// u64 + u64, nanoseconds of the wall clock (since 1970) and of `CLOCK_MONOTONIC`, read together at the
    /// creation.
    pub const CLOCK_PAIR: usize = 72;
    /// u64, [`super::boot_hash`] of the boot in which the file was made.
    pub const BOOT: usize = 88;
    /// u64, ticks of the latest clock snapshot. Atomic.
    pub const SNAPSHOT_LATEST: usize = 96;
    /// u64, how many clock snapshots were taken. Atomic.
    pub const SNAPSHOT_COUNT: usize = 104;
    /// u64, ticks of a second, measured at the creation.
    pub const TICKS_PER_SECOND: usize = 112;
    /// u64, definitions that were lost because the log was full or damaged. Atomic.
    pub const DEFINITIONS_LOST: usize = 120;
    /// length u16 + UTF-8, what the recording is called.
    pub const NAME: usize = 128;
}

/// How much an event matters. A category lets those pass that matter at least as much as its own level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// Something failed.
    Error = 1,
    /// Something is odd.
    Warn = 2,
    /// What people want to know of an ordinary run.
    Info = 3,
    /// What its programmer wants to know.
    Debug = 4,
    /// Everything.
    Trace = 5,
}

impl Level {
    /// All levels, from those that matter most.
    pub const ALL: [Level; 5] = [Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace];

    /// The number that stands in the file; off is 0.
    #[must_use]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// What a category's number lets pass; `None`: nothing. A number that is too high lets all pass.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Level> {
        let last = Level::ALL.len() as u32;
        Level::ALL.get((code.min(last) as usize).checked_sub(1)?).copied()
    }

    /// As people write it: `error`, `warn`, `info`, `debug`, `trace`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
            Level::Trace => "trace",
        }
    }
}

/// What the times of events in the ring are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockKind {
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    Monotonic = 0,
    /// The time-stamp counter of x86.
    Tsc = 1,
    /// The virtual counter of AArch64, `CNTVCT_EL0`.
    Cntvct = 2,
}

impl ClockKind {
    /// The clock of a number in a header.
    #[must_use]
    pub const fn from_code(code: u32) -> Option<ClockKind> {
        match code {
            0 => Some(ClockKind::Monotonic),
            1 => Some(ClockKind::Tsc),
            2 => Some(ClockKind::Cntvct),
            _ => None,
        }
    }
}

/// What tells one boot of a machine from another: 64 bits of FNV-1a of the kernel's `boot_id`, without the
/// line's end. Times of another boot mean nothing, and its writers are gone.
#[must_use]
pub fn boot_hash(boot_id: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    boot_id.trim_end().bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Where the snapshot with number `n` (from 0) stands in the table. The table has 16 rows of 16: row r keeps
/// the last 16 of those whose number has r zero bits at its end (the last row also those with more). So, with
/// a snapshot a second, the latest half minute is there second by second, and what is older ever more thinly,
/// back to six days.
#[must_use]
pub const fn snapshot_slot(n: u64) -> usize {
    const ROWS: u32 = 16;
    const ROW: u64 = 16;
    let zeros = n.trailing_zeros();
    let (row, turn) = if zeros < ROWS - 1 { (zeros, n >> (zeros + 1)) } else { (ROWS - 1, n >> (ROWS - 1)) };
    row as usize * ROW as usize + (turn % ROW) as usize
}

/// What the header of a ring file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Process that made it.
    pub pid: u32,
    /// Length of the file.
    pub bytes: u64,
    /// Offset and length of the definitions.
    pub definitions: (usize, usize),
    /// How many bytes of the definitions are in use, at least (a hint).
    pub definitions_end: usize,
    /// Definitions that did not fit.
    pub definitions_lost: u64,
    /// Offset and length of the ring.
    pub ring: (usize, usize),
    /// What the times of events are.
    pub clock: ClockKind,
    /// Ticks of a second of that clock, about; never 0.
    pub ticks_per_second: u64,
    /// The level that new categories get; `None`: off.
    pub level: Option<Level>,
    /// Monotonic and wall clock (nanoseconds since 1970) read together.
    pub clock_pair: (Nanos, u64),
    /// [`boot_hash`] of the boot in which the file was made.
    pub boot: u64,
    /// What the recording is called.
    pub name: String,
}

impl Header {
    /// Reads and checks the header: `file` holds at least the first [`PAGE`] bytes of a file of `length`
    /// bytes. Every part lies within the file, and no two overlap.
    ///
    /// # Errors
    /// [`Error::Foreign`], [`Error::Version`], [`Error::Truncated`] or [`Error::Corrupt`].
    pub fn read(file: &[u8], length: u64) -> Result<Header> {
        let found = file.get(..8).unwrap_or(file).to_vec();
        if found != MAGIC {
            return Err(Error::Foreign { expected: "a Lookback ring file", found });
        }
        let u32s = |at| u32_at(file, at).unwrap_or(0);
        let u64s = |at| u64_at(file, at).unwrap_or(0);
        let version = u32s(header::VERSION);
        if version != VERSION {
            return Err(Error::Version { what: "the ring file", found: version, supported: VERSION });
        }
        let bytes = u64s(header::BYTES);
        let needed = bytes.max(DEFINITIONS_AT as u64);
        if length < needed || file.len() < PAGE {
            let found = length.min(file.len() as u64);
            return Err(Error::Truncated { what: "the ring file", needed, found });
        }
        let corrupt = |why| Error::Corrupt { what: "the ring file's header", why };
        let part = |name: &str, at: u64, len: u64, least: u64| -> Result<(usize, usize)> {
            let aligned = at.is_multiple_of(PAGE as u64) && len.is_multiple_of(8);
            match at.checked_add(len) {
                Some(end) if aligned && at >= least && end <= bytes => Ok((at as usize, len as usize)),
                _ => Err(corrupt(format!("{name} at {at} with {len} bytes in a file of {bytes}"))),
            }
        };
        let (at, len) = (u64s(header::DEFINITIONS_AT), u64s(header::DEFINITIONS_BYTES));
        let definitions = part("definitions", at, len, DEFINITIONS_AT as u64)?;
        let ring = part("the ring", u64s(header::RING_AT), u64s(header::RING_BYTES), at + len)?;
        let clock = u32s(header::CLOCK);
        Ok(Header {
            pid: u32s(header::PID),
            bytes,
            definitions,
            definitions_end: (u64s(header::DEFINITIONS_END) as usize & !7).min(definitions.1),
            definitions_lost: u64s(header::DEFINITIONS_LOST),
            ring,
            clock: ClockKind::from_code(clock)
                .ok_or_else(|| corrupt(format!("its clock has the unknown number {clock}")))?,
            ticks_per_second: u64s(header::TICKS_PER_SECOND).max(1),
            level: Level::from_code(u32s(header::LEVEL)),
            clock_pair: (Nanos(u64s(header::CLOCK_PAIR + 8)), u64s(header::CLOCK_PAIR)),
            boot: u64s(header::BOOT),
            name: text_at(file, header::NAME, NAME_BYTES).unwrap_or_default(),
        })
    }

    /// The header page, [`PAGE`] bytes. Whoever makes the file stores the first word of it last.
    #[must_use]
    pub fn page(&self) -> Vec<u8> {
        let mut page = vec![0; PAGE];
        page[..8].copy_from_slice(&MAGIC);
        let words = [
            (header::VERSION, u64::from(VERSION) | u64::from(self.pid) << 32),
            (header::BYTES, self.bytes),
            (header::DEFINITIONS_AT, self.definitions.0 as u64),
            (header::DEFINITIONS_BYTES, self.definitions.1 as u64),
            (header::DEFINITIONS_END, self.definitions_end as u64),
            (header::RING_AT, self.ring.0 as u64),
            (header::RING_BYTES, self.ring.1 as u64),
            (header::CLOCK, self.clock as u64 | u64::from(self.level.map_or(0, Level::code)) << 32),
            (header::CLOCK_PAIR, self.clock_pair.1),
            (header::CLOCK_PAIR + 8, self.clock_pair.0.0),
            (header::BOOT, self.boot),
            (header::TICKS_PER_SECOND, self.ticks_per_second),
            (header::DEFINITIONS_LOST, self.definitions_lost),
        ];
        for (at, word) in words {
            page[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        put_text(&mut page[header::NAME..], &self.name, NAME_BYTES);
        page
    }
}

/// A category of a ring file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Category {
    /// Its place in the table.
    pub index: CategoryIndex,
    /// What it lets pass; `None`: nothing.
    pub level: Option<Level>,
    /// What it is called; empty for category 0, and where the name is unknown.
    pub name: String,
}

/// Reads the categories: `table` is what stands in the file from [`CATEGORIES_AT`] on.
#[must_use]
pub fn categories(table: &[u8], definitions: &Definitions) -> Vec<Category> {
    let entries = table.chunks_exact(CATEGORY_BYTES).take(CATEGORIES).enumerate();
    let in_use = entries.map_while(|(index, entry)| {
        let name = NameId(u32_at(entry, 4)?);
        (index == 0 || name != NameId(0)).then(|| Category {
            index: CategoryIndex(index as u16),
            level: Level::from_code(u32_at(entry, 0).unwrap_or(0)),
            name: definitions.name(name).unwrap_or_default().to_owned(),
        })
    });
    in_use.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::encode_name;

    fn header() -> Header {
        Header {
            pid: 77,
            bytes: 1 << 20,
            definitions: (DEFINITIONS_AT, 8192),
            definitions_end: 64,
            definitions_lost: 3,
            ring: (DEFINITIONS_AT + 8192, 1 << 19),
            clock: ClockKind::Tsc,
            ticks_per_second: 2_500_000_000,
            level: Some(Level::Info),
            clock_pair: (Nanos(5), 6),
            boot: boot_hash("b"),
            name: "shop ü".into(),
        }
    }

    #[test]
    fn a_header_is_read_back_and_every_lie_in_it_is_refused() {
        let good = header().page();
        assert_eq!(Header::read(&good, 1 << 20).unwrap(), header());
        assert!(matches!(Header::read(&good, (1 << 20) - 1), Err(Error::Truncated { .. })));
        assert!(matches!(Header::read(&good[..100], 1 << 20), Err(Error::Truncated { .. })));
        assert!(matches!(Header::read(b"LKBREGN\n", 8), Err(Error::Foreign { .. })));
        let places = [header::DEFINITIONS_AT, header::DEFINITIONS_BYTES, header::RING_AT, header::RING_BYTES];
        for at in places.into_iter().chain([header::CLOCK]) {
            for (byte, value) in [(0, 0x81), (2, 0xff), (7, 0xff)] {
                let mut bad = good.clone();
                bad[at + byte] = value;
                let read = Header::read(&bad, 1 << 20);
                // The last byte there is the level's.
                assert!(
                    at == header::CLOCK && byte == 7 || matches!(read, Err(Error::Corrupt { .. })),
                    "{at}+{byte}: {read:?}"
                );
            }
        }
        let mut newer = good.clone();
        newer[header::VERSION] = 9;
        assert!(matches!(Header::read(&newer, 1 << 20), Err(Error::Version { found: 9, .. })));
    }

    #[test]
    fn categories_end_at_the_first_without_a_name() {
        let mut log = Vec::new();
        encode_name("net", &mut log);
        let mut table = vec![0; CATEGORIES * CATEGORY_BYTES];
        table[0] = 3;
        table[8] = 5;
        table[12] = 1;
        let read = categories(&table, &Definitions::read(&log));
        let short: Vec<_> = read.iter().map(|c| (c.index.0, c.level, c.name.as_str())).collect();
        assert_eq!(short, [(0, Some(Level::Info), ""), (1, Some(Level::Trace), "net")]);
    }

    #[test]
    fn snapshots_are_kept_densely_of_late_and_thinly_of_old() {
        let mut table = vec![None; SNAPSHOTS];
        let last = 1_000_000_u64;
        (0..=last).for_each(|n| table[snapshot_slot(n)] = Some(n));
        let mut kept: Vec<_> = table.into_iter().flatten().collect();
        kept.sort_unstable();
        assert!(kept.len() > 240, "{} are in use", kept.len());
        assert!((last - 31..=last).all(|n| kept.binary_search(&n).is_ok()), "the latest half minute");
        assert!(last - kept[0] >= 15 << 15, "back to {}", last - kept[0]);
        for pair in kept.windows(2) {
            assert!(pair[1] - pair[0] <= 2 + (last - pair[0]) / 7, "a hole of {pair:?}");
        }
    }
}
