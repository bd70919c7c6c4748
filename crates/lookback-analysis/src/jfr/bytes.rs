//! A place in the bytes of a chunk, and what can be read from there: integers, texts.
//!
//! The constraint that shaped it: no length that stands in the file is believed before as many bytes were seen to be there.

use std::borrow::Cow;

/// What is wrong with a chunk, and at which of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) at: usize,
    pub(super) why: &'static str,
}

/// Result of reading from a chunk.
pub(super) type Read<T> = std::result::Result<T, Wrong>;

/// A text of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Text<'a> {
    Plain(Cow<'a, str>),
    /// The constant of `java.lang.String` with this number.
    Constant(u64),
}

/// A place in a chunk, and where what is read there ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a> {
    chunk: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Bytes<'a> {
    /// From `at` to `end`, or to the chunk's end when that comes first.
    pub(super) fn new(chunk: &'a [u8], at: usize, end: usize) -> Bytes<'a> {
        let end = end.min(chunk.len());
        Bytes { chunk, at: at.min(end), end }
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) const fn left(&self) -> usize {
        self.end - self.at
    }

    pub(super) const fn wrong(&self, why: &'static str) -> Wrong {
        Wrong { at: self.at, why }
    }

    pub(super) fn byte(&mut self) -> Read<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(super) fn take(&mut self, n: usize) -> Read<&'a [u8]> {
        if n > self.left() {
            return Err(self.wrong("it ends in the middle of a value"));
        }
        let bytes = &self.chunk[self.at..self.at + n];
        self.at += n;
        Ok(bytes)
    }

    /// An integer: LEB128 of at most nine bytes, of which the ninth has all its bits.
    pub(super) fn number(&mut self) -> Read<u64> {
        let mut number = 0;
        for i in 0..8 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Ok(number | u64::from(self.byte()?) << 56)
    }

    /// How many of something follow, each of at least one byte.
    pub(super) fn count(&mut self) -> Read<usize> {
        let begin = *self;
        let count = self.number()?;
        usize::try_from(count)
            .ok()
            .filter(|&n| n <= self.left())
            .ok_or(begin.wrong("it tells of more elements than it has bytes"))
    }

    /// A text: how it is encoded, then its length and content.
    pub(super) fn text(&mut self) -> Read<Text<'a>> {
        let begin = *self;
        let plain = |text| Ok(Text::Plain(text));
        match self.byte()? {
            // None, or an empty one.
            0 | 1 => plain(Cow::Borrowed("")),
            2 => Ok(Text::Constant(self.number()?)),
            3 => {
                let n = self.count()?;
                plain(String::from_utf8_lossy(self.take(n)?))
            }
            4 => {
                let n = self.count()?;
                let units: Vec<u16> = (0..n).map(|_| self.number().map(|c| c as u16)).collect::<Read<_>>()?;
                plain(String::from_utf16_lossy(&units).into())
            }
            5 => {
                let n = self.count()?;
                plain(self.take(n)?.iter().copied().map(char::from).collect::<String>().into())
            }
            _ => Err(begin.wrong("a text is encoded in a way that is not known")),
        }
    }

    /// A text that must not be a constant, as in metadata.
    pub(super) fn plain_text(&mut self) -> Read<Cow<'a, str>> {
        let begin = *self;
        match self.text()? {
            Text::Plain(text) => Ok(text),
            Text::Constant(_) => Err(begin.wrong("a text of the metadata is a constant")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Bytes<'_> {
        Bytes::new(bytes, 0, bytes.len())
    }

    #[test]
    fn integers_have_at_most_nine_bytes() {
        let number = |bytes: &[u8]| of(bytes).number().ok();
        assert_eq!(number(&[0x7f]), Some(127));
        assert_eq!(number(&[0x80, 1]), Some(128));
        assert_eq!(number(&[0xff; 9]), Some(u64::MAX));
        assert_eq!(number(&[0xff; 8]), None);
        // Padded, as sizes of events are.
        assert_eq!(number(&[0x85, 0x80, 0x80, 0]), Some(5));
    }

    #[test]
    fn texts_come_in_all_encodings() {
        fn text(bytes: &[u8]) -> Read<Text<'_>> {
            of(bytes).text()
        }
        let plain = |text: &'static str| Ok(Text::Plain(text.into()));
        assert_eq!((text(&[0]), text(&[1])), (plain(""), plain("")));
        assert_eq!(text(&[2, 9]), Ok(Text::Constant(9)));
        assert_eq!(text(&[3, 2, b'o', b'k']), plain("ok"));
        assert_eq!(text(&[4, 2, b'o', 0xe9, 1]), plain("o\u{e9}"));
        assert_eq!(text(&[5, 1, 0xe9]), plain("\u{e9}"));
        assert!(text(&[6]).is_err() && text(&[3, 200]).is_err() && text(&[3, 0xff]).is_err());
    }
}
