//! [`ClockMap`]: from the ticks of a ring file's clock to nanoseconds.
//!
//! The constraint: the snapshots come from a file that anybody may have written, and each is a little wrong,
//! because two clocks cannot be read at once. So nothing here overflows or goes back, and the rate beyond
//! the ends is taken over a second at least. It reads no clock.

use crate::region::u64_at;
use crate::ring_file::{ClockKind, Header, SNAPSHOT_BYTES, SNAPSHOTS};
use crate::{Nanos, Ticks};

/// Turns ticks into nanoseconds of `CLOCK_MONOTONIC`: straight lines from one clock snapshot to the next, and
/// beyond the first and the last. Later ticks never give an earlier time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockMap {
    /// Ascending in both; empty for a clock that is `CLOCK_MONOTONIC` itself.
    points: Vec<(Ticks, Nanos)>,
    ticks_per_second: u64,
}

impl ClockMap {
    /// The map of a file: `snapshots` is what stands in it from [`SNAPSHOTS_AT`](crate::ring_file::SNAPSHOTS_AT) on, in the order of the
    /// file. What cannot be (a clock that goes back) is left out.
    #[must_use]
    pub fn read(header: &Header, snapshots: &[u8]) -> ClockMap {
        let entries = snapshots.chunks_exact(SNAPSHOT_BYTES).take(SNAPSHOTS);
        let points = entries.filter_map(|entry| Some((Ticks(u64_at(entry, 0)?), Nanos(u64_at(entry, 8)?))));
        ClockMap::new(header.clock, header.ticks_per_second, points.filter(|point| point.0.0 != 0))
    }

    /// A map of snapshots in any order.
    pub fn new(
        clock: ClockKind,
        ticks_per_second: u64,
        points: impl IntoIterator<Item = (Ticks, Nanos)>,
    ) -> ClockMap {
        let mut points: Vec<_> = points.into_iter().filter(|_| clock != ClockKind::Monotonic).collect();
        points.sort_unstable();
        points.dedup_by(|next, last| next.0 <= last.0 || next.1 <= last.1);
        ClockMap { points, ticks_per_second: ticks_per_second.max(1) }
    }

    /// The time at `ticks`; saturating, whatever the snapshots say.
    #[must_use]
    pub fn nanos(&self, ticks: Ticks) -> Nanos {
        let next = self.points.partition_point(|point| point.0 <= ticks);
        match (next.checked_sub(1).and_then(|i| self.points.get(i)), self.points.get(next)) {
            (None, None) => Nanos(ticks.0),
            (Some(&(t0, n0)), Some(&(t1, n1))) => {
                let ahead = scale(ticks.0 - t0.0, n1.0 - n0.0, t1.0 - t0.0);
                n0.plus(ahead)
            }
            (Some(&last), None) => {
                let far =
                    self.points.iter().rev().find(|point| last.0.0 - point.0.0 >= self.ticks_per_second);
                let (ticks_of, nanos_of) = self.slope(far.copied().unwrap_or(last), last);
                last.1.plus(scale(ticks.0 - last.0.0, nanos_of, ticks_of))
            }
            (None, Some(&first)) => {
                let far = self.points.iter().find(|point| point.0.0 - first.0.0 >= self.ticks_per_second);
                let (ticks_of, nanos_of) = self.slope(first, far.copied().unwrap_or(first));
                Nanos(first.1.0.saturating_sub(scale(first.0.0 - ticks.0, nanos_of, ticks_of)))
            }
        }
    }

    /// Ticks and nanoseconds between two snapshots, or of a second as the header says when they are the
    /// same: over less than a second the error of each weighs too much.
    fn slope(&self, from: (Ticks, Nanos), to: (Ticks, Nanos)) -> (u64, u64) {
        match to.0.0 - from.0.0 {
            0 => (self.ticks_per_second, 1_000_000_000),
            ticks => (ticks, to.1.0 - from.1.0),
        }
    }
}

/// `ticks` x `nanos` / `per`, saturating; `per` is not 0.
fn scale(ticks: u64, nanos: u64, per: u64) -> u64 {
    u64::try_from(u128::from(ticks) * u128::from(nanos) / u128::from(per)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_nanoseconds_by_straight_lines() {
        let points = [(1_000, 10_000), (2_000, 10_500), (6_000, 14_500), (5_000, 99), (5_500, 13_000)];
        let points = points.map(|(t, n)| (Ticks(t), Nanos(n)));
        let map = ClockMap::new(ClockKind::Tsc, 4_000, points);
        let nanos = |t| map.nanos(Ticks(t)).0;
        assert_eq!((nanos(1_000), nanos(1_500), nanos(2_000)), (10_000, 10_250, 10_500));
        assert_eq!(nanos(6_000), 14_500);
        assert_eq!(nanos(7_000), 15_500, "the last second goes on: 4,000 ticks are 4,000 ns");
        assert_eq!(nanos(0), 10_000 - 666, "and so does the first: 4,500 ticks are 3,000 ns");
        assert!(nanos(u64::MAX) > u64::MAX / 2, "what is far off saturates");
    }

    #[test]
    fn one_snapshot_goes_by_the_headers_rate_and_none_is_the_identity() {
        let map = ClockMap::new(ClockKind::Tsc, 2_000_000_000, [(Ticks(100), Nanos(1_000))]);
        assert_eq!((map.nanos(Ticks(300)).0, map.nanos(Ticks(0)).0), (1_100, 950));
        let map = ClockMap::new(ClockKind::Monotonic, 7, [(Ticks(1), Nanos(9))]);
        assert_eq!(map.nanos(Ticks(42)), Nanos(42));
    }
}
