//! Ring files: what programs without a JVM record is read back while they run, when they were killed, and after
//! the ring has grown and shrunk.
//!
//! The constraint: the shop's requests carry numbers and each thread tells its progress, so what is read back is
//! compared with what was done, and nothing waits for time to pass.

use crate::support::{Place, Ran, Running, artifacts};
use lookback_analysis::{DEFAULT_SLICES, Flags, Recording, SliceIndex, ThreadTrack, Verdict, page_json};
use lookback_format::incident::Reader;
use lookback_format::native::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A ring file in memory, as rings should be; removed with the value.
struct Ring {
    dir: tempfile::TempDir,
}

impl Ring {
    fn new() -> Ring {
        let dir = tempfile::Builder::new().prefix("lookback-e2e-").tempdir_in("/dev/shm");
        Ring { dir: dir.expect("a directory in shared memory") }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("shop.ring")
    }

    fn name(&self) -> String {
        self.path().display().to_string()
    }

    /// Bytes of memory that it takes.
    fn taken(&self) -> u64 {
        std::fs::metadata(self.path()).expect("the ring is there").blocks() * 512
    }

    /// A shop that records into it: 0 requests are without end.
    fn shop(&self, threads: u32, requests: u32) -> Running {
        let mut command = Command::new(artifacts::shop());
        command.args([threads.to_string(), requests.to_string()]).stdin(Stdio::null());
        Running::start(command.env("LOOKBACK_RING", self.path()))
    }
}

#[track_caller]
fn load(incident: &Path) -> Recording {
    let file = File::open(incident).unwrap_or_else(|e| panic!("{}: {e}", incident.display()));
    Recording::load(&mut Reader::open(BufReader::new(file)).expect("an incident"))
}

/// The whole spans of this name on a thread, with the numbers that they carry, in order.
fn numbers(r: &Recording, t: &ThreadTrack, name: &str) -> Vec<(u64, SliceIndex)> {
    let s = &t.slices;
    let named = s.indices().filter(|i| r.methods.full(s.method[i.at()]) == name);
    let number = |i: SliceIndex| {
        let number = t.details.of(s.detail[i.at()], &r.definitions).find_map(|(field, value)| match value {
            Value::U64(v) if field == "number" => Some(v),
            _ => None,
        });
        Some((number?, i))
    };
    named.filter_map(number).collect()
}

