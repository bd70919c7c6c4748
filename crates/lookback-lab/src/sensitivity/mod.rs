//! Does it matter what programs are told of their heap? The sensitivity study of heap introspection (paper, section
//! 3.3).
//!
//! ```text
//! plan -> the same cells with each answer -> run -> records -> study
//! ```
//!
//! The constraint that shaped it: an experiment varies the heap, and a program that sizes caches by the heap does other
//! work with each. So `Runtime.maxMemory` and `totalMemory` can answer constants, and then it has to be shown that the
//! constants do not make the result. All comparisons of a study are one family, so that "does not matter" is not
//! refuted by luck. Must not start anything: the runner does.

mod answer;
mod plan;
mod study;

pub use answer::{ANSWERS, Answer, CONSTANTS};
pub use plan::plan;
pub use study::{Failing, Found, METRICS, Matters, OfWorkload, Study, study};
