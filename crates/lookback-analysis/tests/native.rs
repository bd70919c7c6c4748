//! What native programs record, from definitions and events to what people and viewers read.
//!
//! The constraint: events come as a snapshot gives them, block by block and in no order of time, of two processes
//! whose threads have the same names.

use lookback_analysis::{
    Builder, DEFAULT_SLICES, Flags, Recording, Style, Trim, Verdict, chrome_json, collapsed, page_json,
    perfetto, report,
};
use lookback_format::definitions::{self, Definitions, EventType, Field, FieldType, id_at};
use lookback_format::event::Event;
use lookback_format::incident::{Category, ENDED, Manifest, RingFile, Thread, Trigger, VERSION};
use lookback_format::native::{Native, Phase};
use lookback_format::{CategoryIndex, NameId, Nanos, ProcessId, ThreadKey, TypeId};
use std::collections::BTreeMap;

const SECOND: u64 = 1_000_000_000;

/// A log of definitions that grows.
#[derive(Default)]
struct Log(Vec<u8>);

impl Log {
    fn id(&self) -> u32 {
        id_at(self.0.len()).unwrap()
    }

    fn name(&mut self, name: &str) -> NameId {
        let id = self.id();
        definitions::encode_name(name, &mut self.0);
        NameId(id)
    }

    fn thread(&mut self, process: ProcessId, os_tid: u32, name: &str) -> ThreadKey {
        let name = self.name(name);
        let id = self.id();
        definitions::Thread { process, os_tid, name }.encode(&mut self.0);
        ThreadKey(id)
    }

    fn process(&mut self, pid: u32, name: &str) -> ProcessId {
        let name = self.name(name);
        let id = self.id();
        definitions::Process { pid, name, start: Nanos(0) }.encode(&mut self.0);
        ProcessId(id)
    }

    fn event_type(&mut self, category: u16, name: &str, fields: &[(&str, FieldType)]) -> TypeId {
        let name = self.name(name);
        let fields = fields.iter().map(|&(name, kind)| Field { name: self.name(name), kind }).collect();
        let id = self.id();
        EventType { name, category: CategoryIndex(category), level: 3, fields }.encode(&mut self.0);
        TypeId(id)
    }
}

/// Two processes: one serves a request with a query and hangs in a second one, the other was killed in a request.
fn recording() -> Recording {
    let mut log = Log::default();
    let (shop, load) = (log.process(10, "shop"), log.process(20, "load"));
    let threads = [log.thread(shop, 11, "main"), log.thread(load, 21, "main")];
    let request = log.event_type(1, "request", &[("bytes", FieldType::U64), ("path", FieldType::Text)]);
    let query = log.event_type(2, "query", &[]);
    let hit = log.event_type(0, "hit", &[("ratio", FieldType::F64)]);
    let event = |thread: usize, at: u64, phase, event_type, fields: &[u8]| {
        let (thread, fields) = (threads[thread], fields.to_vec());
        Event::Native(Native { phase, time: Nanos(SECOND + at), event_type, thread, fields })
    };
    let path = |bytes: u64, path: &str| [&bytes.to_le_bytes()[..], path.as_bytes()].concat();
    let events = [
        // The second block first: the thread had changed its core.
        event(0, 500, Phase::End, query, &[]),
        event(0, 600, Phase::Instant, hit, &0.5_f64.to_le_bytes()),
        event(0, 900, Phase::End, request, &[]),
        event(0, 1_000, Phase::Begin, request, &path(8, "/b")),
        event(1, 50, Phase::End, query, &[]),
        event(1, 60, Phase::Begin, request, &path(9, "/\u{1b}[31m")),
        event(1, 70, Phase::Instant, TypeId(9_999), &[1; 8]),
        event(0, 100, Phase::Begin, request, &path(7, "/a")),
        event(0, 200, Phase::Begin, query, &[]),
        event(0, 2_000, Phase::Instant, hit, &f64::NAN.to_le_bytes()),
    ];
    let category = |name: &str| Category { name: name.into(), level: "info".into() };
    let manifest = Manifest {
        version: VERSION,
        lookback: "0".into(),
        clock_pair: (Nanos(SECOND), 1_773_480_413 * SECOND),
        pid: 10,
        program: "shop, load".into(),
        jvm: String::new(),
        host: "host".into(),
        tick: Nanos(0),
        tick_late: Nanos(0),
        trigger: Trigger::Command { at: Nanos(SECOND + 2_500) },
        losses: BTreeMap::from([("events that are damaged".to_owned(), 3)]),
        dropped: Vec::new(),
        waiting_classes: 0,
        costs: None,
        sampling: None,
        ring_file: Some(RingFile {
            name: String::new(),
            categories: vec![category(""), category("web"), category("db.pool")],
            complete_from: Some(Nanos(SECOND + 100)),
        }),
    };
    let mut builder = Builder::new(manifest);
    builder.definitions(Definitions::read(&log.0));
    builder.threads([Thread { key: threads[1], state: ENDED.into(), ..Thread::default() }]);
    events.into_iter().for_each(|e| builder.event(e));
    builder.build()
}

