//! The incident file (`.lkb`): a ZIP that any tool can list, with the parts of one recording.
//!
//! The constraint that shaped it: it outlives the program, the agent's version and its own disk. Each part
//! stands alone, so a reader still gives what is intact of a cut or damaged file and names what is not.
//! Parts: `manifest.json`, `ring/NNNN.bin.zst` (framed events, one part a snapshot), `staging.bin.zst`
//! (framed chunks that were not in the ring yet), `symbols.json.zst` (one class a line), `threads.json`,
//! `definitions.bin.zst` (of a ring file: its log of definitions, in which a record's offset is its id).

use crate::costs::Costs;
use crate::definitions::Definitions;
use crate::event::{Event, Frames, frame};
use crate::sample::Engine;
use crate::symbol::Class;
use crate::{Error, MethodId, Nanos, Result, ThreadKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{Read, Seek, Write};
use zip::write::SimpleFileOptions;

/// Version of the incident file that this build writes.
pub const VERSION: u32 = 1;
/// Name of the manifest's part.
pub const MANIFEST: &str = "manifest.json";
/// Name of the symbols' part.
pub const SYMBOLS: &str = "symbols.json.zst";
/// Name of the part with chunks that were not in the ring yet.
pub const STAGING: &str = "staging.bin.zst";
/// Name of the threads' part.
pub const THREADS: &str = "threads.json";
/// Name of the definitions' part.
pub const DEFINITIONS: &str = "definitions.bin.zst";
/// The state of a thread of a ring file that was not there any more.
pub const ENDED: &str = "ended";
/// A part may unpack to no more than this, so that a small hostile file cannot fill the memory.
pub const MOST_UNPACKED: u64 = 4 << 30;

/// Name of the `n`th part with what the ring held.
#[must_use]
pub fn ring_part(n: usize) -> String {
    format!("ring/{n:04}.bin.zst")
}

/// What made the recording be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Trigger {
    /// A person or a program asked for it.
    Command {
        /// When.
        at: Nanos,
    },
    /// The program itself asked for it.
    Program {
        /// When.
        at: Nanos,
        /// Why, in the program's words.
        reason: String,
    },
    /// Somebody had the program sampled for a while; see [`Manifest::sampling`].
    Profile {
        /// When that ended.
        at: Nanos,
    },
    /// The program was gone; its region file was read afterwards.
    Recovered {
        /// The newest moment that the recording knows.
        at: Nanos,
    },
    /// A watched call took too long.
    Slow {
        /// When it was noticed.
        at: Nanos,
        /// The rule as the user wrote it.
        rule: String,
        /// The thread.
        thread: ThreadKey,
        /// The method.
        method: MethodId,
        /// When the call began.
        start: Nanos,
        /// How long it took, or had taken so far.
        duration: Nanos,
        /// Whether the call still ran.
        running: bool,
    },
}

impl Trigger {
    /// When it fired.
    #[must_use]
    pub const fn at(&self) -> Nanos {
        match self {
            Trigger::Command { at }
            | Trigger::Program { at, .. }
            | Trigger::Profile { at }
            | Trigger::Recovered { at }
            | Trigger::Slow { at, .. } => *at,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The facts of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`VERSION`].
    pub version: u32,
    /// Version of the Lookback that wrote it.
    pub lookback: String,
    /// Monotonic and wall clock (nanoseconds since 1970) of the traced machine, read together.
    pub clock_pair: (Nanos, u64),
    /// The process.
    pub pid: u32,
    /// Main class or jar.
    pub program: String,
    /// Name and version of the VM.
    pub jvm: String,
    /// Name of the machine.
    pub host: String,
    /// Length of a tick.
    pub tick: Nanos,
    /// The latest that a tick has come: add it to each coarse time's error.
    pub tick_late: Nanos,
    /// What made it be written.
    pub trigger: Trigger,
    /// Records, blocks, threads lost, by cause, in words.
    pub losses: BTreeMap<String, u64>,
    /// Methods that were not traced when it was written, because they would have cost too much: `com.acme.Api.find`, the
    /// costliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Classes that were not traced yet when it was written, since it was the program's first start and nothing was known of
    /// them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waiting_classes: u64,
    /// What tracing cost when it was written; none without a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<Costs>,
    /// How stacks were sampled; none when they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// What a ring file says of itself; none when the recording is a JVM's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_file: Option<RingFile>,
}

/// How stacks were sampled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    /// By whom.
    pub engine: Engine,
    /// What was wanted from one request to the next.
    pub interval: Nanos,
    /// When it began.
    pub begun: Nanos,
    /// When it ended, or how far it had come.
    pub ended: Nanos,
    /// Requests made.
    pub requests: u64,
    /// Requests that were not made because the one before took too long.
    pub late: u64,
    /// Samples taken.
    pub samples: u64,
    /// How long a request took: the 2.5th, 50th and 97.5th percentile.
    pub latency: [Nanos; 3],
    /// Processor time of the sampler's own thread.
    pub cpu: Nanos,
}

