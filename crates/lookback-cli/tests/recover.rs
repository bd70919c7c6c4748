//! `lookback recover` and `lookback info` on region files made here, intact and damaged.

mod support;

use lookback_format::event::{Event, ThreadEvent};
use lookback_format::incident::{Reader, Trigger};
use lookback_format::region::{HEADER_BYTES, Header, MAGIC, VERSION, header, put_text, slab};
use lookback_format::symbol::{Class, Method, Wait};
use lookback_format::{MethodId, Nanos, ThreadKey, event, slot};
use lookback_ring::{Geometry, Ring};
use memmap2::MmapMut;
use std::fs::{File, OpenOptions};
use std::path::Path;
use support::Place;

const SYMBOLS: usize = 64 << 10;
const SLABS: usize = 4;
const RING: usize = 1 << 20;
const SLABS_AT: usize = HEADER_BYTES + SYMBOLS;
const RING_AT: usize = SLABS_AT + SLABS * slab::STRIDE;
const BYTES: usize = RING_AT + RING;
/// A process id above the kernel's limit, so that nobody has it.
const DEAD: u32 = 4_194_399;
const EPOCH: u64 = 1_000_000_000;
const TICK: u64 = 1_000_000;

/// Makes a region as a program leaves it that was killed 5,000 ticks after its start: two threads, 100
/// chunks of 10 calls each in the ring, and `main` with two open calls in its slab.
fn region(path: &Path) -> MmapMut {
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

fn put(bytes: &mut [u8], at: usize, value: u64) {
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
    put(bytes, slab::WATCHES + 8, EPOCH + 4_000 * TICK);
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

fn read(path: &Path) -> Reader<File> {
    Reader::open(File::open(path).unwrap()).unwrap()
}

#[test]
fn a_killed_programs_region_becomes_an_incident() {
    let place = Place::new();
    drop(region(&place.file("4194399.region")));
    let before = std::fs::read(place.file("4194399.region")).unwrap();
    let ran = place.run(&["recover", "4194399.region"]).ok();
    for words in [
        "com.acme.Main (process 4194399)",
        "2,002 over 4.0 s, of 2 threads",
        "Newest record       1.0 s before the end",
        "12 methods of 3 classes",
        "main: in com.acme.C0.m0, for 1.0 s",
        "7 threads without a slab",
        "Damage              none",
        "lookback-4194399-recovered.lkb",
    ] {
        assert!(ran.out.contains(words), "{words} in {}", ran.out);
    }
    assert_eq!(before, std::fs::read(place.file("4194399.region")).unwrap(), "the region is only read");

    let mut incident = read(&place.file("lookback-4194399-recovered.lkb"));
    assert_eq!(incident.manifest.trigger, Trigger::Recovered { at: Nanos(EPOCH + 5_000 * TICK) });
    assert_eq!((incident.manifest.pid, incident.manifest.tick), (DEAD, Nanos(TICK)));
    let (mut chunks, mut others) = (Vec::new(), 0);
    let damages = incident.events(&mut |e| match e {
        Event::Chunk(c) => chunks.push(c),
        _ => others += 1,
    });
    assert!(damages.is_empty(), "{damages:?}");
    assert_eq!((chunks.len(), others), (101, 1));
    let last = chunks.iter().find(|c| c.slots.len() == 5).expect("the open calls of main");
    assert_eq!((last.thread, last.last), (ThreadKey(1), Nanos(EPOCH + 5_000 * TICK)));
    let (classes, damages) = incident.symbols();
    assert_eq!((classes.len(), damages.len()), (3, 0));
    let threads = incident.threads().unwrap();
    assert_eq!((threads.len(), threads[0].name.as_str(), threads[0].key), (1, "main", ThreadKey(1)));
}

#[test]
fn info_tells_what_an_incident_holds() {
    let place = Place::new();
    drop(region(&place.file("r")));
    place.run(&["recover", "r", "-o", "x.lkb"]).ok();
    let text = place.run(&["info", "x.lkb"]).ok().out;
    for words in [
        "com.acme.Main",
        "recovered after the program's death",
        "2,002 over 5.0 s, in 101 chunks of 2 threads",
        "2023-11-14 22:13:25.000 UTC",
        "symbols.json.zst",
        "Damage      none",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&place.run(&["info", "x.lkb", "--json"]).ok().out).unwrap();
    assert_eq!((json["records"].as_u64(), json["methods"].as_u64()), (Some(2_002), Some(12)));
}

#[test]
fn a_chunk_that_is_in_the_ring_already_is_not_told_twice() {
    let place = Place::new();
    let mut map = region(&place.file("r"));
    put(&mut map[SLABS_AT + slab::STRIDE..], slab::SEQ, 49);
    map.flush().unwrap();
    drop(map);
    place.run(&["recover", "r", "-o", "x.lkb"]).ok();
    let mut chunks = 0;
    read(&place.file("x.lkb")).events(&mut |e| chunks += usize::from(matches!(e, Event::Chunk(_))));
    assert_eq!(chunks, 100);
}

#[test]
fn damage_is_named_and_the_rest_is_kept() {
    let place = Place::new();
    let mut map = region(&place.file("symbols"));
    map[HEADER_BYTES + 20] ^= 1;
    drop(map);
    let ran = place.run(&["recover", "symbols", "-o", "a.lkb"]).ok();
    assert!(ran.out.contains("a symbol record is damaged") && ran.out.contains("2,002 over"), "{}", ran.out);

    let mut map = region(&place.file("ring"));
    map[RING_AT] ^= 1;
    drop(map);
    let ran = place.run(&["recover", "ring", "-o", "b.lkb"]).ok();
    assert!(ran.out.contains("the ring cannot be read") && ran.out.contains("2 over"), "{}", ran.out);

    drop(region(&place.file("cut")));
    let file = OpenOptions::new().write(true).open(place.file("cut")).unwrap();
    file.set_len((RING_AT + RING / 2) as u64).unwrap();
    let ran = place.run(&["recover", "cut", "-o", "c.lkb"]).ok();
    assert!(
        ran.out.contains("the file is cut") && ran.out.contains("main: in com.acme.C0.m0"),
        "{}",
        ran.out
    );
}

#[test]
fn any_damage_ends_in_words() {
    let place = Place::new();
    drop(region(&place.file("r")));
    let good = std::fs::read(place.file("r")).unwrap();
    let mut seed = 11_u64;
    for turn in 0..60 {
        let mut bad = good.clone();
        for _ in 0..40 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Header, symbols, the used slab, and the ring's header and first blocks.
            let ranges = [(8, 600), (HEADER_BYTES, 300), (SLABS_AT + slab::STRIDE, 100), (RING_AT, 20_000)];
            // Most damaged headers are refused at once, so every second turn leaves the header alone.
            let (from, len) = ranges[usize::from(turn % 2 == 1).max((seed >> 60) as usize % 4)];
            bad[from + (seed >> 33) as usize % len] = (seed >> 20) as u8;
        }
        std::fs::write(place.file("bad"), &bad).unwrap();
        let ran = place.run(&["recover", "bad", "-o", "bad.lkb", "--force"]);
        assert!(matches!(ran.code, Some(0..=2)) && !ran.err.contains("panicked"), "turn {turn}: {ran:?}");
    }
}

#[test]
fn a_region_in_use_is_refused() {
    let place = Place::new();
    let map = region(&place.file("r"));
    let us = std::process::id().to_string();
    place.run(&["recover", "r"]).fails(1, &["is in use by process", &us, &format!("lookback dump {us}")]);
    place.run(&["recover", "r", "--force"]).ok();
    drop(map);
    place.run(&["recover", "r", "-o", "dead.lkb"]).ok();
}

#[test]
fn what_is_no_region_is_refused_and_named() {
    let place = Place::new();
    let header_of = |change: &dyn Fn(&mut [u8])| {
        let name = place.file("r");
        drop(region(&name));
        let mut bytes = std::fs::read(&name).unwrap();
        std::fs::remove_file(&name).unwrap();
        assert!(Header::read(&bytes).is_ok());
        change(&mut bytes);
        std::fs::write(place.file("bad"), bytes).unwrap();
    };
    header_of(&|b| b[0] = b'X');
    place.run(&["recover", "bad"]).fails(1, &["cannot use bad: not a Lookback region file"]);
    header_of(&|b| b[header::VERSION] = 9);
    place.run(&["recover", "bad"]).fails(1, &["format version 9"]);
    header_of(&|b| put(b, header::RING_AT, 1 << 60));
    place.run(&["recover", "bad"]).fails(1, &["the ring at"]);
    std::fs::write(place.file("short"), MAGIC).unwrap();
    place.run(&["recover", "short"]).fails(1, &["cannot use short"]);
    std::fs::write(place.file("empty"), "").unwrap();
    place.run(&["recover", "empty"]).fails(1, &["not a Lookback region file"]);
    place.run(&["recover", "none"]).fails(1, &["cannot read none: No such file"]);
    place.run(&["recover", "."]).fails(1, &["not a plain file"]);
    assert_eq!(place.names(), ["bad", "empty", "lookback", "short"], "nothing was written");
}

#[test]
fn a_region_without_a_record_says_so_and_writes_nothing() {
    let place = Place::new();
    let mut map = region(&place.file("r"));
    map[SLABS_AT..].fill(0);
    drop(map);
    place.run(&["recover", "r", "-o", "x.lkb"]).fails(2, &["holds no record of a method"]);
    assert_eq!(place.names(), ["lookback", "r"]);
}
