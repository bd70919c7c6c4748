//! Searches for all minimum heaps that an experiment needs, with real processes, and goes on where an earlier one stopped.
//!
//! The constraint that shaped it: a search takes tens of runs, and a kill must not cost more than the one that was
//! running. So each run is a line in a file of its search, and going on answers the search from these lines before
//! anything is started: the search asks the same questions in the same order.

use super::file::{Minima, Minimum};
use super::key::Key;
use super::search::{Rule, Trial, search};
use crate::error::{Error, Result};
use crate::machine::{Facts, Observer, resolve};
use crate::plan::{Cell, HeapSize, Plan, Quiet};
use crate::results::{Lines, Lock, Outcome};
use crate::run::{Context, Executed, Harness, Task};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What to search for and where results go.
#[derive(Debug, Clone)]
pub struct Finder {
    /// The file of minimum heaps.
    pub file: PathBuf,
    /// When a size passes; `most` is lowered to what the machine has.
    pub rule: Rule,
    /// Search for this workload only.
    pub workload: Option<String>,
    /// Search with this collector only.
    pub collector: Option<String>,
    /// Search again for what is known.
    pub again: bool,
    /// Where the harness is.
    pub harness: Option<Harness>,
}

/// What a search came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What was searched for.
    pub key: Key,
    /// The JDK's name.
    pub jdk: String,
    /// The minimum; none when not even the largest heap passed.
    pub minimum: Option<Minimum>,
    /// How the last run in the largest heap that failed had ended.
    pub last_failure: Option<Outcome>,
    /// Whether it was known before.
    pub known: bool,
}

/// What a search tells while it goes on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A search begins or goes on.
    Begins {
        /// What is searched for.
        key: &'a Key,
        /// The JDK's name.
        jdk: &'a str,
        /// How many searches are behind.
        done: usize,
        /// How many there are.
        all: usize,
        /// Runs that an earlier search had made.
        before: usize,
    },
    /// A run has ended.
    Ran {
        /// The heap, bytes.
        bytes: u64,
        /// How it ended.
        outcome: &'a Outcome,
        /// How many runs this search has made.
        runs: u32,
    },
    /// A search has ended.
    Ended {
        /// With this.
        found: &'a Found,
    },
}

/// Shares of the machine's memory that a heap may have: the VM needs some beside it.
const SHARE: f64 = 0.75;

/// A run of a search, as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ran {
    bytes: u64,
    outcome: Outcome,
    ns: u64,
}

impl Ran {
    /// The time of a run that ended well. Figures are nobody's concern here: a heap that is large enough to end well in
    /// is large enough.
    fn time(&self) -> Option<Duration> {
        matches!(self.outcome, Outcome::Ok | Outcome::NoFigures { .. }).then(|| Duration::from_nanos(self.ns))
    }
}

