//! Takes the words of a chunk apart: plain slots by the run, control records one by one.
//!
//! The constraint that shaped it: all but a few words in a thousand are entries and exits, so those are found
//! by one scan for the next control bit and handed on as a slice. What the words mean is not known here.

use lookback_format::Nanos;
use lookback_format::slot::{CONTROL, EXIT, GapCause, PAYLOAD_BITS, Record, Records};

/// A part of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Entries and exits only; never empty.
    Slots(&'a [u32]),
    /// Exact time of the next slot.
    Time(Nanos),
    /// Coarse time of the next slot: low bits of the tick counter.
    Tick(u32),
    /// Records are missing.
    Gap(GapCause, u32),
    /// The carrier begins to run the virtual thread with this id, or, when it is true, goes on with it.
    Mount(u64, bool),
    /// The virtual thread with this id waits for a carrier since then.
    Ready(u64, Nanos),
    /// Words that cannot be read follow an unwritten or cut one; always last.
    Unreadable(usize),
}

/// The pieces of a chunk's words, in order.
#[derive(Clone, Debug)]
pub(crate) struct Pieces<'a> {
    words: &'a [u32],
    mounts: bool,
}

impl<'a> Pieces<'a> {
    /// All pieces but those that are about virtual threads.
    pub(crate) const fn new(words: &'a [u32]) -> Self {
        Pieces { words, mounts: false }
    }

    /// All pieces.
    pub(crate) const fn with_mounts(words: &'a [u32]) -> Self {
        Pieces { words, mounts: true }
    }

    /// How many words are not taken apart yet.
    pub(crate) const fn rest(&self) -> usize {
        self.words.len()
    }

    /// A word that is neither entry nor exit: a control word, or one that is not written.
    #[inline]
    const fn special(word: u32) -> bool {
        word & CONTROL != 0 || word & !EXIT == 0
    }

    #[cold]
    fn unreadable(&mut self) -> Option<Piece<'a>> {
        let rest = std::mem::take(&mut self.words);
        // Unwritten words at the end are what every chunk in filling has.
        let lost = rest.iter().rposition(|&w| w != 0).map_or(0, |last| last + 1);
        (lost > 0).then_some(Piece::Unreadable(lost))
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            let &first = self.words.first()?;
            if !Self::special(first) {
                let n = self.words.iter().position(|&w| Self::special(w)).unwrap_or(self.words.len());
                let (slots, rest) = self.words.split_at(n);
                self.words = rest;
                return Some(Piece::Slots(slots));
            }
            if first & CONTROL == 0 {
                return self.unreadable();
            }
            let len = 1 + (first >> PAYLOAD_BITS & 0xf) as usize;
            let Some((record, rest)) = self.words.split_at_checked(len) else { return self.unreadable() };
            self.words = rest;
            match Records::new(record).next() {
                Some(Record::Time(at)) => return Some(Piece::Time(at)),
                Some(Record::Tick(low)) => return Some(Piece::Tick(low)),
                Some(Record::Gap(cause, lost)) => return Some(Piece::Gap(cause, lost)),
                Some(Record::Mount(tid, goes_on)) if self.mounts => return Some(Piece::Mount(tid, goes_on)),
                Some(Record::Ready(tid, at)) if self.mounts => return Some(Piece::Ready(tid, at)),
                // A kind that this build does not know says how long it is, and that is enough.
                Some(Record::Entry(_) | Record::Exit(_) | Record::Mount(..) | Record::Ready(..)) | None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_format::MethodId;
    use lookback_format::slot::{control, entry, exit, gap, tick, time};

    #[test]
    fn slots_come_by_the_run_and_controls_one_by_one() {
        let mut words = vec![entry(MethodId(1)), exit(MethodId(1))];
        words.extend(time(Nanos(1 << 33)));
        words.push(tick(7));
        words.extend([control(90, 2, 1), 5, 6, entry(MethodId(2))]);
        words.extend(gap(GapCause::Off, 3));
        words.extend([0, 0]);
        let pieces: Vec<_> = Pieces::new(&words).collect();
        let expected = [
            Piece::Slots(&words[..2]),
            Piece::Time(Nanos(1 << 33)),
            Piece::Tick(7),
            Piece::Slots(&words[9..10]),
            Piece::Gap(GapCause::Off, 3),
        ];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn what_cannot_be_read_is_counted() {
        let words = [entry(MethodId(1)), 0, entry(MethodId(2)), 0];
        assert_eq!(Pieces::new(&words).last(), Some(Piece::Unreadable(2)));
        let cut = [entry(MethodId(1)), time(Nanos(9))[0], 9];
        assert_eq!(Pieces::new(&cut).last(), Some(Piece::Unreadable(2)));
        assert_eq!(Pieces::new(&[EXIT]).last(), Some(Piece::Unreadable(1)));
    }
}
