//! Lookback's bytecode rewriter: class file bytes in, class file bytes out.
//!
//! Constraint: it runs inside class loading, on every class of somebody else's
//! program, so it is one pass over the bytes, keeps its working memory from
//! class to class, never panics, and leaves alone and counts whatever it
//! cannot rewrite soundly. It must not do I/O, know a JVM, or keep global state.
//!
//! A rewritten method calls a static method at its entry and before each
//! return, and has a catch-all handler that calls the exit method and throws
//! on:
//!
//! ```text
//!         push id; invokestatic enter
//! body:   ...                                   branches to the old start go here
//!         push id; invokestatic exit; return    branches to a return go before the exit
//!         ...
//! end:    push id; invokestatic exit; athrow    handles body..end, after all other handlers
//! ```
//!
//! In a constructor the entry stands behind the call of `super(...)` or
//! `this(...)`, and the handler covers only what follows it. The constant pool's
//! bytes are copied and appended to; the rest of the class is copied, so indices
//! into the pool stay what they were.
//!
//! Entry point: [`rewrite`].
//!
//! ```
//! use lookback_classfile::{ClassInfo, MethodId, MethodInfo, Policy, Probe, Scratch, TracePoints, rewrite};
//!
//! /// Traces every method that calls another.
//! struct Calls(u32);
//!
//! impl Policy for Calls {
//!     fn class(&mut self, class: &ClassInfo<'_>) -> bool {
//!         !class.name.starts_with("java/lang/")
//!     }
//!
//!     fn method(&mut self, _: &ClassInfo<'_>, method: &MethodInfo<'_>) -> Probe {
//!         if !method.has_call {
//!             return Probe::None;
//!         }
//!         self.0 += 1;
//!         Probe::Plain(MethodId(self.0))
//!     }
//! }
//!
//! let points = TracePoints::in_class("java/lang/LookbackTracePoint");
//! let not_a_class = rewrite(b"PK\x03\x04", &points, &mut Calls(0), &mut Scratch::new());
//! assert_eq!(not_a_class.unwrap_err().to_string(), "class file not read: it begins with 504b0304 instead of cafebabe");
//! ```

mod annotations;
mod attribute;
mod class_file;
mod class_info;
mod code;
mod code_attributes;
mod code_bytes;
mod constructor;
mod error;
mod exception_table;
mod frames;
mod method_info;
mod opcode;
mod outcome;
mod pc_map;
mod pool;
mod pool_append;
mod probe;
mod reader;
mod rewrite;
mod scan;
mod scratch;
mod stack_effect;
mod switch;
mod text;
mod trace_code;

pub use annotations::Annotations;
pub use class_info::ClassInfo;
pub use error::Error;
pub use method_info::MethodInfo;
pub use outcome::{Outcome, Refused, SkipCounts, SkipReason, Traced};
pub use probe::{MethodId, Policy, Probe, TracePoints};
pub use rewrite::rewrite;
pub use scratch::Scratch;
pub use text::JavaStr;
