//! Attribute headers: name index, length, content.
//!
//! Constraint: walked for every method of every class, so nothing is copied
//! and names are compared as bytes. Must not interpret contents.

use crate::pool::Pool;
use crate::reader::{Cut, Reader};

/// One attribute of a class, field, method or `Code`.
#[derive(Clone, Copy)]
pub(crate) struct Attribute<'a> {
    /// Constant pool index of the name.
    pub(crate) name_index: u16,
    /// The bytes behind the length field.
    pub(crate) content: &'a [u8],
}

impl<'a> Attribute<'a> {
    /// Reads a header and its content.
    #[inline]
    pub(crate) fn read(r: &mut Reader<'a>) -> Result<Self, Cut> {
        let name_index = r.u2()?;
        let length = r.u4()? as usize;
        Ok(Attribute { name_index, content: r.take(length)? })
    }

    pub(crate) fn name(&self, pool: &Pool<'a>) -> &'a [u8] {
        pool.utf8(self.name_index).unwrap_or_default()
    }
}

/// Moves past a count and that many attributes.
#[inline]
pub(crate) fn skip_all(r: &mut Reader<'_>) -> Result<(), Cut> {
    for _ in 0..r.u2()? {
        r.skip(2)?;
        let length = r.u4()? as usize;
        r.skip(length)?;
    }
    Ok(())
}
