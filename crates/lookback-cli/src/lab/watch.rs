//! What is seen of a run while it goes on: on a terminal a line that changes, elsewhere a line an invocation.
//!
//! The constraint that shaped it: a run of days goes into a log as often as to a terminal. What stands in a log is what
//! happened; what is only on the way (waiting, the current cell) is for the terminal.

use super::run::{heap, of_other_plans};
use crate::control::printable;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::output::seconds;
use crate::progress::Progress;
use crate::verbs::Streams;
use lookback_lab::machine::{System, resolve};
use lookback_lab::plan::{Cell, Plan};
use lookback_lab::results::Outcome;
use lookback_lab::run::{Event, Left, Options, Summary, run};

/// Runs what is left of a plan, until the user asks for the end, and shows it.
pub(super) fn watched(plan: &Plan, options: &Options, streams: &mut Streams<'_>) -> Result<Summary> {
    let cores = resolve(&plan.pin).map_err(Error::Lab)?;
    interrupt::watch();
    let mut watch = Watch::new(streams);
    let tell = &mut |event: &Event<'_>| watch.event(event);
    run(plan, options, &mut System::new(&cores), &interrupt::asked, tell).map_err(Error::Lab)
}

/// A run that is watched.
pub(super) struct Watch<'a, 's> {
    streams: &'a mut Streams<'s>,
    bar: Progress,
    /// Where it is waited for the machine, so that a log is told once.
    waiting: bool,
}

impl<'a, 's> Watch<'a, 's> {
    pub(super) fn new(streams: &'a mut Streams<'s>) -> Watch<'a, 's> {
        Watch { streams, bar: Progress::steps(), waiting: false }
    }

    /// Shows what happened.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        let was_waiting = std::mem::replace(&mut self.waiting, matches!(event, Event::Waiting { .. }));
        match event {
            Event::Resumed { left, torn, strangers, leftovers } => {
                self.line(&format!(
                    "going on: {} of {} invocations are done{}",
                    left.done,
                    left.all,
                    time(left)
                ));
                if *torn > 0 {
                    self.line(&format!("the last record was torn by a kill; its {torn} bytes were cut off and it is run again"));
                }
                if *strangers > 0 {
                    self.line(&of_other_plans(*strangers, left));
                }
                if *leftovers > 0 {
                    self.line(&format!(
                        "{leftovers} processes of an earlier run were still there and were ended"
                    ));
                }
            }
            Event::Waiting { disturbances, waited, patience } => {
                let what: Vec<_> = disturbances.iter().map(ToString::to_string).collect();
                let what = what.join(", ");
                self.bar.say(&format!(
                    "waiting for quiet, {} of {} s: {what}",
                    waited.as_secs(),
                    patience.as_secs()
                ));
                if !was_waiting && self.bar.is_hidden() {
                    self.line(&format!("waiting for quiet, {} s at most: {what}", patience.as_secs()));
                }
            }
            Event::Begins { cell, number, attempt, left } => {
                self.bar.at(left.done as u64, left.all as u64);
                let again = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
                self.bar.say(&format!("{} #{number}{again}{}", name(cell), time(left)));
            }
            Event::Ended { record, again, leftovers, left } => {
                self.bar.at(left.done as u64, left.all as u64);
                let mut words = vec![record.outcome.to_string()];
                words.extend(record.disturbances.iter().map(ToString::to_string));
                if *again {
                    words.push("it is run again".into());
                }
                if *leftovers > 0 {
                    words.push(format!("{leftovers} processes that it left behind were ended"));
                }
                // On a terminal what went well is in the bar.
                if record.outcome != Outcome::Ok || words.len() > 1 || self.bar.is_hidden() {
                    let configuration = [&record.workload, &record.jdk, &record.configuration];
                    let of: Vec<_> = configuration
                        .into_iter()
                        .filter(|word| !word.is_empty())
                        .map(|word| printable(word))
                        .collect();
                    let size = record.heap.map(|size| format!(" {}", heap(size))).unwrap_or_default();
                    self.line(&format!(
                        "{}/{} {}{size} #{}: {}, {}{}",
                        left.done,
                        left.all,
                        of.join(" "),
                        record.invocation,
                        seconds(record.process_ns as f64 / 1e9),
                        printable(&words.join("; ")),
                        time(left)
                    ));
                }
            }
            Event::Skipped { cell, outcome, invocations } => {
                let outcome = printable(&outcome.to_string());
                self.line(&format!(
                    "{}: given up after its first invocations ({outcome}); {invocations} are skipped",
                    name(cell)
                ));
            }
            _ => {}
        }
    }

    /// Says something in a line of its own.
    pub(super) fn line(&mut self, text: &str) {
        let streams = &mut *self.streams;
        self.bar.suspend(|| streams.note(text));
    }
}

/// A cell in words.
fn name(cell: &Cell) -> String {
    let words = [&cell.workload, &cell.jdk, &cell.configuration];
    let mut words: Vec<_> =
        words.into_iter().filter(|word| !word.is_empty()).map(|word| printable(word)).collect();
    words.extend(cell.heap.map(heap));
    words.join(" ")
}

/// The time that is left, in words.
fn time(left: &Left) -> String {
    match left.time {
        Some(time) if left.done < left.all => format!(", about {} left", seconds(time.as_secs_f64())),
        _ => String::new(),
    }
}
