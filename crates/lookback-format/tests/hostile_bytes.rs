//! Definitions, native events and the ring file's parts come from files that anybody may have written: whatever
//! the bytes, reading them ends, without a panic, and gives no more than is there.

use lookback_format::definitions::{self, Definitions, EventType, Field, FieldType, Process, Thread};
use lookback_format::event::{Event, kind};
use lookback_format::native::{Record, values};
use lookback_format::ring_file::{self, ClockMap, Header, categories};
use lookback_format::{CategoryIndex, NameId, Nanos, ProcessId, ThreadKey, Ticks, TypeId};
use proptest::collection::vec;
use proptest::prelude::*;

/// A log with some records of each kind.
fn log() -> Vec<u8> {
    let mut log = Vec::new();
    for n in 1..6 {
        definitions::encode_name(&"name".repeat(n as usize), &mut log);
        Process { pid: n, name: NameId(1), start: Nanos(1) }.encode(&mut log);
        Thread { process: ProcessId(4), os_tid: n, name: NameId(1) }.encode(&mut log);
        let fields = vec![Field { name: NameId(1), kind: FieldType::F64 }; n as usize];
        EventType { name: NameId(1), category: CategoryIndex(1), level: 3, fields }.encode(&mut log);
    }
    log.resize(log.len() + 128, 0);
    log
}

/// Good bytes with some of them exchanged, and cut somewhere.
fn damaged(good: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let len = good.len();
    (vec((0..len, any::<u8>()), 0..12), 0..=len).prop_map(move |(changes, keep)| {
        let mut bytes = good.clone();
        changes.iter().for_each(|&(at, value)| bytes[at] = value);
        bytes.truncate(keep.max(len / 4));
        bytes
    })
}

fn header() -> Vec<u8> {
    let header = Header {
        pid: 1,
        bytes: 1 << 20,
        definitions: (ring_file::DEFINITIONS_AT, 8192),
        definitions_end: 64,
        definitions_lost: 0,
        ring: (ring_file::DEFINITIONS_AT + 8192, 1 << 19),
        clock: ring_file::ClockKind::Tsc,
        ticks_per_second: 1,
        level: None,
        clock_pair: (Nanos(5), 6),
        boot: 7,
        name: "shop".into(),
    };
    header.page()
}

fn types() -> impl Strategy<Value = EventType> {
    vec(1_u8..=8, 0..12).prop_map(|codes| {
        let kinds = codes.into_iter().filter_map(FieldType::from_code);
        let fields = kinds.map(|kind| Field { name: NameId(1), kind }).collect();
        EventType { name: NameId(1), category: CategoryIndex(0), level: 1, fields }
    })
}

proptest! {
    #[test]
    fn any_log_is_read_to_its_end(log in prop_oneof![vec(any::<u8>(), 0..600), damaged(log())]) {
        let all = Definitions::read(&log);
        let known = all.names().count() + all.processes().count() + all.threads().count();
        prop_assert!(known + all.event_types().count() <= log.len() / 8);
        prop_assert!(all.damaged_at.is_none_or(|at| at < log.len()));
        let names = all.names().map(|(_, name)| name.len()).sum::<usize>();
        prop_assert!(names <= 3 * log.len(), "a replaced byte becomes three");
    }

    #[test]
    fn any_header_leads_to_parts_within_the_file(page in damaged(header()), length in 0_u64..1 << 21) {
        if let Ok(header) = Header::read(&page, length) {
            for (at, len) in [header.definitions, header.ring] {
                prop_assert!((at + len) as u64 <= length);
            }
            prop_assert!(header.definitions_end <= header.definitions.1);
        }
    }

    #[test]
    fn any_event_is_read(event in 0_u16..32, payload in vec(any::<u8>(), 0..80), of in types()) {
        if let Some(Ok(record)) = Record::decode(event, &payload) {
            prop_assert!(values(&of, record.fields).count() <= of.fields.len());
        }
        if let Ok(Event::Native(native)) = Event::decode(event, &payload) {
            let mut again = Vec::new();
            prop_assert_eq!(native.encode(&mut again), event);
            prop_assert_eq!(again, payload);
        }
    }

    #[test]
    fn any_snapshots_make_a_clock_that_never_goes_back(
        table in vec(any::<u8>(), 0..800),
        close in vec((1_u64..10_000, 1_u64..10_000), 0..20),
        mut ticks in vec(prop_oneof![any::<u64>(), 0_u64..20_000], 2..40),
        rate in any::<u64>(),
    ) {
        let header = Header { ticks_per_second: rate, ..Header::read(&header(), 1 << 20).unwrap() };
        let close = close.into_iter().map(|(t, n)| (Ticks(t), Nanos(n)));
        ticks.sort_unstable();
        for map in [ClockMap::read(&header, &table), ClockMap::new(header.clock, rate, close)] {
            let times: Vec<_> = ticks.iter().map(|&t| map.nanos(Ticks(t))).collect();
            prop_assert!(times.is_sorted(), "{times:?}");
        }
    }

    #[test]
    fn any_table_of_categories_is_read(table in vec(any::<u8>(), 0..10_000)) {
        prop_assert!(categories(&table, &Definitions::read(&log())).len() <= ring_file::CATEGORIES);
    }
}

#[test]
fn an_event_of_an_unknown_kind_stays_unknown() {
    assert_eq!(Event::decode(19, &[0; 16]).unwrap(), Event::Unknown(19));
    assert!(Record::decode(kind::TRIGGER, &[0; 64]).is_none());
    let record = Record::decode(kind::SPAN_END, &[1; 16]).unwrap().unwrap();
    assert_eq!((record.event_type, record.thread), (TypeId(0x0101_0101), ThreadKey(0x0101_0101)));
}
