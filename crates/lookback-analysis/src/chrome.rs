//! Chrome's trace event JSON (`traceEvents` with complete events), which many viewers read.
//!
//! Times are microseconds after the oldest slice with three decimals, which keeps the nanoseconds. Written as
//! it goes: nothing is gathered.

use crate::methods::KINDS;
use crate::{Flags, Recording, SliceRef, Trim, value_words};
use lookback_format::Nanos;
use lookback_format::definitions::Definitions;
use lookback_format::native::Value;
use std::io::{self, Write};

/// Writes what `trim` keeps of the recording to `out`. Processes and threads carry the names and ids of the recording.
///
/// # Errors
/// What `out` fails with.
pub fn chrome_json(r: &Recording, trim: &Trim, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    let own = r.manifest.pid;
    writeln!(out, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    let processes: Vec<(u32, &str)> = match r.processes.len() {
        0 => vec![(own, &r.manifest.program)],
        _ => r.processes.iter().map(|p| (p.pid, p.name.as_str())).collect(),
    };
    for (n, (pid, name)) in processes.iter().enumerate() {
        let (comma, name) = (if n > 0 { ",\n" } else { "" }, text(name));
        write!(
            out,
            r#"{comma}{{"ph":"M","name":"process_name","pid":{pid},"tid":0,"args":{{"name":{name}}}}}"#
        )?;
    }
    let mut names = std::collections::HashMap::new();
    for (thread, t) in r.threads.iter().enumerate() {
        let pid = t.process.and_then(|p| r.processes.get(p)).map_or(own, |p| p.pid);
        let (tid, name) = (t.key.0, text(&t.name));
        write!(
            out,
            ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"name\":{name}}}}}"
        )?;
        for i in t.slices.indices().filter(|&slice| trim.keeps(r, SliceRef { thread, slice })) {
            let s = t.slices.get(i);
            let name = names.entry(s.method).or_insert_with(|| text(&r.methods.full(s.method)));
            let category = match s.flags {
                f if f.has(Flags::WAIT) => text("wait"),
                _ if t.is_native() => text(r.methods.get(s.method).map_or("", |m| &*m.class)),
                f if f.has(Flags::INSTANT) => text("instant"),
                f if f.has(Flags::SPAN) => text("span"),
                _ => text("call"),
            };
            let ts = micros(s.start.since(r.span.0));
            let (kind, extent) = if s.flags.has(Flags::INSTANT) {
                ("i", "\"s\":\"t\"".to_owned())
            } else {
                ("X", format!("\"dur\":{}", micros(s.duration())))
            };
            write!(
                out,
                ",\n{{\"ph\":\"{kind}\",\"name\":{name},\"cat\":{category},\"pid\":{pid},\"tid\":{tid},\"ts\":{ts},{extent}"
            )?;
            let mut args = serde_json::Map::new();
            let flags = s.flags.0 & !KINDS.0;
            if flags != 0 {
                args.insert("flags".to_owned(), flags.into());
            }
            if let Some(&detail) = t.slices.detail.get(i.at()) {
                let values = t.details.of(detail, &r.definitions);
                args.extend(values.map(|(name, v)| (name.to_owned(), json_value(&v, &r.definitions))));
            }
            if !args.is_empty() {
                write!(out, ",\"args\":{}", serde_json::Value::from(args))?;
            }
            write!(out, "}}")?;
        }
    }
    for p in &r.pauses {
        let (ts, dur) = (micros(p.start.since(r.span.0)), micros(p.end.since(p.start)));
        write!(
            out,
            ",\n{{\"ph\":\"X\",\"name\":\"garbage collection\",\"cat\":\"pause\",\"pid\":{own},\"tid\":0,\"ts\":{ts},\"dur\":{dur}}}"
        )?;
    }
    writeln!(out, "\n]}}")?;
    out.flush()
}

fn micros(d: Nanos) -> String {
    format!("{}.{:03}", d.0 / 1_000, d.0 % 1_000)
}

/// A field's value. A number that JSON's readers would round is a text, and so is one that is none.
fn json_value(value: &Value<'_>, definitions: &Definitions) -> serde_json::Value {
    /// 2^53: up to here every reader has exact integers.
    const EXACT: u64 = 1 << 53;
    match value {
        Value::U64(v) if *v <= EXACT => (*v).into(),
        Value::I64(v) if v.unsigned_abs() <= EXACT => (*v).into(),
        Value::F64(v) if v.is_finite() => (*v).into(),
        Value::Bool(v) => (*v).into(),
        other => value_words(other, definitions).into(),
    }
}

/// As a JSON string.
fn text(s: &str) -> String {
    serde_json::Value::from(s).to_string()
}
