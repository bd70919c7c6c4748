//! How much of the latest past each tracer keeps: real schedules written into this ring and into models of others, all
//! with the same memory (paper, section 5; figures 1 and 10, table 2).
//!
//! The constraint: retention is a matter of order, not of time. So events are written one after the other in the order
//! of the trace, each on the core that its trace names, by one thread, and nothing depends on this machine. A writer
//! that is preempted in the middle of an event is one that has taken its space and confirms it at a later event
//! (`stalls.rs`). Latency is measured by the bench `ring`, on real cores.
//!
//! Prints, for each trace and tracer, `result replay.TRACE.TRACER.latest X %` (bytes of the newest run of events
//! without a hole, of the memory), `.loss` (bytes missing between the oldest and the newest event kept, of all bytes
//! between them) and `.fragments` (runs without a hole). Tracers `lookback-...-all` are read from the ring's start, the
//! others of the ring from its last N positions. Without stalls, a line `coverage` has the percentage kept of each
//! hundredth of the last events that would fill the memory, oldest first (figure 1).
//!
//! With stalls the tracer's name is followed by `.stallsX`, X the percentage of events that stall; these figures are
//! read when all writers have come back, as in the paper. `.live` is the latest fragment in the middle of the trace, while
//! some are away: what is being written then is not a hole. `.salvaged` reads blocks with such events too, but nothing
//! behind an event whose length is not written yet. For the ring with A = 16 x cores, `.latest.least` and
//! `.latest.median` are over eight places where the trace can end.
//!
//! Arguments: `--smoke` (one trace, few tracers), `--export DIR` (writes the traces for tracers that are programs of
//! their own, `bench/peers`, and does nothing else), `--judge DIR` (judges what these say they kept), `--seed N` (which
//! events stall, default 1), `--only NAME` (a part of the traces' names).

mod files;
mod peers;
mod ring;
mod stalls;
mod synthetic;
mod trace;

use ring::{BTrace, From};
use stalls::Stalls;
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use trace::{Event, Trace};

/// The paper's memory and block.
const MEMORY: usize = 12 << 20;
const BLOCK: usize = 4096;
/// How many times the memory is filled before it is looked at.
const FILLS: usize = 4;
/// Places where a trace can end.
const ENDS: u64 = 8;
/// Parts of the memory that `coverage` tells apart.
const PARTS: usize = 100;
/// Shares of events that stall: none, what a phone's schedule makes likely (a tenth of its slices end involuntarily,
/// and an event takes a ten-thousandth of a slice), and two that it does not.
const SHARES: [f64; 4] = [0.0, 0.0001, 0.001, 0.01];

/// Something that keeps the newest events in [`MEMORY`] bytes.
trait Tracer {
    /// Writes event number `number`.
    fn write(&mut self, event: &Event, number: u64);
    /// Takes space for event number `number` and no more; `false` if the tracer does not let a writer stop there,
    /// or has no space: then there is nothing to finish.
    fn begin(&mut self, event: &Event, number: u64) -> bool;
    /// Writes what was begun.
    fn finish(&mut self, number: u64);
    /// The numbers of the events that a reader would get now, in any order.
    fn kept(&mut self) -> Vec<u64>;
    /// The same, also from blocks with unfinished events, if the tracer can read these.
    fn salvaged(&mut self) -> Option<Vec<u64>> {
        None
    }
    /// What else happened, for the raw data.
    fn notes(&self) -> String;
}

/// What is kept of a trace.
struct Retention {
    latest: f64,
    loss: f64,
    fragments: usize,
    /// Percent kept of each part of the newest events, oldest first.
    coverage: [f64; PARTS],
}

