//! What is shown: tables, figures, the report of an experiment, and what is published of it.
//!
//! The constraint that shaped it: a report must say nothing that was not computed elsewhere, so all that it shows is a
//! [`Study`] of ready values, and whoever doubts one finds its definition and its raw data beside it. A [`Document`] is
//! written as a page, as Markdown, as LaTeX or as text from the same tables and figures.

mod document;
mod estimates;
mod findings;
mod observe;
mod page;
mod plot;
mod prose;
mod publish;
mod quantity;
mod sources;
mod study;
mod table;
mod tables;

pub use document::{Block, Document, Section};
pub use plot::{Figure, Figures, Shade, png};
pub use publish::{Blocks, Difference, Publication, Runs};
pub use quantity::{Quantity, Scale};
pub use sources::Sources;
pub use study::*;
pub use table::{Cell, Column, Content, Form, ResultLine, Row, RowKind, Table, word};

/// The heap that tables of one heap are made at, as a multiple of the smallest: the paper's "modest" heap (section 6).
pub const HEAP: f64 = 2.0;
