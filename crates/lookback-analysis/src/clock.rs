//! When a slot was written, from the stamps around it.
//!
//! The constraint that shaped it: most slots carry no time. What is known of them is an interval: not before
//! the last stamp, not after the next one, and not later than one tick (and the latest delay of a tick) after
//! the last stamp, because the first slot after a tick is always stamped. Slots are spread evenly over the
//! likely part of that interval; the whole width is their timing error. Times never run backwards.

use lookback_format::Nanos;
use lookback_format::incident::Manifest;

use crate::pieces::Piece;

/// Low bits of the tick counter that a TICK record carries.
const COUNTER: u64 = (1 << lookback_format::slot::PAYLOAD_BITS) - 1;

/// How a recording's clock ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    epoch: u64,
    tick: u64,
    late: u64,
}

impl Ticks {
    pub(crate) fn new(epoch: Nanos, tick: Nanos, late: Nanos) -> Self {
        // A tick above an hour or a delay above a day are damage; bounding them keeps the sums below exact.
        Ticks {
            epoch: epoch.0,
            tick: tick.0.clamp(1, 3_600_000_000_000),
            late: late.0.min(86_400_000_000_000),
        }
    }

    /// The time at which the tick with these low bits began, given a time that the slot is not older than.
    fn begin(&self, low: u32, not_before: u64) -> u64 {
        // The word that holds the counter may lag the clock by the latest delay.
        let slack = (self.late / self.tick + 1).min(COUNTER / 4);
        let from = (not_before.saturating_sub(self.epoch) / self.tick).saturating_sub(slack);
        let n = from + (u64::from(low).wrapping_sub(from) & COUNTER);
        self.epoch.saturating_add(n.saturating_mul(self.tick))
    }
}

/// The clock of one thread, fed with its chunks in order.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    ticks: Ticks,
    now: u64,
    first: u64,
    last: u64,
    /// The next slot lies in `lo..=hi`; `exact` = at `lo`.
    lo: u64,
    hi: u64,
    exact: bool,
}

/// Times of the slots in one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Time of the next slot.
    pub(crate) at: u64,
    /// Timing error of the first slot, and of the others.
    pub(crate) error: (u32, u32),
    whole: u64,
    part: u64,
    rest: u64,
    slots: u64,
}

impl Run {
    /// Moves on to the next slot.
    #[inline]
    pub(crate) fn step(&mut self) {
        // Bresenham: exact for every width, no division a slot.
        self.at += self.whole;
        self.rest += self.part;
        if self.rest >= self.slots {
            self.rest -= self.slots;
            self.at += 1;
        }
    }
}

impl Clock {
    pub(crate) fn new(ticks: Ticks) -> Self {
        Clock { ticks, now: 0, first: 0, last: 0, lo: 0, hi: 0, exact: false }
    }

    /// The time of the newest slot so far.
    pub(crate) const fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    /// The earliest time that the next slot can have.
    pub(crate) fn next(&self) -> Nanos {
        Nanos(self.lo.max(self.now))
    }

    /// A chunk begins. Its first time serves as a coarse stamp: a slot after a longer pause is stamped. A
    /// chunk that begins no later than the one before is the rest of a split one, and its slots go on.
    pub(crate) fn chunk(&mut self, first: Nanos, last: Nanos) {
        if self.last > 0 && first.0 <= self.first {
            self.last = self.last.max(last.0);
            return;
        }
        self.first = first.0.max(self.now);
        self.last = last.0.max(self.first);
        self.lo = self.first;
        self.hi = self.limit(self.first);
        self.exact = false;
    }

    fn limit(&self, from: u64) -> u64 {
        from.saturating_add(self.ticks.tick + self.ticks.late).min(self.last).max(from)
    }

    /// An exact stamp.
    pub(crate) fn time(&mut self, at: Nanos) {
        self.lo = at.0.clamp(self.first, self.last);
        self.hi = self.limit(self.lo);
        self.exact = true;
    }

    /// A coarse stamp.
    pub(crate) fn tick(&mut self, low: u32) {
        let (lo, hi) = self.interval(low);
        // Right after an exact stamp, with no slot between, it says less than what is known.
        if !(self.exact && lo <= self.lo && self.lo <= hi) {
            (self.lo, self.hi, self.exact) = (lo.max(self.lo), hi.max(self.lo), false);
        }
    }

    /// What follows, if that is a stamp.
    pub(crate) fn stamp(&mut self, piece: Option<&Piece<'_>>) {
        match piece {
            Some(Piece::Time(at)) => self.time(*at),
            Some(Piece::Tick(low)) => self.tick(*low),
            _ => {}
        }
    }

