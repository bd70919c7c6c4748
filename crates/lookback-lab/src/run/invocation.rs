//! One invocation: its directory, its process, what the machine did meanwhile, its figures and its outcome.
//!
//! The constraint that shaped it: an invocation begins with nothing that another has left (the paper's idempotent
//! benchmarks, section 4.4) and leaves nothing but its raw directory. Within the measured time the lab does nothing but
//! wait.

use super::command::{self, Command, Harness, WORK};
use super::leftovers;
use super::outcome;
use super::process::{self, End, Ended, Place, Start};
use crate::error::{Error, Result};
use crate::machine::{Observer, judge};
use crate::measure::{self, GC_LOG, HARNESS, PROCESS, Process, RECORDING, STDERR, STDOUT};
use crate::metric::is_by_the_clock;
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

    /// Runs an invocation by itself. None when `stop` asked for the end: then there is no result.
    ///
    /// # Errors
    /// As of [`Context::execute_all`].
    pub(crate) fn execute(
        &self,
        task: Task<'_>,
        observer: &mut dyn Observer,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Executed>> {
        let executed = self.execute_all(&[task], Duration::ZERO, observer, stop)?;
        Ok(executed.and_then(|mut all| all.pop()))
    }

    /// Runs invocations at the same time, taking turns of this length. None when `stop` asked for the end: then there is no
    /// result.
    ///
    /// # Errors
    /// [`Error::Write`], [`Error::NoHarness`], [`Error::Directory`].
    pub(crate) fn execute_all(
        &self,
        tasks: &[Task<'_>],
        turn: Duration,
        observer: &mut dyn Observer,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Executed>>> {
        let (mut commands, mut outputs) = (Vec::new(), Vec::new());
        for task in tasks {
            let Some(ready) = self.make_ready(task, stop)? else { return Ok(None) };
            let (command, output) =
                ready.map_or_else(|outcome| (Err(outcome), None), |(c, o)| (Ok(c), Some(o)));
            commands.push(command);
            outputs.push(output);
        }
        let works: Vec<_> = tasks.iter().map(|task| task.dir.join(WORK)).collect();
        let mut starts = Vec::new();
        for (((task, command), output), work) in tasks.iter().zip(&commands).zip(outputs).zip(&works) {
            if let (Ok(command), Some((stdout, stderr))) = (command, output) {
                let place = Place { work, stdout, stderr, cores: &self.cores };
                starts.push(Start { command, place, timeout: task.cell.timeout });
            }
        }
        let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let before = observer.counters();
        let ran = process::run(starts, turn, stop);
        let after = observer.counters();
        let leftovers = leftovers::kill(&self.marker);
        let cpu = ran.iter().flatten().map(|ended| ended.cpu).sum();
        let disturbances = judge(self.quiet, &before, &after, cpu, observer.step());
        let mut ran = ran.into_iter();
        let mut all = Vec::with_capacity(tasks.len());
        for ((task, command), work) in tasks.iter().zip(commands).zip(&works) {
            // Not worth an error: what it holds is nobody's, and the next run's is elsewhere.
            let _ = fs::remove_dir_all(work);
            let mut executed = Executed {
                outcome: Outcome::Ok,
                temporary: false,
                started: started.clone(),
                wall: Duration::ZERO,
                reading: Reading::default(),
                disturbances: Vec::new(),
                iterations: Vec::new(),
                checksum: None,
                leftovers,
            };
            match command.map(|command| (command, ran.next())) {
                Err(outcome) => executed.outcome = outcome,
                Ok((_, None)) => {}
                Ok((command, Some(Err(error)))) => {
                    executed.temporary = matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM));
                    executed.outcome = Outcome::NotStarted { why: format!("{}: {error}", command.words[0]) };
                }
                Ok((_, Some(Ok(ended)))) => {
                    executed.reading = before.until(&after, cpu);
                    executed.disturbances.clone_from(&disturbances);
                    if !executed.is_measured_by(task, &ended, !turn.is_zero())? {
                        return Ok(None);
                    }
                }
            }
            all.push(executed);
        }
        Ok(Some(all))
    }

    /// Prepares an invocation's directory and runs its rehearsal, if there is one. None when `stop` asked for the end.
    fn make_ready(&self, task: &Task<'_>, stop: &dyn Fn() -> bool) -> Result<Option<Ready>> {
        let Task { cell, dir, .. } = *task;
        let failed = |error| Error::Write { path: dir.to_owned(), error };
        let command = command::compose(cell, dir, self.harness, &self.marker)?;
        let outputs = prepare(dir).map_err(failed)?;
        fs::write(dir.join("command"), command.to_shell()).map_err(failed)?;
        let rehearsed = match command::rehearsal(cell, dir, self.harness, &self.marker)? {
            Some(rehearsal) => self.rehearse(&rehearsal, cell, dir, stop).map_err(failed)?,
            None => Some(Ok(())),
        };
        Ok(rehearsed.map(|rehearsed| rehearsed.map(|()| (command, outputs))))
    }
}

/// An invocation to be run: of `cell`, with `dir`, an absolute path, as its raw directory; what is in it is removed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) dir: &'a Path,
    /// The checksum that it must have.
    pub(crate) expected: Option<&'a str>,
}

/// An invocation's command and the files of its outputs; what came of it when its rehearsal failed.
type Ready = std::result::Result<(Command, (File, File)), Outcome>;

impl Executed {
    /// Takes what the process has measured, whose end this was; false when it was interrupted. Of one that stood still while
    /// others had their turns, times by the clock on the wall mean nothing.
    fn is_measured_by(&mut self, task: &Task<'_>, ended: &Ended, took_turns: bool) -> Result<bool> {
        let Task { cell, dir, expected } = *task;
        let Some(of_process) = outcome::of_process(ended.end, dir, cell) else { return Ok(false) };
        self.wall = ended.wall;
        fs::write(dir.join(PROCESS), figures(ended))
            .map_err(|error| Error::Write { path: dir.to_owned(), error })?;
        let mut measured = measure::iterations(dir, cell);
        if took_turns {
            for iteration in measured.iter_mut().flatten() {
                iteration.metrics.retain(|name, _| !is_by_the_clock(name));
            }
        }
        self.checksum = outcome::checksum(dir);
        let figures = measured.as_ref().map(Vec::as_slice);
        self.outcome = match of_process {
            Outcome::Ok => outcome::of_figures(figures, cell, self.checksum.as_deref(), expected),
            failure => failure,
        };
        self.iterations = measured.unwrap_or_default();
        Ok(true)
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
        let start = Start { command: rehearsal, place, timeout: cell.timeout };
        let ran = process::run(vec![start], Duration::ZERO, stop).pop();
        leftovers::kill(&self.marker);
        let outcome = match ran.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into())) {
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
            // Says nothing of the program, and another timeout mends it: the next run tries again.
            Outcome::TimedOut => {
                let seconds = cell.timeout.as_secs_f64();
                let why = format!(
                    "its rehearsal took longer than its timeout of {seconds} s; a longer `timeout` holds for both"
                );
                Err(Outcome::NotStarted { why })
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
