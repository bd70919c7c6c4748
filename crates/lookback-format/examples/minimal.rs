//! The smallest region, ring file and incident file, as annotated hex dumps:
//! `cargo run -p lookback-format --example minimal`.
//!
//! The constraint that shaped it: `docs/FORMAT.md` shows these dumps, and a test compares them byte for byte,
//! so every value in them is fixed and every byte that is not zero has a note. It must not lay out anything
//! by itself that the crates can write.

use lookback_format::definitions::{self, EventType, Field, FieldType, Process, id_at};
use lookback_format::event::{Chunk, Event, frame, kind};
use lookback_format::incident::{Manifest, Thread, Trigger, VERSION, Writer};
use lookback_format::region::{self, header, slab};
use lookback_format::ring_file::{self, ClockKind, Level};
use lookback_format::symbol::{Class, Method, Role, Wait};
use lookback_format::{CategoryIndex, MethodId, NameId, Nanos, ProcessId, Seq, ThreadKey, Ticks, TypeId};
use lookback_format::{native, slot};
use lookback_ring::{Geometry, Ring};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Cursor;

fn main() {
    println!("{}\n{}\n{}", region_dump(), ring_file_dump(), incident_dump());
}

/// A part of some bytes with a note: offset, length, what it is.
type Note = (usize, usize, String);

/// Memory that is aligned as a mapped file is.
#[derive(Clone)]
#[repr(align(4096))]
struct Page([u8; 4096]);

/// `Shop.find`, called once.
const METHOD: MethodId = MethodId(5);
const THREAD: ThreadKey = ThreadKey(9);
/// When the call began, and when the first chunk was begun.
const BEGIN: Nanos = Nanos(5_000_000_000);

fn class() -> Class {
    let method = Method {
        id: METHOD,
        name: "find".into(),
        descriptor: "(I)V".into(),
        line: 12,
        wait: Wait::None,
        role: Role::Method,
    };
    Class { class: "a.Shop".into(), file: "Shop.java".into(), methods: vec![method] }
}

/// The slots of a call that has begun and ended, the exact time before each of both.
fn slots() -> Vec<u32> {
    let begin = slot::time(BEGIN);
    let end = slot::time(BEGIN.plus(1_500_000));
    [&begin[..], &[slot::entry(METHOD)], &end, &[slot::exit(METHOD)]].concat()
}

fn chunk(seq: u32, slots: Vec<u32>) -> Chunk {
    Chunk { thread: THREAD, seq: Seq(seq), first: BEGIN, last: BEGIN.plus(2_000_000), lost: 0, slots }
}