/// What a ring file says of itself, beside its events and definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingFile {
    /// What the recording is called; often empty.
    #[serde(default)]
    pub name: String,
    /// The categories, by index.
    #[serde(default)]
    pub categories: Vec<Category>,
    /// Nothing that was recorded after this moment has been overwritten; none when nothing was at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete_from: Option<Nanos>,
}

/// A category of a ring file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// Its name; empty for category 0.
    pub name: String,
    /// What it let pass when the recording was written: `off`, `error`, `warn`, `info`, `debug` or `trace`.
    #[serde(default)]
    pub level: String,
}

/// What a thread did when the recording was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its key.
    pub key: ThreadKey,
    /// Its name.
    pub name: String,
    /// The operating system's id.
    pub os_tid: u32,
    /// Java's id.
    pub java_tid: u64,
    /// `runnable`, `blocked`, `waiting`, ..., or [`ENDED`]; empty when unknown.
    #[serde(default)]
    pub state: String,
    /// Innermost frame first: `com.acme.Foo.bar(Foo.java:12)`.
    #[serde(default)]
    pub stack: Vec<String>,
    /// Class of the object whose monitor it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_on: Option<String>,
    /// The thread that holds that monitor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<ThreadKey>,
}

/// Writes an incident part by part. The file is complete after [`Writer::finish`].
pub struct Writer<W: Write + Seek> {
    zip: zip::ZipWriter<W>,
    rings: usize,
}

impl<W: Write + Seek> Writer<W> {
    /// Begins an incident in `out`.
    pub fn new(out: W) -> Self {
        Writer { zip: zip::ZipWriter::new(out), rings: 0 }
    }

    /// Writes a part of what the ring held. `fill` pushes framed events (see [`frame`]) in any order.
    ///
    /// # Errors
    /// What `out` fails with.
    pub fn ring(&mut self, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        let name = ring_part(self.rings);
        self.rings += 1;
        self.packed(&name, fill)
    }

    /// As [`Writer::ring`], with framed events that are packed (Zstandard) already.
    ///
    /// # Errors
    /// What `out` fails with.
    pub fn packed_ring(&mut self, packed: &[u8]) -> Result<()> {
        let name = ring_part(self.rings);
        self.rings += 1;
        self.plain(&name, packed)
    }

    /// Writes the chunks that were not in the ring yet.
    ///
    /// # Errors
    /// What `out` fails with.
    pub fn staging<'a>(&mut self, chunks: impl IntoIterator<Item = &'a crate::event::Chunk>) -> Result<()> {
        self.packed(STAGING, |out| {
            let (mut payload, mut framed) = (Vec::new(), Vec::new());
            for c in chunks {
                payload.clear();
                framed.clear();
                let kind = Event::Chunk(c.clone()).encode(&mut payload);
                frame(kind, &[&payload], &mut framed);
                out.write_all(&framed)?;
            }
            Ok(())
        })
    }

    /// Writes the symbols.
    ///
    /// # Errors
    /// What `out` fails with.
    pub fn symbols(&mut self, classes: impl IntoIterator<Item = Class>) -> Result<()> {
        self.packed(SYMBOLS, |out| {
            for c in classes {
                serde_json::to_writer(&mut *out, &c)?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })
    }

    /// Writes the definitions: a ring file's log from its first byte to its end.
    ///
    /// # Errors
    /// What `out` fails with.
    pub fn definitions(&mut self, log: &[u8]) -> Result<()> {
        self.packed(DEFINITIONS, |out| out.write_all(log))
    }

    /// Writes the threads.
    ///
    /// # Errors
    /// What `out` fails with.
    pub fn threads(&mut self, threads: &[Thread]) -> Result<()> {
        let json = serde_json::to_vec(threads).map_err(std::io::Error::from)?;
        self.plain(THREADS, &json)
    }

    /// Writes a further part, for sections that this crate does not know.
    ///
    /// # Errors
    /// What `out` fails with.
    pub fn plain(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.zip.start_file(name, options()).map_err(from_zip)?;
        self.zip.write_all(bytes)?;
        Ok(())
    }

    /// Writes the manifest and the ZIP's directory, and gives `out` back.
    ///
    /// # Errors
    /// What `out` fails with.
    pub fn finish(mut self, manifest: &Manifest) -> Result<W> {
        let json = serde_json::to_vec_pretty(manifest).map_err(std::io::Error::from)?;
        self.plain(MANIFEST, &json)?;
        self.zip.finish().map_err(from_zip)
    }

    fn packed(&mut self, name: &str, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
        self.zip.start_file(name, options()).map_err(from_zip)?;
        // Level 1: the writer may be a busy server; 1 packs slots 3 to 6 times at several hundred MB/s.
        let mut zstd = zstd::Encoder::new(&mut self.zip, 1)?;
        fill(&mut zstd)?;
        zstd.finish()?;
        Ok(())
    }
}

