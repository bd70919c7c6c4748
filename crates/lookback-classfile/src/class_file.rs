//! The outline of a class file: where its parts are.
//!
//! Constraint: the class's own attributes stand behind its methods, and the
//! policy wants them first; so the first walk steps over the methods and notes
//! where each one's code is, and the second does not walk them again. Source:
//! Java Virtual Machine Specification, chapter 4. Must not look into code.

use crate::attribute::{Attribute, skip_all};
use crate::class_info::{ClassInfo, Head};
use crate::error::Error;
use crate::pool::{self, Pool};
use crate::reader::Reader;
use crate::scratch::Work;
use crate::text::JavaStr;

/// Offset of `constant_pool_count`.
const POOL_COUNT_AT: usize = 8;

/// Where a method's parts are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MethodOutline {
    /// Offset of the method.
    at: usize,
    /// Offset of its `Code` attribute; 0 when it has none.
    code_at: usize,
    /// Whether it has more than one.
    code_twice: bool,
}

/// A class file whose outline has been read.
pub(crate) struct ClassFile<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) pool: Pool<'a>,
    pub(crate) pool_count: u16,
    pub(crate) pool_end: usize,
    pub(crate) info: ClassInfo<'a>,
}

impl<'a> ClassFile<'a> {
    /// Reads the outline; `offsets` and `methods` are filled anew.
    pub(crate) fn read(
        bytes: &'a [u8],
        offsets: &'a mut Vec<u32>,
        methods: &mut Vec<MethodOutline>,
    ) -> Result<Self, Error> {
        let mut r = Reader::new(bytes);
        let magic = r.u4()?;
        if magic != 0xcafe_babe {
            return Err(Error::BadMagic { found: magic });
        }
        let (minor, major) = (r.u2()?, r.u2()?);
        if (major, minor) < (45, 3) {
            return Err(Error::UnsupportedVersion { major, minor });
        }
        let pool_count = r.u2()?;
        let pool_end = pool::index(bytes, r.pos(), pool_count, offsets)?;
        let pool = Pool::new(bytes, offsets);
        let mut r = Reader::at(bytes, pool_end);
        let (access, this_class, super_class) = (r.u2()?, r.u2()?, r.u2()?);
        let interfaces = usize::from(r.u2()?);
        r.skip(interfaces * 2)?;
        for _ in 0..r.u2()? {
            r.skip(6)?;
            skip_all(&mut r)?;
        }
        let method_count = outline_methods(&mut r, &pool, methods)?;
        let attributes_at = r.pos();
        skip_all(&mut r)?;
        let named = |index: u16| pool.class_name(index).ok_or(Error::BadConstant { index });
        let head = Head {
            name: named(this_class)?,
            super_name: if super_class == 0 { None } else { Some(named(super_class)?) },
            access,
            major,
            minor,
            method_count,
        };
        let info = ClassInfo::new(head, bytes, attributes_at, pool);
        Ok(ClassFile { bytes, pool, pool_count, pool_end, info })
    }

    /// The new file: header, old pool, appended pool, `body`, and what `body` does not cover.
    pub(crate) fn assemble(&self, work: &Work, copied: usize) -> Vec<u8> {
        let appended = work.pool.bytes();
        let rest = self.bytes.get(copied..).unwrap_or_default();
        let old_pool = self.bytes.get(POOL_COUNT_AT + 2..self.pool_end).unwrap_or_default();
        let length = self.pool_end + appended.len() + work.body.len() + rest.len();
        let mut out = Vec::with_capacity(length);
        out.extend_from_slice(self.bytes.get(..POOL_COUNT_AT).unwrap_or_default());
        out.extend_from_slice(&work.pool.count().to_be_bytes());
        out.extend_from_slice(old_pool);
        out.extend_from_slice(appended);
        out.extend_from_slice(&work.body);
        out.extend_from_slice(rest);
        out
    }
}

/// Steps over the methods; returns how many there are.
fn outline_methods(
    r: &mut Reader<'_>,
    pool: &Pool<'_>,
    methods: &mut Vec<MethodOutline>,
) -> Result<u16, Error> {
    methods.clear();
    let count = r.u2()?;
    // The name `Code` is one and the same entry throughout a class: compared once as text, then as index.
    let mut code_name = None;
    for _ in 0..count {
        let mut outline = MethodOutline { at: r.pos(), code_at: 0, code_twice: false };
        r.skip(6)?;
        for _ in 0..r.u2()? {
            let at = r.pos();
            let name = r.u2()?;
            let length = r.u4()? as usize;
            r.skip(length)?;
            if code_name == Some(name) || pool.utf8(name) == Some(b"Code") {
                code_name = Some(name);
                outline.code_twice = outline.code_at != 0;
                outline.code_at = at;
            }
        }
        methods.push(outline);
    }
    Ok(count)
}

/// A method's own parts.
pub(crate) struct Method<'a> {
    pub(crate) access: u16,
    pub(crate) name: JavaStr<'a>,
    pub(crate) descriptor: JavaStr<'a>,
    /// Stands at the count of its attributes.
    pub(crate) attributes: Reader<'a>,
    pub(crate) code: CodeAt<'a>,
}

/// What there is of code.
#[derive(Clone, Copy)]
pub(crate) enum CodeAt<'a> {
    None,
    /// More than one `Code` attribute.
    Several,
    One {
        /// Offset of the attribute's header.
        at: usize,
        attribute: Attribute<'a>,
    },
}

impl<'a> Method<'a> {
    pub(crate) fn read(class_file: &ClassFile<'a>, outline: &MethodOutline) -> Result<Self, Error> {
        let mut r = Reader::at(class_file.bytes, outline.at);
        let (access, name, descriptor) = (r.u2()?, r.u2()?, r.u2()?);
        let text = |index: u16| class_file.pool.text(index).ok_or(Error::BadConstant { index });
        let code = match outline {
            MethodOutline { code_at: 0, .. } => CodeAt::None,
            MethodOutline { code_twice: true, .. } => CodeAt::Several,
            MethodOutline { code_at: at, .. } => {
                CodeAt::One { at: *at, attribute: Attribute::read(&mut Reader::at(class_file.bytes, *at))? }
            }
        };
        Ok(Method { access, name: text(name)?, descriptor: text(descriptor)?, attributes: r, code })
    }
}
