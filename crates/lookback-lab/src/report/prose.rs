//! A report as Markdown, LaTeX, plain text, or its tables as comma-separated values.
//!
//! The constraint that shaped it: each is one file that is complete without the others; figures are named by their file,
//! which `lookback lab report --format svg` and `publish` write beside it.

use super::document::{Block, Document};
use super::table::{Form, escape_latex, escape_markdown};

impl Document {
    /// The report in a form of text. Figures stand as references to `FIGURE.svg` (LaTeX: `FIGURE.png`) where the form has
    /// such, and comma-separated values are the tables alone, parted by empty lines.
    pub fn write(&self, form: Form) -> String {
        match form {
            Form::Markdown => self.markdown(),
            Form::Latex => self.latex(),
            Form::Text => self.text(),
            Form::Csv => {
                let tables = self.tables().map(|table| table.write(Form::Csv));
                tables.collect::<Vec<_>>().join("\r\n")
            }
        }
    }

    fn markdown(&self) -> String {
        let mut out = format!("# {}\n", escape_markdown(&self.title));
        if !self.about.is_empty() {
            out += &format!("\n{}\n", escape_markdown(&self.about));
        }
        for section in &self.sections {
            out += &format!("\n## {}\n", escape_markdown(&section.heading));
            for block in &section.blocks {
                out += "\n";
                out += &match block {
                    Block::Text(text) => format!("{}\n", escape_markdown(text)),
                    Block::List(items) => {
                        items.iter().map(|i| format!("- {}\n", escape_markdown(i))).collect()
                    }
                    Block::Facts(facts) => facts
                        .iter()
                        .map(|(k, v)| format!("- **{}**: {}\n", escape_markdown(k), escape_markdown(v)))
                        .collect(),
                    Block::Table(table) => {
                        format!("{}:\n\n{}", escape_markdown(&table.caption), table.write(Form::Markdown))
                    }
                    Block::Figure(figure) => {
                        format!("![{}]({}.svg)\n", escape_markdown(&figure.caption), figure.name)
                    }
                    Block::File { title, text } => {
                        let fence = fence(text);
                        let text = text.trim_end();
                        format!("{}:\n\n{fence}\n{text}\n{fence}\n", escape_markdown(title))
                    }
                };
            }
        }
        out
    }

    fn latex(&self) -> String {
        let mut out = format!("% {}: sections for \\input\n", escape_latex(&self.title));
        for section in &self.sections {
            out += &format!("\\section{{{}}}\n", escape_latex(&section.heading));
            for block in &section.blocks {
                out += &match block {
                    Block::Text(text) => format!("{}\n\n", escape_latex(text)),
                    Block::List(items) => {
                        let items: String =
                            items.iter().map(|i| format!("\\item {}\n", escape_latex(i))).collect();
                        format!("\\begin{{itemize}}\n{items}\\end{{itemize}}\n")
                    }
                    Block::Facts(facts) => {
                        let item = |(k, v): &(String, String)| {
                            format!("\\item[{}] {}\n", escape_latex(k), escape_latex(v))
                        };
                        let items: String = facts.iter().map(item).collect();
                        if items.is_empty() {
                            String::new()
                        } else {
                            format!("\\begin{{description}}\n{items}\\end{{description}}\n")
                        }
                    }
                    Block::Table(table) => table.write(Form::Latex),
                    Block::Figure(figure) => format!(
                        "\\begin{{figure}}\n\\includegraphics[width=\\linewidth]{{{}.png}}\n\\caption{{{}}}\n\\end{{figure}}\n",
                        figure.name,
                        escape_latex(&figure.caption)
                    ),
                    // Verbatim text would end where a file says so; a paper does not hold the file anyway.
                    Block::File { title, .. } => format!("% {}: left out\n", title.replace('\n', " ")),
                };
            }
        }
        out
    }

    fn text(&self) -> String {
        let mut out = format!("{}\n", self.title);
        if !self.about.is_empty() {
            out += &format!("{}\n", self.about);
        }
        for section in &self.sections {
            let line = "=".repeat(section.heading.chars().count());
            out += &format!("\n{}\n{line}\n", section.heading);
            for block in &section.blocks {
                match block {
                    Block::Text(text) => out += &format!("\n{text}\n"),
                    Block::List(items) => {
                        out.push('\n');
                        items.iter().for_each(|item| out += &format!("* {item}\n"));
                    }
                    Block::Facts(facts) => {
                        let width = facts.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
                        out.push('\n');
                        facts.iter().for_each(|(key, value)| out += &format!("{key:width$}  {value}\n"));
                    }
                    Block::Table(table) => out += &format!("\n{}", table.write(Form::Text)),
                    // A terminal shows neither pictures nor the whole file.
                    Block::Figure(_) | Block::File { .. } => {}
                }
            }
        }
        out
    }
}

/// A fence that the text does not hold.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}
