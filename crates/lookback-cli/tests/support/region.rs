//! A region file as a killed program leaves it, for tests of what is done with one.

#![allow(dead_code, reason = "each test program uses its part")]

use lookback_format::event::{Event, ThreadEvent};
use lookback_format::region::{HEADER_BYTES, MAGIC, VERSION, header, put_text, slab};
use lookback_format::symbol::{Class, Method, Role, Wait};
use lookback_format::{MethodId, Nanos, ThreadKey, event, slot};
use lookback_ring::{Geometry, Ring};
use memmap2::MmapMut;
use std::fs::OpenOptions;
use std::path::Path;

pub(crate) const SYMBOLS: usize = 64 << 10;
pub(crate) const SLABS: usize = 4;
pub(crate) const RING: usize = 1 << 20;
pub(crate) const SLABS_AT: usize = HEADER_BYTES + SYMBOLS;
pub(crate) const RING_AT: usize = SLABS_AT + SLABS * slab::STRIDE;
pub(crate) const BYTES: usize = RING_AT + RING;
/// A process id above the kernel's limit, so that nobody has it.
pub(crate) const DEAD: u32 = 4_194_399;
pub(crate) const EPOCH: u64 = 1_000_000_000;
pub(crate) const TICK: u64 = 1_000_000;

/// Makes a region as a program leaves it that was killed 5,000 ticks after its start: two threads, 100
/// chunks of 10 calls each in the ring, and `main` with two open calls in its slab.
pub(crate) fn region(path: &Path) -> MmapMut {
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path).unwrap();
    file.set_len(BYTES as u64).unwrap();
    // SAFETY: the file was just made and nobody else knows its name.
    let mut map = unsafe { MmapMut::map_mut(&file) }.unwrap();
    put(&mut map, header::VERSION, u64::from(VERSION) | u64::from(DEAD) << 32);
    for (at, value) in [
        (header::BYTES, BYTES as u64),
        (header::SYMBOLS_AT, HEADER_BYTES as u64),
        (header::SYMBOLS_BYTES, SYMBOLS as u64),
        (header::SLABS_AT, SLABS_AT as u64),
        (header::SLABS, SLABS as u64),
        (header::RING_AT, RING_AT as u64),
        (header::RING_BYTES, RING as u64),
        (header::EPOCH, EPOCH),
        (header::TICK_NANOS, TICK),
        (header::CLOCK_PAIR, EPOCH),
        (header::CLOCK_PAIR + 8, 1_700_000_000_000_000_000),
        (header::TICK_WORD, u64::from(slot::tick(5_000))),
        (header::LOSSES, 7),
    ] {
        put(&mut map, at, value);
    }
    put_text(&mut map[header::PROGRAM..], "com.acme.Main", 500);
    put_text(&mut map[header::JVM..], "OpenJDK 25", 500);
    symbols(&mut map);
    main_slab(&mut map[SLABS_AT + slab::STRIDE..]);
    ring(&mut map[RING_AT..]);
    map[..8].copy_from_slice(&MAGIC);
    map
}

pub(crate) fn put(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

fn symbols(map: &mut MmapMut) {
    let mut log = Vec::new();
    for class in 0..3_u32 {
        let method = |i: u32| Method {
            id: MethodId(class * 10 + i + 1),
            name: format!("m{i}"),
            descriptor: "()V".into(),
            line: 7,
            wait: Wait::None,
            role: Role::Method,
        };
        let methods = (0..4).map(method).collect();
        Class { class: format!("com.acme.C{class}"), file: "C.java".into(), methods }.encode(&mut log);
    }
    map[HEADER_BYTES..][..log.len()].copy_from_slice(&log);
}

/// `main` has entered C0.m0 and C0.m1, the first of them watched.
fn main_slab(bytes: &mut [u8]) {
    let mut slots = slot::time(Nanos(EPOCH + 4_000 * TICK)).to_vec();
    slots.extend([slot::entry(MethodId(1)), slot::entry(MethodId(2))]);
    for (word, to) in slots.iter().zip(bytes[slab::SLOTS..].chunks_exact_mut(4)) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    put(bytes, slab::STATE, u64::from(slab::STATE_ON) | 1 << 32);
    put(bytes, slab::SEQ, 100);
    put(bytes, slab::FIRST, EPOCH + 4_000 * TICK);
    put(bytes, slab::JAVA_TID, 1);
    put_text(&mut bytes[slab::NAME..], "main", slab::NAME_BYTES);
    put(bytes, slab::WATCH_DEPTH, 1);
    put(bytes, slab::WATCHES, 1);
    put(bytes, slab::WATCHES + 8, (EPOCH + 4_000 * TICK) << 1);
}

fn ring(area: &mut [u8]) {
    let geometry = Geometry::fitting(RING, 2).unwrap();
    // SAFETY: the area is a page-aligned part of a map that outlives the ring, and nobody else uses it.
    let ring = unsafe { Ring::format(area.as_mut_ptr(), area.len(), geometry) }.unwrap();
    for seq in 0..100_u32 {
        let at = EPOCH + u64::from(seq) * 10 * TICK;
        let mut slots = slot::time(Nanos(at)).to_vec();
        slots.extend((0..10).flat_map(|_| [slot::entry(MethodId(11)), slot::exit(MethodId(11))]));
        let body: Vec<u8> = slots.iter().flat_map(|s| s.to_le_bytes()).collect();
        let head = event::Chunk::header(
            ThreadKey(1 + seq % 2),
            lookback_format::Seq(seq / 2),
            Nanos(at),
            Nanos(at + TICK),
            0,
        );
        ring.write_on(seq as usize % 2, event::kind::CHUNK, &[&head, &body]).unwrap();
    }
    let began = Event::ThreadStart(ThreadEvent {
        thread: ThreadKey(2),
        os_tid: 9,
        java_tid: 22,
        at: Nanos(EPOCH),
        name: "worker".into(),
    });
    let mut payload = Vec::new();
    let kind = began.encode(&mut payload);
    ring.write_on(0, kind, &[&payload]).unwrap();
}
