//! Chrome's trace event JSON (`traceEvents` with complete events), which many viewers read.
//!
//! Times are microseconds after the oldest slice with three decimals, which keeps the nanoseconds. Written as
//! it goes: nothing is gathered.

use crate::methods::KINDS;
use crate::{Flags, Recording, SliceRef, Trim};
use lookback_format::Nanos;
use std::io::{self, Write};

/// Writes what `trim` keeps of the recording to `out`. Processes and threads carry the names and ids of the recording.
///
/// # Errors
/// What `out` fails with.
pub fn chrome_json(r: &Recording, trim: &Trim, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    let pid = r.manifest.pid;
    let program = text(&r.manifest.program);
    writeln!(out, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    write!(out, r#"{{"ph":"M","name":"process_name","pid":{pid},"tid":0,"args":{{"name":{program}}}}}"#)?;
    let mut names = std::collections::HashMap::new();
    for (thread, t) in r.threads.iter().enumerate() {
        let (tid, name) = (t.key.0, text(&t.name));
        write!(
            out,
            ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"name\":{name}}}}}"
        )?;
        for i in t.slices.indices().filter(|&slice| trim.keeps(r, SliceRef { thread, slice })) {
            let s = t.slices.get(i);
            let name = names.entry(s.method).or_insert_with(|| text(&r.methods.full(s.method)));
            let ts = micros(s.start.since(r.span.0));
            if s.flags.has(Flags::INSTANT) {
                write!(
                    out,
                    ",\n{{\"ph\":\"i\",\"s\":\"t\",\"name\":{name},\"cat\":\"instant\",\"pid\":{pid},\"tid\":{tid},\"ts\":{ts}}}"
                )?;
                continue;
            }
            let category = match s.flags {
                f if f.has(Flags::WAIT) => "wait",
                f if f.has(Flags::SPAN) => "span",
                _ => "call",
            };
            let dur = micros(s.duration());
            write!(
                out,
                ",\n{{\"ph\":\"X\",\"name\":{name},\"cat\":\"{category}\",\"pid\":{pid},\"tid\":{tid},\"ts\":{ts},\"dur\":{dur}"
            )?;
            let flags = s.flags.0 & !KINDS.0;
            if flags != 0 {
                write!(out, ",\"args\":{{\"flags\":{flags}}}")?;
            }
            write!(out, "}}")?;
        }
    }
    for p in &r.pauses {
        let (ts, dur) = (micros(p.start.since(r.span.0)), micros(p.end.since(p.start)));
        write!(
            out,
            ",\n{{\"ph\":\"X\",\"name\":\"garbage collection\",\"cat\":\"pause\",\"pid\":{pid},\"tid\":0,\"ts\":{ts},\"dur\":{dur}}}"
        )?;
    }
    writeln!(out, "\n]}}")?;
    out.flush()
}

fn micros(d: Nanos) -> String {
    format!("{}.{:03}", d.0 / 1_000, d.0 % 1_000)
}

/// As a JSON string.
fn text(s: &str) -> String {
    serde_json::Value::from(s).to_string()
}
