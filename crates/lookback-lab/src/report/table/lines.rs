//! A table's figures one by one, each with a name.
//!
//! The constraint that shaped it: a sentence in a document cites one figure, so each has a name that follows from what
//! the reader sees (table, row, column) and stays when rows are added. A name that would stand for two figures is given
//! to none of them.

use super::{Content, ResultLine, Row, Table, word};
use std::collections::BTreeMap;

pub(super) fn lines(table: &Table) -> Vec<ResultLine> {
    let key = |row: &Row| {
        let words = row.cells.iter().zip(&table.columns).filter(|(_, column)| column.quantity.is_none());
        let words = words.filter_map(|(cell, _)| match &cell.content {
            Content::Text(text) if !text.is_empty() => Some(word(text)),
            _ => None,
        });
        words.collect::<Vec<_>>().join(".")
    };
    let mut lines = Vec::new();
    for row in &table.rows {
        let row_key = key(row);
        for (cell, column) in row.cells.iter().zip(&table.columns) {
            let (Content::Number { value, interval }, Some(quantity)) = (&cell.content, column.quantity)
            else {
                continue;
            };
            let parts = [word(&table.name), row_key.clone(), word(&column.title)];
            let name = parts.iter().filter(|p| !p.is_empty()).cloned().collect::<Vec<_>>().join(".");
            let line =
                |name: String, value: f64| ResultLine { name, value, unit: quantity.base().to_owned() };
            lines.push(line(name.clone(), *value));
            if let Some((low, high)) = interval {
                lines.push(line(format!("{name}.low"), *low));
                lines.push(line(format!("{name}.high"), *high));
            }
        }
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for line in &lines {
        *seen.entry(line.name.clone()).or_default() += 1;
    }
    lines.retain(|line| line.value.is_finite() && seen[&line.name] == 1);
    lines
}
