//! A heap as tables name it: `2x`, `64m`.
//!
//! The constraint that shaped it: heaps are compared across workloads by their multiple, whose bytes differ from
//! workload to workload, and a multiple came out of a computation, so it is compared by thousandths. Must not hold the
//! bytes of a multiple.

use crate::plan::HeapSize;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A heap, as what cells of different workloads have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeapPoint {
    /// Thousandths of the workload's minimum heap.
    Multiple(u64),
    /// Bytes.
    Bytes(u64),
    /// What the JVM chooses.
    Default,
}

impl HeapPoint {
    /// The point of a record's heap.
    pub fn of(heap: Option<HeapSize>) -> HeapPoint {
        match heap {
            None => HeapPoint::Default,
            Some(HeapSize { multiple: Some(multiple), .. }) => HeapPoint::multiple(multiple),
            Some(HeapSize { bytes, .. }) => HeapPoint::Bytes(bytes),
        }
    }

    /// The point of a multiple.
    pub fn multiple(multiple: f64) -> HeapPoint {
        HeapPoint::Multiple((multiple * 1000.0).round() as u64)
    }

    /// The multiple; none for another heap.
    pub fn as_multiple(self) -> Option<f64> {
        match self {
            HeapPoint::Multiple(thousandths) => Some(thousandths as f64 / 1000.0),
            _ => None,
        }
    }
}

impl fmt::Display for HeapPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeapPoint::Multiple(thousandths) => write!(f, "{}x", *thousandths as f64 / 1000.0),
            HeapPoint::Bytes(bytes) => write!(f, "{}m", bytes >> 20),
            HeapPoint::Default => f.write_str("default"),
        }
    }
}

impl FromStr for HeapPoint {
    type Err = ();

    /// `2x`, `1.25x`, `64m`, `2g`.
    fn from_str(text: &str) -> Result<HeapPoint, ()> {
        let digits = text.len().checked_sub(1).filter(|&at| text.is_char_boundary(at)).ok_or(())?;
        let (number, unit) = text.split_at(digits);
        let number: f64 = number.parse().map_err(|_| ())?;
        if !number.is_finite() || number <= 0.0 {
            return Err(());
        }
        match unit {
            "x" => Ok(HeapPoint::multiple(number)),
            "m" => Ok(HeapPoint::Bytes((number * f64::from(1 << 20)) as u64)),
            "g" => Ok(HeapPoint::Bytes((number * f64::from(1 << 30)) as u64)),
            _ => Err(()),
        }
    }
}

impl Serialize for HeapPoint {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_are_read_as_they_are_written() {
        for text in ["2x", "1.189x", "64m"] {
            assert_eq!(text.parse::<HeapPoint>().unwrap().to_string(), text);
        }
        assert_eq!("2g".parse(), Ok(HeapPoint::Bytes(2 << 30)));
        for wrong in ["", "x", "g1", "17", "-1x", "ü"] {
            assert_eq!(wrong.parse::<HeapPoint>(), Err(()), "{wrong}");
        }
    }

    #[test]
    fn a_multiple_wins_over_its_bytes() {
        let of = |multiple| HeapPoint::of(Some(HeapSize { multiple, bytes: 64 << 20 }));
        assert_eq!(of(Some(2.000_000_1)), "2x".parse().unwrap());
        assert_eq!(of(None), "64m".parse().unwrap());
        assert_eq!(HeapPoint::of(None).as_multiple(), None);
    }
}
