//! Definitions: what the numbers in native events stand for (names, processes, threads, event types).
//!
//! The constraint that shaped them: several processes append to one log without a lock, any of them can be
//! killed in the middle, and events refer to a record before anybody has read it. So a record never moves
//! and its **id** is its place: offset in the log / 8 + 1. A record that a killed writer left unfinished is
//! passed over by its length; an id that leads to no finished record of the right kind is unknown, which
//! costs a name and never an event. How records are appended is the recorder's business: nothing here touches
//! shared memory.
//!
//! ```text
//! each record   bytes u32 (whole record, a multiple of 8; 0 = end of the log) | kind u16 | state u16 | content
//! NAME          length u32 | UTF-8 | zeros to a multiple of 8
//! PROCESS       os pid u32 | name of the program u32 | start u64 (CLOCK_MONOTONIC, ns)
//! THREAD        process u32 | os tid u32 | name u32 | 0 u32
//! EVENT TYPE    name u32 | category u16 | level u8 | fields u8 | per field: name u32 | type u8 | 0 u8 x 3
//! ```

use crate::{CategoryIndex, NameId, Nanos, ProcessId, ThreadKey, TypeId};
use std::collections::BTreeMap;

/// Kinds of records. Numbers are part of the format and never reused.
pub mod kind {
    /// A text.
    pub const NAME: u16 = 1;
    /// A process that records.
    pub const PROCESS: u16 = 2;
    /// A thread that records.
    pub const THREAD: u16 = 3;
    /// What events of one type are called and which fields they have.
    pub const EVENT_TYPE: u16 = 4;
}

/// The record's space is taken, its content is not (yet) written.
pub const RESERVED: u16 = 1;
/// The record is whole.
pub const COMMITTED: u16 = 2;
/// Bytes of a record's first word.
pub const HEAD_BYTES: usize = 8;
/// Bytes that a name may have; the appending side cuts what is longer, at a character.
pub const NAME_BYTES: usize = 4096;
/// Fields that an event type may have.
pub const MAX_FIELDS: usize = 255;
/// Set in a thread's key when the log had no room for its definition: the other bits are the operating
/// system's thread id, so that such threads can still be told apart.
pub const UNDEFINED_THREAD: u32 = 1 << 31;

/// The first word of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the whole record.
    pub bytes: u32,
    /// See [`kind`].
    pub kind: u16,
    /// [`RESERVED`] or [`COMMITTED`].
    pub state: u16,
}

impl Head {
    /// As it stands in the log.
    #[must_use]
    pub const fn word(self) -> u64 {
        self.bytes as u64 | (self.kind as u64) << 32 | (self.state as u64) << 48
    }

    /// Takes a word of the log apart. `None` when no record can begin so, with `room` bytes up to the end of
    /// the log: the log ends here (a word of 0) or is damaged.
    #[must_use]
    pub const fn read(word: u64, room: usize) -> Option<Head> {
        let head = Head { bytes: word as u32, kind: (word >> 32) as u16, state: (word >> 48) as u16 };
        let bytes = head.bytes as usize;
        if bytes < HEAD_BYTES || !bytes.is_multiple_of(8) || bytes > room { None } else { Some(head) }
    }
}

/// The id of a record at a byte offset of the log; `None` beyond what 31 bits can number.
#[must_use]
pub fn id_at(offset: usize) -> Option<u32> {
    u32::try_from(offset / 8 + 1).ok().filter(|id| id & UNDEFINED_THREAD == 0)
}

/// The byte offset of the record with this id; `None` for 0.
#[must_use]
pub fn offset_of(id: u32) -> Option<usize> {
    (id as usize).checked_sub(1).map(|words| words * 8)
}

/// What a field of an event is. Each takes 8 bytes of the payload, but [`FieldType::Text`] and
/// [`FieldType::Bytes`], which can only be the last and take what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldType {
    /// An unsigned number.
    U64 = 1,
    /// A signed number.
    I64 = 2,
    /// A number in IEEE 754 double precision.
    F64 = 3,
    /// 0: no; anything else: yes.
    Bool = 4,
    /// The id of a name in the definitions.
    Name = 5,
    /// A duration in nanoseconds.
    Duration = 6,
    /// UTF-8.
    Text = 7,
    /// Bytes without meaning to Lookback.
    Bytes = 8,
}

