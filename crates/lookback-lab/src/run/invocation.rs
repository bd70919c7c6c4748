//! One invocation: its directory, its process, what the machine did meanwhile, its figures and its outcome.
//!
//! The constraint that shaped it: an invocation begins with nothing that another has left (the paper's idempotent
//! benchmarks, section 4.4) and leaves nothing but its raw directory. Within the measured time the lab does nothing but
//! wait.

use super::command::{self, Command, Harness, WORK};
use super::leftovers;
use super::outcome;
use super::process::{self, End, Ended, Place};
use crate::error::{Error, Result};
use crate::machine::{Observer, judge};
use crate::measure::{self, GC_LOG, HARNESS, PROCESS, Process, RECORDING, STDERR, STDOUT};
use crate::plan::{Cell, Quiet};
use crate::results::{Disturbance, Iteration, Outcome, Reading};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What all invocations of a run share.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) harness: Option<&'a Harness>,
    pub(crate) cores: Vec<usize>,
    pub(crate) quiet: &'a Quiet,
    pub(crate) marker: String,
}

/// What came of an invocation.
#[derive(Debug)]
pub(crate) struct Executed {
    pub(crate) outcome: Outcome,
    /// Whether it could not be started for something that the machine lacks for the moment.
    pub(crate) temporary: bool,
    /// RFC 3339, UTC.
    pub(crate) started: String,
    pub(crate) wall: Duration,
    pub(crate) reading: Reading,
    pub(crate) disturbances: Vec<Disturbance>,
    pub(crate) iterations: Vec<Iteration>,
    /// The checksum that it printed.
    pub(crate) checksum: Option<String>,
    /// Processes that it left behind.
    pub(crate) leftovers: usize,
}

/// Room that must be there before an invocation begins: one that fails since the disk is full looks like a failure of
/// its own. Logs of an invocation are a few MiB.
const ROOM: u64 = 64 << 20;

/// Name of the directory with the outputs of a rehearsal, within the raw directory.
const REHEARSAL: &str = "rehearsal";

impl<'a> Context<'a> {
    /// Prepares for runs whose results go below `directory`, and kills what an earlier run into it has left; returns how
    /// many processes that were.
    pub(crate) fn new(
        directory: &Path,
        harness: Option<&'a Harness>,
        cores: Vec<usize>,
        quiet: &'a Quiet,
    ) -> Result<(Context<'a>, usize)> {
        let marker = leftovers::marker(directory)
            .map_err(|error| Error::Read { path: directory.to_owned(), error })?;
        let found = leftovers::kill(&marker);
        Ok((Context { harness, cores, quiet, marker }, found))
    }

    /// Runs an invocation of `cell` with `dir`, an absolute path, as its raw directory; what is in it is removed.
    /// `expected` is the checksum that it must have. None when `stop` asked for the end: then there is no result.
    ///
    /// # Errors
    /// [`Error::Write`], [`Error::NoHarness`], [`Error::Directory`].
    pub(crate) fn execute(
        &self,
        cell: &Cell,
        dir: &Path,
        expected: Option<&str>,
        observer: &mut dyn Observer,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Executed>> {
        let failed = |error| Error::Write { path: dir.to_owned(), error };
        let command = command::compose(cell, dir, self.harness, &self.marker)?;
        let (stdout, stderr) = prepare(dir).map_err(failed)?;
        fs::write(dir.join("command"), command.to_shell()).map_err(failed)?;
        let rehearsed = match command::rehearsal(cell, dir, self.harness, &self.marker)? {
            Some(rehearsal) => self.rehearse(&rehearsal, cell, dir, stop).map_err(failed)?,
            None => Some(Ok(())),
        };
        let Some(rehearsed) = rehearsed else { return Ok(None) };
        let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let before = observer.counters();
        let work = dir.join(WORK);
        let place = Place { work: &work, stdout, stderr, cores: &self.cores };
        let ran = match &rehearsed {
            Ok(()) => Some(process::run(&command, place, cell.timeout, stop)),
            Err(_) => None,
        };
        let after = observer.counters();
        let leftovers = leftovers::kill(&self.marker);
        // Not worth an error: what it holds is nobody's, and the next run's is elsewhere.
        let _ = fs::remove_dir_all(&work);
        let mut executed = Executed {
            outcome: Outcome::Ok,
            temporary: false,
            started,
            wall: Duration::ZERO,
            reading: Reading::default(),
            disturbances: Vec::new(),
            iterations: Vec::new(),
            checksum: None,
            leftovers,
        };
        let ran = match (ran, rehearsed) {
            (Some(ran), _) => ran,
            (None, rehearsed) => {
                executed.outcome = rehearsed.err().unwrap_or(Outcome::Ok);
                return Ok(Some(executed));
            }
        };
        match ran {
            Err(error) => {
                executed.temporary = matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM));
                executed.outcome = Outcome::NotStarted { why: format!("{}: {error}", command.words[0]) };
            }
            Ok(ended) => {
                let Some(of_process) = outcome::of_process(ended.end, dir, cell) else { return Ok(None) };
                executed.wall = ended.wall;
                executed.reading = before.until(&after, ended.cpu);
                executed.disturbances = judge(self.quiet, &before, &after, ended.cpu, observer.step());
                fs::write(dir.join(PROCESS), figures(&ended)).map_err(failed)?;
                let measured = measure::iterations(dir, cell);
                executed.checksum = outcome::checksum(dir);
                executed.outcome = match of_process {
                    Outcome::Ok => outcome::of_figures(
                        measured.as_ref().map(Vec::as_slice),
                        cell,
                        executed.checksum.as_deref(),
                        expected,
                    ),
                    failure => failure,
                };
                executed.iterations = measured.unwrap_or_default();
            }
        }
        Ok(Some(executed))
    }
}

