//! What a policy sees of a method.
//!
//! Constraint: computed for every method with code, traced or not, in the one
//! pass over its instructions. Must not own anything.

use crate::annotations::Annotations;
use crate::pool::Pool;
use crate::reader::Reader;
use crate::text::JavaStr;

const ACC_PRIVATE: u16 = 0x0002;
const ACC_STATIC: u16 = 0x0008;
pub(crate) const ACC_SYNCHRONIZED: u16 = 0x0020;
const ACC_BRIDGE: u16 = 0x0040;
pub(crate) const ACC_NATIVE: u16 = 0x0100;
pub(crate) const ACC_ABSTRACT: u16 = 0x0400;
const ACC_SYNTHETIC: u16 = 0x1000;

/// A method with code, and what one pass over its instructions tells.
#[derive(Clone, Copy)]
pub struct MethodInfo<'a> {
    /// Position in the class file's list of methods.
    pub index: u16,
    /// Name, such as `run` or `<init>`.
    pub name: JavaStr<'a>,
    /// Descriptor, such as `(I)V`.
    pub descriptor: JavaStr<'a>,
    /// `access_flags`.
    pub access: u16,
    /// Bytecode instructions, each of any length.
    pub instructions: u32,
    /// Bytes of code.
    pub code_len: u32,
    /// `max_stack`, in words of 32 bits.
    pub max_stack: u16,
    /// `max_locals`, in words of 32 bits.
    pub max_locals: u16,
    /// Entries of the exception table.
    pub handlers: u16,
    /// Whether any instruction invokes a method (or an invokedynamic call site).
    pub has_call: bool,
    /// Whether any branch or switch goes backwards or to itself.
    pub has_loop: bool,
    /// Whether the method is synchronized or enters a monitor.
    pub has_lock: bool,
    /// First line of the first `LineNumberTable`.
    pub first_line: Option<u16>,
    pub(crate) pool: Pool<'a>,
    /// Stands at the count of the method's attributes.
    pub(crate) attributes: Reader<'a>,
}

impl<'a> MethodInfo<'a> {
    /// Descriptors of the method's own annotations, visible at run time or not.
    pub fn annotations(&self) -> Annotations<'a> {
        Annotations::new(self.pool, self.attributes)
    }

    /// Whether a compiler made the method to bridge two signatures.
    pub fn is_bridge(&self) -> bool {
        self.access & ACC_BRIDGE != 0
    }

    /// Whether a compiler made the method without source; lambda bodies are synthetic too.
    pub fn is_synthetic(&self) -> bool {
        self.access & ACC_SYNTHETIC != 0
    }

    /// Whether the method is static.
    pub fn is_static(&self) -> bool {
        self.access & ACC_STATIC != 0
    }

    /// Whether the method is private.
    pub fn is_private(&self) -> bool {
        self.access & ACC_PRIVATE != 0
    }

    /// Whether this is `<init>`.
    pub fn is_constructor(&self) -> bool {
        self.name == "<init>"
    }

    /// Whether this is `<clinit>`.
    pub fn is_static_initializer(&self) -> bool {
        self.name == "<clinit>"
    }
}
