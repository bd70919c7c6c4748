//! How much of the latest past each tracer keeps: real schedules written into this ring and into models of others, all
//! with the same memory (paper, section 5; figures 1 and 10, table 2).
//!
//! The constraint: retention is a matter of order, not of time. So events are written one after the other in the order
//! of the trace, each on the core that its trace names, and nothing depends on this machine. Latency is measured by
//! the bench `ring`, on real cores.
//!
//! Prints, for each trace and tracer, `result replay.TRACE.TRACER.latest X %` (bytes of the newest run of events
//! without a hole, of the memory), `.loss` (bytes missing between the oldest and the newest event kept, of all bytes
//! between them) and `.fragments` (runs without a hole).

mod peers;
mod ring;
mod trace;

use std::path::Path;
use trace::{Event, Trace};

/// The paper's memory and block.
const MEMORY: usize = 12 << 20;
const BLOCK: usize = 4096;
/// How many times the memory is filled before it is looked at.
const FILLS: usize = 4;

/// Something that keeps the newest events in [`MEMORY`] bytes.
trait Tracer {
    /// Writes event number `number`.
    fn write(&mut self, event: &Event, number: u64);
    /// The numbers of the events kept, in any order.
    fn kept(&mut self) -> Vec<u64>;
}

/// What is kept of a trace.
struct Retention {
    latest: f64,
    loss: f64,
    fragments: usize,
}

/// `kept` are numbers of events, whose sizes `size` tells.
fn retention(mut kept: Vec<u64>, size: impl Fn(u64) -> usize) -> Retention {
    kept.sort_unstable();
    let bytes = |range: &[u64]| range.iter().map(|&n| size(n)).sum::<usize>();
    let holes: Vec<usize> = (1..kept.len()).filter(|&i| kept[i] != kept[i - 1] + 1).collect();
    let newest = holes.last().copied().unwrap_or(0);
    let (Some(&first), Some(&last)) = (kept.first(), kept.last()) else {
        return Retention { latest: 0.0, loss: 1.0, fragments: 0 };
    };
    let spanned: usize = (first..=last).map(&size).sum();
    Retention {
        latest: bytes(&kept[newest..]) as f64 / MEMORY as f64,
        loss: 1.0 - bytes(&kept) as f64 / spanned as f64,
        fragments: holes.len() + 1,
    }
}

/// Writes the trace again and again, until the memory has been filled often enough, and looks at what is left.
fn replay(trace: &Trace, tracer: &mut dyn Tracer) -> Retention {
    let turns = (FILLS * MEMORY).div_ceil(trace.bytes());
    let count = (turns * trace.events.len()) as u64;
    let event = |number: u64| &trace.events[number as usize % trace.events.len()];
    for number in 0..count {
        tracer.write(event(number), number);
    }
    let kept = tracer.kept();
    assert!(kept.iter().all(|&n| n < count), "{}: an event that was never written", trace.name);
    retention(kept, |number| event(number).size())
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/traces");
    for trace in trace::all(&folder) {
        println!(
            "# {}: {} events, {} bytes, {} cores, {} threads",
            trace.name,
            trace.events.len(),
            trace.bytes(),
            trace.cores,
            trace.threads
        );
        let mut tracers: Vec<(String, Box<dyn Tracer>)> = Vec::new();
        for factor in [1, 2, 4, 8, 16, 32, 64] {
            if let Some(ring) = ring::BTrace::new(trace.cores, factor) {
                tracers.push((format!("lookback-{factor}x"), Box::new(ring)));
            }
        }
        tracers.extend(peers::all(&trace));
        for (name, mut tracer) in tracers {
            let r = replay(&trace, tracer.as_mut());
            let name = format!("replay.{}.{name}", trace.name);
            println!("result {name}.latest {:.1} %", r.latest * 100.0);
            println!("result {name}.loss {:.4} ratio", r.loss);
            println!("result {name}.fragments {} runs", r.fragments);
        }
    }
}
