//! Symbols: which method an identifier stands for.
//!
//! The constraint that shaped them: names must be there before the first record that uses them, and must
//! survive a kill. So the agent appends one record a class to a log in the mapped region before the VM sees
//! the rewritten class, publishes it by storing its length last, and never changes it.
//!
//! ```text
//! length u32 (of the whole record, multiple of 8; 0 = end of the log) | crc32 u32 (of all that follows)
//! methods u16 | class name length u16 | source file length u16 | 0 u16 | class name | source file
//! per method: id u32 | line u16 | wait kind u8 | role u8 | name length u16 | descriptor length u16 | name | descriptor
//! ```

use crate::{Error, MethodId, Result};
use serde::{Deserialize, Serialize};

/// What a timed method waits for, when it waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Wait {
    /// An ordinary method.
    #[default]
    None,
    /// To enter a monitor that another thread holds.
    Monitor,
    /// In `Object.wait`, to be notified.
    ObjectWait,
    /// In `LockSupport.park`, to be unparked.
    Park,
    /// In `Thread.sleep`.
    Sleep,
    /// For a socket.
    Socket,
    /// For a file.
    File,
    /// For data to reach the disk.
    Sync,
    /// For another process.
    Process,
    /// For a selector.
    Select,
    /// Runs a class initialiser.
    ClassInit,
    /// Runs a virtual thread on its carrier.
    Carrier,
    /// In a virtual thread, for anything, while its carrier stands still with it.
    Pinned,
    /// As a virtual thread that no carrier runs. No method waits so; readers say it of the time between two mounts.
    Unmounted,
    /// As a virtual thread that could go on, for a carrier. Said by readers as well.
    Ready,
}

impl Wait {
    const ALL: [Wait; 15] = [
        Wait::None,
        Wait::Monitor,
        Wait::ObjectWait,
        Wait::Park,
        Wait::Sleep,
        Wait::Socket,
        Wait::File,
        Wait::Sync,
        Wait::Process,
        Wait::Select,
        Wait::ClassInit,
        Wait::Carrier,
        Wait::Pinned,
        Wait::Unmounted,
        Wait::Ready,
    ];

    /// The number that stands in the file.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The kind of a number; one that this build does not know reads as [`Wait::None`].
    #[must_use]
    pub fn from_code(code: u8) -> Wait {
        Wait::ALL.get(usize::from(code)).copied().unwrap_or_default()
    }

    /// Whether the thread stands still in such a method (a class initialiser and a carrier run).
    #[must_use]
    pub const fn is_wait(self) -> bool {
        !matches!(self, Wait::None | Wait::ClassInit | Wait::Carrier)
    }

    /// In words, to follow "waited for ".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Wait::None => "nothing",
            Wait::Monitor => "a monitor",
            Wait::ObjectWait => "a notification",
            Wait::Park => "a permit to go on (park)",
            Wait::Sleep => "time to pass (sleep)",
            Wait::Socket => "a socket",
            Wait::File => "a file",
            Wait::Sync => "data to reach the disk",
            Wait::Process => "another process",
            Wait::Select => "a selector",
            Wait::ClassInit => "a class to be initialised",
            Wait::Carrier => "a virtual thread",
            Wait::Pinned => "something while pinned: its carrier was blocked",
            Wait::Unmounted => "something while unmounted",
            Wait::Ready => "a carrier to run on",
        }
    }
}

/// What an identifier stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Role {
    /// A method.
    #[default]
    Method,
    /// A span that the program marks: the class is its category.
    Span,
    /// Something that the program says has happened: its exit follows its entry at the same time.
    Instant,
    /// A method whose entry and exit had their exact times where that did not cost too much: unlike those of other timed
    /// methods, they may be missing while the thread is braked, see [`crate::slot::GapCause::BrakeAll`].
    Precise,
}

impl Role {
    /// The number that stands in the file.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The role of a number; one that this build does not know reads as [`Role::Method`].
    #[must_use]
    pub const fn from_code(code: u8) -> Role {
        match code {
            1 => Role::Span,
            2 => Role::Instant,
            3 => Role::Precise,
            _ => Role::Method,
        }
    }

