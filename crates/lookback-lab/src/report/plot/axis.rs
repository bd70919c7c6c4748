//! Axes: what values become on paper, and where the ticks stand.
//!
//! The constraint that shaped it: plotters draws on straight axes, so a value is bent before it is drawn (logarithm, tail
//! of a distribution) and a tick carries the words of the value that it stands for.

/// How values lie on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bend {
    /// As they are.
    Straight,
    /// By their logarithm; all are above 0.
    Log,
    /// Percentiles by how rare what lies beyond is: 90, 99, 99.9 are equally far apart.
    Tail,
}

impl Bend {
    /// Where a value lies.
    pub(super) fn place(self, value: f64) -> f64 {
        match self {
            Bend::Straight => value,
            Bend::Log => value.max(f64::MIN_POSITIVE).log10(),
            Bend::Tail => -(1.0 - value.clamp(0.0, 99.9999) / 100.0).log10(),
        }
    }
}

/// An axis.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) title: String,
    pub(super) bend: Bend,
    /// From where to where, in places.
    pub(super) range: (f64, f64),
    /// Places and their words.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// A straight axis around values; `from_zero` when a length on it is to be compared.
    pub(super) fn straight(
        title: &str,
        values: impl Iterator<Item = f64>,
        from_zero: bool,
        most: usize,
    ) -> Axis {
        let (low, high) = extent(values);
        let low = if from_zero { low.min(0.0) } else { low };
        let pad = if high > low { (high - low) * 0.06 } else { high.abs().max(1.0) * 0.1 };
        let range = (if from_zero && low == 0.0 { 0.0 } else { low - pad }, high + pad);
        let step = step(range.1 - range.0, most);
        let ticks = multiples(range, step).map(|v| (v, decimal(v, step))).collect();
        Axis { title: title.into(), bend: Bend::Straight, range, ticks }
    }

    /// A logarithmic axis around values above 0; `suffix` follows the number of a tick.
    pub(super) fn log(title: &str, values: impl Iterator<Item = f64>, suffix: &str, most: usize) -> Axis {
        let (low, high) = extent(values.filter(|v| *v > 0.0));
        // No value above 0: an axis all the same.
        let (low, high) = if low > 0.0 { (low, high) } else { (1.0, 10.0) };
        let pad = if high > low { (high / low).powf(0.05) } else { 1.1 };
        let (low, high) = (low / pad, high * pad);
        let ticks = log_ticks(low, high, most)
            .into_iter()
            .map(|(v, step)| (v.log10(), format!("{}{suffix}", decimal(v, step))))
            .collect();
        Axis { title: title.into(), bend: Bend::Log, range: (low.log10(), high.log10()), ticks }
    }

    /// A logarithmic axis when the values need one, else a straight one.
    pub(super) fn fitting(title: &str, values: impl Iterator<Item = f64> + Clone, most: usize) -> Axis {
        let (low, high) = extent(values.clone());
        // A factor of four: what lies in the lower quarter of a straight axis can no longer be told apart.
        if low > 0.0 && high / low > 4.0 {
            Axis::log(title, values, "", most)
        } else {
            Axis::straight(title, values, false, most)
        }
    }

    /// Percentiles up to the highest that the data can tell.
    pub(super) fn percentiles(title: &str, highest: f64) -> Axis {
        let all = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999];
        let ticks: Vec<(f64, String)> =
            all.iter().filter(|p| **p <= highest).map(|p| (Bend::Tail.place(*p), format!("{p}"))).collect();
        let end = Bend::Tail.place(highest).max(1.0);
        Axis { title: title.into(), bend: Bend::Tail, range: (0.0, end * 1.02), ticks }
    }

    /// Names at 0, 1, 2 ... from the top down.
    pub(super) fn names(names: &[String]) -> Axis {
        let ticks = names.iter().enumerate().map(|(i, name)| (-(i as f64), name.clone())).collect();
        let range = (-(names.len() as f64) + 0.5, 0.5);
        Axis { title: String::new(), bend: Bend::Straight, range, ticks }
    }
}

