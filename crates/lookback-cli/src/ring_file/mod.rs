//! Ring files, which any number of programs record into: opened for reading, and made into incidents.
//!
//! The constraint that shaped it: nobody owns a ring file. Its writers run, are stopped, or died in mid-write;
//! it may be cut, of an earlier boot, or another user's. So it is mapped as what it is found to be, all but
//! the ring is read by system calls, which a hole in it costs no memory, and whatever is wrong is named and the
//! rest kept. Nothing here changes a ring file but for the note that the ring's readers leave in it.

mod follow;
mod named;
mod snapshot;

pub(crate) use follow::follow;
pub(crate) use snapshot::{Found, write};

use crate::error::{Error, Result};
use crate::open_ring::OpenRing;
use crate::process::{FileIdentity, holder_of};
use crate::recover;
use lookback_format::definitions::Definitions;
use lookback_format::ring_file::{
    CATEGORIES, CATEGORIES_AT, CATEGORY_BYTES, Category, ClockMap, Header, MAGIC, PAGE, SNAPSHOT_BYTES,
    SNAPSHOTS, SNAPSHOTS_AT, boot_hash, categories, header,
};
use memmap2::{MmapMut, MmapOptions, MmapRaw};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The longest file that is completed with zeros when it is cut.
const MOST_COMPLETED: u64 = 64 << 30;

/// Whether a file begins as a ring file does.
pub(crate) fn is_ring_file(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    File::open(path).and_then(|mut f| f.read_exact(&mut magic)).is_ok() && magic == MAGIC
}

/// A ring file, open for reading.
pub(crate) struct RingFile {
    pub(crate) path: PathBuf,
    pub(crate) header: Header,
    /// A process that has it mapped.
    pub(crate) holder: Option<u32>,
    /// Whether it is of this boot of the machine: its processes may still run, and its clock goes on.
    pub(crate) this_boot: bool,
    /// What is wrong with it, in words.
    pub(crate) damages: Vec<String>,
    file: File,
    bytes: u64,
    map: Map,
}

/// The file's bytes.
enum Map {
    /// Shared with its writers.
    Shared(MmapRaw),
    /// A copy that is made page by page, of a file that cannot be written: readers leave a note in the ring.
    Private(MmapMut),
}

impl RingFile {
    /// Opens a ring file. One that is cut is completed with zeros, which mean "not written" everywhere.
    ///
    /// # Errors
    /// [`Error::Read`], or [`Error::Format`] when it is no ring file or its header is unusable.
    pub(crate) fn open(path: &Path) -> Result<RingFile> {
        let failed = |error| Error::Read { file: path.to_owned(), error };
        let (file, writable) = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => (file, true),
            Err(_) => (File::open(path).map_err(failed)?, false),
        };
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file")));
        }
        let mut page = vec![0; PAGE.min(meta.len() as usize)];
        file.read_exact_at(&mut page, 0).map_err(failed)?;
        let claimed = recover::claimed_length(&page, &MAGIC, header::BYTES)
            .filter(|&n| n > meta.len() && n <= MOST_COMPLETED);
        let mut damages = Vec::new();
        if let Some(needed) = claimed {
            damages.push(format!("the file is cut: {} of {needed} bytes are there", meta.len()));
        }
        let header = Header::read(&page, claimed.unwrap_or(meta.len()))
            .map_err(|error| Error::Format { file: path.to_owned(), error })?;
        let this_boot = header.boot == this_boot();
        let holder = holder_of(&FileIdentity::new(path, &meta));
        let len = header.bytes as usize;
        let map = match claimed {
            Some(_) => Map::Private(completed(&file, len, meta.len()).map_err(failed)?),
            None if writable && this_boot => {
                Map::Shared(MmapOptions::new().len(len).map_raw(&file).map_err(failed)?)
            }
            // SAFETY: only ever accessed by the ring, as atomic words, and nobody shortens a ring file.
            None => Map::Private(
                unsafe { MmapOptions::new().len(len).no_reserve_swap().map_copy(&file) }.map_err(failed)?,
            ),
        };
        Ok(RingFile {
            path: path.to_owned(),
            header,
            holder,
            this_boot,
            damages,
            file,
            bytes: meta.len(),
            map,
        })
    }

    /// Whether somebody may still record into it.
    pub(crate) const fn is_live(&self) -> bool {
        self.this_boot && self.holder.is_some()
    }

    /// The ring; in words why there is none.
    pub(crate) fn ring(&mut self) -> std::result::Result<OpenRing<'_>, String> {
        let (at, len) = self.header.ring;
        let base = match &mut self.map {
            Map::Shared(map) => map.as_mut_ptr(),
            Map::Private(map) => map.as_mut_ptr(),
        };
        // SAFETY: the header was checked: the area is within the mapping, which the result borrows. It is only
        // accessed atomically, by this process and by others.
        unsafe { OpenRing::open(base.add(at), len) }
    }

    /// The log of definitions, as far as it is there.
    pub(crate) fn definitions(&self) -> Vec<u8> {
        let (at, len) = self.header.definitions;
        let end = self.part(header::DEFINITIONS_END, 8);
        let hint = end.first_chunk().map_or(0, |b| u64::from_le_bytes(*b)) as usize;
        // The end may lag behind by what a killed appender wrote: a page more is nearly always enough, and
        // else all of it is read.
        let some = self.part(at, len.min(hint.saturating_add(PAGE)));
        let mut read = Definitions::default();
        let stopped = read.read_on(&some, 0);
        if stopped + PAGE / 2 < some.len() { some } else { self.part(at, len) }
    }

    /// What turns ticks into nanoseconds, as far as is known now.
    pub(crate) fn clock_map(&self) -> ClockMap {
        ClockMap::read(&self.header, &self.part(SNAPSHOTS_AT, SNAPSHOTS * SNAPSHOT_BYTES))
    }

    /// The categories.
    pub(crate) fn categories(&self, definitions: &Definitions) -> Vec<Category> {
        categories(&self.part(CATEGORIES_AT, CATEGORIES * CATEGORY_BYTES), definitions)
    }

    /// Definitions that there was no room for.
    pub(crate) fn definitions_lost(&self) -> u64 {
        let lost = self.part(header::DEFINITIONS_LOST, 8);
        lost.first_chunk().map_or(0, |b| u64::from_le_bytes(*b))
    }

    /// A part of the file; zeros for what is not there. What cannot be read counts as not there.
    fn part(&self, at: usize, len: usize) -> Vec<u8> {
        /// No part is longer: the definitions are cut at this when they are made.
        const MOST: usize = 1 << 30;
        let len = len.min(MOST);
        let mut out = vec![0; len];
        let there = self.bytes.saturating_sub(at as u64).min(len as u64) as usize;
        if self.file.read_exact_at(&mut out[..there], at as u64).is_err() {
            out.fill(0);
        }
        out
    }
}

/// The `there` bytes of a cut file, in memory of `len` bytes.
fn completed(file: &File, len: usize, there: u64) -> io::Result<MmapMut> {
    let mut map = MmapOptions::new().len(len).no_reserve_swap().map_anon()?;
    let mut file = file.try_clone()?;
    recover::read_sparse(&mut file, &mut map[..there as usize])?;
    Ok(map)
}

fn this_boot() -> u64 {
    boot_hash(&std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default())
}
