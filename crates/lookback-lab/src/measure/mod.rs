//! From an invocation's raw directory to the figures of its iterations.
//!
//! ```text
//! harness.jsonl ---> harness (roles, latency) --+
//! gc.log ----------> gc_log -> windows ---------+--> iterations
//! recording.jfr ---> jfr (the JDK's own tool) --+
//! ```
//!
//! The constraint that shaped it: figures can be made again from raw output when this code has learned more, so
//! everything is read from files and nothing is asked of the process. The harness's report says when the iterations were;
//! the VM's log, on the same clock, adds what it knows of that time, and never takes the place of a figure that the
//! harness measured. A program without the harness tells its figures on standard output ([`stdout`]).

pub mod gc_log;
mod harness;
pub mod jfr;
pub mod latency;
mod lines;
pub mod roles;
mod stdout;
pub mod windows;

use crate::plan::Cell;
use crate::results::Iteration;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use windows::Windows;

/// Name of the file with the harness's report.
pub const HARNESS: &str = "harness.jsonl";
/// Name of the file with the VM's log.
pub const GC_LOG: &str = "gc.log";
/// Name of the file with a recording of JFR, where one was made.
pub const RECORDING: &str = "recording.jfr";

/// Name of the file with [`Process`].
pub const PROCESS: &str = "process.json";
/// Name of the file with the standard output.
pub const STDOUT: &str = "stdout";
/// The directory, in the raw directory, for what a program leaves to be published: pictures, tables, raw figures.
pub const KEPT: &str = "kept";
/// Name of the file with the standard error.
pub const STDERR: &str = "stderr";

/// What the kernel says of the whole process, with the children that it waited for: `process.json` of a raw directory,
/// written when the process has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Process {
    /// From before it was started until it had ended, nanoseconds.
    pub wall_ns: u64,
    /// CPU time, nanoseconds, in steps of a microsecond.
    pub cpu_ns: u64,
    /// Highest resident memory of any one of its processes, bytes.
    pub peak_rss_bytes: u64,
    /// Page faults.
    pub page_faults: u64,
    /// Context switches.
    pub context_switches: u64,
}

/// The figures of all iterations that an invocation of `cell` got through, from its raw directory.
///
/// Metrics are those of [`crate::metric::METRICS`]; besides, by names of their own with a unit each, the phases of the
/// collector that its log tells (`gc.pause.*`, `gc.concurrent.*`, `gc.phase.*`), what it says of allocation
/// (`gc.allocated`), what JFR says of pauses (`jfr.*`), and the workload's values and series. What the machine or the JVM
/// could not measure is absent.
///
/// # Errors
/// Words about what is missing or damaged.
pub fn iterations(dir: &Path, cell: &Cell) -> Result<Vec<Iteration>, String> {
    match &cell.launch.jvm {
        Some(jvm) if jvm.harness => with_harness(dir, cell),
        _ => stdout::iterations(dir, cell),
    }
}

fn with_harness(dir: &Path, cell: &Cell) -> Result<Vec<Iteration>, String> {
    let text = std::fs::read(dir.join(HARNESS)).map_err(|error| {
        format!("the harness's report {HARNESS} cannot be read: {error}; was the harness loaded, and did the workload tell it of an iteration?")
    })?;
    let reports = harness::reports(&String::from_utf8_lossy(&text))?;
    let mut windows = Windows::new(reports.iter().map(|report| report.window));
    let logged = match File::open(dir.join(GC_LOG)) {
        Ok(file) => {
            gc_log::read(BufReader::new(file), |event| windows.add(event))
                .map_err(|error| format!("the VM's log {GC_LOG} cannot be read: {error}"))?;
            windows.figures()
        }
        Err(_) => vec![BTreeMap::new(); reports.len()],
    };
    let recorded = recorded(dir, cell)?;
    let led = led_by_vm_thread(&windows, cell);
    let mut iterations = Vec::with_capacity(reports.len());
    for (i, (report, logged)) in reports.into_iter().zip(logged).enumerate() {
        let mut metrics = logged;
        if let Some(pauses) = &recorded {
            metrics.extend(jfr::figures(pauses, windows.collections(i)));
        }
        // What the harness measured stands above what the log says.
        metrics.extend(report.metrics);
        metrics.extend(report.cpu.metrics(led).map(|(name, value)| (name.to_owned(), value as f64)));
        let mut units = report.units;
        for name in metrics.keys().filter(|name| name.starts_with("gc.") || name.starts_with("jfr.")) {
            let unit = match name.as_str() {
                "gc.allocated" => "bytes",
                "jfr.pauses" => "count",
                _ => "ns",
            };
            units.insert(name.clone(), unit.into());
        }
        let measured = cell.measured.contains(&report.number);
        iterations.push(Iteration { number: report.number, measured, metrics, units });
    }
    Ok(iterations)
}

/// Pauses that JFR recorded; none without a recording.
fn recorded(dir: &Path, cell: &Cell) -> Result<Option<Vec<jfr::JfrPause>>, String> {
    let recording = dir.join(RECORDING);
    match &cell.launch.jvm {
        Some(jvm) if recording.exists() => jfr::pauses(&jvm.java.with_file_name("jfr"), &recording).map(Some),
        _ => Ok(None),
    }
}

/// Whether what the VM thread does is the collector's where the harness does not tell its time in pauses: so it is where it
/// leads all of the collector's work in pauses, beside which its other operations are nothing.
fn led_by_vm_thread(windows: &Windows, cell: &Cell) -> bool {
    match &windows.collector {
        Some(name) => ["Serial", "Parallel", "G1"].contains(&name.as_str()),
        None => ["serial", "parallel", "g1"].map(Some).contains(&cell.collector.as_deref()),
    }
}
