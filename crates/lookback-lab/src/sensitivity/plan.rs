//! The plan of a sensitivity study: an experiment's cells, each with every answer.
//!
//! The constraint that shaped it: all answers run in the same blocks, so that they are compared as pairs. Must not
//! change anything of a cell but the answer.

use super::answer::ANSWERS;
use crate::error::{Error, Result};
use crate::plan::{Cell, Order, Plan};
use crate::results::HeapPoint;
use std::collections::BTreeSet;

/// The modifier that mocks the heap, which is not part of the name of a cell whose answer is varied.
const MOCKED: &str = "mocked-memory";

/// The study of an experiment: of `workload` and `collector` alone where they are given. Programs without a JVM or
/// harness have no answer to vary, and those with a tracer would be measured with it; they are left out.
///
/// # Errors
/// [`Error::NothingToVary`].
pub fn plan(base: &Plan, workload: Option<&str>, collector: Option<&str>) -> Result<Plan> {
    let wanted = |cell: &&Cell| {
        cell.launch.jvm.as_ref().is_some_and(|jvm| jvm.harness)
            && cell.tracer.is_none()
            && workload.is_none_or(|workload| cell.workload == workload)
            && collector.is_none_or(|collector| cell.collector.as_deref() == Some(collector))
    };
    let mut seen = BTreeSet::new();
    let mut cells = Vec::new();
    for cell in base.cells.iter().filter(wanted) {
        let words: Vec<_> = cell.configuration.split('|').filter(|word| *word != MOCKED).collect();
        let configuration = words.join("|");
        // With and without the mocked heap is the same cell here.
        let point = HeapPoint::of(cell.heap);
        if seen.insert((cell.workload.clone(), cell.jdk.clone(), configuration.clone(), point)) {
            cells.extend(ANSWERS.map(|answer| {
                let mut varied = cell.clone();
                varied.configuration = answer.name(&configuration);
                varied.id = cell.id.varied(&varied.configuration);
                if let Some(jvm) = &mut varied.launch.jvm {
                    jvm.mocked_memory = answer.0;
                }
                varied
            }));
        }
    }
    if cells.is_empty() {
        return Err(Error::NothingToVary);
    }
    let invocations = base.order.iter().map(|invocation| invocation.number).max().unwrap_or_default();
    Ok(Plan {
        name: format!("{}-sensitivity", base.name),
        order: Order::Interleaved.of(&cells, invocations, base.seed),
        cells,
        ..base.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{CellId, Jvm, Launch, Pin, Quiet};
    use std::collections::BTreeMap;
    use std::time::Duration;

    fn cell(configuration: &str, mocked_memory: Option<(u64, u64)>) -> Cell {
        let jvm = Jvm {
            java: "java".into(),
            options: vec![],
            class_path: String::new(),
            harness: true,
            mocked_memory,
            socket: false,
        };
        Cell {
            id: CellId(configuration.into()),
            workload: "h2".into(),
            jdk: "17".into(),
            configuration: configuration.into(),
            collector: configuration.split('|').next().map(str::to_owned),
            tracer: configuration.contains("lookback").then(|| "lookback".into()),
            heap: None,
            launch: Launch {
                jvm: Some(jvm),
                wrapper: Vec::new(),
                rehearsal: Vec::new(),
                command: vec!["Main".into()],
                env: BTreeMap::new(),
            },
            iterations: 1,
            measured: vec![1],
            checksum: None,
            timeout: Duration::from_secs(60),
        }
    }

    fn base() -> Plan {
        let cells = vec![
            cell("g1", None),
            cell("g1|mocked-memory", Some((512 << 20, 128 << 20))),
            cell("g1|lookback", None),
            cell("serial", None),
        ];
        Plan {
            name: "x".into(),
            about: String::new(),
            seed: 1,
            order: Order::Interleaved.of(&cells, 3, 1),
            cells,
            pin: Pin::All,
            retries: 0,
            turns: Duration::ZERO,
            metrics: vec![],
            quiet: Quiet::default(),
            jdks: vec![],
        }
    }

    #[test]
    fn each_bare_cell_runs_with_each_answer_once_a_block() {
        let study = plan(&base(), None, None).unwrap();
        assert_eq!((study.name.as_str(), study.cells.len(), study.order.len()), ("x-sensitivity", 16, 48));
        let ids: BTreeSet<_> = study.cells.iter().map(|cell| &cell.id).collect();
        assert_eq!(ids.len(), 16);
        let mocked = |cell: &Cell| cell.launch.jvm.as_ref().unwrap().mocked_memory;
        assert_eq!(study.cells.iter().filter(|cell| mocked(cell).is_none()).count(), 2);
        assert!(study.order[..16].iter().all(|invocation| invocation.number == 1));
    }

    #[test]
    fn a_selection_without_cells_is_refused() {
        assert_eq!(plan(&base(), Some("h2"), Some("serial")).unwrap().cells.len(), 8);
        assert!(matches!(plan(&base(), None, Some("zgc")), Err(Error::NothingToVary)));
        assert!(matches!(plan(&base(), Some("fop"), None), Err(Error::NothingToVary)));
    }
}
