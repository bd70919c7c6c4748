//! Two-column and many-column tables for people, with headings in bold.
//!
//! The constraint that shaped it: colour is left to `anstream`, which takes it away for pipes and
//! `NO_COLOR`, so widths are counted without it.

use std::io::{self, Write};

/// Bold, when the stream has colours.
pub(crate) const HEADING: anstyle::Style = anstyle::Style::new().bold();

/// Writes `key  value` lines with aligned values; lines of a value that has several stand below each other.
pub(crate) fn facts(out: &mut dyn Write, rows: &[(&str, String)]) -> io::Result<()> {
    let width = rows.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
    for (key, value) in rows {
        let mut lines = value.lines();
        writeln!(out, "{HEADING}{key:width$}{HEADING:#}  {}", lines.next().unwrap_or(""))?;
        for line in lines {
            writeln!(out, "{:width$}  {line}", "")?;
        }
    }
    Ok(())
}

/// Writes a table with a heading line; the last column is not padded.
pub(crate) fn table(out: &mut dyn Write, head: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let width = |i: usize| {
        let cells = rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count());
        cells.chain([head[i].len()]).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..head.len()).map(width).collect();
    let mut line = |cells: &[&str], style: anstyle::Style| -> io::Result<()> {
        write!(out, "{style}")?;
        for (i, cell) in cells.iter().enumerate() {
            if i + 1 == cells.len() {
                write!(out, "{cell}")?;
            } else {
                write!(out, "{cell:w$}  ", w = widths[i])?;
            }
        }
        writeln!(out, "{style:#}")
    };
    line(head, HEADING)?;
    for row in rows {
        line(&row.iter().map(String::as_str).collect::<Vec<_>>(), anstyle::Style::new())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut out = Vec::new();
        let rows = [vec!["1".into(), "a.Main".into()], vec!["4711".into(), "ü".into()]];
        table(&mut out, &["PID", "PROGRAM"], &rows).unwrap();
        facts(&mut out, &[("a", "1\n2".into()), ("long", String::new())]).unwrap();
        let text = anstream::adapter::strip_bytes(&out).into_vec();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "PID   PROGRAM\n1     a.Main\n4711  ü\na     1\n      2\nlong  \n");
    }
}
