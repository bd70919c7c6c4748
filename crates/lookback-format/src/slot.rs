//! Slots: the 32-bit words that a trace point writes, and how a reader takes them apart.
//!
//! The constraint that shaped them: a trace point has a fraction of a nanosecond, so an entry or an exit is
//! one plain 4-byte store and time is not part of it. Times come as control records between the slots. A
//! reader must be able to skip what it does not know: each control record carries its length.
//!
//! ```text
//! bit 31 = 0   0 X mmmmmmmmmmmmmmmmmmmmmmmmmmmmmm   X = 1: exit, X = 0: entry; m: method id, 1..2^30-1
//! bit 31 = 1   1 kkkkkkk wwww pppppppppppppppppppp  k: kind, w: words that follow, p: payload (20 bits)
//! word  = 0    not written yet: the end of what a thread has recorded in its slab
//! ```

use crate::{MethodId, Nanos};

/// Set in an exit's slot.
pub const EXIT: u32 = 1 << 30;
/// Set in a control record's first word.
pub const CONTROL: u32 = 1 << 31;
/// Bits of a control record's payload.
pub const PAYLOAD_BITS: u32 = 20;
const PAYLOAD_MASK: u32 = (1 << PAYLOAD_BITS) - 1;

/// Kinds of control records. Numbers are part of the format and never reused.
pub mod kind {
    /// Coarse time: payload = low 20 bits of the tick counter at the moment of the next slot. Written by an
    /// entry trace point, which may not call anything; true time lies within one tick after it.
    pub const TICK: u32 = 1;
    /// Exact time of the next slot: two words follow, the low and the high half of a [`crate::Nanos`].
    pub const TIME: u32 = 2;
    /// Nothing: fills a word that must not be 0.
    pub const FILLER: u32 = 4;
    /// Records are missing here: payload = [`super::GapCause`]; one word follows, how many at least (0: not known).
    pub const GAP: u32 = 3;
    /// The next slot, an entry, is of the method in which a carrier runs a virtual thread, and this is the thread: two
    /// words follow, the low and the high half of its Java id. With payload 1 no entry follows: the virtual thread was
    /// running already where this chunk begins.
    pub const MOUNT: u32 = 5;
    /// A virtual thread can go on, and waits for a carrier: four words follow, the low and the high half of the time
    /// and of its Java id. Says nothing about the time of the next slot.
    pub const READY: u32 = 6;
}

/// Why records are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GapCause {
    /// More calls were entered in a row than a slab holds, with no exit between them.
    SlabOverrun,
    /// Tracing was off for the thread.
    Off,
    /// The thread had recorded more than it may; its timed methods were recorded all the same.
    Brake,
    /// As [`GapCause::Brake`], but its precise methods, see [`crate::symbol::Role::Precise`], were not recorded either: there
    /// were too many calls of them.
    BrakeAll,
    /// The thread is virtual and may have run on a carrier whose records are missing. Readers say so; it is in no file.
    Carrier,
    /// A cause that this build does not know, by number.
    Other(u32),
}

impl GapCause {
    /// The number that stands in the record.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            GapCause::SlabOverrun => 1,
            GapCause::Off => 2,
            GapCause::Brake => 3,
            GapCause::Carrier => 4,
            GapCause::BrakeAll => 5,
            GapCause::Other(n) => n & PAYLOAD_MASK,
        }
    }

    /// The cause that a number stands for.
    #[must_use]
    pub const fn from_code(code: u32) -> GapCause {
        match code {
            1 => GapCause::SlabOverrun,
            2 => GapCause::Off,
            3 => GapCause::Brake,
            4 => GapCause::Carrier,
            5 => GapCause::BrakeAll,
            n => GapCause::Other(n),
        }
    }

    /// Whether the thread was braked.
    #[must_use]
    pub const fn is_brake(self) -> bool {
        matches!(self, GapCause::Brake | GapCause::BrakeAll)
    }

    /// In words, for reports.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            GapCause::SlabOverrun => "recursion deeper than a slab",
            GapCause::Off => "tracing was off",
            GapCause::Brake | GapCause::BrakeAll => "more records than the budget allows",
            GapCause::Carrier => "a carrier's records are missing",
            GapCause::Other(_) => "unknown cause",
        }
    }
}

/// The slot of an entry into `method`.
#[must_use]
pub const fn entry(method: MethodId) -> u32 {
    method.0 & MethodId::MAX
}

/// The slot of an exit from `method`.
#[must_use]
pub const fn exit(method: MethodId) -> u32 {
    (method.0 & MethodId::MAX) | EXIT
}

/// The first word of a control record with `words` further words.
#[must_use]
pub const fn control(kind: u32, words: u32, payload: u32) -> u32 {
    CONTROL | (kind & 0x7f) << 24 | (words & 0xf) << PAYLOAD_BITS | (payload & PAYLOAD_MASK)
}

/// A TICK record for the tick counter `tick`.
#[must_use]
pub const fn tick(tick: u64) -> u32 {
    control(kind::TICK, 0, tick as u32)
}

/// A TIME record.
#[must_use]
pub const fn time(at: Nanos) -> [u32; 3] {
    [control(kind::TIME, 2, 0), at.0 as u32, (at.0 >> 32) as u32]
}