    fn is_plain(&self) -> bool {
        *self == Role::Method
    }

    /// Whether it is a method of a class.
    #[must_use]
    pub const fn is_method(self) -> bool {
        matches!(self, Role::Method | Role::Precise)
    }
}

/// A method's symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// Its identifier.
    pub id: MethodId,
    /// Its name.
    pub name: String,
    /// Its descriptor, as in the class file.
    pub descriptor: String,
    /// Its first line; 0 when unknown.
    #[serde(default)]
    pub line: u16,
    /// What it waits for.
    #[serde(default)]
    pub wait: Wait,
    /// What it is.
    #[serde(default, skip_serializing_if = "Role::is_plain")]
    pub role: Role,
}

/// The symbols of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// Its name as people write it: `com.acme.Outer$Inner`.
    pub class: String,
    /// Its source file; empty when unknown.
    #[serde(default)]
    pub file: String,
    /// Its traced methods.
    pub methods: Vec<Method>,
}

/// Writes the record of one class, method by method, without owning any of its names.
#[derive(Debug)]
pub struct Encoder {
    out: Vec<u8>,
    begin: usize,
    methods: u16,
}

impl Encoder {
    /// Begins a record at the end of `out`. Names are cut at 65,535 bytes, the class file's own limit.
    #[must_use]
    pub fn new(mut out: Vec<u8>, class: &str, file: &str) -> Self {
        let begin = out.len();
        out.extend_from_slice(&[0; 10]);
        put_short(&mut out, cut(class).len());
        put_short(&mut out, cut(file).len());
        put_short(&mut out, 0);
        out.extend_from_slice(cut(class));
        out.extend_from_slice(cut(file));
        Encoder { out, begin, methods: 0 }
    }

    /// Adds a method; what a class file cannot hold (more than 65,535 methods) is left out.
    pub fn method(&mut self, id: MethodId, name: &str, descriptor: &str, line: u16, wait: Wait, role: Role) {
        let Some(methods) = self.methods.checked_add(1) else { return };
        self.methods = methods;
        self.out.extend_from_slice(&id.0.to_le_bytes());
        self.out.extend_from_slice(&line.to_le_bytes());
        self.out.extend_from_slice(&[wait.code(), role.code()]);
        put_short(&mut self.out, cut(name).len());
        put_short(&mut self.out, cut(descriptor).len());
        self.out.extend_from_slice(cut(name));
        self.out.extend_from_slice(cut(descriptor));
    }

    /// How many methods the record has.
    #[must_use]
    pub const fn methods(&self) -> u16 {
        self.methods
    }

    /// Ends the record and gives the buffer back.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let (out, begin) = (&mut self.out, self.begin);
        out.resize(begin + (out.len() - begin).next_multiple_of(8), 0);
        out[begin + 8..begin + 10].copy_from_slice(&self.methods.to_le_bytes());
        let crc = crc32fast::hash(&out[begin + 8..]);
        let len = (out.len() - begin) as u32;
        out[begin..begin + 4].copy_from_slice(&len.to_le_bytes());
        out[begin + 4..begin + 8].copy_from_slice(&crc.to_le_bytes());
        self.out
    }
}

fn cut(name: &str) -> &[u8] {
    &name.as_bytes()[..name.len().min(usize::from(u16::MAX))]
}

fn put_short(out: &mut Vec<u8>, n: usize) {
    out.extend_from_slice(&(n as u16).to_le_bytes());
}

impl Class {
    /// Appends this record to `out`; see [`Encoder`].
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut e = Encoder::new(std::mem::take(out), &self.class, &self.file);
        for m in &self.methods {
            e.method(m.id, &m.name, &m.descriptor, m.line, m.wait, m.role);
        }
        *out = e.finish();
    }

    fn decode(record: &[u8]) -> Option<Class> {
        let mut p = Fields { bytes: record.get(8..)? };
        let methods = p.u16()?;
        let (class, file) = (p.u16()?, p.u16()?);
        p.u16()?;
        let (class, file) = (p.text(class)?, p.text(file)?);
        let methods = (0..methods).map(|_| {
            let id = MethodId(p.u32()?);
            let line = p.u16()?;
            let [wait, role] = p.u16()?.to_le_bytes();
            let (wait, role) = (Wait::from_code(wait), Role::from_code(role));
            let (name, descriptor) = (p.u16()?, p.u16()?);
            Some(Method { id, name: p.text(name)?, descriptor: p.text(descriptor)?, line, wait, role })
        });
        Some(Class { methods: methods.collect::<Option<_>>()?, class, file })
    }
}

