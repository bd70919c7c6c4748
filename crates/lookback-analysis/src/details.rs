//! Field values of the slices that have any: spans and instants of native programs.
//!
//! The constraint that shaped it: a ring holds millions of events with a number or two each, so the values stay
//! the bytes that they were in the event, one after the other, and are taken apart when somebody looks.

use lookback_format::definitions::Definitions;
use lookback_format::native::{Value, values};
use lookback_format::{Nanos, TypeId};

/// In place of a slice's entry: it has no values.
pub(crate) const NO_DETAIL: u32 = u32::MAX;

/// The values of one thread's slices, by entry; see [`crate::Columns::detail`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    event_type: TypeId,
    at: u32,
    len: u32,
}

impl Details {
    /// Values that will be found in `bytes`.
    pub(crate) fn new(bytes: Vec<u8>) -> Details {
        Details { entries: Vec::new(), bytes }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds the values of an event: `len` bytes from `at` on.
    pub(crate) fn add(&mut self, event_type: TypeId, at: u32, len: u32) -> u32 {
        if len == 0 {
            return NO_DETAIL;
        }
        self.entries.push(Entry { event_type, at, len });
        self.entries.len() as u32 - 1
    }

    /// Takes the newest entry back.
    pub(crate) fn take_back(&mut self, entry: u32) {
        if entry as usize + 1 == self.entries.len() {
            self.entries.pop();
        }
    }

    /// Names and values of an entry; none when there is no such entry or its type is not defined.
    pub fn of<'a>(
        &'a self,
        entry: u32,
        definitions: &'a Definitions,
    ) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        let entry = self.entries.get(entry as usize);
        let found = entry.and_then(|e| {
            let bytes = self.bytes.get(e.at as usize..)?.get(..e.len as usize)?;
            Some((definitions.event_type(e.event_type)?, bytes))
        });
        let all = found.into_iter().flat_map(|(of, bytes)| values(of, bytes));
        all.map(|(field, value)| (definitions.name(field.name).unwrap_or("?"), value))
    }
}

/// A value for people. A text is given as it is, bytes as hexadecimal digits.
#[must_use]
pub fn value_words(value: &Value<'_>, definitions: &Definitions) -> String {
    match value {
        Value::U64(v) => v.to_string(),
        Value::I64(v) => v.to_string(),
        Value::F64(v) => v.to_string(),
        Value::Bool(v) => v.to_string(),
        Value::Name(v) => definitions.name(*v).unwrap_or("?").to_owned(),
        Value::Duration(Nanos(v)) => crate::words::duration(Nanos(*v)),
        Value::Text(v) => v.clone().into_owned(),
        Value::Bytes(v) => v.iter().map(|b| format!("{b:02x}")).collect(),
        _ => "?".to_owned(),
    }
}
