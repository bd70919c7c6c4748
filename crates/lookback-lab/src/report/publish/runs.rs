//! The runs that were kept: `bench/runs`, a file or a directory a run, each under a date and a name.
//!
//! The constraint that shaped it: benchmarks that print `result NAME VALUE UNIT` kept their runs there before the
//! laboratory did, and documents cite both. So a run `NAME` is the latest of `DATE-NAME/` with its `results.txt` and
//! files, and of `DATE-NAME.txt` with its `DATE-NAME-FILE` beside it.

use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A directory of runs.
#[derive(Debug, Clone)]
pub struct Runs {
    dir: PathBuf,
    /// The latest of each name, without what the name of its file ends in.
    latest: BTreeMap<String, Run>,
}

#[derive(Debug, Clone)]
struct Run {
    /// Date and name.
    stem: String,
    directory: bool,
}

/// A figure that a run holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kept {
    /// The number as it stands there.
    pub(super) text: String,
    pub(super) value: f64,
    pub(super) unit: String,
}

/// The name of a run without its date: `2026-11-22-0544-ring` and `2026-11-22-ring` are both `ring`.
fn name_of(stem: &str) -> Option<&str> {
    let digits = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
    let mut rest = stem;
    for n in [4, 2, 2] {
        let (part, after) = rest.split_once('-')?;
        if !digits(part, n) {
            return None;
        }
        rest = after;
    }
    match rest.split_once('-') {
        Some((time, name)) if digits(time, 4) => Some(name),
        _ => Some(rest),
    }
}

impl Runs {
    /// Lists a directory of runs.
    ///
    /// # Errors
    /// [`Error::Read`] when it cannot be listed.
    pub fn open(dir: &Path) -> Result<Runs> {
        let failed = |error| Error::Read { path: dir.to_owned(), error };
        let mut latest: BTreeMap<String, Run> = BTreeMap::new();
        for entry in fs::read_dir(dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(file) = entry.file_name().into_string() else { continue };
            let directory = entry.path().is_dir();
            let Some(stem) = (if directory { Some(file.as_str()) } else { file.strip_suffix(".txt") }) else {
                continue;
            };
            let Some(name) = name_of(stem) else { continue };
            let run = Run { stem: stem.to_owned(), directory };
            match latest.get(name) {
                // Dates are compared as text: they are written so that this is right.
                Some(known) if known.stem >= run.stem => {}
                _ => drop(latest.insert(name.to_owned(), run)),
            }
        }
        Ok(Runs { dir: dir.to_owned(), latest })
    }

    fn run(&self, name: &str) -> std::result::Result<&Run, String> {
        self.latest.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.latest.keys().map(String::as_str).collect();
            format!("no run named {name} in {}; there are: {}", self.dir.display(), known.join(", "))
        })
    }

    /// A table of the latest run of this name, as Markdown.
    pub(super) fn table(&self, name: &str, table: &str) -> std::result::Result<String, String> {
        let path = self.file(name, &format!("{table}.md"))?;
        fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    }

    /// Where a file of the latest run of this name is.
    pub(super) fn file(&self, name: &str, file: &str) -> std::result::Result<PathBuf, String> {
        let run = self.run(name)?;
        let path = match run.directory {
            true => self.dir.join(&run.stem).join(file),
            false => self.dir.join(format!("{}-{file}", run.stem)),
        };
        if path.is_file() { Ok(path) } else { Err(format!("the run {} has no {file}", run.stem)) }
    }

    /// A figure of the latest run of this name.
    pub(super) fn figure(&self, name: &str, key: &str) -> std::result::Result<Kept, String> {
        let run = self.run(name)?;
        let path = match run.directory {
            true => self.dir.join(&run.stem).join("results.txt"),
            false => self.dir.join(format!("{}.txt", run.stem)),
        };
        let text =
            fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let found = text.lines().filter_map(|line| line.strip_prefix("result ")).find_map(|line| {
            let mut words = line.split_whitespace();
            if words.next() != Some(key) {
                return None;
            }
            let text = words.next()?.to_owned();
            let value = text.parse().ok()?;
            Some(Kept { text, value, unit: words.next().unwrap_or_default().to_owned() })
        });
        found.ok_or_else(|| format!("no line `result {key} ...` in {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_run_is_what_follows_its_date() {
        assert_eq!(name_of("2026-11-22-0544-ring-load"), Some("ring-load"));
        assert_eq!(name_of("2026-11-22-gc"), Some("gc"));
        assert_eq!(name_of("README"), None);
        assert_eq!(name_of("2026-11-x-gc"), None);
    }

    #[test]
    fn the_latest_run_counts_and_files_count_as_well() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        put("2026-01-02-0000-api.txt", "# api\nresult api.span 25 ns\n");
        put("2026-01-03-0000-api.txt", "raw x\nresult api.span 24.5 ns\nresult api.other 1 ns\n");
        put("2026-01-03-0000-api-table2.md", "| a |\n");
        fs::create_dir(dir.path().join("2026-01-01-1200-gc")).unwrap();
        put("2026-01-01-1200-gc/results.txt", "result a.b 1.5 ratio\n");
        put("2026-01-01-1200-gc/t.md", "| t |\n");
        let runs = Runs::open(dir.path()).unwrap();
        assert_eq!(runs.figure("api", "api.span").unwrap().text, "24.5");
        assert_eq!(runs.table("api", "table2").unwrap(), "| a |\n");
        assert_eq!(runs.figure("gc", "a.b").unwrap().value, 1.5);
        assert_eq!(runs.table("gc", "t").unwrap(), "| t |\n");
        assert!(runs.table("gc", "none").unwrap_err().contains("2026-01-01-1200-gc has no none.md"));
        assert!(runs.figure("gc", "a").unwrap_err().contains("no line `result a ...`"));
        assert!(runs.table("none", "t").unwrap_err().contains("there are: api, gc"));
    }
}
