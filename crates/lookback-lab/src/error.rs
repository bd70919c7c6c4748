//! The one error of this crate.
//!
//! An invocation that fails is no error, it is a result ([`crate::results::Outcome`]). An error is what keeps the lab
//! from going on.

use crate::experiment::{Missing, Problem};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Result of the lab.
pub type Result<T> = std::result::Result<T, Error>;

/// What keeps the lab from going on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file cannot be written.
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is not what it should be.
    Foreign {
        /// The file.
        path: PathBuf,
        /// In what.
        why: String,
    },
    /// One name stands for cells of several identities.
    MixedCells {
        /// Workload, configuration and heap.
        cell: String,
        /// The identities.
        ids: Vec<String>,
    },
    /// A pattern names no configuration of the results.
    UnknownConfiguration {
        /// The pattern.
        pattern: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A pattern names several configurations.
    AmbiguousConfiguration {
        /// The pattern.
        pattern: String,
        /// What it names.
        matches: Vec<String>,
    },
    /// The results have no such workload, heap or metric.
    Unknown {
        /// What it was to be: `workload`, `heap`, `metric`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No lower bound overhead can be told of a metric.
    NotDistillable {
        /// The metric.
        metric: String,
    },
    /// Two configurations have nothing in common that could be compared.
    NothingToCompare {
        /// What was left out, and why, one line each.
        left_out: Vec<String>,
    },
    /// A line in the middle of a file of lines is not what it should be.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A file is no plan.
    NotAPlan {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Another lab writes to the same directory.
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process that has it, where it could be told.
        pid: Option<u32>,
    },
    /// A directory's path cannot stand in the options of a Java VM.
    Directory {
        /// The directory.
        path: PathBuf,
        /// The character that it must not have.
        character: char,
    },
    /// Cores that the plan pins to are not this process' to use.
    Cores {
        /// Those of the plan that cannot be had.
        missing: Vec<usize>,
        /// Those that can.
        allowed: Vec<usize>,
    },
    /// A cell wants the harness, and none was given.
    NoHarness {
        /// The cell's workload.
        workload: String,
    },
    /// A pattern of `--only` matches no workload and no configuration.
    NoMatch {
        /// The pattern.
        pattern: String,
        /// Workloads and configurations that there are.
        names: Vec<String>,
    },
    /// A search for the smallest heap has nothing to search for.
    NothingToSearch,
    /// A study of heap introspection has no cell whose answers could be varied.
    NothingToVary,
    /// Self-checks did not pass.
    SelfCheck {
        /// Each of them in words.
        failed: Vec<String>,
        /// How many checks there were.
        all: usize,
    },
    /// The program of a search for the smallest heap cannot be started.
    CannotStart {
        /// The cell's workload.
        workload: String,
        /// Why.
        why: String,
    },
    /// The user asked for the end.
    Interrupted {
        /// How many of what was to be done are.
        done: usize,
        /// How many there are.
        all: usize,
    },
    /// A run for the compilers' log did not end well.
    JitRun {
        /// What is left of it.
        directory: PathBuf,
        /// What was wrong.
        why: String,
    },
    /// An experiment file is not valid.
    Experiment {
        /// The file.
        path: PathBuf,
        /// All that is wrong, in the order of files and lines.
        problems: Vec<Problem>,
    },
    /// Hosts or local workers cannot be had as they were named.
    Hosts {
        /// Why.
        why: String,
    },
    /// GNU parallel, which starts the work on other hosts, cannot be used.
    Parallel {
        /// Why.
        why: String,
    },
    /// Hosts have not done all that was dealt to them.
    Shards {
        /// How many invocations are missing.
        missing: usize,
        /// How many there are.
        all: usize,
        /// The hosts that lack some, and what became of them.
        hosts: Vec<String>,
    },
    /// An experiment needs what is not there.
    Incomplete {
        /// The file.
        path: PathBuf,
        /// What is not there.
        missing: Vec<Missing>,
    },
    /// A figure cannot be drawn.
    Drawing {
        /// The figure's name.
        figure: String,
        /// Why.
        why: String,
    },
    /// A run of this name was published at the same minute.
    Published {
        /// Its directory.
        path: PathBuf,
    },
    /// A document's block cannot be filled.
    Block {
        /// The document.
        path: PathBuf,
        /// The line that opens the block, from 1.
        line: usize,
        /// Why.
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read { path, error } => write!(f, "cannot read {}: {error}", path.display()),
            Error::Write { path, error } => write!(f, "cannot write {}: {error}", path.display()),
            Error::Foreign { path, why } => write!(f, "cannot use {}: {why}", path.display()),
            Error::MixedCells { cell, ids } => {
                write!(f, "{cell} stands for {} different cells: {}", ids.len(), ids.join(", "))
            }
            Error::UnknownConfiguration { pattern, .. } => {
                write!(f, "no configuration in the results matches `{pattern}`")
            }
            Error::AmbiguousConfiguration { pattern, matches } => {
                write!(f, "`{pattern}` matches {} configurations: {}", matches.len(), matches.join(", "))
            }
            Error::Unknown { kind, name, .. } => write!(f, "there is no {kind} `{name}` in the results"),
            Error::NotDistillable { metric } => {
                write!(
                    f,
                    "no lower bound overhead can be told of `{metric}`: the collector's share is not known"
                )
            }
            Error::NothingToCompare { .. } => {
                write!(f, "there is nothing that both have and that can be compared")
            }
            Error::Damaged { path, line, why } => {
                write!(f, "line {line} of {} is damaged: {why}", path.display())
            }
            Error::NotAPlan { path, why } => write!(f, "{} is not a plan: {why}", path.display()),
            Error::InUse { path, pid: Some(pid) } => {
                write!(f, "the results in {} are in use by process {pid}", path.display())
            }
            Error::InUse { path, pid: None } => {
                write!(f, "the results in {} are in use by another process", path.display())
            }
            Error::Directory { path, character } => {
                write!(
                    f,
                    "results cannot go to {}: a Java VM's option cannot hold `{character}`",
                    path.display()
                )
            }
            Error::Cores { missing, allowed } => write!(
                f,
                "the plan pins to cores that cannot be used here: {} (usable: {})",
                list(missing),
                list(allowed)
            ),
            Error::NoHarness { workload } => {
                write!(
                    f,
                    "the workload {workload} is measured by the harness, and liblookback_harness.so was not found"
                )
            }
            Error::NoMatch { pattern, .. } => {
                write!(f, "no workload and no configuration matches `{pattern}`")
            }
            Error::NothingToSearch => {
                write!(
                    f,
                    "there is no cell whose heap could be searched for: none runs in a Java VM with a named collector"
                )
            }
            Error::NothingToVary => write!(
                f,
                "there is no cell whose view of the heap could be varied: none runs in a Java VM with the harness and without a tracer"
            ),
            Error::SelfCheck { failed, all } => {
                write!(f, "{} of {all} self-checks did not pass", failed.len())
            }
            Error::CannotStart { workload, why } => {
                write!(f, "the workload {workload} cannot be started: {why}")
            }
            Error::Interrupted { done, all } => write!(f, "interrupted; {done} of {all} are done"),
            Error::JitRun { directory, why } => write!(f, "the run in {} failed: {why}", directory.display()),
            Error::Experiment { path, problems } => {
                let count = counted(problems.len(), "problem");
                write!(f, "the experiment {} cannot be used: {count}", path.display())
            }
            Error::Hosts { why } => write!(f, "the hosts cannot be used: {why}"),
            Error::Parallel { why } => write!(f, "GNU parallel cannot be used: {why}"),
            Error::Shards { missing, all, hosts } => {
                write!(f, "{missing} of {all} invocations are missing: {}", hosts.join(", "))
            }
            Error::Incomplete { path, missing } => {
                let count = counted(missing.len(), "thing");
                write!(f, "the experiment {} cannot run yet: {count} missing", path.display())
            }
            Error::Drawing { figure, why } => write!(f, "cannot draw the figure {figure}: {why}"),
            Error::Published { path } => write!(f, "the run {} was published before", path.display()),
            Error::Block { path, line, why } => {
                write!(f, "cannot fill the block in line {line} of {}: {why}", path.display())
            }
        }
    }
}

