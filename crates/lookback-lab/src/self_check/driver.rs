//! Runs the checks one after the other.
//!
//! ```text
//! DIR/NAME.toml   the experiment of a check
//! DIR/NAME/       its results
//! ```
//!
//! The constraint that shaped it: the whole checks take an hour and are interrupted, and going on must give what an
//! undisturbed run gives. So all that is decided on the way (how many invocations a slowdown takes) follows from records
//! that are on the disk. A check that fails keeps no other from running.

use super::finding::Finding;
use super::{Extent, arithmetic, attribution, files, planted, same};
use crate::error::{Error, Result};
use crate::experiment::{NoMinimumHeaps, Surroundings, load};
use crate::machine::{System, resolve};
use crate::plan::Plan;
use crate::results::{Record, read_of};
use crate::run::{Event, Harness, Options, run};
use std::fs;
use std::path::{Path, PathBuf};

/// The checks, and where they run.
#[derive(Debug, Clone)]
pub struct SelfCheck {
    /// The directory of experiments' files and results.
    pub directory: PathBuf,
    /// How much is run.
    pub extent: Extent,
    /// What there is on this machine.
    pub around: Surroundings,
    /// The harness.
    pub harness: Option<Harness>,
}

/// What happens on the way.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// An experiment begins.
    Begins {
        /// The experiment.
        plan: &'a Plan,
        /// Which of them, from 1.
        number: usize,
        /// Of how many.
        all: usize,
    },
    /// Something of its run.
    Event(&'a Event<'a>),
    /// A check is done.
    Found(&'a Finding),
}

/// Experiments that are run at most.
const EXPERIMENTS: usize = 4;

impl SelfCheck {
    /// Runs what is left of the checks and judges all of them. As [`crate::run::run`], it is to be called from a thread
    /// that lives as long.
    ///
    /// # Errors
    /// Those of [`crate::experiment::load`] and [`crate::run::run`]; a check that fails is a finding.
    pub fn run(&self, stop: &dyn Fn() -> bool, tell: &mut dyn FnMut(&Progress<'_>)) -> Result<Vec<Finding>> {
        fs::create_dir_all(&self.directory).map_err(|error| self.cannot_write(&self.directory, error))?;
        let mut found = Vec::new();
        let mut add = |finding: Finding, tell: &mut dyn FnMut(&Progress<'_>)| {
            tell(&Progress::Found(&finding));
            found.push(finding);
        };
        add(arithmetic::judge(), tell);
        let extent = &self.extent;

        let (plan, records) = self.experiment("attribution", 1, files::attribution(extent), stop, tell)?;
        add(attribution::judge(&records, &self.directory.join("attribution")), tell);

        // One JDK is enough for what is asked of the statistics.
        let jdk = plan.jdks.first().map_or("", |jdk| jdk.name.as_str());
        let (_, records) = self.experiment("same", 2, files::same(jdk, extent), stop, tell)?;
        add(same::judge(&records, extent), tell);

        let pilot = files::planted("planted-pilot", jdk, extent, extent.pilot);
        let (_, records) = self.experiment("planted-pilot", 3, pilot, stop, tell)?;
        match planted::needed(&records, extent) {
            Err(failed) => add(failed, tell),
            Ok(needed) => {
                let file = files::planted("planted", jdk, extent, needed);
                let (_, records) = self.experiment("planted", 4, file, stop, tell)?;
                add(planted::judge(&records, needed, extent), tell);
            }
        }
        Ok(found)
    }

    /// Runs what is left of an experiment; its plan and the records of its cells.
    fn experiment(
        &self,
        name: &str,
        number: usize,
        text: String,
        stop: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<(Plan, Vec<Record>)> {
        let path = self.directory.join(format!("{name}.toml"));
        fs::write(&path, &text).map_err(|error| self.cannot_write(&path, error))?;
        let plan = load(&path, &self.around, &NoMinimumHeaps)?;
        tell(&Progress::Begins { plan: &plan, number, all: EXPERIMENTS });
        let directory = self.directory.join(name);
        let options = Options {
            directory: directory.clone(),
            source: Some(text),
            harness: self.harness.clone(),
            ..Options::default()
        };
        let mut observer = System::new(&resolve(&plan.pin)?);
        run(&plan, &options, &mut observer, stop, &mut |event| tell(&Progress::Event(event)))?;
        let records = read_of(&directory, &plan)?;
        Ok((plan, records))
    }

    fn cannot_write(&self, path: &Path, error: std::io::Error) -> Error {
        Error::Write { path: path.to_owned(), error }
    }
}