/// Searches for what `cells` need and the file does not have; pin and JDKs are the plan's. A cell's own heap does not
/// matter. Results come in the order of the cells.
///
/// # Errors
/// [`Error::NothingToSearch`], [`Error::CannotStart`], [`Error::Interrupted`], [`Error::InUse`], [`Error::Write`]; after
/// each of them the same call goes on where this one stopped.
pub fn find(
    plan: &Plan,
    cells: &[Cell],
    finder: &Finder,
    observer: &mut dyn Observer,
    stop: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(&Progress<'_>),
) -> Result<Vec<Found>> {
    let subjects = subjects(plan, cells, finder);
    if subjects.is_empty() {
        return Err(Error::NothingToSearch);
    }
    let cores = resolve(&plan.pin)?;
    let work = work_directory(&finder.file)?;
    let _lock = Lock::of(&work)?;
    let known = Minima::read(&finder.file)?;
    let (mut file, _) = Lines::open::<Minimum>(&finder.file)?;
    let facts = Facts::here();
    let room = facts.memory_available.min(facts.cgroup_memory.unwrap_or(u64::MAX));
    let rule = Rule { most: finder.rule.most.min((room as f64 * SHARE) as u64), ..finder.rule };
    // Disturbed runs count here: a heap is not smaller on a busy machine.
    let quiet = Quiet::default();
    let (context, _) = Context::new(&work, finder.harness.as_ref(), cores, &quiet)?;
    let mut all = Vec::new();
    for (done, (key, cell)) in subjects.iter().enumerate() {
        if let Some(minimum) = known.get(key).filter(|_| !finder.again) {
            let minimum = Some(minimum.clone());
            all.push(Found {
                key: key.clone(),
                jdk: cell.jdk.clone(),
                minimum,
                last_failure: None,
                known: true,
            });
            continue;
        }
        let path = work.join(format!("{}.jsonl", key.word()));
        let (lines, before) = Lines::open::<Ran>(&path)?;
        let mut runs = Runs {
            cell,
            context: &context,
            dir: work.join("run"),
            before: HashMap::new(),
            lines,
            observer: &mut *observer,
            stop,
            tell: &mut *tell,
            progress: (done, subjects.len()),
            count: 0,
            last_failure: None,
        };
        (runs.tell)(&Progress::Begins {
            key,
            jdk: &cell.jdk,
            done,
            all: subjects.len(),
            before: before.lines.len(),
        });
        for ran in before.lines {
            runs.before.entry(ran.bytes).or_default().push_back(ran);
        }
        let smallest = search(&rule, &mut runs)?;
        let (count, last_failure) = (runs.count, runs.last_failure.take());
        drop(runs);
        let jdk = plan.jdks.iter().find(|jdk| jdk.name == cell.jdk);
        let minimum = smallest.map(|smallest| Minimum {
            key: key.clone(),
            command: cell.launch.command.clone(),
            jdk: cell.jdk.clone(),
            jdk_version: jdk.map(|jdk| jdk.version.clone()).unwrap_or_default(),
            bytes: smallest.bytes,
            runs: count,
            passes: rule.passes,
            of: rule.of,
            limit_ns: u64::try_from(smallest.limit.as_nanos()).unwrap_or(u64::MAX),
            host: facts.host.clone(),
            found: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            lab: facts.lab.clone(),
        });
        if let Some(minimum) = &minimum {
            file.append(minimum)?;
        }
        // A search that found nothing begins anew the next time: something will have been changed.
        fs::remove_file(&path).map_err(|error| Error::Write { path: path.clone(), error })?;
        let found = Found { key: key.clone(), jdk: cell.jdk.clone(), minimum, last_failure, known: false };
        tell(&Progress::Ended { found: &found });
        all.push(found);
    }
    Ok(all)
}

/// The keys to search for, each with the cell that stands for it: the bare one with the fewest modifiers.
fn subjects<'a>(plan: &Plan, cells: &'a [Cell], finder: &Finder) -> Vec<(Key, &'a Cell)> {
    let mut chosen: BTreeMap<Key, (usize, &Cell)> = BTreeMap::new();
    for (at, cell) in cells.iter().enumerate() {
        let Some(key) = Key::of(cell, plan) else { continue };
        // Epsilon never collects: its heap is what the program allocates, and no multiple of a minimum.
        let wanted = key.collector != "epsilon"
            && finder.workload.as_ref().is_none_or(|name| *name == key.workload)
            && finder.collector.as_ref().is_none_or(|name| *name == key.collector);
        if !wanted {
            continue;
        }
        let plainness = |cell: &Cell| (cell.tracer.is_some(), cell.configuration.len());
        let place = chosen.entry(key).or_insert((at, cell));
        if plainness(cell) < plainness(place.1) {
            place.1 = cell;
        }
    }
    let mut subjects: Vec<_> = chosen.into_iter().collect();
    subjects.sort_by_key(|(_, (at, _))| *at);
    subjects.into_iter().map(|(key, (_, cell))| (key, cell)).collect()
}

/// The directory beside the file in which searches keep what they have so far, absolute.
fn work_directory(file: &Path) -> Result<PathBuf> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".work");
    let work = file.with_file_name(name);
    let failed = |error| Error::Write { path: work.clone(), error };
    fs::create_dir_all(&work).map_err(failed)?;
    work.canonicalize().map_err(failed)
}

/// Runs of one search: those that are known, then real ones.
struct Runs<'a> {
    cell: &'a Cell,
    context: &'a Context<'a>,
    dir: PathBuf,
    before: HashMap<u64, VecDeque<Ran>>,
    lines: Lines,
    observer: &'a mut dyn Observer,
    stop: &'a dyn Fn() -> bool,
    tell: &'a mut dyn FnMut(&Progress<'_>),
    progress: (usize, usize),
    count: u32,
    last_failure: Option<Outcome>,
}

impl Trial for Runs<'_> {
    fn run(&mut self, bytes: u64, limit: Option<Duration>) -> Result<Option<Duration>> {
        let known = self.before.get_mut(&bytes).and_then(VecDeque::pop_front);
        let ran = match known {
            Some(ran) => ran,
            None => {
                let ran = self.real(bytes, limit)?;
                self.lines.append(&ran)?;
                ran
            }
        };
        self.count += 1;
        (self.tell)(&Progress::Ran { bytes, outcome: &ran.outcome, runs: self.count });
        let time = ran.time();
        if time.is_none() {
            self.last_failure = Some(ran.outcome);
        }
        Ok(time)
    }
}

impl Runs<'_> {
    fn real(&mut self, bytes: u64, limit: Option<Duration>) -> Result<Ran> {
        let timeout = limit.map_or(self.cell.timeout, |limit| limit.min(self.cell.timeout));
        let heap = Some(HeapSize { multiple: None, bytes });
        let cell = Cell { heap, timeout, ..self.cell.clone() };
        let stop = self.stop;
        let expected = cell.checksum.as_deref();
        let task = Task { cell: &cell, dir: &self.dir, expected };
        let executed = match self.context.execute(task, self.observer, stop)? {
            Some(executed) if !stop() => executed,
            _ => return Err(Error::Interrupted { done: self.progress.0, all: self.progress.1 }),
        };
        let Executed { outcome, wall, .. } = executed;
        if let Outcome::NotStarted { why } = outcome {
            return Err(Error::CannotStart { workload: cell.workload, why });
        }
        Ok(Ran { bytes, outcome, ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX) })
    }
}
