//! The threads that were traced when the program died, each with what it had not handed to the ring yet.
//!
//! The constraint that shaped it: nobody can be asked for a stack any more, so what a thread was in comes
//! from its last records and its watched calls.

use super::death::slabs;
use lookback_format::event::Chunk;
use lookback_format::incident::Thread;
use lookback_format::region::{Header, read_slab};
use lookback_format::slot::{Record, Records};
use lookback_format::symbol::Class;
use lookback_format::{MethodId, Nanos};
use std::collections::HashMap;

/// A thread that was traced at the end.
#[derive(Debug)]
pub(crate) struct FoundThread {
    /// Its name.
    pub(crate) name: String,
    /// The operating system's id.
    pub(crate) os_tid: u32,
    java_tid: u64,
    /// What was not in the ring yet.
    pub(crate) chunk: Chunk,
    /// Watched calls that ran, outermost first: the method's name and since when.
    pub(crate) watched: Vec<(String, Nanos)>,
    /// The method that its last record speaks of, and whether it had just been entered.
    pub(crate) last: Option<(String, bool)>,
}

impl FoundThread {
    /// As it stands in an incident.
    pub(crate) fn to_incident(&self) -> Thread {
        Thread {
            key: self.chunk.thread,
            name: self.name.clone(),
            os_tid: self.os_tid,
            java_tid: self.java_tid,
            ..Thread::default()
        }
    }
}

/// Reads all slabs that belong to a thread. `death` closes their chunks.
pub(crate) fn read(region: &[u8], header: &Header, death: Nanos, symbols: &[Class]) -> Vec<FoundThread> {
    let names: HashMap<MethodId, String> = symbols
        .iter()
        .flat_map(|c| c.methods.iter().map(move |m| (m.id, format!("{}.{}", c.class, m.name))))
        .collect();
    let name = |id: MethodId| names.get(&id).cloned().unwrap_or_else(|| format!("method {}", id.0));
    let copies = slabs(region, header).filter_map(|bytes| read_slab(bytes, death));
    copies
        .map(|mut copy| {
            // A damaged slab may begin "after" the end; its span must not run backwards.
            copy.chunk.first = copy.chunk.first.min(death);
            let last = Records::new(&copy.chunk.slots).filter_map(|r| match r {
                Record::Entry(id) => Some((id, true)),
                Record::Exit(id) => Some((id, false)),
                _ => None,
            });
            FoundThread {
                last: last.last().map(|(id, entered)| (name(id), entered)),
                watched: copy.watched.iter().map(|&(m, _, at)| (name(MethodId(m)), at)).collect(),
                name: copy.name,
                os_tid: copy.os_tid,
                java_tid: copy.java_tid,
                chunk: copy.chunk,
            }
        })
        .collect()
}
