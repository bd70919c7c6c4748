//! The pass over a class file: asks the policy, copies, rewrites.
//!
//! Constraint: runs inside class loading, so the file is walked twice at most
//! (the class's own attributes stand behind its methods) and everything that
//! is not rewritten is copied in whole runs. Source: Java Virtual Machine
//! Specification, chapter 4. Must not fail a class because of one method.

use crate::attribute::{Attribute, skip_all};
use crate::class_info::{ClassInfo, Head};
use crate::code::{Code, Request, with_header};
use crate::error::Error;
use crate::method_info::{ACC_ABSTRACT, ACC_NATIVE, ACC_SYNCHRONIZED, MethodInfo};
use crate::opcode::RETURN;
use crate::outcome::{Outcome, Refused, SkipReason, Traced};
use crate::pool::{self, Pool};
use crate::probe::{Kind, MethodId, Policy, Probe, TracePoints};
use crate::reader::Reader;
use crate::scan::scan;
use crate::scratch::{Scratch, Work};
use crate::text::JavaStr;
use crate::trace_code::TraceCode;

/// Offset of `constant_pool_count`.
const POOL_COUNT_AT: usize = 8;

/// Puts trace points into the methods of the class file `bytes` that `policy` picks.
///
/// Never panics, whatever the bytes are. A method that cannot be rewritten
/// is left as it was and counted in [`Outcome::skipped`].
///
/// # Errors
///
/// When the class file cannot be read as a whole: cut short, not a class
/// file, older than 45.3, or with a constant pool of unknown structure.
pub fn rewrite(
    bytes: &[u8],
    points: &TracePoints,
    policy: &mut dyn Policy,
    scratch: &mut Scratch,
) -> Result<Outcome, Error> {
    let Scratch { offsets, work } = scratch;
    let class_file = ClassFile::read(bytes, offsets)?;
    let mut outcome = Outcome::default();
    if !policy.class(&class_file.info) {
        return Ok(outcome);
    }
    work.body.clear();
    work.pool.reset(class_file.pool_count);
    let mut r = Reader::at(bytes, class_file.methods_at);
    let mut copied = class_file.pool_end;
    for index in 0..class_file.info.method_count {
        let method = Method::read(&mut r, index, &class_file)?;
        let mut pass = Pass { class_file: &class_file, points, policy, work, copied: &mut copied };
        match pass.method(&method) {
            Ok(Some(id)) => outcome.traced.push(Traced { id, index }),
            Ok(None) => {}
            Err(Failed { reason, id }) => {
                outcome.skipped.note(reason);
                if let Some(id) = id {
                    outcome.refused.push(Refused { id, index, reason });
                }
            }
        }
    }
    if !outcome.traced.is_empty() {
        outcome.bytes = Some(class_file.assemble(work, copied));
    }
    Ok(outcome)
}

/// A class file whose outline has been read.
struct ClassFile<'a> {
    bytes: &'a [u8],
    pool: Pool<'a>,
    pool_count: u16,
    pool_end: usize,
    /// Offset of the first method.
    methods_at: usize,
    info: ClassInfo<'a>,
}

impl<'a> ClassFile<'a> {
    fn read(bytes: &'a [u8], offsets: &'a mut Vec<u32>) -> Result<Self, Error> {
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
        let method_count = r.u2()?;
        let methods_at = r.pos();
        for _ in 0..method_count {
            r.skip(6)?;
            skip_all(&mut r)?;
        }
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
        Ok(ClassFile { bytes, pool, pool_count, pool_end, methods_at, info })
    }

