//! What the lab's own tests share: cells and plans made in code. Compiled for tests only.

use crate::plan::{Cell, CellId, Invocation, Jvm, Launch, Pin, Plan, Quiet};
use crate::results::{Outcome, Reading, Record, SCHEMA};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A cell that runs a program, one iteration.
pub(crate) fn cell(workload: &str, command: &[&str]) -> Cell {
    Cell {
        id: CellId(format!("{workload:0>16}")),
        workload: workload.into(),
        jdk: String::new(),
        configuration: "plain".into(),
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
        timeout: Duration::from_secs(60),
    }
}

/// A cell that runs a Java program without the harness.
pub(crate) fn java_cell(java: &str, options: &[&str], class_path: &str, command: &[&str]) -> Cell {
    let mut cell = cell("java", command);
    cell.launch.jvm = Some(Jvm {
        java: PathBuf::from(java),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        class_path: class_path.into(),
        harness: false,
        socket: false,
        mocked_memory: None,
    });
    cell
}

/// A program `java` that is a script of these lines. It is written by another process: a descriptor of this one, open
/// for writing while another test's thread forks, would make the script "busy".
pub(crate) fn script(dir: &Path, body: &str) -> PathBuf {
    let file = dir.join("java");
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(&file)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(format!("#!/bin/sh\n{body}\n").as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
    file
}

/// A record of a cell's invocation, quiet and without figures.
pub(crate) fn record(cell: &Cell, invocation: u32, attempt: u32, outcome: Outcome) -> Record {
    Record {
        schema: SCHEMA,
        cell: cell.id.clone(),
        workload: cell.workload.clone(),
        jdk: cell.jdk.clone(),
        configuration: cell.configuration.clone(),
        collector: cell.collector.clone(),
        tracer: cell.tracer.clone(),
        heap: cell.heap,
        invocation,
        attempt,
        host: "host".into(),
        started: "2026-01-01T00:00:00Z".into(),
        process_ns: 1_000_000,
        outcome,
        disturbances: vec![],
        machine: Reading::default(),
        iterations: vec![],
        raw: String::new(),
    }
}

/// A plan that runs each cell so often, block by block, alone on the machine or not, without waiting for quiet.
pub(crate) fn plan(cells: Vec<Cell>, invocations: u32) -> Plan {
    let order = (1..=invocations)
        .flat_map(|number| (0..cells.len()).map(move |cell| Invocation { cell, number }))
        .collect();
    Plan {
        name: "test".into(),
        about: String::new(),
        seed: 1,
        cells,
        order,
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

/// The `java` of each JDK of this machine: those that the variables name, and those of the usual place.
pub(crate) fn javas() -> Vec<PathBuf> {
    let named = ["JAVA_HOME_17", "JAVA_HOME_25"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let found = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut homes: Vec<_> = named.chain(found).filter_map(|home| home.canonicalize().ok()).collect();
    homes.sort();
    homes.dedup();
    homes.into_iter().map(|home| home.join("bin/java")).filter(|java| java.exists()).collect()
}
