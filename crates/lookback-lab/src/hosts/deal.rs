//! Which part of a plan is whose: `shards.json` in the results' directory.
//!
//! The constraint that shaped it: a host goes on with what it has begun, so its part stays its own from run to run. Only
//! what was dealt to a worker that is not named any more goes to others, and the number of parts never changes, since
//! blocks would change hands.

use super::worker::Worker;
use crate::error::{Error, Result};
use crate::plan::Shard;
use crate::results::replace;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the file.
const SHARDS: &str = "shards.json";

/// The parts of a plan and their workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deal {
    /// The worker of each part, from the first on, by name.
    workers: Vec<String>,
}

/// A part that has changed hands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The part.
    pub shard: Shard,
    /// Whose it was.
    pub from: String,
    /// Whose it is.
    pub to: String,
}

impl Deal {
    /// A part each.
    pub fn new(workers: &[Worker]) -> Deal {
        Deal { workers: workers.iter().map(|worker| worker.name.clone()).collect() }
    }

    /// What was dealt before into a directory of results; none when nothing was.
    ///
    /// # Errors
    /// [`Error::Read`], and [`Error::Damaged`] for a file that is none of the lab's.
    pub fn read(results: &Path) -> Result<Option<Deal>> {
        let path = results.join(SHARDS);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::Read { path, error }),
        };
        let damaged = |line, why| Error::Damaged { path: path.clone(), line, why };
        let deal: Deal =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.line(), error.to_string()))?;
        // The names are those of directories.
        let plain = |name: &String| !name.is_empty() && !name.starts_with('.') && !name.contains('/');
        if deal.workers.is_empty() || !deal.workers.iter().all(plain) {
            return Err(damaged(1, "it names no worker, or one that is no plain word".into()));
        }
        Ok(Some(deal))
    }

    /// Keeps it.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, results: &Path) -> Result<()> {
        let path = results.join(SHARDS);
        fs::create_dir_all(results).map_err(|error| Error::Write { path: path.clone(), error })?;
        replace(&path, &crate::results::pretty(self))
    }

    /// The parts with the names of their workers.
    pub fn shards(&self) -> impl Iterator<Item = (Shard, &str)> {
        let of = u32::try_from(self.workers.len()).unwrap_or(u32::MAX);
        (1..=of).zip(&self.workers).filter_map(move |(i, worker)| Some((Shard::new(i, of)?, worker.as_str())))
    }

    /// Every worker that ever had a part here, the results' directories being named for them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.workers.iter().map(String::as_str)
    }

    /// Deals the parts of `gone` workers, as far as they are not `done`, to those that are there, to whoever has fewest
    /// left.
    pub fn again(&mut self, there: &[Worker], done: &dyn Fn(Shard, &str) -> bool) -> Vec<Moved> {
        let of = u32::try_from(self.workers.len()).unwrap_or(u32::MAX);
        let mut left: Vec<(usize, &str)> = there
            .iter()
            .map(|worker| {
                let own = self.shards().filter(|&(shard, name)| name == worker.name && !done(shard, name));
                (own.count(), worker.name.as_str())
            })
            .collect();
        let mut moved = Vec::new();
        for (i, name) in (1..=of).zip(&mut self.workers) {
            let Some(shard) = Shard::new(i, of) else { continue };
            if there.iter().any(|worker| worker.name == *name) || done(shard, name) {
                continue;
            }
            let Some(fewest) = left.iter_mut().min_by_key(|(count, _)| *count) else { continue };
            fewest.0 += 1;
            let from = std::mem::replace(name, fewest.1.to_owned());
            moved.push(Moved { shard, from, to: name.clone() });
        }
        moved
    }
}

/// The directory of a worker's results.
pub(super) fn directory(results: &Path, worker: &str) -> PathBuf {
    results.join(super::HOSTS).join(worker)
}

#[cfg(test)]
mod tests {
    use super::super::worker::Place;
    use super::*;

    fn worker(name: &str) -> Worker {
        Worker { name: name.into(), place: Place::Host(name.into()) }
    }

    #[test]
    fn a_part_stays_with_its_worker_and_only_those_of_the_gone_are_dealt_anew() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Deal::read(dir.path()).unwrap(), None);
        let mut deal = Deal::new(&[worker("a"), worker("b"), worker("c"), worker("d")]);
        deal.write(dir.path()).unwrap();
        assert_eq!(Deal::read(dir.path()).unwrap().unwrap(), deal);
        // b and d have gone; d had done its part. c has none left, a has: b's goes to c.
        let done = |shard: Shard, _: &str| ["3/4", "4/4"].contains(&shard.to_string().as_str());
        let moved = deal.again(&[worker("a"), worker("c"), worker("e")], &done);
        let words: Vec<_> = moved.iter().map(|m| format!("{} {} {}", m.shard, m.from, m.to)).collect();
        assert_eq!(words, ["2/4 b c"]);
        let owners: Vec<_> = deal.names().collect();
        assert_eq!(owners, ["a", "c", "c", "d"]);
    }

    #[test]
    fn a_file_that_leads_elsewhere_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["{", "{\"workers\": []}", "{\"workers\": [\"../x\"]}", "{\"workers\": [\"..\"]}"] {
            fs::write(dir.path().join(SHARDS), text).unwrap();
            assert!(matches!(Deal::read(dir.path()), Err(Error::Damaged { .. })), "{text}");
        }
    }
}
