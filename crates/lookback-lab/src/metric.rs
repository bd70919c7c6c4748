//! What is measured: the names of metrics, their units, and which of them a collector's share can be taken from.
//!
//! The constraint that shaped it: a metric is a name in a record, so that a workload or a benchmark can bring its own;
//! this table says of the lab's own what a reader must know. It must not hold how a metric is measured.

/// How a figure is to be written and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Nanoseconds; shown as ns, us, ms or s.
    Nanoseconds,
    /// Bytes; shown as KiB, MiB or GiB.
    Bytes,
    /// Things counted.
    Count,
    /// A share of 100.
    Percent,
}

/// One metric of the lab.
///
/// All are per measured iteration, and less is better for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Its name in experiment files, records and tables.
    pub name: &'static str,
    /// Its name in titles.
    pub title: &'static str,
    /// The unit of its values.
    pub unit: Unit,
    /// What it is, in a sentence.
    pub about: &'static str,
}

const fn metric(name: &'static str, title: &'static str, unit: Unit, about: &'static str) -> Metric {
    Metric { name, title, unit, about }
}

/// Whether a metric is of time that passes while a process stands still, too.
pub(crate) fn is_by_the_clock(name: &str) -> bool {
    ["wall", "latency", "pause.", "gc.pause", "gc.phase"].iter().any(|begin| name.starts_with(begin))
}

