//! A table in LaTeX.
//!
//! The constraint that shaped it: it is put into a paper by `\input`, so it is a `table` of its own with caption and
//! label that needs `booktabs` and `xcolor` and nothing else, and every name in it is escaped.

use super::{RowKind, Table};

pub(super) fn write(table: &Table) -> String {
    let scales = table.scales();
    let reasons = table.reasons();
    let kinds: String = table.columns.iter().map(|c| if c.quantity.is_some() { 'r' } else { 'l' }).collect();
    let mut out = format!(
        "% needs \\usepackage{{booktabs,xcolor}}\n\\begin{{table}}\n\\centering\n\\caption{{{}}}\n\\label{{tab:{}}}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule\n",
        escape(&table.caption),
        super::word(&table.name),
    );
    out += &format!(
        "{} \\\\\n\\midrule\n",
        table.titles(&scales).iter().map(|t| escape(t)).collect::<Vec<_>>().join(" & ")
    );
    let mut last = RowKind::Body;
    for row in &table.rows {
        if row.kind == RowKind::Summary && last != RowKind::Summary {
            out += "\\midrule\n";
        }
        last = row.kind;
        let cells = row.cells.iter().zip(&scales).map(|(cell, scale)| {
            let (value, interval) = cell.show(scale.as_ref(), &reasons);
            let mut text = escape(&value);
            if cell.best {
                text = format!("\\textbf{{{text}}}");
            }
            if let Some(interval) = interval {
                text = format!("{text} {{\\scriptsize {}}}", escape(&interval));
            }
            if row.kind == RowKind::Excluded && !text.is_empty() {
                text = format!("\\textcolor{{gray}}{{{text}}}");
            }
            text
        });
        // Braces: a row that begins with a bracket would be taken for an argument of the line break before it.
        out += &format!("{{}}{} \\\\\n", cells.collect::<Vec<_>>().join(" & "));
    }
    out += "\\bottomrule\n\\end{tabular}\n";
    let reasons = reasons.iter().enumerate().map(|(i, reason)| format!("[{}] {}", i + 1, escape(reason)));
    for note in reasons.chain(table.notes.iter().map(|note| escape(note))) {
        out += &format!("\\par\\footnotesize {note}\n");
    }
    out + "\\end{table}\n"
}

/// A text without meaning to LaTeX.
pub(in crate::report) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out += "\\textbackslash{}",
            '^' => out += "\\textasciicircum{}",
            '~' => out += "\\textasciitilde{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '|' => out += "\\textbar{}",
            '"' => out += "\\textquotedbl{}",
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '\u{d7}' => out += "$\\times$",
            '\u{b5}' => out += "$\\mu$",
            '\u{2013}' => out += "--",
            '\n' | '\r' | '\t' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
