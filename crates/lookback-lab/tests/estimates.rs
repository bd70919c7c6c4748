//! A report's estimates are those of the commands `lab lbo` and `lab compare`, under their names.

#[path = "../examples/synthetic/mod.rs"]
mod synthetic;

use lookback_lab::overhead::{Distillation, Scope, Wanted, lower_bounds};
use lookback_lab::plan::{Invocation, Plan};
use lookback_lab::report::{Document, Form, HEAP, Study, Verdict};

/// A part of the made-up plan that statistics are quickly done with: three collectors, three heaps, two programs.
fn plan() -> Plan {
    let mut plan = synthetic::plan();
    plan.cells.retain(|cell| {
        let multiple = cell.heap.and_then(|heap| heap.multiple).unwrap_or_default();
        let heap = [1.0, 2.0, 4.0].iter().any(|m| (m - multiple).abs() < 1e-9);
        let collector = ["serial", "g1", "zgc"].iter().any(|name| cell.collector.as_deref() == Some(name));
        heap && collector && ["h2", "xalan"].contains(&cell.workload.as_str())
    });
    let cells = plan.cells.len();
    plan.order = (1..=6).flat_map(|number| (0..cells).map(move |cell| Invocation { cell, number })).collect();
    plan
}

#[test]
fn they_are_the_libraries_values_and_say_what_is_missing() {
    let plan = plan();
    let records = synthetic::records(&plan);
    let mut study = Study::observe(&records, Some(&plan));
    study.estimate(&records, &["task_clock".into()], HEAP).unwrap();

    let kinds: Vec<&str> = study.overheads.iter().map(|o| o.distillation.as_str()).collect();
    assert_eq!(kinds, ["pauses", "threads"]);
    let bounds = lower_bounds(&records, &Wanted::of("task_clock", Distillation::Pauses)).unwrap();
    let ours = &study.overheads[0];
    let at_two = |s: &&lookback_lab::overhead::Summary| {
        s.scope == Scope::OneHeap && s.label == "17|g1" && s.heap.as_multiple() == Some(2.0)
    };
    let expected = bounds.summaries.iter().find(at_two).unwrap();
    let found =
        ours.summaries.iter().find(|s| s.configuration == "17|g1" && s.multiple == Some(2.0)).unwrap();
    let geomean = found.geomean.as_ref().unwrap();
    assert_eq!(
        (geomean.value, found.min, found.max),
        (expected.geometric_mean.value, expected.least, expected.most)
    );
    assert_eq!(geomean.n, 2);
    let interval = expected.geometric_mean.interval.unwrap();
    assert_eq!(geomean.interval, Some((interval.low, interval.high)));
    // ZGC cannot run in the smallest heap, so no workload completed at every heap, and it is said where.
    let zgc = ours.points.iter().find(|p| p.configuration == "17|zgc" && p.multiple == Some(1.0)).unwrap();
    assert_eq!(zgc.ratio, Err("out of memory 6/6".into()));
    assert_eq!(ours.baselines.len(), 2);

    // The planted cost of 4.5 % is within what is reported of it.
    let cost = &study.tracers[0];
    let tracer = cost.summaries.iter().find(|s| s.configuration == "17|g1|lookback").unwrap();
    let (low, high) = tracer.geomean.as_ref().unwrap().interval.unwrap();
    assert!(low < 1.045 && 1.045 < high && high < 1.2, "{low} to {high}");

    // ZGC costs more than Serial here, by far; the row is over the column.
    let pair = study.matrices[0].pairs.iter().find(|p| p.a == "17|serial" && p.b == "17|zgc").unwrap();
    assert_eq!(pair.verdict, Verdict::Better);
    assert!(pair.ratio.as_ref().unwrap().value < 0.9);

    let document = Document::of(&study, HEAP).unwrap();
    let text = document.write(Form::Text);
    assert!(text.contains("Lower bound overheads of task clock at 2\u{d7} heap"), "{text}");
    assert!(document.figures().any(|figure| figure.name == "lbo-task-clock-threads"));
}
