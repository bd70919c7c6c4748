//! An experiment on more than one machine: its blocks are dealt out to workers, GNU parallel starts the same
//! `lookback lab run` with each of them over ssh, and what they bring back is merged.
//!
//! ```text
//! workers -> deal (which shard is whose) -> parallel (a job a worker, in rounds) -> progress (what is there) -> results::merge
//! ```
//!
//! The constraint that shaped it: hosts are slow, different and go away, so each has whole blocks and a directory of
//! results of its own that it goes on with; what is done is known by the results that came back, never by exit codes; and
//! one that fails keeps nobody from going on. GNU parallel does the work at a distance: it needs ssh, rsync and perl, which
//! machines have, and of the lab nothing but its command. Ray and Dask would want Python and daemons on every host; an
//! invocation is minutes of one process, and not a graph of tasks. Nothing here may print, nor measure anything itself.

mod deal;
mod parallel;
mod progress;
mod sent;
mod worker;

pub use deal::{Deal, Moved};
pub use parallel::{Ending, Parallel, Worked, available};
pub use progress::Part;
pub use sent::Sent;
pub use worker::{Place, Worker, workers};

/// Name of the directory, below that of the results, that has a directory a worker.
pub const HOSTS: &str = "hosts";
