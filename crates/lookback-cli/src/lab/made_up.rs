//! A directory of results for tests of verbs. Compiled for tests only.
//!
//! The constraint that shaped it: ratios are known and pairs scatter by a little, as a test needs it.

use crate::error::Result;
use crate::verbs::Streams;
use serde_json::json;
use std::fmt::Write;
use tempfile::TempDir;

/// Eight blocks of workload `h2` on JDK `17` at twice its minimum heap: `serial` takes 100 of CPU time, 20 of it the
/// collector's; `g1|bare` 120, of it 30; `g1|lookback` 3 % more than that; all times `factor`. Of `fop` there is
/// `serial` only.
pub(super) fn results(factor: f64) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory for the test");
    let mut text = String::new();
    for block in 1..=8_u32 {
        for (workload, configuration, cpu, gc) in [
            ("h2", "serial", 100.0, 20.0),
            ("h2", "g1|bare", 120.0, 30.0),
            ("h2", "g1|lookback", 123.6, 30.0),
            ("fop", "serial", 50.0, 5.0),
        ] {
            // The scatter of a block is the same for all but the first configuration's.
            let scatter = 1.0 + 0.001 * f64::from(block % 3) * f64::from(u8::from(configuration == "serial"));
            let level = factor * (1.0 + 0.01 * f64::from(block)) * scatter;
            let record = json!({
                "schema": 1, "cell": format!("{workload}-{configuration}"), "workload": workload, "jdk": "17",
                "configuration": configuration, "collector": configuration.split('|').next(),
                "tracer": configuration.contains("lookback").then_some("lookback"),
                "heap": {"multiple": 2.0, "bytes": 64 << 20}, "invocation": block, "attempt": 1, "host": "host",
                "started": "2026-01-01T00:00:00Z", "process_ns": 1, "outcome": {"kind": "ok"}, "disturbances": [],
                "machine": {
                    "steal_percent": 0.0, "others_percent": 0.0, "swap_bytes": 0, "load": 0.0, "cpu_pressure_us": 0,
                    "memory_pressure_us": 0, "io_pressure_us": 0
                },
                "iterations": [{"number": 1, "measured": true, "metrics": {
                    "cpu": cpu * level, "cpu.pauses": gc * level, "cpu.gc": gc * level
                }}],
                "raw": ""
            });
            writeln!(text, "{record}").expect("a string takes all");
        }
    }
    std::fs::write(dir.path().join("results.jsonl"), text).expect("the test's own directory");
    dir
}

/// What a verb writes to standard output, without colours.
pub(super) fn output(verb: impl FnOnce(&mut Streams<'_>) -> Result<()>) -> Result<String> {
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    verb(&mut Streams { out: &mut out, notes: &mut notes })?;
    let text = anstream::adapter::strip_bytes(&out).into_vec();
    Ok(String::from_utf8(text).expect("tables are text"))
}
