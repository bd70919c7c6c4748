//! What a check found.
//!
//! The constraint that shaped it: a check that fails must say what was found and what was expected, for whoever reads a
//! log a month later.

use serde::Serialize;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its name, a word.
    pub check: &'static str,
    /// Whether it passed.
    pub passed: bool,
    /// What was found and what was expected, in a sentence.
    pub words: String,
    /// The figures.
    pub values: Vec<Value>,
}

/// A figure of a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Value {
    /// Its name within the check: `told`, `17-serial`.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// Its unit, a word: `count`, `percent`, `ratio`.
    pub unit: &'static str,
}

impl Value {
    pub(super) fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Value {
        Value { name: name.into(), value, unit }
    }
}
