//! A thread's recorder as the agent has it, without a JVM: calls in, chunks of slots out.
//!
//! The constraint that shaped it: the decoder's tests need the truth beside the records, so the recorder keeps
//! every call with its exact times, and everything follows from what the test does or from a seed.
#![allow(dead_code, reason = "each test target uses a part of it")]

pub(crate) mod convoy;

use lookback_analysis::Recording;
use lookback_format::event::{Chunk, Event};
use lookback_format::incident::{Manifest, Thread, Trigger, VERSION};
use lookback_format::slot::{GapCause, entry, exit, gap, mount, ready, tick, time};
use lookback_format::symbol::{Class, Method, Role, Wait};
use lookback_format::{MethodId, Nanos, Seq, ThreadKey};
use std::collections::BTreeMap;

/// A millisecond and a microsecond in nanoseconds.
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const US: u64 = 1_000;
/// The clock at tick 0 of every test recording.
pub(crate) const EPOCH: u64 = 50_000 * MS;
pub(crate) const TICK: u64 = MS;
pub(crate) const LATE: u64 = 100 * US;

/// A call as it really was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) method: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) depth: u32,
}

/// One thread and its recorder.
pub(crate) struct Tracer {
    pub(crate) key: ThreadKey,
    pub(crate) now: u64,
    pub(crate) calls: Vec<Call>,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) timed: Vec<u32>,
    pub(crate) precise: Vec<u32>,
    open: Vec<usize>,
    slots: Vec<u32>,
    first: u64,
    seq: u32,
    slots_a_chunk: usize,
    ticked: u64,
    force: bool,
    braked: bool,
    held: bool,
    carries: Option<u64>,
}

/// A virtual thread: what it has called, while no carrier runs it.
#[derive(Default)]
pub(crate) struct Fibre {
    pub(crate) tid: u64,
    pub(crate) calls: Vec<Call>,
    open: Vec<usize>,
}

impl Fibre {
    pub(crate) fn new(tid: u64) -> Self {
        Fibre { tid, ..Fibre::default() }
    }

    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }
}

impl Tracer {
    pub(crate) fn new(key: u32, now: u64, slots_a_chunk: usize) -> Self {
        Tracer {
            key: ThreadKey(key),
            now,
            calls: Vec::new(),
            chunks: Vec::new(),
            timed: Vec::new(),
            precise: Vec::new(),
            open: Vec::new(),
            slots: Vec::new(),
            first: now,
            seq: 0,
            slots_a_chunk,
            ticked: 0,
            force: true,
            braked: false,
            held: false,
            carries: None,
        }
    }

    /// The carrier runs a virtual thread from now on, in a call of `run`: calls are the virtual thread's.
    pub(crate) fn mount(&mut self, run: u32, f: &mut Fibre) {
        if self.slots.len() + 16 > self.slots_a_chunk {
            self.flush();
        }
        self.stamp(true);
        self.slots.extend(mount(f.tid, false));
        self.timed_slot(entry(MethodId(run)));
        self.open.push(self.calls.len());
        self.calls.push(Call { method: run, start: self.now, end: self.now, depth: self.depth() as u32 - 1 });
        self.carries = Some(f.tid);
        self.swap(f);
    }

    /// Hands a virtual thread to its scheduler.
    pub(crate) fn submit(&mut self, f: &Fibre) {
        self.slots.extend(ready(f.tid, Nanos(self.now)));
    }

    pub(crate) fn unmount(&mut self, run: u32, f: &mut Fibre) {
        self.swap(f);
        self.carries = None;
        self.stamp(true);
        self.timed_slot(exit(MethodId(run)));
        let call = self.open.pop().expect("the virtual thread was mounted");
        self.calls[call].end = self.now;
        if self.slots.len() + 8 > self.slots_a_chunk {
            self.flush();
        }
    }

    fn swap(&mut self, f: &mut Fibre) {
        std::mem::swap(&mut self.calls, &mut f.calls);
        std::mem::swap(&mut self.open, &mut f.open);
    }

    fn timed_slot(&mut self, slot: u32) {
        self.slots.push(slot);
        if self.braked {
            self.slots.extend(gap(self.cause(), 0));
        }
    }

    fn cause(&self) -> GapCause {
        if self.held { GapCause::BrakeAll } else { GapCause::Brake }
    }

    /// Whether calls of a method are recorded now, with their exact times.
    fn is_exact(&self, method: u32) -> bool {
        self.timed.contains(&method) || self.precise.contains(&method) && !(self.braked && self.held)
    }

    fn tick_number(&self) -> u64 {
        (self.now - EPOCH) / TICK
    }

