//! Ratios, intervals and values of metrics as the lab's tables write them.
//!
//! The constraint that shaped it: a figure has as many digits as its interval bears, and a missing one is a dash and
//! never a zero. Must not compute a figure.

use lookback_lab::metric::{Unit, metric_of};
use lookback_lab::statistics::{Estimate, Interval};

/// What stands for a figure that there is none of.
pub(super) const NONE: &str = "-";

/// A ratio as the change that it is: `+2.1 %`.
pub(super) fn change(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

/// An interval of ratios as changes: `-0.3 to +4.5 %`.
pub(super) fn changes(interval: Option<Interval>) -> String {
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    interval.map_or(NONE.into(), |i| format!("{:+.1} to {:+.1} %", percent(i.low), percent(i.high)))
}

/// A ratio: `1.234`.
pub(super) fn ratio(value: f64) -> String {
    format!("{value:.3}")
}

/// An interval of ratios: `1.201 to 1.267`.
pub(super) fn ratios(interval: Option<Interval>) -> String {
    interval.map_or(NONE.into(), |i| format!("{:.3} to {:.3}", i.low, i.high))
}

/// Ratio and interval.
pub(super) fn estimate(estimate: Estimate) -> [String; 2] {
    [ratio(estimate.value), ratios(estimate.interval)]
}

/// By how much hosts differ: the standard deviation of a ratio between them, and how much of the variation that is.
pub(super) fn between(deviation: f64, percent: f64) -> [String; 2] {
    [format!("{:.1} %", (deviation.exp() - 1.0) * 100.0), format!("{percent:.0} %")]
}

/// A p-value: `0.031`, `<0.001`.
pub(super) fn p_value(p: Option<f64>) -> String {
    match p {
        None => NONE.into(),
        Some(p) if p < 0.001 => "<0.001".into(),
        Some(p) => format!("{p:.3}"),
    }
}

/// A number of invocations.
pub(super) fn number(n: Option<usize>) -> String {
    n.map_or(NONE.into(), |n| n.to_string())
}

/// A value of a metric in its unit: `1.52 s`.
pub(super) fn value(metric: &str, value: f64) -> String {
    let scaled = |steps: &[(f64, &str)]| {
        let (by, unit) =
            steps.iter().find(|(by, _)| value >= *by).or(steps.last()).copied().unwrap_or((1.0, ""));
        format!("{:.2} {unit}", value / by)
    };
    match metric_of(metric).map(|metric| metric.unit) {
        Some(Unit::Nanoseconds) => scaled(&[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")]),
        Some(Unit::Bytes) => scaled(&[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")]),
        Some(Unit::Percent) => format!("{value:.1} %"),
        Some(Unit::Count) | None => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_missing_ones_are_dashes() {
        assert_eq!(change(1.0213), "+2.1 %");
        assert_eq!(changes(Some(Interval { low: 0.997, high: 1.045 })), "-0.3 to +4.5 %");
        assert_eq!(between(0.0198, 61.7), ["2.0 %", "62 %"]);
        assert_eq!(p_value(Some(0.0004)), "<0.001");
        assert_eq!([changes(None), p_value(None), number(None)], [NONE, NONE, NONE]);
        assert_eq!(value("cpu", 1.52e9), "1.52 s");
        assert_eq!(value("cpu", 12.0), "12.00 ns");
    }
}
