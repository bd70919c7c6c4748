//! `lookback recover` and `lookback info` on region files made here, intact and damaged.

mod support;

use lookback_format::event::Event;
use lookback_format::incident::{Reader, Trigger};
use lookback_format::region::{HEADER_BYTES, Header, MAGIC, header, slab};
use lookback_format::{Nanos, ThreadKey};
use std::fs::{File, OpenOptions};
use std::path::Path;
use support::Place;
use support::region::{DEAD, EPOCH, RING, RING_AT, SLABS_AT, TICK, put, region};

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