/// A GAP record: at least `lost` records are missing.
#[must_use]
pub const fn gap(cause: GapCause, lost: u32) -> [u32; 2] {
    [control(kind::GAP, 1, cause.code()), lost]
}

/// A MOUNT record: the virtual thread with this Java id runs from now on, or goes on.
#[must_use]
pub const fn mount(tid: u64, goes_on: bool) -> [u32; 3] {
    [control(kind::MOUNT, 2, goes_on as u32), tid as u32, (tid >> 32) as u32]
}

/// A READY record: the virtual thread with this Java id waits for a carrier from then on.
#[must_use]
pub const fn ready(tid: u64, at: Nanos) -> [u32; 5] {
    // In this order two words in a row are never 0, which would look like the end of a slab.
    [control(kind::READY, 4, 0), at.0 as u32, (at.0 >> 32) as u32, tid as u32, (tid >> 32) as u32]
}

/// A record that says nothing.
pub const FILLER: u32 = control(kind::FILLER, 0, 0);

/// One decoded record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A method was entered.
    Entry(MethodId),
    /// A method was left, by return or by exception.
    Exit(MethodId),
    /// The next slot was written during this tick (low [`PAYLOAD_BITS`] bits of the counter).
    Tick(u32),
    /// The next slot was written at this time.
    Time(Nanos),
    /// At least this many records are missing here.
    Gap(GapCause, u32),
    /// A carrier begins to run the virtual thread with this Java id, or, when it is true, goes on with it.
    Mount(u64, bool),
    /// The virtual thread with this Java id waits for a carrier since then.
    Ready(u64, Nanos),
}

/// Takes slots apart, oldest first; ends at the first word that is not written yet, and before a control
/// record that is cut. Records of unknown kinds are passed over.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    words: &'a [u32],
}

impl<'a> Records<'a> {
    /// Reads `words`.
    #[must_use]
    pub const fn new(words: &'a [u32]) -> Self {
        Records { words }
    }

    /// How many words are left unread: more than zero after the end means unwritten or cut words.
    #[must_use]
    pub const fn rest(&self) -> usize {
        self.words.len()
    }
}

impl Iterator for Records<'_> {
    type Item = Record;

    #[inline]
    fn next(&mut self) -> Option<Record> {
        loop {
            let (&first, rest) = self.words.split_first()?;
            if first & CONTROL == 0 {
                let method = MethodId(first & MethodId::MAX);
                if method.0 == 0 {
                    return None;
                }
                self.words = rest;
                return Some(if first & EXIT == 0 { Record::Entry(method) } else { Record::Exit(method) });
            }
            let words = (first >> PAYLOAD_BITS & 0xf) as usize;
            if rest.len() < words {
                return None;
            }
            let (body, rest) = rest.split_at(words);
            let payload = first & PAYLOAD_MASK;
            let record = match (first >> 24 & 0x7f, body) {
                (kind::TICK, []) => Some(Record::Tick(payload)),
                (kind::TIME, [low, high]) => {
                    Some(Record::Time(Nanos(u64::from(*high) << 32 | u64::from(*low))))
                }
                (kind::MOUNT, [low, high]) => {
                    Some(Record::Mount(u64::from(*high) << 32 | u64::from(*low), payload & 1 != 0))
                }
                (kind::READY, [low, high, tid_low, tid_high]) => Some(Record::Ready(
                    u64::from(*tid_high) << 32 | u64::from(*tid_low),
                    Nanos(u64::from(*high) << 32 | u64::from(*low)),
                )),
                (kind::GAP, [lost]) => Some(Record::Gap(GapCause::from_code(payload), *lost)),
                _ => None,
            };
            self.words = rest;
            if record.is_some() {
                return record;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut words = vec![entry(MethodId(7)), tick(0x12_3456_789a)];
        words.extend(time(Nanos(0x0123_4567_89ab_cdef)));
        words.extend([exit(MethodId(MethodId::MAX)), control(99, 3, 5), 1, 2, 3]);
        words.extend(gap(GapCause::SlabOverrun, 16_000));
        words.extend([mount(0x12_0000_0034, false), mount(7, true)].concat());
        words.extend(ready(8, Nanos(0x5_0000_0006)));
        words.extend([0, 1]);
        let mut records = Records::new(&words);
        let read: Vec<_> = records.by_ref().collect();
        assert_eq!(
            read,
            [
                Record::Entry(MethodId(7)),
                Record::Tick(0x6789a),
                Record::Time(Nanos(0x0123_4567_89ab_cdef)),
                Record::Exit(MethodId(MethodId::MAX)),
                Record::Gap(GapCause::SlabOverrun, 16_000),
                Record::Mount(0x12_0000_0034, false),
                Record::Mount(7, true),
                Record::Ready(8, Nanos(0x5_0000_0006)),
            ]
        );
        assert_eq!(records.rest(), 2, "stops at the unwritten word");
    }

    #[test]
    fn a_cut_control_record_ends_the_reading() {
        let words = [entry(MethodId(1)), time(Nanos(5))[0], 5];
        assert_eq!(Records::new(&words).collect::<Vec<_>>(), [Record::Entry(MethodId(1))]);
    }
}
