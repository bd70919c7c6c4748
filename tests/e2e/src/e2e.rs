//! Real programs, most of them on real JVMs: recorded by the agent or by themselves into a ring file, read back
//! by the command, compared with what is known.
//!
//! The constraint that shaped it: whatever the agent does, the program must not notice, so nearly every test
//! runs a program twice, with and without it, and compares. Everything a test needs is in a directory of its
//! own; no test waits by sleeping; never more than two JVMs run at once.
//!
//! The programs stand beside this crate in `tests/programs`, the larger ones in `java/workloads`.

mod api;
mod api_ring;
mod archives;
mod attach;
mod bad_input;
mod brake;
mod call_tree;
mod containers;
mod detach;
mod detector;
mod exits;
mod first_start;
mod governor;
mod harness;
mod harness_socket;
mod harness_suites;
mod hostile;
mod hurt;
mod jfr;
mod killed;
mod lab;
mod platform_threads;
mod ring_files;
mod sampling;
mod support;
mod unchanged;
mod virtual_threads;
