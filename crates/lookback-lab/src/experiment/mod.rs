//! Experiment files: what to run, written as TOML, checked in full, resolved into a [`Plan`].
//!
//! The constraint that shaped it: a file is the whole description of an experiment, so that it can be read, committed and
//! repeated. So all keys are documented (`docs/LAB.md`), defaults are those of the paper where it has one, and all that
//! is wrong is told at once with its line. Nothing here starts a process.
//!
//! ```text
//! text -> document (tree with places) -> file (keys read) -> resolve (JDKs, jars, heaps) -> plan
//! ```

mod braces;
mod catalog;
mod configuration;
mod document;
mod fields;
mod file;
mod heap;
mod identity;
mod jdk;
mod launch;
mod minimum;
mod modifier;
mod placeholders;
mod problem;
mod resolve;
mod surroundings;
mod workload;

pub use minimum::{HeapSearch, MinimumHeaps, Missing, NoMinimumHeaps};
pub use modifier::ModifierFacts;
pub use problem::{Place, Problem};
pub use resolve::Resolved;
pub use surroundings::{Surroundings, Tools};

use crate::error::{Error, Result};
use crate::plan::{Cell, Plan};
use std::path::{Path, PathBuf};

/// Reads an experiment file, checks it, and resolves it against a machine.
///
/// # Errors
/// [`Error::Read`]; [`Error::Experiment`] with all that is wrong.
pub fn resolve(path: &Path, around: &Surroundings, minima: &dyn MinimumHeaps) -> Result<Resolved> {
    let problems = problem::Problems::default();
    let tree = file::tree(path, &problems)?;
    let file = file::read(&tree, path, around, &problems);
    let resolved = resolve::Resolver::new(&file, around, minima, &problems).resolve();
    if problems.is_empty() {
        return Ok(resolved);
    }
    Err(Error::Experiment { path: path.to_owned(), problems: problems.into_vec() })
}

/// The plan of an experiment file that can run as it is.
///
/// # Errors
/// As [`resolve`]; [`Error::Incomplete`] when something that it needs is missing.
pub fn load(path: &Path, around: &Surroundings, minima: &dyn MinimumHeaps) -> Result<Plan> {
    let resolved = resolve(path, around, minima)?;
    if resolved.missing.is_empty() {
        return Ok(resolved.plan);
    }
    Err(Error::Incomplete { path: path.to_owned(), missing: resolved.missing })
}

/// The experiment's file and all that it includes, each once, by their real paths: what another machine needs to read it.
///
/// # Errors
/// [`Error::Read`] for the file itself.
pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
    file::files(path)
}

/// The built-in modifiers, by name.
pub fn modifiers() -> Vec<ModifierFacts> {
    file::built_in().values().map(modifier::Modifier::facts).collect()
}

/// Seconds that an invocation of a cell may take, where no record tells: a guess.
///
/// One of the lab's own workloads takes what it takes warm, each iteration, and two seconds to start; anything else half
/// a minute.
pub fn guess_seconds(cell: &Cell) -> f64 {
    const START: f64 = 2.0;
    const UNKNOWN: f64 = 30.0;
    let own = cell.launch.command.get(1).filter(|_| cell.launch.command[0] == launch::MAIN);
    let known = own.and_then(|name| catalog::find(name));
    known.map_or(UNKNOWN, |known| {
        let small = cell.launch.command.windows(2).any(|pair| pair == ["--size", "small"]);
        let each = if small { known.seconds / 10.0 } else { known.seconds };
        START + each * f64::from(cell.iterations)
    })
}

/// An example of an experiment file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// What it is about: `gc`, `tracer`, `command`.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

/// Examples that are valid as they are.
pub const EXAMPLES: [Example; 3] = [
    Example { name: "gc", text: include_str!("examples/gc.toml") },
    Example { name: "tracer", text: include_str!("examples/tracer.toml") },
    Example { name: "command", text: include_str!("examples/command.toml") },
];
