//! Gathers the events of native programs by thread, and decodes each thread.
//!
//! The constraint that shaped it: a thread moves from core to core, so its events stand in many blocks and come
//! in any order of time, and there are as many of them as the ring holds. So an event is 28 bytes in its
//! thread's list and its field values lie one after the other beside it, until the thread is decoded.

use crate::methods::Methods;
use crate::recording::ThreadTrack;
use crate::spans::{Spans, Stored, spans};
use lookback_format::definitions::{Definitions, UNDEFINED_THREAD};
use lookback_format::incident;
use lookback_format::native::{Native, Phase};
use lookback_format::{MethodId, Nanos, ProcessId, ThreadKey};
use std::collections::BTreeMap;

/// Each thread may keep this many slices, however little of the recording is its own.
const KEPT_A_THREAD: usize = 20_000;

/// A process that recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id in the definitions.
    pub id: ProcessId,
    /// The operating system's id of it.
    pub pid: u32,
    /// What its program is called.
    pub name: String,
    /// When it opened the file.
    pub start: Nanos,
}

/// The events that have come so far.
#[derive(Debug, Default)]
pub(crate) struct Natives {
    threads: BTreeMap<ThreadKey, Stream>,
    ended: BTreeMap<ThreadKey, String>,
    /// Field values that there was no room for.
    left_out: u64,
}

#[derive(Debug, Default)]
struct Stream {
    events: Vec<Stored>,
    fields: Vec<u8>,
    first: Nanos,
    last: Nanos,
}

/// All threads, decoded.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub(crate) threads: Vec<ThreadTrack>,
    pub(crate) processes: Vec<Process>,
    /// Losses by cause.
    pub(crate) losses: Vec<(&'static str, u64)>,
}

impl Natives {
    /// Adds an event.
    pub(crate) fn event(&mut self, event: &Native) {
        let stream = self.threads.entry(event.thread).or_default();
        let fields = if event.phase == Phase::End { &[][..] } else { &event.fields };
        let room = u32::try_from(stream.fields.len() + fields.len());
        let (at, len) = match room {
            Ok(end) => (end - fields.len() as u32, fields.len() as u32),
            Err(_) => (0, 0),
        };
        if room.is_ok() {
            stream.fields.extend_from_slice(fields);
        } else {
            self.left_out += 1;
        }
        if stream.events.is_empty() {
            stream.first = event.time;
        }
        stream.first = stream.first.min(event.time);
        stream.last = stream.last.max(event.time);
        let &Native { phase, time, event_type, .. } = event;
        stream.events.push(Stored { time, phase, method: MethodId(0), event_type, at, len });
    }

    /// What is known of a thread otherwise.
    pub(crate) fn thread(&mut self, thread: &incident::Thread) {
        self.ended.insert(thread.key, thread.state.clone());
    }

    /// The newest time.
    pub(crate) fn newest(&self) -> Nanos {
        self.threads.values().map(|s| s.last).max().unwrap_or_default()
    }

    /// Decodes all threads. `end` closes what is open of those that live; about `kept` slices are kept.
    pub(crate) fn decode(
        self,
        definitions: &Definitions,
        methods: &Methods,
        end: Nanos,
        kept: usize,
    ) -> Decoded {
        let processes = self.processes(definitions);
        let process_of = |key| process_of(definitions, key);
        // A process that has ended was alive at least up to its last event.
        let mut last: BTreeMap<Option<ProcessId>, Nanos> = BTreeMap::new();
        for (key, stream) in &self.threads {
            let last = last.entry(process_of(*key)).or_default();
            *last = stream.last.max(*last);
        }
        let all: usize = self.threads.values().map(|s| s.events.len()).sum();
        let (mut threads, mut late_ends) = (Vec::with_capacity(self.threads.len()), 0);
        for (key, mut stream) in self.threads {
            // Stable: events of the same time stay in the order in which the ring has them.
            stream.events.sort_by_key(|e| e.time);
            stream.events.iter_mut().for_each(|e| e.method = methods.of_type(e.event_type));
            let ended = self.ended.get(&key).is_some_and(|state| state == incident::ENDED);
            let until = if ended { last[&process_of(key)] } else { end };
            let share = (stream.events.len() as u128 * kept as u128 / all.max(1) as u128) as usize;
            let most = share.max(KEPT_A_THREAD.min(kept)).max(64);
            let decoded = spans(&stream.events, stream.fields, until, most);
            late_ends += decoded.late_ends;
            let process = process_of(key).and_then(|id| processes.iter().position(|p| p.id == id));
            threads.push(track(key, decoded, process, definitions));
        }
        let losses = vec![
            ("ends of spans that came after the end of the span around them", late_ends),
            ("field values that were too many to keep", self.left_out),
        ];
        Decoded { threads, processes, losses }
    }

    /// The processes of which there are events, in the order in which they were defined.
    fn processes(&self, definitions: &Definitions) -> Vec<Process> {
        let mut ids: Vec<_> = self.threads.keys().filter_map(|&key| process_of(definitions, key)).collect();
        ids.sort_unstable();
        ids.dedup();
        let found = ids.into_iter().filter_map(|id| {
            let p = definitions.process(id)?;
            let name = definitions.name(p.name).unwrap_or_default().to_owned();
            Some(Process { id, pid: p.pid, name, start: p.start })
        });
        found.collect()
    }
}

fn process_of(definitions: &Definitions, key: ThreadKey) -> Option<ProcessId> {
    Some(definitions.thread(key)?.process)
}

fn track(key: ThreadKey, spans: Spans, process: Option<usize>, definitions: &Definitions) -> ThreadTrack {
    let thread = definitions.thread(key);
    let undefined = (key.0 & UNDEFINED_THREAD != 0).then_some(key.0 & !UNDEFINED_THREAD);
    let os_tid = thread.map(|t| t.os_tid).or(undefined).unwrap_or(0);
    let name = thread.and_then(|t| definitions.name(t.name)).filter(|name| !name.is_empty());
    ThreadTrack {
        key,
        name: name.map_or_else(|| format!("thread {os_tid}"), str::to_owned),
        os_tid,
        process,
        slices: spans.slices,
        details: spans.details,
        folded: spans.folded,
        folded_below: spans.folded_below,
        ..ThreadTrack::default()
    }
}
