//! Which methods the records of the last moments are of, from looks at the newest blocks of the ring.
//!
//! The constraint that shaped it: it may cost next to nothing, so a look reads a block or two of what may be thousands, and
//! counts of all looks together stand for all records in proportion. It must not disturb who records.

use crate::brake::Brake;
use crate::region::Region;
use crate::slab::Slabs;
use lookback_format::event::{Event, kind};
use lookback_format::slot::{Record, Records};
use lookback_format::{MethodId, Nanos, ThreadKey};
use lookback_ring::Position;
use rustc_hash::FxHashMap;

/// Chunks of a block that a look reads: each has about a thousand slots.
const CHUNKS: usize = 6;

/// How fast a method is recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) id: MethodId,
    /// Entries and exits a second.
    pub(crate) per_second: f64,
    /// Share of its calls in which nothing was recorded, 0 to 1.
    pub(crate) leaf: f64,
}

/// What was recorded in a span of time, and what would have been without the brake.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    /// Records a second, of all methods.
    pub(crate) per_second: f64,
    /// Those of them that are of plain trace points, which the brake holds back; known once they are weighed.
    pub(crate) plain: f64,
    /// Share of them that the brake held back, 0 to 1.
    pub(crate) held_back: f64,
    /// Of each method that was seen.
    pub(crate) methods: Vec<Rate>,
}

impl Sample {
    /// A record of a method costs so many times what one of most methods does: as if it had made so many.
    pub(crate) fn weigh(&mut self, times: impl Fn(MethodId) -> f64) {
        for rate in &mut self.methods {
            let times = times(rate.id);
            if times == 1.0 {
                self.plain += rate.per_second;
            }
            let more = rate.per_second * (times - 1.0);
            rate.per_second += more;
            self.per_second += more;
        }
    }
}

/// Counts of one method.
#[derive(Clone, Copy, Default)]
struct Seen {
    entries: f32,
    exits: f32,
    leaves: f32,
}

/// Looks since the last sample was taken.
pub(crate) struct Looks {
    since: Nanos,
    /// Where the ring was then, and at the last look, in blocks.
    from: u64,
    looked: u64,
    /// What each slab's thread had recorded and missed at the last look.
    totals: Vec<(u64, u64)>,
    /// Records that the brake has held back since the last sample.
    missed: u64,
    counts: Counts,
}

/// What was seen, by method.
#[derive(Default)]
struct Counts {
    slots: f64,
    /// By a method's id, which are given in order.
    seen: Vec<Seen>,
    touched: Vec<u32>,
}

impl Looks {
    pub(crate) fn begin(region: &Region, now: Nanos) -> Looks {
        let end = region.ring.end().0;
        Looks { since: now, from: end, looked: end, totals: Vec::new(), missed: 0, counts: Counts::default() }
    }

    /// Looks at what was written last, if anything was since the last look.
    pub(crate) fn look(&mut self, region: &Region, slabs: &Slabs, brake: &Brake) {
        let end = region.ring.end().0;
        if end == self.looked {
            return;
        }
        // The newest block may have just been begun.
        let from = end.saturating_sub(2).max(self.looked);
        self.looked = end;
        let weights = self.weights(region, slabs, brake);
        let counts = &mut self.counts;
        region.ring.snapshot(Position(from), &mut |block| {
            for entry in block.entries().filter(|e| e.kind == kind::CHUNK).take(CHUNKS) {
                if let Ok(Event::Chunk(chunk)) = Event::decode(entry.kind, entry.payload) {
                    counts.chunk(&chunk.slots, weights.get(&chunk.thread).copied().unwrap_or(1.0));
                }
            }
        });
    }

    /// For how many records one stands that a thread has recorded since the last look: more than one if it was braked.
    fn weights(&mut self, region: &Region, slabs: &Slabs, brake: &Brake) -> FxHashMap<ThreadKey, f32> {
        let mut weights = FxHashMap::default();
        self.totals.resize(slabs.high() as usize, (0, 0));
        for (i, before) in (0..).zip(&mut self.totals) {
            let now = brake.totals(i);
            // Fewer than before: another thread has the slab.
            let (recorded, missed) = (now.0.saturating_sub(before.0), now.1.saturating_sub(before.1));
            *before = now;
            if missed > 0 {
                self.missed += missed;
                weights.insert(slabs.key(region, i), 1.0 + missed as f32 / recorded.max(1) as f32);
            }
        }
        weights
    }

