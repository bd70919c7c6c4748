//! The constant pool of a class file, as far as a rewriter reads it.
//!
//! Constraint: the pool is the largest part of most class files and most of
//! it is never looked at, so one pass notes where each entry begins and
//! everything else is read on demand. Must not change anything: the bytes are
//! copied verbatim and `pool_append` adds to them.

use crate::error::Error;
use crate::reader::read_u2;
use crate::text::JavaStr;

pub(crate) const UTF8: u8 = 1;
const CLASS: u8 = 7;
const METHOD_REF: u8 = 10;
const INTERFACE_METHOD_REF: u8 = 11;
const NAME_AND_TYPE: u8 = 12;
const FIELD_REF: u8 = 9;
const DYNAMIC: u8 = 17;
const INVOKE_DYNAMIC: u8 = 18;

/// Bytes of a Long or Double entry, which takes two indices.
const LONG_LENGTH: usize = 9;

/// Bytes an entry takes with its tag; 0: unknown tag. Utf8 has its text on top.
static ENTRY_LENGTH: [u8; 256] = {
    let mut t = [0u8; 256];
    t[UTF8 as usize] = 3;
    t[3] = 5; // Integer
    t[4] = 5; // Float
    t[5] = LONG_LENGTH as u8;
    t[6] = LONG_LENGTH as u8; // Double
    t[CLASS as usize] = 3;
    t[8] = 3; // String
    t[FIELD_REF as usize] = 5;
    t[METHOD_REF as usize] = 5;
    t[INTERFACE_METHOD_REF as usize] = 5;
    t[NAME_AND_TYPE as usize] = 5;
    t[15] = 4; // MethodHandle
    t[16] = 3; // MethodType
    t[DYNAMIC as usize] = 5;
    t[INVOKE_DYNAMIC as usize] = 5;
    t[19] = 3; // Module
    t[20] = 3; // Package
    t
};

/// A read-only view of the constant pool.
#[derive(Clone, Copy)]
pub(crate) struct Pool<'a> {
    bytes: &'a [u8],
    /// Offset of each entry's tag; 0 for index 0 and the upper half of long and double.
    offsets: &'a [u32],
}

/// Name and descriptor of a field, method or call site.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) descriptor: &'a [u8],
}

/// Notes the offset of every entry and returns where the pool ends.
/// `start` is the offset of the first entry, `count` the class file's `constant_pool_count`.
pub(crate) fn index(bytes: &[u8], start: usize, count: u16, offsets: &mut Vec<u32>) -> Result<usize, Error> {
    offsets.clear();
    offsets.resize(usize::from(count).max(1), 0);
    let mut pos = start;
    let mut i = 1usize;
    while let Some(slot) = offsets.get_mut(i) {
        // No entry is shorter than three bytes. The two behind the tag are the length of a Utf8's
        // text; taken without a branch, because what kind comes next cannot be predicted.
        let Some(&[tag, b1, b2]) = bytes.get(pos..).and_then(|rest| rest.first_chunk()) else {
            return Err(Error::Truncated { offset: pos });
        };
        // A class file of 4 GiB cannot exist: the JVM hands out its length as a `jint`.
        *slot = pos as u32;
        let length = usize::from(ENTRY_LENGTH[usize::from(tag)]);
        if length == 0 {
            return Err(Error::UnknownConstant { index: i as u16, tag });
        }
        let is_utf8 = usize::from(tag == UTF8);
        pos += length + (is_utf8.wrapping_neg() & usize::from(u16::from_be_bytes([b1, b2])));
        i += 1 + usize::from(length == LONG_LENGTH);
    }
    if pos > bytes.len() { Err(Error::Truncated { offset: bytes.len() }) } else { Ok(pos) }
}

impl<'a> Pool<'a> {
    pub(crate) fn new(bytes: &'a [u8], offsets: &'a [u32]) -> Self {
        Pool { bytes, offsets }
    }

    #[inline]
    fn entry(&self, index: u16, tag: u8) -> Option<usize> {
        let pos = *self.offsets.get(usize::from(index))? as usize;
        (pos != 0 && *self.bytes.get(pos)? == tag).then_some(pos)
    }

    /// The bytes of a Utf8 entry.
    #[inline]
    pub(crate) fn utf8(&self, index: u16) -> Option<&'a [u8]> {
        let pos = self.entry(index, UTF8)?;
        let length = usize::from(read_u2(self.bytes, pos + 1)?);
        self.bytes.get(pos + 3..pos + 3 + length)
    }

    /// The text of a Utf8 entry.
    pub(crate) fn text(&self, index: u16) -> Option<JavaStr<'a>> {
        self.utf8(index).map(JavaStr::new)
    }

    /// The name of a Class entry.
    pub(crate) fn class_name(&self, index: u16) -> Option<JavaStr<'a>> {
        let pos = self.entry(index, CLASS)?;
        self.text(read_u2(self.bytes, pos + 1)?)
    }

    /// Name and descriptor behind a field, method, dynamic or invokedynamic entry.
    pub(crate) fn member(&self, index: u16) -> Option<Member<'a>> {
        let pos = *self.offsets.get(usize::from(index))? as usize;
        match *self.bytes.get(pos)? {
            FIELD_REF | METHOD_REF | INTERFACE_METHOD_REF | DYNAMIC | INVOKE_DYNAMIC if pos != 0 => {
                let pair = self.entry(read_u2(self.bytes, pos + 3)?, NAME_AND_TYPE)?;
                Some(Member {
                    name: self.utf8(read_u2(self.bytes, pair + 1)?)?,
                    descriptor: self.utf8(read_u2(self.bytes, pair + 3)?)?,
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_takes_two_indices_and_names_resolve() {
        let mut bytes = vec![0u8; 10];
        bytes.extend([5, 0, 0, 0, 0, 0, 0, 0, 1]); // 1, 2
        bytes.extend([UTF8, 0, 2, b'h', b'i']); // 3
        bytes.extend([CLASS, 0, 3]); // 4
        let mut offsets = Vec::new();
        assert_eq!(index(&bytes, 10, 5, &mut offsets), Ok(bytes.len()));
        let pool = Pool::new(&bytes, &offsets);
        assert!(pool.class_name(4).is_some_and(|n| n == "hi"));
        assert!(pool.utf8(2).is_none());
        assert!(pool.utf8(0).is_none());
        assert!(pool.utf8(99).is_none());
        assert!(pool.member(4).is_none());
    }

    #[test]
    fn unknown_tags_and_cuts_are_errors() {
        let mut offsets = Vec::new();
        assert_eq!(
            index(&[0, 2, 0, 0], 1, 2, &mut offsets),
            Err(Error::UnknownConstant { index: 1, tag: 2 })
        );
        assert_eq!(
            index(&[0, 33, 0, 0], 1, 2, &mut offsets),
            Err(Error::UnknownConstant { index: 1, tag: 33 })
        );
        assert!(matches!(index(&[0, 1, 0], 1, 2, &mut offsets), Err(Error::Truncated { .. })));
        assert!(matches!(index(&[0, 3, 0], 1, 2, &mut offsets), Err(Error::Truncated { .. })));
    }
}
