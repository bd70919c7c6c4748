//! A TOML file as a tree of values that know their place.
//!
//! The constraint that shaped it: a problem is often seen long after reading, when a configuration meets a JDK, and must
//! still name its line; and a file that is included has its own lines. It must not know what any key means.

use super::problem::{Place, Placed, Problems};
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// A value and where it stands.
pub(crate) type Node = Placed<Value>;

/// A value of TOML.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Date,
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key, where it stands, and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Placed<String>,
    pub(crate) node: Node,
}

impl Value {
    /// What it is, with an article.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Boolean(_) => "a boolean",
            Value::Date => "a date",
            Value::List(_) => "an array",
            Value::Table(_) => "a table",
        }
    }
}

/// Reads a text as TOML: a table, of which the parts with errors of syntax are missing.
pub(crate) fn parse(file: &Arc<Path>, text: &str, problems: &Problems) -> Node {
    let lines = Lines::of(file, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        // The parser's words may have several lines; the first says what is wrong.
        let message = error.message().lines().next().unwrap_or("it is no TOML").to_owned();
        problems.say(&lines.place(error.span().map_or(0, |span| span.start)), message);
    }
    lines.table(table.get_ref(), lines.place(table.span().start), problems)
}

struct Lines<'a> {
    file: &'a Arc<Path>,
    text: &'a str,
    /// Offset in bytes of each line's begin.
    begins: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(file: &'a Arc<Path>, text: &'a str) -> Lines<'a> {
        let begins = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { file, text, begins }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.begins.partition_point(|begin| *begin <= offset);
        let begin = self.begins[line - 1];
        // The parser may point into the middle of a character, or behind the end.
        let column = self.text[begin..].char_indices().take_while(|(at, _)| begin + at < offset).count() + 1;
        Place { file: self.file.clone(), line, column }
    }

    fn table(&self, table: &DeTable<'_>, place: Place, problems: &Problems) -> Node {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            let key = Placed { value: name.to_string(), place: self.place(key.span().start) };
            Entry { key, node: self.node(value, problems) }
        };
        Node { value: Value::Table(entries.into_iter().map(entry).collect()), place }
    }

    fn node(&self, value: &Spanned<DeValue<'_>>, problems: &Problems) -> Node {
        let place = self.place(value.span().start);
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => Value::Integer(integer(number).unwrap_or_else(|| {
                problems.say(&place, format!("{number} is too large"));
                0
            })),
            DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or_else(|_| {
                problems.say(&place, format!("{} is no number", number.as_str()));
                0.0
            })),
            DeValue::Boolean(yes) => Value::Boolean(*yes),
            DeValue::Datetime(_) => Value::Date,
            DeValue::Array(list) => Value::List(list.iter().map(|node| self.node(node, problems)).collect()),
            DeValue::Table(table) => return self.table(table, place, problems),
        };
        Node { value, place }
    }
}

fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Puts a file over one that it includes: of the tables named, each entry of `over` takes the place of one with the
/// same key; of everything else, the value of `over` counts.
pub(crate) fn merge(base: Node, over: Node, joined: &[&str]) -> Node {
    let (Value::Table(mut all), Value::Table(entries)) = (base.value, over.value) else {
        unreachable!("a document is a table");
    };
    for entry in entries {
        let old = all.iter_mut().find(|old| old.key.value == entry.key.value);
        match old {
            Some(old) => {
                let both = matches!((&old.node.value, &entry.node.value), (Value::Table(_), Value::Table(_)));
                if both && joined.contains(&entry.key.value.as_str()) {
                    let place = entry.node.place.clone();
                    let inner = Node { value: Value::Table(Vec::new()), place: place.clone() };
                    let below = std::mem::replace(&mut old.node, inner);
                    old.node = Node { place, ..merge(below, entry.node, &[]) };
                } else {
                    *old = entry;
                }
            }
            None => all.push(entry),
        }
    }
    Node { value: Value::Table(all), place: over.place }
}
