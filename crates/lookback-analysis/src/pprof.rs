//! Samples as a profile of pprof (github.com/google/pprof, `proto/profile.proto`; Apache-2.0), packed with gzip.
//!
//! The constraint that shaped it: pprof knows no threads and no waiting, but labels of samples, by which its viewers choose.
//! Fields that are not written are left out; numbers are part of its stable format.

use crate::Recording;
use crate::samples::ContextId;
use flate2::Compression;
use flate2::write::GzEncoder;
use lookback_format::MethodId;
use lookback_format::sample::Activity;
use prost::Message;
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::io::{self, Write};

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
    #[prost(int64, tag = "5")]
    start_line: i64,
}

/// Texts, each once; the first is the empty one.
struct Texts {
    all: Vec<String>,
    known: HashMap<String, i64>,
}

impl Texts {
    fn of(&mut self, text: &str) -> i64 {
        if text.is_empty() {
            return 0;
        }
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let at = self.all.len() as i64;
        self.all.push(text.to_owned());
        self.known.insert(text.to_owned(), at);
        at
    }
}

/// Writes the samples of `r` to `out`: their number and the time that they stand for, with the thread and what it did as labels.
///
/// # Errors
/// What `out` fails with.
pub fn pprof(r: &Recording, out: &mut dyn Write) -> io::Result<()> {
    let samples = &r.samples;
    let mut texts = Texts { all: vec![String::new()], known: HashMap::new() };
    let interval = r.manifest.sampling.as_ref().map_or(0, |s| s.interval.0) as i64;
    let count = ValueType { kind: texts.of("samples"), unit: texts.of("count") };
    let time = ValueType { kind: texts.of("time"), unit: texts.of("nanoseconds") };
    let (thread_key, activity_key) = (texts.of("thread"), texts.of("activity"));

    let mut merged: BTreeMap<(ContextId, usize, Activity), i64> = BTreeMap::new();
    for i in 0..samples.len() {
        let Some(thread) = r.thread(samples.thread[i]) else { continue };
        *merged.entry((samples.context[i], thread, samples.activity[i])).or_default() += 1;
    }
    let mut functions: Vec<Function> = Vec::new();
    let mut function_of: HashMap<MethodId, u64> = HashMap::new();
    let mut locations: Vec<Location> = Vec::new();
    let mut location_of: HashMap<(MethodId, u16), u64> = HashMap::new();
    let mut all = Vec::with_capacity(merged.len());
    for ((context, thread, activity), n) in merged {
        let mut location_id = Vec::new();
        for c in samples.contexts.frames(context) {
            let (method, line) = (samples.contexts.method[c.at()], samples.contexts.line[c.at()]);
            let id = *location_of.entry((method, line)).or_insert_with(|| {
                let function_id = *function_of.entry(method).or_insert_with(|| {
                    let info = r.methods.get(method);
                    let id = functions.len() as u64 + 1;
                    let name = texts.of(&r.methods.full(method));
                    functions.push(Function {
                        id,
                        name,
                        system_name: name,
                        filename: texts.of(info.map_or("", |info| &info.file)),
                        start_line: info.map_or(0, |info| info.line.into()),
                    });
                    id
                });
                let id = locations.len() as u64 + 1;
                locations.push(Location { id, line: vec![Line { function_id, line: line.into() }] });
                id
            });
            location_id.push(id);
        }
        let label = vec![
            Label { key: thread_key, str: texts.of(&r.thread_name(thread)) },
            Label { key: activity_key, str: texts.of(activity.word()) },
        ];
        all.push(Sample { location_id, value: vec![n, n.saturating_mul(interval)], label });
    }
    let profile = Profile {
        sample_type: vec![count, time],
        sample: all,
        location: locations,
        function: functions,
        string_table: texts.all,
        time_nanos: i64::try_from(r.unix_nanos(r.span.0)).unwrap_or(0),
        duration_nanos: r.span.1.since(r.span.0).0 as i64,
        period_type: Some(time),
        period: interval,
    };
    let mut gzip = GzEncoder::new(out, Compression::default());
    gzip.write_all(&profile.encode_to_vec())?;
    gzip.finish()?.flush()
}
