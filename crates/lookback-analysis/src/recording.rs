//! A recording: all that an incident holds, decoded.
//!
//! The constraint that shaped it: chunks come in any order, some twice, and a full ring of them must not stay
//! in memory beside the slices longer than needed: each thread's chunks are given back when it is decoded.

use crate::clock::Ticks;
use crate::decode::{Decoded, decode};
use crate::methods::EVENT_TYPES;
use crate::natives::Natives;
use crate::sampled_calls::calls;
use crate::samples::Samples;
use crate::survey::Known;
use crate::{Columns, Details, Flags, Methods, Process, SliceIndex, virtual_threads};
use lookback_format::definitions::Definitions;
use lookback_format::event::{Chunk, Event};
use lookback_format::incident::{Damage, Manifest, Reader, STAGING, Thread, Trigger};
use lookback_format::slot::GapCause;
use lookback_format::symbol::Class;
use lookback_format::{MethodId, Nanos, ThreadKey};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Read, Seek};

/// How many slices of a recording are kept, if not told otherwise: 33 bytes each, beside 64 MB of slots within
/// 512 MB. A full 64 MB ring has 8 million.
pub const DEFAULT_KEPT: usize = 10_000_000;
/// Each thread may keep this many, however little of the recording is its own.
const KEPT_A_THREAD: usize = 20_000;

/// All that an incident holds, decoded.
#[derive(Debug)]
pub struct Recording {
    /// The facts of the recording.
    pub manifest: Manifest,
    /// Its methods.
    pub methods: Methods,
    /// Its threads, by key.
    pub threads: Vec<ThreadTrack>,
    /// The processes of native programs, in the order in which they came; none when the recording is a JVM's.
    pub processes: Vec<Process>,
    /// What the events of native programs refer to.
    pub definitions: Definitions,
    /// Where threads were, when they were sampled.
    pub samples: Samples,
    /// Pauses of the whole program, by start.
    pub pauses: Vec<Pause>,
    /// How many virtual threads ran, and how many of them have tracks of their own: those that lasted longest. What the
    /// others called is on the tracks of the carriers that ran them.
    pub virtual_threads: (u64, u64),
    /// The trigger as the ring has it, for a recording that was recovered: thread, method, when, start, rule.
    pub fired: Vec<(ThreadKey, MethodId, Nanos, Nanos, String)>,
    /// What was wrong with the incident's parts, in words.
    pub damages: Vec<String>,
    /// What is missing, by cause: the manifest's counts and those that the decode found.
    pub losses: BTreeMap<String, u64>,
    /// First moment of the oldest slice, and last moment of the recording.
    pub span: (Nanos, Nanos),
    /// From this moment on no record was overwritten. Threads that did little have older ones as well.
    pub reach: Nanos,
}

/// A slice of a recording: position of the thread in [`Recording::threads`], position in its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliceRef {
    /// The thread.
    pub thread: usize,
    /// The slice.
    pub slice: SliceIndex,
}

/// What one thread did.
#[derive(Debug, Default)]
pub struct ThreadTrack {
    /// Its key.
    pub key: ThreadKey,
    /// Its newest name.
    pub name: String,
    /// The operating system's id; 0 when unknown.
    pub os_tid: u32,
    /// Java's id; 0 when unknown.
    pub java_tid: u64,
    /// When it began, if that was recorded.
    pub began: Option<Nanos>,
    /// When it ended, if it did.
    pub ended: Option<Nanos>,
    /// What it did when the recording was written, if it lived then.
    pub live: Option<Thread>,
    /// Its slices.
    pub slices: Columns,
    /// Where records are missing.
    pub gaps: Vec<Gap>,
    /// Calls that are not among the slices because they were short and there were too many: their time is own
    /// time of their callers.
    pub folded: u64,
    /// All of them were shorter than this.
    pub folded_below: Nanos,
    /// When the records begin, if older ones were overwritten: the ring is finite. The thread's end, if all were.
    pub overwritten: Option<Nanos>,
    /// Its process: position in [`Recording::processes`]. None for threads of a JVM.
    pub process: Option<usize>,
    /// The values of its slices.
    pub details: Details,
}

impl ThreadTrack {
    /// Whether its slices are spans and instants that a native program recorded, and not calls of methods.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.slices.method.first().is_some_and(|m| m.0 >= EVENT_TYPES)
    }
}

