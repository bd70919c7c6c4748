//! The records of a directory of results, or of a run that was kept without its lines of JSON, for who makes figures of
//! them.
//!
//! The constraint that shaped it: figures of a run that was published years ago are made by the same command as those of
//! results that are still being written, and figures of a directory without records would be figures of nothing, so that
//! is an error. It must not judge a record.

use super::{CellName, PLAN, RECORDS, Record, read_lines, read_parquet};
use crate::error::{Error, Result};
use crate::plan::{CellId, Plan};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;

/// The records of a directory, in the order in which they were written: of `results.jsonl`, or of `results.parquet`
/// where that alone is there.
///
/// # Errors
/// [`Error::Read`] when there are none, [`Error::Damaged`] when a line is no record, and those of [`read_parquet`].
pub fn read(dir: &Path) -> Result<Vec<Record>> {
    let kept = dir.join("results.parquet");
    if kept.exists() && !dir.join(RECORDS).exists() {
        let file = File::open(&kept).map_err(|error| Error::Read { path: kept.clone(), error })?;
        return read_parquet(file, &kept);
    }
    let path = dir.join(RECORDS);
    let records = read_lines(&path)?.lines;
    if records.is_empty() {
        let error = io::Error::new(io::ErrorKind::NotFound, "it holds no result");
        return Err(Error::Read { path, error });
    }
    Ok(records)
}

/// What figures of a directory are made of.
#[derive(Debug, Clone)]
pub struct Settled {
    /// All records, but when a cell was changed and measured anew, those of the cell that the plan has.
    pub records: Vec<Record>,
    /// The plan, where there is one.
    pub plan: Option<Plan>,
    /// How many records are of cells that were changed since, and left out.
    pub changed: usize,
}

/// What figures of a directory are made of.
///
/// # Errors
/// As [`read`], and those of [`Plan::read`].
pub fn read_settled(dir: &Path) -> Result<Settled> {
    let mut records = read(dir)?;
    let all = records.len();
    let path = dir.join(PLAN);
    let plan = if path.exists() { Some(Plan::read(&path)?) } else { None };
    if let Some(plan) = &plan {
        leave_changed(&mut records, plan);
    }
    let changed = all - records.len();
    Ok(Settled { records, plan, changed })
}

/// Leaves out what has the name of a cell that the plan has, and another identity, where the plan's own was run, too.
fn leave_changed(records: &mut Vec<Record>, plan: &Plan) {
    let own: BTreeSet<&CellId> = plan.cells.iter().map(|cell| &cell.id).collect();
    let own_records = records.iter().filter(|record| own.contains(&record.cell));
    let renewed: BTreeSet<CellName> = own_records.map(CellName::of).collect();
    records.retain(|record| own.contains(&record.cell) || !renewed.contains(&CellName::of(record)));
}

/// The records of a directory that are of a plan's invocations: others lie there when a cell was changed, or when more
/// was run before.
///
/// # Errors
/// As [`read`].
pub fn read_of(dir: &Path, plan: &Plan) -> Result<Vec<Record>> {
    let own: BTreeSet<(&CellId, u32)> =
        plan.order.iter().map(|one| (&plan.cells[one.cell].id, one.number)).collect();
    let mut records = read(dir)?;
    records.retain(|record| own.contains(&(&record.cell, record.invocation)));
    Ok(records)
}