/// A region of one thread: symbols of one class, one slab, a ring that holds one chunk.
fn region() -> (Vec<u8>, Vec<Note>) {
    const SYMBOLS_BYTES: usize = 4096;
    // The first multiple of a slab's stride behind the symbols: cursors are masked to their slab.
    let slabs_at = (region::HEADER_BYTES + SYMBOLS_BYTES).next_multiple_of(slab::STRIDE);
    let ring_at = slabs_at + slab::STRIDE;
    let geometry = Geometry { block_size: 4096, blocks: 2, active: 1, cores: 1 };
    let len = ring_at + geometry.bytes();
    let mut bytes = vec![0; len];
    let mut notes: Vec<Note> = Vec::new();
    let mut put = |at: usize, value: &[u8], note: &str| {
        bytes[at..at + value.len()].copy_from_slice(value);
        notes.push((at, value.len(), note.to_owned()));
    };
    let text = |text: &str| {
        let mut out = vec![0; 2 + text.len()];
        region::put_text(&mut out, text, 500);
        out
    };
    put(header::MAGIC, &region::MAGIC, "magic, stored last");
    put(header::VERSION, &region::VERSION.to_le_bytes(), "version");
    put(header::PID, &4711_u32.to_le_bytes(), "process id");
    put(header::BYTES, &(len as u64).to_le_bytes(), "length of the region");
    put(header::SYMBOLS_AT, &(region::HEADER_BYTES as u64).to_le_bytes(), "offset of the symbols");
    put(header::SYMBOLS_BYTES, &(SYMBOLS_BYTES as u64).to_le_bytes(), "their bytes");
    put(header::SLABS_AT, &(slabs_at as u64).to_le_bytes(), "offset of the first slab");
    put(header::SLABS, &1_u32.to_le_bytes(), "number of slabs");
    put(header::RING_AT, &(ring_at as u64).to_le_bytes(), "offset of the ring");
    put(header::RING_BYTES, &(geometry.bytes() as u64).to_le_bytes(), "its bytes");
    put(header::EPOCH, &BEGIN.0.to_le_bytes(), "the clock at tick 0: 5 s");
    put(header::TICK_NANOS, &1_000_000_u64.to_le_bytes(), "a tick: 1 ms");
    put(header::CLOCK_PAIR, &BEGIN.0.to_le_bytes(), "monotonic clock ...");
    put(header::CLOCK_PAIR + 8, &1_800_000_000_000_000_000_u64.to_le_bytes(), "... and wall clock");
    put(header::TICK_WORD, &slot::tick(3).to_le_bytes(), "TICK record of tick 3");
    put(header::TICK_LATE, &70_000_u64.to_le_bytes(), "the latest tick came 70 us late");
    put(header::PROGRAM, &text("a.Main"), "program: length, text");
    put(header::JVM, &text("OpenJDK"), "VM: length, text");
    put(region::ACTIVE, &[1], "slab 0: its thread took note of a tick");

    let mut log = Vec::new();
    class().encode(&mut log);
    put(region::HEADER_BYTES, &log, "symbols: one record; length 0 follows");

    let mut now = slots();
    now.truncate(4);
    let words: Vec<u8> = now.iter().flat_map(|w| w.to_le_bytes()).collect();
    put(slabs_at + slab::POLL, &slab::POLL_TICK.to_le_bytes(), "poll: a tick has passed");
    put(slabs_at + slab::STATE, &slab::STATE_ON.to_le_bytes(), "state: on");
    put(slabs_at + slab::KEY, &THREAD.0.to_le_bytes(), "thread key");
    put(slabs_at + slab::SEQ, &1_u32.to_le_bytes(), "sequence number of the chunk being filled");
    put(slabs_at + slab::FIRST, &BEGIN.0.to_le_bytes(), "when it was begun");
    put(slabs_at + slab::OS_TID, &4712_u32.to_le_bytes(), "thread id of the operating system");
    put(slabs_at + slab::JAVA_TID, &1_u64.to_le_bytes(), "Java's thread id");
    put(slabs_at + slab::SLOTS, &words, "slots: TIME 5 s, entry of method 5");
    put(slabs_at + slab::FILLED, &slot::FILLER.to_le_bytes(), "filler record");
    put(slabs_at + slab::GUARD, &slab::GUARD_VALUE.to_le_bytes(), "guard");
    put(slabs_at + slab::NAME, &text("main"), "name: length, text");

    let mut payload = Vec::new();
    let kind = Event::Chunk(chunk(0, slots())).encode(&mut payload);
    bytes.truncate(ring_at);
    bytes.extend_from_slice(&ring(geometry, kind, &payload));
    notes.extend(ring_notes(ring_at, payload.len(), "payload: a chunk"));
    (bytes, notes)
}

/// A ring with one event. It writes itself, into memory that is aligned as it asks for.
fn ring(geometry: Geometry, kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut area = vec![Page([0; 4096]); geometry.bytes() / 4096];
    // SAFETY: the area is private to this function, aligned to a page and as long as the geometry says.
    let ring = unsafe { Ring::format(area.as_mut_ptr().cast(), geometry.bytes(), geometry) }
        .expect("a valid geometry");
    ring.write_on(0, kind, &[payload]).expect("room for one event");
    area.iter().flat_map(|page| page.0).collect()
}

