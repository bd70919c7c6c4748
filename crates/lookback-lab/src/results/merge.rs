//! Results of several directories in one: shards of an experiment that ran on several machines.
//!
//! The constraint that shaped it: a merge may be made again and again while shards still run, so it reads its sources
//! without locking them, passes over their torn last lines, and takes a record that it meets twice once.

use super::directory::{Directory, EXPERIMENT, MACHINE, PLAN, RECORDS, pretty, replace, states};
use super::lines::read_lines;
use super::record::Record;
use crate::error::{Error, Result};
use crate::plan::{Invocation, Plan};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What a merge did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merged {
    /// Records that were added.
    pub added: usize,
    /// Records that were there already.
    pub known: usize,
}

/// Brings the results of `sources` into the directory `out`, which may hold some already. Raw logs stay where they
/// are: records point to them by absolute paths. Plans are united: cells that only one has are added, and so are
/// invocations.
///
/// # Errors
/// [`Error::Read`] for a source without results, and those of [`Directory::open`] and [`super::read`].
pub fn merge(sources: &[PathBuf], out: &Path) -> Result<Merged> {
    let (mut directory, there) = Directory::open(out)?;
    let mut known: HashSet<Key> = there.lines.iter().map(key).collect();
    let mut merged = Merged { added: 0, known: 0 };
    let mut plan = plan_of(directory.path())?;
    let mut machines = states(&directory.path().join(MACHINE))?;
    for source in sources {
        let failed = |error| Error::Read { path: source.clone(), error };
        let source = source.canonicalize().map_err(failed)?;
        let file = source.join(RECORDS);
        fs::metadata(&file).map_err(|error| Error::Read { path: file.clone(), error })?;
        for mut record in read_lines::<Record>(&file)?.lines {
            if !known.insert(key(&record)) {
                merged.known += 1;
                continue;
            }
            record.raw = source.join(&record.raw).to_string_lossy().into_owned();
            directory.append(&record)?;
            merged.added += 1;
        }
        plan = united(plan, plan_of(&source)?);
        for state in states(&source.join(MACHINE))? {
            if !machines.iter().any(|known| known.same_as(&state)) {
                machines.push(state);
            }
        }
        if let Ok(text) = fs::read(source.join(EXPERIMENT)) {
            replace(&directory.path().join(EXPERIMENT), &text)?;
        }
    }
    if let Some(plan) = plan {
        replace(&directory.path().join(PLAN), &pretty(&plan))?;
    }
    replace(&directory.path().join(MACHINE), &pretty(&machines))?;
    Ok(merged)
}

/// What tells a record from all others: a machine runs one invocation at a time.
type Key = (String, String, u32, u32, String);

fn key(record: &Record) -> Key {
    (record.host.clone(), record.cell.0.clone(), record.invocation, record.attempt, record.started.clone())
}

/// The plan in a directory; none when there is none.
fn plan_of(directory: &Path) -> Result<Option<Plan>> {
    let path = directory.join(PLAN);
    if !path.exists() {
        return Ok(None);
    }
    Plan::read(&path).map(Some)
}

/// Both plans' cells and invocations, in the first one's order; the rest is the first one's.
fn united(first: Option<Plan>, second: Option<Plan>) -> Option<Plan> {
    let (Some(mut plan), Some(second)) = (first.clone(), second.clone()) else { return first.or(second) };
    let place: Vec<usize> = second
        .cells
        .iter()
        .map(|cell| {
            plan.cells.iter().position(|known| known.id == cell.id).unwrap_or_else(|| {
                plan.cells.push(cell.clone());
                plan.cells.len() - 1
            })
        })
        .collect();
    let mut known: HashSet<(usize, u32)> = plan.order.iter().map(|i| (i.cell, i.number)).collect();
    for invocation in second.order {
        let Some(&cell) = place.get(invocation.cell) else { continue };
        if known.insert((cell, invocation.number)) {
            plan.order.push(Invocation { cell, number: invocation.number });
        }
    }
    for jdk in second.jdks {
        if !plan.jdks.contains(&jdk) {
            plan.jdks.push(jdk);
        }
    }
    Some(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Facts;
    use crate::plan::Cell;
    use crate::results::Outcome;
    use crate::run::tests_support::{cell, plan, record};

    /// A directory of results of a host: these cells, these invocations.
    fn results(dir: &Path, host: &str, cells: &[Cell], invocations: &[u32]) -> PathBuf {
        let path = dir.join(host);
        let (mut directory, _) = Directory::open(&path).unwrap();
        let mut plan = plan(cells.to_vec(), 0);
        for &number in invocations {
            for (i, cell) in cells.iter().enumerate() {
                plan.order.push(Invocation { cell: i, number });
                let raw = format!("raw/{}/{number}-1", cell.id);
                directory
                    .append(&Record { host: host.into(), raw, ..record(cell, number, 1, Outcome::Ok) })
                    .unwrap();
            }
        }
        let facts = Facts { host: host.into(), ..Facts::default() };
        directory.describe(&plan, Some("name = \"test\"\n"), &facts).unwrap();
        path
    }

    #[test]
    fn shards_come_together_and_a_second_merge_adds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b, c) = (cell("a", &[]), cell("b", &[]), cell("c", &[]));
        let one = results(dir.path(), "one", &[a.clone(), b.clone()], &[1, 3]);
        let two = results(dir.path(), "two", &[b.clone(), a, c], &[2]);
        // A run into the second still goes on: its last line is not whole.
        let file = two.join(RECORDS);
        let mut text = fs::read(&file).unwrap();
        text.extend_from_slice(b"{\"schema\":1,");
        fs::write(&file, text).unwrap();
        let out = dir.path().join("out");
        let sources = [one.clone(), two.clone()];
        assert_eq!(merge(&sources, &out).unwrap(), Merged { added: 7, known: 0 });
        assert_eq!(merge(&sources, &out).unwrap(), Merged { added: 0, known: 7 });
        let records = read_lines::<Record>(&out.join(RECORDS)).unwrap().lines;
        assert_eq!(records.len(), 7);
        let first = one.canonicalize().unwrap().join(format!("raw/{}/1-1", records[0].cell));
        assert_eq!(out.join(&records[0].raw), first);
        let plan = Plan::read(&out.join(PLAN)).unwrap();
        let names: Vec<_> = plan.cells.iter().map(|cell| cell.workload.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let order: Vec<_> = plan.order.iter().map(|i| (i.cell, i.number)).collect();
        assert_eq!(order, [(0, 1), (1, 1), (0, 3), (1, 3), (1, 2), (0, 2), (2, 2)]);
        let hosts: Vec<_> = states(&out.join(MACHINE)).unwrap().into_iter().map(|facts| facts.host).collect();
        assert_eq!(hosts, ["one", "two"]);
        assert!(fs::read_to_string(out.join(EXPERIMENT)).unwrap().contains("test"));
        assert!(matches!(merge(&[dir.path().join("none")], &out), Err(Error::Read { .. })));
        assert!(matches!(merge(&[dir.path().to_owned()], &out), Err(Error::Read { .. })), "no results there");
    }
}
