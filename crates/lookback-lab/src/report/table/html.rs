//! A table in HTML.
//!
//! The constraint that shaped it: names of others' programs stand in it, so all text goes through maud, which escapes.
//! It must not hold a colour: the page's style sheet has them.

use super::{Content, RowKind, Table};
use maud::{Markup, html};

/// The table with caption, reasons and notes.
pub(in crate::report) fn html(table: &Table) -> Markup {
    let scales = table.scales();
    let reasons = table.reasons();
    let numbers = |i: usize| table.columns.get(i).is_some_and(|column| column.quantity.is_some());
    let mut last = RowKind::Body;
    html! {
        figure.table id={ "table-" (super::word(&table.name)) } {
            figcaption { (table.caption) }
            div.scroll {
                table {
                    thead { tr {
                        @for (i, title) in table.titles(&scales).iter().enumerate() {
                            th scope="col" class=[numbers(i).then_some("number")] { (title) }
                        }
                    } }
                    tbody {
                        @for row in &table.rows {
                            @let first = row.kind == RowKind::Summary && std::mem::replace(&mut last, row.kind) != RowKind::Summary;
                            tr class=[class(row.kind, first)] {
                                @for (i, (cell, scale)) in row.cells.iter().zip(&scales).enumerate() {
                                    @let (value, interval) = cell.show(scale.as_ref(), &reasons);
                                    @let class = cell_class(numbers(i), cell.best, &cell.content);
                                    @if i == 0 {
                                        th scope="row" { (value) }
                                    } @else {
                                        td class=[class] {
                                            (value)
                                            @if let Some(interval) = interval { " " span.interval { (interval) } }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if !reasons.is_empty() || !table.notes.is_empty() {
                div.notes {
                    @for (i, reason) in reasons.iter().enumerate() { p { "[" (i + 1) "] " (reason) } }
                    @for note in &table.notes { p { (note) } }
                }
            }
        }
    }
}

fn class(kind: RowKind, first: bool) -> Option<&'static str> {
    match kind {
        RowKind::Body => None,
        RowKind::Excluded => Some("excluded"),
        RowKind::Summary if first => Some("summary first"),
        RowKind::Summary => Some("summary"),
    }
}

fn cell_class(number: bool, best: bool, content: &Content) -> Option<&'static str> {
    match content {
        Content::Missing(_) => Some("number missing"),
        _ if best => Some("number best"),
        _ if number => Some("number"),
        _ => None,
    }
}
