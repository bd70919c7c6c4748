//! What Lookback writes, byte for byte: slots, ring events, symbols, the mapped region and the incident file.
//!
//! The constraint that shaped it: the same bytes are written by an agent inside somebody else's JVM, read
//! back from a file whose writer was killed in mid-record, and decoded on another machine years later. So
//! every layout is little-endian, versioned, written down in `docs/FORMAT.md`, and every reader treats its
//! input as hostile. This crate must not open files, know the JVM or know the ring's block structure.

pub mod control;
mod error;
pub mod event;
pub mod incident;
pub mod region;
pub mod slot;
pub mod symbol;
pub mod units;

pub use error::{Error, Result};
pub use units::{MethodId, Nanos, Seq, ThreadKey};