/// The lab's own metrics, in the order of tables.
///
/// The two clocks of CPU time are never mixed: `task_clock` is perf's, `cpu` and all that begins with `cpu.` the
/// scheduler's. They differ by up to a sixth in single runs, and a difference across them once chose an impossible
/// baseline.
pub const METRICS: &[Metric] = {
    use Unit::{Bytes, Count, Nanoseconds, Percent};
    &[
        metric(
            "wall",
            "wall time",
            Nanoseconds,
            "from the begin to the end of the iteration, CLOCK_MONOTONIC",
        ),
        metric(
            "task_clock",
            "task clock",
            Nanoseconds,
            "CPU time of all threads by perf's software event task-clock",
        ),
        metric("cpu", "CPU time", Nanoseconds, "CPU time of all threads by the scheduler's clock"),
        metric(
            "wall.pauses",
            "wall time of pauses",
            Nanoseconds,
            "from the begin to the end of each pause of the collector",
        ),
        metric(
            "task_clock.pauses",
            "task clock of pauses",
            Nanoseconds,
            "task clock of all threads inside the collector's pauses",
        ),
        metric(
            "cpu.pauses",
            "CPU time of pauses",
            Nanoseconds,
            "CPU time of all threads inside the collector's pauses",
        ),
        metric("pauses", "pauses", Count, "stop-the-world pauses of the collector"),
        metric(
            "wall.safepoints",
            "wall time of safepoints",
            Nanoseconds,
            "time in which the VM stopped all threads for any reason, from its log",
        ),
        metric("safepoints", "safepoints", Count, "stops of all threads for any reason, from the VM's log"),
        metric(
            "wall.reaching",
            "wall time to safepoints",
            Nanoseconds,
            "from the VM's request to stop until the last thread stood, from its log",
        ),
        metric(
            "pause.max",
            "longest pause",
            Nanoseconds,
            "the longest pause of the collector that ended in the iteration, from the VM's log",
        ),
        metric(
            "wall.concurrent",
            "wall time of concurrent collection",
            Nanoseconds,
            "time in which the collector worked beside the program, from the VM's log",
        ),
        metric(
            "wall.stalls",
            "wall time of stalls",
            Nanoseconds,
            "time that threads waited for the collector to free memory, each by itself, from the VM's log",
        ),
        metric(
            "collections",
            "collections",
            Count,
            "collections that ended a pause or phase, from the VM's log",
        ),
        metric(
            "heap.after",
            "heap after collection",
            Bytes,
            "most that was in use of the heap after a collection, from the VM's log",
        ),
        metric(
            "cpu.gc",
            "CPU time of the collector",
            Nanoseconds,
            "CPU time of the collector's threads, and of the VM thread inside pauses",
        ),
        metric("cpu.jit", "CPU time of the compilers", Nanoseconds, "CPU time of the JIT compilers' threads"),
        metric("cpu.vm", "CPU time of the VM", Nanoseconds, "CPU time of the VM's other threads"),
        metric(
            "cpu.tracer",
            "CPU time of the tracer",
            Nanoseconds,
            "CPU time of the threads of the tracer under test",
        ),
        metric(
            "cpu.mutator",
            "CPU time of the program",
            Nanoseconds,
            "CPU time of all other threads, those that ended included",
        ),
        metric(
            "run_delay",
            "run-queue delay",
            Nanoseconds,
            "time in which threads were ready and had no core",
        ),
        metric("cycles", "cycles", Count, "CPU cycles, where the machine counts them"),
        metric("instructions", "instructions", Count, "instructions retired, where the machine counts them"),
        metric("page_faults", "page faults", Count, "minor and major page faults"),
        metric("context_switches", "context switches", Count, "context switches of all threads"),
        metric("migrations", "migrations", Count, "moves of threads to another core"),
        metric("rss", "peak RSS", Bytes, "highest resident memory within the iteration"),
        metric("allocated", "allocation", Bytes, "bytes that Java threads allocated"),
        metric("latency.p50", "median latency", Nanoseconds, "of the workload's requests, from their start"),
        metric("latency.p90", "latency, 90 %", Nanoseconds, "of the workload's requests, from their start"),
        metric("latency.p99", "latency, 99 %", Nanoseconds, "of the workload's requests, from their start"),
        metric(
            "latency.p99.9",
            "latency, 99.9 %",
            Nanoseconds,
            "of the workload's requests, from their start",
        ),
        metric("latency.max", "worst latency", Nanoseconds, "of the workload's requests, from their start"),
        metric(
            "metered.p50",
            "median metered latency",
            Nanoseconds,
            "of requests that arrive evenly, as DaCapo Chopin meters them",
        ),
        metric(
            "metered.p90",
            "metered latency, 90 %",
            Nanoseconds,
            "of requests that arrive evenly, as DaCapo Chopin meters them",
        ),
        metric(
            "metered.p99",
            "metered latency, 99 %",
            Nanoseconds,
            "of requests that arrive evenly, as DaCapo Chopin meters them",
        ),
        metric(
            "metered.p99.9",
            "metered latency, 99.9 %",
            Nanoseconds,
            "of requests that arrive evenly, as DaCapo Chopin meters them",
        ),
        metric(
            "metered.max",
            "worst metered latency",
            Nanoseconds,
            "of requests that arrive evenly, as DaCapo Chopin meters them",
        ),
        metric("frame.p50", "median frame time", Nanoseconds, "of an interactive workload's frames"),
        metric("frame.p90", "frame time, 90 %", Nanoseconds, "of an interactive workload's frames"),
        metric("frame.p99", "frame time, 99 %", Nanoseconds, "of an interactive workload's frames"),
        metric("frame.janky", "janky frames", Percent, "frames that missed their deadline"),
        metric(
            "input.p50",
            "median input latency",
            Nanoseconds,
            "from an input event to the end of the frame that shows it",
        ),
        metric(
            "input.p99",
            "input latency, 99 %",
            Nanoseconds,
            "from an input event to the end of the frame that shows it",
        ),
    ]
};

/// The metric of this name; a benchmark's own has none.
pub fn metric_of(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

/// What names begin with that the lab makes of what a log or a workload tells: phases of a collection, latencies.
const FAMILIES: [&str; 5] = ["gc.", "latency.", "metered.", "frame.", "input."];

/// Whether a metric is a benchmark's own.
pub fn is_own(name: &str) -> bool {
    metric_of(name).is_none() && !FAMILIES.iter().any(|family| name.starts_with(family))
}

/// The metrics that a lower bound overhead can be told of: those whose share within pauses is measured by the same
/// clock.
pub const DISTILLABLE: [&str; 3] = ["wall", "task_clock", "cpu"];

/// The metric that holds a metric's share within the collector's pauses.
pub fn within_pauses(name: &str) -> String {
    format!("{name}.pauses")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_distillable_metric_has_its_share() {
        for (i, metric) in METRICS.iter().enumerate() {
            assert!(
                METRICS[i + 1..].iter().all(|other| other.name != metric.name),
                "{} stands twice",
                metric.name
            );
        }
        for name in DISTILLABLE {
            let unit = |name: &str| metric_of(name).map(|metric| metric.unit);
            assert!(unit(name).is_some(), "{name}");
            assert_eq!(unit(name), unit(&within_pauses(name)), "{name}");
        }
    }
}
