//! How far the parts of a plan are, by the results that came back.
//!
//! The constraint that shaped it: a job's exit code says nothing of what it did before it failed, nor a missing one that it
//! did nothing; so parts are counted by the same rule as a run goes on by.

use super::deal::{Deal, directory};
use crate::error::Result;
use crate::plan::{Plan, Shard};
use crate::run::{Options, Status};
use std::path::Path;

/// How far a part is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The part.
    pub shard: Shard,
    /// Its worker.
    pub worker: String,
    /// Its invocations that are done.
    pub done: usize,
    /// All of them.
    pub all: usize,
    /// Cells that the worker has results of and that are not of this plan.
    pub strangers: usize,
}

impl Part {
    /// How far one part is, in the results' directory that all are below.
    ///
    /// # Errors
    /// Those of [`crate::results::read_lines`].
    pub fn of(plan: &Plan, results: &Path, shard: Shard, worker: &str) -> Result<Part> {
        let part = plan.shard(shard);
        let options = Options { directory: directory(results, worker), ..Options::default() };
        let Status { left, strangers, .. } = Status::of(&part, &options)?;
        Ok(Part { shard, worker: worker.to_owned(), done: left.done, all: left.all, strangers })
    }

    /// How far all parts are.
    ///
    /// # Errors
    /// As [`Part::of`].
    pub fn all(plan: &Plan, results: &Path, deal: &Deal) -> Result<Vec<Part>> {
        deal.shards().map(|(shard, worker)| Part::of(plan, results, shard, worker)).collect()
    }

    /// Whether nothing of it is left.
    pub fn is_done(&self) -> bool {
        self.done == self.all
    }
}

#[cfg(test)]
mod tests {
    use super::super::worker::{Place, Worker};
    use super::*;
    use crate::results::{Directory, Outcome};
    use crate::run::tests_support::{cell, plan, record};

    #[test]
    fn a_part_is_as_far_as_its_worker_s_results_say() {
        let dir = tempfile::tempdir().unwrap();
        let (known, other) = (cell("a", &[]), cell("b", &[]));
        let plan = plan(vec![known.clone()], 5);
        let worker = |name: &str| Worker { name: name.into(), place: Place::Host(name.into()) };
        let deal = Deal::new(&[worker("one"), worker("two")]);
        let (mut results, _) = Directory::open(&directory(dir.path(), "one")).unwrap();
        for number in [1, 3] {
            results.append(&record(&known, number, 1, Outcome::Ok)).unwrap();
        }
        results.append(&record(&other, 5, 1, Outcome::Ok)).unwrap();
        let parts = Part::all(&plan, dir.path(), &deal).unwrap();
        assert_eq!((parts[0].done, parts[0].all, parts[0].strangers), (2, 3, 1));
        assert_eq!((parts[1].done, parts[1].all, parts[1].strangers), (0, 2, 0));
        results.append(&record(&known, 5, 1, Outcome::Ok)).unwrap();
        assert!(Part::all(&plan, dir.path(), &deal).unwrap()[0].is_done());
    }
}