/// `name start-end flags values` of each slice, indented by its depth, by thread.
fn lines(r: &Recording) -> Vec<String> {
    let mut all = Vec::new();
    for (n, t) in r.threads.iter().enumerate() {
        all.push(r.thread_name(n));
        for i in t.slices.indices() {
            let s = t.slices.get(i);
            let detail = t.slices.detail[i.at()];
            let values = t.details.of(detail, &r.definitions);
            let values: String = values.map(|(name, v)| format!(" {name}={v:?}")).collect();
            let (indent, from, to) =
                ("  ".repeat(s.depth as usize + 1), s.start.0 - SECOND, s.end.0 - SECOND);
            all.push(format!("{indent}{} {from}-{to} {}{values}", r.methods.full(s.method), s.flags.0));
        }
    }
    all
}

#[test]
fn events_of_any_order_become_slices_of_their_threads() {
    let r = recording();
    assert_eq!(
        lines(&r),
        [
            "shop 10: main",
            "  web.request 100-900 64 bytes=U64(7) path=Text(\"/a\")",
            "    db.pool.query 200-500 64",
            "    hit 600-600 128 ratio=F64(0.5)",
            // Open to the end: its process lives.
            "  web.request 1000-2500 66 bytes=U64(8) path=Text(\"/b\")",
            "    hit 2000-2000 128 ratio=F64(NaN)",
            "load 20: main",
            "  db.pool.query 50-50 65",
            // Open to the last sign of its process, which was killed.
            "  web.request 60-70 66 bytes=U64(9) path=Text(\"/\\u{1b}[31m\")",
            "    event of unknown type 70-70 128",
        ]
    );
    assert_eq!((r.span, r.reach), ((Nanos(SECOND + 50), Nanos(SECOND + 2_500)), Nanos(SECOND + 100)));
}

#[test]
fn the_report_tells_what_took_time_and_what_is_open() {
    let r = recording();
    let (verdict, mut out) = (Verdict::of(&r), Vec::new());
    report(&r, &verdict, Style::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    for words in [
        "shop (pid 10), load (pid 20) on host\n",
        "It holds 5 spans and 3 instants of 2 threads in 2 processes",
        "The longest complete span is web.request: 800 ns on thread shop 10: main.",
        "Still open at the end: web.request on thread load 20: main, for 10 ns, and 1",
        "Busiest threads (in spans)",
        "           3   2.31 µs    800 ns    800 ns    800 ns  web.request 2 cut",
        "           2         -         -         -         -  hit",
        "complete for the last 2.40\n  µs of 2.45 µs; times are exact.",
        "Lost: 3 events that are damaged.",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
    assert!(!text.contains("garbage collection") && !text.contains("call"), "{text}");
}

#[test]
fn viewers_get_processes_instants_and_values() {
    let r = recording();
    let all = Trim::new(&r, usize::MAX);
    let mut json = Vec::new();
    chrome_json(&r, &all, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let named = |name: &str| events.iter().filter(|e| e["name"] == name).collect::<Vec<_>>();
    let processes: Vec<_> = named("process_name").iter().map(|e| (&e["pid"], &e["args"]["name"])).collect();
    assert_eq!(processes, [(&10.into(), &"shop".into()), (&20.into(), &"load".into())]);
    let first = named("web.request")[0];
    assert_eq!((&first["ph"], &first["cat"], &first["pid"]), (&"X".into(), &"web".into(), &10.into()));
    assert_eq!(first["args"], serde_json::json!({"bytes": 7, "path": "/a"}));
    let hits = named("hit");
    assert_eq!((&hits[0]["ph"], &hits[0]["s"], hits[0].get("dur")), (&"i".into(), &"t".into(), None));
    assert_eq!((&hits[0]["args"]["ratio"], &hits[1]["args"]["ratio"]), (&0.5.into(), &"NaN".into()));

    let mut trace = Vec::new();
    perfetto(&r, &all, &mut trace).unwrap();
    for text in ["shop", "load", "web.request", "db.pool", "bytes", "/a", "(none)"] {
        assert!(trace.windows(text.len()).any(|w| w == text.as_bytes()), "{text} is not in the trace");
    }
    let mut stacks = Vec::new();
    collapsed(&r, &mut stacks).unwrap();
    assert_eq!(String::from_utf8(stacks).unwrap(), "shop 10: main;web.request 2\n");

    let page: serde_json::Value =
        serde_json::from_str(&page_json(&r, &Verdict::of(&r), DEFAULT_SLICES)).unwrap();
    assert_eq!(page["program"], "shop (pid 10), load (pid 20)");
    assert_eq!(page["values"][0], "bytes=7 path=/a");
    assert_eq!(page["threads"][0]["values"], serde_json::json!([1, 0, 2, 3, 4]));
    assert_eq!(page["threads"][0]["flags"][2], Flags::INSTANT.0);
}
