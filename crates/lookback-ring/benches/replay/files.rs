//! Traces for, and results of, tracers that are programs of their own (`bench/peers`).
//!
//! The constraint: what they keep is judged by the same code as everything else. Both kinds of file are little-endian
//! without header, but for the first word of a result.
//!
//! - `TRACE.events`: for each event its core and the length of its payload (16 bits each) and its thread (32 bits).
//! - `TRACE.TRACER.kept`: bytes of memory that the tracer had (64 bits), then the number of each event that came back
//!   (64 bits each). A tracer writes the whole trace as often as fills its memory [`crate::FILLS`] times.

use crate::trace::Trace;
use std::collections::HashSet;
use std::path::Path;

pub(crate) fn export(trace: &Trace, folder: &Path) {
    let record = |core: usize, length: usize, thread: usize| {
        (core as u64 | (length as u64) << 16 | (thread as u64) << 32).to_le_bytes()
    };
    let bytes: Vec<u8> = trace.events.iter().flat_map(|e| record(e.core, e.length, e.thread)).collect();
    let path = folder.join(format!("{}.events", trace.name));
    std::fs::write(&path, bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

pub(crate) fn judge(traces: &[Trace], folder: &Path) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for trace in traces {
        for path in &paths {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            let Some(tracer) = name.strip_prefix(&trace.name).and_then(|n| n.strip_suffix(".kept")) else {
                continue;
            };
            let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let word = |word: &[u8]| u64::from_le_bytes(word.try_into().expect("eight bytes"));
            let mut words = bytes.chunks_exact(8).map(word);
            let memory = words.next().expect("the memory's size") as usize;
            let kept: Vec<u64> = words.collect();
            let name = format!("replay.{}{tracer}", trace.name);
            crate::judge(trace, &name, memory, trace.count(memory), &HashSet::new(), kept);
            println!("# replay.{}{tracer}: {memory} bytes of memory", trace.name);
        }
    }
}
