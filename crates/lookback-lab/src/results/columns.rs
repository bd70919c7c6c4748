//! Records as columns: a row an iteration, the invocation's facts repeated beside the iteration's figures.
//!
//! The constraint that shaped it: tables for others' tools (Parquet, CSV) must hold all that a record holds, so that
//! the records can be had back from them. So an invocation without iterations is a row as well, and what is no single
//! value (why it failed, what disturbed it, units of its own metrics) is a column of JSON. It must not leave out
//! a fact: the compiler refuses a record with a field that is not named here.

use super::record::{Disturbance, Iteration, Outcome, Reading, Record};
use crate::plan::HeapSize;
use std::collections::{BTreeMap, BTreeSet};

/// One value of a row; none is null.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(Option<String>),
    Unsigned(Option<u64>),
    Number(Option<f64>),
    Truth(Option<bool>),
}

/// A column: its name and a value a row, all of one kind.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) values: Vec<Value>,
}

/// All columns; the last ones are the metrics.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) columns: Vec<Column>,
    /// The metrics' names, in the order of their columns.
    pub(super) metrics: Vec<String>,
    pub(super) rows: usize,
}

/// The column of a metric: its name, unless a fact has it.
fn column_of(metric: &str, facts: &[Column]) -> String {
    if facts.iter().any(|fact| fact.name == metric) { format!("metric {metric}") } else { metric.to_owned() }
}