fn options() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(true)
}

fn from_zip(e: zip::result::ZipError) -> Error {
    match e {
        zip::result::ZipError::Io(e) => Error::Io(e),
        e => Error::Corrupt { what: "the incident file", why: e.to_string() },
    }
}

/// Reads an incident.
pub struct Reader<R> {
    zip: zip::ZipArchive<R>,
    /// The facts of the recording.
    pub manifest: Manifest,
}

/// What is wrong with a part that was read nevertheless.
#[derive(Debug)]
pub struct Damage {
    /// The part.
    pub section: String,
    /// What is wrong with it.
    pub error: Error,
}

impl<R: Read + Seek> Reader<R> {
    /// Opens an incident.
    ///
    /// # Errors
    /// [`Error::Foreign`] when it is no ZIP, [`Error::Truncated`] when its directory is cut off,
    /// [`Error::Version`] when it is too new, [`Error::Missing`] or [`Error::Corrupt`] for the manifest.
    pub fn open(mut from: R) -> Result<Self> {
        let mut magic = [0; 4];
        let n = read_up_to(&mut from, &mut magic)?;
        if magic[..n] != *b"PK\x03\x04" {
            return Err(Error::Foreign { expected: "an incident file (.lkb)", found: magic[..n].to_vec() });
        }
        let found = from.seek(std::io::SeekFrom::End(0))?;
        let mut zip = zip::ZipArchive::new(from).map_err(|e| match e {
            zip::result::ZipError::Io(e) => Error::Io(e),
            _ => Error::Truncated {
                what: "the incident file (its directory stands at the end)",
                needed: found + 1,
                found,
            },
        })?;
        let json = part(&mut zip, MANIFEST)?;
        let corrupt = |e: serde_json::Error| Error::Corrupt { what: MANIFEST, why: e.to_string() };
        // The version is looked at before the rest: a newer manifest may have other fields.
        let version: Versioned = serde_json::from_slice(&json).map_err(corrupt)?;
        if version.version > VERSION {
            let found = version.version;
            return Err(Error::Version { what: "the incident file", found, supported: VERSION });
        }
        Ok(Reader { manifest: serde_json::from_slice(&json).map_err(corrupt)?, zip })
    }

    /// Names and packed sizes of all parts.
    #[must_use]
    pub fn parts(&mut self) -> Vec<(String, u64)> {
        (0..self.zip.len())
            .filter_map(|i| self.zip.by_index_raw(i).ok().map(|f| (f.name().to_owned(), f.compressed_size())))
            .collect()
    }

