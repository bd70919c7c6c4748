//! Tables: typed cells, and a writer for each form of text that they are wanted in.
//!
//! The constraint that shaped it: one table goes to a terminal, into a document on GitHub, into a paper, into a page and
//! into a spreadsheet, and must say the same in all of them. So a cell is a value and not a text, and what is missing
//! carries its reason. It must not compute: values come ready.

mod csv;
mod html;
mod latex;
mod lines;
mod markdown;
mod text;

pub(super) use html::html;
pub(super) use latex::escape as escape_latex;
pub(super) use markdown::escape as escape_markdown;

use super::quantity::{Quantity, Scale};
use std::fmt;

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// A word for file names and for blocks in documents: `lbo-2x`.
    pub name: String,
    /// What it shows, a sentence.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Row>,
    /// What a reader must know, sentences.
    pub notes: Vec<String>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its title, without a unit.
    pub title: String,
    /// What its numbers are; none for a column of text.
    pub quantity: Option<Quantity>,
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What it is among the rows.
    pub kind: RowKind,
    /// A cell a column.
    pub cells: Vec<Cell>,
}

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// One of the things that the table is about.
    Body,
    /// Shown and left out of the summary.
    Excluded,
    /// A summary of the others; stands below a line.
    Summary,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its value.
    pub content: Content,
    /// Whether it is the best of its row.
    pub best: bool,
}

/// The value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Words.
    Text(String),
    /// A number in the base unit of its column.
    Number {
        /// The number.
        value: f64,
        /// From where to where it may lie.
        interval: Option<(f64, f64)>,
    },
    /// Nothing, and why; an empty reason is a cell that has no meaning.
    Missing(String),
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { content: Content::Text(text.into()), best: false }
    }

    /// A number in its column's base unit.
    pub fn number(value: f64) -> Cell {
        Cell { content: Content::Number { value, interval: None }, best: false }
    }

    /// A number with its interval.
    pub fn estimate(value: f64, interval: Option<(f64, f64)>) -> Cell {
        Cell { content: Content::Number { value, interval }, best: false }
    }

    /// Nothing, and why.
    pub fn missing(why: impl Into<String>) -> Cell {
        Cell { content: Content::Missing(why.into()), best: false }
    }
}

impl Column {
    /// A column of words.
    pub fn text(title: impl Into<String>) -> Column {
        Column { title: title.into(), quantity: None }
    }

    /// A column of numbers.
    pub fn numbers(title: impl Into<String>, quantity: Quantity) -> Column {
        Column { title: title.into(), quantity: Some(quantity) }
    }
}

/// The forms of text that a table is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For a terminal: aligned columns.
    Text,
    /// GitHub's Markdown.
    Markdown,
    /// Comma-separated values by RFC 4180, in base units, without rounding.
    Csv,
    /// LaTeX, for the packages `booktabs` and `xcolor`.
    Latex,
}

impl Table {
    /// The table in a form of text. It ends in a line feed.
    pub fn write(&self, form: Form) -> String {
        match form {
            Form::Text => text::write(self),
            Form::Markdown => markdown::write(self),
            Form::Csv => csv::write(self),
            Form::Latex => latex::write(self),
        }
    }

    /// Its figures as lines `result NAME VALUE UNIT`: `NAME` is the table's name, the row's and the column's, joined by
    /// points, and `.low` or `.high` for the ends of an interval.
    pub fn result_lines(&self) -> Vec<ResultLine> {
        lines::lines(self)
    }

    /// Marks the best numbers of each row but summaries: the smallest, as less is better for every metric.
    pub fn mark_best(&mut self) {
        for row in self.rows.iter_mut().filter(|row| row.kind != RowKind::Excluded) {
            let values = row.cells.iter().filter_map(Cell::value);
            let Some(least) = values.clone().reduce(f64::min).filter(|_| values.count() > 1) else {
                continue;
            };
            for cell in &mut row.cells {
                cell.best = cell.value() == Some(least);
            }
        }
    }

    /// The unit of each column's numbers; columns of like numbers are compared, so they have one unit.
    fn scales(&self) -> Vec<Option<Scale>> {
        let scale = |quantity: Quantity| {
            let like =
                self.columns.iter().enumerate().filter(|(_, column)| column.quantity == Some(quantity));
            let like: Vec<usize> = like.map(|(i, _)| i).collect();
            let values =
                self.rows.iter().flat_map(|row| like.iter().filter_map(|i| row.cells.get(*i)?.value()));
            quantity.scale(values)
        };
        self.columns.iter().map(|column| column.quantity.map(scale)).collect()
    }

    /// The titles of the columns with their units.
    fn titles(&self, scales: &[Option<Scale>]) -> Vec<String> {
        let title = |(column, scale): (&Column, &Option<Scale>)| match scale {
            Some(Scale { name, .. }) if !name.is_empty() => format!("{} ({name})", column.title),
            _ => column.title.clone(),
        };
        self.columns.iter().zip(scales).map(title).collect()
    }

    /// The reasons for what is missing, once each, in the order of the cells: reason `i` has the mark `[i + 1]`.
    fn reasons(&self) -> Vec<&str> {
        let mut reasons: Vec<&str> = Vec::new();
        for cell in self.rows.iter().flat_map(|row| &row.cells) {
            if let Content::Missing(why) = &cell.content
                && !why.is_empty()
                && !reasons.contains(&why.as_str())
            {
                reasons.push(why);
            }
        }
        reasons
    }
}

impl Cell {
    /// Its number, if it has one.
    pub fn value(&self) -> Option<f64> {
        match self.content {
            Content::Number { value, .. } if value.is_finite() => Some(value),
            _ => None,
        }
    }

    /// Its words for people: value and interval. What is missing is a dash with the number of its reason.
    fn show(&self, scale: Option<&Scale>, reasons: &[&str]) -> (String, Option<String>) {
        match &self.content {
            Content::Text(text) => (text.clone(), None),
            Content::Number { value, interval } => {
                let plain = Quantity::Plain.scale([*value]);
                let scale = scale.unwrap_or(&plain);
                let interval =
                    interval.map(|(low, high)| format!("[{}, {}]", scale.show(low), scale.show(high)));
                (scale.show(*value), interval)
            }
            Content::Missing(why) => {
                let mark = reasons.iter().position(|reason| reason == why);
                (mark.map_or_else(|| "\u{2013}".to_owned(), |i| format!("\u{2013} [{}]", i + 1)), None)
            }
        }
    }
}

/// A figure with a name: `result NAME VALUE UNIT`, the line that every benchmark of the project prints.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultLine {
    /// Its name: words of small letters, digits and hyphens, joined by points; or a benchmark's own name for it.
    pub name: String,
    /// Its value in the unit.
    pub value: f64,
    /// The unit.
    pub unit: String,
}

impl fmt::Display for ResultLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "result {} {} {}", self.name, significant(self.value), self.unit)
    }
}

/// Six significant digits: more than any measurement here holds, and few enough to be read.
fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let before = value.abs().log10().floor() as i32 + 1;
    let digits = usize::try_from(6 - before).unwrap_or(0).min(12);
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A text as a word of a name: small letters, digits, points and hyphens.
pub fn word(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '.' {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let out = out.trim_matches(|c| c == '-' || c == '.');
    if out.is_empty() { "-".into() } else { out.to_owned() }
}