/// A place where records of a thread are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last moment before it.
    pub from: Nanos,
    /// The first moment after it.
    pub to: Nanos,
    /// How many records, at least.
    pub lost: u64,
    /// Why.
    pub kind: GapKind,
}

/// Why records are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapKind {
    /// A gap record says so.
    Recorded(GapCause),
    /// So many chunks of the thread are not in the recording, and newer ones are, or its end tells of them.
    Chunks(u32),
    /// A chunk's header counts lost records.
    Within,
    /// Words of a chunk cannot be read.
    Unreadable,
}

impl GapKind {
    /// In words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            GapKind::Recorded(cause) => cause.words().to_owned(),
            GapKind::Chunks(1) => "1 chunk of the thread is missing".to_owned(),
            GapKind::Chunks(n) => format!("{n} chunks of the thread are missing"),
            GapKind::Within => "recursion deeper than a slab".to_owned(),
            GapKind::Unreadable => "damaged slots".to_owned(),
        }
    }

    /// Key among the losses.
    fn cause(self) -> String {
        match self {
            GapKind::Recorded(cause) => format!("records in gaps: {}", cause.words()),
            GapKind::Chunks(_) => "chunks missing in the middle of a thread".to_owned(),
            GapKind::Within => "records in gaps: recursion deeper than a slab".to_owned(),
            GapKind::Unreadable => "words of damaged chunks".to_owned(),
        }
    }
}

/// The whole program stood still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// From.
    pub start: Nanos,
    /// To.
    pub end: Nanos,
    /// Why: 0 = garbage collection.
    pub cause: u32,
}

impl Recording {
    /// Reads and decodes an incident. Damaged parts are named in [`Recording::damages`]; what is intact of
    /// them is decoded.
    pub fn load<R: Read + Seek>(reader: &mut Reader<R>) -> Recording {
        Recording::load_keeping(reader, DEFAULT_KEPT)
    }

    /// As [`Recording::load`], with about so many slices at most: the longest; shorter calls are folded into
    /// their callers.
    pub fn load_keeping<R: Read + Seek>(reader: &mut Reader<R>, slices: usize) -> Recording {
        let mut b = Builder::new(reader.manifest.clone());
        b.keep(slices);
        let (classes, damages) = reader.symbols();
        b.symbols(classes);
        b.damages.extend(damages.iter().map(damage));
        let (definitions, damages) = reader.definitions();
        b.damages.extend(damages.iter().map(damage));
        b.definitions(definitions);
        match reader.threads() {
            Ok(threads) => b.threads(threads),
            Err(e) => b.damages.push(e.to_string()),
        }
        let damages = reader.events(&mut |e| b.event(e));
        // A recording of a killed program has no staging part when no thread had anything to move.
        b.damages.extend(damages.iter().filter(|d| !absent(d)).map(damage));
        b.build()
    }

    /// Decodes events, for recordings that are in no file.
    pub fn from_events(
        manifest: Manifest,
        classes: impl IntoIterator<Item = Class>,
        threads: impl IntoIterator<Item = Thread>,
        events: impl IntoIterator<Item = Event>,
    ) -> Recording {
        let mut b = Builder::new(manifest);
        b.symbols(classes);
        b.threads(threads);
        events.into_iter().for_each(|e| b.event(e));
        b.build()
    }

    /// The slice `r`.
    ///
    /// # Panics
    /// When the recording has no such slice.
    #[must_use]
    pub fn slice(&self, r: SliceRef) -> crate::Slice {
        self.threads[r.thread].slices.get(r.slice)
    }

    /// Number of slices of all threads.
    #[must_use]
    pub fn slices(&self) -> usize {
        self.threads.iter().map(|t| t.slices.len()).sum()
    }

    /// Calls that were folded into their callers, and the duration that all of them were shorter than.
    #[must_use]
    pub fn folded(&self) -> (u64, Nanos) {
        let below = self.threads.iter().map(|t| t.folded_below).max().unwrap_or_default();
        (self.threads.iter().map(|t| t.folded).sum(), below)
    }

    /// Position of a thread.
    #[must_use]
    pub fn thread(&self, key: ThreadKey) -> Option<usize> {
        self.threads.binary_search_by_key(&key, |t| t.key).ok()
    }

