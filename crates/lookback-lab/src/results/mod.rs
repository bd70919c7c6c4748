//! What came out: one record an invocation, whatever became of it.
//!
//! The constraint that shaped it: results outlive the code that wrote them and are read by others' tools, so a record is
//! one line of JSON with names and units that explain themselves, and a table of them is Parquet. Nothing here may judge
//! a result.

mod cells;
mod columns;
mod directory;
mod export;
mod heap_point;
mod lines;
pub(crate) mod made_up;
mod merge;
mod parquet;
mod record;
mod store;

pub use cells::{CellName, CellRecords, Tally, cells};
pub use directory::{Directory, EXPERIMENT, MACHINE, PLAN, RECORDS};
pub(crate) use directory::{Lock, pretty, replace};
pub use export::{write_csv, write_jsonl};
pub use heap_point::HeapPoint;
pub use lines::{Lines, Read, read_lines};
pub use merge::{Merged, merge};
pub use parquet::{read_parquet, write_parquet};
pub use record::{Disturbance, Iteration, Outcome, Reading, Record, SCHEMA};
pub use store::{Settled, read, read_of, read_settled};
