//! Which methods the records of the last moments are of, from looks at the newest blocks of the ring.
//!
//! The constraint that shaped it: it may cost next to nothing, so a look reads a block or two of what may be thousands, and
//! counts of all looks together stand for all records in proportion. It must not disturb who records.

use crate::region::Region;
use lookback_format::event::{Event, kind};
use lookback_format::slot::{Record, Records};
use lookback_format::{MethodId, Nanos};
use lookback_ring::Position;

/// How fast a method is recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) id: MethodId,
    /// Entries and exits a second.
    pub(crate) per_second: f64,
    /// Share of its calls in which nothing was recorded, 0 to 1.
    pub(crate) leaf: f64,
}

/// What was recorded in a span of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    /// Records a second, of all methods.
    pub(crate) per_second: f64,
    /// Of each method that was seen.
    pub(crate) methods: Vec<Rate>,
}

/// Counts of one method.
#[derive(Clone, Copy, Default)]
struct Seen {
    entries: u32,
    exits: u32,
    leaves: u32,
}

/// Looks since the last sample was taken.
pub(crate) struct Looks {
    since: Nanos,
    /// Where the ring was then, and at the last look, in blocks.
    from: u64,
    looked: u64,
    counts: Counts,
}

/// What was seen, by method.
#[derive(Default)]
struct Counts {
    slots: u64,
    /// By a method's id, which are given in order.
    seen: Vec<Seen>,
    touched: Vec<u32>,
}

impl Looks {
    pub(crate) fn begin(region: &Region, now: Nanos) -> Looks {
        let end = region.ring.end().0;
        Looks { since: now, from: end, looked: end, counts: Counts::default() }
    }

    /// Looks at what was written last, if anything was since the last look.
    pub(crate) fn look(&mut self, region: &Region) {
        let end = region.ring.end().0;
        if end == self.looked {
            return;
        }
        // The newest block may have just been begun.
        let from = end.saturating_sub(2).max(self.looked);
        self.looked = end;
        let counts = &mut self.counts;
        region.ring.snapshot(Position(from), &mut |block| {
            for entry in block.entries().filter(|e| e.kind == kind::CHUNK) {
                if let Ok(Event::Chunk(chunk)) = Event::decode(entry.kind, entry.payload) {
                    counts.chunk(&chunk.slots);
                }
            }
        });
    }

    /// What the looks since the last sample say; the next ones are another sample.
    pub(crate) fn take(&mut self, region: &Region, now: Nanos) -> Sample {
        let end = region.ring.end().0;
        let block = f64::from(region.ring.geometry().block_size);
        let seconds = now.since(self.since).0.max(1) as f64 / 1e9;
        let per_second = (end - self.from) as f64 * block / 4.0 / seconds;
        (self.since, self.from) = (now, end);
        self.counts.take(per_second)
    }
}

impl Counts {
    /// Counts the slots of a chunk.
    fn chunk(&mut self, slots: &[u32]) {
        self.slots += slots.len() as u64;
        let mut before = None;
        for record in Records::new(slots) {
            match record {
                Record::Entry(id) => {
                    if let Some(seen) = self.of(id) {
                        seen.entries += 1;
                    }
                    before = Some(id);
                }
                Record::Exit(id) => {
                    if let Some(seen) = self.of(id) {
                        seen.exits += 1;
                        seen.leaves += u32::from(before == Some(id));
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
        if seen.entries + seen.exits == 0 {
            self.touched.push(id.0);
        }
        Some(seen)
    }

    /// The rates, when `per_second` words were written a second; counts begin anew.
    fn take(&mut self, per_second: f64) -> Sample {
        let scale = per_second / (self.slots.max(1)) as f64;
        let rate = |id: u32| {
            let seen = std::mem::take(&mut self.seen[id as usize]);
            Rate {
                id: MethodId(id),
                per_second: f64::from(seen.entries + seen.exits) * scale,
                leaf: f64::from(seen.leaves) / f64::from(seen.exits.max(1)),
            }
        };
        let methods = self.touched.drain(..).map(rate).collect();
        self.slots = 0;
        Sample { per_second, methods }
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
        counts.chunk(&words);
        let mut sample = counts.take(900.0);
        sample.methods.sort_by_key(|r| r.id);
        assert_eq!(
            sample.methods,
            [
                Rate { id: outer, per_second: 200.0, leaf: 0.0 },
                Rate { id: inner, per_second: 400.0, leaf: 1.0 }
            ]
        );
        assert!(counts.take(900.0).methods.is_empty(), "counted once");
    }

    #[test]
    fn a_torn_chunk_is_no_harm() {
        let mut counts = Counts::default();
        counts.chunk(&[entry(MethodId(3)), time(Nanos(9))[0], 9]);
        counts.chunk(&[entry(MethodId(MethodId::MAX))]);
        assert_eq!(counts.take(1.0).methods.len(), 1);
    }
}