struct Fields<'a> {
    bytes: &'a [u8],
}

impl Fields<'_> {
    fn u16(&mut self) -> Option<u16> {
        let (head, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u16::from_le_bytes(*head))
    }

    fn u32(&mut self) -> Option<u32> {
        let (head, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u32::from_le_bytes(*head))
    }

    fn text(&mut self, len: u16) -> Option<String> {
        let (head, rest) = self.bytes.split_at_checked(usize::from(len))?;
        self.bytes = rest;
        Some(String::from_utf8_lossy(head).into_owned())
    }
}

/// Reads a log of symbols, oldest first, up to its end. A damaged record is reported and passed over.
#[derive(Clone, Debug)]
pub struct Log<'a> {
    bytes: &'a [u8],
}

impl<'a> Log<'a> {
    /// Reads `bytes`, the symbol area of a region.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Log { bytes }
    }
}

impl Iterator for Log<'_> {
    type Item = Result<Class>;

    fn next(&mut self) -> Option<Self::Item> {
        let head = self.bytes.first_chunk::<8>()?;
        let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let crc = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        if len == 0 {
            self.bytes = &[];
            return None;
        }
        let Some(record) = (len.is_multiple_of(8) && len >= 16).then(|| self.bytes.get(..len)).flatten()
        else {
            let why = format!("a record of {len} bytes with {} left", self.bytes.len());
            self.bytes = &[];
            return Some(Err(Error::Corrupt { what: "the symbol log", why }));
        };
        self.bytes = &self.bytes[len..];
        let found = crc32fast::hash(&record[8..]);
        let damaged = |why| Some(Err(Error::Corrupt { what: "a symbol record", why }));
        if found != crc {
            return damaged(format!("checksum {found:08x} instead of {crc:08x}"));
        }
        Class::decode(record).map(Ok).or_else(|| damaged("its names are longer than the record".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(n: u32) -> Class {
        Class {
            class: format!("com.acme.C{n}"),
            file: "C.java".into(),
            methods: (0..n)
                .map(|i| Method {
                    id: MethodId(n * 100 + i + 1),
                    name: format!("m{i}"),
                    descriptor: "()V".into(),
                    line: i as u16,
                    wait: Wait::from_code(i as u8),
                    role: Role::from_code(i as u8),
                })
                .collect(),
        }
    }

    #[test]
    fn a_log_is_read_back_up_to_its_end() {
        let mut log = Vec::new();
        (0..14).for_each(|n| class(n).encode(&mut log));
        log.extend_from_slice(&[0; 64]);
        let read: Vec<_> = Log::new(&log).collect::<Result<_>>().unwrap();
        assert_eq!(read, (0..14).map(class).collect::<Vec<_>>());
    }

    #[test]
    fn a_damaged_record_is_named_and_the_others_are_read() {
        let mut log = Vec::new();
        class(1).encode(&mut log);
        let second = log.len();
        class(2).encode(&mut log);
        class(3).encode(&mut log);
        log[second + 20] ^= 1;
        let read: Vec<_> = Log::new(&log).collect();
        assert_eq!(read.len(), 3);
        assert!(matches!(&read[1], Err(Error::Corrupt { what: "a symbol record", .. })));
        assert_eq!(*read[2].as_ref().unwrap(), class(3));
    }

    #[test]
    fn any_bytes_are_read_without_panic() {
        let mut seed = 7_u64;
        for _ in 0..2_000 {
            let mut log = Vec::new();
            (1..4).for_each(|n| class(n).encode(&mut log));
            for _ in 0..4 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = (seed >> 33) as usize % log.len();
                log[at] = (seed >> 20) as u8;
            }
            assert!(Log::new(&log).count() <= log.len());
        }
    }
}