/// Numbers with commas.
fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Read { error, .. } | Error::Write { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl Error {
    /// What the user may try, in words; empty when the message says it.
    pub fn hint(&self) -> String {
        match self {
            Error::Read { .. } => "check the path and its permissions".into(),
            Error::Write { error, .. } if is_full(error) => {
                "results so far are whole: free some space, and the same command goes on where it stopped".into()
            }
            Error::Write { .. } => "check that the directory is there, is yours and has room".into(),
            Error::Foreign { .. } => "name a directory of results that the lab wrote, by the same version".into(),
            Error::MixedCells { .. } => {
                "something that can change figures was changed in between (JDK, class path, options): measure into a new directory, and compare the two directories".into()
            }
            Error::UnknownConfiguration { known, .. } => format!("there is {}", known.join(", ")),
            Error::AmbiguousConfiguration { .. } => "name one of them in full".into(),
            Error::Unknown { known, .. } => format!("there is {}", known.join(", ")),
            Error::NotDistillable { .. } => format!("choose one of {}", crate::metric::DISTILLABLE.join(", ")),
            Error::NothingToCompare { left_out } => left_out.join("; "),
            Error::Damaged { .. } => {
                "something else than the lab has written there: mend or remove that line; the others are whole".into()
            }
            Error::NotAPlan { .. } => "a plan is the plan.json of a results directory".into(),
            Error::InUse { .. } => "wait for it to end, or give another directory with --out".into(),
            Error::Directory { .. } => "give a plainer directory with --out".into(),
            Error::Cores { .. } => "change `pin` in the experiment, or the cores given to this process (taskset, cgroup)".into(),
            Error::NoHarness { .. } => "build it with `make harness`, or say where it is".into(),
            Error::NoMatch { names, .. } => format!("there are: {}", names.join(", ")),
            Error::NothingToSearch => {
                "give configurations that name a collector, and check --collector and --workload".into()
            }
            Error::NothingToVary => {
                "give configurations with a JDK and without tracer, and check --collector and --workload".into()
            }
            Error::SelfCheck { failed, .. } => failed.join("; "),
            Error::CannotStart { .. } => "check that the JDK is where the plan says; runs so far are kept".into(),
            Error::Interrupted { .. } => "the same command goes on where this one stopped".into(),
            Error::JitRun { directory, .. } => {
                format!(
                    "look at {}; runs that are whole are not made again",
                    directory.join("stderr").display()
                )
            }
            Error::Experiment { .. } => {
                "docs/LAB.md describes every key; `lookback lab init` prints an example".into()
            }
            Error::Hosts { .. } => {
                "name hosts as ssh does, each once: --hosts a,b or --hosts-file FILE; workers of this machine with --local N".into()
            }
            Error::Parallel { .. } => {
                "install it: the package `parallel` of Debian and others, with `rsync` where other hosts take part".into()
            }
            Error::Shards { .. } => {
                "the same command does what is missing; what was dealt to a host that is not named any more goes to the others".into()
            }
            Error::Incomplete { missing, .. } => {
                let heaps = missing.iter().any(|one| matches!(one, Missing::MinimumHeap { .. }));
                let files = missing.iter().any(|one| matches!(one, Missing::File { .. }));
                match (files, heaps) {
                    (true, _) => "`make build` builds the lab's own files; `lookback lab plan` tells all that is missing".into(),
                    (false, _) => "`lookback lab min-heap` with the same file finds minimum heaps".into(),
                }
            }
            Error::Drawing { .. } => "`lookback lab report --format md` gives the tables without figures".into(),
            Error::Published { .. } => "give another --name, or --force to write it anew".into(),
            Error::Block { .. } => "`<!-- lab:NAME:TABLE -->`, `<!-- lab:NAME/FILE WORDS -->` or `<!-- lab:NAME=KEY -->` opens a block, `<!-- /lab -->` ends it; `lookback lab publish` writes the run that NAME stands for".into(),
        }
    }
}

/// Whether a write failed for want of room: disk, quota or limit of a file's size.
fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