/// `kept` are numbers of events below `count`, whose sizes `size` tells; those `away` are being written.
fn retention(
    mut kept: Vec<u64>,
    away: &HashSet<u64>,
    count: u64,
    memory: usize,
    size: impl Fn(u64) -> usize,
) -> Retention {
    kept.sort_unstable();
    let hole = |from: u64, to: u64| (from..to).any(|n| !away.contains(&n));
    let mut holes: Vec<usize> = (1..kept.len()).filter(|&i| hole(kept[i - 1] + 1, kept[i])).collect();
    let (Some(&first), Some(&last)) = (kept.first(), kept.last()) else {
        return Retention { latest: 0.0, loss: 1.0, fragments: 0, coverage: [0.0; PARTS] };
    };
    let fragments = holes.len() + 1;
    // The newest event of all may be the one that is missing.
    if hole(last + 1, count) {
        holes.push(kept.len());
    }
    let bytes = |range: &[u64]| range.iter().map(|&n| size(n)).sum::<usize>() as f64;
    let newest = holes.last().copied().unwrap_or(0);
    let spanned: usize = (first..=last).filter(|n| !away.contains(n)).map(&size).sum();
    Retention {
        latest: bytes(&kept[newest..]) / memory as f64,
        loss: 1.0 - bytes(&kept) / spanned as f64,
        fragments,
        coverage: coverage(&kept, count, memory, size),
    }
}

fn coverage(kept: &[u64], count: u64, memory: usize, size: impl Fn(u64) -> usize) -> [f64; PARTS] {
    let (mut written, mut found) = ([0.0; PARTS], [0.0; PARTS]);
    let (mut left, mut kept) = (memory, kept.iter().rev().peekable());
    for number in (0..count).rev() {
        let bytes = size(number);
        let Some(rest) = left.checked_sub(bytes) else { break };
        let part = rest * PARTS / memory;
        written[part] += bytes as f64;
        if kept.next_if_eq(&&number).is_some() {
            found[part] += bytes as f64;
        }
        left = rest;
    }
    std::array::from_fn(|i| if written[i] > 0.0 { 100.0 * found[i] / written[i] } else { 0.0 })
}

fn print(name: &str, r: &Retention) {
    println!("result {name}.latest {:.1} %", r.latest * 100.0);
    if name.ends_with(".live") || name.ends_with(".salvaged") {
        return;
    }
    println!("result {name}.loss {:.4} ratio", r.loss);
    println!("result {name}.fragments {} runs", r.fragments);
    // What the figure shows.
    if !name.contains(".stalls") {
        let parts: Vec<String> = r.coverage.iter().map(|percent| format!("{percent:.0}")).collect();
        println!("coverage {name} {}", parts.join(" "));
    }
}

/// Writes the trace again and again, until the memory has been filled often enough, and looks at what is left.
fn replay(trace: &Trace, name: &str, tracer: &mut dyn Tracer, mut stalls: Stalls<'_>) {
    let count = trace.count(MEMORY);
    // Where the trace ends all its writers have come back; in its middle they have not.
    let middle = count - trace.events.len() as u64 / 2;
    write(trace, tracer, &mut stalls, 0..middle);
    if stalls.any() {
        let away = stalls.who();
        judge(trace, &format!("{name}.live"), MEMORY, middle, &away, tracer.kept());
        if let Some(kept) = tracer.salvaged() {
            judge(trace, &format!("{name}.salvaged"), MEMORY, middle, &away, kept);
        }
        println!("# {name}: {} away in the middle", away.len());
    }
    write(trace, tracer, &mut stalls, middle..count);
    let away = come_back(tracer, &stalls);
    judge(trace, name, MEMORY, count, &HashSet::new(), tracer.kept());
    println!("# {name}: {} stalls, {away} away at the end{}", stalls.count(), tracer.notes());
}

/// Writes these events, the writers stalling and coming back.
fn write(trace: &Trace, tracer: &mut dyn Tracer, stalls: &mut Stalls<'_>, numbers: Range<u64>) {
    for number in numbers {
        let event = trace.event(number);
        for back in stalls.back(number) {
            tracer.finish(back);
        }
        if !stalls.stalls(number) {
            tracer.write(event, number);
        } else if tracer.begin(event, number) {
            stalls.away(number);
        }
    }
}

/// All writers that are away finish, in the order of their events, so that every run is the same. How many they were.
fn come_back(tracer: &mut dyn Tracer, stalls: &Stalls<'_>) -> usize {
    let mut away = Vec::from_iter(stalls.who());
    away.sort_unstable();
    away.iter().for_each(|&number| tracer.finish(number));
    away.len()
}