impl Context<'_> {
    /// Runs a rehearsal and removes what it measured of itself. What came of it is inside; none when `stop` asked for the
    /// end.
    fn rehearse(
        &self,
        rehearsal: &Command,
        cell: &Cell,
        dir: &Path,
        stop: &dyn Fn() -> bool,
    ) -> io::Result<Option<Rehearsed>> {
        let outputs = dir.join(REHEARSAL);
        fs::create_dir(&outputs)?;
        fs::write(outputs.join("command"), rehearsal.to_shell())?;
        let (stdout, stderr) = (File::create(outputs.join(STDOUT))?, File::create(outputs.join(STDERR))?);
        let work = dir.join(WORK);
        let place = Place { work: &work, stdout, stderr, cores: &self.cores };
        let ran = process::run(rehearsal, place, cell.timeout, stop);
        leftovers::kill(&self.marker);
        let outcome = match ran {
            Err(error) => Outcome::NotStarted { why: format!("the rehearsal: {error}") },
            Ok(ended) => match outcome::of_process(ended.end, &outputs, cell) {
                None => return Ok(None),
                Some(outcome) => outcome,
            },
        };
        for name in [HARNESS, GC_LOG, RECORDING] {
            match fs::remove_file(dir.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::remove_dir_all(&work)?;
        fs::create_dir(&work)?;
        Ok(Some(match outcome {
            Outcome::Ok => Ok(()),
            Outcome::Failed { code, last_words } => {
                Err(Outcome::Failed { code, last_words: format!("the rehearsal failed: {last_words}") })
            }
            failure => Err(failure),
        }))
    }
}

/// What came of a rehearsal: the invocation's outcome when it failed.
type Rehearsed = std::result::Result<(), Outcome>;

/// Makes an empty raw directory with the files of both outputs and the working directory.
fn prepare(dir: &Path) -> io::Result<(File, File)> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(dir.join(WORK))?;
    if room(dir)? < ROOM {
        return Err(io::ErrorKind::StorageFull.into());
    }
    Ok((File::create(dir.join(STDOUT))?, File::create(dir.join(STDERR))?))
}

/// Bytes that this user may still write to a path's file system.
fn room(path: &Path) -> io::Result<u64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: zeros are a valid statvfs.
    let mut stat: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends in 0, and the pointer is valid.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut stat) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

fn figures(ended: &Ended) -> Vec<u8> {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    debug_assert!(ended.end != End::Interrupted);
    let process = Process {
        wall_ns: nanos(ended.wall),
        cpu_ns: nanos(ended.cpu),
        peak_rss_bytes: ended.peak_rss,
        page_faults: ended.page_faults,
        context_switches: ended.context_switches,
    };
    serde_json::to_vec(&process).unwrap_or_default()
}
