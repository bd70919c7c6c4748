//! Tests of the ring in one process, by subject. They may use private parts of the crate, to stop a
//! writer between its steps; what needs no such thing goes through the public functions.

mod damaged;
mod followed;
mod geometry;
mod killed;
mod resized;
mod retained;
mod stalled;
mod support;
mod threads;