impl FieldType {
    const ALL: [FieldType; 8] = [
        FieldType::U64,
        FieldType::I64,
        FieldType::F64,
        FieldType::Bool,
        FieldType::Name,
        FieldType::Duration,
        FieldType::Text,
        FieldType::Bytes,
    ];

    /// The number that stands in the file.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The type of a number; `None` when this build does not know it.
    #[must_use]
    pub fn from_code(code: u8) -> Option<FieldType> {
        FieldType::ALL.get(usize::from(code).wrapping_sub(1)).copied()
    }

    /// Whether it takes what is left of the payload, so that no field can follow.
    #[must_use]
    pub const fn is_tail(self) -> bool {
        matches!(self, FieldType::Text | FieldType::Bytes)
    }
}

/// A process that records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// The operating system's id of it.
    pub pid: u32,
    /// What its program is called.
    pub name: NameId,
    /// When it opened the file.
    pub start: Nanos,
}

/// A thread that records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its process.
    pub process: ProcessId,
    /// The operating system's id of it.
    pub os_tid: u32,
    /// What it was called when it was defined.
    pub name: NameId,
}

/// One field of an event type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// What it is called.
    pub name: NameId,
    /// What it holds.
    pub kind: FieldType,
}

/// What the events of one type are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventType {
    /// What they are called.
    pub name: NameId,
    /// Their category.
    pub category: CategoryIndex,
    /// The level at which their category lets them pass; see [`crate::ring_file::Level`].
    pub level: u8,
    /// Their fields, in order. A type that this build does not know ends the list.
    pub fields: Vec<Field>,
}

/// Appends the record of a name to `out`, cut at [`NAME_BYTES`].
pub fn encode_name(name: &str, out: &mut Vec<u8>) {
    let mut len = name.len().min(NAME_BYTES);
    while !name.is_char_boundary(len) {
        len -= 1;
    }
    record(kind::NAME, out, |out| {
        out.extend_from_slice(&(len as u32).to_le_bytes());
        out.extend_from_slice(&name.as_bytes()[..len]);
    });
}

impl Process {
    /// Appends this record to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        record(kind::PROCESS, out, |out| {
            out.extend_from_slice(&self.pid.to_le_bytes());
            out.extend_from_slice(&self.name.0.to_le_bytes());
            out.extend_from_slice(&self.start.0.to_le_bytes());
        });
    }
}

impl Thread {
    /// Appends this record to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        record(kind::THREAD, out, |out| {
            for word in [self.process.0, self.os_tid, self.name.0, 0] {
                out.extend_from_slice(&word.to_le_bytes());
            }
        });
    }
}

impl EventType {
    /// Appends this record to `out`. Fields beyond [`MAX_FIELDS`] are left out.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let fields = &self.fields[..self.fields.len().min(MAX_FIELDS)];
        record(kind::EVENT_TYPE, out, |out| {
            out.extend_from_slice(&self.name.0.to_le_bytes());
            out.extend_from_slice(&self.category.0.to_le_bytes());
            out.extend_from_slice(&[self.level, fields.len() as u8]);
            for field in fields {
                out.extend_from_slice(&field.name.0.to_le_bytes());
                out.extend_from_slice(&[field.kind.code(), 0, 0, 0]);
            }
        });
    }
}

/// A committed record around what `content` appends.
fn record(kind: u16, out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend_from_slice(&[0; HEAD_BYTES]);
    content(out);
    out.resize(begin + (out.len() - begin).next_multiple_of(8), 0);
    let head = Head { bytes: (out.len() - begin) as u32, kind, state: COMMITTED };
    out[begin..begin + HEAD_BYTES].copy_from_slice(&head.word().to_le_bytes());
}