    /// Gives every event of the ring's and the staging part to `each`, and returns what was wrong with the
    /// parts. What stands before a damaged place is given.
    pub fn events(&mut self, each: &mut dyn FnMut(Event)) -> Vec<Damage> {
        let mut names: Vec<_> = self.zip.file_names().map(str::to_owned).collect();
        names.retain(|n| n.starts_with("ring/") || n == STAGING);
        names.sort();
        let mut damages = Vec::new();
        for section in names {
            let bytes = match unpacked(&mut self.zip, &section) {
                Ok((bytes, None)) => bytes,
                Ok((bytes, Some(error))) => {
                    damages.push(Damage { section: section.clone(), error });
                    bytes
                }
                Err(error) => {
                    damages.push(Damage { section, error });
                    continue;
                }
            };
            let mut frames = Frames::new(&bytes);
            for (kind, payload) in frames.by_ref() {
                match Event::decode(kind, payload) {
                    Ok(e) => each(e),
                    Err(error) => damages.push(Damage { section: section.clone(), error }),
                }
            }
            if frames.rest() > 0 {
                let found = (bytes.len() - frames.rest()) as u64;
                let error = Error::Truncated { what: "its last event", needed: found + 8, found };
                damages.push(Damage { section, error });
            }
        }
        damages
    }