/// Notes for a ring of two blocks of 4 KiB, one metadata block and one core that begins at `ring_at`.
fn ring_notes(ring_at: usize, payload: usize, what: &str) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut note = |at: usize, len: usize, what: &str| notes.push((ring_at + at, len, what.to_owned()));
    note(0, 8, "ring: magic");
    note(8, 8, "version");
    note(16, 8, "bytes of a data block");
    note(24, 8, "room for data blocks");
    note(32, 8, "A, metadata blocks");
    note(40, 8, "C, cores");
    note(48, 8, "bytes of the area");
    note(128, 8, "ratio and next position");
    note(400, 8, "rows in use");
    note(4096, 8, "core 0: position");
    note(8192, 8, "metadata block 0: Allocated");
    note(8192 + 8, 8, "Managed: in round 1, lease 0, data block 1");
    note(8192 + 64, 8, "lease 0: Confirmed, the same, so all is written");
    note(8192 + 72, 8, "its data block, for round 1");
    note(8192 + 80, 240, "leases 1 to 15: free");
    // A is 1 and N is 2: position 1 is the first one, and lies in data block 1.
    let block = 12_288 + 4096;
    note(block, 8, "data block 1: its position");
    note(block + 8, 8, "entry: stamp 1, committed, length, kind");
    note(block + 16, payload, what);
    notes
}

/// A ring file of one process with one category, one event type and one event.
fn ring_file() -> (Vec<u8>, Vec<Note>) {
    use ring_file::header;
    let geometry = Geometry { block_size: 4096, blocks: 2, active: 1, cores: 1 };
    let ring_at = ring_file::DEFINITIONS_AT + 4096;
    let head = ring_file::Header {
        pid: 4711,
        bytes: (ring_at + geometry.bytes()) as u64,
        definitions: (ring_file::DEFINITIONS_AT, 4096),
        definitions_end: 0,
        definitions_lost: 0,
        ring: (ring_at, geometry.bytes()),
        clock: ClockKind::Tsc,
        ticks_per_second: 2_000_000_000,
        level: Some(Level::Info),
        clock_pair: (BEGIN, 1_800_000_000_000_000_000),
        boot: ring_file::boot_hash("d2c0fe0c-6a1f-4c4e-8d8b-0c8d5f2f5a11"),
        name: "shop".into(),
    };
    let mut bytes = vec![0; ring_at];
    let mut notes: Vec<Note> = Vec::new();
    let mut log = Vec::new();
    let mut id = |note: &str, encode: &dyn Fn(&mut Vec<u8>)| {
        let at = log.len();
        encode(&mut log);
        let id = id_at(at).expect("a short log");
        notes.push((ring_file::DEFINITIONS_AT + at, log.len() - at, format!("id {id}: {note}")));
        id
    };
    let mut name =
        |text: &str| NameId(id(&format!("the name {text}"), &|out| definitions::encode_name(text, out)));
    let (program, net, request, size) = (name("till"), name("net"), name("request"), name("bytes"));
    let process = Process { pid: 4711, name: program, start: BEGIN };
    let process = ProcessId(id("process 4711, till", &|out| process.encode(out)));
    let thread = definitions::Thread { process, os_tid: 4712, name: program };
    let thread = ThreadKey(id("its thread 4712, till", &|out| thread.encode(out)));
    let fields = vec![Field { name: size, kind: FieldType::U64 }];
    let level = Level::Info.code() as u8;
    let of = EventType { name: request, category: CategoryIndex(1), level, fields };
    let of = TypeId(id("event type net.request, level info, field bytes", &|out| of.encode(out)));
    bytes[ring_file::DEFINITIONS_AT..][..log.len()].copy_from_slice(&log);

    let head = ring_file::Header { definitions_end: log.len(), ..head };
    bytes[..ring_file::PAGE].copy_from_slice(&head.page());
    for (at, len, what) in [
        (header::MAGIC, 8, "magic, stored last"),
        (header::VERSION, 4, "version"),
        (header::PID, 4, "process id of the creator"),
        (header::BYTES, 8, "length of the file"),
        (header::DEFINITIONS_AT, 8, "offset of the definitions"),
        (header::DEFINITIONS_BYTES, 8, "their bytes"),
        (header::DEFINITIONS_END, 8, "how many of these are in use"),
        (header::RING_AT, 8, "offset of the ring"),
        (header::RING_BYTES, 8, "its bytes"),
        (header::CLOCK, 4, "clock: TSC"),
        (header::LEVEL, 4, "level of new categories: info"),
        (header::CLOCK_PAIR, 8, "wall clock ..."),
        (header::CLOCK_PAIR + 8, 8, "... and monotonic clock: 5 s"),
        (header::BOOT, 8, "hash of the boot's id"),
        (header::SNAPSHOT_LATEST, 8, "ticks of the latest clock snapshot"),
        (header::SNAPSHOT_COUNT, 8, "clock snapshots taken"),
        (header::TICKS_PER_SECOND, 8, "ticks of a second"),
        (header::NAME, 6, "name: length, text"),
    ] {
        notes.push((at, len, what.into()));
    }
    let ticks = Ticks(12_000_000_000);
    let mut put = |at: usize, words: &[u64], note: &str| {
        let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes[at..at + words.len()].copy_from_slice(&words);
        if !note.is_empty() {
            notes.push((at, words.len(), note.into()));
        }
    };
    put(header::SNAPSHOT_LATEST, &[ticks.0, 1], "");
    let slot = ring_file::SNAPSHOTS_AT + ring_file::snapshot_slot(0) * ring_file::SNAPSHOT_BYTES;
    put(slot, &[ticks.0, BEGIN.0], "clock snapshot 0: ticks, 5 s");
    let (info, debug) = (u64::from(Level::Info.code()), u64::from(Level::Debug.code()));
    put(ring_file::CATEGORIES_AT, &[info], "category 0: info, no name");
    put(ring_file::CATEGORIES_AT + 8, &[debug | u64::from(net.0) << 32], "category 1: debug, net");

    let words = [&native::head(Ticks(ticks.0 + 1_000), of, thread)[..], &[512]].concat();
    let payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend_from_slice(&ring(geometry, kind::INSTANT, &payload));
    notes.extend(ring_notes(ring_at, payload.len(), "payload: ticks, type and thread, bytes = 512"));
    (bytes, notes)
}

