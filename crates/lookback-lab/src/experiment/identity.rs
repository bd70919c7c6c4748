//! What a cell is, as a hash.
//!
//! The constraint that shaped it: results may be put together only if nothing that could change them differs, on this
//! machine or another. So files count by their contents and not by their paths, and texts as they are written in the
//! experiment, with the placeholders of paths unfilled. What a program reads by itself the lab cannot know.

use crate::hash;
use crate::plan::{CellId, HeapSize, Pin};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The version of what is hashed: another one makes other cells of all.
const VERSION: u32 = 1;

/// All that tells a cell from others. The fields' order is part of the hash.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Identity<'a> {
    pub(crate) workload: &'a str,
    pub(crate) configuration: &'a str,
    pub(crate) jdk: &'a str,
    /// Version and hash of the VM.
    pub(crate) vm: Option<(&'a str, &'a str)>,
    pub(crate) options: Vec<&'a str>,
    pub(crate) command: Vec<&'a str>,
    pub(crate) wrapper: Vec<&'a str>,
    pub(crate) env: BTreeMap<&'a str, &'a str>,
    /// Name and hash of each entry, in order.
    pub(crate) class_path: &'a [(String, String)],
    /// Hashes of files that options and commands name.
    pub(crate) files: &'a [String],
    pub(crate) heap: Option<HeapSize>,
    pub(crate) mocked_memory: Option<(u64, u64)>,
    pub(crate) iterations: u32,
    pub(crate) measured: &'a [u32],
    pub(crate) harness: &'a [String],
    pub(crate) pin: &'a Pin,
    /// Nanoseconds. This and the next are not hashed where there are none, so that cells from before there were any stay what
    /// they are.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) turns: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rehearsal: Vec<&'a str>,
}

impl Identity<'_> {
    /// The identity of the cell.
    pub(crate) fn id(&self) -> CellId {
        CellId(digest(&(VERSION, self)))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The first 16 hexadecimal digits of the SHA-256 of a value's JSON.
fn digest(value: &impl Serialize) -> String {
    // Strings, numbers and lists of them cannot fail to be JSON.
    let json = serde_json::to_vec(value).unwrap_or_default();
    hash::short(Sha256::new_with_prefix(json))
}

/// Hashes of files, each read once.
#[derive(Debug, Default)]
pub(crate) struct Hashes(RefCell<BTreeMap<PathBuf, Option<String>>>);

impl Hashes {
    /// SHA-256 of a file, or of the names and contents of all files in a directory; none when it cannot be read.
    pub(crate) fn of(&self, path: &Path) -> Option<String> {
        if let Some(known) = self.0.borrow().get(path) {
            return known.clone();
        }
        let hash = if path.is_dir() { directory(path) } else { file(path) };
        let hash = hash.ok();
        self.0.borrow_mut().insert(path.to_owned(), hash.clone());
        hash
    }
}

fn file(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut reader = BufReader::with_capacity(1 << 16, fs::File::open(path)?);
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        hash.update(bytes);
        let read = bytes.len();
        reader.consume(read);
    }
    Ok(hash::digits(hash))
}

fn directory(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    for entry in sorted(path)? {
        let inner = if entry.is_dir() { directory(&entry)? } else { file(&entry)? };
        hash.update(entry.file_name().unwrap_or_default().as_encoded_bytes());
        hash.update([0]);
        hash.update(inner);
    }
    Ok(hash::digits(hash))
}

fn sorted(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path()));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

/// The entries that one entry of a class path means: `DIR/*` are the jars in it, by name. The JVM would take them as
/// the directory has them, which differs from machine to machine.
///
/// # Errors
/// When the directory cannot be read.
pub(crate) fn class_path_entries(entry: &Path) -> io::Result<Vec<PathBuf>> {
    if entry.file_name().is_none_or(|name| name != "*") {
        return Ok(vec![entry.to_owned()]);
    }
    let mut jars = sorted(entry.parent().unwrap_or(Path::new("")))?;
    jars.retain(|path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jar")));
    Ok(jars)
}

/// The files that a JVM option names: an agent, or jars for the boot class path.
pub(crate) fn files_of_option(option: &str) -> Vec<&str> {
    for prefix in ["-agentpath:", "-javaagent:"] {
        if let Some(rest) = option.strip_prefix(prefix) {
            // HotSpot cuts at the first equals sign.
            return vec![rest.split('=').next().unwrap_or(rest)];
        }
    }
    let boot = option.strip_prefix("-Xbootclasspath/a:").map(|paths| paths.split(':').collect());
    boot.unwrap_or_default()
}
