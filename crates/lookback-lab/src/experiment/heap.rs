//! The heaps of an experiment: none, one size, or multiples of each workload's minimum.
//!
//! The constraint that shaped it: collectors trade time for space, so one heap says nothing of them (paper, section
//! 5.2). The grid is geometric, as a collector's work falls with the inverse of the room it has, and it contains 2x and
//! 4x, at which others report: the steps are cube roots of 2.

use super::document::{Node, Value};
use super::fields::{Fields, bytes_of, number_of};
use super::problem::{Placed, Problems};
use std::collections::BTreeMap;

/// `[heap]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heaps {
    pub(crate) choice: Choice,
    /// Sizes of collectors whose heap is none of these: Epsilon's holds all that is allocated.
    pub(crate) sizes: BTreeMap<String, Placed<u64>>,
}

/// What the heaps are.
#[derive(Debug, Clone, Default)]
pub(crate) enum Choice {
    /// As the JVM chooses.
    #[default]
    None,
    /// One for all.
    Bytes(u64),
    /// Multiples of a minimum.
    Multiples { multiples: Vec<f64>, of: Of },
}

/// Whose minimum a multiple is of.
#[derive(Debug, Clone)]
pub(crate) enum Of {
    /// The cell's own collector's, on its own JDK.
    Each,
    /// That of this configuration; without a JDK, on the cell's own.
    Configuration(Placed<String>),
}

/// The grid of so many heaps: 2^(k/3) for k from 0.
pub(crate) fn grid(count: u32) -> Vec<f64> {
    (0..count).map(|k| (f64::from(k) / 3.0).exp2()).collect()
}

/// A multiple of a minimum in bytes: rounded up to whole MiB, which is what HotSpot's regions divide.
pub(crate) fn sized(minimum: u64, multiple: f64) -> u64 {
    const MIB: f64 = (1 << 20) as f64;
    // Above 2^53 bytes a double is not exact, and no machine has such a heap.
    let mib = (minimum as f64 * multiple / MIB).ceil();
    (mib as u64).saturating_mul(1 << 20)
}

/// More heaps than this are no curve that anybody reads.
const MOST: i64 = 30;
/// The largest multiple: 2^30 of a minimum is more than any machine has.
const LARGEST: f64 = 1024.0;

/// Reads `[heap]`.
pub(crate) fn read(node: &Node, problems: &Problems) -> Heaps {
    let Some(fields) = Fields::of(node, "[heap]", problems) else { return Heaps::default() };
    let bytes = fields.bytes("bytes");
    let multiples = fields.node("multiples");
    let of = fields.text("of");
    let place = fields.place_of("multiples").clone();
    if multiples.is_none()
        && let Some(of) = &of
    {
        problems.say(&of.place, "`of` says whose minimum `multiples` are of, and there are none");
    }
    let choice = match (bytes, multiples) {
        (Some(_), Some(_)) => {
            problems.say(&place, "`multiples` and `bytes` exclude each other; leave one of them out");
            Choice::None
        }
        (Some(bytes), None) => Choice::Bytes(whole(&bytes, problems)),
        (None, Some(node)) => {
            let of = of.filter(|of| of.value != "each").map_or(Of::Each, Of::Configuration);
            match self::multiples(node, problems) {
                Some(multiples) => Choice::Multiples { multiples, of },
                None => Choice::None,
            }
        }
        (None, None) => Choice::None,
    };
    let sizes = fields.table_of_texts("sizes").unwrap_or_default().into_iter().filter_map(|(name, text)| {
        let bytes = bytes_of(&format!("sizes.{name}"), &text, problems)?;
        let place = bytes.place.clone();
        Some((name, Placed { value: whole(&bytes, problems), place }))
    });
    let sizes = sizes.collect();
    fields.finish("[heap]", &[("epsilon", "write `sizes = { epsilon = \"4g\" }`")]);
    Heaps { choice, sizes }
}

fn whole(bytes: &Placed<u64>, problems: &Problems) -> u64 {
    if !bytes.value.is_multiple_of(1 << 20) {
        problems.say(&bytes.place, "a heap is a whole number of MiB, for instance \"64m\"");
    }
    bytes.value
}

fn multiples(node: &Node, problems: &Problems) -> Option<Vec<f64>> {
    let items = match &node.value {
        Value::Integer(count @ 2..=MOST) => return Some(grid(u32::try_from(*count).ok()?)),
        Value::List(items) if !items.is_empty() => items,
        _ => {
            let said =
                format!("`multiples` is the number of heaps from 2 to {MOST}, or an array of multiples");
            problems.say(&node.place, said);
            return None;
        }
    };
    let mut all = Vec::new();
    for item in items {
        match number_of(item) {
            Some(number) if (1.0..=LARGEST).contains(&number) => {
                if all.contains(&number) {
                    problems.say(&item.place, format!("the multiple {number} stands twice"));
                }
                all.push(number);
            }
            Some(number) if number < 1.0 => {
                let said =
                    format!("{number} of a minimum heap is too small to run in: a multiple is at least 1");
                problems.say(&item.place, said);
            }
            Some(number) => {
                problems.say(&item.place, format!("a multiple is at most {LARGEST}, not {number}"))
            }
            None => problems.say(&item.place, format!("a multiple is a number, not {}", item.value.kind())),
        }
    }
    (all.len() == items.len()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_geometric_and_has_one_two_and_four() {
        let grid = grid(9);
        assert!([1.0, 2.0, 4.0].iter().all(|multiple| grid.contains(multiple)), "{grid:?}");
        for pair in grid.windows(2) {
            assert!((pair[1] / pair[0] - 2f64.cbrt()).abs() < 1e-12, "{grid:?}");
        }
    }

    #[test]
    fn a_heap_is_rounded_up_to_whole_mebibytes() {
        assert_eq!(sized(10 << 20, 1.0), 10 << 20);
        assert_eq!(sized(10 << 20, 2f64.cbrt()), 13 << 20);
        assert_eq!(sized(1, 1.0), 1 << 20);
    }
}