#[test]
fn a_program_is_recorded_from_its_start_to_its_end() {
    let (place, ring) = (Place::new(), Ring::new());
    let shop = artifacts::shop().display().to_string();
    let ran = place.lookback(&["record", "--ring", &ring.name(), "--size", "8m", "--", &shop, "2", "1000"]);
    let ran = ran.ok().says(&["by `lookback resize`", "lookback snapshot ", "shows what it holds"]);
    assert!(ran.out.ends_with("served 2000\n"), "{}", ran.out);

    let said = place.lookback(&["snapshot", &ring.name(), "-o", "x.lkb"]).ok();
    for words in ["shop (process ", "8,020 over ", "of 2 threads", "all that was recorded", "Losses     none"]
    {
        assert!(said.out.contains(words), "`{words}` is not in:\n{}", said.out);
    }
    let r = load(&place.file("x.lkb"));
    assert_eq!((r.processes.len(), r.threads.len(), r.damages.len(), r.losses.len()), (1, 2, 0, 0));
    for t in &r.threads {
        let requests = numbers(&r, t, "web.request");
        assert_eq!(requests.iter().map(|r| r.0).collect::<Vec<_>>(), (0..1_000).collect::<Vec<_>>());
        for (number, slice) in requests {
            let inside: Vec<_> = t.slices.children(slice).map(|i| t.slices.get(i)).collect();
            let names: Vec<_> = inside.iter().map(|s| r.methods.full(s.method)).collect();
            let order = number.is_multiple_of(100);
            assert_eq!(names, if order { vec!["db.query", "web.order"] } else { vec!["db.query"] });
            assert_eq!(order, inside.last().is_some_and(|s| s.flags.has(Flags::INSTANT)));
        }
    }
    let page = page_json(&r, &Verdict::of(&r), DEFAULT_SLICES);
    assert!(page.contains(r#"["web","request",null,0]"#) && page.contains("worker-1"));
    assert!(page.contains("number=100 path=/order") && page.contains("number=100 total=12.5 paid=true"));
}

#[test]
fn reports_and_conversions_take_the_ring_file_itself() {
    let (place, ring) = (Place::new(), Ring::new());
    assert!(ring.shop(2, 500).end().ok().out.ends_with("served 1000\n"));
    let report = place.lookback(&["report", &ring.name()]).ok().says(&["shop.html", "ui.perfetto.dev"]);
    for words in [
        "2,000 spans and 10 instants of 2 threads",
        "web.request",
        "Spans and instants by name",
        "Nothing was lost.",
    ] {
        assert!(report.out.contains(words), "`{words}` is not in:\n{}", report.out);
    }
    assert!(place.file("shop.html").metadata().is_ok_and(|m| m.len() > 50_000));
    place.lookback(&["convert", &ring.name(), "-o", "x.json"]).ok();
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.file("x.json")).unwrap()).unwrap();
    let events = json["traceEvents"].as_array().expect("events");
    let of = |phase: &str| events.iter().filter(|e| e["ph"] == phase).collect::<Vec<_>>();
    assert_eq!((of("X").len(), of("i").len()), (2_000, 10));
    let order = of("i")[1];
    assert_eq!((&order["name"], &order["cat"]), (&"web.order".into(), &"web".into()));
    assert_eq!(order["args"], serde_json::json!({"number": 100, "total": 12.5, "paid": true}));
    place.lookback(&["convert", &ring.name(), "-o", "x.pftrace"]).ok();
    let trace = std::fs::read(place.file("x.pftrace")).unwrap();
    for name in ["web.request", "worker-1", "number", "/order"] {
        assert!(trace.windows(name.len()).any(|w| w == name.as_bytes()), "{name} is not in the trace");
    }
    let stacks = place.lookback(&["convert", &ring.name(), "--format", "collapsed", "-o", "-"]).ok();
    assert!(stacks.out.contains("worker-0;web.request "), "{}", stacks.out);
    let info = place.lookback(&["info", &ring.name()]).ok();
    assert!(info.out.contains("of 2 threads in 1 process"), "{}", info.out);
}

#[test]
fn exit_codes_and_signals_of_the_program_are_passed_on() {
    let (place, ring) = (Place::new(), Ring::new());
    let run = |script: &str| {
        place.lookback(&["record", "--ring", &ring.name(), "--size", "1m", "--", "sh", "-c", script])
    };
    assert_eq!(run("exit 7").code, Some(7));
    assert_eq!(run(&format!("test \"$LOOKBACK_RING\" = '{}'", ring.name())).code, Some(0));
    assert_eq!(run("kill -9 $$").says(&["ended by signal 9"]).code, Some(137));
    place
        .lookback(&["record", "--ring", &ring.name(), "--", "/no/such/program"])
        .fails(1, &["cannot start /no/such/program"]);
}

/// Starts two shops that go on until they are killed, each past its first thousands of requests.
fn two_shops(ring: &Ring) -> [Running; 2] {
    let mut shops = [ring.shop(2, 0), ring.shop(1, 0)];
    for shop in &mut shops {
        shop.until("worker-0 2001");
    }
    shops
}

