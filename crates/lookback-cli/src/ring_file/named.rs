//! One event of a ring file as text: a line for people, or JSON for programs.
//!
//! The constraint that shaped it: lines are printed as events come, perhaps a hundred thousand a second, so what
//! the definitions say is looked up and nothing is copied that is not printed. Text of events comes from
//! outside: no control character of it reaches a terminal.

use crate::control::printable;
use lookback_analysis::value_words;
use lookback_format::Nanos;
use lookback_format::definitions::Definitions;
use lookback_format::native::{Native, Phase, Value, values};
use lookback_format::ring_file::{Category, Level};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write;

/// What the events of a file refer to.
pub(super) struct Names {
    pub(super) definitions: Definitions,
    pub(super) categories: Vec<Category>,
    /// Monotonic and wall clock, read together.
    pub(super) clock_pair: (Nanos, u64),
}

impl Names {
    /// Whether all that an event refers to is there.
    pub(super) fn know(&self, event: &Native) -> bool {
        self.definitions.event_type(event.event_type).is_some()
            && self.definitions.thread(event.thread).is_some()
    }

    /// `12:00:00.123456789 shop 4711 worker-1  begin net.request bytes=512`.
    pub(super) fn line(&self, event: &Native) -> String {
        let (program, pid, thread, _) = self.whence(event);
        let of_day = self.unix_nanos(event.time).rem_euclid(86_400_000_000_000);
        let (s, ns) = (of_day / 1_000_000_000, of_day % 1_000_000_000);
        let clock = format!("{:02}:{:02}:{:02}.{ns:09}", s / 3_600, s / 60 % 60, s % 60);
        let phase = match event.phase {
            Phase::Begin => "begin ",
            Phase::End => "end ",
            Phase::Instant => "",
        };
        let (category, name) = self.what(event);
        let dot = if category.is_empty() { "" } else { "." };
        let mut line = format!("{clock} {program} {pid} {thread}  {phase}{category}{dot}{name}");
        for (field, value) in self.values(event) {
            let text = match &value {
                Value::Text(text) => format!("{text:?}"),
                other => value_words(other, &self.definitions),
            };
            // Writing into a string cannot fail.
            let _ = write!(line, " {field}={text}");
        }
        printable(&line)
    }

    /// An object on one line.
    pub(super) fn json(&self, event: &Native) -> String {
        let (program, pid, thread, tid) = self.whence(event);
        let (category, name) = self.what(event);
        let fields: Map<String, Json> =
            self.values(event).map(|(field, value)| (field.to_owned(), self.json_value(&value))).collect();
        let phase = match event.phase {
            Phase::Begin => "begin",
            Phase::End => "end",
            Phase::Instant => "instant",
        };
        let level =
            self.definitions.event_type(event.event_type).and_then(|of| Level::from_code(of.level.into()));
        let mut line = json!({
            "time_ns": event.time.0,
            "unix_ns": self.unix_nanos(event.time) as i64,
            "program": program,
            "pid": pid,
            "thread": thread,
            "tid": tid,
            "phase": phase,
            "category": category,
            "name": name,
            "level": level.map(Level::name),
        });
        if !fields.is_empty() {
            line["fields"] = fields.into();
        }
        line.to_string()
    }

    fn json_value(&self, value: &Value<'_>) -> Json {
        match value {
            Value::U64(v) | Value::Duration(Nanos(v)) => (*v).into(),
            Value::I64(v) => (*v).into(),
            Value::F64(v) if v.is_finite() => (*v).into(),
            Value::Bool(v) => (*v).into(),
            other => value_words(other, &self.definitions).into(),
        }
    }

    fn whence(&self, event: &Native) -> (&str, u32, &str, u32) {
        let name = |id| self.definitions.name(id).unwrap_or("?");
        let thread = self.definitions.thread(event.thread);
        let process = thread.and_then(|t| self.definitions.process(t.process));
        (
            process.map_or("?", |p| name(p.name)),
            process.map_or(0, |p| p.pid),
            thread.map_or("?", |t| name(t.name)),
            thread.map_or(0, |t| t.os_tid),
        )
    }

    fn what(&self, event: &Native) -> (&str, &str) {
        let Some(of) = self.definitions.event_type(event.event_type) else { return ("?", "?") };
        let category = self.categories.get(usize::from(of.category.0)).map_or("?", |c| &c.name);
        (category, self.definitions.name(of.name).unwrap_or("?"))
    }

    fn values<'a>(&'a self, event: &'a Native) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        let of = self.definitions.event_type(event.event_type).filter(|_| event.phase != Phase::End);
        let all = of.into_iter().flat_map(|of| values(of, &event.fields));
        all.map(|(field, value)| (self.definitions.name(field.name).unwrap_or("?"), value))
    }

    fn unix_nanos(&self, at: Nanos) -> i128 {
        let (mono, wall) = self.clock_pair;
        i128::from(wall) + i128::from(at.0) - i128::from(mono.0)
    }
}
