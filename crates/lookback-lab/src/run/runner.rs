//! The run of a plan, from its first invocation to its last, or from where an earlier run stopped.
//!
//! The constraint that shaped it: between the end of an invocation and its record on the disk nothing may be decided
//! that the record does not say, so that a kill at any point costs at most the invocation that was running.

use super::command::Harness;
use super::invocation::{Context, Executed, Task};
use super::outcome;
use super::progress::{Event, Left};
use super::schedule::Schedule;
use super::selection::Selection;
use crate::error::{Error, Result};
use crate::machine::{Facts, Observer, resolve, wait_for_quiet};
use crate::plan::{Cell, Invocation, Plan};
use crate::results::{Directory, Outcome, Record, SCHEMA};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a caller may want of a run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The directory of results.
    pub directory: PathBuf,
    /// The experiment's file as it is, to be kept with the results.
    pub source: Option<String>,
    /// Which cells are run.
    pub selection: Selection,
    /// Run only the first so many invocations of each cell; the others can be run later.
    pub invocations: Option<u32>,
    /// Go on with cells whose first invocations failed in the same way.
    pub keep_failing: bool,
    /// Where the harness is, if any cell wants it.
    pub harness: Option<Harness>,
    /// The name that the results have for this machine; its own when there is none.
    pub host: Option<String>,
}

impl Options {
    /// The invocations of a plan that are to be run or are done.
    pub(super) fn chosen(&self, plan: &Plan) -> Vec<Invocation> {
        let wanted = |invocation: &&Invocation| {
            self.invocations.is_none_or(|most| invocation.number <= most)
                && self.selection.has(&plan.cells[invocation.cell])
        };
        plan.order.iter().filter(wanted).copied().collect()
    }
}

/// What a run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Invocations that were chosen.
    pub all: usize,
    /// Of these: that were done before this run.
    pub before: usize,
    /// That this run did and whose figures count.
    pub good: usize,
    /// That failed: out of memory, crash, time, checksum, no figures.
    pub failed: usize,
    /// That were disturbed at each attempt.
    pub disturbed: usize,
    /// That were skipped since their cell had failed.
    pub skipped: usize,
    /// Attempts that were run again.
    pub repeated: usize,
}

/// How long to wait before what the machine lacked for the moment is tried again.
const BREATH: Duration = Duration::from_secs(1);

/// Runs what is left of a plan. `stop` is asked whether all is to end, some times a second; `tell` hears what happens.
/// It is to be called from a thread that lives as long as the run: the kernel kills an invocation when the thread ends
/// that started it.
///
/// # Errors
/// [`Error::Interrupted`] when `stop` asked for the end; the invocation that ran then is killed and leaves no record.
/// [`Error::InUse`], [`Error::Cores`], [`Error::NoHarness`], [`Error::Write`]: all but the last before anything runs.
/// After each of them the same call goes on where this one stopped.
pub fn run(
    plan: &Plan,
    options: &Options,
    observer: &mut dyn Observer,
    stop: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(&Event<'_>),
) -> Result<Summary> {
    let cores = resolve(&plan.pin)?;
    let harness = options.harness.as_ref();
    let chosen = options.chosen(plan);
    let wanting = chosen
        .iter()
        .map(|i| &plan.cells[i.cell])
        .find(|cell| cell.launch.jvm.as_ref().is_some_and(|jvm| jvm.harness));
    if let Some(cell) = wanting.filter(|_| harness.is_none()) {
        return Err(Error::NoHarness { workload: cell.workload.clone() });
    }
    let (directory, there) = Directory::open(&options.directory)?;
    let mut facts = Facts::here();
    if let Some(host) = &options.host {
        facts.host.clone_from(host);
    }
    directory.describe(plan, options.source.as_deref(), &facts)?;
    let path = directory.path().to_owned();
    let (context, leftovers) = Context::new(&path, harness, cores, &plan.quiet)?;
    let mut run = Run {
        plan,
        options,
        context,
        directory,
        host: facts.host,
        schedule: Schedule::new(plan.retries, &there.lines),
        checksums: Checksums::of(&there.lines, plan, &path),
        chosen,
        given_up: HashSet::new(),
        summary: Summary::default(),
        quiet: false,
    };
    run.summary.all = run.chosen.len();
    run.summary.before = run.chosen.iter().filter(|&&invocation| run.attempt(invocation).is_none()).count();
    if !there.lines.is_empty() || there.torn > 0 || leftovers > 0 {
        let strangers = run.schedule.strangers(&plan.cells);
        let left = run.left(0);
        tell(&Event::Resumed { left, torn: there.torn, strangers, leftovers });
    }
    run.all(observer, stop, tell)?;
    Ok(run.summary)
}

struct Run<'a> {
    plan: &'a Plan,
    options: &'a Options,
    context: Context<'a>,
    directory: Directory,
    host: String,
    schedule: Schedule,
    checksums: Checksums,
    chosen: Vec<Invocation>,
    given_up: HashSet<usize>,
    summary: Summary,
    /// Whether the machine was quiet a moment ago: the last invocation is as good a look at it as any.
    quiet: bool,
}

