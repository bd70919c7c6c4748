//! A `Code` attribute: its parts, and the rewriting of one method's.
//!
//! Constraint: whatever goes wrong here concerns one method, which then stays
//! as it was; so everything is appended to a buffer the caller can cut back.
//! Source: Java Virtual Machine Specification, section 4.7.3. Must not ask the
//! policy; `rewrite` does.

use crate::attribute::Attribute;
use crate::code_attributes::{self, CodeAttribute, Names, first_line, middle_pc};
use crate::constructor::Constructor;
use crate::outcome::SkipReason;
use crate::pc_map::Insertions;
use crate::pool::Pool;
use crate::pool_append::PoolAppend;
use crate::reader::Reader;
use crate::scan::{Event, MAX_CODE};
use crate::scratch::Layout;
use crate::trace_code::TraceCode;
use crate::{code_bytes, exception_table, frames};

/// Longest code HotSpot compiles, unless told otherwise: `HugeMethodLimit` of its `globals.hpp`.
const HOTSPOT_COMPILE_LIMIT: u32 = 8000;

/// Since this major version (Java 6) frames accompany the code.
const FIRST_WITH_FRAMES: u16 = 50;

/// The parts of a `Code` attribute.
#[derive(Clone, Copy)]
pub(crate) struct Code<'a> {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) code: &'a [u8],
    /// Rows of the exception table.
    pub(crate) handlers: &'a [u8],
    /// Stands at the first attribute.
    attributes: Reader<'a>,
    attribute_count: u16,
    pub(crate) first_line: Option<u16>,
    /// Address of the instruction in the middle of the line numbers.
    pub(crate) middle: Option<u16>,
}

impl<'a> Code<'a> {
    /// Reads the parts and notes the kinds of the attributes.
    pub(crate) fn parse(
        content: &'a [u8],
        pool: &Pool<'a>,
        kinds: &mut Vec<CodeAttribute>,
        names: &mut Names,
    ) -> Result<Self, SkipReason> {
        let mut r = Reader::new(content);
        let (max_stack, max_locals) = (r.u2()?, r.u2()?);
        let code_len = r.u4()? as usize;
        let code = r.take(code_len)?;
        let handlers = exception_table::read(&mut r)?;
        let attribute_count = r.u2()?;
        let attributes = r;
        kinds.clear();
        let mut lines: Option<&[u8]> = None;
        let mut has_frames = false;
        for _ in 0..attribute_count {
            let attribute = Attribute::read(&mut r)?;
            let kind = names.kind(attribute.name_index, pool);
            if kind == CodeAttribute::LineNumbers && lines.is_none() {
                lines = Some(attribute.content);
            }
            if kind == CodeAttribute::StackMapTable && std::mem::replace(&mut has_frames, true) {
                return Err(SkipReason::Malformed);
            }
            kinds.push(kind);
        }
        if !r.at_end() {
            return Err(SkipReason::Malformed);
        }
        let (first_line, middle) = (lines.and_then(first_line), lines.and_then(middle_pc));
        Ok(Code { max_stack, max_locals, code, handlers, attributes, attribute_count, first_line, middle })
    }
}

/// What rewriting one method needs to know.
pub(crate) struct Request<'a> {
    pub(crate) code: Code<'a>,
    pub(crate) events: &'a [Event],
    pub(crate) pool: Pool<'a>,
    /// Major version of the class.
    pub(crate) major: u16,
    /// A constructor of a class that has a super class; `Object`'s own is left alone.
    pub(crate) calls_super: bool,
    pub(crate) trace: TraceCode,
}

impl Request<'_> {
    /// Appends the new content of the `Code` attribute to `out`.
    pub(crate) fn write(
        &self,
        layout: &mut Layout,
        appended: &mut PoolAppend,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let Request { code, events, ref trace, .. } = *self;
        let needed = code.max_stack.checked_add(trace.stack).ok_or(SkipReason::StackTooDeep)?;
        // The handler has a Throwable below what the exit code pushes.
        let max_stack = needed.max(1 + trace.stack);

        let (entry_pc, this) = if self.calls_super {
            let constructor =
                Constructor { code: code.code, events, handlers: code.handlers, pool: self.pool };
            let pc = constructor.initialized_at(&mut layout.paths).ok_or(SkipReason::ConstructorFlow)?;
            (pc, frames::This::UninitializedBefore(pc))
        } else {
            (0, frames::This::Initialized)
        };
        let insertions = Insertions { entry_pc, entry_len: trace.entry.len(), exit_len: trace.exit.len() };
        layout.map.build(code.code, events, insertions)?;
        let new_len = layout.map.new_len() + trace.handler.len();
        if new_len as usize > MAX_CODE {
            return Err(SkipReason::CodeTooLarge);
        }
        if layout.map.old_len() <= HOTSPOT_COMPILE_LIMIT && new_len > HOTSPOT_COMPILE_LIMIT {
            return Err(SkipReason::PastCompileLimit);
        }

        out.extend_from_slice(&max_stack.to_be_bytes());
        out.extend_from_slice(&code.max_locals.to_be_bytes());
        out.extend_from_slice(&new_len.to_be_bytes());
        code_bytes::write(code.code, events, &layout.map, entry_pc, trace, out)?;
        exception_table::write(code.handlers, &layout.map, entry_pc, &mut layout.moved, out)?;
        self.write_attributes(layout, this, appended, out)
    }

    fn write_attributes(
        &self,
        layout: &Layout,
        this: frames::This,
        appended: &mut PoolAppend,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let had_frames = layout.kinds.contains(&CodeAttribute::StackMapTable);
        let adds_frames = !had_frames && self.major >= FIRST_WITH_FRAMES;
        let count = self.code.attribute_count.checked_add(u16::from(adds_frames));
        out.extend_from_slice(&count.ok_or(SkipReason::TableFull)?.to_be_bytes());
        let mut r = self.code.attributes;
        for kind in &layout.kinds {
            let Attribute { name_index, content } = Attribute::read(&mut r)?;
            with_header(name_index, out, |out| match kind {
                CodeAttribute::StackMapTable => {
                    let throwable = appended.throwable().ok_or(SkipReason::TableFull)?;
                    frames::write(content, &layout.map, this, throwable, out)
                }
                kind => code_attributes::write(*kind, content, &layout.map, &layout.moved, out),
            })?;
        }
        if adds_frames {
            let throwable = appended.throwable().ok_or(SkipReason::TableFull)?;
            let name_index = appended.stack_map_table().ok_or(SkipReason::TableFull)?;
            with_header(name_index, out, |out| {
                frames::write(frames::EMPTY, &layout.map, this, throwable, out)
            })?;
        }
        Ok(())
    }
}

/// Appends an attribute: name, the length of what `content` appends, and that.
pub(crate) fn with_header(
    name_index: u16,
    out: &mut Vec<u8>,
    content: impl FnOnce(&mut Vec<u8>) -> Result<(), SkipReason>,
) -> Result<(), SkipReason> {
    out.extend_from_slice(&name_index.to_be_bytes());
    let length_at = out.len();
    out.extend_from_slice(&[0; 4]);
    content(out)?;
    let length = (out.len() - length_at - 4) as u32;
    if let Some(slot) = out.get_mut(length_at..length_at + 4) {
        slot.copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}