/// The least and the greatest; from 0 to 1 when there is none.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values = values.filter(|v| v.is_finite());
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
    if low > high { (0.0, 1.0) } else { (low, high) }
}

/// A round step that gives at most so many ticks over a length.
fn step(length: f64, most: usize) -> f64 {
    let rough = length / most.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let factor =
        [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * power >= rough * 0.999_999).unwrap_or(10.0);
    factor * power
}

/// The multiples of a step within a range.
fn multiples(range: (f64, f64), step: f64) -> impl Iterator<Item = f64> {
    let first = (range.0 / step - 1e-9).ceil() as i64;
    let last = (range.1 / step + 1e-9).floor() as i64;
    (first..=last).map(move |i| i as f64 * step)
}

/// Values of ticks on a logarithmic axis, with the step that tells how many digits they need.
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<(f64, f64)> {
    // From the densest to the thinnest; the first that fits.
    let sets: [&[f64]; 5] = [
        &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
        &[1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0],
        &[1.0, 2.0, 3.0, 5.0],
        &[1.0, 3.0],
        &[1.0],
    ];
    let decades = || (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let within = |set: &[f64]| -> Vec<(f64, f64)> {
        let all = decades().flat_map(|d| set.iter().map(move |f| (f * 10f64.powi(d), f.fract(), d)));
        all.filter(|(v, ..)| *v >= low * 0.999_999 && *v <= high * 1.000_001)
            .map(|(v, fract, d)| (v, if fract == 0.0 { 10f64.powi(d) } else { 10f64.powi(d - 1) }))
            .collect()
    };
    if high / low < 2.5 {
        let step = step(high - low, most);
        return multiples((low, high), step).map(|v| (v, step)).collect();
    }
    sets.iter().map(|set| within(set)).find(|ticks| ticks.len() <= most).unwrap_or_else(|| {
        let ends = within(&[1.0]);
        let every = ends.len().div_ceil(most.max(1));
        ends.into_iter().step_by(every.max(1)).collect()
    })
}

/// A number with as many digits as a step needs.
fn decimal(value: f64, step: f64) -> String {
    let mut digits = 0;
    while digits < 9 && ((step * 10f64.powi(digits)).fract() * 1e6).round() % 1e6 != 0.0 {
        digits += 1;
    }
    let value = if value.abs() < step * 1e-6 { 0.0 } else { value };
    format!("{value:.*}", digits as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, word)| word.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        let axis = Axis::straight("", [0.0, 93.0].into_iter(), true, 5);
        assert_eq!(words(&axis), ["0", "20", "40", "60", "80"]);
        let axis = Axis::straight("", [1.012, 1.071].into_iter(), false, 6);
        assert_eq!(words(&axis), ["1.02", "1.04", "1.06"]);
        let axis = Axis::log("", [1.0, 6.35].into_iter(), "\u{d7}", 8);
        assert_eq!(words(&axis), ["1\u{d7}", "1.5\u{d7}", "2\u{d7}", "3\u{d7}", "4\u{d7}", "6\u{d7}"]);
        let axis = Axis::log("", [0.001, 900_000.0].into_iter(), "", 5);
        assert!((2..=5).contains(&axis.ticks.len()), "{:?}", axis.ticks);
    }

    #[test]
    fn one_value_and_no_value_have_an_axis() {
        for values in [vec![], vec![0.0], vec![7.5], vec![f64::NAN]] {
            for axis in [
                Axis::straight("", values.iter().copied(), false, 5),
                Axis::log("", values.iter().copied(), "", 5),
                Axis::fitting("", values.iter().copied(), 5),
            ] {
                assert!(axis.range.0 < axis.range.1 && axis.range.1.is_finite(), "{axis:?}");
            }
        }
    }

    #[test]
    fn the_tail_is_stretched_evenly() {
        let places = [90.0, 99.0, 99.9].map(|p| Bend::Tail.place(p));
        assert!((places[0] - 1.0).abs() < 1e-9 && (places[1] - 2.0).abs() < 1e-9);
        assert!((places[2] - 3.0).abs() < 1e-9);
        assert_eq!(words(&Axis::percentiles("", 99.5)), ["0", "50", "90", "99"]);
    }
}
