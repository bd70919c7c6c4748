//! Made-up values beside the made-up records: overheads, tracers and comparisons for a report's form.
//!
//! The constraint that shaped it: a report shows values and does not care where they come from, so its form is tested
//! with values that are computed as plainly as can be. They must never be taken for statistics.

use lookback_lab::overhead::Roles;
use lookback_lab::report::{
    Estimate, Matrix, OverheadPoint, OverheadSummary, Overheads, Pair, Study, TracerCost, TracerPoint,
    TracerSummary, Verdict,
};

const COLLECTORS: [&str; 5] = ["17|serial", "17|parallel", "17|g1", "17|shenandoah", "17|zgc"];

fn estimate(value: f64, n: usize) -> Estimate {
    Estimate { value, interval: Some((value * 0.97, value * 1.035)), n }
}

/// Puts overheads, tracer costs and comparisons into a study.
pub(crate) fn add(study: &mut Study) {
    let task_clock =
        study.means.iter().find(|means| means.metric == "task_clock").cloned().unwrap_or_default();
    let mut overheads = Overheads {
        metric: "task_clock".into(),
        distillation: "pauses".into(),
        confidence: 95.0,
        ..Overheads::default()
    };
    let mut workloads: Vec<String> = task_clock.points.iter().map(|p| p.workload.clone()).collect();
    workloads.dedup();
    for workload in &workloads {
        let mine = task_clock.points.iter().filter(|p| p.workload == *workload);
        let values = mine.clone().filter_map(|p| p.mean.as_ref().ok()).map(|e| e.value);
        let least = values.fold(f64::MAX, f64::min) * 0.93;
        overheads.baselines.push((workload.clone(), "17|serial at 6.35\u{d7} heap (made up)".into()));
        for p in mine.filter(|p| COLLECTORS.contains(&p.configuration.as_str())) {
            overheads.points.push(OverheadPoint {
                workload: workload.clone(),
                configuration: p.configuration.clone(),
                multiple: p.multiple,
                ratio: p.mean.as_ref().map(|e| estimate(e.value / least, e.n)).map_err(Clone::clone),
            });
        }
    }
    let mut multiples: Vec<f64> = overheads.points.iter().filter_map(|p| p.multiple).collect();
    multiples.sort_by(f64::total_cmp);
    multiples.dedup();
    for configuration in COLLECTORS {
        for multiple in &multiples {
            let here = |p: &&OverheadPoint| {
                p.configuration == configuration && p.multiple == Some(*multiple) && p.workload != "gcbench"
            };
            let values: Vec<f64> = overheads
                .points
                .iter()
                .filter(here)
                .filter_map(|p| p.ratio.as_ref().ok())
                .map(|e| e.value)
                .collect();
            let n = values.len();
            let mean = |f: fn(f64) -> f64| values.iter().map(|v| f(*v)).sum::<f64>() / n as f64;
            overheads.summaries.push(OverheadSummary {
                configuration: configuration.into(),
                multiple: Some(*multiple),
                geomean: if n == 0 {
                    Err("no workload completed at every point".into())
                } else {
                    Ok(estimate(mean(f64::ln).exp(), n))
                },
                min: values.iter().copied().fold(f64::MAX, f64::min),
                max: values.iter().copied().fold(f64::MIN, f64::max),
                mean: mean(|v| v),
                roles: (n > 0).then(|| Roles { mutator: 0.7, gc: mean(|v| v) - 0.91, jit: 0.2, vm: 0.01 }),
                excluded: vec![("gcbench".into(), "a micro-benchmark".into())],
            });
        }
    }
    overheads.curves.clone_from(&overheads.summaries);
    study.overheads.push(overheads);
    study.tracers.push(tracers(&workloads));
    study.matrices.push(matrix());
}

fn tracers(workloads: &[String]) -> TracerCost {
    let mut cost = TracerCost { metric: "cpu".into(), confidence: 95.0, ..TracerCost::default() };
    for (configuration, base) in [("17|g1|lookback", 1.045), ("17|g1|lookback-off", 1.004)] {
        let ratio = |i: usize| base + 0.012 * (i as f64 - 2.0);
        for (i, workload) in workloads.iter().enumerate() {
            let missing = i == 1 && base < 1.01;
            cost.rows.push(TracerPoint {
                workload: workload.clone(),
                configuration: configuration.into(),
                ratio: if missing {
                    Err("wrong checksum in 2 of 6".into())
                } else {
                    Ok(estimate(ratio(i), 6))
                },
            });
        }
        cost.summaries.push(TracerSummary {
            configuration: configuration.into(),
            geomean: Ok(estimate(base, workloads.len())),
            median: base,
            worst: (workloads.last().cloned().unwrap_or_default(), ratio(workloads.len() - 1)),
        });
    }
    cost
}

fn matrix() -> Matrix {
    let mut pairs = Vec::new();
    for (i, a) in COLLECTORS.iter().enumerate() {
        for (j, b) in COLLECTORS.iter().enumerate().skip(i + 1) {
            let close = j == i + 1 && i == 3;
            pairs.push(Pair {
                a: (*a).into(),
                b: (*b).into(),
                ratio: Ok(estimate(1.0 - 0.05 * (j - i) as f64, 36)),
                verdict: if close { Verdict::Indistinguishable } else { Verdict::Better },
                more: close.then_some(14),
            });
        }
    }
    let procedure = "Made-up pairs: no test was made.".into();
    Matrix { metric: "task_clock".into(), procedure, pairs }
}
