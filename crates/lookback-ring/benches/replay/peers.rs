//! Models of how others divide their memory: one buffer, one a core, one a thread; each a ring of blocks in which the
//! newest block replaces the oldest.
//!
//! The constraint: they are models of the division and of what a writer that is away holds up, in their favour (no
//! metadata, no loss while a block is switched), so what they keep is what the design can keep at best. The real
//! programs are in `bench/peers`.

use crate::trace::{Event, Trace};
use crate::{BLOCK, MEMORY, Tracer};
use std::collections::{HashMap, VecDeque};

/// Which buffer an event goes to.
type Key = fn(&Event) -> usize;

/// What the oldest block's turn to be replaced does when somebody in it has not finished.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// It cannot be: writers are not preempted (ftrace), or have a buffer of their own (a buffer for each thread).
    Never,
    /// The newest event is dropped (LTTng).
    DropsNewest,
    /// The writer waits until the one before has come back (BBQ). One thread cannot replay waiting, so it counts
    /// the event and goes on as if the other had finished.
    Waits,
}

struct Divided {
    key: Key,
    held: Held,
    buffers: Vec<Blocks>,
    /// By the event's number: the buffer, and the block counted from the buffer's first.
    begun: HashMap<u64, (usize, u64)>,
    dropped: u64,
    waits: u64,
}

/// A ring of blocks.
struct Blocks {
    block: usize,
    most: usize,
    /// Bytes used of the newest block.
    used: usize,
    blocks: VecDeque<Block>,
    /// Blocks replaced so far.
    replaced: u64,
}

#[derive(Default)]
struct Block {
    events: Vec<u64>,
    /// Writers that have not finished.
    unfinished: usize,
}

impl Divided {
    /// `MEMORY` in `parts` buffers, each of blocks of about `block` bytes, at least two.
    fn new(parts: usize, block: usize, held: Held, key: Key) -> Divided {
        let bytes = MEMORY / parts;
        let block = block.min(bytes / 2);
        let buffer =
            || Blocks { block, most: bytes / block, used: block, blocks: VecDeque::new(), replaced: 0 };
        let buffers = (0..parts).map(|_| buffer()).collect();
        Divided { key, held, buffers, begun: HashMap::new(), dropped: 0, waits: 0 }
    }

    /// The newest block of the event's buffer, with room for the event, and its buffer; `None` if it is dropped.
    fn room(&mut self, event: &Event) -> Option<(usize, &mut Blocks)> {
        let index = (self.key)(event);
        let b = &mut self.buffers[index];
        // An event that is larger than a block takes one of its own, in the design's favour.
        if b.used + event.size() > b.block {
            if b.blocks.len() == b.most {
                let held = b.blocks.front().is_some_and(|oldest| oldest.unfinished > 0);
                if held && self.held == Held::DropsNewest {
                    self.dropped += 1;
                    return None;
                }
                self.waits += u64::from(held);
                b.blocks.pop_front();
                b.replaced += 1;
            }
            b.blocks.push_back(Block::default());
            b.used = 0;
        }
        b.used += event.size();
        Some((index, b))
    }
}

impl Tracer for Divided {
    fn write(&mut self, event: &Event, number: u64) {
        if let Some((_, b)) = self.room(event) {
            b.blocks.back_mut().expect("a block was begun").events.push(number);
        }
    }

    fn begin(&mut self, event: &Event, number: u64) -> bool {
        if self.held == Held::Never {
            self.write(event, number);
            return false;
        }
        let Some((index, b)) = self.room(event) else { return false };
        b.blocks.back_mut().expect("a block was begun").unfinished += 1;
        let block = b.replaced + b.blocks.len() as u64 - 1;
        self.begun.insert(number, (index, block));
        true
    }

    fn finish(&mut self, number: u64) {
        let (index, block) = self.begun.remove(&number).expect("an event that was begun");
        let b = &mut self.buffers[index];
        // Replaced if somebody waited for it: it had come back then.
        if let Some(block) = block.checked_sub(b.replaced).and_then(|at| b.blocks.get_mut(at as usize)) {
            block.unfinished -= 1;
            block.events.push(number);
        }
    }

    fn kept(&mut self) -> Vec<u64> {
        // A block with an unfinished event cannot be read in any of them.
        let blocks = self.buffers.iter().flat_map(|b| &b.blocks).filter(|block| block.unfinished == 0);
        blocks.flat_map(|block| &block.events).copied().collect()
    }

    fn notes(&self) -> String {
        format!(", {} dropped, {} waited", self.dropped, self.waits)
    }
}

/// All of them for a trace.
pub(crate) fn all(trace: &Trace) -> Vec<(String, Box<dyn Tracer>)> {
    let (cores, threads) = (trace.cores, trace.threads);
    let divided: [(&str, Divided); 4] = [
        // BBQ: one buffer, to which all cores contend.
        ("model-global", Divided::new(1, BLOCK, Held::Waits, |_| 0)),
        // ftrace: pages for each core, preemption disabled.
        ("model-core-pages", Divided::new(cores, BLOCK, Held::Never, |e| e.core)),
        // LTTng-UST: sixteen sub-buffers for each core.
        ("model-core-16", Divided::new(cores, MEMORY / cores / 16, Held::DropsNewest, |e| e.core)),
        // VampirTrace: a buffer for each thread.
        ("model-thread", Divided::new(threads, BLOCK, Held::Never, |e| e.thread)),
    ];
    divided.into_iter().map(|(name, d)| (name.to_owned(), Box::new(d) as Box<dyn Tracer>)).collect()
}
