//! The pass over a class file: asks the policy, copies, rewrites.
//!
//! Constraint: runs inside class loading, so everything that is not rewritten
//! is copied in whole runs. Must not fail a class because of one method.

use crate::class_file::{ClassFile, CodeAt, Method};
use crate::code::{Code, Request, with_header};
use crate::error::Error;
use crate::method_info::{ACC_ABSTRACT, ACC_NATIVE, ACC_SYNCHRONIZED, MethodInfo};
use crate::opcode::RETURN;
use crate::outcome::{Outcome, Refused, SkipReason, Traced};
use crate::probe::{Kind, MethodId, Policy, Probe, TracePoints, Value};
use crate::scan::scan;
use crate::scratch::{Scratch, Work};
use crate::trace_code::TraceCode;

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
    let Scratch { offsets, methods, work } = scratch;
    let class_file = ClassFile::read(bytes, offsets, methods)?;
    let mut outcome = Outcome::default();
    if !policy.class(&class_file.info) {
        return Ok(outcome);
    }
    work.body.clear();
    work.pool.reset(class_file.pool_count);
    work.layout.names.reset();
    let mut pass = Pass { class_file: &class_file, points, policy, work, copied: class_file.pool_end };
    for (index, outline) in methods.iter().enumerate() {
        // The count of methods is 16 bits wide.
        let index = index as u16;
        match pass.method(index, &Method::read(&class_file, outline)?) {
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
        outcome.bytes = Some(class_file.assemble(pass.work, pass.copied));
    }
    Ok(outcome)
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
    copied: usize,
}

impl<'a> Pass<'a, '_> {
    /// Handles one method: the id it is traced with, `None` when the policy did not want it.
    fn method(&mut self, index: u16, method: &Method<'a>) -> Result<Option<MethodId>, Failed> {
        let (code_at, attribute) = match method.code {
            CodeAt::One { at, attribute } => (at, attribute),
            CodeAt::None if method.access & ACC_NATIVE != 0 => return Err(SkipReason::Native.into()),
            CodeAt::None if method.access & ACC_ABSTRACT != 0 => return Err(SkipReason::Abstract.into()),
            CodeAt::None | CodeAt::Several => return Err(SkipReason::Malformed.into()),
        };
        let Work { events, pool: appended, body, layout } = &mut *self.work;
        let code =
            Code::parse(attribute.content, &self.class_file.pool, &mut layout.kinds, &mut layout.names)?;
        let facts = scan(code.code, code.middle, events)?;
        if is_known_to_vm(self.class_file, method, code.code) {
            return Err(SkipReason::KnownToVm.into());
        }
        let info = MethodInfo {
            index,
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
            Probe::Precise(id) => (Kind::Precise, id, 0),
            Probe::Watched { id, rule } => (Kind::Watched, id, rule),
            Probe::Mount(id) => (Kind::Mount, id, 0),
            Probe::Unmount(id) => (Kind::Unmount, id, 0),
            Probe::Ready => (Kind::Ready, MethodId(0), 0),
        };
        let failed = |reason| Failed { reason, id: Some(id) };
        let returns = Value::returned_by(method.descriptor.as_bytes());
        let trace = TraceCode::new(self.points, kind, id, rule, returns, appended)
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
        body.extend_from_slice(self.class_file.bytes.get(self.copied..code_at).unwrap_or_default());
        match with_header(attribute.name_index, body, |body| request.write(layout, appended, body)) {
            Ok(()) => {
                // Name index and length stand before the content.
                self.copied = code_at + 6 + attribute.content.len();
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
