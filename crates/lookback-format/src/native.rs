//! Native events: what programs that use the recorder's API write into the ring (kinds 16 to 18).
//!
//! The constraint that shaped them: recording one costs a few nanoseconds, so all that can be said once (the
//! name, the fields, the thread's name) is said in the definitions, and an event carries two numbers. An end
//! names its type too, so that it still has a name when its begin was overwritten.
//!
//! ```text
//! time u64 (ticks of the ring file's clock; in an incident file nanoseconds of CLOCK_MONOTONIC)
//! event type u32 | thread u32
//! fields (INSTANT and SPAN BEGIN): 8 bytes each; text or bytes only as the last one, to the end
//! ```

use crate::definitions::{EventType, Field, FieldType};
use crate::{Error, NameId, Nanos, Result, ThreadKey, Ticks, TypeId, event};
use std::borrow::Cow;

/// Bytes of an event before its fields.
pub const HEAD_BYTES: usize = 16;

/// What an event says about its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It stands for itself.
    Instant,
    /// A span begins on this thread.
    Begin,
    /// The innermost span of this type on this thread ends.
    End,
}

impl Phase {
    /// The kind of the ring's entry.
    #[must_use]
    pub const fn kind(self) -> u16 {
        match self {
            Phase::Instant => event::kind::INSTANT,
            Phase::Begin => event::kind::SPAN_BEGIN,
            Phase::End => event::kind::SPAN_END,
        }
    }

    /// The phase of a kind; `None` when that is not a native event's.
    #[must_use]
    pub const fn from_kind(kind: u16) -> Option<Phase> {
        match kind {
            event::kind::INSTANT => Some(Phase::Instant),
            event::kind::SPAN_BEGIN => Some(Phase::Begin),
            event::kind::SPAN_END => Some(Phase::End),
            _ => None,
        }
    }
}

/// The two words before an event's fields.
#[inline]
#[must_use]
pub const fn head(time: Ticks, event_type: TypeId, thread: ThreadKey) -> [u64; 2] {
    [time.0, event_type.0 as u64 | (thread.0 as u64) << 32]
}

/// An event as it stands in the ring, its fields not taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Instant, begin or end.
    pub phase: Phase,
    /// When.
    pub time: Ticks,
    /// What; see [`crate::definitions::Definitions::event_type`].
    pub event_type: TypeId,
    /// Who; see [`crate::definitions::Definitions::thread`].
    pub thread: ThreadKey,
    /// The fields; see [`values`].
    pub fields: &'a [u8],
}

impl<'a> Record<'a> {
    /// Reads an entry of the ring; `None` when its kind is not a native event's.
    ///
    /// # Errors
    /// [`Error::Truncated`] when the payload is shorter than [`HEAD_BYTES`].
    pub fn decode(kind: u16, payload: &'a [u8]) -> Option<Result<Record<'a>>> {
        let phase = Phase::from_kind(kind)?;
        let Some((head, fields)) = payload.split_first_chunk::<HEAD_BYTES>() else {
            let found = payload.len() as u64;
            return Some(Err(Error::Truncated { what: "an event", needed: HEAD_BYTES as u64, found }));
        };
        let head = u128::from_le_bytes(*head);
        Some(Ok(Record {
            phase,
            time: Ticks(head as u64),
            event_type: TypeId((head >> 64) as u32),
            thread: ThreadKey((head >> 96) as u32),
            fields,
        }))
    }

    /// This event with its time in nanoseconds.
    #[must_use]
    pub fn at(&self, time: Nanos) -> Native {
        let &Record { phase, event_type, thread, fields, .. } = self;
        Native { phase, time, event_type, thread, fields: fields.to_vec() }
    }
}

/// An event as it stands in an incident file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Native {
    /// Instant, begin or end.
    pub phase: Phase,
    /// When.
    pub time: Nanos,
    /// What; see [`crate::definitions::Definitions::event_type`].
    pub event_type: TypeId,
    /// Who; see [`crate::definitions::Definitions::thread`].
    pub thread: ThreadKey,
    /// The fields; see [`values`].
    pub fields: Vec<u8>,
}

