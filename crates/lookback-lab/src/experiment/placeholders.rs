//! `{lookback}`, `{here}`, `{0}`: what stands for a path or a parameter inside an option.
//!
//! The constraint that shaped it: results of two machines are put together by a hash of what ran, and the same agent lies
//! elsewhere on each. So a filled text comes twice: as it is run, and as it is hashed, where a placeholder of a path
//! stays as it is written.

use super::problem::{Placed, Problems, listed};

/// What stays for the runner to fill: the directory of the invocation.
pub(crate) const DIR: &str = "dir";

/// A text whose placeholders are filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filled {
    /// As it is run.
    pub(crate) text: String,
    /// As it is hashed: the same on each machine.
    pub(crate) stable: String,
}

/// What placeholders stand for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meanings<'a> {
    /// Of `{0}`, `{1}`, ...
    pub(crate) parameters: &'a [String],
    /// Of names.
    pub(crate) paths: &'a [(&'static str, String)],
}

/// The meanings of names for one configuration. `{here}` is added for each text: the directory of its file.
#[derive(Debug, Default)]
pub(crate) struct Names(pub(crate) Vec<(&'static str, String)>);

impl Names {
    /// Fills a text; what is wrong with it is told at its place.
    pub(crate) fn fill(
        &self,
        text: &Placed<String>,
        parameters: &[String],
        problems: &Problems,
    ) -> Option<Filled> {
        let mut paths = self.0.clone();
        paths.push(("here", text.place.directory().display().to_string()));
        let filled = fill(&text.value, Meanings { parameters, paths: &paths });
        filled.map_err(|why| problems.say(&text.place, why)).ok()
    }
}

impl Filled {
    /// A text without placeholders.
    pub(crate) fn plain(text: impl Into<String>) -> Filled {
        let text = text.into();
        Filled { stable: text.clone(), text }
    }

    /// This text behind another.
    pub(crate) fn behind(self, prefix: &str) -> Filled {
        Filled { text: format!("{prefix}{}", self.text), stable: format!("{prefix}{}", self.stable) }
    }
}

/// Fills a text. `{{` and `}}` are single braces; `{dir}` stays.
///
/// # Errors
/// In words, for a placeholder that means nothing.
pub(crate) fn fill(text: &str, meanings: Meanings<'_>) -> Result<Filled, String> {
    let mut filled = Filled { text: String::new(), stable: String::new() };
    for piece in pieces(text)? {
        let (run, hashed) = match piece {
            Piece::Plain(plain) => (plain.to_owned(), plain.to_owned()),
            Piece::Parameter(index) => {
                let value =
                    meanings.parameters.get(index).ok_or_else(|| format!("`{{{index}}}` has no value"))?;
                (value.clone(), value.clone())
            }
            Piece::Name(DIR) => ("{dir}".into(), "{dir}".into()),
            Piece::Name(name) => {
                let known = meanings.paths.iter().find(|(known, _)| *known == name);
                let (_, path) = known.ok_or_else(|| unknown(name, meanings.paths))?;
                (path.clone(), format!("{{{name}}}"))
            }
        };
        filled.text += &run;
        filled.stable += &hashed;
    }
    Ok(filled)
}

fn unknown(name: &str, paths: &[(&'static str, String)]) -> String {
    let mut known: Vec<_> = paths.iter().map(|(known, _)| format!("{{{known}}}")).collect();
    known.push(format!("{{{DIR}}}"));
    format!(
        "`{{{name}}}` means nothing here; there are {}, and `{{{{` and `}}}}` stand for braces themselves",
        listed(&known)
    )
}

/// How many parameters a text takes: one more than the highest of `{0}`, `{1}`, ...
///
/// # Errors
/// In words, when braces do not match.
pub(crate) fn parameters(text: &str) -> Result<usize, String> {
    let index = |piece: Piece<'_>| if let Piece::Parameter(index) = piece { index + 1 } else { 0 };
    Ok(pieces(text)?.into_iter().map(index).max().unwrap_or(0))
}

#[derive(Debug, Clone, Copy)]
enum Piece<'a> {
    Plain(&'a str),
    Parameter(usize),
    Name(&'a str),
}

/// How many parameters a modifier may take.
const PARAMETERS: usize = 10;

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (plain, brace) = rest.split_at(at);
        pieces.push(Piece::Plain(plain));
        if brace.starts_with("{{") || brace.starts_with("}}") {
            pieces.push(Piece::Plain(&brace[..1]));
            rest = &brace[2..];
            continue;
        }
        let end = brace.find('}').filter(|end| *end > 0);
        let end = end.ok_or("a brace stands alone; write it twice if it is to be one")?;
        let name = &brace[1..end];
        pieces.push(match name.parse::<usize>() {
            Ok(index) if index < PARAMETERS => Piece::Parameter(index),
            Ok(_) => return Err(format!("a modifier has at most {PARAMETERS} parameters")),
            Err(_) => Piece::Name(name),
        });
        rest = &brace[end + 1..];
    }
    pieces.push(Piece::Plain(rest));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<(String, String), String> {
        let paths = [("lookback", "/lib/l.so".to_owned())];
        let parameters = ["2".to_owned()];
        fill(text, Meanings { parameters: &parameters, paths: &paths }).map(|f| (f.text, f.stable))
    }

    #[test]
    fn paths_are_filled_for_the_run_and_stay_for_the_hash() {
        let both = |a: &str, b: &str| Ok((a.to_owned(), b.to_owned()));
        assert_eq!(filled("{lookback}=ring={0}m"), both("/lib/l.so=ring=2m", "{lookback}=ring=2m"));
        assert_eq!(filled("{dir}/a.jfr"), both("{dir}/a.jfr", "{dir}/a.jfr"));
        assert_eq!(filled("{{\"a\":1}}"), both("{\"a\":1}", "{\"a\":1}"));
        assert_eq!(filled("plain"), both("plain", "plain"));
    }

    #[test]
    fn what_means_nothing_is_told() {
        assert!(filled("{lokback}").unwrap_err().contains("`{lookback}` and `{dir}`"));
        assert_eq!(filled("{1}"), Err("`{1}` has no value".into()));
        for bad in ["{", "}", "a{b", "{10}"] {
            assert!(filled(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn parameters_are_counted_by_the_highest() {
        assert_eq!(parameters("-Xms{0}m -Xmx{1}m {dir}"), Ok(2));
        assert_eq!(parameters("{dir}"), Ok(0));
    }
}
