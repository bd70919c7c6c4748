//! How a number is shown: its unit scaled, so many digits and no more.
//!
//! The constraint that shaped it: numbers that are compared stand in one unit with one number of digits, so both are
//! chosen for all like columns of a table or a whole axis, and not for each number. It must not change what is exported: files for tools
//! hold base units.

use crate::metric::{Unit, metric_of};

/// What a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Of a metric's unit.
    Of(Unit),
    /// A ratio of two like figures; 1 is no difference.
    Ratio,
    /// A number without a unit that the lab knows.
    Plain,
}

/// A unit that was chosen for a set of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// How many base units it has.
    pub factor: f64,
    /// Its name; empty for none.
    pub name: &'static str,
    /// Digits after the point.
    pub digits: usize,
}

impl Quantity {
    /// What a metric is, by its name; a workload's own metric is plain.
    pub fn of_metric(name: &str) -> Quantity {
        metric_of(name).map_or(Quantity::Plain, |metric| Quantity::Of(metric.unit))
    }

    /// What a workload's own metric is, by the unit of its `result` line.
    pub fn of_unit(unit: &str) -> Quantity {
        match unit {
            "ns" => Quantity::Of(Unit::Nanoseconds),
            "bytes" => Quantity::Of(Unit::Bytes),
            "count" => Quantity::Of(Unit::Count),
            "%" => Quantity::Of(Unit::Percent),
            "ratio" => Quantity::Ratio,
            _ => Quantity::Plain,
        }
    }

    /// The base unit's name, as `result` lines have it.
    pub fn base(self) -> &'static str {
        match self {
            Quantity::Of(Unit::Nanoseconds) => "ns",
            Quantity::Of(Unit::Bytes) => "bytes",
            Quantity::Of(Unit::Count) => "count",
            Quantity::Of(Unit::Percent) => "%",
            Quantity::Ratio => "ratio",
            Quantity::Plain => "value",
        }
    }

    /// The unit and the digits for numbers that stand together.
    pub fn scale(self, values: impl IntoIterator<Item = f64>) -> Scale {
        let mut sizes: Vec<f64> =
            values.into_iter().filter(|value| value.is_finite()).map(f64::abs).filter(|v| *v > 0.0).collect();
        sizes.sort_by(f64::total_cmp);
        // The median: one long outlier does not turn all others into thousandths.
        let middle = sizes.get(sizes.len() / 2).copied().unwrap_or(1.0);
        let (factor, name) = match self {
            Quantity::Of(Unit::Nanoseconds) => {
                pick(middle, &[(1e9, "s"), (1e6, "ms"), (1e3, "\u{b5}s"), (1.0, "ns")])
            }
            Quantity::Of(Unit::Bytes) => {
                let (kib, mib, gib) = (1024.0, 1048576.0, 1073741824.0);
                pick(middle, &[(gib, "GiB"), (mib, "MiB"), (kib, "KiB"), (1.0, "bytes")])
            }
            // Below ten thousand all digits of a count are easier to read.
            Quantity::Of(Unit::Count) if middle < 1e4 => (1.0, ""),
            Quantity::Of(Unit::Count) => pick(middle, &[(1e9, "G"), (1e6, "M"), (1e3, "k")]),
            Quantity::Of(Unit::Percent) => (1.0, "%"),
            Quantity::Ratio | Quantity::Plain => (1.0, ""),
        };
        let whole = sizes.iter().all(|value| (value / factor).fract() == 0.0);
        let digits = match self {
            Quantity::Ratio => 3,
            Quantity::Of(Unit::Percent) => 2,
            _ if whole => 0,
            _ => match middle / factor {
                m if m >= 1000.0 => 0,
                m if m >= 100.0 => 1,
                m if m >= 1.0 => at_least(2, sizes[0] / factor),
                _ => at_least(3, sizes[0] / factor),
            },
        };
        Scale { factor, name, digits }
    }
}

fn pick(size: f64, units: &[(f64, &'static str)]) -> (f64, &'static str) {
    units.iter().copied().find(|(factor, _)| size >= *factor).unwrap_or(units[units.len() - 1])
}

/// `usual` digits after the point, or so many more that the smallest of the numbers has two that say something.
fn at_least(usual: usize, smallest: f64) -> usize {
    let needed = if smallest >= 0.1 {
        2
    } else if smallest >= 0.01 {
        3
    } else {
        4
    };
    usual.max(needed)
}

impl Scale {
    /// A number in this unit, without its name.
    pub fn show(&self, value: f64) -> String {
        let text = format!("{:.*}", self.digits, value / self.factor);
        // What rounds to nothing has no sign.
        match text.strip_prefix('-') {
            Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
            _ => text,
        }
    }
}

/// A number alone, with its unit: `12.3 ms`.
pub(super) fn alone(quantity: Quantity, value: f64) -> String {
    let scale = quantity.scale([value]);
    match scale.name {
        "" => scale.show(value),
        "%" => format!("{} %", scale.show(value)),
        name => format!("{} {name}", scale.show(value)),
    }
}

/// A ratio as the change that it is: `+3.1 %`.
pub(super) fn change(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_unit_and_one_number_of_digits() {
        let ns = Quantity::Of(Unit::Nanoseconds);
        let scale = ns.scale([1.5e6, 2.25e6, 9.1e9]);
        assert_eq!(
            (scale.name, scale.show(1.5e6), scale.show(9.1e9)),
            ("ms", "1.50".into(), "9100.00".into())
        );
        assert_eq!(alone(Quantity::Of(Unit::Bytes), 18.0 * 1048576.0), "18 MiB");
        assert_eq!(alone(Quantity::Of(Unit::Count), 12_340.0), "12.34 k");
        assert_eq!(alone(Quantity::Of(Unit::Count), 9_340.0), "9340");
        assert_eq!(alone(Quantity::Ratio, 1.0 / 3.0), "0.333");
        assert_eq!(ns.scale([]).show(0.0), "0", "no values at all");
        assert_eq!(ns.scale([44e6, 1.5e9, 2.5e9]).show(44e6), "0.044", "two digits of the smallest");
    }

    #[test]
    fn what_rounds_to_nothing_has_no_sign() {
        assert_eq!(Quantity::Ratio.scale([1.0]).show(-0.0001), "0.000");
        assert_eq!(Quantity::Ratio.scale([1.0]).show(-0.001), "-0.001");
        assert_eq!((change(1.0312), change(0.95)), ("+3.1 %".into(), "-5.0 %".into()));
    }
}