impl Columns {
    /// The columns of these records.
    pub(super) fn of(records: &[Record]) -> Columns {
        let iterations = || records.iter().flat_map(|record| &record.iterations);
        let names: BTreeSet<&String> = iterations().flat_map(|iteration| iteration.metrics.keys()).collect();
        let mut rows = Vec::new();
        for (i, record) in records.iter().enumerate() {
            if record.iterations.is_empty() {
                rows.push((facts(i, record, None), None));
            }
            for iteration in &record.iterations {
                rows.push((facts(i, record, Some(iteration)), Some(iteration)));
            }
        }
        // Without a row the kinds come from a row that is not written.
        let head = rows.first().map(|(facts, _)| facts.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        let mut columns: Vec<Column> = head
            .unwrap_or_default()
            .into_iter()
            .map(|name| Column { name: name.to_owned(), values: Vec::with_capacity(rows.len()) })
            .collect();
        let mut figures: Vec<Column> = names
            .iter()
            .map(|name| Column { name: column_of(name, &columns), values: Vec::with_capacity(rows.len()) })
            .collect();
        let count = rows.len();
        for (facts, iteration) in rows {
            for (column, (_, value)) in columns.iter_mut().zip(facts) {
                column.values.push(value);
            }
            for (column, name) in figures.iter_mut().zip(&names) {
                let value = iteration.and_then(|iteration| iteration.metrics.get(*name).copied());
                column.values.push(Value::Number(value));
            }
        }
        columns.append(&mut figures);
        Columns { columns, metrics: names.into_iter().cloned().collect(), rows: count }
    }

    /// The column of each metric, by its name.
    pub(super) fn metric_columns(&self) -> BTreeMap<&str, &str> {
        let first = self.columns.len() - self.metrics.len();
        self.metrics
            .iter()
            .zip(&self.columns[first..])
            .map(|(metric, column)| (metric.as_str(), column.name.as_str()))
            .collect()
    }
}

/// What a row says beside its metrics.
fn facts(index: usize, record: &Record, iteration: Option<&Iteration>) -> Vec<(&'static str, Value)> {
    // Without `..`: a field that is added must be named here before this compiles again.
    let Record {
        schema,
        cell,
        workload,
        jdk,
        configuration,
        collector,
        tracer,
        heap,
        invocation,
        attempt,
        host,
        started,
        process_ns,
        outcome,
        disturbances,
        machine,
        iterations: _,
        raw,
    } = record;
    let Reading {
        steal_percent,
        others_percent,
        swap_bytes,
        load,
        cpu_pressure_us,
        memory_pressure_us,
        io_pressure_us,
    } = machine;
    let text = |text: &str| Value::Text(Some(text.to_owned()));
    let number = |n: u32| Value::Unsigned(Some(n.into()));
    let (kind, details) = outcome_columns(outcome);
    vec![
        ("record", Value::Unsigned(Some(index as u64))),
        ("schema", number(*schema)),
        ("cell", text(&cell.0)),
        ("workload", text(workload)),
        ("jdk", text(jdk)),
        ("configuration", text(configuration)),
        ("collector", Value::Text(collector.clone())),
        ("tracer", Value::Text(tracer.clone())),
        ("heap_multiple", Value::Number(heap.and_then(|heap| heap.multiple))),
        ("heap_bytes", Value::Unsigned(heap.map(|heap| heap.bytes))),
        ("invocation", number(*invocation)),
        ("attempt", number(*attempt)),
        ("host", text(host)),
        ("started", text(started)),
        ("process_ns", Value::Unsigned(Some(*process_ns))),
        ("outcome", Value::Text(Some(kind))),
        ("outcome_json", Value::Text(details)),
        ("disturbances_json", Value::Text(json(disturbances).filter(|_| !disturbances.is_empty()))),
        ("counts", Value::Truth(Some(record.counts()))),
        ("steal_percent", Value::Number(Some(*steal_percent))),
        ("others_percent", Value::Number(Some(*others_percent))),
        ("swap_bytes", Value::Unsigned(Some(*swap_bytes))),
        ("load", Value::Number(Some(*load))),
        ("cpu_pressure_us", Value::Unsigned(Some(*cpu_pressure_us))),
        ("memory_pressure_us", Value::Unsigned(Some(*memory_pressure_us))),
        ("io_pressure_us", Value::Unsigned(Some(*io_pressure_us))),
        ("raw", text(raw)),
        ("iteration", Value::Unsigned(iteration.map(|iteration| iteration.number.into()))),
        ("measured", Value::Truth(iteration.map(|iteration| iteration.measured))),
        (
            "units_json",
            Value::Text(
                iteration.filter(|i| !i.units.is_empty()).and_then(|iteration| json(&iteration.units)),
            ),
        ),
    ]
}

fn json<T: serde::Serialize>(value: &T) -> Option<String> {
    serde_json::to_string(value).ok()
}

/// The kind of an outcome as it stands in a record, and the whole of it where the kind is not all.
fn outcome_columns(outcome: &Outcome) -> (String, Option<String>) {
    let value = serde_json::to_value(outcome).unwrap_or_default();
    let kind = value.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default().to_owned();
    let whole = value.as_object().is_some_and(|object| object.len() > 1).then(|| value.to_string());
    (kind, whole)
}

/// A row as it was read, by the names of its columns.
pub(super) type Row = BTreeMap<String, Value>;

/// The records of rows that [`Columns`] made; `metrics` are the columns of metrics by name.
///
/// # Errors
/// The name of the column that is missing or is not what it should be.
pub(super) fn records(
    rows: impl Iterator<Item = Row>,
    metrics: &BTreeMap<String, String>,
) -> Result<Vec<Record>, String> {
    let mut records: Vec<Record> = Vec::new();
    let mut last = None;
    for row in rows {
        let index = unsigned(&row, "record")?.ok_or("record")?;
        if last != Some(index) {
            records.push(record_of(&row)?);
            last = Some(index);
        }
        let Some(number) = unsigned(&row, "iteration")? else { continue };
        let mut figures = BTreeMap::new();
        for (metric, column) in metrics {
            if let Some(value) = number_of(&row, column)? {
                figures.insert(metric.clone(), value);
            }
        }
        let units = match optional_text(&row, "units_json")? {
            Some(json) => serde_json::from_str(&json).map_err(|_| "units_json")?,
            None => BTreeMap::new(),
        };
        let iteration = Iteration {
            number: narrow(number, "iteration")?,
            measured: truth(&row, "measured")?,
            metrics: figures,
            units,
        };
        if let Some(record) = records.last_mut() {
            record.iterations.push(iteration);
        }
    }
    Ok(records)
}

fn record_of(row: &Row) -> Result<Record, String> {
    let count = |name: &str| unsigned(row, name)?.ok_or_else(|| name.to_owned());
    let small = |name: &str| narrow(count(name)?, name);
    let words = |name: &str| optional_text(row, name)?.ok_or_else(|| name.to_owned());
    let share = |name: &str| number_of(row, name)?.ok_or_else(|| name.to_owned());
    let outcome = match optional_text(row, "outcome_json")? {
        Some(json) => json,
        None => serde_json::json!({ "kind": words("outcome")? }).to_string(),
    };
    let disturbances: Vec<Disturbance> = match optional_text(row, "disturbances_json")? {
        Some(json) => serde_json::from_str(&json).map_err(|_| "disturbances_json")?,
        None => Vec::new(),
    };
    let multiple = number_of(row, "heap_multiple")?;
    Ok(Record {
        schema: small("schema")?,
        cell: crate::plan::CellId(words("cell")?),
        workload: words("workload")?,
        jdk: words("jdk")?,
        configuration: words("configuration")?,
        collector: optional_text(row, "collector")?,
        tracer: optional_text(row, "tracer")?,
        heap: unsigned(row, "heap_bytes")?.map(|bytes| HeapSize { multiple, bytes }),
        invocation: small("invocation")?,
        attempt: small("attempt")?,
        host: words("host")?,
        started: words("started")?,
        process_ns: count("process_ns")?,
        outcome: serde_json::from_str(&outcome).map_err(|_| "outcome_json")?,
        disturbances,
        machine: Reading {
            steal_percent: share("steal_percent")?,
            others_percent: share("others_percent")?,
            swap_bytes: count("swap_bytes")?,
            load: share("load")?,
            cpu_pressure_us: count("cpu_pressure_us")?,
            memory_pressure_us: count("memory_pressure_us")?,
            io_pressure_us: count("io_pressure_us")?,
        },
        iterations: Vec::new(),
        raw: words("raw")?,
    })
}

fn narrow(value: u64, name: &str) -> Result<u32, String> {
    u32::try_from(value).map_err(|_| name.to_owned())
}

fn optional_text(row: &Row, name: &str) -> Result<Option<String>, String> {
    match row.get(name) {
        Some(Value::Text(text)) => Ok(text.clone()),
        _ => Err(name.to_owned()),
    }
}

fn unsigned(row: &Row, name: &str) -> Result<Option<u64>, String> {
    match row.get(name) {
        Some(Value::Unsigned(value)) => Ok(*value),
        _ => Err(name.to_owned()),
    }
}

fn number_of(row: &Row, name: &str) -> Result<Option<f64>, String> {
    match row.get(name) {
        Some(Value::Number(value)) => Ok(*value),
        _ => Err(name.to_owned()),
    }
}

fn truth(row: &Row, name: &str) -> Result<bool, String> {
    match row.get(name) {
        Some(Value::Truth(Some(value))) => Ok(*value),
        _ => Err(name.to_owned()),
    }
}