    fn stamp(&mut self, exact: bool) {
        if exact {
            self.slots.extend(time(Nanos(self.now)));
        } else {
            self.slots.push(tick(self.tick_number()));
        }
        self.ticked = self.tick_number();
        self.force = false;
    }

    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn enter(&mut self, method: u32) {
        if self.slots.len() + 8 > self.slots_a_chunk {
            self.flush();
        }
        if self.is_exact(method) {
            self.stamp(true);
        } else if (self.force || self.tick_number() != self.ticked) && !self.braked {
            // An entry may not call anything: it writes the coarse time.
            self.stamp(false);
        }
        self.slot(method, entry(MethodId(method)));
        let depth = self.open.len() as u32;
        self.open.push(self.calls.len());
        self.calls.push(Call { method, start: self.now, end: self.now, depth });
    }

    pub(crate) fn leave(&mut self) {
        let call = self.open.pop().expect("a call is open");
        let method = self.calls[call].method;
        if self.is_exact(method) || (self.force || self.tick_number() != self.ticked) && !self.braked {
            self.stamp(true);
        }
        self.slot(method, exit(MethodId(method)));
        self.calls[call].end = self.now;
        if self.slots.len() + 8 > self.slots_a_chunk {
            self.flush();
        }
    }

    /// A braked thread records timed methods only, and precise ones unless these are held back, each before a gap.
    fn slot(&mut self, method: u32, slot: u32) {
        if !self.braked {
            self.slots.push(slot);
        } else if self.is_exact(method) {
            self.slots.push(slot);
            self.slots.extend(gap(self.cause(), 0));
        }
    }

    /// The thread is braked, as it is when it has just begun a chunk.
    pub(crate) fn brake(&mut self) {
        let carries = self.carries.take();
        self.flush();
        self.pause();
        self.carries = carries;
        self.slots.extend(carries.into_iter().flat_map(|tid| mount(tid, true)));
    }

    /// The thread is braked because all are, wherever in its chunk it is, right after a slot that has its exact time.
    pub(crate) fn pause(&mut self) {
        self.slots.extend(gap(GapCause::Brake, 0));
        self.braked = true;
    }

    /// The braked thread has made too many precise records: this call is the last of them.
    pub(crate) fn hold(&mut self, precise: u32) {
        assert!(self.braked && self.precise.contains(&precise));
        self.enter(precise);
        self.held = true;
        self.stamp(true);
        self.slots.extend([exit(MethodId(precise))]);
        self.slots.extend(gap(GapCause::BrakeAll, 0));
        let call = self.open.pop().expect("it was entered");
        self.calls[call].end = self.now;
    }

    pub(crate) fn release(&mut self) {
        (self.braked, self.held) = (false, false);
        self.force = true;
    }

    /// The innermost call ends without an exit of its own.
    pub(crate) fn vanish(&mut self) {
        let call = self.open.pop().expect("a call is open");
        self.calls[call].end = self.now;
    }

    /// Slots as they come, for records that no real call makes.
    pub(crate) fn raw(&mut self, words: &[u32]) {
        self.slots.extend_from_slice(words);
    }

    pub(crate) fn call(&mut self, method: u32, nanos: u64) {
        self.enter(method);
        self.now += nanos;
        self.leave();
    }

    pub(crate) fn within(&mut self, method: u32, body: impl FnOnce(&mut Self)) {
        self.enter(method);
        body(self);
        self.leave();
    }

    pub(crate) fn flush(&mut self) {
        if self.slots.is_empty() {
            return;
        }
        self.chunks.push(Chunk {
            thread: self.key,
            seq: Seq(self.seq),
            first: Nanos(self.first),
            last: Nanos(self.now),
            lost: 0,
            slots: std::mem::take(&mut self.slots),
        });
        self.seq += 1;
        self.first = self.now;
        self.force = true;
        self.slots.extend(self.carries.into_iter().flat_map(|tid| mount(tid, true)));
    }

    /// Leaves all open calls and forgets what was called, for recordings larger than the truth can be.
    pub(crate) fn forget(&mut self) {
        while !self.open.is_empty() {
            self.leave();
        }
        self.calls.clear();
    }

    /// All chunks; the open calls stay open.
    pub(crate) fn finish(&mut self) -> Vec<Chunk> {
        self.flush();
        for &i in &self.open {
            self.calls[i].end = self.now;
        }
        self.chunks.clone()
    }
}

pub(crate) fn manifest(trigger: Trigger) -> Manifest {
    Manifest {
        version: VERSION,
        lookback: "0.1.0".into(),
        // 2026-03-14 09:26:53.589 UTC at tick 0.
        clock_pair: (Nanos(EPOCH), 1_773_480_413_589_000_000),
        pid: 4711,
        program: "com.acme.shop.Main".into(),
        jvm: "OpenJDK 17.0.14".into(),
        host: "shop-3".into(),
        tick: Nanos(TICK),
        tick_late: Nanos(LATE),
        dropped: Vec::new(),
        waiting_classes: 0,
        costs: None,
        sampling: None,
        ring_file: None,
        trigger,
        losses: BTreeMap::new(),
    }
}

