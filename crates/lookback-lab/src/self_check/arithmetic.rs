//! Lower bound overheads of a table that was worked by hand.
//!
//! The constraint that shaped it: it needs no machine, so that an installed command can be checked as it is.

use super::finding::{Finding, Value};
use crate::overhead::{Distillation, LowerBounds, Wanted, lower_bounds};
use crate::results::made_up::record;

/// Workload, collector, multiple of the minimum heap, total, of it in pauses, of it the collector's threads; overheads
/// by pauses and by threads.
///
/// Distilled by pauses, alpha has 150, 155, 170, 180: baseline 150. By threads 140, 150, 120, 130: baseline 120. Beta has
/// 65, 60, 96, 84 and 65, 60, 66, 64: baseline 60 both ways.
type Line = (&'static str, &'static str, f64, [f64; 3], [f64; 2]);
const TABLE: [Line; 8] = [
    ("alpha", "serial", 2.0, [180.0, 30.0, 40.0], [180.0 / 150.0, 180.0 / 120.0]),
    ("alpha", "serial", 4.0, [165.0, 10.0, 15.0], [165.0 / 150.0, 165.0 / 120.0]),
    ("alpha", "zgc", 2.0, [171.0, 1.0, 51.0], [171.0 / 150.0, 171.0 / 120.0]),
    ("alpha", "zgc", 4.0, [180.0, 0.0, 50.0], [180.0 / 150.0, 180.0 / 120.0]),
    ("beta", "serial", 2.0, [90.0, 25.0, 25.0], [90.0 / 60.0, 90.0 / 60.0]),
    ("beta", "serial", 4.0, [70.0, 10.0, 10.0], [70.0 / 60.0, 70.0 / 60.0]),
    ("beta", "zgc", 2.0, [96.0, 0.0, 30.0], [96.0 / 60.0, 96.0 / 60.0]),
    ("beta", "zgc", 4.0, [84.0, 0.0, 20.0], [84.0 / 60.0, 84.0 / 60.0]),
];

/// Geometric means over both workloads, by pauses: Serial and Z at 2x.
const MEANS: [(&str, f64); 2] = [("serial", 1.2 * 1.5), ("zgc", 1.14 * 1.6)];

/// Computes the table and compares.
pub(super) fn judge() -> Finding {
    let mut records = Vec::new();
    for (workload, collector, heap, [total, pauses, gc], _) in TABLE {
        let metrics = [("cpu", total), ("cpu.pauses", pauses), ("cpu.gc", gc)];
        records.extend((1..=5).map(|block| record(workload, collector, heap, block, &metrics)));
    }
    let mut worst = 0.0_f64;
    let mut missing = 0_u32;
    let mut compare = |found: Option<f64>, expected: f64| match found {
        Some(found) => worst = worst.max((found / expected - 1.0).abs()),
        None => missing += 1,
    };
    for (way, distillation) in [Distillation::Pauses, Distillation::Threads].into_iter().enumerate() {
        let found = lower_bounds(&records, &Wanted::of("cpu", distillation)).ok();
        for (workload, collector, heap, _, expected) in TABLE {
            let overhead = found.as_ref().and_then(|found| overhead(found, workload, collector, heap));
            compare(overhead, expected[way]);
        }
        for (collector, product) in MEANS.into_iter().filter(|_| way == 0) {
            let mean = found.as_ref().and_then(|found| mean(found, collector));
            compare(mean, f64::sqrt(product));
        }
    }
    let passed = missing == 0 && worst < 1e-9;
    let words = if passed {
        "overheads agree with a table that was worked by hand".to_owned()
    } else {
        let percent = worst * 100.0;
        format!(
            "of a table that was worked by hand {missing} overheads are missing, the others differ by {percent:.2e} % at most"
        )
    };
    Finding {
        check: "lower-bound",
        passed,
        words,
        values: vec![Value::new("error", worst * 100.0, "percent")],
    }
}

fn overhead(found: &LowerBounds, workload: &str, collector: &str, heap: f64) -> Option<f64> {
    let programs = found.programs.iter().filter(|program| program.workload == workload);
    let mut cells = programs.flat_map(|program| &program.cells);
    let cell = cells
        .find(|cell| cell.name.configuration == collector && cell.name.heap.as_multiple() == Some(heap))?;
    Some(cell.overhead?.value)
}

fn mean(found: &LowerBounds, collector: &str) -> Option<f64> {
    let label = format!("17|{collector}");
    let at_2x = |heap: &crate::results::HeapPoint| heap.as_multiple() == Some(2.0);
    let summary = found.summaries.iter().find(|summary| summary.label == label && at_2x(&summary.heap))?;
    Some(summary.geometric_mean.value)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_right() {
        let found = super::judge();
        assert!(found.passed, "{found:?}");
    }
}
