//! An always-on flight recorder for programs: instants and spans, with typed fields, into a ring of a fixed size
//! that keeps the latest of all threads, of any number of processes.
//!
//! The constraint that shaped it: recording runs in the middle of somebody else's program, all the time. An event
//! costs the clock and a few stores; nobody waits for anybody, and a process that is killed at any instruction
//! leaves a file that the others go on with. The crate depends on the standard library and `libc` only, prints
//! nothing, starts no thread and takes no signal. It must not know of the JVM or of what reads recordings.
//!
//! ```
//! use lookback_recorder::{EventType, Level, Recorder};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("shop.ring");
//! let recorder = Recorder::open_or_create(&path)?;
//! let net = recorder.category("net");
//! let request: EventType<(u64, bool)> = net.event_type("request", Level::Info, ["bytes", "cached"]);
//! let query: EventType<u32, str> = net.event_type_with("query", Level::Debug, ["rows"], "text");
//!
//! let serving = request.span((512, true));
//! query.instant_with(3, "select 1"); // Not recorded: new categories let `info` pass.
//! net.set_level(Level::Debug); // In all processes that share the file.
//! query.instant_with(3, "select 1");
//! drop(serving);
//!
//! let snapshot = recorder.snapshot();
//! let events: Vec<String> = snapshot.events().map(|event| event.to_string()).collect();
//! assert_eq!(
//!     events,
//!     ["begin net.request bytes=512 cached=true", r#"net.query rows=3 text="select 1""#, "end net.request"]
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Processes
//! A ring file has no owner. Each process opens it ([`Recorder::open_or_create`]) and may be killed at any
//! time. If that was in the middle of an event, the others leave the block that it was writing behind; its other
//! events stay readable. Whoever opens the file when nobody else has it open takes such blocks back. After a
//! `fork`, the child's events are its own: its thread and its process are defined anew at its first event.
//! Whoever may write the file is trusted with one thing, not to shorten it: that would end the processes that
//! have it mapped. Whatever else stands in it leads to no wrong access and no panic.
//!
//! # What is not recorded
//! Nothing is lost silently: see [`Losses`]. Events that are too large for a block are dropped; names, threads and
//! types for which the file has no room are recorded as unknown.
//!
//! # Signals
//! A thread's first event allocates, so a signal handler must not be what records it. All later ones are plain
//! stores and may come from anywhere.

// The models take up the files that they check by themselves; see `tests/loom.rs`.
#![cfg(not(loom))]

mod atomics;
mod category;
mod clock;
mod error;
mod event_type;
mod fields;
mod index;
mod log;
mod mapping;
mod mutant;
mod options;
mod pair;
mod recorder;
mod resize;
mod shared;
mod snapshot;
mod threads;

pub use category::Category;
pub use error::Error;
pub use event_type::{EventType, RawEventType, RawField, Span};
pub use fields::{Field, Fields, Tail};
pub use lookback_format::definitions::FieldType;
pub use lookback_format::native::Phase;
pub use lookback_format::ring_file::Level;
pub use options::Options;
pub use recorder::{Name, Recorder};
pub use snapshot::{Event, Losses, Snapshot, Value};
