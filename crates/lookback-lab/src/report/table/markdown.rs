//! A table in GitHub's Markdown.
//!
//! The constraint that shaped it: it is put into documents between two comments, so no cell may hold what ends a row,
//! a comment or the table, and names of others' programs may hold anything. A table of such cells is the same text each
//! time, so that a document can be compared with it.

use super::{RowKind, Table};

pub(super) fn write(table: &Table) -> String {
    let scales = table.scales();
    let reasons = table.reasons();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = line(table.titles(&scales).iter().map(|title| escape(title)).collect());
    out += &line(
        table.columns.iter().map(|c| if c.quantity.is_some() { "--:" } else { "---" }.to_owned()).collect(),
    );
    for row in &table.rows {
        let cells = row.cells.iter().zip(&scales).enumerate().map(|(i, (cell, scale))| {
            let (value, interval) = cell.show(scale.as_ref(), &reasons);
            let value = escape(&value);
            let value = match row.kind {
                _ if value.is_empty() => value,
                RowKind::Excluded => format!("*{value}*"),
                _ if cell.best => format!("**{value}**"),
                RowKind::Summary if i == 0 => format!("**{value}**"),
                _ => value,
            };
            match interval {
                Some(interval) => format!("{value} <sub>{}</sub>", escape(&interval)),
                None => value,
            }
        });
        out += &line(cells.collect());
    }
    let reasons = reasons.iter().enumerate().map(|(i, reason)| format!("\\[{}\\] {}", i + 1, escape(reason)));
    let notes: Vec<String> = reasons.chain(table.notes.iter().map(|note| escape(note))).collect();
    if !notes.is_empty() {
        out += &format!("\n{}\n", notes.join("<br>\n"));
    }
    out
}

/// A text without meaning to Markdown or HTML, on one line.
pub(in crate::report) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}
