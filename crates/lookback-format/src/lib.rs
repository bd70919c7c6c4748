//! What Lookback writes, byte for byte: slots, ring events, symbols, definitions, the mapped region, the ring
//! file and the incident file.
//!
//! The constraint that shaped it: the same bytes are written by an agent inside somebody else's JVM, read
//! back from a file whose writer was killed in mid-record, and decoded on another machine years later. So
//! every layout is little-endian, versioned, written down in `docs/FORMAT.md`, and every reader treats its
//! input as hostile. This crate must not open files, know the JVM or know the ring's block structure.

mod clock_map;
pub mod control;
pub mod costs;
pub mod definitions;
mod error;
pub mod event;
pub mod incident;
pub mod native;
pub mod region;
pub mod ring_file;
pub mod sample;
pub mod slot;
pub mod symbol;
pub mod units;

pub use error::{Error, Result};
pub use units::{CategoryIndex, MethodId, NameId, Nanos, ProcessId, Seq, ThreadKey, Ticks, TypeId};
