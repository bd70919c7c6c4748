//! Reading the fields of one table: each by its name and type, and at the end what is left over.
//!
//! The constraint that shaped it: what a reader asks for is the list of what is known, so that a new key cannot be
//! forgotten where unknown keys are told.

use super::document::{Entry, Node, Value};
use super::problem::{Place, Placed, Problems, meant};
use lookback_options::{parse_bytes, parse_duration};
use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The fields of a table that is being read.
pub(crate) struct Fields<'a> {
    entries: &'a [Entry],
    place: &'a Place,
    problems: &'a Problems,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Fields<'a> {
    /// The fields of this node; `what` is what it should be a table of.
    pub(crate) fn of(node: &'a Node, what: &str, problems: &'a Problems) -> Option<Fields<'a>> {
        match &node.value {
            Value::Table(entries) => {
                Some(Fields { entries, place: &node.place, problems, asked: RefCell::default() })
            }
            other => {
                problems.say(&node.place, format!("{what} is a table, not {}", other.kind()));
                None
            }
        }
    }

    /// Where the table stands.
    pub(crate) fn place(&self) -> &'a Place {
        self.place
    }

    /// The node of this key.
    pub(crate) fn node(&self, key: &'static str) -> Option<&'a Node> {
        self.asked.borrow_mut().push(key);
        self.entries.iter().find(|entry| entry.key.value == key).map(|entry| &entry.node)
    }

    /// Where the key stands, or the table when it has none.
    pub(crate) fn place_of(&self, key: &str) -> &'a Place {
        let entry = self.entries.iter().find(|entry| entry.key.value == key);
        entry.map_or(self.place, |entry| &entry.key.place)
    }

    fn wrong(&self, key: &str, node: &Node, wanted: &str) {
        self.problems.say(&node.place, format!("`{key}` is {wanted}, not {}", node.value.kind()));
    }

    /// A string.
    pub(crate) fn text(&self, key: &'static str) -> Option<Placed<String>> {
        let node = self.node(key)?;
        let text = text_of(node);
        if text.is_none() {
            self.wrong(key, node, "a string");
        }
        text
    }

    /// A string that is one of these words: its index.
    pub(crate) fn word(&self, key: &'static str, words: &[&str]) -> Option<usize> {
        let text = self.text(key)?;
        let found = words.iter().position(|word| *word == text.value);
        if found.is_none() {
            let said =
                format!("`{key}` cannot be `{}`{}", text.value, meant(&text.value, words.iter().copied()));
            self.problems.say(&text.place, said);
        }
        found
    }

    /// An array of strings.
    pub(crate) fn texts(&self, key: &'static str) -> Option<Vec<Placed<String>>> {
        texts_of(key, self.node(key)?, self.problems)
    }

    /// A table of strings, in their order.
    pub(crate) fn table_of_texts(&self, key: &'static str) -> Option<Vec<(String, Placed<String>)>> {
        let node = self.node(key)?;
        let Value::Table(entries) = &node.value else {
            self.wrong(key, node, "a table of strings");
            return None;
        };
        let text = |entry: &Entry| {
            let text = text_of(&entry.node);
            if text.is_none() {
                self.wrong(&format!("{key}.{}", entry.key.value), &entry.node, "a string");
            }
            Some((entry.key.value.clone(), text?))
        };
        Some(entries.iter().filter_map(text).collect())
    }

    /// A boolean.
    pub(crate) fn boolean(&self, key: &'static str) -> Option<bool> {
        let node = self.node(key)?;
        match node.value {
            Value::Boolean(yes) => Some(yes),
            _ => {
                self.wrong(key, node, "true or false");
                None
            }
        }
    }

    /// An integer within these limits.
    pub(crate) fn integer(&self, key: &'static str, within: RangeInclusive<i64>) -> Option<i64> {
        let node = self.node(key)?;
        match node.value {
            Value::Integer(number) if within.contains(&number) => Some(number),
            Value::Integer(number) => {
                let limits = match (within.start(), within.end()) {
                    (low, &i64::MAX) => format!("at least {low}"),
                    (low, high) => format!("from {low} to {high}"),
                };
                self.problems.say(&node.place, format!("`{key}` is {limits}, not {number}"));
                None
            }
            _ => {
                self.wrong(key, node, "an integer");
                None
            }
        }
    }

    /// A count from 1 on that fits a `u32`.
    pub(crate) fn count(&self, key: &'static str, most: u32) -> Option<u32> {
        self.integer(key, 1..=i64::from(most)).and_then(|number| u32::try_from(number).ok())
    }

    /// A percentage.
    pub(crate) fn percent(&self, key: &'static str) -> Option<f64> {
        let node = self.node(key)?;
        let number = number_of(node);
        match number {
            Some(number) if (0.0..=100.0).contains(&number) => Some(number),
            Some(number) => {
                self.problems
                    .say(&node.place, format!("`{key}` is a percentage from 0 to 100, not {number}"));
                None
            }
            None => {
                self.wrong(key, node, "a percentage");
                None
            }
        }
    }

    /// A duration above zero, written with its unit.
    pub(crate) fn duration(&self, key: &'static str) -> Option<Duration> {
        let text = self.text(key)?;
        match parse_duration(&text.value) {
            Ok(0) => {
                self.problems.say(&text.place, format!("`{key}` is longer than nothing"));
                None
            }
            Ok(nanos) => Some(Duration::from_nanos(nanos)),
            Err(why) => {
                self.problems.say(&text.place, format!("`{key}`: {why}"));
                None
            }
        }
    }

    /// Bytes, written with their unit.
    pub(crate) fn bytes(&self, key: &'static str) -> Option<Placed<u64>> {
        let text = self.text(key)?;
        bytes_of(key, &text, self.problems)
    }

    /// The entries of a table within this one.
    pub(crate) fn entries(&self, key: &'static str) -> &'a [Entry] {
        match self.node(key) {
            Some(Node { value: Value::Table(entries), .. }) => entries,
            Some(node) => {
                self.wrong(key, node, "a table");
                &[]
            }
            None => &[],
        }
    }

    /// Tells the keys that nobody asked for. `also` are keys that stand elsewhere, with words about it.
    pub(crate) fn finish(self, what: &str, also: &[(&str, &str)]) {
        let asked = self.asked.borrow();
        for entry in self.entries {
            let key = &entry.key;
            if asked.contains(&key.value.as_str()) {
                continue;
            }
            let elsewhere = also.iter().find(|(name, _)| *name == key.value);
            let hint = elsewhere
                .map_or_else(|| meant(&key.value, asked.iter().copied()), |(_, words)| format!("; {words}"));
            self.problems.say(&key.place, format!("{what} has no key `{}`{hint}", key.value));
        }
    }
}

