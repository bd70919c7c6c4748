//! The recording as a Perfetto trace: one track a thread, one for pauses, an instant for the trigger.
//!
//! The constraint that shaped it: eight million slices are sixteen million packets, so packets are encoded and
//! written one by one, names are interned once, and a packet of a slice holds a time, a track and a number.

mod proto;
mod write;

pub use write::perfetto;
