//! Newtypes for the units and indices that cross a boundary.
//!
//! A bare integer tells neither its unit nor its origin; these do. They must stay plain data.

use serde::{Deserialize, Serialize};

/// A point in time or a duration, nanoseconds of `CLOCK_MONOTONIC` of the traced machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The time that passed since `earlier`; zero when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// This time moved by `by` nanoseconds, saturating.
    #[must_use]
    pub const fn plus(self, by: u64) -> Nanos {
        Nanos(self.0.saturating_add(by))
    }

    /// Milliseconds, for people.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// A number with a comma between the thousands, for people: `12,345`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Identifies a traced method within one recording: 1 to 2^30 - 1. Zero never occurs, so that a zero slot
/// means "not written yet".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MethodId(pub u32);

impl MethodId {
    /// The largest identifier that a slot can carry.
    pub const MAX: u32 = (1 << 30) - 1;
}

/// Identifies a thread within one recording. Never reused, unlike the operating system's thread ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThreadKey(pub u32);

impl ThreadKey {
    /// Set in the key of a virtual thread, which has no slab and so no number of its own.
    const VIRTUAL: u32 = 1 << 31;

    /// The key of the virtual thread with this Java id. Two threads have the same only when two billion began between
    /// them.
    #[must_use]
    pub const fn of_virtual(tid: u64) -> ThreadKey {
        ThreadKey(tid as u32 | Self::VIRTUAL)
    }

    /// The Java id of a virtual thread, as far as its key tells it: the low 31 bits.
    #[must_use]
    pub const fn virtual_tid(self) -> Option<u64> {
        if self.is_virtual() { Some((self.0 & !Self::VIRTUAL) as u64) } else { None }
    }

    /// Whether it is a virtual thread's.
    #[must_use]
    pub const fn is_virtual(self) -> bool {
        self.0 & Self::VIRTUAL != 0
    }
}

/// Counts a thread's chunks from 0; a hole in the sequence is a known gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u32);

/// A point in time, ticks of the clock that a ring file names in its header; in an incident file, and where
/// that clock is `CLOCK_MONOTONIC`, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticks(pub u64);

/// Names a text of the definitions; see [`crate::definitions`]. 0 is no name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// Names a process of the definitions. 0 is an unknown one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(pub u32);

/// Names an event type of the definitions. 0 is an unknown one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

/// A category's place in the table of a ring file; 0 is the category without a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CategoryIndex(pub u16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!(
            [0, 123, 1_234, 123_456, 1_234_567].map(count),
            ["0", "123", "1,234", "123,456", "1,234,567"]
        );
    }
}
