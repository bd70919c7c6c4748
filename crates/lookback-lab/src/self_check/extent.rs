//! How much the checks run.
//!
//! The constraint that shaped it: the whole checks are evidence and take a quiet machine and an hour; the quick ones
//! must show on any machine, busy or not, within some minutes that every part works. They ask the same questions of
//! coarser things, and never of less exact statistics.

/// How much the checks run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// How often a configuration is compared with itself.
    pub comparisons: u32,
    /// Invocations of each side in such a comparison.
    pub invocations: u32,
    /// The size of the planted slowdown, percent: a multiple of 0.01.
    pub planted_percent: f64,
    /// Invocations of each side from which it is estimated how many it takes.
    pub pilot: u32,
    /// So many are run at most; if it takes more, the machine is too noisy for the check.
    pub most: u32,
    /// Invocations of `known-gc` with each collector.
    pub known_gc: u32,
    /// Iterations of each of them; the first is not measured.
    pub known_gc_iterations: u32,
    /// Whether programs have their small size and nothing counts as disturbed.
    pub quick: bool,
}

impl Extent {
    /// All of it.
    pub const WHOLE: Extent = Extent {
        comparisons: 40,
        invocations: 10,
        planted_percent: 2.0,
        pilot: 10,
        most: 300,
        known_gc: 5,
        known_gc_iterations: 6,
        quick: false,
    };

    /// What shows that all parts work.
    pub const QUICK: Extent = Extent {
        comparisons: 4,
        invocations: 5,
        planted_percent: 50.0,
        pilot: 6,
        most: 60,
        known_gc: 1,
        known_gc_iterations: 5,
        quick: true,
    };
}
