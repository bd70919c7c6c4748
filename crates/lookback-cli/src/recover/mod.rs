//! `lookback recover`: makes an incident of the region file that a dead program left behind.
//!
//! The constraint that shaped it: the writer died at any instruction, so nothing in the file is taken for
//! granted: each part is read by itself, what is wrong is named, and the rest is kept. The file itself is
//! never changed.

mod death;
mod memory;
mod threads;

use crate::error::{Error, Result};
use crate::output;
use lookback_format::event::{Event, frame, kind};
use lookback_format::incident::{Manifest, Trigger, VERSION, Writer};
use lookback_format::region::{Header, LOSS_CAUSES};
use lookback_format::slot::{Record, Records};
use lookback_format::symbol::{Class, Log};
use lookback_format::{Nanos, Seq, ThreadKey};
use lookback_ring::{Position, Ring, SnapshotEnd};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use memory::{RegionMemory, Source};
pub(crate) use memory::{claimed_length, read_sparse};
pub(crate) use threads::FoundThread;

/// What was found, for people.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The program and its process.
    pub(crate) program: String,
    /// Its process id, in its own namespace.
    pub(crate) pid: u32,
    /// The VM.
    pub(crate) jvm: String,
    /// Threads that were traced at the end.
    pub(crate) threads: Vec<FoundThread>,
    /// Threads of which there is any record.
    pub(crate) threads_seen: usize,
    /// Entries and exits.
    pub(crate) records: u64,
    /// Classes and methods with names.
    pub(crate) symbols: (usize, usize),
    /// Oldest and newest record.
    pub(crate) span: Option<(Nanos, Nanos)>,
    /// When the program was last known to run.
    pub(crate) death: Nanos,
    /// Losses by cause.
    pub(crate) losses: BTreeMap<String, u64>,
    /// What is damaged, in words.
    pub(crate) damages: Vec<String>,
}

/// A region file, read into private memory.
pub(crate) struct Region {
    memory: RegionMemory,
    header: Header,
    damages: Vec<String>,
}

impl Region {
    /// Opens a region file.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::StillRuns`] unless `force`, or [`Error::Format`] when it is no region or
    /// its header is unusable.
    pub(crate) fn open(file: &Path, force: bool) -> Result<Region> {
        let source = Source::open(file)?;
        let holder = crate::process::holder_of(source.identity());
        match holder {
            Some(pid) if !force => Err(Error::StillRuns { file: file.to_owned(), pid }),
            _ => Region::read(source, holder.is_some()),
        }
    }

    /// Opens a region file that no process holds.
    ///
    /// # Errors
    /// As [`Region::open`].
    pub(crate) fn open_dead(file: &Path) -> Result<Region> {
        Region::read(Source::open(file)?, false)
    }

    fn read(source: Source, live: bool) -> Result<Region> {
        let mut damages = Vec::new();
        let file = source.path.clone();
        let memory = RegionMemory::read(source, live, &mut damages)?;
        let header = Header::read(memory.bytes()).map_err(|error| Error::Format { file, error })?;
        Ok(Region { memory, header, damages })
    }

    /// The process that wrote it.
    pub(crate) const fn pid(&self) -> u32 {
        self.header.pid
    }