impl Run<'_> {
    fn attempt(&self, invocation: Invocation) -> Option<u32> {
        self.schedule.attempt(&self.plan.cells[invocation.cell].id, invocation.number)
    }

    fn all(
        &mut self,
        observer: &mut dyn Observer,
        stop: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(&Event<'_>),
    ) -> Result<()> {
        for at in 0..self.chosen.len() {
            let mut patience = self.plan.retries;
            while self.attempt(self.chosen[at]).is_some() {
                if self.gives_up(at, tell) {
                    self.summary.skipped += 1;
                    break;
                }
                if self.run_from(at, patience > 0, observer, stop, tell)? {
                    patience -= 1;
                    observer.pause(BREATH);
                }
            }
        }
        Ok(())
    }

    /// The places of the invocations that run with the one at this place: of none other, or, if cells take turns, of those of
    /// the same block, workload, JDK and heap.
    fn with(&self, at: usize) -> Vec<usize> {
        if self.plan.turns.is_zero() {
            return vec![at];
        }
        let belongs_to = |invocation: Invocation| {
            let cell = &self.plan.cells[invocation.cell];
            (invocation.number, &cell.workload, &cell.jdk, cell.heap)
        };
        let runs_too = |&other: &usize| {
            let invocation = self.chosen[other];
            belongs_to(invocation) == belongs_to(self.chosen[at])
                && self.attempt(invocation).is_some()
                && self.failing(invocation.cell).is_none()
        };
        (at..self.chosen.len()).filter(runs_too).collect()
    }

    /// The failure that a cell is given up for, unless all are gone on with.
    fn failing(&self, cell: usize) -> Option<&Outcome> {
        self.schedule.failing(&self.plan.cells[cell].id).filter(|_| !self.options.keep_failing)
    }

    /// Whether the cell of the invocation at this place has been given up; told once.
    fn gives_up(&mut self, at: usize, tell: &mut dyn FnMut(&Event<'_>)) -> bool {
        let index = self.chosen[at].cell;
        let cell = &self.plan.cells[index];
        let Some(outcome) = self.failing(index).cloned() else { return false };
        if self.given_up.insert(index) {
            let of_cell =
                |invocation: &&Invocation| invocation.cell == index && self.attempt(**invocation).is_some();
            let invocations = self.chosen[at..].iter().filter(of_cell).count();
            tell(&Event::Skipped { cell, outcome: &outcome, invocations });
        }
        true
    }

    /// One attempt of the invocation at this place and of those that run with it, up to their records. Returns true when one
    /// could not be started for something that the machine lacks for the moment, and is to be tried `again`.
    fn run_from(
        &mut self,
        at: usize,
        again: bool,
        observer: &mut dyn Observer,
        stop: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(&Event<'_>),
    ) -> Result<bool> {
        let plan = self.plan;
        if !self.quiet {
            let patience = plan.quiet.patience;
            wait_for_quiet(&plan.quiet, observer, &mut |disturbances, waited| {
                tell(&Event::Waiting { disturbances, waited, patience });
                !stop()
            });
        }
        if stop() {
            return Err(self.interrupted(at));
        }
        let mut attempts = Vec::new();
        for place in self.with(at) {
            let Invocation { cell, number } = self.chosen[place];
            let cell = &plan.cells[cell];
            let Some(attempt) = self.attempt(self.chosen[place]) else { continue };
            tell(&Event::Begins { cell, number, attempt, left: self.left(at) });
            let raw = format!("raw/{}/{number}-{attempt}", cell.id);
            attempts.push((cell, number, attempt, self.directory.path().join(&raw), raw));
        }
        let tasks: Vec<Task<'_>> = attempts
            .iter()
            .map(|(cell, _, _, dir, _)| Task { cell, dir, expected: self.checksums.expected(cell) })
            .collect();
        let Some(all) = self.context.execute_all(&tasks, plan.turns, observer, stop)? else {
            return Err(self.interrupted(at));
        };
        let mut lacking = false;
        for ((cell, number, attempt, _, raw), executed) in attempts.into_iter().zip(all) {
            self.checksums.learn(cell, &executed);
            self.quiet = executed.disturbances.is_empty();
            let leftovers = executed.leftovers;
            let lacks = executed.temporary && again;
            let record = self.record(cell, number, attempt, raw, executed);
            self.directory.append(&record)?;
            self.schedule.add(&record);
            if lacks {
                self.schedule.try_again(&cell.id, number);
            }
            lacking |= lacks;
            let again = self.schedule.attempt(&cell.id, number).is_some();
            self.count(&record, again);
            tell(&Event::Ended { record: &record, again, leftovers, left: self.left(at) });
        }
        Ok(lacking)
    }

    fn count(&mut self, record: &Record, again: bool) {
        let summary = &mut self.summary;
        let counted = match record.outcome {
            _ if again => &mut summary.repeated,
            Outcome::Ok if record.disturbances.is_empty() => &mut summary.good,
            Outcome::Ok => &mut summary.disturbed,
            _ => &mut summary.failed,
        };
        *counted += 1;
    }

    fn record(&self, cell: &Cell, invocation: u32, attempt: u32, raw: String, executed: Executed) -> Record {
        Record {
            schema: SCHEMA,
            cell: cell.id.clone(),
            workload: cell.workload.clone(),
            jdk: cell.jdk.clone(),
            configuration: cell.configuration.clone(),
            collector: cell.collector.clone(),
            tracer: cell.tracer.clone(),
            heap: cell.heap,
            invocation,
            attempt,
            host: self.host.clone(),
            started: executed.started,
            process_ns: u64::try_from(executed.wall.as_nanos()).unwrap_or(u64::MAX),
            outcome: executed.outcome,
            disturbances: executed.disturbances,
            machine: executed.reading,
            iterations: executed.iterations,
            raw,
        }
    }

    /// How far the run is when it is at this place of its invocations.
    fn left(&self, at: usize) -> Left {
        let rest = self.chosen[at..].iter().filter(|&&invocation| self.attempt(invocation).is_some());
        let rest = rest.map(|invocation| &self.plan.cells[invocation.cell]);
        self.schedule.left(rest, self.chosen.len(), self.options.keep_failing)
    }

    fn interrupted(&self, at: usize) -> Error {
        let left = self.left(at);
        Error::Interrupted { done: left.done, all: left.all }
    }
}

/// The checksums that were seen first: other invocations of the same workload with the same arguments on the same JDK
/// must have the same.
struct Checksums(HashMap<(String, Vec<String>, String), String>);

impl Checksums {
    /// Those of records that went well, from their raw output.
    fn of(records: &[Record], plan: &Plan, directory: &Path) -> Checksums {
        let mut known = Checksums(HashMap::new());
        let cells: HashMap<_, _> = plan.cells.iter().map(|cell| (&cell.id, cell)).collect();
        for record in records.iter().filter(|record| record.outcome == Outcome::Ok) {
            let Some(cell) = cells.get(&record.cell) else { continue };
            if let Entry::Vacant(place) = known.0.entry(Checksums::key(cell)) {
                // Raw output that was removed leaves the first that comes to decide.
                if let Some(checksum) = outcome::checksum(&directory.join(&record.raw)) {
                    place.insert(checksum);
                }
            }
        }
        known
    }

    fn key(cell: &Cell) -> (String, Vec<String>, String) {
        (cell.workload.clone(), cell.launch.command.clone(), cell.jdk.clone())
    }

    fn expected<'a>(&'a self, cell: &'a Cell) -> Option<&'a str> {
        cell.checksum.as_deref().or_else(|| self.0.get(&Checksums::key(cell)).map(String::as_str))
    }

    fn learn(&mut self, cell: &Cell, executed: &Executed) {
        if let (Outcome::Ok, Some(checksum)) = (&executed.outcome, &executed.checksum) {
            self.0.entry(Checksums::key(cell)).or_insert_with(|| checksum.clone());
        }
    }
}