/// All that a log defines, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    names: BTreeMap<NameId, String>,
    processes: BTreeMap<ProcessId, Process>,
    threads: BTreeMap<ThreadKey, Thread>,
    types: BTreeMap<TypeId, EventType>,
    /// Records that their writer never finished (it was killed, or is at it), or that cannot be read.
    pub unfinished: u64,
    /// The offset of a word that can begin no record, if the log does not end with zeros or with its space:
    /// what follows it is lost.
    pub damaged_at: Option<usize>,
}

impl Definitions {
    /// Reads a log, or the copy of one, from its beginning. Any bytes will do: what cannot be read is
    /// counted.
    #[must_use]
    pub fn read(log: &[u8]) -> Definitions {
        let mut all = Definitions::default();
        all.read_on(log, 0);
        all
    }

    /// Reads on: `part` is what stands in the log from the offset `from` on, at which a record begins. Returns
    /// the offset at which it stopped: the end, or what can begin no record. Records that were unfinished
    /// when they were read are not visited again.
    pub fn read_on(&mut self, part: &[u8], from: usize) -> usize {
        let mut at = 0;
        while let Some(first) = part.get(at..).and_then(|rest| rest.first_chunk()) {
            let word = u64::from_le_bytes(*first);
            let Some(head) = Head::read(word, part.len() - at) else {
                self.damaged_at = (word != 0).then_some(from + at);
                break;
            };
            let end = at + head.bytes as usize;
            let content = &part[at + HEAD_BYTES..end];
            let known = head.state == COMMITTED && self.add(from + at, head.kind, content).is_some();
            self.unfinished += u64::from(!known);
            at = end;
        }
        from + at
    }

    /// Takes one record up. `None` when its content is too short. A kind that this build does not know is
    /// passed over.
    fn add(&mut self, at: usize, record: u16, content: &[u8]) -> Option<()> {
        let id = id_at(at)?;
        let mut p = Content { bytes: content };
        match record {
            kind::NAME => {
                let len = p.u32()? as usize;
                let text = String::from_utf8_lossy(p.bytes.get(..len)?).into_owned();
                self.names.insert(NameId(id), text);
            }
            kind::PROCESS => {
                let process = Process { pid: p.u32()?, name: NameId(p.u32()?), start: Nanos(p.u64()?) };
                self.processes.insert(ProcessId(id), process);
            }
            kind::THREAD => {
                let thread =
                    Thread { process: ProcessId(p.u32()?), os_tid: p.u32()?, name: NameId(p.u32()?) };
                self.threads.insert(ThreadKey(id), thread);
            }
            kind::EVENT_TYPE => {
                let name = NameId(p.u32()?);
                let [low, high, level, count] = p.take()?;
                let category = CategoryIndex(u16::from_le_bytes([low, high]));
                let mut list = Vec::with_capacity(usize::from(count).min(p.bytes.len() / 8));
                for _ in 0..count {
                    let (name, [code, ..]) = (NameId(p.u32()?), p.take::<4>()?);
                    let Some(kind) = FieldType::from_code(code) else { break };
                    list.push(Field { name, kind });
                }
                self.types.insert(TypeId(id), EventType { name, category, level, fields: list });
            }
            _ => {}
        }
        Some(())
    }

    /// A text.
    #[must_use]
    pub fn name(&self, id: NameId) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }

    /// A process.
    #[must_use]
    pub fn process(&self, id: ProcessId) -> Option<&Process> {
        self.processes.get(&id)
    }

    /// A thread.
    #[must_use]
    pub fn thread(&self, key: ThreadKey) -> Option<&Thread> {
        self.threads.get(&key)
    }

    /// An event type.
    #[must_use]
    pub fn event_type(&self, id: TypeId) -> Option<&EventType> {
        self.types.get(&id)
    }

    /// All names, in the order in which they were defined.
    pub fn names(&self) -> impl Iterator<Item = (NameId, &str)> {
        self.names.iter().map(|(id, name)| (*id, name.as_str()))
    }

    /// All processes, in the order in which they were defined.
    pub fn processes(&self) -> impl Iterator<Item = (ProcessId, &Process)> {
        self.processes.iter().map(|(id, process)| (*id, process))
    }

    /// All threads, in the order in which they were defined.
    pub fn threads(&self) -> impl Iterator<Item = (ThreadKey, &Thread)> {
        self.threads.iter().map(|(key, thread)| (*key, thread))
    }

    /// All event types, in the order in which they were defined. Two processes that define the same
    /// type at the same time give it two ids.
    pub fn event_types(&self) -> impl Iterator<Item = (TypeId, &EventType)> {
        self.types.iter().map(|(id, kind)| (*id, kind))
    }
}

