//! The traces that are replayed; `bench/traces/README.md` tells where they come from.

use flate2::read::GzDecoder;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// An event's header in all tracers: they are compared by what they keep, not by how they pack.
pub(crate) const HEADER: usize = 8;
/// The least payload: the event's number, by which it is found again.
pub(crate) const LEAST: usize = 8;

/// One event of a trace.
pub(crate) struct Event {
    pub(crate) core: usize,
    /// Threads counted from 0.
    pub(crate) thread: usize,
    /// Bytes of its payload.
    pub(crate) length: usize,
}

impl Event {
    /// Bytes it takes, header included.
    pub(crate) fn size(&self) -> usize {
        HEADER + self.length.next_multiple_of(8)
    }
}

/// A trace in the order of its time stamps.
pub(crate) struct Trace {
    pub(crate) name: String,
    pub(crate) events: Vec<Event>,
    pub(crate) cores: usize,
    pub(crate) threads: usize,
}

impl Trace {
    /// Bytes that all its events take.
    pub(crate) fn bytes(&self) -> usize {
        self.events.iter().map(Event::size).sum()
    }

    /// Event number `number` of the trace, replayed again and again.
    pub(crate) fn event(&self, number: u64) -> &Event {
        &self.events[number as usize % self.events.len()]
    }

    /// How many events are written into `memory` bytes: the whole trace, as often as fills them
    /// [`crate::FILLS`] times.
    pub(crate) fn count(&self, memory: usize) -> u64 {
        ((crate::FILLS * memory).div_ceil(self.bytes()) * self.events.len()) as u64
    }

    fn read(path: &Path) -> Trace {
        let file = File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut threads = HashMap::new();
        let mut events = Vec::new();
        for line in BufReader::new(GzDecoder::new(file)).lines().skip(1) {
            let line = line.expect("a readable trace");
            let fields: Vec<i64> = line.split(',').map(|f| f.parse().expect("a number")).collect();
            let &[_, core, thread, length] = fields.as_slice() else { panic!("{line}: not four fields") };
            let next = threads.len();
            events.push(Event {
                core: usize::try_from(core).expect("a processor"),
                thread: *threads.entry(thread).or_insert(next),
                length: usize::try_from(length).expect("a length").max(LEAST),
            });
        }
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
        let cores = events.iter().map(|e| e.core + 1).max().unwrap_or(1);
        Trace { name: name.replace(".csv.gz", ""), events, cores, threads: threads.len() }
    }
}

/// All traces of a folder, by name.
pub(crate) fn all(folder: &Path) -> Vec<Trace> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.to_string_lossy().ends_with(".csv.gz"));
    paths.sort();
    paths.iter().map(|p| Trace::read(p)).collect()
}