    /// Earliest and latest time of a slot with this coarse stamp.
    fn interval(&self, low: u32) -> (u64, u64) {
        let begin = self.ticks.begin(low, self.lo);
        let end = begin.saturating_add(self.ticks.tick + self.ticks.late);
        (begin.clamp(self.first, self.last), end.clamp(self.first, self.last))
    }

    /// The times of the next `slots` slots; `next` is what follows them in the chunk.
    pub(crate) fn run(&self, slots: usize, next: Option<&Piece<'_>>) -> Run {
        let (next_lo, next_hi) = match next {
            Some(Piece::Time(at)) => (at.0, at.0),
            Some(Piece::Tick(low)) => self.interval(*low),
            _ => (self.last, self.last),
        };
        let from = self.lo.max(self.now);
        let hi = self.hi.min(next_hi).max(from);
        // One tick is likely, one tick and the latest delay ever is possible.
        let likely = from.saturating_add(self.ticks.tick).min(hi).min(next_lo.max(from));
        let width = likely - from;
        let slots = (slots as u64).max(1);
        let error = u32::try_from(hi - self.lo.min(from)).unwrap_or(u32::MAX);
        Run {
            at: from,
            error: (if self.exact { 0 } else { error }, error),
            whole: width / slots,
            part: width % slots,
            rest: 0,
            slots,
        }
    }

    /// The newest slot has this time; what follows without a stamp comes after it, and no later than the
    /// last stamp allows.
    pub(crate) fn passed(&mut self, at: u64) {
        self.now = at;
        self.exact = false;
    }
}

impl From<&Manifest> for Ticks {
    fn from(m: &Manifest) -> Self {
        Ticks::new(m.clock_pair.0, m.tick, m.tick_late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn clock(first: u64, last: u64) -> Clock {
        let mut c = Clock::new(Ticks::new(Nanos(1_000 * MS), Nanos(MS), Nanos(MS / 10)));
        c.chunk(Nanos(first), Nanos(last));
        c
    }

    fn times(c: &Clock, slots: usize, next: Option<Piece<'_>>) -> Vec<u64> {
        let mut run = c.run(slots, next.as_ref());
        (0..slots).map(|_| (run.at, run.step()).0).collect()
    }

    #[test]
    fn slots_are_spread_evenly_up_to_the_next_stamp() {
        let mut c = clock(1_000 * MS, 2_000 * MS);
        c.time(Nanos(1_100 * MS));
        let next = Some(Piece::Time(Nanos(1_100 * MS + 400)));
        assert_eq!(times(&c, 4, next), [0, 100, 200, 300].map(|d| 1_100 * MS + d));
        assert_eq!(c.run(4, next.as_ref()).error, (0, 400));
    }

    #[test]
    fn slots_before_a_long_pause_stay_within_one_tick() {
        let mut c = clock(1_000 * MS, 2_000 * MS);
        c.time(Nanos(1_100 * MS));
        let next = Some(Piece::Time(Nanos(1_900 * MS)));
        assert_eq!(times(&c, 2, next), [1_100 * MS, 1_100 * MS + MS / 2]);
        assert_eq!(c.run(2, next.as_ref()).error, (0, 1_100_000), "a tick and its latest delay");
    }

    #[test]
    fn a_coarse_stamp_is_unwrapped_from_the_last_known_time() {
        let at = 1_000 * MS + ((5 << 20) + 3) * MS;
        let mut c = clock(at - 2 * MS, at + 50 * MS);
        c.tick(3);
        assert_eq!(c.next(), Nanos(at));
        assert_eq!(c.run(1, None).error.0, 1_100_000);
        let mut behind = clock(at + MS / 2, at + 50 * MS);
        behind.tick(3);
        assert_eq!(behind.next(), Nanos(at + MS / 2), "no slot is older than its chunk");
    }

    #[test]
    fn the_rest_of_a_split_chunk_goes_on_with_its_error() {
        let mut c = clock(1_000 * MS, 2_000 * MS);
        c.time(Nanos(1_100 * MS));
        c.passed(c.run(2, None).at + MS / 2);
        c.chunk(Nanos(1_000 * MS), Nanos(2_000 * MS));
        assert_eq!(c.next(), Nanos(1_100 * MS + MS / 2));
        assert_eq!(c.run(1, None).error.0, 1_100_000, "it may be as old as the stamp");
    }

    #[test]
    fn times_never_run_backwards_and_stay_within_the_chunk() {
        let mut c = clock(5_000 * MS, 5_010 * MS);
        c.time(Nanos(5_009 * MS));
        let mut run = c.run(3, None);
        run.step();
        c.passed(run.at);
        c.time(Nanos(7));
        assert!(c.next().0 >= run.at);
        c.chunk(Nanos(0), Nanos(0));
        assert!(c.next().0 >= run.at);
        c.time(Nanos(u64::MAX));
        assert!(c.next().0 <= 5_010 * MS);
    }
}
