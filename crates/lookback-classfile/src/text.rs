//! Names as class files hold them: modified UTF-8.
//!
//! Constraint: nearly every name is plain ASCII and is only compared or
//! hashed, so the bytes are handed out as they are and decoded on demand.
//! Source: Java Virtual Machine Specification, section 4.4.7. Must not
//! allocate unless a name is not valid UTF-8 and a caller asks for text.

use std::borrow::Cow;
use std::fmt;

/// A string of a class file: modified UTF-8, borrowed from its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JavaStr<'a>(&'a [u8]);

impl<'a> JavaStr<'a> {
    /// Wraps bytes that are meant to be modified UTF-8; they are not checked.
    pub const fn new(bytes: &'a [u8]) -> Self {
        JavaStr(bytes)
    }

    /// The bytes as they stand in the class file.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The text when the bytes are also valid UTF-8: true of every name without
    /// U+0000 and without characters beyond U+FFFF.
    pub fn to_str(self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }

    /// The text; surrogate pairs are joined, what is malformed becomes U+FFFD.
    pub fn to_lossy(self) -> Cow<'a, str> {
        match self.to_str() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(decode(self.0)),
        }
    }

    /// Whether the bytes begin with `prefix`.
    pub fn starts_with(self, prefix: &str) -> bool {
        self.0.starts_with(prefix.as_bytes())
    }
}

impl PartialEq<str> for JavaStr<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for JavaStr<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl fmt::Display for JavaStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_lossy())
    }
}

impl fmt::Debug for JavaStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.to_lossy(), f)
    }
}

#[cold]
fn decode(bytes: &[u8]) -> String {
    // Modified UTF-8 is UTF-16 with each unit written as one to three bytes.
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        let (unit, used) = match (*first, tail) {
            (a @ 0x01..=0x7f, _) => (u16::from(a), 1),
            (a @ 0xc0..=0xdf, [b @ 0x80..=0xbf, ..]) => (u16::from(a & 0x1f) << 6 | u16::from(b & 0x3f), 2),
            (a @ 0xe0..=0xef, [b @ 0x80..=0xbf, c @ 0x80..=0xbf, ..]) => {
                (u16::from(a & 0x0f) << 12 | u16::from(b & 0x3f) << 6 | u16::from(c & 0x3f), 3)
            }
            _ => (0xfffd, 1),
        };
        units.push(unit);
        rest = rest.get(used..).unwrap_or_default();
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_borrowed() {
        let name = JavaStr::new(b"java/lang/Object");
        assert_eq!(name, "java/lang/Object");
        assert!(matches!(name.to_lossy(), Cow::Borrowed(_)));
    }

    #[test]
    fn surrogate_pairs_and_nul_are_decoded() {
        // U+1F600 as two three-byte units, then U+0000 as C0 80.
        let name = JavaStr::new(&[0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80, 0xc0, 0x80]);
        assert_eq!(name.to_str(), None);
        assert_eq!(name.to_lossy(), "\u{1f600}\0");
    }

    #[test]
    fn malformed_bytes_become_replacement_characters() {
        assert_eq!(JavaStr::new(&[b'a', 0xff, 0xe1, 0x80]).to_lossy(), "a\u{fffd}\u{fffd}\u{fffd}");
    }
}
