//! The figures of a report as SVG, and as pictures.
//!
//! The constraint that shaped it: a figure is drawn once and used everywhere: inline in a page, as a file in a document,
//! as a picture. So it is an SVG whose colours a style sheet can turn, with a font that is named and not needed.

mod axis;
mod canvas;
mod figures;
mod font;
mod panel;
mod png;
mod theme;

pub use figures::Figures;
pub(super) use figures::{capital, heap, title_of};
pub use png::{Shade, png};

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// A word for file names: `lbo-task-clock`.
    pub name: String,
    /// What it shows and how to read it, sentences.
    pub caption: String,
    /// The SVG, without a style of its own: for a page that has [`dark_style`].
    pub svg: String,
}

impl Figure {
    /// The SVG as a file of its own: it follows the reader's choice of light or dark.
    pub fn file(&self) -> String {
        canvas::with_style(&self.svg)
    }
}

/// Rules for a page that holds figures: they turn their colours dark.
pub(super) fn dark_style() -> String {
    theme::dark_rules()
}
