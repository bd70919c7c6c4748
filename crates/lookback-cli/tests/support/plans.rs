//! Plans of the lab made in code: cells that run whatever a test wants, on a machine as busy as it likes.

use super::Place;
use lookback_lab::plan::{Cell, CellId, Invocation, Jvm, Launch, Pin, Plan, Quiet};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A cell that runs a program without a JVM, one iteration.
pub(crate) fn cell(workload: &str, configuration: &str, command: &[&str]) -> Cell {
    Cell {
        id: CellId(format!("{workload}-{configuration}")),
        workload: workload.into(),
        jdk: String::new(),
        configuration: configuration.into(),
        collector: None,
        tracer: None,
        heap: None,
        launch: Launch {
            wrapper: Vec::new(),
            rehearsal: Vec::new(),
            jvm: None,
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            env: BTreeMap::new(),
        },
        iterations: 1,
        measured: vec![1],
        checksum: None,
        timeout: Duration::from_secs(600),
    }
}

/// A JVM without the harness.
pub(crate) fn jvm(java: PathBuf, options: &[&str]) -> Jvm {
    Jvm {
        java,
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        class_path: String::new(),
        harness: false,
        socket: false,
        mocked_memory: None,
    }
}

/// A cell that runs a line of shell.
pub(crate) fn shell(workload: &str, line: &str) -> Cell {
    cell(workload, "plain", &["sh", "-c", line])
}

/// A plan that runs each cell so often, block by block.
pub(crate) fn plan(cells: Vec<Cell>, invocations: u32) -> Plan {
    let order =
        (1..=invocations).flat_map(|number| (0..cells.len()).map(move |cell| Invocation { cell, number }));
    Plan {
        name: "test".into(),
        about: String::new(),
        seed: 1,
        order: order.collect(),
        cells,
        pin: Pin::All,
        retries: 0,
        turns: Duration::ZERO,
        metrics: vec![],
        quiet: Quiet {
            steal_percent: 100.0,
            others_percent: 100.0,
            swap_bytes: u64::MAX,
            patience: Duration::ZERO,
        },
        jdks: vec![],
    }
}

/// Writes a plan to `plan.json`.
pub(crate) fn write(place: &Place, plan: &Plan) -> PathBuf {
    let file = place.file("plan.json");
    std::fs::write(&file, serde_json::to_vec(plan).unwrap()).unwrap();
    file
}
