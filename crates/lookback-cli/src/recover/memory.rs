//! A region file in private memory.
//!
//! The constraint that shaped it: the ring's reader takes a pointer, and the file must not be changed, so
//! the file is mapped copy-on-write. A file that was cut is put into memory of the length that its header
//! names, with zeros for what is missing: zeros mean "not written" in every part. A file whose writer still
//! runs is copied, because Rust's slices must not change under their reader.

use crate::error::{Error, Result};
use crate::open_ring::OpenRing;
use crate::process::FileIdentity;
use lookback_format::region::{HEADER_BYTES, MAGIC, header};
use memmap2::{MmapMut, MmapOptions};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The longest file that is completed with zeros: the largest ring, with as many slabs again.
const MOST_COMPLETED: u64 = 16 << 30;

/// A region file, open, and told apart from all others.
pub(crate) struct Source {
    /// Its name.
    pub(crate) path: PathBuf,
    file: File,
    bytes: u64,
    identity: FileIdentity,
}

impl Source {
    /// Opens a plain file.
    ///
    /// # Errors
    /// [`Error::Read`].
    pub(crate) fn open(path: &Path) -> Result<Source> {
        let failed = |error| Error::Read { file: path.to_owned(), error };
        let file = File::open(path).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file")));
        }
        let identity = FileIdentity::new(path, &meta);
        Ok(Source { path: path.to_owned(), file, bytes: meta.len(), identity })
    }

    /// What tells it apart.
    pub(crate) const fn identity(&self) -> &FileIdentity {
        &self.identity
    }
}

/// The bytes of a region file.
pub(crate) struct RegionMemory {
    map: MmapMut,
}

impl RegionMemory {
    /// Reads a file; a missing end is named in `damages`. `live`: its writer still runs, so the bytes are
    /// copied, and not mapped where they would change under the reader.
    ///
    /// # Errors
    /// [`Error::Read`].
    pub(crate) fn read(source: Source, live: bool, damages: &mut Vec<String>) -> Result<RegionMemory> {
        let Source { path, mut file, bytes: found, .. } = source;
        let failed = |error| Error::Read { file: path.clone(), error };
        let mut head = vec![0; HEADER_BYTES.min(found as usize)];
        file.read_exact(&mut head).map_err(failed)?;
        let claimed =
            claimed_length(&head, &MAGIC, header::BYTES).filter(|&n| n > found && n <= MOST_COMPLETED);
        if let Some(needed) = claimed {
            damages.push(format!("the file is cut: {found} of {needed} bytes are there"));
        }
        // Too short for a header: its reader says so, from the bytes themselves.
        let map = if claimed.is_some() || live || found < HEADER_BYTES as u64 {
            let len = claimed.unwrap_or(found).max(1) as usize;
            let mut map = MmapOptions::new().len(len).no_reserve_swap().map_anon().map_err(failed)?;
            map[..head.len()].copy_from_slice(&head);
            read_sparse(&mut file, &mut map[head.len()..found as usize]).map_err(failed)?;
            map
        } else {
            // SAFETY: the map is private, and no process has the file mapped (the caller has looked), so
            // nobody changes or cuts it: the agent is the only one that writes regions, and never reopens
            // one.
            unsafe { MmapOptions::new().no_reserve_swap().map_copy(&file) }.map_err(failed)?
        };
        Ok(RegionMemory { map })
    }

    /// All bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Opens the ring at an offset and a length that lie within the memory.
    pub(crate) fn ring(&mut self, (at, len): (usize, usize)) -> std::result::Result<OpenRing<'_>, String> {
        let area = self.map.get_mut(at..at.saturating_add(len)).ok_or("it lies outside the file")?;
        // SAFETY: the area is exclusively borrowed for as long as the result lives, private to this
        // process, and its alignment is checked by the function itself.
        unsafe { OpenRing::open(area.as_mut_ptr(), area.len()) }
    }
}

/// The length that a file's header names at byte `at`, when the file begins with `magic`.
pub(crate) fn claimed_length(head: &[u8], magic: &[u8], at: usize) -> Option<u64> {
    let bytes = head.get(at..)?.first_chunk()?;
    head.starts_with(magic).then(|| u64::from_le_bytes(*bytes))
}

/// Reads into `out`, and leaves pages alone whose bytes are zeros already: a region is mostly holes.
pub(crate) fn read_sparse(file: &mut File, out: &mut [u8]) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    for part in out.chunks_mut(buffer.len()) {
        let piece = &mut buffer[..part.len()];
        file.read_exact(piece)?;
        for (from, to) in piece.chunks(4096).zip(part.chunks_mut(4096)) {
            if from.iter().any(|&b| b != 0) {
                to.copy_from_slice(from);
            }
        }
    }
    Ok(())
}