#[test]
fn a_snapshot_stops_nobody_and_killed_programs_leave_what_they_did() {
    let (place, ring) = (Place::new(), Ring::new());
    place.lookback(&["record", "--ring", &ring.name(), "--size", "16m"]).ok();
    let mut shops = two_shops(&ring);
    let said = place.lookback(&["snapshot", &ring.name(), "-o", "live.lkb"]).ok();
    assert!(said.out.contains("of 3 threads"), "{}", said.out);
    let live = load(&place.file("live.lkb"));
    assert_eq!(live.processes.len(), 2);
    assert!(live.threads.iter().all(|t| ordered(&live, t) > 0), "a thread has no request");
    // They go on: each tells of its next thousand.
    let mut told = BTreeMap::new();
    for shop in &mut shops {
        let line = shop.line().expect("it goes on");
        let (thread, number) = line.split_once(' ').expect("a thread and a number");
        told.insert((shop.pid, thread.to_owned()), number.parse::<u64>().expect("a number"));
    }
    for shop in shops {
        assert_eq!(shop.end_by(libc::SIGKILL).signal, Some(libc::SIGKILL));
    }
    place
        .lookback(&["snapshot", &ring.name(), "-o", "dead.lkb"])
        .ok()
        .says(&["nobody has the ring file open"]);
    let dead = load(&place.file("dead.lkb"));
    assert_eq!((dead.processes.len(), dead.threads.len()), (2, 3));
    for ((pid, name), number) in told {
        let of = |t: &&ThreadTrack| t.name == name && t.process.is_some_and(|p| dead.processes[p].pid == pid);
        let track = dead.threads.iter().find(of).expect("the thread is there");
        let newest = numbers(&dead, track, "web.request").last().expect("a request").0;
        assert!(
            newest + 1 >= number,
            "{name} of {pid} told of {number}, and {newest} is the last that is there"
        );
    }
    let report = place.lookback(&["report", "--text-only", "dead.lkb"]).ok();
    assert!(report.out.contains("Nobody records into the ring file any more"), "{}", report.out);
}

/// Checks that the requests of a thread ascend, and gives how many there are.
fn ordered(r: &Recording, t: &ThreadTrack) -> usize {
    let numbers = numbers(r, t, "web.request");
    assert!(numbers.is_sorted(), "{} has its requests in another order", t.name);
    numbers.len()
}

#[test]
fn a_ring_shrinks_and_grows_while_programs_record() {
    let (place, ring) = (Place::new(), Ring::new());
    place.lookback(&["record", "--ring", &ring.name(), "--size", "16m", "--reserve", "64m"]).ok();
    let mut shops = two_shops(&ring);
    let whole = ring.taken();
    let resize = |size: &str, shops: &mut [Running; 2]| -> (Ran, u64) {
        let ran = place.lookback(&["resize", &ring.name(), size]).ok();
        assert!(shops[0].line().is_some() && shops[1].line().is_some(), "they go on");
        (ran, ring.taken())
    };
    let (said, small) = resize("4m", &mut shops);
    assert!(said.out.contains("given back"), "{}", said.out);
    assert!(small <= whole - (8 << 20), "{whole} bytes became {small}");
    let (said, large) = resize("48m", &mut shops);
    assert!(said.out.contains(" more"), "{}", said.out);
    assert!(large >= 40 << 20, "{small} bytes became {large}");
    let (_, again) = resize("4m", &mut shops);
    assert!(again < large, "{large} bytes became {again}");
    place
        .lookback(&["resize", &ring.name(), "1g"])
        .fails(2, &["cannot become 1.1 GB", "was reserved", "--reserve"]);
    place.lookback(&["resize", &ring.name(), "1k"]).fails(2, &["its blocks take at least", "or more"]);
    place.lookback(&["resize", &ring.name(), "big"]).fails(2, &["'big' is not a size"]);
    place.lookback(&["snapshot", &ring.name(), "-o", "x.lkb"]).ok();
    let r = load(&place.file("x.lkb"));
    assert!(r.threads.iter().map(|t| ordered(&r, t)).sum::<usize>() > 0);
}