    /// Wall clock of a moment, nanoseconds since 1970.
    #[must_use]
    pub fn unix_nanos(&self, at: Nanos) -> i128 {
        let (mono, wall) = self.manifest.clock_pair;
        i128::from(wall) + i128::from(at.0) - i128::from(mono.0)
    }

    /// The threads as people want them listed: those of one process together.
    #[must_use]
    pub fn by_process(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.threads.len()).collect();
        all.sort_by_key(|&t| self.threads[t].process);
        all
    }

    /// What a thread is called, with its process where there are several.
    #[must_use]
    pub fn thread_name(&self, thread: usize) -> String {
        let t = &self.threads[thread];
        match t.process.filter(|_| self.processes.len() > 1).and_then(|p| self.processes.get(p)) {
            Some(p) => format!("{} {}: {}", p.name, p.pid, t.name),
            None => t.name.clone(),
        }
    }

    /// What recorded, in a line: `shop (pid 4711), OpenJDK 25`, `shop (pid 12), load (pid 13)`.
    #[must_use]
    pub fn program(&self) -> String {
        /// More than this many are counted.
        const NAMED: usize = 4;
        let m = &self.manifest;
        let one = |name: &str, pid: u32| format!("{name} (pid {pid})");
        match self.processes.len() {
            0 if m.ring_file.is_some() => m.program.clone(),
            0 => one(&m.program, m.pid),
            n => {
                let named = self.processes.iter().take(NAMED).map(|p| one(&p.name, p.pid));
                let more = n.checked_sub(NAMED).filter(|n| *n > 0).map(|n| format!("and {n} more"));
                named.chain(more).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// The slice of the call that fired the trigger.
    #[must_use]
    pub fn trigger_slice(&self) -> Option<SliceRef> {
        let Trigger::Slow { thread, .. } = self.manifest.trigger else { return None };
        let thread = self.thread(thread)?;
        let flags = &self.threads[thread].slices.flags;
        let slice = flags.iter().position(|f| f.has(Flags::TRIGGER))?;
        Some(SliceRef { thread, slice: SliceIndex(slice as u32) })
    }
}

fn damage(d: &Damage) -> String {
    format!("{}: {}", d.section, d.error)
}

fn absent(d: &Damage) -> bool {
    d.section == STAGING && matches!(d.error, lookback_format::Error::Missing { .. })
}

/// Gathers a recording's parts in any order, and decodes them in the end.
#[derive(Debug)]
pub struct Builder {
    manifest: Manifest,
    methods: Methods,
    tracks: BTreeMap<ThreadKey, Track>,
    /// By Java id; when each was called so.
    virtual_names: HashMap<u64, (Nanos, String)>,
    samples: Samples,
    pauses: Vec<Pause>,
    fired: Vec<(ThreadKey, MethodId, Nanos, Nanos, String)>,
    damages: Vec<String>,
    natives: Natives,
    definitions: Definitions,
    unknown: u64,
    end: Nanos,
    kept: usize,
}

#[derive(Debug, Default)]
struct Track {
    track: ThreadTrack,
    chunks: Vec<Chunk>,
    /// How many it wrote, as its end tells.
    written: u32,
}

impl Track {
    fn slots(&self) -> usize {
        self.chunks.iter().map(|c| c.slots.len()).sum()
    }
}

impl Builder {
    /// An empty recording.
    #[must_use]
    pub fn new(manifest: Manifest) -> Self {
        Builder {
            end: manifest.trigger.at(),
            manifest,
            methods: Methods::default(),
            tracks: BTreeMap::new(),
            virtual_names: HashMap::new(),
            samples: Samples::default(),
            pauses: Vec::new(),
            fired: Vec::new(),
            damages: Vec::new(),
            natives: Natives::default(),
            definitions: Definitions::default(),
            unknown: 0,
            kept: DEFAULT_KEPT,
        }
    }

    /// Keeps about so many slices in all, instead of [`DEFAULT_KEPT`].
    pub fn keep(&mut self, slices: usize) {
        self.kept = slices;
    }

    /// Sets the symbols.
    pub fn symbols(&mut self, classes: impl IntoIterator<Item = Class>) {
        self.methods = Methods::new(classes);
    }

    /// Sets what the events of native programs refer to.
    pub fn definitions(&mut self, definitions: Definitions) {
        self.definitions = definitions;
    }

    /// Adds what the threads did when the recording was written.
    pub fn threads(&mut self, threads: impl IntoIterator<Item = Thread>) {
        for t in threads {
            if self.manifest.ring_file.is_some() {
                self.natives.thread(&t);
                continue;
            }
            let track = &mut self.track(t.key).track;
            t.name.clone_into(&mut track.name);
            (track.os_tid, track.java_tid) = (t.os_tid, t.java_tid);
            track.live = Some(t);
        }
    }

    /// Says that a part was damaged.
    pub fn damage(&mut self, what: String) {
        self.damages.push(what);
    }

    /// Adds an event.
    pub fn event(&mut self, event: Event) {
        match event {
            Event::Chunk(c) => {
                self.end = self.end.max(c.last);
                self.track(c.thread).chunks.push(c);
            }
            Event::Pause(start, end, cause) => {
                self.end = self.end.max(end);
                self.pauses.push(Pause { start, end: end.max(start), cause });
            }
            Event::ThreadStart(t) => {
                let track = &mut self.track(t.thread).track;
                track.began = Some(t.at);
                if track.live.is_none() && track.ended.is_none() {
                    (track.name, track.os_tid, track.java_tid) = (t.name, t.os_tid, t.java_tid);
                }
            }
            Event::ThreadEnd(t, chunks) => {
                let track = self.track(t.thread);
                track.written = chunks;
                let track = &mut track.track;
                track.ended = Some(t.at);
                (track.name, track.os_tid, track.java_tid) = (t.name, t.os_tid, t.java_tid);
            }
            Event::VirtualName(java_tid, at, name) => {
                let newest = self.virtual_names.entry(java_tid).or_default();
                if at >= newest.0 {
                    *newest = (at, name);
                }
            }
            Event::Sample(sample) => {
                self.end = self.end.max(sample.at);
                // Virtual threads have tracks as far as their carriers tell of them, and come after those.
                if !sample.thread.is_virtual() {
                    self.track(sample.thread);
                }
                self.samples.add(&sample);
            }
            Event::Trigger(thread, method, at, start, rule) => {
                self.fired.push((thread, method, at, start, rule));
            }
            Event::Native(n) => self.natives.event(&n),
            _ => self.unknown += 1,
        }
    }

    fn track(&mut self, key: ThreadKey) -> &mut Track {
        let track = self.tracks.entry(key).or_default();
        track.track.key = key;
        track
    }

    /// Decodes what was gathered.
    #[must_use]
    pub fn build(self) -> Recording {
        let Builder { manifest, mut methods, tracks, mut pauses, fired, damages, unknown, .. } = self;
        let (natives, definitions, kept) = (self.natives, self.definitions, self.kept);
        let end = self.end.max(natives.newest());
        let facts = manifest.ring_file.clone().unwrap_or_default();
        methods.add_event_types(&definitions, &facts.categories);
        let ticks = Ticks::from(&manifest);
        let mut losses = manifest.losses.clone();
        losses.retain(|_, n| *n > 0);
        let mut lose = |cause: String, n: u64| {
            if n > 0 {
                *losses.entry(cause).or_default() += n;
            }
        };
        let mut samples = self.samples;
        samples.sort();
        lose("outer frames of samples, beyond what one holds".to_owned(), samples.cut);
        lose("inner frames of samples, of too many different ones".to_owned(), samples.beyond);
        let mut tracks: Vec<Track> = tracks.into_values().collect();
        let virtual_threads =
            add_virtual(&mut tracks, &mut methods, &manifest.trigger, &self.virtual_names, end);
        add_sampled_virtual(&mut tracks, &samples, &self.virtual_names);
        let slots = tracks.iter().map(Track::slots).sum();
        let job = Job { kept, slots, methods: &methods, ticks, trigger: &manifest.trigger, end };
        let mut threads = Vec::with_capacity(tracks.len());
        for (track, unplaced) in job.all(tracks) {
            track.gaps.iter().for_each(|g| lose(g.kind.cause(), g.lost));
            lose("exits that fit no call".to_owned(), unplaced);
            threads.push(track);
        }
        let natives = natives.decode(&definitions, &methods, end, kept);
        natives.losses.into_iter().for_each(|(cause, n)| lose(cause.to_owned(), n));
        threads.extend(natives.threads);
        threads.sort_by_key(|t| t.key);
        if let Some(sampling) = &manifest.sampling {
            add_sampled(&mut threads, &samples, sampling.interval);
        }
        lose("events of a kind that this version does not know".to_owned(), unknown);
        lose("damaged parts of the file".to_owned(), damages.len() as u64);
        pauses.sort_by_key(|p| (p.start, p.end));
        let begin = threads.iter().filter_map(|t| t.slices.start.first()).min();
        let begin = begin.copied().unwrap_or(end).min(end);
        let overwritten = threads.iter().filter_map(|t| t.overwritten).chain(facts.complete_from);
        let reach = overwritten.max().unwrap_or(begin).clamp(begin, end);
        let (span, processes) = ((begin, end), natives.processes);
        let mut r = Recording {
            manifest,
            methods,
            threads,
            processes,
            definitions,
            samples,
            pauses,
            virtual_threads,
            fired,
            damages,
            losses,
            span,
            reach,
        };
        r.mark_trigger();
        r
    }
}

/// Adds tracks of virtual threads that were sampled and have none.
fn add_sampled_virtual(tracks: &mut Vec<Track>, samples: &Samples, names: &HashMap<u64, (Nanos, String)>) {
    let mut known: HashSet<ThreadKey> = tracks.iter().map(|t| t.track.key).collect();
    for &key in &samples.thread {
        let Some(tid) = key.virtual_tid().filter(|_| known.insert(key)) else { continue };
        let track =
            ThreadTrack { key, name: virtual_name(names, tid), java_tid: tid, ..ThreadTrack::default() };
        tracks.push(Track { track, ..Track::default() });
    }
}

/// Gives threads that were sampled and not traced the calls that their samples show.
fn add_sampled(threads: &mut [ThreadTrack], samples: &Samples, interval: Nanos) {
    let mut by_thread: HashMap<ThreadKey, Vec<u32>> = HashMap::new();
    for (i, &thread) in samples.thread.iter().enumerate() {
        by_thread.entry(thread).or_default().push(i as u32);
    }
    for t in threads.iter_mut().filter(|t| t.slices.is_empty() && t.gaps.is_empty()) {
        if let Some(of_thread) = by_thread.get(&t.key) {
            t.slices = calls(samples, of_thread, interval);
        }
    }
}

/// What a virtual thread's track is called.
fn virtual_name(names: &HashMap<u64, (Nanos, String)>, tid: u64) -> String {
    match names.get(&tid).map(|(_, name)| name.as_str()) {
        None | Some("") => format!("virtual thread #{tid}"),
        Some(name) => format!("{name} (virtual #{tid})"),
    }
}

/// Adds the tracks of virtual threads, made of their carriers' chunks; gives how many there were, and tracks of them.
fn add_virtual(
    tracks: &mut Vec<Track>,
    methods: &mut Methods,
    trigger: &Trigger,
    names: &HashMap<u64, (Nanos, String)>,
    end: Nanos,
) -> (u64, u64) {
    let wanted = match *trigger {
        Trigger::Slow { thread, .. } => Some(thread),
        _ => None,
    };
    let taken = tracks.iter().map(|t| t.track.key).collect();
    for t in tracks.iter_mut() {
        t.chunks = in_order(std::mem::take(&mut t.chunks));
    }
    let mut carriers: Vec<&mut Vec<Chunk>> = tracks.iter_mut().map(|t| &mut t.chunks).collect();
    let found = virtual_threads::split(&mut carriers, methods, wanted, &taken, end);
    let n = found.streams.len() as u64;
    tracks.extend(found.streams.into_iter().map(|s| Track {
        track: ThreadTrack {
            key: ThreadKey::of_virtual(s.tid),
            name: virtual_name(names, s.tid),
            java_tid: s.tid,
            ended: s.until,
            ..ThreadTrack::default()
        },
        chunks: s.chunks,
        ..Track::default()
    }));
    (found.seen, n)
}

/// More workers than this gain nothing: decoding is bound by memory.
const MOST_WORKERS: usize = 4;

/// What all threads' decodes have in common.
struct Job<'a> {
    methods: &'a Methods,
    ticks: Ticks,
    trigger: &'a Trigger,
    end: Nanos,
    kept: usize,
    slots: usize,
}

impl Job<'_> {
    /// Decodes all tracks, by several workers; gives them by key, with their unplaced exits.
    fn all(&self, mut tracks: Vec<Track>) -> Vec<(ThreadTrack, u64)> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = cores.min(MOST_WORKERS).min(tracks.len()).max(1);
        // The largest first, each to the worker that has least to do.
        tracks.sort_by_cached_key(|t| std::cmp::Reverse(t.slots()));
        let mut shares: Vec<(usize, Vec<Track>)> = (0..workers).map(|_| (0, Vec::new())).collect();
        for t in tracks {
            if let Some(share) = shares.iter_mut().min_by_key(|s| s.0) {
                share.0 += t.slots();
                share.1.push(t);
            }
        }
        let run = |share: Vec<Track>| share.into_iter().map(|t| self.one(t)).collect::<Vec<_>>();
        let mut done = std::thread::scope(|scope| {
            let first = shares.pop().map(|(_, share)| share).unwrap_or_default();
            let others: Vec<_> =
                shares.into_iter().map(|(_, share)| scope.spawn(move || run(share))).collect();
            let mut done = run(first);
            for worker in others {
                match worker.join() {
                    Ok(tracks) => done.extend(tracks),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            done
        });
        done.sort_by_key(|(t, _)| t.key);
        done
    }

    fn one(&self, Track { mut track, chunks, written }: Track) -> (ThreadTrack, u64) {
        let chunks = in_order(chunks);
        let slots: usize = chunks.iter().map(|c| c.slots.len()).sum();
        let share = (slots as u128 * self.kept as u128 / self.slots.max(1) as u128) as usize;
        let most = share.max(KEPT_A_THREAD.min(self.kept)).max(64);
        track.overwritten = match chunks.first() {
            Some(first) => (first.seq.0 > 0).then_some(first.first),
            None => track.ended.filter(|_| written > 0),
        };
        let known = known_call(self.trigger, track.key);
        let end = track.ended.unwrap_or(self.end);
        let newest_missing = chunks.last().and_then(|last| {
            let missing = written.saturating_sub(last.seq.0.saturating_add(1));
            let kind = GapKind::Chunks(missing);
            (missing > 0).then_some(Gap { from: last.last, to: end, lost: missing.into(), kind })
        });
        let until = newest_missing.map_or(end, |gap| gap.from);
        let d = decode(&chunks, self.methods, self.ticks, known, until, most);
        let Decoded { slices, gaps, unplaced, folded, folded_below } = d;
        (track.slices, track.gaps) = (slices, gaps);
        track.gaps.extend(newest_missing);
        (track.folded, track.folded_below) = (folded, folded_below);
        if track.name.is_empty() {
            track.name = format!("thread {}", track.key.0);
        }
        (track, unplaced)
    }
}

/// Chunks by sequence; of two with the same number the longer one, since the other was copied earlier.
fn in_order(mut chunks: Vec<Chunk>) -> Vec<Chunk> {
    chunks.sort_by_key(|c| (c.seq, std::cmp::Reverse(c.slots.len())));
    chunks.dedup_by_key(|c| c.seq);
    chunks
}

/// The trigger's call runs from its start to its end, whether or not the records still show its entry.
fn known_call(trigger: &Trigger, key: ThreadKey) -> Option<Known> {
    match *trigger {
        Trigger::Slow { thread, method, start, duration, running, .. } if thread == key => {
            let to = if running { Nanos(u64::MAX) } else { start.plus(duration.0) };
            Some(Known { method, from: start, to })
        }
        _ => None,
    }
}

impl Recording {
    /// Finds the trigger's slice: of its thread's slices of its method the one that lies most within the
    /// time of the call, then the one whose ends are nearest.
    fn mark_trigger(&mut self) {
        let Trigger::Slow { thread, method, start, duration, .. } = self.manifest.trigger else { return };
        let Some(thread) = self.thread(thread) else { return };
        let end = start.plus(duration.0);
        let slices = &mut self.threads[thread].slices;
        let best = slices
            .indices()
            .filter(|i| slices.method[i.at()] == method)
            .map(|i| (slices.get(i), i))
            .filter(|(s, _)| s.start <= end && s.end >= start)
            .max_by_key(|(s, i)| {
                let off = s.start.0.abs_diff(start.0).saturating_add(s.end.0.abs_diff(end.0));
                (s.overlap(start, end), std::cmp::Reverse((off, *i)))
            });
        if let Some((s, i)) = best {
            slices.flags[i.at()] = s.flags.with(Flags::TRIGGER);
        }
    }
}
