//! What the tests share: what is built once, JVMs to run, directories of their own, recordings read back.

pub(crate) mod artifacts;
pub(crate) mod harness;
pub(crate) mod java;
pub(crate) mod place;
pub(crate) mod process;
pub(crate) mod recorded;

pub(crate) use artifacts::{Jdk, jdks};
pub(crate) use java::Java;
pub(crate) use place::Place;
pub(crate) use process::{Ran, Running};
pub(crate) use recorded::Recorded;
