//! From an incident's events and symbols to slices, and from slices to what people read: the report in words,
//! the report page, a Perfetto trace, Chrome JSON and collapsed stacks.
//!
//! The constraint that shaped it: a full 64 MB ring is 16 million slots, and its decode has two seconds and
//! 512 MB. So slices are columns ([`Columns`]), one set a thread, in call order; nothing is boxed per slice,
//! and every output is written as it goes. This crate must not open files, print, or know the agent.

mod clock;
mod columns;
mod decode;
mod error;
mod methods;
mod pieces;
mod recording;
mod survey;

pub use columns::{Columns, Flags, Slice, SliceIndex};
pub use error::{Error, Result};
pub use methods::{MethodInfo, Methods};
pub use recording::{Builder, Gap, GapKind, Pause, Recording, SliceRef, ThreadTrack};
