//! The blocks of a document that hold what a run says.
//!
//! ```text
//! <!-- lab:NAME:TABLE -->            a table, on lines of its own
//! ...
//! <!-- /lab -->
//!
//! <!-- lab:NAME/FILE.svg what it shows -->            a picture, likewise
//! ...
//! <!-- /lab -->
//!
//! it takes <!-- lab:NAME=KEY -->1.234<!-- /lab --> of ...      a figure within a line
//! ```
//!
//! After `KEY` may stand how the figure is shown: `.2` (digits after the point), `unit` (`12.3 ms`) or `change` (a ratio
//! as `+3.1 %`). The constraint that shaped it: GitHub must show nothing of a block but its content. A comment on
//! a line of its own is invisible; one at the begin of a line of text would turn that line into raw HTML, so it is
//! refused. Examples in code are no blocks. It must not change anything outside the blocks.

use super::runs::{Kept, Runs};
use crate::error::{Error, Result};
use crate::metric::Unit;
use crate::report::quantity::{Quantity, alone, change};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

const OPEN: &str = "<!-- lab:";
const CLOSE: &str = "<!-- /lab -->";

/// The blocks of a document.
#[derive(Debug)]
pub struct Blocks<'a> {
    path: &'a Path,
    text: &'a str,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    line: usize,
    /// What is between the comments.
    content: Range<usize>,
    run: String,
    what: What,
}

#[derive(Debug)]
enum What {
    Table(String),
    Picture { file: String, shows: String },
    Figure { key: String, form: Form },
}

#[derive(Debug)]
enum Form {
    AsIs,
    Digits(usize),
    Unit,
    Change,
}

/// A block that does not say what its run says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The document.
    pub path: PathBuf,
    /// The line that opens the block, from 1.
    pub line: usize,
    /// In what it differs, in words.
    pub why: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.why)
    }
}

impl<'a> Blocks<'a> {
    /// Finds the blocks of a document; `path` is for messages.
    ///
    /// # Errors
    /// [`Error::Block`] for a block that is not closed, not readable, or at the begin of a line of text.
    pub fn of(path: &'a Path, text: &'a str) -> Result<Blocks<'a>> {
        let failed =
            |line: usize, why: &str| Error::Block { path: path.to_owned(), line, why: why.to_owned() };
        let mut blocks = Vec::new();
        let mut offset = 0;
        let mut fence: Option<String> = None;
        // Up to here the text belongs to a block that was found.
        let mut done = 0;
        for (i, line) in text.split_inclusive('\n').enumerate() {
            let (number, start) = (i + 1, offset);
            offset += line.len();
            if start >= done && fenced(line, &mut fence) {
                continue;
            }
            for (at, _) in line.match_indices(OPEN) {
                let begin = start + at;
                let in_code = line[..at].matches('`').count() % 2 == 1;
                if begin < done || in_code {
                    continue;
                }
                let after = begin + OPEN.len();
                let head = text[after..].find("-->").filter(|end| !text[after..after + end].contains('\n'));
                let head = head.ok_or_else(|| failed(number, "the comment that opens a block has no end"))?;
                let content = after + head + 3;
                let close = text[content..].find(CLOSE).map(|n| content + n);
                let close = close.filter(|close| !text[content..*close].contains(OPEN));
                let close = close.ok_or_else(|| failed(number, "the block has no `<!-- /lab -->`"))?;
                let (run, what) = parse(&text[after..after + head]).map_err(|why| failed(number, &why))?;
                let alone = line[..at].trim().is_empty();
                match what {
                    What::Table(_) | What::Picture { .. }
                        if !alone || line[at + OPEN.len() + head + 3..].trim() != "" =>
                    {
                        return Err(failed(
                            number,
                            "the block of a table or picture must stand on lines of its own",
                        ));
                    }
                    What::Figure { .. } if alone => {
                        return Err(failed(
                            number,
                            "a figure's block must not begin a line: Markdown would take the line for HTML",
                        ));
                    }
                    What::Figure { .. } if text[content..close].contains('\n') => {
                        return Err(failed(number, "a figure's block must end on its line"));
                    }
                    _ => {}
                }
                blocks.push(Block { line: number, content: content..close, run, what });
                done = close + CLOSE.len();
            }
        }
        Ok(Blocks { path, text, blocks })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// The document with its blocks as the runs say, and how many changed; with `only`, blocks of that run alone.
    ///
    /// # Errors
    /// [`Error::Block`] when a run does not hold what a block names.
    pub fn renew(&self, runs: &Runs, only: Option<&str>) -> Result<(String, usize)> {
        let mut out = String::with_capacity(self.text.len());
        let (mut at, mut changed) = (0, 0);
        for block in self.blocks.iter().filter(|block| only.is_none_or(|name| block.run == name)) {
            let wanted = block.wanted(self.path, runs).map_err(|why| Error::Block {
                path: self.path.to_owned(),
                line: block.line,
                why,
            })?;
            out += &self.text[at..block.content.start];
            changed += usize::from(self.text[block.content.clone()] != wanted);
            out += &wanted;
            at = block.content.end;
        }
        out += &self.text[at..];
        Ok((out, changed))
    }

