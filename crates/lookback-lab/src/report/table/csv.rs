//! A table as comma-separated values.
//!
//! The constraint that shaped it: a program reads it, so numbers are in base units and not rounded, an interval is two
//! columns of its own, and what is no number stands in a column of words at the end. The form is RFC 4180's.

use super::{Content, RowKind, Table};

pub(super) fn write(table: &Table) -> String {
    let with_interval: Vec<bool> = (0..table.columns.len())
        .map(|i| {
            table.rows.iter().any(|row| {
                matches!(
                    row.cells.get(i).map(|c| &c.content),
                    Some(Content::Number { interval: Some(_), .. })
                )
            })
        })
        .collect();
    let mut rows = Vec::new();
    let mut head = Vec::new();
    for (column, with_interval) in table.columns.iter().zip(&with_interval) {
        let title = match column.quantity {
            Some(quantity) => format!("{} ({})", column.title, quantity.base()),
            None => column.title.clone(),
        };
        head.push(title.clone());
        if *with_interval {
            head.extend([format!("{title} low"), format!("{title} high")]);
        }
    }
    head.extend(["kind".to_owned(), "missing".to_owned()]);
    rows.push(head);
    for row in &table.rows {
        let mut fields = Vec::new();
        let mut missing = Vec::new();
        for ((cell, column), with_interval) in row.cells.iter().zip(&table.columns).zip(&with_interval) {
            let (value, ends) = match &cell.content {
                Content::Text(text) => (text.clone(), None),
                Content::Number { value, interval } => (value.to_string(), *interval),
                Content::Missing(why) => {
                    if !why.is_empty() {
                        missing.push(format!("{}: {why}", column.title));
                    }
                    (String::new(), None)
                }
            };
            fields.push(value);
            if *with_interval {
                let end = |end: Option<f64>| end.map(|end| end.to_string()).unwrap_or_default();
                fields.extend([end(ends.map(|e| e.0)), end(ends.map(|e| e.1))]);
            }
        }
        let kind = match row.kind {
            RowKind::Body => "row",
            RowKind::Excluded => "excluded",
            RowKind::Summary => "summary",
        };
        fields.extend([kind.to_owned(), missing.join("; ")]);
        rows.push(fields);
    }
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).flexible(true).from_writer(Vec::new());
    // A vector takes everything; only a stream could fail.
    let written = rows.iter().try_for_each(|row| writer.write_record(row));
    let bytes = written.ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
