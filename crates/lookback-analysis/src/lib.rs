//! From an incident's events and symbols to slices, and from slices to what people read: the report in words,
//! the report page, a Perfetto trace, Chrome JSON and collapsed stacks.
//!
//! The constraint that shaped it: a full 64 MB ring is 16 million slots, and its decode has two seconds and
//! 512 MB. So slices are columns ([`Columns`]), one set a thread, in call order; nothing is boxed per slice,
//! and every output is written as it goes. This crate must not open files, print, or know the agent.

mod bridge;
mod chain;
mod chrome;
mod clock;
mod collapsed;
mod columns;
mod decode;
mod details;
mod embed;
mod error;
mod fold;
mod holder;
mod jfr;
mod kinds;
mod methods;
mod natives;
mod page;
mod page_samples;
mod perfetto;
mod pieces;
mod pprof;
mod recording;
mod report;
mod sampled_calls;
mod samples;
mod spans;
mod survey;
mod trim;
mod verdict;
mod virtual_threads;
mod waits;
mod words;

pub use chain::{Chain, Link};
pub use chrome::chrome_json;
pub use collapsed::{collapsed, collapsed_samples};
pub use columns::{Columns, Flags, Slice, SliceIndex};
pub use details::{Details, value_words};
pub use embed::{PLACEHOLDER, embed};
pub use error::{Error, Result};
pub use holder::{Evidence, Holder};
pub use jfr::{JfrSamples, jfr, read_jfr};
pub use kinds::Kind;
pub use methods::{MethodInfo, Methods};
pub use natives::Process;
pub use page::{DEFAULT_SLICES, page_json};
pub use perfetto::perfetto;
pub use pprof::pprof;
pub use recording::{Builder, DEFAULT_KEPT, Gap, GapKind, Pause, Recording, SliceRef, ThreadTrack};
pub use report::{Style, report};
pub use samples::{ContextId, Contexts, Hot, Samples};
pub use trim::Trim;
pub use verdict::{Siblings, SlowCall, Verdict};
pub use waits::{LongestWait, WaitTotal, Waits};
