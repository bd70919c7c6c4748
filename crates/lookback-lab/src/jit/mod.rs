//! JIT perturbation: what a tracer changes in the work of the JIT compilers, from their own logs.
//!
//! ```text
//! record -> compilation.log -> log -> run (one each) -> compare -> prior
//! ```
//!
//! The constraint that shaped it: a traced method is longer, and a compiler that inlines by length may refuse it: what
//! was a few instructions in its caller's code becomes a call, and keeps other optimisations from happening. That cost is
//! in no trace point's own price, and is met only where it happens; so it is counted call site by call site. All but
//! `record`, which has the runner make logs, is logs in and differences out.

mod compare;
mod log;
mod method;
mod prior;
mod record;
mod run;
#[cfg(test)]
mod tests;

pub use compare::{Changed, Difference, Level, OwnCalls, Totals, compare};
pub use log::{Compilation, Decision, Told, read};
pub use method::Method;
pub use prior::{Noise, Perturbation, Prior, PriorMethod, PriorSite, Runs};
pub use record::{Group, record, runs};
pub use run::{Compiled, Fate, Run, Site, TOP};

/// Options of a JVM that make it write the log, `{dir}` being the directory of the invocation.
pub const OPTIONS: [&str; 3] =
    ["-XX:+UnlockDiagnosticVMOptions", "-XX:+LogCompilation", "-XX:LogFile={dir}/compilation.log"];
/// Name of the log's file.
pub const LOG: &str = "compilation.log";
