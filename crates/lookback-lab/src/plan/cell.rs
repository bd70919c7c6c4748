//! A cell of an experiment: one workload on one JDK under one configuration with one heap.
//!
//! The constraint that shaped it: results of two cells may be put together only if nothing that could change them
//! differs, so a cell's identity is a hash of all of it: JDK, class path, options, workload, heap, harness.

use crate::hash;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The identity of a cell: the first 16 hexadecimal digits of the SHA-256 of what it runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CellId(pub String);

impl CellId {
    /// The identity of a cell that differs from this one by what is named.
    pub fn varied(&self, by: &str) -> CellId {
        CellId(hash::short(Sha256::new().chain_update(&self.0).chain_update([0]).chain_update(by)))
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One workload under one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its identity.
    pub id: CellId,
    /// The workload's name in the experiment.
    pub workload: String,
    /// The JDK's name in the experiment; empty for a program without a JVM.
    pub jdk: String,
    /// The configuration's name: its modifiers as they are written, without the JDK, joined by `|`.
    pub configuration: String,
    /// The collector, when a modifier names one: `serial`, `g1`, ...
    pub collector: Option<String>,
    /// The tracer, when a modifier names one; none is the bare program.
    pub tracer: Option<String>,
    /// The heap, when the experiment sets it.
    pub heap: Option<HeapSize>,
    /// How it is started.
    pub launch: Launch,
    /// How many iterations an invocation runs.
    pub iterations: u32,
    /// Which of them are measured, counted from 1.
    pub measured: Vec<u32>,
    /// The checksum that its output must have, where it is known.
    pub checksum: Option<String>,
    /// How long an invocation may take.
    pub timeout: Duration,
}

/// A heap: minimum and maximum are the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeapSize {
    /// Multiple of the workload's minimum heap; none for a size given in bytes.
    pub multiple: Option<f64>,
    /// Bytes, a multiple of 1 MiB.
    pub bytes: u64,
}

/// What is started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// The Java VM that runs it; none for a program that is started by itself.
    pub jvm: Option<Jvm>,
    /// Main class with its arguments, or the program with its arguments. `{dir}` in any of them is the directory of
    /// the invocation.
    pub command: Vec<String>,
    /// Program with its arguments that starts the Java VM: the VM's own command line follows behind. It brings what the
    /// workload needs beside it, a display and a hand that uses it. `{dir}` as in `command`; empty for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrapper: Vec<String>,
    /// Program with its arguments that runs before each invocation and is not measured: the invocation's own command line
    /// follows behind. It leaves in `{dir}` what the invocation is to find there, as what a tracer has learned. `{dir}`
    /// as in `command`; empty for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rehearsal: Vec<String>,
    /// Environment variables beside the few that every invocation gets. `{dir}` as in `command`.
    pub env: BTreeMap<String, String>,
}

/// Name of the harness's socket in the directory that an invocation runs in. A name without directories, because a
/// socket's path may have 107 bytes at most.
pub const SOCKET: &str = "harness.sock";

/// A Java VM and its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Jvm {
    /// The executable `java`.
    pub java: PathBuf,
    /// Options of the JDK, the modifiers and the workload, in this order, without heap and harness. `{dir}` as in
    /// [`Launch::command`].
    pub options: Vec<String>,
    /// Class path.
    pub class_path: String,
    /// Whether the harness is loaded.
    pub harness: bool,
    /// Whether the harness listens on [`SOCKET`], for iterations that are bracketed from outside (paper, section 4.2).
    #[serde(default)]
    pub socket: bool,
    /// What `Runtime.maxMemory` and `totalMemory` answer, bytes (paper, section 3.3); none leaves them alone.
    pub mocked_memory: Option<(u64, u64)>,
}

/// One run of a cell in a process of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// Index into [`super::Plan::cells`].
    pub cell: usize,
    /// Which of the cell's invocations, from 1. Invocations of the same number form a block: all cells run once before
    /// any runs again.
    pub number: u32,
}

/// The cores that an invocation may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pin {
    /// All that the lab itself may use.
    All,
    /// These.
    Cores(Vec<usize>),
}
