//! `liblookback_ring`: the recorder for C and C++, for whatever can call C, and for the Java API (`jni`).
//!
//! The constraint that shaped it: the caller is somebody else's program. No panic crosses the boundary, no null
//! pointer or unknown number is taken for anything, an error is a number and a text, and nothing is printed.
//! What an event costs must not grow: the level is looked at in the header's inline functions, without a call.
//! It adds no meaning of its own: all of it is in `lookback-recorder`.
//!
//! `include/lookback_ring.h` is made from these files and `cbindgen.toml` by a test; see `tests/header.rs`. The
//! comments of public items are written for its readers.

pub mod handles;
mod jni;
pub mod options;
pub mod record;
pub mod snapshot;
pub mod status;
