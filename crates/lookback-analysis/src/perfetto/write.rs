//! Writes packets in an order that nests: per thread, begins and ends as the calls made them.
//!
//! The constraint that shaped it: Perfetto puts events of one track in order by time and, at equal times, by
//! place in the file, so begins and ends of equal times must stand as the calls were. Packets of all threads
//! are one sequence, so that each name is interned once.

use super::proto::*;
use crate::{Flags, Recording, Slice, SliceRef, ThreadTrack, Trim, value_words};
use lookback_format::definitions::Definitions;
use lookback_format::incident::Trigger;
use lookback_format::native::Value;
use lookback_format::{MethodId, Nanos};
use prost::Message;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

/// Shorter slices, unless they wait, carry no source location: each costs Perfetto three rows of a table.
const DETAIL: Nanos = Nanos(100_000);

const SEQUENCE: u32 = 1;
const PROCESS_TRACK: u64 = 1;
const PAUSE_TRACK: u64 = 2;
const FIRST_THREAD_TRACK: u64 = 16;

/// Interned numbers of categories and annotations.
const CALL: u64 = 1;
const WAIT: u64 = 2;
const PAUSE: u64 = 3;
const SPAN: u64 = 4;
const MOMENT: u64 = 5;
const NOTES: [(Flags, &str); 4] = [
    (Flags::CUT_START, "start not seen"),
    (Flags::CUT_END, "end not seen"),
    (Flags::INFERRED_END, "end inferred"),
    (Flags::TRIGGER, "fired the trigger"),
];
const ERROR: u64 = 10;
/// Those that a program gave its own names.
const FIRST_CATEGORY: u64 = 16;
const FIRST_NOTE: u64 = 16;

/// The track of a process: the first one's number is small, and no thread has one of the others'.
const fn process_track(process: Option<usize>) -> u64 {
    match process {
        None | Some(0) => PROCESS_TRACK,
        Some(n) => (1 << 40) + n as u64,
    }
}

/// Writes what `trim` keeps of the recording to `out` as a Perfetto trace. Times are the traced machine's monotonic clock, and a
/// clock snapshot tells the wall clock.
///
/// # Errors
/// What `out` fails with.
pub fn perfetto(r: &Recording, trim: &Trim, out: &mut dyn Write) -> io::Result<()> {
    let out = io::BufWriter::with_capacity(1 << 16, out);
    let mut w = Packets {
        r,
        out,
        buffer: Vec::with_capacity(256),
        named: HashMap::new(),
        categories: HashMap::new(),
        notes: HashMap::new(),
        new: None,
    };
    w.head()?;
    let mut tids = HashSet::new();
    for i in r.by_process() {
        let t = &r.threads[i];
        if t.slices.is_empty() {
            continue;
        }
        let track = FIRST_THREAD_TRACK + i as u64;
        // Perfetto takes tracks of one thread id for one track, and the system reuses ids.
        let tid = i32::try_from(t.os_tid).ok().filter(|&tid| tid > 0 && tids.insert(tid));
        let tid = tid.unwrap_or((1 << 30) + i as i32);
        w.thread(i, trim, track, tid)?;
    }
    w.pauses()?;
    w.trigger()?;
    w.out.flush()
}

struct Packets<'a, W: Write> {
    r: &'a Recording,
    out: W,
    buffer: Vec<u8>,
    named: HashMap<MethodId, u64>,
    categories: HashMap<String, u64>,
    notes: HashMap<String, u64>,
    /// Names to be interned with the next packet.
    new: Option<InternedData>,
}

fn interned(iid: u64, name: &str) -> Interned {
    Interned { iid: Some(iid), name: Some(name.to_owned()) }
}

/// The number of a name, and whether it is new. Numbers count up from `first`.
fn number(known: &mut HashMap<String, u64>, first: u64, name: &str) -> (u64, bool) {
    if let Some(&iid) = known.get(name) {
        return (iid, false);
    }
    let iid = first + known.len() as u64;
    known.insert(name.to_owned(), iid);
    (iid, true)
}

fn annotation(name: u64, value: &Value<'_>, definitions: &Definitions) -> DebugAnnotation {
    let mut note = DebugAnnotation { name_iid: Some(name), ..DebugAnnotation::default() };
    match value {
        Value::U64(v) => note.uint_value = Some(*v),
        Value::I64(v) => note.int_value = Some(*v),
        Value::F64(v) => note.double_value = Some(*v),
        Value::Bool(v) => note.bool_value = Some(*v),
        other => note.string_value = Some(value_words(other, definitions)),
    }
    note
}