/// A ring file as an annotated hex dump.
pub(crate) fn ring_file_dump() -> String {
    let (bytes, notes) = ring_file();
    dump(&bytes, &notes)
}

/// A region as an annotated hex dump.
pub(crate) fn region_dump() -> String {
    let (bytes, notes) = region();
    dump(&bytes, &notes)
}

/// An incident with one chunk in the ring's part and the next one in the staging part.
pub(crate) fn incident() -> Vec<u8> {
    let manifest = Manifest {
        version: VERSION,
        lookback: "0.1.0".into(),
        clock_pair: (BEGIN, 1_800_000_000_000_000_000),
        pid: 4711,
        program: "a.Main".into(),
        jvm: "OpenJDK".into(),
        host: "h".into(),
        tick: Nanos(1_000_000),
        tick_late: Nanos(70_000),
        dropped: Vec::new(),
        waiting_classes: 0,
        costs: None,
        sampling: None,
        ring_file: None,
        trigger: Trigger::Command { at: BEGIN.plus(2_000_000) },
        losses: BTreeMap::new(),
    };
    let thread = Thread { key: THREAD, name: "main".into(), os_tid: 4712, java_tid: 1, ..Thread::default() };
    let mut writer = Writer::new(Cursor::new(Vec::new()));
    let ring = ring_part();
    writer.ring(|out| out.write_all(&ring)).expect("memory");
    writer.staging([&chunk(1, slots()[..4].to_vec())]).expect("memory");
    writer.symbols([class()]).expect("memory");
    writer.threads(&[thread]).expect("memory");
    writer.finish(&manifest).expect("memory").into_inner()
}

