//! What a policy sees of a class.
//!
//! Constraint: handed out before any method is looked at, so its parts are
//! names and flags that one cheap pass finds. Must not own anything.

use crate::annotations::Annotations;
use crate::attribute::Attribute;
use crate::pool::Pool;
use crate::reader::Reader;
use crate::text::JavaStr;

const ACC_INTERFACE: u16 = 0x0200;
const ACC_SYNTHETIC: u16 = 0x1000;

/// A class as its file describes it.
#[derive(Clone, Copy)]
pub struct ClassInfo<'a> {
    /// Internal name, such as `java/lang/Object`.
    pub name: JavaStr<'a>,
    /// Internal name of the super class; `None` for `java/lang/Object` and modules.
    pub super_name: Option<JavaStr<'a>>,
    /// `access_flags`.
    pub access: u16,
    /// Major version: 45 is Java 1.1, 52 is Java 8, 61 is Java 17, 69 is Java 25.
    pub major: u16,
    /// Minor version; 65535 marks preview features.
    pub minor: u16,
    /// The `SourceFile` attribute.
    pub source_file: Option<JavaStr<'a>>,
    /// Methods in the file, abstract and native ones included.
    pub method_count: u16,
    pub(crate) pool: Pool<'a>,
    /// The whole file and where its class attributes begin.
    bytes: &'a [u8],
    attributes_at: usize,
}

impl<'a> ClassInfo<'a> {
    /// Reads the class attributes; `head` brings the other fields.
    pub(crate) fn new(head: Head<'a>, bytes: &'a [u8], attributes_at: usize, pool: Pool<'a>) -> Self {
        let mut info = ClassInfo {
            name: head.name,
            super_name: head.super_name,
            access: head.access,
            major: head.major,
            minor: head.minor,
            source_file: None,
            method_count: head.method_count,
            pool,
            bytes,
            attributes_at,
        };
        info.source_file = info.find_source_file();
        info
    }

    fn find_source_file(&self) -> Option<JavaStr<'a>> {
        let mut r = Reader::at(self.bytes, self.attributes_at);
        for _ in 0..r.u2().ok()? {
            let attribute = Attribute::read(&mut r).ok()?;
            if attribute.name(&self.pool) == b"SourceFile" {
                return self.pool.text(Reader::new(attribute.content).u2().ok()?);
            }
        }
        None
    }

    /// Descriptors of the class's own annotations, visible at run time or not.
    pub fn annotations(&self) -> Annotations<'a> {
        Annotations::new(self.pool, Reader::at(self.bytes, self.attributes_at))
    }

    /// Whether this is an interface (or an annotation type).
    pub fn is_interface(&self) -> bool {
        self.access & ACC_INTERFACE != 0
    }

    /// Whether a compiler made the class without source.
    pub fn is_synthetic(&self) -> bool {
        self.access & ACC_SYNTHETIC != 0
    }
}

/// The part of [`ClassInfo`] that stands before the methods.
pub(crate) struct Head<'a> {
    pub(crate) name: JavaStr<'a>,
    pub(crate) super_name: Option<JavaStr<'a>>,
    pub(crate) access: u16,
    pub(crate) major: u16,
    pub(crate) minor: u16,
    pub(crate) method_count: u16,
}