impl<W: Write> Packets<'_, W> {
    fn put(&mut self, packet: &TracePacket) -> io::Result<()> {
        // `Trace.packet` is field 1 with a length: the file is a row of these.
        self.buffer.clear();
        self.buffer.push(0x0a);
        packet.encode_length_delimited(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }

    fn head(&mut self) -> io::Result<()> {
        let (mono, wall) = self.r.manifest.clock_pair;
        let clock = |id, at| Clock { clock_id: Some(id), timestamp: Some(at) };
        // The file does not tell the machine's suspended time, so boot time is taken for monotonic time:
        // viewers convert all times to it.
        let clocks =
            vec![clock(CLOCK_REALTIME, wall), clock(CLOCK_MONOTONIC, mono.0), clock(CLOCK_BOOTTIME, mono.0)];
        self.put(&TracePacket {
            clock_snapshot: Some(ClockSnapshot { clocks, primary_trace_clock: Some(CLOCK_MONOTONIC) }),
            trusted_packet_sequence_id: Some(SEQUENCE),
            ..TracePacket::default()
        })?;
        let notes = NOTES.iter().zip(1..).map(|((_, name), iid)| interned(iid, name));
        let data = InternedData {
            event_categories: vec![
                interned(CALL, "call"),
                interned(WAIT, "wait"),
                interned(PAUSE, "pause"),
                interned(SPAN, "span"),
                interned(MOMENT, "instant"),
            ],
            debug_annotation_names: notes.chain([interned(ERROR, "timing error ns")]).collect(),
            ..InternedData::default()
        };
        let m = &self.r.manifest;
        let processes: Vec<(u32, &String)> = match self.r.processes.len() {
            0 => vec![(m.pid, &m.program)],
            _ => self.r.processes.iter().map(|p| (p.pid, &p.name)).collect(),
        };
        self.put(&TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(INCREMENTAL_STATE_CLEARED),
            trace_packet_defaults: Some(TracePacketDefaults { timestamp_clock_id: Some(CLOCK_MONOTONIC) }),
            interned_data: Some(data),
            ..TracePacket::default()
        })?;
        for (n, (pid, name)) in processes.into_iter().enumerate() {
            let process = ProcessDescriptor { pid: Some(pid as i32), process_name: Some(name.clone()) };
            self.describe(TrackDescriptor {
                uuid: Some(process_track(Some(n))),
                process: Some(process),
                ..TrackDescriptor::default()
            })?;
        }
        if self.r.manifest.ring_file.is_some() {
            return Ok(());
        }
        self.describe(TrackDescriptor {
            uuid: Some(PAUSE_TRACK),
            parent_uuid: Some(PROCESS_TRACK),
            name: Some("GC pauses".to_owned()),
            ..TrackDescriptor::default()
        })
    }

    fn describe(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.put(&TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            track_descriptor: Some(track),
            ..TracePacket::default()
        })
    }

    fn event(&mut self, at: Nanos, event: TrackEvent) -> io::Result<()> {
        let interned_data = self.new.take();
        self.put(&TracePacket {
            timestamp: Some(at.0),
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(NEEDS_INCREMENTAL_STATE),
            interned_data,
            track_event: Some(event),
            ..TracePacket::default()
        })
    }

    fn thread(&mut self, thread: usize, trim: &Trim, track: u64, tid: i32) -> io::Result<()> {
        let r = self.r;
        let t: &ThreadTrack = &r.threads[thread];
        let process = t.process.and_then(|p| self.r.processes.get(p));
        let pid = Some(process.map_or(self.r.manifest.pid, |p| p.pid) as i32);
        let descriptor = ThreadDescriptor { pid, tid: Some(tid), thread_name: Some(t.name.clone()) };
        self.describe(TrackDescriptor {
            uuid: Some(track),
            parent_uuid: Some(process_track(t.process)),
            thread: Some(descriptor),
            ..TrackDescriptor::default()
        })?;
        let end = |at| {
            let event =
                TrackEvent { r#type: Some(SLICE_END), track_uuid: Some(track), ..TrackEvent::default() };
            (at, event)
        };
        let mut open: Vec<Nanos> = Vec::new();
        // The callers of what is kept are kept, so depths are as in the whole.
        for i in t.slices.indices().filter(|&slice| trim.keeps(r, SliceRef { thread, slice })) {
            let s = t.slices.get(i);
            while open.len() > s.depth as usize {
                let (at, event) = end(open.pop().unwrap_or(s.start));
                self.event(at, event)?;
            }
            let detail = t.slices.detail.get(i.at()).copied();
            let event = self.begin(&s, track, t, detail);
            self.event(s.start, event)?;
            if !s.flags.has(Flags::INSTANT) {
                open.push(s.end);
            }
        }
        while let Some(at) = open.pop() {
            let (at, event) = end(at);
            self.event(at, event)?;
        }
        Ok(())
    }

    fn begin(&mut self, s: &Slice, track: u64, t: &ThreadTrack, detail: Option<u32>) -> TrackEvent {
        let name = self.name(s.method);
        let native = t.is_native();
        let waits = s.flags.has(Flags::WAIT);
        let notes = NOTES.iter().zip(1..).filter(|((flag, _), _)| s.flags.has(*flag));
        let mut notes: Vec<_> = notes
            .map(|(_, iid)| DebugAnnotation {
                name_iid: Some(iid),
                bool_value: Some(true),
                ..DebugAnnotation::default()
            })
            .collect();
        let detailed = waits || s.duration() >= DETAIL;
        if detailed && s.error > 0 {
            notes.push(DebugAnnotation {
                name_iid: Some(ERROR),
                uint_value: Some(u64::from(s.error)),
                ..DebugAnnotation::default()
            });
        }
        let (details, definitions) = (&t.details, &self.r.definitions);
        for (name, value) in detail.into_iter().flat_map(|d| details.of(d, definitions)) {
            let note = annotation(self.note_name(name), &value, definitions);
            notes.push(note);
        }
        let own = native.then(|| self.category(s.method));
        let located = detailed && self.r.methods.get(s.method).is_some_and(|m| !m.file.is_empty());
        let (category, kind) = match s.flags {
            f if f.has(Flags::INSTANT) => (MOMENT, INSTANT),
            f if f.has(Flags::SPAN) => (SPAN, SLICE_BEGIN),
            _ if waits => (WAIT, SLICE_BEGIN),
            _ => (CALL, SLICE_BEGIN),
        };
        TrackEvent {
            category_iids: vec![own.unwrap_or(category)],
            debug_annotations: notes,
            r#type: Some(kind),
            name_iid: Some(name),
            track_uuid: Some(track),
            source_location_iid: located.then_some(name),
            ..TrackEvent::default()
        }
    }

    /// The number of a method's name, which is also that of its source location.
    fn name(&mut self, id: MethodId) -> u64 {
        let next = self.named.len() as u64 + 1;
        let iid = *self.named.entry(id).or_insert(next);
        if iid == next {
            let name = interned(iid, &self.r.methods.full(id));
            let data = self.new.get_or_insert_default();
            data.event_names.push(name);
            if let Some(m) = self.r.methods.get(id).filter(|m| !m.file.is_empty()) {
                data.source_locations.push(SourceLocation {
                    iid: Some(iid),
                    file_name: Some(m.file.to_string()),
                    function_name: Some(m.full()),
                    line_number: (m.line > 0).then_some(u32::from(m.line)),
                });
            }
        }
        iid
    }

    /// The number of a native event's category.
    fn category(&mut self, id: MethodId) -> u64 {
        let name = self.r.methods.get(id).map(|m| &*m.class).filter(|c| !c.is_empty()).unwrap_or("(none)");
        let (iid, new) = number(&mut self.categories, FIRST_CATEGORY, name);
        if new {
            self.new.get_or_insert_default().event_categories.push(interned(iid, name));
        }
        iid
    }

    /// The number of a field's name.
    fn note_name(&mut self, name: &str) -> u64 {
        let (iid, new) = number(&mut self.notes, FIRST_NOTE, name);
        if new {
            self.new.get_or_insert_default().debug_annotation_names.push(interned(iid, name));
        }
        iid
    }

    /// Pauses of the program. Two that overlap are drawn as one after the other, since a track nests.
    fn pauses(&mut self) -> io::Result<()> {
        let mut free = Nanos(0);
        for p in &self.r.pauses {
            let (start, end) = (p.start.max(free), p.end.max(free));
            free = end;
            let begin = TrackEvent {
                category_iids: vec![PAUSE],
                r#type: Some(SLICE_BEGIN),
                name: Some("garbage collection".to_owned()),
                track_uuid: Some(PAUSE_TRACK),
                ..TrackEvent::default()
            };
            self.event(start, begin)?;
            let stop = TrackEvent {
                r#type: Some(SLICE_END),
                track_uuid: Some(PAUSE_TRACK),
                ..TrackEvent::default()
            };
            self.event(end, stop)?;
        }
        Ok(())
    }

    fn trigger(&mut self) -> io::Result<()> {
        let trigger = &self.r.manifest.trigger;
        let (name, track) = match trigger {
            Trigger::Slow { rule, thread, .. } => {
                let seen = self.r.thread(*thread).filter(|&t| !self.r.threads[t].slices.is_empty());
                let track = seen.map_or(PROCESS_TRACK, |t| FIRST_THREAD_TRACK + t as u64);
                (format!("Lookback fired: {rule}"), track)
            }
            Trigger::Recovered { .. } => {
                ("Lookback: end of the recovered recording".to_owned(), PROCESS_TRACK)
            }
            _ => ("Lookback: recording asked for".to_owned(), PROCESS_TRACK),
        };
        let event = TrackEvent {
            r#type: Some(INSTANT),
            name: Some(name),
            track_uuid: Some(track),
            ..TrackEvent::default()
        };
        self.event(trigger.at(), event)
    }
}
