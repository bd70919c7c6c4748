//! Models of how others divide their memory: one buffer, one a core, one a thread; each a ring of blocks in which the
//! newest block replaces the oldest.
//!
//! The constraint: they are models of the division alone, in their favour (no metadata, no stall, no loss while a block
//! is switched), so what they keep is what the design can keep at best.

use crate::trace::{Event, Trace};
use crate::{BLOCK, MEMORY, Tracer};
use std::collections::VecDeque;

/// Which buffer an event goes to.
type Key = fn(&Event) -> usize;

struct Divided {
    key: Key,
    buffers: Vec<Blocks>,
}

/// A ring of blocks.
struct Blocks {
    block: usize,
    most: usize,
    /// Bytes used of the newest block.
    used: usize,
    blocks: VecDeque<Vec<u64>>,
}

impl Divided {
    /// `MEMORY` in `parts` buffers, each of blocks of about `block` bytes, at least two.
    fn new(parts: usize, block: usize, key: Key) -> Divided {
        let bytes = MEMORY / parts;
        let block = block.min(bytes / 2);
        let buffer = || Blocks { block, most: bytes / block, used: block, blocks: VecDeque::new() };
        Divided { key, buffers: (0..parts).map(|_| buffer()).collect() }
    }
}

impl Tracer for Divided {
    fn write(&mut self, event: &Event, number: u64) {
        let b = &mut self.buffers[(self.key)(event)];
        if b.used + event.size() > b.block {
            if b.blocks.len() == b.most {
                b.blocks.pop_front();
            }
            b.blocks.push_back(Vec::new());
            b.used = 0;
        }
        b.used += event.size();
        b.blocks.back_mut().expect("a block was begun").push(number);
    }

    fn kept(&mut self) -> Vec<u64> {
        self.buffers.iter().flat_map(|b| b.blocks.iter().flatten().copied()).collect()
    }
}

/// All of them for a trace.
pub(crate) fn all(trace: &Trace) -> Vec<(String, Box<dyn Tracer>)> {
    let (cores, threads) = (trace.cores, trace.threads);
    let divided: [(&str, Divided); 4] = [
        // BBQ: one buffer, to which all cores contend.
        ("model-global", Divided::new(1, BLOCK, |_| 0)),
        // ftrace: pages for each core.
        ("model-core-pages", Divided::new(cores, BLOCK, |e| e.core)),
        // LTTng-UST: sixteen sub-buffers for each core.
        ("model-core-16", Divided::new(cores, MEMORY / cores / 16, |e| e.core)),
        // VampirTrace: a buffer for each thread.
        ("model-thread", Divided::new(threads, BLOCK, |e| e.thread)),
    ];
    divided.into_iter().map(|(name, d)| (name.to_owned(), Box::new(d) as Box<dyn Tracer>)).collect()
}
