//! [`Clock`]: the time of events, and the clock snapshots that tie it to `CLOCK_MONOTONIC`.
//!
//! The constraint: it is read for every event, so it is the processor's counter where that runs at one rate on
//! all cores, about twice as fast as `clock_gettime`. What the counter's rate is nobody knows exactly, so
//! whoever records and finds the latest snapshot older than a second takes another. How its two words stay
//! together is in `pair.rs`. What converts ticks is in the format crate.

#[cfg_attr(target_arch = "x86_64", path = "counter_x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "counter_aarch64.rs")]
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), path = "counter_none.rs")]
mod counter;

use crate::mapping::Mapping;
use crate::pair;
use lookback_format::ring_file::{ClockKind, SNAPSHOT_BYTES, SNAPSHOTS, SNAPSHOTS_AT, header, snapshot_slot};
use lookback_format::{Nanos, Ticks};
use std::sync::atomic::{AtomicU64, Ordering};

/// How often both clocks are read for one snapshot; the closest pair is taken.
const ATTEMPTS: u32 = 5;

/// A pair that lies further apart was interrupted between the readings: it is not kept. About 5 us.
const FAR_APART: u64 = 10_000;

/// How long the counter is watched at the creation to know its rate: 1 ms, which two readings of 20 ns
/// uncertainty each tell to 40 millionths.
const CALIBRATION: u64 = 1_000_000;

/// The clock of a recorder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    counts: bool,
    /// Ticks between two snapshots; none are taken when it is the largest.
    pub(crate) period: i64,
}

/// The clock to use for new files: the counter if it can be trusted.
pub(crate) fn best() -> ClockKind {
    if counter::constant() { counter::KIND } else { ClockKind::Monotonic }
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) fn monotonic() -> Nanos {
    Nanos(read(libc::CLOCK_MONOTONIC))
}

/// Nanoseconds since 1970.
pub(crate) fn wall() -> u64 {
    read(libc::CLOCK_REALTIME)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec; the clocks used exist on every Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(clock, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

impl Clock {
    /// The clock of a file; `None` when this machine does not have it.
    pub(crate) fn of(kind: ClockKind, ticks_per_second: u64) -> Option<Clock> {
        match kind {
            ClockKind::Monotonic => Some(Clock { counts: false, period: i64::MAX }),
            kind if kind == counter::KIND => {
                Some(Clock { counts: true, period: i64::try_from(ticks_per_second).unwrap_or(i64::MAX) })
            }
            _ => None,
        }
    }

    /// The time now.
    #[inline(always)]
    pub(crate) fn now(self) -> Ticks {
        if self.counts { Ticks(counter::read()) } else { self.slow_now() }
    }

    #[inline(never)]
    fn slow_now(self) -> Ticks {
        Ticks(monotonic().0)
    }

    /// Ticks and nanoseconds of the same moment, and how many ticks apart they were read.
    pub(crate) fn pair(self) -> (Ticks, Nanos, u64) {
        if !self.counts {
            let now = monotonic();
            return (Ticks(now.0), now, 0);
        }
        let attempt = |_| {
            let before = counter::read_in_order();
            let nanos = monotonic();
            let apart = counter::read_in_order().wrapping_sub(before);
            (Ticks(before.wrapping_add(apart / 2)), nanos, apart)
        };
        (0..ATTEMPTS).map(attempt).min_by_key(|pair| pair.2).unwrap_or_default()
    }

    /// Ticks of a second, measured from a pair taken earlier on; waits until that is long enough ago.
    pub(crate) fn calibrate(self, earlier: (Ticks, Nanos, u64)) -> u64 {
        loop {
            let (ticks, nanos, _) = self.pair();
            let passed = nanos.since(earlier.1).0;
            if passed >= CALIBRATION {
                let ticks = u128::from(ticks.0.wrapping_sub(earlier.0.0));
                return u64::try_from(ticks * 1_000_000_000 / u128::from(passed)).unwrap_or(u64::MAX);
            }
            std::hint::spin_loop();
        }
    }

    /// Takes a snapshot, unless another thread is at it. For who found the latest older than
    /// [`Clock::period`], and at opening.
    #[cold]
    #[inline(never)]
    pub(crate) fn snapshot(self, mapping: &Mapping) {
        if !self.counts {
            return;
        }
        let latest = mapping.word(header::SNAPSHOT_LATEST);
        // Relaxed: the exchange only chooses one thread; what it writes is published by `keep`.
        let seen = latest.load(Ordering::Relaxed);
        let now = self.now().0;
        if latest.compare_exchange(seen, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let (ticks, nanos, apart) = self.pair();
            if apart <= FAR_APART {
                Clock::keep(mapping, ticks, nanos);
            }
        }
    }

    /// Writes a snapshot into the table. A place is written again 32 snapshots later at the earliest, so two
    /// writers meet there only if one of them stood still for half a minute; what they could mix up then
    /// is one line of the conversion, for as long as that snapshot is kept.
    pub(crate) fn keep(mapping: &Mapping, ticks: Ticks, nanos: Nanos) {
        // Relaxed: numbers the snapshots, no more.
        let n = mapping.word(header::SNAPSHOT_COUNT).fetch_add(1, Ordering::Relaxed);
        pair::store(place(mapping, snapshot_slot(n)), ticks.0, nanos.0);
    }
}

/// The snapshots of a file, in no particular order.
pub(crate) fn snapshots(mapping: &Mapping) -> Vec<(Ticks, Nanos)> {
    let pairs = (0..SNAPSHOTS).filter_map(|slot| pair::load(place(mapping, slot)));
    pairs.map(|(ticks, nanos)| (Ticks(ticks), Nanos(nanos))).collect()
}

fn place(mapping: &Mapping, slot: usize) -> [&AtomicU64; 2] {
    let at = SNAPSHOTS_AT + slot % SNAPSHOTS * SNAPSHOT_BYTES;
    [mapping.word(at), mapping.word(at + 8)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_format::ring_file::{ClockMap, DEFINITIONS_AT};

    #[test]
    fn ticks_become_the_time_at_which_they_were_read() {
        let kind = best();
        let mapping = Mapping::private(DEFINITIONS_AT).unwrap();
        let unmeasured = Clock::of(kind, 1).unwrap();
        let rate = unmeasured.calibrate(unmeasured.pair());
        let clock = Clock::of(kind, rate).unwrap();
        clock.snapshot(&mapping);
        let mut times = Vec::new();
        for _ in 0..1_000 {
            times.push((monotonic(), clock.now(), monotonic()));
        }
        let map = ClockMap::new(kind, rate, snapshots(&mapping));
        // Snapshot, rate and reading are each a little off; a microsecond is 40 times what is usual.
        for (before, ticks, after) in times {
            let time = map.nanos(ticks);
            let (early, late) = (before.0.saturating_sub(1_000), after.plus(1_000).0);
            assert!((early..=late).contains(&time.0), "{before:?} {time:?} {after:?}");
        }
    }

    #[test]
    fn a_damaged_table_gives_no_snapshot_that_is_half_written() {
        let mapping = Mapping::private(DEFINITIONS_AT).unwrap();
        mapping.word(header::SNAPSHOT_COUNT).store(u64::MAX, Ordering::Relaxed);
        Clock::keep(&mapping, Ticks(7), Nanos(8));
        Clock::keep(&mapping, Ticks(9), Nanos(10));
        place(&mapping, 5)[1].store(11, Ordering::Relaxed);
        let mut found = snapshots(&mapping);
        found.sort();
        assert_eq!(found, [(Ticks(7), Nanos(8)), (Ticks(9), Nanos(10))]);
    }
}