    /// All blocks that do not say what their runs say.
    pub fn check(&self, runs: &Runs) -> Vec<Difference> {
        let differs = |block: &Block| {
            let found = &self.text[block.content.clone()];
            let why = match block.wanted(self.path, runs) {
                Err(why) => why,
                Ok(wanted) if wanted == found => return None,
                Ok(wanted) => match &block.what {
                    What::Figure { key, .. } => format!(
                        "{}={key} says \"{}\", its run says \"{}\"",
                        block.run,
                        found.trim(),
                        wanted.trim()
                    ),
                    What::Picture { file, .. } => format!(
                        "{}/{file} says \"{}\", its run says \"{}\"",
                        block.run,
                        found.trim(),
                        wanted.trim()
                    ),
                    What::Table(table) => {
                        let line =
                            |text: &str, n: usize| text.lines().nth(n).unwrap_or("(nothing)").to_owned();
                        let lines = found.lines().count().max(wanted.lines().count());
                        let n = (0..lines).find(|n| line(found, *n) != line(&wanted, *n)).unwrap_or(0);
                        format!(
                            "{}:{table} differs from its run in line {}: \"{}\", and not \"{}\"",
                            block.run,
                            block.line + n,
                            line(&wanted, n),
                            line(found, n)
                        )
                    }
                },
            };
            Some(Difference { path: self.path.to_owned(), line: block.line, why })
        };
        self.blocks.iter().filter_map(differs).collect()
    }
}

/// Whether a line belongs to a fenced block of code; keeps the fence that is open.
fn fenced(line: &str, fence: &mut Option<String>) -> bool {
    let trimmed = line.trim_start();
    let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'));
    let length = mark.map_or(0, |mark| trimmed.chars().take_while(|c| *c == mark).count());
    match fence {
        Some(open) => {
            if mark == open.chars().next() && length >= open.len() && trimmed[length..].trim().is_empty() {
                *fence = None;
            }
            true
        }
        None if length >= 3 => {
            *fence = mark.map(|mark| mark.to_string().repeat(length));
            true
        }
        None => false,
    }
}

fn parse(head: &str) -> std::result::Result<(String, What), String> {
    let head = head.trim();
    let name = |text: &str| {
        let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if !text.is_empty() && text.chars().all(good) {
            Ok(text.to_owned())
        } else {
            Err(format!("\"{text}\" is no name"))
        }
    };
    if let Some((run, rest)) = head.split_once('=') {
        let mut words = rest.split_whitespace();
        let key = name(words.next().unwrap_or_default())?;
        let form = match (words.next(), words.next()) {
            (None, _) => Form::AsIs,
            (Some("unit"), None) => Form::Unit,
            (Some("change"), None) => Form::Change,
            (Some(word), None) => {
                let digits = word.strip_prefix('.').and_then(|n| n.parse().ok()).filter(|n| *n <= 9);
                Form::Digits(
                    digits.ok_or_else(|| format!("\"{word}\" is none of `.2`, `unit` and `change`"))?,
                )
            }
            _ => return Err("after the key may stand one word: `.2`, `unit` or `change`".into()),
        };
        return Ok((name(run)?, What::Figure { key, form }));
    }
    let picture = head.split_once(' ').and_then(|(what, shows)| Some((what.split_once('/')?, shows)));
    if let Some(((run, file), shows)) = picture {
        return Ok((name(run)?, What::Picture { file: name(file)?, shows: shows.trim().to_owned() }));
    }
    match head.split_once(':') {
        Some((run, table)) => Ok((name(run)?, What::Table(name(table)?))),
        None => Err(format!("\"{head}\" is none of `NAME:TABLE`, `NAME/FILE WORDS` and `NAME=KEY`")),
    }
}

impl Block {
    /// What must stand between the comments; `document` is where.
    fn wanted(&self, document: &Path, runs: &Runs) -> std::result::Result<String, String> {
        match &self.what {
            // Empty lines: a table right below a comment is a part of the comment's HTML.
            What::Table(table) => Ok(format!("\n\n{}\n\n", runs.table(&self.run, table)?.trim())),
            What::Picture { file, shows } => {
                let target = link(document, &runs.file(&self.run, file)?)
                    .ok_or_else(|| format!("the run's {file} cannot be linked from here"))?;
                Ok(format!("\n\n![{shows}]({target})\n\n"))
            }
            What::Figure { key, form } => show(&runs.figure(&self.run, key)?, form),
        }
    }
}

/// The path of a file relative to a document; none when either is not there.
fn link(document: &Path, file: &Path) -> Option<String> {
    let above = document.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (above, file) = (above.canonicalize().ok()?, file.canonicalize().ok()?);
    let common = above.ancestors().find(|common| file.starts_with(common))?;
    let up = above.strip_prefix(common).ok()?.components().map(|_| "../").collect::<String>();
    Some(up + file.strip_prefix(common).ok()?.to_str()?)
}

fn show(kept: &Kept, form: &Form) -> std::result::Result<String, String> {
    Ok(match form {
        Form::AsIs => kept.text.clone(),
        Form::Digits(digits) => format!("{:.digits$}", kept.value),
        Form::Change if kept.unit == "ratio" => change(kept.value),
        Form::Change => return Err(format!("`change` is for ratios, and this is in {}", kept.unit)),
        Form::Unit => match kept.unit.as_str() {
            "ns" => alone(Quantity::Of(Unit::Nanoseconds), kept.value),
            "bytes" => alone(Quantity::Of(Unit::Bytes), kept.value),
            "count" => alone(Quantity::Of(Unit::Count), kept.value),
            unit => format!("{} {unit}", kept.text),
        },
    })
}
