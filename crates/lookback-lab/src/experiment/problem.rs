//! What is wrong with an experiment file, with its line and column.
//!
//! The constraint that shaped it: an experiment runs for hours, so a file is checked in full before anything begins, and
//! all that is wrong is told at once. So nothing that reads a file stops at the first problem: it says it here and
//! goes on with what it has.

use lookback_options::nearest;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as it was named.
    pub file: Arc<Path>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

impl Place {
    /// The directory of the file, absolute: what paths in it are relative to.
    pub(crate) fn directory(&self) -> PathBuf {
        let directory = self.file.parent().unwrap_or(Path::new(""));
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        // Only without a current directory can it not be told; then nothing relative can be found anyway.
        std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned())
    }
}

/// One thing that is wrong, or that is left out, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What, why, and what to try.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

/// All problems that were found so far. The same problem at the same place counts once, however many cells have it.
#[derive(Debug, Default)]
pub(crate) struct Problems(RefCell<BTreeSet<Problem>>);

impl Problems {
    pub(crate) fn say(&self, place: &Place, message: impl Into<String>) {
        self.0.borrow_mut().insert(Problem { place: place.clone(), message: message.into() });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// In the order of files and lines.
    pub(crate) fn into_vec(self) -> Vec<Problem> {
        self.0.into_inner().into_iter().collect()
    }
}

/// `; did you mean ...?`, or the names that there are when none is near and they are few.
pub(crate) fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    const FEW: usize = 30;
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if known.is_empty() || known.len() > FEW => String::new(),
        None => format!("; there are {}", listed(&known)),
    }
}

/// `; did you mean ...?`, or else where the names are listed.
pub(crate) fn meant_or<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    match nearest(name, known) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; {otherwise}"),
    }
}

/// `a`, `b` and `c`.
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "none".into(),
    }
}