    /// Writes the incident. `progress` is told the bytes of the ring read so far and in all.
    ///
    /// # Errors
    /// What `out` fails with.
    pub(crate) fn write<W: Write + Seek>(
        mut self,
        out: W,
        out_name: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Found> {
        let failed = |error| output::failed_format(out_name, error);
        let mut writer = Writer::new(out);
        let mut tally = Tally::default();
        let mut ring_end = None;
        match self.memory.ring(self.header.ring) {
            Ok(ring) => writer
                .ring(|out| {
                    ring_end = Some(salvage(&ring, out, &mut tally, progress)?);
                    Ok(())
                })
                .map_err(failed)?,
            Err(why) => self.damages.push(format!("the ring cannot be read: {why}")),
        }
        let bytes = self.memory.bytes();
        let newest = death::newest_in_slabs(bytes, &self.header).max(tally.newest);
        let death = death::estimate(bytes, &self.header, newest);
        let symbols = self.symbols();
        let threads = threads::read(self.memory.bytes(), &self.header, death, &symbols);
        let chunks = threads.iter().filter_map(|t| {
            let chunk = &t.chunk;
            // Killed between copying a chunk into the ring and beginning the next: it is in both places.
            let twice = tally.chunks.get(&chunk.thread).is_some_and(|seqs| seqs.contains(&chunk.seq));
            (!twice && (!chunk.slots.is_empty() || chunk.lost > 0)).then_some(chunk)
        });
        let chunks: Vec<_> = chunks.collect();
        for chunk in &chunks {
            tally.chunk(chunk.thread, chunk.seq, chunk.first, chunk.last, &chunk.slots);
        }
        writer.staging(chunks).map_err(failed)?;
        writer.symbols(symbols.iter().cloned()).map_err(failed)?;
        let listed: Vec<_> = threads.iter().map(FoundThread::to_incident).collect();
        writer.threads(&listed).map_err(failed)?;
        let manifest = self.manifest(death, &tally, ring_end.as_ref());
        writer.finish(&manifest).map_err(failed)?;
        // The slabs' chunks were closed at the end of the program; their newest record is older.
        tally.newest = newest;
        Ok(self.found(manifest, tally, threads, &symbols))
    }

    fn symbols(&mut self) -> Vec<Class> {
        let (at, len) = self.header.symbols;
        let mut classes = Vec::new();
        let mut damages = Vec::new();
        for record in Log::new(&self.memory.bytes()[at..at + len]) {
            match record {
                Ok(class) => classes.push(class),
                Err(e) => damages.push(e.to_string()),
            }
        }
        self.damages.extend(damages);
        classes
    }

    fn manifest(&self, death: Nanos, tally: &Tally, ring_end: Option<&SnapshotEnd>) -> Manifest {
        let header = &self.header;
        let mut losses: BTreeMap<String, u64> = BTreeMap::new();
        let named = LOSS_CAUSES.iter().zip(header.losses).filter(|(_, n)| *n > 0);
        losses.extend(named.map(|(cause, n)| ((*cause).to_owned(), n)));
        if let Some(end) = ring_end {
            let lost = end.lost;
            let ring = [
                ("ring blocks never filled", lost.skipped),
                ("ring blocks not begun", lost.pending),
                ("events cut by the end of the program", lost.unfinished_entries),
                ("bytes hidden by an event cut by the end of the program", lost.unreadable_bytes),
            ];
            losses.extend(ring.into_iter().filter(|(_, n)| *n > 0).map(|(cause, n)| (cause.to_owned(), n)));
        }
        if tally.undecodable > 0 {
            losses.insert("events that are damaged".to_owned(), tally.undecodable);
        }
        Manifest {
            version: VERSION,
            lookback: env!("CARGO_PKG_VERSION").to_owned(),
            clock_pair: header.clock_pair,
            pid: header.pid,
            program: header.program.clone(),
            jvm: header.jvm.clone(),
            host: host(),
            tick: header.tick,
            tick_late: header.tick_late,
            dropped: Vec::new(),
            waiting_classes: 0,
            costs: None,
            sampling: None,
            ring_file: None,
            trigger: Trigger::Recovered { at: death },
            losses,
        }
    }

    fn found(self, manifest: Manifest, tally: Tally, threads: Vec<FoundThread>, symbols: &[Class]) -> Found {
        Found {
            program: manifest.program,
            pid: manifest.pid,
            jvm: manifest.jvm,
            threads_seen: tally.chunks.len(),
            threads,
            records: tally.records,
            symbols: (symbols.len(), symbols.iter().map(|c| c.methods.len()).sum()),
            span: tally.oldest.map(|oldest| (oldest, tally.newest)),
            death: manifest.trigger.at(),
            losses: manifest.losses,
            damages: self.damages,
        }
    }

    /// The program that it names.
    pub(crate) fn program(&self) -> &str {
        &self.header.program
    }
}

/// What the events tell while they pass by.
#[derive(Debug, Default)]
struct Tally {
    records: u64,
    oldest: Option<Nanos>,
    newest: Nanos,
    chunks: HashMap<ThreadKey, HashSet<Seq>>,
    undecodable: u64,
}

impl Tally {
    fn chunk(&mut self, thread: ThreadKey, seq: Seq, first: Nanos, last: Nanos, slots: &[u32]) {
        let entries = Records::new(slots).filter(|r| matches!(r, Record::Entry(_) | Record::Exit(_)));
        self.records += entries.count() as u64;
        self.chunks.entry(thread).or_default().insert(seq);
        self.oldest = Some(self.oldest.map_or(first, |oldest| oldest.min(first)));
        self.newest = self.newest.max(last);
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Chunk(c) => self.chunk(c.thread, c.seq, c.first, c.last, &c.slots),
            Event::Pause(_, at, _) | Event::Trigger(_, _, at, ..) => self.newest = self.newest.max(*at),
            Event::ThreadStart(t) | Event::ThreadEnd(t, _) => self.newest = self.newest.max(t.at),
            Event::VirtualName(_, at, _) => self.newest = self.newest.max(*at),
            _ => {}
        }
    }
}

/// Copies all events that are left in the ring into `out`, framed.
fn salvage(
    ring: &Ring,
    out: &mut dyn Write,
    tally: &mut Tally,
    progress: &mut dyn FnMut(u64, u64),
) -> std::io::Result<SnapshotEnd> {
    let geometry = ring.geometry();
    let all = u64::from(geometry.blocks) * u64::from(geometry.block_size);
    let (mut framed, mut read, mut result) = (Vec::new(), 0, Ok(()));
    let end = ring.salvage(Position::START, &mut |block| {
        framed.clear();
        for entry in block.entries() {
            // What cannot be decoded is counted, and kept all the same unless it is a chunk: its kind may
            // be one that a later reader knows.
            match Event::decode(entry.kind, entry.payload) {
                Ok(event) => tally.event(&event),
                Err(_) => tally.undecodable += 1,
            }
            if entry.kind != kind::CHUNK || entry.payload.len() >= lookback_format::event::CHUNK_HEADER {
                frame(entry.kind, &[entry.payload], &mut framed);
            }
        }
        if result.is_ok() {
            result = out.write_all(&framed);
        }
        read += u64::from(geometry.block_size);
        progress(read.min(all), all);
    });
    result.map(|()| end)
}

/// What this machine is called.
pub(crate) fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

/// Where an incident goes when nothing else is said: the current directory.
pub(crate) fn default_output(region: &Path, pid: u32) -> PathBuf {
    let stem = region.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    // `4711.region` and `4711-1700000000.region` are the agent's own names; others mean something to the user.
    let own =
        stem.strip_prefix(&pid.to_string()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let name = if own { format!("lookback-{pid}") } else { stem };
    PathBuf::from(format!("{name}-recovered.lkb"))
}

/// The error for a region that holds nothing.
pub(crate) fn nothing(file: &Path) -> Error {
    Error::NothingRecorded { file: file.to_owned() }
}
