//! Method patterns: `com.acme.Api.handle*`, `com.acme.**`, `!**.generated.**`, `@javax.inject.Singleton`.
//!
//! The constraint that shaped them: they are matched against every method that is loaded, at class load
//! time, so a match is one pass over the name without allocation, and the common `a.b.**` is a prefix test.
//! `.`, `/` and `::` are the same separator. `*` stays within a name, `**` crosses separators. A pattern
//! selects a method when it matches `Class.method` or the class's whole name.

use std::fmt;

/// One pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    negative: bool,
    matcher: Matcher,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Matcher {
    /// `a.b.**`: the name begins with `a.b.`.
    Prefix(String),
    /// Anything else.
    Glob(Vec<Piece>),
    /// `@Annotation`, matched against the annotation's name.
    Annotation(Vec<Piece>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// `*`
    Within,
    /// `**`
    Across,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// In words, when it is empty or holds a character that no name has.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let (negative, rest) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (annotation, rest) = match rest.strip_prefix('@') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        if rest.is_empty() {
            return Err(format!("the pattern '{text}' names nothing"));
        }
        let wrong = |c: char| c.is_whitespace() || c.is_control() || "!@;[]()\"'\\,=".contains(c);
        if let Some(c) = rest.chars().find(|&c| wrong(c)) {
            return Err(format!("the pattern '{text}' holds {c:?}, which no method's name has"));
        }
        let dotted = rest.replace("::", ".").replace('/', ".");
        if dotted.contains("***") || dotted.contains("..") || dotted.contains(':') {
            return Err(format!("the pattern '{text}' is malformed"));
        }
        let pieces = pieces(&dotted);
        let matcher = match (&pieces[..], annotation) {
            (_, true) => Matcher::Annotation(pieces),
            ([Piece::Text(prefix), Piece::Across], false) if prefix.ends_with('.') => {
                Matcher::Prefix(prefix.clone())
            }
            _ => Matcher::Glob(pieces),
        };
        Ok(Pattern { text: text.to_owned(), negative, matcher })
    }

    /// Whether this pattern, its `!` aside, matches. `class` is written with dots; `annotations` are those
    /// of the class and the method, with dots.
    #[must_use]
    pub fn matches(&self, class: &str, method: &str, annotations: &[&str]) -> bool {
        match &self.matcher {
            Matcher::Prefix(prefix) => class.starts_with(prefix.as_str()),
            Matcher::Glob(pieces) => {
                glob(pieces, class.as_bytes(), b"") || glob(pieces, class.as_bytes(), method.as_bytes())
            }
            Matcher::Annotation(pieces) => annotations.iter().any(|a| {
                let simple = a.rsplit(['.', '$']).next().unwrap_or(a);
                glob(pieces, a.as_bytes(), b"") || glob(pieces, simple.as_bytes(), b"")
            }),
        }
    }

    /// Whether a match takes the method away.
    #[must_use]
    pub const fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether it looks at annotations.
    #[must_use]
    pub const fn is_annotation(&self) -> bool {
        matches!(self.matcher, Matcher::Annotation(_))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(r) = rest.strip_prefix("**") {
            out.push(Piece::Across);
            rest = r;
        } else if let Some(r) = rest.strip_prefix('*') {
            out.push(Piece::Within);
            rest = r;
        } else {
            let end = rest.find('*').unwrap_or(rest.len());
            out.push(Piece::Text(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    out
}

/// Matches `pieces` against `class`, a dot and `method` (against `class` alone when `method` is empty),
/// without joining them. Backtracks to the last star only, so it takes at most |pieces| x |name| steps.
fn glob(pieces: &[Piece], class: &[u8], method: &[u8]) -> bool {
    let len = class.len() + if method.is_empty() { 0 } else { 1 + method.len() };
    let at = |i: usize| match i.checked_sub(class.len()) {
        None => class[i],
        Some(0) => b'.',
        Some(j) => method[j - 1],
    };
    let (mut p, mut i) = (0, 0);
    // Where to go on when a text does not fit: the piece after the last `*` and `**`, and how far it ate.
    type Resume = Option<(usize, usize)>;
    let (mut within, mut across): (Resume, Resume) = (None, None);
    loop {
        let step = match pieces.get(p) {
            None if i == len => return true,
            None => false,
            Some(Piece::Within) => {
                within = Some((p + 1, i));
                p += 1;
                true
            }
            Some(Piece::Across) => {
                across = Some((p + 1, i));
                within = None;
                p += 1;
                true
            }
            Some(Piece::Text(t)) => {
                let fits = i + t.len() <= len && t.bytes().enumerate().all(|(k, b)| at(i + k) == b);
                if fits {
                    i += t.len();
                    p += 1;
                }
                fits
            }
        };
        if step {
            continue;
        }
        if let Some((next, eaten)) = within
            && eaten < len
            && at(eaten) != b'.'
        {
            within = Some((next, eaten + 1));
            (p, i) = (next, eaten + 1);
        } else if let Some((next, eaten)) = across
            && eaten < len
        {
            across = Some((next, eaten + 1));
            within = None;
            (p, i) = (next, eaten + 1);
        } else {
            return false;
        }
    }
}

/// A list of patterns: selected is what a positive one matches (everything when there is none) and no
/// negative one does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(pub Vec<Pattern>);

impl Patterns {
    /// Whether the list selects a method; see [`Pattern::matches`].
    #[must_use]
    pub fn select(&self, class: &str, method: &str, annotations: &[&str]) -> bool {
        let mut any_positive = false;
        let mut selected = false;
        for p in &self.0 {
            if p.negative {
                if p.matches(class, method, annotations) {
                    return false;
                }
            } else {
                any_positive = true;
                selected = selected || p.matches(class, method, annotations);
            }
        }
        selected || !any_positive
    }

    /// Whether some pattern names what is wanted, and not only what is not.
    #[must_use]
    pub fn names_some(&self) -> bool {
        self.0.iter().any(|p| !p.negative)
    }

    /// Whether some pattern looks at annotations, so that they must be collected.
    #[must_use]
    pub fn need_annotations(&self) -> bool {
        self.0.iter().any(Pattern::is_annotation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(pattern: &str, class: &str, method: &str) -> bool {
        Pattern::parse(pattern).unwrap().matches(class, method, &[])
    }

    #[test]
    fn stars_stay_within_a_name_and_double_stars_cross() {
        assert!(is("com.acme.**", "com.acme.a.B", "m"));
        assert!(!is("com.acme.**", "com.acmeX.B", "m"));
        assert!(is("com.acme.*", "com.acme.B", "m"), "a class of the package");
        assert!(!is("com.acme.*", "com.acme.a.B", "m"));
        assert!(is("com.acme.B.*", "com.acme.B", "m"));
        assert!(is("com/acme/B::handle*", "com.acme.B", "handleGet"));
        assert!(!is("com.acme.B.handle*", "com.acme.B", "xhandle"));
        assert!(is("**.B.m", "com.acme.B", "m"));
        assert!(is("**.gen*.**", "com.generated.x.B", "m"));
        assert!(is("**Service.find*", "a.b.OrderService", "findAll"));
        assert!(is("*.*.*Service.find*", "a.b.OrderService", "findAll"));
        assert!(!is("*.*Service.find*", "a.b.OrderService", "findAll"));
        assert!(is("**", "B", "m"));
        assert!(is("a.*b*c*.m", "a.xbycz", "m"));
        assert!(is("com.acme.Outer$Inner.m", "com.acme.Outer$Inner", "m"));
        assert!(is("a.B", "a.B", "<init>"));
    }

    #[test]
    fn a_long_name_does_not_take_long() {
        let pattern = format!("{}b", "*a".repeat(40));
        assert!(!is(&pattern, &"a".repeat(4_000), "m"));
        let pattern = format!("{}b", "**a".repeat(40));
        assert!(!is(&pattern, &"a.".repeat(2_000), "m"));
    }

    #[test]
    fn lists_take_and_take_away() {
        let parse = |l: &[&str]| Patterns(l.iter().map(|p| Pattern::parse(p).unwrap()).collect());
        let list = parse(&["com.acme.**", "!**.generated.**"]);
        assert!(list.select("com.acme.A", "m", &[]));
        assert!(!list.select("com.acme.generated.A", "m", &[]));
        assert!(!list.select("org.A", "m", &[]));
        assert!(parse(&["!org.**"]).select("com.A", "m", &[]), "only negatives: all but them");
        let annotated = parse(&["@Timed"]);
        assert!(annotated.select("a.B", "m", &["io.metrics.Timed"]));
        assert!(!annotated.select("a.B", "m", &["io.metrics.Untimed"]));
        assert!(annotated.need_annotations());
    }

    #[test]
    fn malformed_patterns_are_refused() {
        for bad in ["", "!", "@", "a b", "a,b", "a...b", "***", "a:b", "a(b)", "!!a"] {
            assert!(Pattern::parse(bad).is_err(), "{bad}");
        }
    }
}
