//! A table for a terminal.
//!
//! The constraint that shaped it: it is read in a window of any width without colours, so columns are aligned by spaces,
//! the best is marked by a star and what is left out stands in brackets.

use super::{RowKind, Table};

pub(super) fn write(table: &Table) -> String {
    let scales = table.scales();
    let reasons = table.reasons();
    let mut lines: Vec<(RowKind, Vec<String>)> = Vec::new();
    for row in &table.rows {
        let cells = row.cells.iter().zip(&scales).enumerate().map(|(i, (cell, scale))| {
            let (value, interval) = cell.show(scale.as_ref(), &reasons);
            let value = if row.kind == RowKind::Excluded && i == 0 { format!("({value})") } else { value };
            let star = if cell.best { "*" } else { "" };
            match interval {
                Some(interval) => format!("{value}{star} {interval}"),
                None => format!("{value}{star}"),
            }
        });
        lines.push((row.kind, cells.collect()));
    }
    let titles = table.titles(&scales);
    let width = |i: usize| {
        let cells = lines.iter().filter_map(|(_, cells)| cells.get(i)).map(|cell| cell.chars().count());
        cells.chain([titles[i].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..titles.len()).map(width).collect();
    let right: Vec<bool> = table.columns.iter().map(|column| column.quantity.is_some()).collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().enumerate().map(|(i, cell)| {
            let w = widths.get(i).copied().unwrap_or(0);
            if right.get(i) == Some(&true) { format!("{cell:>w$}") } else { format!("{cell:w$}") }
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let rule: String = "-".repeat(widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1));
    let mut out = format!("{}\n\n{}{rule}\n", table.caption, line(&titles));
    let mut last = RowKind::Body;
    for (kind, cells) in &lines {
        if *kind == RowKind::Summary && last != RowKind::Summary {
            out += &rule;
            out.push('\n');
        }
        out += &line(cells);
        last = *kind;
    }
    for (i, reason) in reasons.iter().enumerate() {
        out += &format!("[{}] {reason}\n", i + 1);
    }
    for note in &table.notes {
        out += &format!("{note}\n");
    }
    out
}