/// The same for a trace that ends earlier, at [`ENDS`] places. Where one happens to stop decides whether a block that a
/// slow core has just lost was old; so one reading can be some points better than another, whatever the tracer does.
fn replay_ends(trace: &Trace, name: &str, share: f64, seed: u64) {
    let mut latest: Vec<f64> = (0..ENDS)
        .filter_map(|end| {
            let count = trace.count(MEMORY) - end * trace.events.len() as u64 / ENDS;
            let mut ring = BTrace::new(trace.cores, 16, From::LastBlocks)?;
            let mut stalls = Stalls::new(trace, share, seed);
            write(trace, &mut ring, &mut stalls, 0..count);
            come_back(&mut ring, &stalls);
            let size = |number| trace.event(number).size();
            Some(retention(ring.kept(), &HashSet::new(), count, MEMORY, size).latest * 100.0)
        })
        .collect();
    latest.sort_by(f64::total_cmp);
    println!("result {name}.latest.least {:.1} %", latest[0]);
    println!("result {name}.latest.median {:.1} %", latest[latest.len() / 2]);
}

/// Prints what was kept of the trace's first `count` events.
fn judge(trace: &Trace, name: &str, memory: usize, count: u64, away: &HashSet<u64>, kept: Vec<u64>) {
    assert!(kept.iter().all(|&n| n < count), "{name}: an event that was never written");
    print(name, &retention(kept, away, count, memory, |number| trace.event(number).size()));
}

/// Every tracer, made anew for each replay.
fn tracers(trace: &Trace, smoke: bool) -> Vec<(String, Box<dyn Tracer>)> {
    let mut tracers: Vec<(String, Box<dyn Tracer>)> = Vec::new();
    let factors = [1, 2, 4, 8, 16, 32, 64].map(|factor| (factor, From::LastBlocks));
    for (factor, from) in factors.into_iter().chain([(16, From::Start)]) {
        if let Some(ring) = BTrace::new(trace.cores, factor, from).filter(|_| !smoke || factor == 16) {
            let all = if from == From::Start { "-all" } else { "" };
            tracers.push((format!("lookback-{factor}x{all}"), Box::new(ring)));
        }
    }
    tracers.extend(peers::all(trace).into_iter().take(if smoke { 2 } else { usize::MAX }));
    tracers
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let smoke = arguments.iter().any(|argument| argument == "--smoke");
    let value = |option: &str| {
        let at = arguments.iter().position(|argument| argument == option)?;
        Some(arguments.get(at + 1).expect("a value after the option"))
    };
    let seed = value("--seed").map_or(1, |seed| seed.parse().expect("a number after --seed"));
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/traces");
    let mut traces = trace::all(&recorded);
    traces.extend(synthetic::all(if smoke { 1 } else { 30 }));
    let only = if smoke { Some("perfetto") } else { value("--only").map(String::as_str) };
    traces.retain(|trace| trace.name.contains(only.unwrap_or_default()));
    if let Some(folder) = value("--export").map(Path::new) {
        return traces.iter().for_each(|trace| files::export(trace, folder));
    }
    if let Some(folder) = value("--judge").map(Path::new) {
        return files::judge(&traces, folder);
    }
    for trace in traces {
        let (events, bytes) = (trace.events.len(), trace.bytes());
        let (cores, threads) = (trace.cores, trace.threads);
        println!("# {}: {events} events, {bytes} bytes, {cores} cores, {threads} threads", trace.name);
        for share in SHARES.into_iter().filter(|&share| !smoke || share == 0.0 || share == 0.01) {
            for (name, mut tracer) in tracers(&trace, smoke) {
                let stalls = if share > 0.0 { format!(".stalls{}", share * 100.0) } else { String::new() };
                let name = format!("replay.{}.{name}{stalls}", trace.name);
                replay(&trace, &name, tracer.as_mut(), Stalls::new(&trace, share, seed));
                if name.ends_with(&format!("lookback-16x{stalls}")) {
                    replay_ends(&trace, &name, share, seed);
                }
            }
        }
    }
}
