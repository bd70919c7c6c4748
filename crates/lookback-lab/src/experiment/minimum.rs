//! What must be known before an experiment can run: minimum heaps, and files that are there.
//!
//! The constraint that shaped it: where minimum heaps are kept is nobody's concern here, so they are asked for
//! through a trait; and what is missing is data, for a dry run shows it.

use crate::plan::Cell;
use std::fmt;
use std::path::PathBuf;

/// Minimum heaps that are known.
pub trait MinimumHeaps {
    /// The least heap that a workload, started by this main class with arguments, runs in with a collector on the JDK of
    /// this hash (SHA-256 of `libjvm.so`): bytes, when it is known.
    fn minimum(&self, workload: &str, command: &[String], jdk: &str, collector: &str) -> Option<u64>;
}

/// None is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMinimumHeaps;

impl MinimumHeaps for NoMinimumHeaps {
    fn minimum(&self, _: &str, _: &[String], _: &str, _: &str) -> Option<u64> {
        None
    }
}

/// A minimum heap that the experiment needs.
#[derive(Debug, Clone, PartialEq)]
pub struct HeapSearch {
    /// What it is the minimum of, with no heap set: the workload under the collector alone.
    pub cell: Cell,
    /// Bytes, when it is known already.
    pub known: Option<u64>,
}

/// What has to be there before a plan can run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Missing {
    /// A file.
    File {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A minimum heap.
    MinimumHeap {
        /// The workload.
        workload: String,
        /// JDK and collector.
        configuration: String,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::File { path, what } => write!(f, "{what}: {} is not there", path.display()),
            Missing::MinimumHeap { workload, configuration } => {
                write!(f, "the minimum heap of `{workload}` under `{configuration}` is not known")
            }
        }
    }
}
