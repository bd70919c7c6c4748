//! The smallest heap that a workload runs in, with each collector on each JDK: what an experiment's heaps are multiples
//! of (paper, section 5.2).
//!
//! The constraint that shaped it: near its minimum a program that runs once may not run again, most of all with
//! concurrent collectors, so a size passes when enough of several runs do, and the result is confirmed by others. And a
//! heap in which a program gets nowhere for collecting is too small as well, so time counts. Nothing here may look at
//! how fast a program is otherwise.

mod file;
mod finder;
mod key;
mod search;
#[cfg(test)]
mod tests;

pub use file::{Minima, Minimum};
pub use finder::{Finder, Found, Progress, find};
pub use key::Key;
pub use search::Rule;