/// What the ring's part unpacks to.
fn ring_part() -> Vec<u8> {
    let mut framed = Vec::new();
    let mut payload = Vec::new();
    Event::Chunk(chunk(0, slots())).encode(&mut payload);
    frame(kind::CHUNK, &[&payload], &mut framed);
    framed
}

/// An incident file as an annotated hex dump, and what its ring part unpacks to.
pub(crate) fn incident_dump() -> String {
    let bytes = incident();
    let framed = ring_part();
    let words = "TIME: control record, low, high half|entry of method 5|TIME|exit of method 5";
    let mut notes: Vec<Note> = vec![
        (0, 4, "length of the payload".into()),
        (4, 4, "kind 1: CHUNK".into()),
        (8, 4, "thread key".into()),
        (12, 4, "sequence number".into()),
        (16, 8, "first time: 5 s".into()),
        (24, 8, "last time".into()),
        (32, 8, "records lost, and zero".into()),
    ];
    let mut at = 40;
    for (words, len) in words.split('|').zip([12, 4, 12, 4]) {
        notes.push((at, len, words.into()));
        at += len;
    }
    format!(
        "The file ({} bytes):\n{}\n`ring/0000.bin.zst`, unpacked:\n{}",
        bytes.len(),
        dump(&bytes, &zip_notes(&bytes)),
        dump(&framed, &notes)
    )
}

/// Names the records of a ZIP file whose local headers are complete.
fn zip_notes(bytes: &[u8]) -> Vec<Note> {
    let short = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let long = |at: usize| short(at) | short(at + 2) << 16;
    let name = |at: usize, len: usize| String::from_utf8_lossy(&bytes[at..at + len]).into_owned();
    let (mut notes, mut at) = (Vec::new(), 0);
    let mut sizes = Vec::new();
    let directory = {
        let mut end = bytes.len() - 22;
        while &bytes[end..end + 4] != b"PK\x05\x06" {
            end -= 1;
        }
        (long(end + 16), end)
    };
    while at < directory.0 {
        let (name_len, extra) = (short(at + 26), short(at + 28));
        let file = name(at + 30, name_len);
        let head = 30 + name_len + extra;
        notes.push((at, head, format!("ZIP: local header of {file}")));
        // A header with room for large files has its sizes in the extra field: tag, length, size, packed.
        let packed = if long(at + 18) == 0xffff_ffff { long(at + 30 + name_len + 12) } else { long(at + 18) };
        sizes.push(packed);
        notes.push((at + head, packed, format!("its {packed} bytes")));
        at += head + packed;
    }
    while at < directory.1 {
        let len = 46 + short(at + 28) + short(at + 30) + short(at + 32);
        notes.push((at, len, format!("ZIP: directory entry of {}", name(at + 46, short(at + 28)))));
        at += len;
    }
    notes.push((at, bytes.len() - at, "ZIP: end of the directory".into()));
    notes
}

/// Lines of up to 16 bytes, a line begun for each note. Bytes without a note must be zero and are not shown.
fn dump(bytes: &[u8], notes: &[Note]) -> String {
    let mut notes = notes.to_vec();
    notes.sort();
    let (mut out, mut end) = (String::from("```text\n"), 0);
    for (at, len, note) in &notes {
        assert!(*at >= end && bytes[end..*at].iter().all(|b| *b == 0), "bytes before {at} have no note");
        end = at + len;
        for (i, line) in bytes[*at..end].chunks(16).enumerate() {
            let hex: Vec<String> = line.iter().map(|b| format!("{b:02x}")).collect();
            let note = if i == 0 { note.as_str() } else { "" };
            let ascii: String =
                line.iter().map(|b| if b.is_ascii_graphic() { char::from(*b) } else { '.' }).collect();
            let line = format!("{:06x}  {:<47}  {ascii:<16}  {note}", at + i * 16, hex.join(" "));
            writeln!(out, "{}", line.trim_end()).expect("a string");
        }
    }
    assert!(bytes[end..].iter().all(|b| *b == 0), "bytes from {end} on have no note");
    out + "```\n"
}
