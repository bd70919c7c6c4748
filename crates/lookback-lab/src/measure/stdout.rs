//! Figures from a program's standard output, for programs that run without the harness.
//!
//! ```text
//! iteration 3 h2 812.4 ms           one of several iterations of one of this project's workloads: its wall time
//! result NAME VALUE UNIT            a figure of a benchmark; the whole process is one iteration
//! ```
//!
//! A program that prints neither, or is to have one iteration, is that iteration from its start to its end, with what the
//! kernel says of its process: an iteration that the program times itself begins after its start-up.
//!
//! The constraint that shaped it: the output is a program's own and may hold anything; a line that is none of these is
//! not looked at, and one that nearly is must not become a figure.

use super::{PROCESS, Process, STDOUT};
use crate::plan::Cell;
use crate::results::Iteration;
use std::collections::BTreeMap;
use std::path::Path;

/// The iterations that a standard output tells of.
pub(super) fn iterations(dir: &Path, cell: &Cell) -> Result<Vec<Iteration>, String> {
    let bytes =
        std::fs::read(dir.join(STDOUT)).map_err(|error| format!("its output cannot be read: {error}"))?;
    let text = String::from_utf8_lossy(&bytes);
    let several = cell.iterations > 1;
    if several {
        let iterations: Vec<Iteration> = text.lines().filter_map(|line| iteration(line, cell)).collect();
        if !iterations.is_empty() {
            return Ok(iterations);
        }
    }
    let mut only = Iteration {
        number: 1,
        measured: cell.measured.contains(&1),
        metrics: BTreeMap::new(),
        units: BTreeMap::new(),
    };
    for (name, value, unit) in text.lines().filter_map(result) {
        only.metrics.insert(name.clone(), value);
        only.units.insert(name, unit);
    }
    if only.metrics.is_empty() {
        if several {
            return Err(format!("its output tells of none of its {} iterations", cell.iterations));
        }
        only.metrics = whole_process(dir)?;
    }
    Ok(vec![only])
}

/// `iteration K NAME MS ms`, of this cell's workload or, where the experiment calls it by another name, of any.
fn iteration(line: &str, cell: &Cell) -> Option<Iteration> {
    let mut words = line.split_ascii_whitespace();
    if words.next()? != "iteration" {
        return None;
    }
    let number: u32 = words.next()?.parse().ok()?;
    let _name = words.next()?;
    let ms: f64 = words.next()?.parse().ok().filter(|ms: &f64| ms.is_finite() && *ms >= 0.0)?;
    (words.next()? == "ms").then(|| Iteration {
        number,
        measured: cell.measured.contains(&number),
        metrics: [("wall".to_owned(), ms * 1e6)].into(),
        units: BTreeMap::new(),
    })
}

/// `result NAME VALUE UNIT`.
fn result(line: &str) -> Option<(String, f64, String)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let ["result", name, value, unit] = words[..] else { return None };
    let value: f64 = value.parse().ok().filter(|value: &f64| value.is_finite())?;
    Some((name.to_owned(), value, unit.to_owned()))
}

/// The kernel's figures of the process, by the names of the lab's metrics.
fn whole_process(dir: &Path) -> Result<BTreeMap<String, f64>, String> {
    let bytes =
        std::fs::read(dir.join(PROCESS)).map_err(|error| format!("{PROCESS} cannot be read: {error}"))?;
    let process: Process =
        serde_json::from_slice(&bytes).map_err(|error| format!("{PROCESS} is damaged: {error}"))?;
    let figures = [
        ("wall", process.wall_ns),
        ("cpu", process.cpu_ns),
        ("rss", process.peak_rss_bytes),
        ("page_faults", process.page_faults),
        ("context_switches", process.context_switches),
    ];
    Ok(figures.into_iter().map(|(name, value)| (name.to_owned(), value as f64)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests_support::cell;

    fn of(text: &str, measured: &[u32], iterations: u32) -> Result<Vec<Iteration>, String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(STDOUT), text).unwrap();
        let process = Process { wall_ns: 5, cpu_ns: 4, ..Process::default() };
        std::fs::write(dir.path().join(PROCESS), serde_json::to_vec(&process).unwrap()).unwrap();
        let cell = Cell { measured: measured.to_vec(), iterations, ..cell("w", &["true"]) };
        super::iterations(dir.path(), &cell)
    }

    #[test]
    fn the_workloads_lines_are_iterations() {
        let found =
            of("iteration 1 h2 10.5 ms\nnoise\niteration 2 h2 2.0 ms cpu 3 ms\nchecksum h2 ff\n", &[2], 2)
                .unwrap();
        let told: Vec<_> = found.iter().map(|i| (i.number, i.measured, i.metrics["wall"])).collect();
        assert_eq!(told, [(1, false, 10_500_000.0), (2, true, 2_000_000.0)]);
    }

    #[test]
    fn one_iteration_is_the_whole_process_whatever_the_program_times() {
        let found = of("iteration 1 h2 10.5 ms\n", &[1], 1).unwrap();
        assert_eq!((found.len(), found[0].metrics["wall"], found[0].metrics["cpu"]), (1, 5.0, 4.0));
    }

    #[test]
    fn a_benchmark_s_lines_are_figures_of_one_iteration() {
        let found =
            of("result ring.event 12.5 ns\nresult ring.size 4 MiB\nresult x NaN ns\nresult y 1\n", &[1], 1)
                .unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].metrics, [("ring.event".into(), 12.5), ("ring.size".into(), 4.0)].into());
        assert_eq!(found[0].units["ring.size"], "MiB");
    }

    #[test]
    fn a_program_that_says_nothing_is_measured_as_a_whole_and_one_that_should_have_is_not() {
        let found =
            of("iteration x h2 1 ms\niteration 1 h2 -3 ms\niteration 1 h2 inf ms\n", &[1], 1).unwrap();
        assert_eq!((found[0].metrics["wall"], found[0].metrics["cpu"]), (5.0, 4.0));
        assert!(of("iteration 1 h2", &[5], 5).unwrap_err().contains("none of its 5 iterations"));
    }
}