    /// The new file: header, old pool, appended pool, `body`, and what `body` does not cover.
    fn assemble(&self, work: &Work, copied: usize) -> Vec<u8> {
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

/// A method's outline.
struct Method<'a> {
    index: u16,
    access: u16,
    name: JavaStr<'a>,
    descriptor: JavaStr<'a>,
    /// Stands at the count of its attributes.
    attributes: Reader<'a>,
    /// The `Code` attribute and the offset it begins at; `Err` when there are two.
    code: Result<Option<(usize, Attribute<'a>)>, SkipReason>,
}

impl<'a> Method<'a> {
    fn read(r: &mut Reader<'a>, index: u16, class_file: &ClassFile<'a>) -> Result<Self, Error> {
        let (access, name, descriptor) = (r.u2()?, r.u2()?, r.u2()?);
        let text = |index: u16| class_file.pool.text(index).ok_or(Error::BadConstant { index });
        let attributes = *r;
        let mut code = Ok(None);
        for _ in 0..r.u2()? {
            let at = r.pos();
            let attribute = Attribute::read(r)?;
            if attribute.name(&class_file.pool) == b"Code" {
                code = match code {
                    Ok(None) => Ok(Some((at, attribute))),
                    _ => Err(SkipReason::Malformed),
                };
            }
        }
        Ok(Method { index, access, name: text(name)?, descriptor: text(descriptor)?, attributes, code })
    }
}

/// Why a method was left alone, and the id it would have had.
struct Failed {
    reason: SkipReason,
    id: Option<MethodId>,
}

impl From<SkipReason> for Failed {
    fn from(reason: SkipReason) -> Self {
        Failed { reason, id: None }
    }
}

/// The state of the pass over the methods.
struct Pass<'a, 'b> {
    class_file: &'b ClassFile<'a>,
    points: &'b TracePoints,
    policy: &'b mut dyn Policy,
    work: &'b mut Work,
    /// Offset up to which the body has the file's bytes.
    copied: &'b mut usize,
}

impl<'a> Pass<'a, '_> {
    /// Handles one method: the id it is traced with, `None` when the policy did not want it.
    fn method(&mut self, method: &Method<'a>) -> Result<Option<MethodId>, Failed> {
        let Some((code_at, attribute)) = method.code? else {
            return Err(match method.access {
                access if access & ACC_NATIVE != 0 => SkipReason::Native,
                access if access & ACC_ABSTRACT != 0 => SkipReason::Abstract,
                _ => SkipReason::Malformed,
            }
            .into());
        };
        let Work { events, pool: appended, body, layout } = &mut *self.work;
        let code = Code::parse(attribute.content, &self.class_file.pool, &mut layout.kinds)?;
        let facts = scan(code.code, events)?;
        if is_known_to_vm(self.class_file, method, code.code) {
            return Err(SkipReason::KnownToVm.into());
        }
        let info = MethodInfo {
            index: method.index,
            name: method.name,
            descriptor: method.descriptor,
            access: method.access,
            instructions: facts.instructions,
            code_len: code.code.len() as u32,
            max_stack: code.max_stack,
            max_locals: code.max_locals,
            handlers: (code.handlers.len() / crate::exception_table::ENTRY) as u16,
            has_call: facts.has_call,
            has_loop: facts.has_loop,
            has_lock: facts.has_monitor || method.access & ACC_SYNCHRONIZED != 0,
            first_line: code.first_line,
            pool: self.class_file.pool,
            attributes: method.attributes,
        };
        let (kind, id, rule) = match self.policy.method(&self.class_file.info, &info) {
            Probe::None => return Ok(None),
            Probe::Plain(id) => (Kind::Plain, id, 0),
            Probe::Timed(id) => (Kind::Timed, id, 0),
            Probe::Watched { id, rule } => (Kind::Watched, id, rule),
        };
        let failed = |reason| Failed { reason, id: Some(id) };
        let trace = TraceCode::new(self.points, kind, id, rule, appended)
            .ok_or_else(|| failed(SkipReason::TableFull))?;
        let request = Request {
            code,
            events: events.get(..facts.events).unwrap_or_default(),
            pool: self.class_file.pool,
            major: self.class_file.info.major,
            calls_super: info.is_constructor(),
            trace,
        };
        let body_before = body.len();
        body.extend_from_slice(self.class_file.bytes.get(*self.copied..code_at).unwrap_or_default());
        match with_header(attribute.name_index, body, |body| request.write(layout, appended, body)) {
            Ok(()) => {
                // Name index and length stand before the content.
                *self.copied = code_at + 6 + attribute.content.len();
                Ok(Some(id))
            }
            Err(reason) => {
                body.truncate(body_before);
                Err(failed(reason))
            }
        }
    }
}

/// See [`SkipReason::KnownToVm`].
fn is_known_to_vm(class_file: &ClassFile<'_>, method: &Method<'_>, code: &[u8]) -> bool {
    let empty_finalizer = code == [RETURN] && method.name == "finalize" && method.descriptor == "()V";
    empty_finalizer || method.name == "<init>" && class_file.info.super_name.is_none()
}