pub(crate) fn command(at: u64) -> Manifest {
    manifest(Trigger::Command { at: Nanos(at) })
}

/// Symbols: (id, class, method, line, wait).
pub(crate) fn classes(symbols: &[(u32, &str, &str, u16, Wait)]) -> Vec<Class> {
    symbols
        .iter()
        .map(|&(id, class, name, line, wait)| {
            let outer = class.rsplit('.').next().unwrap_or(class);
            let outer = outer.split('$').next().unwrap_or(outer);
            let file = if name.starts_with('<') { String::new() } else { format!("{outer}.java") };
            let m = Method {
                id: MethodId(id),
                name: name.into(),
                descriptor: "()V".into(),
                line,
                wait,
                role: Role::Method,
            };
            Class { class: class.into(), file, methods: vec![m] }
        })
        .collect()
}

pub(crate) fn thread(key: u32, name: &str) -> Thread {
    Thread {
        key: ThreadKey(key),
        name: name.into(),
        os_tid: 9_000 + key,
        java_tid: 20 + u64::from(key),
        state: "runnable".into(),
        ..Thread::default()
    }
}

/// Decodes chunks of threads without symbols.
pub(crate) fn decode(chunks: impl IntoIterator<Item = Chunk>, at: u64) -> Recording {
    Recording::from_events(command(at), [], [], chunks.into_iter().map(Event::Chunk))
}

/// As [`decode`], when these methods are known to be precise.
pub(crate) fn decode_precise(chunks: Vec<Chunk>, at: u64, precise: &[u32]) -> Recording {
    let symbols: Vec<_> = precise.iter().map(|&id| (id, "com.acme.P", "p", 1, Wait::None)).collect();
    let mut classes = classes(&symbols);
    classes.iter_mut().for_each(|c| c.methods[0].role = Role::Precise);
    Recording::from_events(command(at), classes, [], chunks.into_iter().map(Event::Chunk))
}

/// Slices in short: `method start-end depth flags`, times in microseconds after the epoch.
pub(crate) fn brief(r: &Recording, thread: usize) -> Vec<String> {
    let s = &r.threads[thread].slices;
    s.indices()
        .map(|i| {
            let s = s.get(i);
            let us = |t: Nanos| (t.0 as f64 - EPOCH as f64) / 1e3;
            format!(
                "{}{} {}-{} f{}",
                "  ".repeat(s.depth as usize),
                s.method.0,
                us(s.start),
                us(s.end),
                s.flags.0
            )
        })
        .collect()
}

/// Asserts that slices nest: ascending starts, parents before and around their children, depths in steps.
pub(crate) fn assert_nested(r: &Recording) {
    for t in &r.threads {
        let s = &t.slices;
        let mut stack: Vec<lookback_analysis::SliceIndex> = Vec::new();
        for i in s.indices() {
            let it = s.get(i);
            assert!(it.start <= it.end, "slice {i:?} ends before it begins: {it:?}");
            if i.at() > 0 {
                assert!(s.start[i.at() - 1] <= it.start, "starts descend at {i:?}");
            }
            stack.truncate(it.depth as usize);
            assert_eq!(stack.len(), it.depth as usize, "a level is left out at {i:?}");
            assert_eq!(stack.last().copied(), it.parent.some(), "parent of {i:?}");
            if let Some(p) = it.parent.some() {
                let p = s.get(p);
                assert!(p.start <= it.start && it.end <= p.end, "{it:?} sticks out of {p:?}");
            }
            stack.push(i);
        }
        let mut ends: Vec<Option<Nanos>> = Vec::new();
        for i in s.indices() {
            let it = s.get(i);
            ends.truncate(it.depth as usize + 1);
            ends.resize(it.depth as usize + 1, None);
            let before = ends[it.depth as usize].replace(it.end);
            assert!(before.is_none_or(|e| e <= it.start), "siblings overlap at {i:?}");
        }
    }
}

/// A small seeded generator (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// A random walk over calls: about `records` entries and exits, depth up to `deepest`, random times.
pub(crate) fn random_walk(t: &mut Tracer, random: &mut Random, records: usize, deepest: usize, methods: u64) {
    for _ in 0..records {
        t.now += match random.below(100) {
            0 => random.below(20 * MS),
            1..=9 => random.below(300 * US),
            _ => random.below(2 * US),
        };
        if t.depth() == 0 || (t.depth() < deepest && random.below(100) < 52) {
            t.enter(1 + random.below(methods) as u32);
        } else {
            t.leave();
        }
    }
}

/// The entries and exits among the words of a chunk.
pub(crate) fn plain(words: &[u32]) -> Vec<u32> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < words.len() {
        if words[i] & lookback_format::slot::CONTROL == 0 {
            out.push(words[i]);
            i += 1;
        } else {
            i += 1 + (words[i] >> lookback_format::slot::PAYLOAD_BITS & 0xf) as usize;
        }
    }
    out
}