    /// The symbols, and what was wrong with them.
    pub fn symbols(&mut self) -> (Vec<Class>, Vec<Damage>) {
        let mut damages = Vec::new();
        let mut damage = |error| damages.push(Damage { section: SYMBOLS.to_owned(), error });
        let bytes = match unpacked(&mut self.zip, SYMBOLS) {
            Ok((bytes, None)) => bytes,
            Ok((bytes, Some(error))) => {
                damage(error);
                bytes
            }
            Err(error) => {
                damage(error);
                Vec::new()
            }
        };
        let mut classes = Vec::new();
        for line in bytes.split(|&b| b == b'\n').filter(|l| !l.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(c) => classes.push(c),
                Err(e) => damage(Error::Corrupt { what: "a line of symbols", why: e.to_string() }),
            }
        }
        (classes, damages)
    }

    /// The definitions, and what was wrong with them; none at all when the part is not there, which is so
    /// when the incident is not of a ring file.
    pub fn definitions(&mut self) -> (Definitions, Vec<Damage>) {
        let (bytes, error) = match unpacked(&mut self.zip, DEFINITIONS) {
            Ok(read) => read,
            Err(Error::Missing { .. }) => (Vec::new(), None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let damages = error.map(|error| Damage { section: DEFINITIONS.to_owned(), error });
        (Definitions::read(&bytes), damages.into_iter().collect())
    }

    /// The threads; none when the part is not there.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the part is damaged.
    pub fn threads(&mut self) -> Result<Vec<Thread>> {
        match part(&mut self.zip, THREADS) {
            Ok(json) => serde_json::from_slice(&json)
                .map_err(|e| Error::Corrupt { what: THREADS, why: e.to_string() }),
            Err(Error::Missing { .. }) => Ok(Vec::new()),
            Err(e) => Err(e),
        }
    }
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

fn read_up_to(from: &mut impl Read, out: &mut [u8]) -> Result<usize> {
    let mut n = 0;
    while n < out.len() {
        match from.read(&mut out[n..])? {
            0 => break,
            k => n += k,
        }
    }
    Ok(n)
}

fn part<R: Read + Seek>(zip: &mut zip::ZipArchive<R>, name: &str) -> Result<Vec<u8>> {
    let file = zip.by_name(name).map_err(|e| missing(e, name))?;
    let mut out = Vec::new();
    file.take(MOST_UNPACKED).read_to_end(&mut out)?;
    Ok(out)
}

/// What could be unpacked of a part, and why it ended early.
fn unpacked<R: Read + Seek>(zip: &mut zip::ZipArchive<R>, name: &str) -> Result<(Vec<u8>, Option<Error>)> {
    let file = zip.by_name(name).map_err(|e| missing(e, name))?;
    let mut out = Vec::new();
    let end = zstd::Decoder::new(file)?.take(MOST_UNPACKED).read_to_end(&mut out);
    let why = end.err().map(|e| Error::Corrupt { what: "a packed part", why: e.to_string() });
    Ok((out, why))
}

fn missing(e: zip::result::ZipError, name: &str) -> Error {
    match e {
        zip::result::ZipError::FileNotFound => Error::Missing { section: name.to_owned() },
        e => from_zip(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::encode_name;
    use crate::event::Chunk;
    use crate::symbol::{Method, Role, Wait};
    use crate::{NameId, Seq};
    use std::io::Cursor;

    fn manifest() -> Manifest {
        Manifest {
            version: VERSION,
            lookback: "0".into(),
            clock_pair: (Nanos(1), 2),
            pid: 3,
            program: "com.acme.Main".into(),
            jvm: "OpenJDK".into(),
            host: "h".into(),
            tick: Nanos(1_000_000),
            tick_late: Nanos(0),
            dropped: Vec::new(),
            waiting_classes: 0,
            costs: None,
            sampling: None,
            ring_file: None,
            trigger: Trigger::Slow {
                at: Nanos(9),
                rule: "a.B.*:1ms".into(),
                thread: ThreadKey(1),
                method: MethodId(2),
                start: Nanos(3),
                duration: Nanos(6),
                running: true,
            },
            losses: BTreeMap::from([("chunks".into(), 2)]),
        }
    }

    fn chunk(seq: u32) -> Chunk {
        let slots = (1..500).collect();
        Chunk { thread: ThreadKey(1), seq: Seq(seq), first: Nanos(1), last: Nanos(2), lost: 0, slots }
    }

    fn class() -> Class {
        let m = Method {
            id: MethodId(1),
            name: "m".into(),
            descriptor: "()V".into(),
            line: 3,
            wait: Wait::Park,
            role: Role::Span,
        };
        Class { class: "a.B".into(), file: "B.java".into(), methods: vec![m] }
    }

    fn incident() -> Vec<u8> {
        let mut w = Writer::new(Cursor::new(Vec::new()));
        for seq in 0..2 {
            w.ring(|out| {
                let (mut payload, mut framed) = (Vec::new(), Vec::new());
                let kind = Event::Chunk(chunk(seq)).encode(&mut payload);
                frame(kind, &[&payload], &mut framed);
                out.write_all(&framed)
            })
            .unwrap();
        }
        w.staging([&chunk(2)]).unwrap();
        w.symbols([class()]).unwrap();
        w.threads(&[Thread { name: "main".into(), ..Thread::default() }]).unwrap();
        let mut log = Vec::new();
        encode_name("net", &mut log);
        w.definitions(&log).unwrap();
        w.finish(&manifest()).unwrap().into_inner()
    }

    #[test]
    fn an_incident_is_read_back() {
        let mut r = Reader::open(Cursor::new(incident())).unwrap();
        assert_eq!(r.manifest, manifest());
        let mut events = Vec::new();
        assert!(r.events(&mut |e| events.push(e)).is_empty());
        assert_eq!(events, (0..3).map(|s| Event::Chunk(chunk(s))).collect::<Vec<_>>());
        assert_eq!(r.symbols().0, [class()]);
        assert_eq!(r.threads().unwrap()[0].name, "main");
        let (definitions, damages) = r.definitions();
        assert_eq!((definitions.name(NameId(1)), damages.len()), (Some("net"), 0));
        assert_eq!(r.parts().len(), 7);
    }

    #[test]
    fn a_foreign_a_cut_and_a_newer_file_are_told_apart() {
        assert!(matches!(Reader::open(Cursor::new(b"\x7fELF....")), Err(Error::Foreign { .. })));
        assert!(matches!(Reader::open(Cursor::new(b"")), Err(Error::Foreign { .. })));
        let whole = incident();
        let cut = &whole[..whole.len() / 2];
        assert!(matches!(Reader::open(Cursor::new(cut)), Err(Error::Truncated { .. })));
        let mut w = Writer::new(Cursor::new(Vec::new()));
        w.threads(&[]).unwrap();
        let newer = Manifest { version: 99, ..manifest() };
        let newer = w.finish(&newer).unwrap().into_inner();
        assert!(matches!(Reader::open(Cursor::new(newer)), Err(Error::Version { found: 99, .. })));
    }

    #[test]
    fn a_damaged_part_is_named_and_the_others_are_read() {
        let mut bytes = incident();
        let name = b"ring/0001.bin.zst";
        let at = bytes.windows(name.len()).position(|w| w == name).unwrap() + name.len();
        bytes[at + 40..at + 60].fill(0xee);
        let mut r = Reader::open(Cursor::new(bytes)).unwrap();
        let mut events = Vec::new();
        let damages = r.events(&mut |e| events.push(e));
        assert!(
            !damages.is_empty() && damages.iter().all(|d| d.section == "ring/0001.bin.zst"),
            "{damages:?}"
        );
        assert!(events.contains(&Event::Chunk(chunk(0))) && events.contains(&Event::Chunk(chunk(2))));
    }
}
