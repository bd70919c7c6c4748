//! The directory of an experiment's results, open for one run at a time.
//!
//! ```text
//! experiment.toml   the file as it was
//! plan.json         what it came to on this machine
//! machine.json      what the machine is: a list, an entry for each state it was in
//! results.jsonl     a line an invocation
//! raw/CELL/N-A/     output and logs of invocation N, attempt A
//! lock              held while a run goes on
//! ```
//!
//! The constraint that shaped it: a run may be killed at any moment, and going on must lose nothing and run nothing
//! twice. So `results.jsonl` alone says what is done; other files are replaced as a whole, and a raw directory without
//! a record counts for nothing.

use super::lines::{Lines, Read};
use super::record::Record;
use crate::error::{Error, Result};
use crate::machine::Facts;
use crate::plan::Plan;
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Name of the copy of the experiment's file.
pub const EXPERIMENT: &str = "experiment.toml";
/// Name of the plan.
pub const PLAN: &str = "plan.json";
/// Name of the list of the machine's states.
pub const MACHINE: &str = "machine.json";
/// Name of the file of records.
pub const RECORDS: &str = "results.jsonl";

/// A directory of results that this process alone writes to, until it is dropped.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    records: Lines,
    _lock: Lock,
}

impl Directory {
    /// Opens a directory, or makes it, and reads what it has.
    ///
    /// # Errors
    /// [`Error::InUse`], [`Error::Write`], and those of [`super::read`].
    pub fn open(path: &Path) -> Result<(Directory, Read<Record>)> {
        let failed = |error| Error::Write { path: path.to_owned(), error };
        fs::create_dir_all(path).map_err(failed)?;
        // Absolute: it stands in options of programs that run elsewhere.
        let path = path.canonicalize().map_err(failed)?;
        let lock = Lock::of(&path)?;
        let (records, read) = Lines::open(&path.join(RECORDS))?;
        Ok((Directory { path, records, _lock: lock }, read))
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record; it is on the disk when this returns.
    ///
    /// # Errors
    /// [`Error::Write`]; then nothing of it is left in the file.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        self.records.append(record)
    }

    /// Writes the plan, the experiment's file when there is one, and the machine's state when it is another than the
    /// last.
    ///
    /// # Errors
    /// [`Error::Write`], and [`Error::Damaged`] for a list of states that cannot be read.
    pub fn describe(&self, plan: &Plan, source: Option<&str>, facts: &Facts) -> Result<()> {
        if let Some(source) = source {
            replace(&self.path.join(EXPERIMENT), source.as_bytes())?;
        }
        replace(&self.path.join(PLAN), &pretty(plan))?;
        let machine = self.path.join(MACHINE);
        let mut states = states(&machine)?;
        if !states.last().is_some_and(|last| last.same_as(facts)) {
            states.push(facts.clone());
            replace(&machine, &pretty(&states))?;
        }
        Ok(())
    }
}

/// The states in a `machine.json`; none when there is no such file.
pub(super) fn states(path: &Path) -> Result<Vec<Facts>> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| Error::Damaged {
            path: path.to_owned(),
            line: error.line(),
            why: error.to_string(),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::Read { path: path.to_owned(), error }),
    }
}

/// JSON for people.
pub(crate) fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Replaces a file as a whole: readers see the old or the new one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = path.with_extension("new");
    let write = || -> io::Result<()> {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        fs::rename(&beside, path)
    };
    write().map_err(|error| {
        // What is there of it is of no use, and the disk may be full.
        let _ = fs::remove_file(&beside);
        Error::Write { path: path.to_owned(), error }
    })
}

/// The right to write to a directory. The kernel takes it back when the process ends, however that happens.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone would leave it with a process that another thread has just forked, until that one begins its
        // program.
        // SAFETY: the descriptor is open, and the call touches no memory.
        unsafe { libc::flock(self.file.as_raw_fd(), libc::LOCK_UN) };
    }
}

impl Lock {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// [`Error::InUse`] when another process has it.
    pub(crate) fn of(directory: &Path) -> Result<Lock> {
        let path = directory.join("lock");
        let failed = |error| Error::Write { path: path.clone(), error };
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        if let Err(error) = lock(&file) {
            if error.kind() != io::ErrorKind::WouldBlock {
                return Err(failed(error));
            }
            let mut text = String::new();
            // Who has it may be about to write its number.
            let _ = file.read_to_string(&mut text);
            return Err(Error::InUse { path: directory.to_owned(), pid: text.trim().parse().ok() });
        }
        let write = || -> io::Result<()> {
            file.set_len(0)?;
            (&file).write_all(format!("{}\n", std::process::id()).as_bytes())
        };
        write().map_err(failed)?;
        Ok(Lock { file })
    }
}

/// Takes a file's lock. When it is taken a moment is waited: a run that was just killed may leave it to a process that it
/// had forked, until that one begins its program.
fn lock(file: &File) -> io::Result<()> {
    let patience = Instant::now() + Duration::from_millis(200);
    loop {
        // SAFETY: the descriptor is open, and the call touches no memory.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if Instant::now() >= patience || error.kind() != io::ErrorKind::WouldBlock {
            return Err(error);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_are_kept_apart_and_the_second_learns_who_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let first = Directory::open(dir.path()).unwrap();
        match Directory::open(dir.path()) {
            Err(Error::InUse { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
            other => panic!("{other:?}"),
        }
        drop(first);
        Directory::open(dir.path()).unwrap();
    }

    #[test]
    fn a_state_of_the_machine_is_written_when_it_is_new() {
        let dir = tempfile::tempdir().unwrap();
        let (directory, _) = Directory::open(dir.path()).unwrap();
        let plan = Plan {
            name: "p".into(),
            about: String::new(),
            seed: 1,
            cells: vec![],
            order: vec![],
            pin: crate::plan::Pin::All,
            retries: 0,
            turns: Duration::ZERO,
            metrics: vec![],
            quiet: crate::plan::Quiet::default(),
            jdks: vec![],
        };
        let one = Facts { host: "a".into(), ..Facts::default() };
        let two = Facts { smt: Some(true), ..one.clone() };
        directory.describe(&plan, Some("name = \"p\"\n"), &one).unwrap();
        directory.describe(&plan, None, &Facts { load: Some(3.0), ..one.clone() }).unwrap();
        directory.describe(&plan, None, &two).unwrap();
        assert_eq!(states(&dir.path().join(MACHINE)).unwrap(), [one, two]);
        assert_eq!(fs::read_to_string(dir.path().join(EXPERIMENT)).unwrap(), "name = \"p\"\n");
        let back: Plan = serde_json::from_slice(&fs::read(dir.path().join(PLAN)).unwrap()).unwrap();
        assert_eq!(back.name, "p");
        fs::write(dir.path().join(MACHINE), "[\n{\n").unwrap();
        assert!(matches!(directory.describe(&plan, None, &Facts::default()), Err(Error::Damaged { .. })));
    }
}
