//! Records through Parquet, CSV and JSON lines: what goes in comes out.

#[path = "../examples/synthetic/mod.rs"]
mod synthetic;

use lookback_lab::Error;
use lookback_lab::report::{Document, Form, HEAP, Study};
use lookback_lab::results::{Outcome, Record, read, read_parquet, write_csv, write_jsonl, write_parquet};
use std::fs::File;
use std::path::Path;

/// Records of every kind: with failures that carry facts, metrics of their own and names that are facts' names.
fn records() -> Vec<Record> {
    let mut records = synthetic::records(&synthetic::plan());
    records.truncate(300);
    records[0].outcome = Outcome::Failed { code: 3, last_words: "it, \"said\"\nno \u{1F600}".into() };
    records[1].outcome = Outcome::WrongChecksum { expected: "a".into(), found: "b".into() };
    records[2].heap = None;
    records[2].collector = None;
    records[3].process_ns = u64::MAX;
    records[4].iterations.clear();
    let own = records.iter_mut().find(|record| !record.iterations.is_empty()).unwrap();
    own.iterations[0].metrics.extend([("host".to_owned(), 1.5), ("queries per s".to_owned(), -0.0)]);
    own.iterations[0].units.insert("queries per s".into(), "1/s".into());
    records
}

#[test]
fn parquet_gives_back_what_was_written() {
    let records = records();
    let file = tempfile::NamedTempFile::new().unwrap();
    write_parquet(&records, file.reopen().unwrap(), file.path()).unwrap();
    let found = read_parquet(file.reopen().unwrap(), file.path()).unwrap();
    assert_eq!(found, records);
    // A directory with nothing but the file gives the same report.
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(file.path(), dir.path().join("results.parquet")).unwrap();
    let report =
        |records: &[Record]| Document::of(&Study::observe(records, None), HEAP).unwrap().write(Form::Text);
    assert_eq!(report(&read(dir.path()).unwrap()), report(&records));
}

#[test]
fn no_record_is_a_file_as_well() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let written = write_parquet(&[], file.reopen().unwrap(), file.path());
    assert!(written.is_ok(), "{written:?}");
    assert_eq!(read_parquet(file.reopen().unwrap(), file.path()).unwrap(), []);
}

#[test]
fn other_files_are_refused_and_a_full_disk_is_told() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), b"PAR1 and more, but not of ours PAR1").unwrap();
    let error = read_parquet(file.reopen().unwrap(), file.path()).unwrap_err();
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
    let full = Path::new("/dev/full");
    let open = || File::options().write(true).open(full).unwrap();
    assert!(matches!(write_parquet(&records(), open(), full), Err(Error::Write { .. })));
    assert!(matches!(write_csv(&records(), open(), full), Err(Error::Write { .. })));
    assert!(matches!(write_jsonl(&records(), open(), full), Err(Error::Write { .. })));
}

#[test]
fn csv_has_a_row_an_iteration_and_loses_no_digit() {
    let records = records();
    let mut out = Vec::new();
    write_csv(&records, &mut out, Path::new("-")).unwrap();
    let mut reader = csv::Reader::from_reader(out.as_slice());
    let names = reader.headers().unwrap().clone();
    let column =
        |name: &str| names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no column {name}"));
    let (workload, wall, words) = (column("workload"), column("wall"), column("outcome_json"));
    column("metric host");
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), records.iter().map(|record| record.iterations.len().max(1)).sum::<usize>());
    let (record, row) = (&records[0], &rows[0]);
    assert_eq!(row[workload], record.workload);
    let first = record.iterations.first().map(|iteration| iteration.metrics["wall"]);
    assert_eq!(row[wall].parse::<f64>().ok(), first);
    assert_eq!(serde_json::from_str::<Outcome>(&row[words]).unwrap(), record.outcome);
}
