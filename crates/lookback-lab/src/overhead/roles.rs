//! A cost by whose threads took it: the program's, the collector's, the compilers', the VM's.
//!
//! The constraint that shaped it: an overhead is told of a total, and a reader takes all of it for the collector's. But a
//! program that is slowed down is compiled for a larger part of what is measured, so the compilers' share must stand
//! beside the collector's. Roles are by the scheduler's clock; of another clock they are the same shares, as two clocks
//! are never added. Wall time has no threads.

use crate::results::Record;
use serde::Serialize;

/// A cost in parts; their sum is the cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Roles {
    /// The program's threads: barriers and slower allocation are in here.
    pub mutator: f64,
    /// The collector's.
    pub gc: f64,
    /// The JIT compilers'.
    pub jit: f64,
    /// The VM's others.
    pub vm: f64,
}

impl Roles {
    /// The parts of an invocation's total, in the metric's unit; none of `wall`, or when a part was not measured.
    pub(super) fn of(record: &Record, metric: &str) -> Option<Roles> {
        if !["cpu", "task_clock"].contains(&metric) {
            return None;
        }
        let total = record.mean(metric)?;
        let all = record.mean("cpu").filter(|cpu| *cpu > 0.0)?;
        let part = |name: &str| Some(total * record.mean(name)? / all);
        Some(Roles {
            mutator: part("cpu.mutator")?,
            gc: part("cpu.gc")?,
            jit: part("cpu.jit")?,
            vm: part("cpu.vm")?,
        })
    }

    /// The mean of each part; none of nothing, or when one of them is not known.
    pub(super) fn mean(all: impl IntoIterator<Item = Option<Roles>>) -> Option<Roles> {
        let all: Vec<Roles> = all.into_iter().collect::<Option<_>>()?;
        let n = all.len() as f64;
        let sum = |part: fn(&Roles) -> f64| all.iter().map(part).sum::<f64>() / n;
        (n > 0.0).then(|| Roles {
            mutator: sum(|roles| roles.mutator),
            gc: sum(|roles| roles.gc),
            jit: sum(|roles| roles.jit),
            vm: sum(|roles| roles.vm),
        })
    }

    /// Each part by a baseline.
    pub(super) fn by(self, baseline: f64) -> Roles {
        let Roles { mutator, gc, jit, vm } = self;
        Roles { mutator: mutator / baseline, gc: gc / baseline, jit: jit / baseline, vm: vm / baseline }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::made_up::record;

    fn one(more: &[(&str, f64)]) -> Record {
        let parts = [("cpu.mutator", 50.0), ("cpu.gc", 30.0), ("cpu.jit", 15.0), ("cpu.vm", 5.0)];
        record("h2", "g1", 2.0, 1, &[&parts[..], more].concat())
    }

    #[test]
    fn parts_are_shares_of_the_metrics_own_total() {
        let record = one(&[("cpu", 100.0), ("task_clock", 90.0), ("wall", 60.0)]);
        let parts = Roles { mutator: 50.0, gc: 30.0, jit: 15.0, vm: 5.0 };
        assert_eq!(Roles::of(&record, "cpu"), Some(parts));
        assert_eq!(Roles::of(&record, "task_clock"), Some(parts.by(100.0 / 90.0)));
        assert_eq!(Roles::of(&record, "wall"), None);
        assert_eq!(Roles::of(&one(&[("task_clock", 90.0)]), "task_clock"), None);
    }

    #[test]
    fn a_mean_is_of_each_part_and_of_all_or_none() {
        let (a, b) = (Roles { gc: 1.0, ..Roles::default() }, Roles { gc: 3.0, jit: 1.0, ..Roles::default() });
        assert_eq!(Roles::mean([Some(a), Some(b)]), Some(Roles { gc: 2.0, jit: 0.5, ..Roles::default() }));
        assert_eq!(Roles::mean([Some(a), None]), None);
        assert_eq!(Roles::mean([]), None);
    }
}
