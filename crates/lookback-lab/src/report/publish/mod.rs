//! What is kept of an experiment beside the source, and the figures of documents that come from it.
//!
//! The constraint that shaped it: a figure in a document must never be typed by hand, and must still be right when
//! somebody looks in a year. So a run is kept with its raw data under a date and a name, a document names the run and
//! the figure in a comment that no reader sees, and a check compares the two.

mod blocks;
mod publication;
mod runs;

pub use blocks::{Blocks, Difference};
pub use publication::Publication;
pub use runs::Runs;
