//! Annotations of classes and methods: their type descriptors, on demand.
//!
//! Constraint: most policies ask about none, so nothing is parsed until the
//! iterator is pulled. Values are only stepped over. Source: Java Virtual
//! Machine Specification, sections 4.7.16 and 4.7.17. Must not recurse
//! without a bound: nested values are hostile input's favourite.

use crate::attribute::Attribute;
use crate::pool::Pool;
use crate::reader::{Cut, Reader};
use crate::text::JavaStr;

/// Deepest nesting of annotation values followed; javac's own output stays below 5.
const MAX_DEPTH: u32 = 64;

/// Descriptors of annotations, run-time visible and invisible ones, such as
/// `Ljava/lang/Deprecated;`. Ends early at malformed bytes.
#[derive(Clone)]
pub struct Annotations<'a> {
    pool: Pool<'a>,
    attributes: Reader<'a>,
    attributes_left: u16,
    current: Reader<'a>,
    current_left: u16,
}

impl<'a> Annotations<'a> {
    /// `attributes` stands at the count of an attribute list.
    pub(crate) fn new(pool: Pool<'a>, mut attributes: Reader<'a>) -> Self {
        let attributes_left = attributes.u2().unwrap_or(0);
        Annotations { pool, attributes, attributes_left, current: Reader::new(&[]), current_left: 0 }
    }

    fn step(&mut self) -> Result<Option<JavaStr<'a>>, Cut> {
        loop {
            if self.current_left > 0 {
                self.current_left -= 1;
                let descriptor = self.pool.text(self.current.u2()?);
                skip_pairs(&mut self.current, 0)?;
                if descriptor.is_some() {
                    return Ok(descriptor);
                }
                continue;
            }
            if self.attributes_left == 0 {
                return Ok(None);
            }
            self.attributes_left -= 1;
            let attribute = Attribute::read(&mut self.attributes)?;
            if let b"RuntimeVisibleAnnotations" | b"RuntimeInvisibleAnnotations" = attribute.name(&self.pool)
            {
                self.current = Reader::new(attribute.content);
                self.current_left = self.current.u2()?;
            }
        }
    }
}

impl<'a> Iterator for Annotations<'a> {
    type Item = JavaStr<'a>;

    fn next(&mut self) -> Option<JavaStr<'a>> {
        match self.step() {
            Ok(found) => found,
            Err(_) => {
                self.attributes_left = 0;
                self.current_left = 0;
                None
            }
        }
    }
}

/// Moves past the element-value pairs of an annotation; the reader stands at their count.
pub(crate) fn skip_pairs(r: &mut Reader<'_>, depth: u32) -> Result<(), Cut> {
    for _ in 0..r.u2()? {
        r.skip(2)?;
        skip_value(r, depth)?;
    }
    Ok(())
}

fn skip_value(r: &mut Reader<'_>, depth: u32) -> Result<(), Cut> {
    if depth > MAX_DEPTH {
        return Err(Cut { at: r.pos() });
    }
    match r.u1()? {
        b'e' => r.skip(4),
        b'@' => {
            r.skip(2)?;
            skip_pairs(r, depth + 1)
        }
        b'[' => {
            for _ in 0..r.u2()? {
                skip_value(r, depth + 1)?;
            }
            Ok(())
        }
        _ => r.skip(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_bounded() {
        let mut deep = vec![0, 1, 0, 0];
        for _ in 0..1000 {
            deep.extend([b'[', 0, 1]);
        }
        deep.extend([b'I', 0, 0]);
        assert!(skip_pairs(&mut Reader::new(&deep), 0).is_err());
    }

    #[test]
    fn values_of_every_kind_are_stepped_over() {
        let bytes = [
            0, 3, // three pairs
            0, 1, b'I', 0, 9, // name, int
            0, 1, b'e', 0, 1, 0, 2, // enum constant
            0, 1, b'[', 0, 1, b'@', 0, 7, 0, 0, // array of one annotation without pairs
        ];
        let mut r = Reader::new(&bytes);
        assert_eq!(skip_pairs(&mut r, 0), Ok(()));
        assert!(r.at_end());
    }
}
