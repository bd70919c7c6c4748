//! A study of a results directory: its records and what stands beside them.
//!
//! The constraint that shaped it: results are copied, merged and published in parts, so only the records must be there;
//! what is missing beside them is left out of the report and not guessed.

use super::quantity::{Quantity, alone};
use super::study::Study;
use crate::error::{Error, Result};
use crate::metric::Unit;
use crate::results::{self, EXPERIMENT, MACHINE, Settled};
use serde_json::Value;
use std::path::Path;
use std::{fs, io};

/// A results directory as it was read.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The records that figures are made of, and `plan.json`.
    pub settled: Settled,
    /// `machine.json`.
    pub machine: Option<String>,
    /// `experiment.toml`.
    pub experiment: Option<String>,
}

impl Sources {
    /// Reads a directory: `results.jsonl`, or `results.parquet` in its place; `plan.json`, `machine.json` and
    /// `experiment.toml` where they are there.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Damaged`], [`Error::Foreign`] and [`Error::NotAPlan`] when a file is there and cannot be
    /// read.
    pub fn read(dir: &Path) -> Result<Sources> {
        Ok(Sources {
            settled: results::read_settled(dir)?,
            machine: optional(&dir.join(MACHINE))?,
            experiment: optional(&dir.join(EXPERIMENT))?,
        })
    }

    /// The study of it, with what statistics tell; `wanted` is the heap, as a multiple, that configurations are compared
    /// at. A directory without a plan gives its own name.
    ///
    /// # Errors
    /// [`Error::MixedCells`]: one name stands for different cells.
    pub fn study(&self, dir: &Path, wanted: f64) -> Result<Study> {
        let Settled { records, plan, changed } = &self.settled;
        let mut study = Study::observe(records, plan.as_ref());
        study.changed = *changed;
        if plan.is_none() {
            let name = dir.canonicalize().ok().and_then(|dir| Some(dir.file_name()?.to_str()?.to_owned()));
            study.name = name.unwrap_or(study.name);
        }
        study.experiment.clone_from(&self.experiment);
        let states = self.machine.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
        match states {
            // A list of the machine's states, of which most runs have one.
            Some(Value::Array(states)) if states.len() == 1 => flatten("", &states[0], &mut study.machine),
            Some(states) => flatten("", &states, &mut study.machine),
            None => {}
        }
        let asked = plan.as_ref().map_or(&[][..], |plan| &plan.metrics);
        study.estimate(records, asked, wanted)?;
        Ok(study)
    }
}

fn optional(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::Read { path: path.to_owned(), error }),
    }
}

/// Facts of a machine that are bytes.
const BYTES: [&str; 4] = ["memory", "memory available", "swap", "page"];

/// Facts of a JSON value as names and values; names of what is nested are joined by a space.
fn flatten(name: &str, value: &Value, facts: &mut Vec<(String, String)>) {
    let words = |key: &str| {
        let key = key.replace('_', " ");
        if name.is_empty() { key } else { format!("{name} {key}") }
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| flatten(&words(key), value, facts)),
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            facts.push((name.to_owned(), items.join(", ")));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| flatten(&words(&(i + 1).to_string()), item, facts))
        }
        Value::Null => {}
        Value::Number(bytes) if BYTES.iter().any(|known| name.ends_with(known)) => {
            let bytes = bytes.as_f64().unwrap_or_default();
            facts.push((name.to_owned(), alone(Quantity::Of(Unit::Bytes), bytes)));
        }
        value => facts.push((name.to_owned(), plain(value))),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
