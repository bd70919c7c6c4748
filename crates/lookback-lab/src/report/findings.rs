//! What an experiment found, in sentences.
//!
//! The constraint that shaped it: a sentence says only what its values say, with the interval and what it rests on; where
//! intervals overlap it does not name a winner. Bad news stands as plainly as good news.

use super::plot::{heap, title_of};
use super::quantity::change;
use super::study::{Estimate, Overheads, Study, TracerCost, Verdict};
use super::tables::nearest;
use crate::error::counted;

/// The findings of a study, the most important first.
pub(super) fn findings(study: &Study, wanted: f64) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    out.extend(study.overheads.iter().filter_map(|overheads| overhead(overheads, wanted)));
    out.extend(study.tracers.iter().flat_map(tracer));
    for matrix in &study.matrices {
        let told = matrix.pairs.iter().filter(|p| p.verdict != Verdict::Indistinguishable).count();
        if !matrix.pairs.is_empty() {
            out.push(format!(
                "By {}, {told} of {} pairs of configurations can be told apart.",
                title_of(&matrix.metric),
                matrix.pairs.len()
            ));
        }
    }
    out.push(invocations(study));
    out
}

fn show(estimate: &Estimate) -> String {
    match estimate.interval {
        Some((low, high)) => format!("{:.3} [{low:.3}, {high:.3}]", estimate.value),
        None => format!("{:.3}", estimate.value),
    }
}

/// Whether two intervals have a value in common; without intervals nothing can be said.
fn overlap(a: &Estimate, b: &Estimate) -> bool {
    match (a.interval, b.interval) {
        (Some(a), Some(b)) => a.0 <= b.1 && b.0 <= a.1,
        _ => true,
    }
}

fn overhead(overheads: &Overheads, wanted: f64) -> Option<String> {
    let multiple = nearest(overheads.summaries.iter().filter_map(|s| s.multiple), wanted);
    let here = overheads.summaries.iter().filter(|s| s.multiple == multiple);
    let mut known: Vec<(&str, &Estimate)> =
        here.filter_map(|s| Some((s.configuration.as_str(), s.geomean.as_ref().ok()?))).collect();
    known.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let (best, rest) = known.split_first()?;
    let at = multiple.map(|m| format!("At {} heap", heap(m))).unwrap_or_else(|| "At the heaps given".into());
    let what = format!(
        "{at}, {} has the lowest lower bound overhead of {}, distilled by {}: {}{}",
        best.0,
        title_of(&overheads.metric),
        overheads.distillation,
        show(best.1),
        over(best.1.n)
    );
    let close: Vec<&str> = rest.iter().filter(|(_, e)| overlap(best.1, e)).map(|(name, _)| *name).collect();
    let tie = if close.is_empty() {
        String::new()
    } else {
        format!("; the intervals of {} overlap with it", close.join(", "))
    };
    let worst = match rest.last() {
        Some((name, estimate)) => format!(" The highest is {name}: {}.", show(estimate)),
        None => String::new(),
    };
    Some(format!("{what}{tie}.{worst}"))
}

/// What a figure is over, when it is over several.
fn over(workloads: usize) -> String {
    if workloads == 1 { String::new() } else { format!(" in the geometric mean over {workloads} workloads") }
}

fn tracer(cost: &TracerCost) -> Vec<String> {
    let sentence = |s: &super::study::TracerSummary| {
        let estimate = s.geomean.as_ref().ok()?;
        let (interval, none) = match estimate.interval {
            Some((low, high)) => (
                format!(" [{}, {}]", change(low), change(high)),
                if low <= 1.0 && high >= 1.0 { "; no difference lies within the interval" } else { "" },
            ),
            None => (String::new(), ""),
        };
        Some(format!(
            "{} changes {} by {}{interval}{}, by {} in the median and by {} in the worst, {}{none}.",
            s.configuration,
            title_of(&cost.metric),
            change(estimate.value),
            over(estimate.n),
            change(s.median),
            change(s.worst.1),
            s.worst.0
        ))
    };
    cost.summaries.iter().filter_map(sentence).collect()
}

fn invocations(study: &Study) -> String {
    let tally = &study.tally;
    let left = tally.all - tally.counted;
    let planned = match study.planned {
        Some((cells, invocations)) => format!(" of {invocations} planned in {}", counted(cells, "cell")),
        None => String::new(),
    };
    let mut text = format!("{} ran{planned}; {} count", counted(tally.all, "attempt"), tally.counted);
    if left > 0 {
        let mut causes: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
        for ((_, cause), n) in &tally.causes {
            *causes.entry(cause).or_default() += n;
        }
        let causes: Vec<String> = causes.iter().map(|(cause, n)| format!("{cause} {n}")).collect();
        text += &format!(", {left} do not: {}", causes.join(", "));
    }
    text + "."
}