#[test]
fn events_are_printed_as_they_come_until_ctrl_c() {
    let (place, ring) = (Place::new(), Ring::new());
    let name = ring.name();
    place
        .lookback(&["record", "--ring", &name, "--size", "4m", "--level", "web=debug", "--level", "db=off"])
        .ok();
    let mut json =
        Running::start(&mut place.command(&["record", "--ring", &name, "--follow", "--all", "--json"]));
    let mut text = Running::start(&mut place.command(&["record", "--ring", &name, "--follow", "--all"]));
    ring.shop(1, 300).end().ok();
    let mut next = 0;
    let mut steps = 0;
    while next < 300 {
        let line = json.line().expect("an event");
        let event: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!((&event["program"], &event["category"]), (&"shop".into(), &"web".into()), "{line}");
        if event["name"] == "request" && event["phase"] == "begin" {
            assert_eq!(event["fields"]["number"], next);
            next += 1;
        }
        steps += u32::from(event["name"] == "step" && event["level"] == "debug");
    }
    assert!(steps >= 299, "{steps} steps");
    let first = text.line().expect("a line");
    assert!(first.contains(" worker-0  begin web.request number=0 path=\"/order\""), "{first}");
    json.end_by(libc::SIGINT).ok().says(&["events; nothing was missed"]);
    text.end_by(libc::SIGTERM).ok().says(&["nothing was missed"]);
}

#[test]
fn what_is_no_ring_file_is_refused_in_words() {
    let (place, ring) = (Place::new(), Ring::new());
    ring.shop(1, 100).end().ok();
    let name = ring.name();
    for verb in ["snapshot", "report"] {
        place.lookback(&[verb, "none.ring"]).fails(1, &["cannot read none.ring", "No such file"]);
    }
    place.lookback(&["resize", "none.ring", "1m"]).fails(1, &["cannot read none.ring"]);
    std::fs::write(place.file("text"), "what it says\n").unwrap();
    let foreign = ["cannot use text: not a Lookback ring file", "comes from `lookback record`"];
    for args in [&["snapshot", "text"][..], &["resize", "text", "1m"], &["record", "--ring", "text"]] {
        place.lookback(args).fails(1, &foreign);
    }
    place.lookback(&["record", "--ring", &name, "--level", "loud"]).fails(2, &["'loud' is not a level"]);
    place.lookback(&["record", "--ring", "x", "--mode", "rw"]).fails(2, &["'rw' is not a mode"]);
    place.lookback(&["record", "--ring", "x", "--size", "many"]).fails(2, &["'many' is not a size"]);
    place
        .lookback(&["record", "--ring", "x", "--size", "1k"])
        .fails(1, &["cannot use the ring of x", "too short"]);
    assert!(!place.file("x").exists());

    let copy = |change: &dyn Fn(&File)| {
        std::fs::copy(ring.path(), place.file("copy.ring")).unwrap();
        let file = File::options().write(true).open(place.file("copy.ring")).unwrap();
        change(&file);
        place.lookback(&["snapshot", "copy.ring", "--force", "-o", "copy.lkb"])
    };
    copy(&|f| f.write_all_at(&[9], 8).unwrap()).fails(1, &["has format version 9"]);
    copy(&|f| f.set_len(100).unwrap()).fails(1, &["is cut short"]);
    // Cut in the middle of the ring: what is there is read, and the cut is named.
    let length = std::fs::metadata(ring.path()).unwrap().len();
    let cut = copy(&|f| f.set_len(length / 2 + (9 << 20)).unwrap()).ok();
    assert!(cut.out.contains("the file is cut: "), "{}", cut.out);
    // Another boot's: its clock and its processes are gone, its events are not.
    copy(&|f| f.write_all_at(&[7; 8], 88).unwrap()).ok();
    place
        .lookback(&["resize", "copy.ring", "4m"])
        .fails(1, &["was made before this machine was started last"]);
    // No ring in it.
    let broken = copy(&|f| f.write_all_at(&[0; 64], 16_384 + (16 << 20)).unwrap());
    broken.fails(2, &["holds no event", "the ring cannot be read"]);
    let empty = place.file("empty.ring").display().to_string();
    place.lookback(&["record", "--ring", &empty, "--size", "1m"]).ok();
    place.lookback(&["snapshot", &empty]).fails(2, &["holds no event", "--level trace"]);
}
