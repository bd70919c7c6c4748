//! Records for tests and for the lab's check of its own arithmetic.
//!
//! The constraint that shaped it: a test says what matters to it, and nothing else. Must not get among real results.

use super::record::{Iteration, Outcome, Reading, Record, SCHEMA};
use crate::plan::{CellId, HeapSize};
use std::collections::BTreeMap;

/// A good, quiet invocation of a workload on JDK `17` with a collector, which is also the configuration's first word, at
/// a multiple of its minimum heap; 0 leaves the heap to the JVM.
pub(crate) fn record(
    workload: &str,
    configuration: &str,
    multiple: f64,
    invocation: u32,
    metrics: &[(&str, f64)],
) -> Record {
    let words: Vec<&str> = configuration.split('|').collect();
    let tracer = words.iter().find(|word| ["lookback", "jfr"].contains(word)).map(|word| (*word).to_owned());
    let metrics: BTreeMap<_, _> = metrics.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    Record {
        schema: SCHEMA,
        cell: CellId(format!("{workload}/{configuration}/{multiple}")),
        workload: workload.into(),
        jdk: "17".into(),
        configuration: configuration.into(),
        collector: Some(words[0].to_owned()),
        tracer,
        heap: (multiple > 0.0).then_some(HeapSize { multiple: Some(multiple), bytes: 64 << 20 }),
        invocation,
        attempt: 1,
        host: "host".into(),
        started: "2026-01-01T00:00:00Z".into(),
        process_ns: 1,
        outcome: Outcome::Ok,
        disturbances: vec![],
        machine: Reading::default(),
        iterations: vec![Iteration { number: 1, measured: true, metrics, units: BTreeMap::new() }],
        raw: String::new(),
    }
}
