//! A report as a page: one HTML file that needs nothing else.
//!
//! The constraint that shaped it: it is mailed, put on a file server and printed, so it holds its figures and its style,
//! has no script, follows the reader's light or dark, and every name in it is escaped by maud.

use super::document::{Block, Document};
use super::plot::{Figure, dark_style};
use super::table::{html, word};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");

impl Document {
    /// The report as a page.
    pub fn page(&self) -> String {
        let dark = format!("@media screen and (prefers-color-scheme:dark){{{}}}", dark_style());
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) (PreEscaped(dark)) }
                }
                body {
                    header {
                        h1 { (self.title) }
                        @if !self.about.is_empty() { p.about { (self.about) } }
                        nav { @for section in &self.sections { a href={ "#" (word(&section.heading)) } { (section.heading) } } }
                    }
                    main {
                        @for section in &self.sections {
                            section id=(word(&section.heading)) {
                                h2 { (section.heading) }
                                @for block in &section.blocks { (part(block)) }
                            }
                        }
                    }
                    footer { "Made by lookback lab " (env!("CARGO_PKG_VERSION")) " from the records of the experiment; nothing in it was typed by hand." }
                }
            }
        };
        page.into_string()
    }
}

fn part(block: &Block) -> Markup {
    match block {
        Block::Text(text) => html! { p { (text) } },
        Block::List(items) => html! { ul { @for item in items { li { (item) } } } },
        Block::Facts(facts) => html! {
            @if !facts.is_empty() { dl { @for (key, value) in facts { dt { (key) } dd { (value) } } } }
        },
        Block::Table(table) => html(table),
        Block::Figure(figure) => drawing(figure),
        Block::File { title, text } => html! { details { summary { (title) } pre { (text) } } },
    }
}

fn drawing(figure: &Figure) -> Markup {
    // The SVG is our own: names in it were escaped when it was drawn.
    html! {
        figure.drawing id={ "figure-" (figure.name) } {
            (PreEscaped(&figure.svg))
            figcaption { (figure.caption) }
        }
    }
}