    /// What the looks since the last sample say; the next ones are another sample.
    pub(crate) fn take(&mut self, region: &Region, now: Nanos) -> Sample {
        let end = region.ring.end().0;
        let block = f64::from(region.ring.geometry().block_size);
        let seconds = now.since(self.since).0.max(1) as f64 / 1e9;
        let recorded = (end - self.from) as f64 * block / 4.0;
        let missed = std::mem::take(&mut self.missed) as f64;
        (self.since, self.from) = (now, end);
        let methods = self.counts.take((recorded + missed) / seconds);
        Sample {
            per_second: (recorded + missed) / seconds,
            plain: 0.0,
            held_back: missed / (recorded + missed).max(1.0),
            methods,
        }
    }
}

impl Counts {
    /// Counts the slots of a chunk, each for `weight` records.
    fn chunk(&mut self, slots: &[u32], weight: f32) {
        self.slots += slots.len() as f64 * f64::from(weight);
        let mut before = None;
        for record in Records::new(slots) {
            match record {
                Record::Entry(id) => {
                    if let Some(seen) = self.of(id) {
                        seen.entries += weight;
                    }
                    before = Some(id);
                }
                Record::Exit(id) => {
                    if let Some(seen) = self.of(id) {
                        seen.exits += weight;
                        seen.leaves += if before == Some(id) { weight } else { 0.0 };
                    }
                    before = None;
                }
                _ => {}
            }
        }
    }

    /// The counts of a method. An id is at most so many as there are methods, but a block that was read while it was
    /// overwritten could hold anything.
    fn of(&mut self, id: MethodId) -> Option<&mut Seen> {
        let at = id.0 as usize;
        if at > MOST_METHODS {
            return None;
        }
        if at >= self.seen.len() {
            self.seen.resize(at + 1, Seen::default());
        }
        let seen = &mut self.seen[at];
        if seen.entries + seen.exits == 0.0 {
            self.touched.push(id.0);
        }
        Some(seen)
    }

    /// The rates, when `per_second` words were written a second; counts begin anew.
    fn take(&mut self, per_second: f64) -> Vec<Rate> {
        let scale = per_second / self.slots.max(1.0);
        let rate = |id: u32| {
            let seen = std::mem::take(&mut self.seen[id as usize]);
            Rate {
                id: MethodId(id),
                per_second: f64::from(seen.entries + seen.exits) * scale,
                leaf: f64::from(seen.leaves) / f64::from(seen.exits).max(1.0),
            }
        };
        let methods = self.touched.drain(..).map(rate).collect();
        self.slots = 0.0;
        methods
    }
}

/// More methods than a program has.
const MOST_METHODS: usize = 1 << 22;

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_format::slot::{entry, exit, time};

    #[test]
    fn methods_are_counted_in_proportion_and_leaves_are_told_apart() {
        let (outer, inner) = (MethodId(1), MethodId(7));
        let mut words = vec![entry(outer)];
        // A time's words are no slots, whatever they look like.
        words.extend(time(Nanos(7)));
        words.extend([entry(inner), exit(inner), entry(inner), exit(inner), exit(outer)]);
        let mut counts = Counts::default();
        counts.chunk(&words, 1.0);
        let mut methods = counts.take(900.0);
        methods.sort_by_key(|r| r.id);
        assert_eq!(
            methods,
            [
                Rate { id: outer, per_second: 200.0, leaf: 0.0 },
                Rate { id: inner, per_second: 400.0, leaf: 1.0 }
            ]
        );
        assert!(counts.take(900.0).is_empty(), "counted once");
    }

    #[test]
    fn what_costs_more_counts_for_more() {
        let rate = |id, per_second| Rate { id: MethodId(id), per_second, leaf: 0.0 };
        let methods = vec![rate(1, 10.0), rate(2, 90.0)];
        let mut sample = Sample { per_second: 100.0, plain: 0.0, held_back: 0.0, methods };
        sample.weigh(|id| if id == MethodId(1) { 20.0 } else { 1.0 });
        assert_eq!((sample.per_second, sample.plain, sample.methods[0].per_second), (290.0, 90.0, 200.0));
        assert_eq!(sample.methods[1].per_second, 90.0);
    }

    #[test]
    fn a_torn_chunk_is_no_harm() {
        let mut counts = Counts::default();
        counts.chunk(&[entry(MethodId(3)), time(Nanos(9))[0], 9], 1.0);
        counts.chunk(&[entry(MethodId(MethodId::MAX))], 1.0);
        assert_eq!(counts.take(1.0).len(), 1);
    }

    #[test]
    fn a_braked_thread_counts_for_what_it_would_have_recorded() {
        let (flood, calm) = (MethodId(1), MethodId(2));
        let mut counts = Counts::default();
        counts.chunk(&[entry(flood), exit(flood)], 9.0);
        counts.chunk(&[entry(calm), exit(calm)], 1.0);
        let methods = counts.take(1_000.0);
        assert_eq!(methods.iter().map(|r| r.per_second).collect::<Vec<_>>(), [900.0, 100.0]);
    }
}
