//! Buffers that live from class to class.
//!
//! Constraint: a class is rewritten while the JVM waits for it, so after the
//! first few classes the only allocation left is the result itself. One per
//! thread; must not carry meaning from one class to the next.

use crate::class_file::MethodOutline;
use crate::code_attributes::{CodeAttribute, Names};
use crate::constructor::Paths;
use crate::exception_table::Moved;
use crate::pc_map::PcMap;
use crate::pool_append::PoolAppend;
use crate::scan::Event;

/// Reusable working memory of [`crate::rewrite`].
#[derive(Default)]
pub struct Scratch {
    /// Where each constant pool entry begins.
    pub(crate) offsets: Vec<u32>,
    /// Where each method's parts are.
    pub(crate) methods: Vec<MethodOutline>,
    pub(crate) work: Work,
}

/// What the methods of one class share.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) events: Vec<Event>,
    pub(crate) pool: PoolAppend,
    /// The bytes behind the constant pool, up to the last rewritten method.
    pub(crate) body: Vec<u8>,
    pub(crate) layout: Layout,
}

/// What one method needs.
#[derive(Default)]
pub(crate) struct Layout {
    pub(crate) map: PcMap,
    pub(crate) moved: Moved,
    pub(crate) paths: Paths,
    /// Kinds of the attributes of `Code`, in order.
    pub(crate) kinds: Vec<CodeAttribute>,
    /// What the class's attribute names have turned out to be.
    pub(crate) names: Names,
}

impl Scratch {
    /// Empty buffers; they grow to what the largest class needs.
    pub fn new() -> Self {
        Scratch::default()
    }
}
