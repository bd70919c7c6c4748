//! Where a verb of the laboratory gets its plan and the harness from: an experiment's file, or a plan that was resolved
//! before.
//!
//! The constraint that shaped it: a resolved plan is what other machines take, so whatever runs an experiment's file
//! runs a plan as well.

use super::experiment::{read, told};
use super::tools::ToolsArgs;
use crate::error::{Error, Result};
use crate::verbs::Streams;
use clap::{Args, ValueHint};
use lookback_lab::experiment::{Missing, Resolved};
use lookback_lab::plan::{Cell, Plan};
use lookback_lab::run::Harness;
use std::path::{Path, PathBuf};

/// Arguments that name a plan.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The experiment's file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "plan")]
    file: Option<PathBuf>,
    /// A plan that was resolved before, instead of an experiment's file: `plan.json` of a results directory
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "file")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    tools: ToolsArgs,
}

impl PlanArgs {
    /// As if these had been given.
    pub(crate) fn of(file: Option<PathBuf>, plan: Option<PathBuf>, tools: ToolsArgs) -> PlanArgs {
        PlanArgs { file, plan, tools }
    }

    /// The plan, and the text of the experiment's file if there is one. `minima` is the file of minimum heaps.
    pub(crate) fn load(&self, minima: &Path, streams: &mut Streams<'_>) -> Result<(Plan, Option<String>)> {
        let Some(file) = self.experiment() else { return Ok((self.read_plan()?, None)) };
        let resolved = read(file, &self.tools, minima, streams)?;
        complete(file, &resolved.missing, streams)?;
        let text = std::fs::read_to_string(file);
        let text = text.map_err(|error| Error::Read { file: file.to_owned(), error })?;
        Ok((resolved.plan, Some(text)))
    }

    /// The plan, and the cells whose minimum heaps are to be known: those that the experiment's multiples are of, or
    /// all where it has none.
    pub(crate) fn load_searches(
        &self,
        minima: &Path,
        streams: &mut Streams<'_>,
    ) -> Result<(Plan, Vec<Cell>)> {
        let Some(file) = self.experiment() else {
            let plan = self.read_plan()?;
            let cells = plan.cells.clone();
            return Ok((plan, cells));
        };
        let Resolved { plan, mut missing, searches, .. } = read(file, &self.tools, minima, streams)?;
        missing.retain(|missing| !matches!(missing, Missing::MinimumHeap { .. }));
        complete(file, &missing, streams)?;
        let cells: Vec<_> = searches.into_iter().map(|search| search.cell).collect();
        let cells = if cells.is_empty() { plan.cells.clone() } else { cells };
        Ok((plan, cells))
    }

    /// The harness; none when it is not there, which is told when a cell wants it.
    pub(crate) fn harness(&self) -> Option<Harness> {
        self.tools.harness()
    }

    /// The file that it is in: an experiment's, or a resolved plan.
    pub(crate) fn path(&self) -> &Path {
        self.plan.as_deref().or(self.file.as_deref()).unwrap_or(Path::new(""))
    }

    /// Whether it is a plan that was resolved before.
    pub(crate) fn is_resolved(&self) -> bool {
        self.plan.is_some()
    }

    /// The arguments that name the lab's own files, for another command on this machine.
    pub(crate) fn tools(&self) -> Vec<String> {
        self.tools.arguments()
    }

    fn experiment(&self) -> Option<&Path> {
        self.file.as_deref().filter(|_| self.plan.is_none())
    }

    fn read_plan(&self) -> Result<Plan> {
        Plan::read(self.plan.as_deref().unwrap_or(Path::new(""))).map_err(Error::Lab)
    }
}

/// Says what is missing, line by line, if anything is.
fn complete(file: &Path, missing: &[Missing], streams: &mut Streams<'_>) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let error = lookback_lab::Error::Incomplete { path: file.to_owned(), missing: missing.to_vec() };
    Err(told(error, streams))
}
