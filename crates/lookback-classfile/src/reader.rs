//! Bounds-checked big-endian reads from a byte slice.
//!
//! Constraint: the bytes are hostile until proven otherwise, so there is no
//! way to read here that can panic or look outside the slice. Must not know
//! anything about the class file format.

/// A read that did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Offset of the read in the slice of the reader.
    pub(crate) at: usize,
}

/// A position in a byte slice; copying it is how a caller looks ahead.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, pos: 0 }
    }

    pub(crate) fn at(bytes: &'a [u8], pos: usize) -> Self {
        Reader { bytes, pos }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn at_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    #[inline]
    pub(crate) fn u1(&mut self) -> Result<u8, Cut> {
        match self.bytes.get(self.pos) {
            Some(&b) => {
                self.pos += 1;
                Ok(b)
            }
            None => Err(Cut { at: self.pos }),
        }
    }

    #[inline]
    pub(crate) fn u2(&mut self) -> Result<u16, Cut> {
        match read_u2(self.bytes, self.pos) {
            Some(v) => {
                self.pos += 2;
                Ok(v)
            }
            None => Err(Cut { at: self.pos }),
        }
    }

    #[inline]
    pub(crate) fn u4(&mut self) -> Result<u32, Cut> {
        match read_u4(self.bytes, self.pos) {
            Some(v) => {
                self.pos += 4;
                Ok(v)
            }
            None => Err(Cut { at: self.pos }),
        }
    }

    /// Moves on by `n` bytes, all of which must exist.
    #[inline]
    pub(crate) fn skip(&mut self, n: usize) -> Result<(), Cut> {
        match self.pos.checked_add(n) {
            Some(end) if end <= self.bytes.len() => {
                self.pos = end;
                Ok(())
            }
            _ => Err(Cut { at: self.pos }),
        }
    }

    /// The next `n` bytes.
    #[inline]
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], Cut> {
        let from = self.pos;
        self.skip(n)?;
        self.bytes.get(from..self.pos).ok_or(Cut { at: from })
    }
}

/// The big-endian `u16` at `pos`, if it is inside.
#[inline]
pub(crate) fn read_u2(bytes: &[u8], pos: usize) -> Option<u16> {
    let b = bytes.get(pos..pos.checked_add(2)?)?;
    Some(u16::from_be_bytes([b[0], b[1]]))
}

/// The big-endian `u32` at `pos`, if it is inside.
#[inline]
pub(crate) fn read_u4(bytes: &[u8], pos: usize) -> Option<u32> {
    let b = bytes.get(pos..pos.checked_add(4)?)?;
    Some(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
}

/// The big-endian `i16` at `pos`, if it is inside.
#[inline]
pub(crate) fn read_i2(bytes: &[u8], pos: usize) -> Option<i16> {
    read_u2(bytes, pos).map(|v| v as i16)
}

/// The big-endian `i32` at `pos`, if it is inside.
#[inline]
pub(crate) fn read_i4(bytes: &[u8], pos: usize) -> Option<i32> {
    read_u4(bytes, pos).map(|v| v as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_big_endian_and_stop_at_the_end() {
        let mut r = Reader::new(&[1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(r.u1(), Ok(1));
        assert_eq!(r.u2(), Ok(0x0203));
        assert_eq!(r.u4(), Ok(0x0405_0607));
        assert!(r.at_end());
        assert_eq!(r.u1(), Err(Cut { at: 7 }));
        assert_eq!(r.skip(usize::MAX), Err(Cut { at: 7 }));
    }

    #[test]
    fn reads_far_outside_do_not_wrap() {
        assert_eq!(read_u2(&[0; 4], usize::MAX), None);
        assert_eq!(read_u4(&[0; 4], usize::MAX - 1), None);
        assert_eq!(read_i2(&[0xff, 0xfe], 0), Some(-2));
        assert_eq!(read_i4(&[0xff, 0xff, 0xff, 0xfe], 0), Some(-2));
    }
}