struct Content<'a> {
    bytes: &'a [u8],
}

impl Content<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*head)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log with one record of each kind, and the offset behind each.
    fn log() -> (Vec<u8>, Vec<usize>) {
        let (mut log, mut ends) = (Vec::new(), Vec::new());
        encode_name("request ü", &mut log);
        ends.push(log.len());
        Process { pid: 7, name: NameId(1), start: Nanos(5) }.encode(&mut log);
        ends.push(log.len());
        let process = ProcessId(id_at(ends[0]).unwrap());
        Thread { process, os_tid: 8, name: NameId(1) }.encode(&mut log);
        ends.push(log.len());
        let field = |kind| Field { name: NameId(1), kind };
        let fields = FieldType::ALL.map(field).to_vec();
        EventType { name: NameId(1), category: CategoryIndex(300), level: 5, fields }.encode(&mut log);
        ends.push(log.len());
        (log, ends)
    }

    #[test]
    fn definitions_are_read_back_by_their_offset() {
        let (mut log, ends) = log();
        log.extend_from_slice(&[0; 64]);
        let all = Definitions::read(&log);
        assert_eq!((all.unfinished, all.damaged_at), (0, None));
        assert_eq!(all.name(NameId(1)), Some("request ü"));
        let thread = all.thread(ThreadKey(id_at(ends[1]).unwrap())).unwrap();
        assert_eq!(all.process(thread.process).unwrap().pid, 7);
        let kind = all.event_type(TypeId(id_at(ends[2]).unwrap())).unwrap();
        assert_eq!((kind.category, kind.level, kind.fields.len()), (CategoryIndex(300), 5, 8));
        assert_eq!(kind.fields[7].kind, FieldType::Bytes);
        assert_eq!(all.name(NameId(2)), None, "an id between two records");
        assert_eq!(offset_of(id_at(ends[2]).unwrap()), Some(ends[2]));
    }

    #[test]
    fn an_unfinished_record_is_passed_over_and_a_damaged_one_ends_the_log() {
        let (mut log, ends) = log();
        log[6] = RESERVED as u8;
        let all = Definitions::read(&log);
        assert_eq!((all.unfinished, all.name(NameId(1)), all.threads().count()), (1, None, 1));
        log[ends[1]] = 3;
        let all = Definitions::read(&log);
        assert_eq!((all.damaged_at, all.processes().count(), all.threads().count()), (Some(ends[1]), 1, 0));
    }

    #[test]
    fn a_growing_log_is_read_on_from_where_reading_stopped() {
        let (log, ends) = log();
        let mut grown = vec![0; log.len() + 16];
        let mut all = Definitions::default();
        let mut at = 0;
        for end in ends {
            grown[..end].copy_from_slice(&log[..end]);
            at = all.read_on(&grown[at..], at);
            assert_eq!(at, end);
        }
        assert_eq!(all, Definitions::read(&log));
    }

    #[test]
    fn a_name_is_cut_at_a_character() {
        let mut log = Vec::new();
        encode_name(&"ü".repeat(NAME_BYTES), &mut log);
        encode_name(&format!("x{}", "ü".repeat(NAME_BYTES)), &mut log);
        let lengths: Vec<_> = Definitions::read(&log).names().map(|(_, name)| name.len()).collect();
        assert_eq!(lengths, [NAME_BYTES, NAME_BYTES - 1]);
    }
}
