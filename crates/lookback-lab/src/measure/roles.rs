//! What a thread of a JVM is for, told by its name: so that CPU time can be given to the collector, the compilers, the
//! VM, the tracer under test, the lab itself and the program.
//!
//! The constraint that shaped it: the system tells a thread's CPU time and 15 characters of its name, nothing else. The
//! harness knows the names that HotSpot gives to its threads ([`ThreadRole`]); here the tracers are added, which are the
//! program's to the harness because it must not know what is measured. A name that nobody knows is the program's. It must
//! not know of metrics.

use lookback_harness::report::ThreadRole;

/// What a thread is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The program's own, and those of the JDK that run the program's code for it.
    Mutator,
    /// The collector's.
    Gc,
    /// The VM thread: it collects under Serial, leads pauses under all others, and does other operations besides.
    VmThread,
    /// A JIT compiler's.
    Jit,
    /// The VM's other ones.
    Vm,
    /// Of the tracer under test.
    Tracer,
    /// The lab's harness: no part of what is measured.
    Harness,
}

/// Beginnings of the names of tracers' threads: Lookback's, JFR's, async-profiler's.
const TRACERS: [&str; 4] = ["lookback-", "JFR ", "Async-profiler", "AsyncProfiler"];

impl Role {
    /// The role of a thread of this name, of which at most the first 15 bytes are needed.
    pub fn of(name: &str) -> Role {
        match ThreadRole::of(name) {
            ThreadRole::Collector => Role::Gc,
            ThreadRole::VmThread => Role::VmThread,
            ThreadRole::Compiler => Role::Jit,
            ThreadRole::Vm => Role::Vm,
            ThreadRole::Harness => Role::Harness,
            _ if TRACERS.iter().any(|tracer| name.starts_with(tracer)) => Role::Tracer,
            _ => Role::Mutator,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_known_by_name_and_strangers_are_the_programs() {
        let cases = [
            ("VM Thread", Role::VmThread),
            ("GC Thread#11", Role::Gc),
            ("Shenandoah Regulator Thread", Role::Gc),
            ("Shenandoah Regu", Role::Gc),
            ("ZWorkerYoung#0", Role::Gc),
            ("C2 CompilerThread0", Role::Jit),
            ("Sweeper thread", Role::Jit),
            ("lookback-harnes", Role::Harness),
            ("lookback-tick", Role::Tracer),
            ("JFR Periodic Ta", Role::Tracer),
            ("Reference Handler", Role::Vm),
            ("Finalizer", Role::Mutator),
            ("main", Role::Mutator),
            ("G1 Conc", Role::Mutator),
            ("", Role::Mutator),
            ("täterätätätätätätä", Role::Mutator),
        ];
        for (name, role) in cases {
            assert_eq!(Role::of(name), role, "{name}");
        }
    }
}
