//! Which runs a comparison is made of, and where their logs are.
//!
//! ```text
//! DIR/bare/1/compilation.log   DIR/traced/1/compilation.log   DIR/control/1/compilation.log   DIR/bare/2/...
//! ```
//!
//! The constraint that shaped it: a machine drifts, and what the compilers do depends on when threads run, so the three
//! groups take turns, run by run. The control is the bare program again, as often: what it differs by from the first
//! group is what differs by itself. A log without its end would be compared as if it were whole, so a run gets its number
//! when it has ended well. The comparison reads directories, made by the lab or by hand.

use super::{LOG, OPTIONS, Run};
use crate::error::{Error, Result};
use crate::machine::{Observer, resolve};
use crate::plan::{Cell, CellId, Plan};
use crate::results::{Lock, Outcome};
use crate::run::{Context, Task};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Where the harness's classes are, by which a workload's command names its plug-in.
const HARNESS_CLASSES: &str = "dev.lookback.harness.";

/// What the directory of a run that has not ended well has behind its number.
const PART: &str = "part";

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

/// Makes `runs` runs of each group below `dir`, in turns, on the plan's cores; a run that is whole is not made again.
/// `observer` looks at the machine, `stop` is asked whether to end, some times a second, and `progress` is told the
/// number of each run, from 1, of how many, and its group, before it is made.
///
/// # Errors
/// [`Error::JitRun`] for a run that did not end well or left no log, [`Error::Interrupted`], [`Error::InUse`],
/// [`Error::Write`]; after each of them the same call goes on where this one stopped.
pub fn record(
    plan: &Plan,
    [bare, traced]: [&Cell; 2],
    runs: u32,
    dir: &Path,
    observer: &mut dyn Observer,
    stop: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(u32, u32, Group),
) -> Result<()> {
    let failed = |error| Error::Write { path: dir.to_owned(), error };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let dir = dir.canonicalize().map_err(failed)?;
    let _lock = Lock::of(&dir)?;
    let (context, _) = Context::new(&dir, None, resolve(&plan.pin)?, &plan.quiet)?;
    let turns = [(Group::Bare, bare), (Group::Traced, traced), (Group::Control, bare)];
    let all = runs * turns.len() as u32;
    let mut number = 0;
    for run in 1..=runs {
        for (group, cell) in turns {
            number += 1;
            progress(number, all, group);
            let whole = dir.join(group.name()).join(run.to_string());
            if whole.join(LOG).exists() {
                continue;
            }
            let part = whole.with_extension(PART);
            let task = Task { cell: &logging(cell), dir: &part, expected: None };
            let Some(executed) = context.execute(task, observer, stop)? else {
                return Err(Error::Interrupted { done: number as usize - 1, all: all as usize });
            };
            let wrong = match executed.outcome {
                // Nobody asks for figures here.
                Outcome::Ok | Outcome::NoFigures { .. } if part.join(LOG).exists() => None,
                Outcome::Ok | Outcome::NoFigures { .. } => Some(format!("it ended well and left no {LOG}")),
                failure => Some(failure.to_string()),
            };
            if let Some(why) = wrong {
                return Err(Error::JitRun { directory: part, why });
            }
            let failed = |error| Error::Write { path: whole.clone(), error };
            match std::fs::remove_dir_all(&whole) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
                _ => std::fs::rename(&part, &whole).map_err(failed)?,
            }
        }
    }
    Ok(())
}

/// The cell as it is run here: with the options that make its JVM log what the compilers do, and without the harness,
/// because nothing is timed and what is not there changes nothing. Another identity: it is another program.
fn logging(cell: &Cell) -> Cell {
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
        let run = entry.map_err(read)?.path();
        let log = run.join(LOG);
        if log.exists() && run.extension().is_none_or(|extension| extension != PART) {
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
