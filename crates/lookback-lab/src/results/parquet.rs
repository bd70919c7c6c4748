//! Records as an Apache Parquet file, and back.
//!
//! The constraint that shaped it: results are read with pandas, DuckDB or R, by people who have no Rust, and are kept
//! beside documents for years; Parquet is typed, small and read by all of them. The file is written by the crate's own
//! column writers: its bridge to Arrow would cost a dozen crates and gives nothing to a table of plain columns.
//! It must lose nothing: the records that are read back are those that were written.

use super::columns::{Column, Columns, Row, Value, records};
use super::record::Record;
use crate::error::{Error, Result};
use parquet::basic::{Compression, ConvertedType, Encoding, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::types::{ColumnPath, Type};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Key of the file's metadata that holds the metrics' columns: a JSON object, metric to column.
const METRICS: &str = "lookback.metrics";

/// Level of zstd: results are written once and kept, and beyond this level they hardly get smaller.
const LEVEL: i32 = 9;

/// Writes records, a row an iteration; every column is nullable. `path` is for messages.
///
/// Metrics are doubles in the unit of [`crate::metric`]; the other columns are the record's facts. What is no single
/// value is JSON, in columns whose name ends in `_json`.
///
/// # Errors
/// [`Error::Write`] when the stream fails.
pub fn write_parquet<W: Write + Send>(records: &[Record], out: W, path: &Path) -> Result<()> {
    let failed = |error: ParquetError| Error::Write { path: path.to_owned(), error: stream_error(error) };
    let table = Columns::of(records);
    write(&table, out).map_err(failed)
}

/// The stream's own error, where there is one.
fn stream_error(error: ParquetError) -> std::io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => *error,
            Err(other) => std::io::Error::other(other.to_string()),
        },
        other => std::io::Error::other(other.to_string()),
    }
}

fn write<W: Write + Send>(table: &Columns, out: W) -> parquet::errors::Result<()> {
    let fields = table.columns.iter().map(field).collect::<parquet::errors::Result<Vec<_>>>()?;
    let schema = Arc::new(Type::group_type_builder("record").with_fields(fields).build()?);
    let metrics = serde_json::to_string(&table.metric_columns())
        .map_err(|error| ParquetError::General(error.to_string()))?;
    let mut properties = WriterProperties::builder();
    for column in table.metric_columns().values() {
        // Figures hardly ever come twice, so a dictionary of them is larger than they are; their first bytes are alike.
        let path = ColumnPath::from(*column);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT);
    }
    let properties = properties
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_created_by(format!("lookback {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![KeyValue::new(METRICS.to_owned(), metrics)]))
        .build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    if table.rows > 0 {
        let mut group = writer.next_row_group()?;
        for column in &table.columns {
            let Some(mut open) = group.next_column()? else { break };
            write_column(open.untyped(), &column.values)?;
            open.close()?;
        }
        group.close()?;
    }
    writer.close().map(drop)
}

/// A column's type: it follows from its first value, as all values of a column are of one kind.
fn field(column: &Column) -> parquet::errors::Result<Arc<Type>> {
    let (physical, logical) = match column.values.first() {
        Some(Value::Text(_)) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        Some(Value::Unsigned(_)) => (Physical::INT64, ConvertedType::UINT_64),
        Some(Value::Truth(_)) => (Physical::BOOLEAN, ConvertedType::NONE),
        Some(Value::Number(_)) | None => (Physical::DOUBLE, ConvertedType::NONE),
    };
    let builder = Type::primitive_type_builder(&column.name, physical);
    Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).with_converted_type(logical).build()?))
}

/// Writes a column's values; a definition level of 0 is a null.
fn write_column(writer: &mut ColumnWriter<'_>, values: &[Value]) -> parquet::errors::Result<()> {
    let mut levels = Vec::with_capacity(values.len());
    let mut keep = |there: bool| levels.push(i16::from(there));
    let (mut texts, mut integers, mut numbers, mut truths) = (vec![], vec![], vec![], vec![]);
    for value in values {
        match value {
            Value::Text(text) => {
                keep(text.is_some());
                texts.extend(text.as_deref().map(ByteArray::from));
            }
            // The bits of an unsigned number; its logical type says so.
            Value::Unsigned(integer) => {
                keep(integer.is_some());
                integers.extend(integer.map(u64::cast_signed));
            }
            Value::Number(number) => {
                keep(number.is_some());
                numbers.extend(*number);
            }
            Value::Truth(truth) => {
                keep(truth.is_some());
                truths.extend(*truth);
            }
        }
    }
    match writer {
        ColumnWriter::ByteArrayColumnWriter(column) => column.write_batch(&texts, Some(&levels), None),
        ColumnWriter::Int64ColumnWriter(column) => column.write_batch(&integers, Some(&levels), None),
        ColumnWriter::DoubleColumnWriter(column) => column.write_batch(&numbers, Some(&levels), None),
        ColumnWriter::BoolColumnWriter(column) => column.write_batch(&truths, Some(&levels), None),
        _ => Err(ParquetError::General("a column of no kind that the lab writes".into())),
    }
    .map(drop)
}

/// Reads records that [`write_parquet`] wrote. `path` is for messages.
///
/// # Errors
/// [`Error::Foreign`] when it is no such file.
pub fn read_parquet<R: ChunkReader + 'static>(file: R, path: &Path) -> Result<Vec<Record>> {
    let foreign = |why: String| Error::Foreign { path: path.to_owned(), why };
    let reader = SerializedFileReader::new(file).map_err(|error| foreign(error.to_string()))?;
    let metadata = reader.metadata().file_metadata();
    let metrics: BTreeMap<String, String> = metadata
        .key_value_metadata()
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == METRICS))
        .and_then(|pair| serde_json::from_str(pair.value.as_deref()?).ok())
        .ok_or_else(|| foreign(format!("its metadata has no {METRICS}")))?;
    let kinds: BTreeMap<String, Value> = metadata
        .schema_descr()
        .columns()
        .iter()
        .map(|column| {
            let null = match column.physical_type() {
                Physical::BYTE_ARRAY => Value::Text(None),
                Physical::INT64 => Value::Unsigned(None),
                Physical::BOOLEAN => Value::Truth(None),
                _ => Value::Number(None),
            };
            (column.name().to_owned(), null)
        })
        .collect();
    let rows = reader.get_row_iter(None).map_err(|error| foreign(error.to_string()))?;
    let rows = rows
        .map(|row| {
            let row = row.map_err(|error| foreign(error.to_string()))?;
            Ok(row
                .get_column_iter()
                .map(|(name, field)| (name.clone(), value(field, &kinds[name])))
                .collect())
        })
        .collect::<Result<Vec<Row>>>()?;
    records(rows.into_iter(), &metrics)
        .map_err(|column| foreign(format!("its column {column} is not as expected")))
}

fn value(field: &Field, null: &Value) -> Value {
    match field {
        Field::Str(text) => Value::Text(Some(text.clone())),
        Field::ULong(value) => Value::Unsigned(Some(*value)),
        Field::Double(value) => Value::Number(Some(*value)),
        Field::Bool(value) => Value::Truth(Some(*value)),
        _ => null.clone(),
    }
}