impl Native {
    /// Appends the payload of this event to `out` and returns its kind.
    pub fn encode(&self, out: &mut Vec<u8>) -> u16 {
        for word in head(Ticks(self.time.0), self.event_type, self.thread) {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&self.fields);
        self.phase.kind()
    }
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// An unsigned number.
    U64(u64),
    /// A signed number.
    I64(i64),
    /// A number in double precision.
    F64(f64),
    /// Yes or no.
    Bool(bool),
    /// A name of the definitions.
    Name(NameId),
    /// A duration.
    Duration(Nanos),
    /// A text; what was no UTF-8 is replaced.
    Text(Cow<'a, str>),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// The values of an event of type `of` whose fields are `fields`, in order. Ends at the first value that
/// the bytes are too short for.
pub fn values<'a>(of: &'a EventType, fields: &'a [u8]) -> impl Iterator<Item = (Field, Value<'a>)> {
    let mut rest = fields;
    of.fields.iter().map_while(move |field| {
        let value = match field.kind {
            FieldType::Text => Value::Text(String::from_utf8_lossy(std::mem::take(&mut rest))),
            FieldType::Bytes => Value::Bytes(std::mem::take(&mut rest)),
            number => {
                let (word, behind) = rest.split_first_chunk()?;
                rest = behind;
                let word = u64::from_le_bytes(*word);
                match number {
                    FieldType::I64 => Value::I64(word as i64),
                    FieldType::F64 => Value::F64(f64::from_bits(word)),
                    FieldType::Bool => Value::Bool(word != 0),
                    FieldType::Name => Value::Name(NameId(u32::try_from(word).unwrap_or(0))),
                    FieldType::Duration => Value::Duration(Nanos(word)),
                    _ => Value::U64(word),
                }
            }
        };
        Some((*field, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CategoryIndex;

    fn kind(fields: &[FieldType]) -> EventType {
        let fields = fields.iter().map(|&kind| Field { name: NameId(1), kind }).collect();
        EventType { name: NameId(1), category: CategoryIndex(1), level: 3, fields }
    }

    fn only_values<'a>(of: &'a EventType, fields: &'a [u8]) -> Vec<Value<'a>> {
        values(of, fields).map(|(_, value)| value).collect()
    }

    #[test]
    fn an_event_is_read_back() {
        for phase in [Phase::Instant, Phase::Begin, Phase::End] {
            let event = Native {
                phase,
                time: Nanos(u64::MAX - 1),
                event_type: TypeId(0xfedc_ba98),
                thread: ThreadKey(0x7654_3210),
                fields: b"12345678xyz".to_vec(),
            };
            let mut payload = Vec::new();
            let kind = event.encode(&mut payload);
            let record = Record::decode(kind, &payload).unwrap().unwrap();
            assert_eq!(record.at(Nanos(record.time.0)), event);
            assert!(matches!(Record::decode(kind, &payload[..15]), Some(Err(Error::Truncated { .. }))));
        }
        assert!(Record::decode(event::kind::CHUNK, &[0; 64]).is_none());
    }

    #[test]
    fn each_field_is_read_as_its_type_says() {
        let numbers = [FieldType::U64, FieldType::I64, FieldType::F64, FieldType::Bool];
        let rest = [FieldType::Name, FieldType::Duration, FieldType::Text];
        let all = kind(&[&numbers[..], &rest].concat());
        let words = [7, (-7_i64) as u64, 1.5_f64.to_bits(), 1, 9, 1_000];
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.extend_from_slice("grün".as_bytes());
        let expected = [
            Value::U64(7),
            Value::I64(-7),
            Value::F64(1.5),
            Value::Bool(true),
            Value::Name(NameId(9)),
            Value::Duration(Nanos(1_000)),
            Value::Text("grün".into()),
        ];
        assert_eq!(only_values(&all, &bytes), expected);
        assert_eq!(only_values(&all, &bytes[..20]), expected[..2], "a cut event gives its whole fields");
        let bytes = [0xff, 0];
        assert_eq!(only_values(&kind(&[FieldType::Bytes]), &bytes), [Value::Bytes(&bytes)]);
        assert_eq!(only_values(&kind(&[FieldType::Text]), &bytes), [Value::Text("\u{fffd}\0".into())]);
    }
}
