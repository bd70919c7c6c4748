//! Keeps a run: raw data, machine, experiment, tables and figures in a directory of its own.
//!
//! The constraint that shaped it: what is kept is committed and read elsewhere, so it is small (Parquet, without raw
//! logs), complete enough for `lookback lab report` to make the same report of it, holds no path of the machine that
//! it ran on, and is there whole or not at all.

use crate::error::{Error, Result};
use crate::measure::KEPT;
use crate::metric::is_own;
use crate::plan::{CellId, Plan};
use crate::report::document::Document;
use crate::report::sources::Sources;
use crate::report::table::{Form, ResultLine, word};
use crate::results::{EXPERIMENT, MACHINE, PLAN, Record, write_parquet};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A run that is to be kept.
#[derive(Debug)]
pub struct Publication<'a> {
    /// The results.
    pub sources: &'a Sources,
    /// The report of it.
    pub document: &'a Document,
    /// Its name: a word.
    pub name: &'a str,
}

impl Publication<'_> {
    /// The name of its directory: date and time of the last invocation, and the run's name.
    ///
    /// # Errors
    /// [`Error::Foreign`] when there is no record, or its time is not RFC 3339.
    pub fn directory(&self, dir: &Path) -> Result<String> {
        let failed = |why: &str| Error::Foreign { path: dir.to_owned(), why: why.to_owned() };
        let last = self.sources.settled.records.iter().map(|record| record.started.as_str()).max();
        let last = last.ok_or_else(|| failed("it has no record"))?;
        let (date, time) = (last.get(..10), last.get(11..16));
        let (Some(date), Some(time)) = (date, time) else {
            return Err(failed("the time of a record is not RFC 3339"));
        };
        Ok(format!("{date}-{}-{}", time.replace(':', ""), word(self.name)))
    }

    /// Writes it into a directory below `to`, and returns that. `dir` is where the results came from; `force` replaces
    /// a directory of the same name.
    ///
    /// # Errors
    /// [`Error::Published`] when it is there already, [`Error::Write`], and those of [`Publication::directory`].
    pub fn write(&self, dir: &Path, to: &Path, force: bool) -> Result<PathBuf> {
        let name = self.directory(dir)?;
        let target = to.join(&name);
        if target.exists() && !force {
            return Err(Error::Published { path: target });
        }
        let temporary = to.join(format!(".{name}.tmp"));
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| Error::Write { path, error }
        };
        let gone = |path: &Path| match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path)(error)),
            _ => Ok(()),
        };
        // What a run that was cut off left behind.
        gone(&temporary)?;
        fs::create_dir_all(&temporary).map_err(failed(&temporary))?;
        if let Err(error) = self.fill(dir, &temporary, &name) {
            // The first error is the one to tell.
            let _ = fs::remove_dir_all(&temporary);
            return Err(error);
        }
        gone(&target)?;
        fs::rename(&temporary, &target).map_err(failed(&target))?;
        Ok(target)
    }

    fn fill(&self, from: &Path, dir: &Path, name: &str) -> Result<()> {
        let put = |file: &str, text: &str| {
            let path = dir.join(file);
            fs::write(&path, text).map_err(|error| Error::Write { path, error })
        };
        let path = dir.join("results.parquet");
        let file = fs::File::create(&path).map_err(|error| Error::Write { path: path.clone(), error })?;
        write_parquet(&self.sources.settled.records, file, &path)?;
        if let Some(text) = &self.sources.experiment {
            put(EXPERIMENT, text)?;
        }
        if let Some(text) = &self.sources.machine {
            put(MACHINE, text)?;
        }
        if let Some(plan) = &self.sources.settled.plan {
            let json = serde_json::to_string(&without_paths(plan));
            let json =
                json.map_err(|error| Error::Foreign { path: dir.to_owned(), why: error.to_string() })?;
            put(PLAN, &(json + "\n"))?;
        }
        for table in self.document.tables() {
            put(&format!("{}.md", word(&table.name)), &table.write(Form::Markdown))?;
        }
        for figure in self.document.figures() {
            put(&format!("{}.svg", figure.name), &figure.file())?;
        }
        put("README.md", &self.document.write(Form::Markdown))?;
        put("results.txt", &self.result_lines(name))?;
        self.take_kept(from, dir)
    }

    fn own_lines(&self) -> Vec<ResultLine> {
        let counted = || self.sources.settled.records.iter().filter(|record| record.counts());
        let cells: BTreeSet<&CellId> = counted().map(|record| &record.cell).collect();
        if cells.len() != 1 {
            return Vec::new();
        }
        let iterations = || counted().flat_map(|record| &record.iterations);
        let names = iterations().flat_map(|i| i.metrics.keys()).filter(|name| is_own(name));
        let names: BTreeSet<&String> = names.collect();
        let line = |name: &String| {
            let values: Vec<f64> = counted().filter_map(|record| record.mean(name)).collect();
            let unit = iterations().find_map(|i| i.units.get(name)).cloned().unwrap_or_default();
            let value = values.iter().sum::<f64>() / values.len() as f64;
            (!values.is_empty()).then(|| ResultLine { name: name.clone(), value, unit })
        };
        names.into_iter().filter_map(line).collect()
    }

    /// Copies what programs left to be kept: of each cell, by the last invocation that counts.
    fn take_kept(&self, from: &Path, dir: &Path) -> Result<()> {
        let mut last: BTreeMap<&CellId, &Record> = BTreeMap::new();
        for record in self.sources.settled.records.iter().filter(|record| record.counts()) {
            last.insert(&record.cell, record);
        }
        for record in last.values() {
            let kept = from.join(&record.raw).join(KEPT);
            let failed = |error| Error::Read { path: kept.clone(), error };
            let entries = match fs::read_dir(&kept) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                let target = dir.join(entry.file_name());
                if target.exists() {
                    let why = format!("{} is a name that the run has already", entry.file_name().display());
                    return Err(Error::Foreign { path: kept, why });
                }
                fs::copy(entry.path(), &target).map_err(|error| Error::Write { path: target, error })?;
            }
        }
        Ok(())
    }

    /// All figures of all tables, a line each; before them those that a benchmark printed, under its own names, when there
    /// is no other cell that could have printed them.
    fn result_lines(&self, name: &str) -> String {
        let mut text = format!("# {name}: {}\n", self.document.title.replace('\n', " "));
        for line in self.own_lines() {
            text += &format!("{line}\n");
        }
        for table in self.document.tables() {
            for line in table.result_lines() {
                text += &format!("{line}\n");
            }
        }
        text
    }
}

