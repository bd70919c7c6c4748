//! Files of JDK Flight Recorder: a recording's samples are written as one, and samples that JFR itself took are read.
//!
//! The constraint that shaped it: such a file describes itself, each JDK writes other classes and fields, and one that was
//! copied from elsewhere may be anything. So nothing is known of its layout but how it is described, what is not wanted is passed
//! over by that description, and each length is compared with what is there.

mod bytes;
mod constants;
mod metadata;
mod read;
mod write;

pub use read::{JfrSamples, read_jfr};
pub use write::jfr;