/// The node's string.
pub(crate) fn text_of(node: &Node) -> Option<Placed<String>> {
    match &node.value {
        Value::Text(text) => Some(Placed { value: text.clone(), place: node.place.clone() }),
        _ => None,
    }
}

/// The strings of an array.
pub(crate) fn texts_of(key: &str, node: &Node, problems: &Problems) -> Option<Vec<Placed<String>>> {
    let Value::List(items) = &node.value else {
        let said = format!("`{key}` is an array of strings, not {}", node.value.kind());
        problems.say(&node.place, said);
        return None;
    };
    let text = |item: &Node| {
        let text = text_of(item);
        if text.is_none() {
            let said = format!("`{key}` is an array of strings, and this is {}", item.value.kind());
            problems.say(&item.place, said);
        }
        text
    };
    Some(items.iter().filter_map(text).collect())
}

/// The node's number.
pub(crate) fn number_of(node: &Node) -> Option<f64> {
    match node.value {
        Value::Integer(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    }
}

/// Bytes above zero.
pub(crate) fn bytes_of(key: &str, text: &Placed<String>, problems: &Problems) -> Option<Placed<u64>> {
    let why = match parse_bytes(&text.value) {
        Ok(0) => "more than nothing is needed".into(),
        Ok(bytes) => return Some(Placed { value: bytes, place: text.place.clone() }),
        Err(why) => why,
    };
    problems.say(&text.place, format!("`{key}`: {why}"));
    None
}
