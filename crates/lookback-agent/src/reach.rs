//! How far back each thread's records reach, and how many there are.
//!
//! The constraint that shaped it: the ring is shared, so a thread that records little reaches back as far as the busiest
//! lets it, and only the ring itself knows. So it is read through, when somebody asks, and only the heads of its chunks.

use crate::agent::Agent;
use crate::clock;
use lookback_format::control::ThreadStatus;
use lookback_format::event::{Chunk, Event, kind};
use lookback_format::region::{slab, text_at};
use lookback_format::slot::{Record, Records};
use lookback_format::{Nanos, Seq, ThreadKey};
use lookback_ring::Position;
use rustc_hash::FxHashMap;
use std::sync::atomic::Ordering;

/// So many blocks stand for what was written last.
const NEWEST: u64 = 16;
/// So many threads are told of.
const MOST: usize = 1_000;

/// The threads that are traced; first those that are not whole, the shortest reach first.
pub(crate) fn by_thread(agent: &Agent) -> Vec<ThreadStatus> {
    let now = clock::now();
    let oldest = oldest(agent);
    let _live = agent.live.lock().unwrap_or_else(|e| e.into_inner());
    let taken = (0..agent.slabs.high()).filter(|&i| agent.slabs.is_taken(i));
    let mut threads: Vec<ThreadStatus> = taken
        .map(|i| {
            let (region, at) = (&agent.region, agent.region.slab_at(i));
            // Relaxed: figures to show; the thread writes the first two when it empties its slab.
            let seq = region.u32(at + slab::SEQ).load(Ordering::Relaxed);
            let first = region.u64(at + slab::FIRST).load(Ordering::Relaxed);
            let java_tid = region.u64(at + slab::JAVA_TID).load(Ordering::Relaxed);
            let key = agent.slabs.key(region, i);
            let (seq, since) = oldest.get(&key).copied().unwrap_or((Seq(seq), Nanos(first)));
            // Who writes it holds the lock as well: who takes the slab, and the sweep.
            let name = region.bytes(at + slab::NAME, slab::NAME_BYTES + 2);
            ThreadStatus {
                name: text_at(name, 0, slab::NAME_BYTES).unwrap_or_default(),
                java_tid,
                reach_seconds: now.since(since).0 as f64 / 1e9,
                whole: seq == Seq(0),
                braked: agent.brake.is_braked(i),
            }
        })
        .collect();
    threads.sort_by(|a, b| a.whole.cmp(&b.whole).then(a.reach_seconds.total_cmp(&b.reach_seconds)));
    threads.truncate(MOST);
    threads
}

/// Entries and exits for each byte of the ring, in what was written last.
pub(crate) fn records_per_byte(agent: &Agent) -> f64 {
    let (mut records, mut bytes) = (0, 0);
    let from = Position(agent.ring_end().saturating_sub(NEWEST));
    agent.region.ring.snapshot(from, &mut |block| {
        bytes += agent.region.ring.geometry().block_size as usize;
        for entry in block.entries() {
            if let Ok(Event::Chunk(chunk)) = Event::decode(entry.kind, entry.payload) {
                let is_call = |r: &Record| matches!(r, Record::Entry(_) | Record::Exit(_));
                records += Records::new(&chunk.slots).filter(is_call).count();
            }
        }
    });
    records as f64 / bytes.max(1) as f64
}

/// The oldest chunk of each thread that the ring still holds: its place, and when it begins.
fn oldest(agent: &Agent) -> FxHashMap<ThreadKey, (Seq, Nanos)> {
    let mut oldest = FxHashMap::default();
    agent.region.ring.snapshot(Position(0), &mut |block| {
        for entry in block.entries().filter(|e| e.kind == kind::CHUNK) {
            if let Some((thread, seq, first)) = Chunk::peek(entry.payload) {
                let at = oldest.entry(thread).or_insert((seq, first));
                *at = (seq, first).min(*at);
            }
        }
    });
    oldest
}
