//! Which runs a comparison is made of, and where their logs are.
//!
//! ```text
//! DIR/bare/1/compilation.log   DIR/traced/1/compilation.log   DIR/control/1/compilation.log   DIR/bare/2/...
//! ```
//!
//! The constraint that shaped it: a machine drifts, and what the compilers do depends on when threads run, so the three
//! groups take turns, run by run. The control is the bare program again, as often: what it differs by from the first
//! group is what differs by itself. Who starts a JVM is not said here; the comparison reads directories, made by the lab
//! or by hand.

use super::{LOG, OPTIONS, Run};
use crate::error::{Error, Result};
use crate::plan::{Cell, CellId};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Where the harness's classes are, by which a workload's command names its plug-in.
const HARNESS_CLASSES: &str = "dev.lookback.harness.";

/// A group of runs of one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Without the tracer.
    Bare,
    /// With it.
    Traced,
    /// Without it, again.
    Control,
}

impl Group {
    /// Name of its directory.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Bare => "bare",
            Group::Traced => "traced",
            Group::Control => "control",
        }
    }
}

/// Starts a JVM and waits for its end.
pub trait Launcher {
    /// Runs the cell with `dir`, which is there, as its invocation's directory.
    ///
    /// # Errors
    /// It did not end well; in words.
    fn launch(&mut self, cell: &Cell, dir: &Path) -> std::result::Result<(), String>;
}

/// Makes `runs` runs of each group below `dir`, in turns; a run whose log is there is not made again. `progress` is told
/// the number of each run, from 1, of how many, and its group, before it is made.
///
/// # Errors
/// [`Error::Write`], and [`Error::JitRun`] for a run that did not end well or left no log.
pub fn record(
    bare: &Cell,
    traced: &Cell,
    runs: u32,
    dir: &Path,
    launcher: &mut dyn Launcher,
    progress: &mut dyn FnMut(u32, u32, Group),
) -> Result<()> {
    let turns = [(Group::Bare, bare), (Group::Traced, traced), (Group::Control, bare)];
    let all = runs * turns.len() as u32;
    let mut number = 0;
    for run in 1..=runs {
        for (group, cell) in turns {
            number += 1;
            progress(number, all, group);
            let place = dir.join(group.name()).join(run.to_string());
            let log = place.join(LOG);
            if log.exists() {
                continue;
            }
            std::fs::create_dir_all(&place).map_err(|error| Error::Write { path: place.clone(), error })?;
            let failed = |why| Error::JitRun { directory: place.clone(), why };
            if let Err(why) = launcher.launch(&logging(cell), &place) {
                // A failed run's log would be taken for a whole one the next time.
                let _ = std::fs::remove_file(&log);
                return Err(failed(why));
            }
            if !log.exists() {
                return Err(failed(format!("it ended well and left no {LOG}")));
            }
        }
    }
    Ok(())
}

/// The cell as it is run here: with the options that make its JVM log what the compilers do, and without the harness,
/// because nothing is timed and what is not there changes nothing. Another identity: it is another program.
pub fn logging(cell: &Cell) -> Cell {
    let mut cell = cell.clone();
    cell.id = CellId(format!("{}-jit", cell.id));
    if let Some(jvm) = &mut cell.launch.jvm {
        jvm.options.extend(OPTIONS.map(str::to_owned));
        if std::mem::take(&mut jvm.harness) {
            // `--callback CLASS`, `-c CLASS` and the like: a class of the harness and the option before it.
            let command = &mut cell.launch.command;
            while let Some(at) = command.iter().position(|word| word.starts_with(HARNESS_CLASSES)) {
                command.drain(at.saturating_sub(1)..=at);
            }
        }
    }
    cell
}

/// The runs of a group below `dir`, in the order of their numbers; none when there is no such group.
///
/// # Errors
/// [`Error::Read`].
pub fn runs(dir: &Path, group: Group) -> Result<Vec<Run>> {
    let directory = dir.join(group.name());
    let read = |error| Error::Read { path: directory.clone(), error };
    let entries = match std::fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(read(error)),
    };
    let mut logs: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let log = entry.map_err(read)?.path().join(LOG);
        if log.exists() {
            logs.push(log);
        }
    }
    let number = |log: &PathBuf| log.parent().and_then(Path::file_name)?.to_str()?.parse::<u64>().ok();
    logs.sort_by_key(|log| (number(log), log.clone()));
    let open = |path: PathBuf| match File::open(&path) {
        Ok(file) => Ok(Run::read(BufReader::with_capacity(1 << 16, file))),
        Err(error) => Err(Error::Read { path, error }),
    };
    logs.into_iter().map(open).collect()
}
