//! `lookback resize`: a ring file's memory, while programs go on recording into it.

use super::{Streams, stdout};
use crate::args::ResizeArgs;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::output::bytes;
use crate::table;
use lookback_options::format_bytes;
use lookback_recorder::{Options, Recorder};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Grows or shrinks a ring file.
pub(crate) fn run(args: &ResizeArgs, streams: &mut Streams<'_>) -> Result<()> {
    let path = &args.ring;
    // Looked at first: whoever names a wrong file learns what it is.
    crate::ring_file::RingFile::open(path)?;
    let failed = |error| Error::of_recorder(path, error);
    let recorder = Options::new().program("lookback").open(path).map_err(failed)?;
    let most = recorder.reserved_bytes();
    let wanted = usize::try_from(args.size).unwrap_or(usize::MAX);
    let row = row(&recorder);
    // What was asked for at the creation was rounded to whole rows as well.
    if wanted >= most.saturating_add(row) {
        return Err(Error::TooLarge { file: path.clone(), size: args.size, most: most as u64 });
    }
    if wanted < row {
        return Err(Error::TooSmall { file: path.clone(), size: args.size, least: row as u64 });
    }
    if !in_memory(path) {
        streams.note(&format!(
            "{} is on a disk: programs that record may wait for it in page faults meanwhile; rings are best on a tmpfs such as /dev/shm",
            printable(&path.display().to_string())
        ));
    }
    let before = (recorder.bytes(), taken(path)?);
    let after = (recorder.resize(wanted).map_err(failed)?, taken(path)?);
    let change = |from: u64, to: u64| match to.cmp(&from) {
        std::cmp::Ordering::Less => {
            format!("{} -> {}, {} given back", bytes(from), bytes(to), bytes(from - to))
        }
        std::cmp::Ordering::Equal => format!("{}, as before", bytes(to)),
        std::cmp::Ordering::Greater => format!("{} -> {}, {} more", bytes(from), bytes(to), bytes(to - from)),
    };
    let facts = [
        ("Ring", change(before.0 as u64, after.0 as u64)),
        ("Memory of the file", change(before.1, after.1)),
        ("At most", format!("{} ({})", bytes(most as u64), format_bytes(most as u64 >> 10 << 10))),
    ];
    table::facts(streams.out, &facts).map_err(stdout)?;
    let shrunk = (before.0 as u64).saturating_sub(after.0 as u64);
    let missing = shrunk.saturating_sub(before.1.saturating_sub(after.1));
    if missing > 0 {
        streams.note(&format!(
            "{} are still held by a program that is in the middle of an event, or by a reader; the same command again gives them back",
            bytes(missing)
        ));
    }
    Ok(())
}

/// Bytes of a row: a block for each that can be written at a time. The ring has whole rows.
fn row(recorder: &Recorder) -> usize {
    let geometry = recorder.geometry();
    geometry.block_size as usize * geometry.active as usize
}

/// Bytes of memory or disk that a file takes.
fn taken(path: &Path) -> Result<u64> {
    let meta = std::fs::metadata(path).map_err(|error| Error::Read { file: path.to_owned(), error })?;
    Ok(meta.blocks() * 512)
}

/// Whether a file is in memory.
pub(crate) fn in_memory(path: &Path) -> bool {
    let Ok(name) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: zeros are a valid statfs.
    let mut fs: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a text that ends in zero, and a valid buffer.
    unsafe { libc::statfs(name.as_ptr(), &raw mut fs) == 0 && fs.f_type == libc::TMPFS_MAGIC }
}
