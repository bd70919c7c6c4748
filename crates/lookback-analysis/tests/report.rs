//! Golden reports: a lock convoy in words, in the page's JSON, in Chrome's JSON and in collapsed stacks.
//!
//! `LOOKBACK_UPDATE=1 cargo test -p lookback-analysis --test report` writes the golden files anew.
mod support;

use lookback_analysis::*;
use lookback_format::event::Event;
use lookback_format::incident::{Manifest, Reader, Trigger, Writer};
use lookback_format::{Nanos, ThreadKey};
use serde_json::Value;
use std::io::Cursor;
use support::*;

fn golden(name: &str, found: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("LOOKBACK_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{} differs", path.display());
}

fn text(r: &Recording, style: Style) -> String {
    let mut out = Vec::new();
    report(r, &Verdict::of(r), style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_lock_convoy_in_words() {
    let r = convoy::recording();
    assert_nested(&r);
    golden("convoy.txt", &text(&r, Style { width: 100, colour: false }));
}

#[test]
fn the_holder_is_named_with_its_evidence() {
    let r = convoy::recording();
    let slow = Verdict::of(&r).slow.unwrap();
    let h = slow.holder.unwrap();
    assert_eq!((r.threads[h.thread].name.as_str(), h.evidence), ("http-1", Evidence::SameCode));
    assert_eq!(h.queue, 3, "the other waiters");
    let last = h.chain.end().unwrap();
    assert_eq!(r.methods.short(last.method), "FileDispatcherImpl.force");
    assert_eq!(slow.pauses, (1, Nanos(6 * MS)));
}

#[test]
fn what_was_seen_whole_takes_as_long_as_its_records_say() {
    let (mut m, classes, threads, events) = convoy::convoy();
    let Trigger::Slow { duration, .. } = &mut m.trigger else { unreachable!() };
    *duration = duration.plus(3 * MS);
    let r = Recording::from_events(m, classes, threads, events);
    golden("convoy.txt", &text(&r, Style { width: 100, colour: false }));
}

#[test]
fn the_owner_that_the_vm_names_counts_while_the_wait_lasts() {
    let (mut m, classes, mut threads, events) = convoy::convoy();
    let Trigger::Slow { start, .. } = m.trigger else { unreachable!() };
    // The same moment seen from inside: the call still runs, and only records up to then are there.
    let now = start.plus(200 * MS);
    let Trigger::Slow { at, duration, running, .. } = &mut m.trigger else { unreachable!() };
    (*at, *duration, *running) = (now, Nanos(200 * MS), true);
    threads[1].owner = Some(ThreadKey(1));
    threads[1].blocked_on = Some("com.acme.shop.orders.OrderBook".into());
    let r = Recording::from_events(m, classes, threads, until(events, now));
    assert_nested(&r);
    let v = Verdict::of(&r);
    let slow = v.slow.as_ref().unwrap();
    assert_eq!(slow.holder.as_ref().map(|h| (h.thread, h.evidence)), Some((0, Evidence::Owner)));
    golden("convoy-running.txt", &text(&r, Style { width: 80, colour: false }));
}

/// Cuts every chunk at its first exact stamp that is not before `now`.
fn until(events: Vec<Event>, now: Nanos) -> Vec<Event> {
    use lookback_format::slot::{Record, Records};
    let cut = |mut c: lookback_format::event::Chunk| {
        let mut records = Records::new(&c.slots);
        let mut kept = c.slots.len();
        loop {
            let at = c.slots.len() - records.rest();
            match records.next() {
                Some(Record::Time(t)) if t >= now => {
                    kept = at;
                    break;
                }
                Some(_) => {}
                None => break,
            }
        }
        c.slots.truncate(kept);
        c.last = c.last.min(now);
        (c.first <= now).then_some(c)
    };
    events
        .into_iter()
        .filter_map(|e| match e {
            Event::Chunk(c) => cut(c).map(Event::Chunk),
            Event::Pause(..) => None,
            other => Some(other),
        })
        .collect()
}

#[test]
fn a_recording_on_request_names_the_longest_calls_and_busiest_threads() {
    let (m, classes, threads, events) = convoy::convoy();
    let m = Manifest { trigger: Trigger::Command { at: m.trigger.at() }, ..m };
    let r = Recording::from_events(m, classes, threads, events);
    golden("convoy-command.txt", &text(&r, Style { width: 80, colour: false }));
}

#[test]
fn a_narrow_terminal_breaks_no_line_and_colours_are_optional() {
    let r = convoy::recording();
    let narrow = text(&r, Style { width: 60, colour: false });
    assert!(narrow.lines().all(|l| l.chars().count() <= 60), "{narrow}");
    assert!(!narrow.contains('\x1b'));
    assert!(text(&r, Style { width: 60, colour: true }).contains("\x1b[1m"));
}

#[test]
fn names_cannot_steer_the_terminal() {
    let (m, classes, mut threads, events) = convoy::convoy();
    threads[1].name = "evil\x1b[2J".into();
    let r = Recording::from_events(m, classes, threads, events);
    assert!(!text(&r, Style::default()).contains('\x1b'));
}

#[test]
fn a_file_is_read_back_and_its_damage_is_told() {
    let (m, classes, threads, events) = convoy::convoy();
    let mut w = Writer::new(Cursor::new(Vec::new()));
    w.ring(|out| {
        let mut framed = Vec::new();
        for e in &events {
            let mut payload = Vec::new();
            let kind = e.encode(&mut payload);
            lookback_format::event::frame(kind, &[&payload], &mut framed);
        }
        out.write_all(&framed)
    })
    .unwrap();
    w.staging(&[]).unwrap();
    w.symbols(classes).unwrap();
    w.threads(&threads).unwrap();
    let mut bytes = w.finish(&m).unwrap().into_inner();
    let r = Recording::load(&mut Reader::open(Cursor::new(&bytes)).unwrap());
    assert_eq!(text(&r, Style::default()), text(&convoy::recording(), Style::default()));
    assert!(r.damages.is_empty());

    let name = b"symbols.json.zst";
    let at = bytes.windows(name.len()).position(|w| w == name).unwrap() + name.len();
    bytes[at + 30..at + 60].fill(0xee);
    let r = Recording::load(&mut Reader::open(Cursor::new(&bytes)).unwrap());
    assert!(r.damages.iter().any(|d| d.starts_with("symbols.json.zst")), "{:?}", r.damages);
    assert!(text(&r, Style::default()).contains("method #2"), "the slices are there without names");
}

fn page(r: &Recording, most: usize) -> Value {
    serde_json::from_str(&page_json(r, &Verdict::of(r), most)).unwrap()
}

fn numbers(v: &Value) -> Vec<u64> {
    v.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

#[test]
fn the_page_has_every_slice_by_its_contract() {
    let r = convoy::recording();
    let p = page(&r, DEFAULT_SLICES);
    assert_eq!((&p["schema"], &p["hidden"]), (&Value::from(1), &Value::Null));
    assert_eq!(p["title"], "OrderApi.place slower than 300 ms");
    let trigger = &p["trigger"];
    let thread = &p["threads"][trigger["thread"].as_u64().unwrap() as usize];
    assert_eq!(thread["name"], "http-2");
    let track = &r.threads[1].slices;
    let mut at = r.span.0.0;
    for (i, step) in numbers(&thread["start"]).into_iter().enumerate() {
        at += step;
        assert_eq!(at, track.start[i].0);
    }
    assert_eq!(numbers(&thread["dur"]).len(), track.len());
    assert!(numbers(&thread["flags"]).contains(&u64::from(Flags::TRIGGER.0)));
    let methods = p["methods"].as_array().unwrap().len() as u64;
    assert!(numbers(&thread["method"]).iter().all(|&m| m < methods));
    let chain = p["chain"].as_array().unwrap();
    assert_eq!(chain.last().unwrap()["wait"], "monitor");
    let base: i128 = p["base_unix_ns"].as_str().unwrap().parse().unwrap();
    assert_eq!(base, r.unix_nanos(r.span.0));
}

#[test]
fn a_trimmed_page_keeps_the_slow_call_with_its_callers_and_says_what_is_missing() {
    let r = convoy::recording();
    let p = page(&r, 60);
    let shown: usize = p["threads"].as_array().unwrap().iter().map(|t| numbers(&t["dur"]).len()).sum();
    assert!(shown <= 62 && shown > 20, "{shown}");
    assert_eq!(p["hidden"]["slices"].as_u64().unwrap() as usize, r.slices() - shown);
    let reason = p["hidden"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("shorter than ") && !reason.contains(" 0 ns"), "{reason}");
    let thread = &p["threads"][1];
    let (flags, depths) = (numbers(&thread["flags"]), numbers(&thread["depth"]));
    let slow = flags.iter().position(|f| f & 32 != 0).expect("the slow call is shown");
    assert_eq!((depths[slow], depths[0]), (1, 0), "with its caller");
    let inside = r.threads[1].slices.inside(r.trigger_slice().unwrap().slice).count();
    assert!(depths[slow + 1..].iter().take_while(|&&d| d > 1).count() == inside, "and all inside it");
}

#[test]
fn chrome_json_has_every_slice_with_its_nanoseconds() {
    let r = convoy::recording();
    let mut out = Vec::new();
    chrome_json(&r, &Trim::new(&r, usize::MAX), &mut out).unwrap();
    let v: Value = serde_json::from_slice(&out).unwrap();
    let events = v["traceEvents"].as_array().unwrap();
    let slices: Vec<_> = events.iter().filter(|e| e["ph"] == "X" && e["cat"] != "pause").collect();
    assert_eq!(slices.len(), r.slices());
    let slow = slices.iter().find(|e| e["args"]["flags"] == 32).unwrap();
    let it = r.slice(r.trigger_slice().unwrap());
    assert_eq!(slow["dur"].as_f64().unwrap(), it.duration().0 as f64 / 1e3);
    assert_eq!(slow["name"], "com.acme.shop.api.OrderApi.place");
}

#[test]
fn collapsed_stacks_add_up_to_the_time_of_the_outermost_calls() {
    let r = convoy::recording();
    let mut out = Vec::new();
    collapsed(&r, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    golden("convoy.collapsed", &text);
    let sum: u64 = text.lines().map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    let roots = |t: &ThreadTrack| -> u64 {
        let s = &t.slices;
        s.indices().filter(|i| s.depth[i.at()] == 0).map(|i| s.duration(i).0).sum()
    };
    let whole: u64 = r.threads.iter().map(roots).sum::<u64>() / 1_000;
    assert!(sum.abs_diff(whole) <= text.lines().count() as u64, "{sum} against {whole}");
}
