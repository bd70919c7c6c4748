//! Spans and instants that a program marked, from slots to viewers' formats.

mod support;

use lookback_analysis::{Flags, Recording, Trim, chrome_json, perfetto};
use lookback_format::event::Event;
use lookback_format::symbol::{Role, Wait};
use support::*;

const WORK: u32 = 1;
const SPAN: u32 = 2;
const INSTANT: u32 = 3;

/// A method that marks a span, and an instant in it.
fn recording() -> Recording {
    let mut t = Tracer::new(1, EPOCH + 10 * MS, 400);
    t.timed = vec![WORK, SPAN, INSTANT];
    t.within(WORK, |t| {
        t.now += 2 * MS;
        t.within(SPAN, |t| {
            t.now += 3 * MS;
            t.call(INSTANT, 0);
            t.now += 4 * MS;
            t.call(WORK, MS);
        });
        t.now += 5 * MS;
    });
    let mut classes = classes(&[
        (WORK, "com.acme.Work", "run", 30, Wait::None),
        (SPAN, "shop", "checkout", 0, Wait::None),
        (INSTANT, "shop", "retry", 0, Wait::None),
    ]);
    classes[1].methods[0].role = Role::Span;
    classes[2].methods[0].role = Role::Instant;
    let events: Vec<_> = t.finish().into_iter().map(Event::Chunk).collect();
    Recording::from_events(command(t.now), classes, vec![thread(1, "main")], events)
}

#[test]
fn slices_know_what_they_are() {
    let r = recording();
    let s = &r.threads[0].slices;
    let slices: Vec<_> =
        s.indices().map(|i| s.get(i)).map(|s| (s.method.0, s.depth, s.flags, s.error)).collect();
    let none = Flags::default();
    let wanted =
        [(WORK, 0, none, 0), (SPAN, 1, Flags::SPAN, 0), (INSTANT, 2, Flags::INSTANT, 0), (WORK, 2, none, 0)];
    assert_eq!(slices, wanted);
}

#[test]
fn chrome_gets_an_instant_event() {
    let (r, mut out) = (recording(), Vec::new());
    chrome_json(&r, &Trim::new(&r, usize::MAX), &mut out).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let events = json["traceEvents"].as_array().unwrap().iter().filter(|e| e["ph"] != "M");
    let events: Vec<_> =
        events.map(|e| (e["ph"].as_str().unwrap(), e["cat"].as_str().unwrap(), e["dur"].as_f64())).collect();
    assert_eq!(
        events,
        [
            ("X", "call", Some(15_000.0)),
            ("X", "span", Some(8_000.0)),
            ("i", "instant", None),
            ("X", "call", Some(1_000.0)),
        ]
    );
}

/// The fields of a protobuf message: numbers, and values as a varint or as bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (&byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = varint(&mut bytes);
        let content = if tag & 7 == 2 { bytes.split_off(..value as usize).unwrap() } else { &[] };
        out.push((tag >> 3, value, content));
    }
    out
}

#[test]
fn perfetto_gets_an_instant_event_and_slices_that_nest() {
    let (r, mut out) = (recording(), Vec::new());
    perfetto(&r, &Trim::new(&r, usize::MAX), &mut out).unwrap();
    // Trace.packet = 1, TracePacket.track_event = 11, TrackEvent.type = 9: 1 begin, 2 end, 3 instant;
    // category_iids = 3: 1 call, 4 span, 5 instant.
    let mut events = Vec::new();
    for (_, _, packet) in fields(&out) {
        for (_, _, event) in fields(packet).into_iter().filter(|f| f.0 == 11) {
            let of = |number| fields(event).into_iter().find(|f| f.0 == number).map(|f| (f.1, f.2));
            let category = of(3).map(|(value, packed)| packed.first().copied().map_or(value, u64::from));
            events.push((of(9).unwrap().0, category));
        }
    }
    let calls = [(1, Some(1)), (1, Some(4)), (3, Some(5)), (1, Some(1)), (2, None), (2, None), (2, None)];
    // The last one says why the recording was written.
    assert_eq!(events, [&calls[..], &[(3, None)]].concat());
}
