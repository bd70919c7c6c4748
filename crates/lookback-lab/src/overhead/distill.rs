//! A total cost and what is left of it without what can be told to be the collector's.
//!
//! The constraint that shaped it: two clocks of CPU time differ by up to a sixth in single runs, so a share measured by
//! one is never taken off a total of the other; where only the other has the share, it is taken as a ratio. Must not
//! guess a share that was not measured.

use crate::metric::within_pauses;
use crate::results::Record;
use serde::{Deserialize, Serialize};

/// How a cost is distilled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distillation {
    /// Less the metric's own share within stop-the-world pauses, as Cai et al. do. Concurrent work of the collector
    /// stays in.
    Pauses,
    /// Less what the collector's threads used, concurrent work too. Wall time has no threads: less its pauses.
    Threads,
}

impl Distillation {
    /// Both, in the order of tables.
    pub const ALL: [Distillation; 2] = [Distillation::Pauses, Distillation::Threads];

    /// Its name in options and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Distillation::Pauses => "pauses",
            Distillation::Threads => "threads",
        }
    }
}

/// Total and distilled cost of an invocation in the metric's unit, each the mean over measured iterations; the distilled
/// one is none when a share was not measured, or when nothing is left, which no measurement of a program gives. None
/// without a total.
///
/// `cpu` by threads is `cpu - cpu.gc`; `task_clock` by threads is `task_clock * (1 - cpu.gc / cpu)`.
pub fn cost(record: &Record, metric: &str, distillation: Distillation) -> Option<(f64, Option<f64>)> {
    let total = record.mean(metric).filter(|total| *total > 0.0)?;
    let distilled = match (distillation, metric) {
        (Distillation::Threads, "cpu") => record.mean("cpu.gc").map(|gc| total - gc),
        (Distillation::Threads, "task_clock") => record
            .mean("cpu")
            .zip(record.mean("cpu.gc"))
            .filter(|(cpu, _)| *cpu > 0.0)
            .map(|(cpu, gc)| total * (1.0 - gc / cpu)),
        _ => record.mean(&within_pauses(metric)).map(|pauses| total - pauses),
    };
    Some((total, distilled.filter(|distilled| *distilled > 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::made_up::record;

    #[test]
    fn shares_are_taken_off_by_the_same_clock() {
        let record = record(
            "h2",
            "g1",
            2.0,
            1,
            &[
                ("wall", 50.0),
                ("wall.pauses", 10.0),
                ("cpu", 100.0),
                ("cpu.pauses", 20.0),
                ("cpu.gc", 40.0),
                ("task_clock", 90.0),
                ("task_clock.pauses", 15.0),
            ],
        );
        let distilled = |metric, how| cost(&record, metric, how).unwrap().1.unwrap();
        assert_eq!(distilled("cpu", Distillation::Pauses), 80.0);
        assert_eq!(distilled("cpu", Distillation::Threads), 60.0);
        assert_eq!(distilled("task_clock", Distillation::Pauses), 75.0);
        // 90 * (1 - 40 / 100).
        assert!((distilled("task_clock", Distillation::Threads) - 54.0).abs() < 1e-12);
        assert_eq!(distilled("wall", Distillation::Threads), 40.0);
    }

    #[test]
    fn a_share_that_was_not_measured_is_not_guessed() {
        let bare = record("h2", "g1", 2.0, 1, &[("cpu", 100.0), ("wall", 5.0), ("wall.pauses", 6.0)]);
        assert_eq!(cost(&bare, "cpu", Distillation::Threads), Some((100.0, None)));
        assert_eq!(cost(&bare, "wall", Distillation::Pauses), Some((5.0, None)));
        assert_eq!(cost(&bare, "task_clock", Distillation::Pauses), None);
    }
}
