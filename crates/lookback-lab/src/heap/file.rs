//! The file of minimum heaps: a line of JSON each, the last of a key counts.
//!
//! The constraint that shaped it: a search takes minutes for each key and its results serve many experiments, so lines
//! stay when others come, and each says by what rule, on which machine and with which lab it was found.

use super::key::Key;
use crate::error::Result;
use crate::experiment::MinimumHeaps;
use crate::results::read_lines;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A minimum heap, as it was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Minimum {
    /// What it is of.
    #[serde(flatten)]
    pub key: Key,
    /// Main class and arguments, in full.
    pub command: Vec<String>,
    /// The JDK's name in the experiment.
    pub jdk: String,
    /// The JDK's version.
    pub jdk_version: String,
    /// The minimum in bytes, a multiple of 1 MiB.
    pub bytes: u64,
    /// How many invocations it took to find.
    pub runs: u32,
    /// How many of `of` invocations had to end well for a size to pass.
    pub passes: u32,
    /// See `passes`.
    pub of: u32,
    /// Nanoseconds beyond which an invocation counted as failed: so many times what it takes in a generous heap.
    pub limit_ns: u64,
    /// The machine.
    pub host: String,
    /// When, RFC 3339 in UTC.
    pub found: String,
    /// The lab's version.
    pub lab: String,
}

/// The minimum heaps of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Minima(BTreeMap<Key, Minimum>);

impl Minima {
    /// Reads a file; one that is not there has none.
    ///
    /// # Errors
    /// Those of [`crate::results::read_lines`].
    pub fn read(path: &Path) -> Result<Minima> {
        Ok(read_lines::<Minimum>(path)?.lines.into_iter().collect())
    }

    /// The minimum heap of a key, bytes.
    pub fn bytes(&self, key: &Key) -> Option<u64> {
        self.get(key).map(|minimum| minimum.bytes)
    }

    /// All that is known of a key.
    pub fn get(&self, key: &Key) -> Option<&Minimum> {
        self.0.get(key)
    }
}

impl MinimumHeaps for Minima {
    fn minimum(&self, workload: &str, command: &[String], jdk: &str, collector: &str) -> Option<u64> {
        self.bytes(&Key::new(workload, command, jdk, collector))
    }
}

impl FromIterator<Minimum> for Minima {
    fn from_iter<T: IntoIterator<Item = Minimum>>(all: T) -> Minima {
        Minima(all.into_iter().map(|minimum| (minimum.key.clone(), minimum)).collect())
    }
}
