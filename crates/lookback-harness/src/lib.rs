//! The agent that measures, `liblookback_harness.so`, and what it writes.
//!
//! It is loaded into every JVM that the lab measures, with or without a tracer beside it; the tracer is what is
//! measured, the harness is the same in all configurations. It reads the clocks and counters of the process at the begin
//! and the end of each iteration ("Memory Management on Mobile Devices", ISMM'24, sections 2.3 and 3.2), attributes
//! stop-the-world pauses, tells the program constants for its heap's size where asked to (3.3), and lets another process
//! mark begin and end (4.2).
//!
//! The constraint that shaped it: it must not slow what it measures. Between begin and end it does nothing but read two
//! clocks at both ends of a stop-the-world pause; what the reading itself costs at begin and end lies outside the
//! window, or is known and subtracted ([`report::Iteration::harness_cpu_ns`]). It lives in somebody else's program: what
//! fails in it is one warning and no measurement, never the program.
//!
//! ```text
//! Harness.begin (Java) --.                      .-- perf events, getrusage   counters
//! begin NAME K (socket) --+--> session --> snapshot -- thread clocks         threads
//! GarbageCollectionStart --> pauses --'         '-- /proc/self/status        resident
//!                                   end: one line --> output
//! ```

mod agent;
mod allocation;
mod clock;
mod counters;
mod error;
mod log;
mod mock;
mod natives;
mod options;
mod output;
mod pauses;
mod perf;
mod protocol;
pub mod report;
mod resident;
mod server;
mod session;
mod threads;

pub use agent::Agent_OnLoad;
pub use error::{Error, Result};