/// A plan whose paths are their last names: those of one machine mean nothing on another.
fn without_paths(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for jdk in &mut plan.jdks {
        jdk.home = last_name(&jdk.home);
    }
    for cell in &mut plan.cells {
        cell.launch.command.iter_mut().for_each(|word| *word = without_path(word));
        cell.launch.wrapper.iter_mut().for_each(|word| *word = without_path(word));
        cell.launch.rehearsal.iter_mut().for_each(|word| *word = without_path(word));
        cell.launch.env.values_mut().for_each(|value| *value = without_path(value));
        if let Some(jvm) = &mut cell.launch.jvm {
            jvm.java = last_name(&jvm.java);
            jvm.class_path = without_path(&jvm.class_path);
            jvm.options.iter_mut().for_each(|option| *option = without_path(option));
        }
    }
    plan
}

fn last_name(path: &Path) -> PathBuf {
    path.file_name().map_or_else(PathBuf::new, PathBuf::from)
}

/// A text with each absolute path in it cut to its last name.
fn without_path(text: &str) -> String {
    let ends = |c: char| matches!(c, ':' | '=' | ',' | ';' | '"' | '\'') || c.is_whitespace();
    let cut = |part: &str| match part.rsplit_once('/') {
        Some((_, last)) if part.starts_with('/') => last.to_owned(),
        _ => part.to_owned(),
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(ends) {
        let after = at + rest[at..].chars().next().map_or(1, char::len_utf8);
        out += &cut(&rest[..at]);
        out += &rest[at..after];
        rest = &rest[after..];
    }
    out + &cut(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_machine_are_not_kept() {
        let cases = [
            (
                "-agentpath:/opt/x/liblookback.so=dir=/tmp/a,tracing=off",
                "-agentpath:liblookback.so=dir=a,tracing=off",
            ),
            ("/opt/a.jar:/opt/b/c.jar", "a.jar:c.jar"),
            ("-Xlog:gc*:file={dir}/gc.log", "-Xlog:gc*:file={dir}/gc.log"),
            ("1/2", "1/2"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(without_path(text), expected);
        }
    }
}
