//! [`Snapshot`]: what a ring holds at a moment, with names and times.
//!
//! The constraint: taking it stops nobody, and the ring may hold anything: other kinds of events, events of
//! types that nobody defined, bytes that a hostile process wrote. What cannot be understood is counted. It
//! keeps copies only.

use crate::recorder::Recorder;
use lookback_format::definitions::{self, Definitions};
use lookback_format::native::{self, Native, Phase, Record};
use lookback_format::ring_file::{self, Level};
use lookback_format::{Nanos, ThreadKey};
use lookback_ring::{Lost, Position};
use std::fmt;

/// What was not recorded, or is not there any more.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Losses {
    /// Events that the ring did not take since the file was made, and blocks that it gave up, by cause.
    pub ring: lookback_ring::Losses,
    /// Blocks that this snapshot could not read, by cause.
    pub blocks: Lost,
    /// Definitions that there was no room for.
    pub definitions: u64,
    /// Definitions whose writer was killed, or is at it.
    pub unfinished_definitions: u64,
    /// Entries of the ring that are no native events.
    pub foreign: u64,
    /// Native events that are too short to be any.
    pub damaged: u64,
}

/// A copy of all that a ring holds.
#[derive(Clone, Debug)]
pub struct Snapshot {
    definitions: Definitions,
    categories: Vec<ring_file::Category>,
    events: Vec<Native>,
    losses: Losses,
}

impl Snapshot {
    pub(crate) fn take(recorder: &Recorder) -> Snapshot {
        let shared = recorder.shared();
        let (mut losses, mut found) = (Losses::default(), Vec::new());
        // Blocks in which a killed writer left an entry unfinished are read too, without it.
        let end = shared.ring.salvage(Position(0), &mut |block| {
            for entry in block.entries() {
                match Record::decode(entry.kind, entry.payload) {
                    Some(Ok(record)) => found.push((record.time, record.at(Nanos(0)))),
                    Some(Err(_)) => losses.damaged += 1,
                    None => losses.foreign += 1,
                }
            }
        });
        // After the events: what they refer to was defined before them.
        let definitions = Definitions::read(&shared.definitions());
        let clock = shared.clock_map();
        // Stable: what has the same time stays in the order of its place in the ring.
        found.sort_by_key(|event| event.0);
        let events = found.into_iter().map(|(ticks, event)| Native { time: clock.nanos(ticks), ..event });
        losses.ring = shared.ring.losses();
        losses.blocks = end.lost;
        losses.definitions = shared.definitions_lost();
        losses.unfinished_definitions = definitions.unfinished;
        Snapshot {
            events: events.collect(),
            categories: recorder.categories_of(&definitions),
            definitions,
            losses,
        }
    }

    /// The events, in the order of time.
    pub fn events(&self) -> impl ExactSizeIterator<Item = Event<'_>> {
        self.events.iter().map(|event| Event { snapshot: self, event })
    }

    /// What the events refer to.
    #[must_use]
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// The categories.
    #[must_use]
    pub fn categories(&self) -> &[ring_file::Category] {
        &self.categories
    }

    /// What is missing.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }
}

/// One event of a snapshot. Its text form is `category.name field=value ...`.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    snapshot: &'a Snapshot,
    event: &'a Native,
}

/// The value of a field, with names looked up.
pub type Value<'a> = native::Value<'a>;

impl<'a> Event<'a> {
    /// Instant, begin or end.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.event.phase
    }

    /// When.
    #[must_use]
    pub fn time(&self) -> Nanos {
        self.event.time
    }

    /// Its type's definition, unless that was lost.
    #[must_use]
    pub fn event_type(&self) -> Option<&'a definitions::EventType> {
        self.snapshot.definitions.event_type(self.event.event_type)
    }

    /// What it is called; `?` when that was lost.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.event_type().and_then(|of| self.snapshot.definitions.name(of.name)).unwrap_or("?")
    }

    /// Its category; empty for those that did not fit the table, `?` when its type was lost.
    #[must_use]
    pub fn category(&self) -> &'a str {
        let index = self.event_type().map(|of| usize::from(of.category.0));
        index.and_then(|index| self.snapshot.categories.get(index)).map_or("?", |category| &category.name)
    }

    /// Its level; `None` when its type was lost.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        Level::from_code(self.event_type()?.level.into())
    }

    /// The thread that recorded it.
    #[must_use]
    pub fn thread(&self) -> ThreadKey {
        self.event.thread
    }

    /// What that thread is called; `?` when its definition was lost.
    #[must_use]
    pub fn thread_name(&self) -> &'a str {
        let definitions = &self.snapshot.definitions;
        definitions.thread(self.event.thread).and_then(|thread| definitions.name(thread.name)).unwrap_or("?")
    }

    /// The operating system's id of the process that recorded it.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        let definitions = &self.snapshot.definitions;
        Some(definitions.process(definitions.thread(self.event.thread)?.process)?.pid)
    }

    /// The fields: names and values. An end has none.
    pub fn values(&self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        let definitions = &self.snapshot.definitions;
        let of = self.event_type().filter(|_| self.event.phase != Phase::End);
        let values = of.into_iter().flat_map(|of| native::values(of, &self.event.fields));
        values.map(|(field, value)| (definitions.name(field.name).unwrap_or("?"), value))
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.phase() {
            Phase::Instant => {}
            Phase::Begin => f.write_str("begin ")?,
            Phase::End => f.write_str("end ")?,
        }
        if !self.category().is_empty() {
            write!(f, "{}.", self.category())?;
        }
        f.write_str(self.name())?;
        for (name, value) in self.values() {
            write!(f, " {name}=")?;
            match value {
                Value::U64(v) => write!(f, "{v}")?,
                Value::I64(v) => write!(f, "{v}")?,
                Value::F64(v) => write!(f, "{v}")?,
                Value::Bool(v) => write!(f, "{v}")?,
                Value::Name(v) => f.write_str(self.snapshot.definitions.name(v).unwrap_or("?"))?,
                Value::Duration(v) => write!(f, "{}ns", v.0)?,
                Value::Text(v) => write!(f, "{v:?}")?,
                other => write!(f, "{other:?}")?,
            }
        }
        Ok(())
    }
}
