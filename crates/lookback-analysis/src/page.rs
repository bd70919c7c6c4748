//! The report page's JSON, by its data contract (`web/src/data/schema.ts`, version 1).
//!
//! The constraint that shaped it: the page reads hundreds of thousands of slices from one line of JSON, so
//! slices are columns of integers, starts are steps, methods are numbered by use, and the text is written as
//! it goes. No number exceeds 2^53: beyond it the page's language has no exact integers.

use crate::details::{NO_DETAIL, value_words};
use crate::methods::EVENT_TYPES;
use crate::page_samples::page_samples;
use crate::trim::Trim;
use crate::verdict::Verdict;
use crate::words::iso;
use crate::{Recording, SliceIndex, SliceRef, ThreadTrack};
use lookback_format::symbol::Wait;
use lookback_format::{MethodId, Nanos};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;

/// How many slices a page can draw smoothly.
pub const DEFAULT_SLICES: usize = 400_000;

/// 2^53 - 1.
const MOST: u64 = (1 << 53) - 1;

/// The page's data, with at most about `most` slices: the longest, first of all those near the slow call.
#[must_use]
pub fn page_json(r: &Recording, verdict: &Verdict, most: usize) -> String {
    let mut w = Page {
        r,
        trim: Trim::new(r, most),
        methods: Vec::new(),
        numbers: HashMap::new(),
        values: Vec::new(),
        known: HashMap::new(),
    };
    let shown = |t: &ThreadTrack| !t.slices.is_empty() || !t.gaps.is_empty();
    let tracks: Vec<usize> = r.by_process().into_iter().filter(|&t| shown(&r.threads[t])).collect();
    let mut threads = String::from("[");
    for (n, &t) in tracks.iter().enumerate() {
        if n > 0 {
            threads.push(',');
        }
        w.thread(t, &mut threads);
    }
    threads.push(']');
    let trigger = w.trigger(verdict, &tracks);
    let chain = w.chain(verdict, &trigger);
    let base = r.span.0;
    let samples = page_samples(r, &tracks, |id| w.method(id), |at| relative(base, at));
    let m = &r.manifest;
    let pauses: Vec<_> = r
        .pauses
        .iter()
        .map(|p| json!([w.at(p.start), length(p.end.since(p.start)), pause_name(p.cause)]))
        .collect();
    let losses: serde_json::Map<_, _> =
        r.losses.iter().map(|(cause, &n)| (cause.clone(), json!(n.min(MOST)))).collect();
    let hidden = w
        .trim
        .hidden(r)
        .map_or(Value::Null, |(calls, reason)| json!({"slices": calls.min(MOST), "reason": reason}));
    let mut head = json!({
        "schema": 1,
        "title": verdict.title,
        "created": iso(r.unix_nanos(m.trigger.at())),
        "program": r.program(),
        "jvm": m.jvm,
        "host": m.host,
        "base_unix_ns": r.unix_nanos(r.span.0).to_string(),
        "tick_ns": length(m.tick),
        "span": [0, w.at(r.span.1)],
        "trigger": trigger,
        "summary": verdict.sentences,
        "methods": w.method_table(),
        "pauses": pauses,
        "chain": chain,
        "losses": losses,
        "hidden": hidden,
    });
    if !m.dropped.is_empty() {
        head["dropped"] = m.dropped.clone().into();
    }
    if m.waiting_classes > 0 {
        head["waiting_classes"] = m.waiting_classes.into();
    }
    if let Some(costs) = &m.costs {
        let unseen = costs.unseen().map_or(String::new(), |text| format!("; {text}"));
        head["costs"] = format!("{costs}{unseen}").into();
    }
    if !samples.is_null() {
        head["samples"] = samples;
    }
    if !w.values.is_empty() {
        head["values"] = w.values.into();
    }
    let mut out = head.to_string();
    // The columns are written as text and put in last: as values they would take 30 times the memory.
    out.pop();
    out.push_str(",\"threads\":");
    out.push_str(&threads);
    out.push('}');
    out
}

fn relative(base: Nanos, at: Nanos) -> i64 {
    match at.0.checked_sub(base.0) {
        Some(after) => after.min(MOST) as i64,
        None => -((base.0 - at.0).min(MOST) as i64),
    }
}

fn length(d: Nanos) -> u64 {
    d.0.min(MOST)
}

fn pause_name(cause: u32) -> String {
    if cause == 0 { "garbage collection".to_owned() } else { format!("pause of cause {cause}") }
}

struct Page<'a> {
    r: &'a Recording,
    trim: Trim,
    methods: Vec<MethodId>,
    numbers: HashMap<MethodId, usize>,
    /// Field values as text, each once.
    values: Vec<String>,
    known: HashMap<String, u64>,
}

impl Page<'_> {
    /// A time relative to the base.
    fn at(&self, at: Nanos) -> i64 {
        relative(self.r.span.0, at)
    }

    fn method(&mut self, id: MethodId) -> usize {
        *self.numbers.entry(id).or_insert_with(|| {
            self.methods.push(id);
            self.methods.len() - 1
        })
    }

    /// The number of a slice's values, from 1; 0 when it has none.
    fn values_of(&mut self, t: &ThreadTrack, slice: SliceIndex) -> u64 {
        let mut text = String::new();
        let detail = t.slices.detail.get(slice.at()).copied().unwrap_or(NO_DETAIL);
        for (name, value) in t.details.of(detail, &self.r.definitions) {
            let space = if text.is_empty() { "" } else { " " };
            // Writing into a string cannot fail.
            let _ = write!(text, "{space}{name}={}", value_words(&value, &self.r.definitions));
        }
        if text.is_empty() {
            return 0;
        }
        let next = self.values.len() as u64 + 1;
        let number = *self.known.entry(text.clone()).or_insert(next);
        if number == next {
            self.values.push(text);
        }
        number
    }

    fn method_table(&self) -> Vec<Value> {
        let row = |&id: &MethodId| match self.r.methods.get(id) {
            Some(m) => {
                let file = if m.file.is_empty() { Value::Null } else { json!(&*m.file) };
                json!([&*m.class, m.name, file, m.line])
            }
            None if id.0 >= EVENT_TYPES => json!(["(unknown)", "event", null, 0]),
            None => json!(["(no symbol)", format!("method {}", id.0), null, 0]),
        };
        self.methods.iter().map(row).collect()
    }

    fn thread(&mut self, thread: usize, out: &mut String) {
        let r = self.r;
        let t = &r.threads[thread];
        let s = &t.slices;
        let kept: Vec<SliceIndex> =
            s.indices().filter(|&slice| self.trim.keeps(r, SliceRef { thread, slice })).collect();
        let gaps: Vec<_> = t
            .gaps
            .iter()
            .map(|g| json!([self.at(g.from), self.at(g.to), g.lost.min(MOST), g.kind.words()]))
            .collect();
        let id = if t.java_tid == 0 { t.os_tid.to_string() } else { t.java_tid.to_string() };
        let head = json!({"name": r.thread_name(thread), "id": id, "kind": "java", "gaps": gaps}).to_string();
        out.push_str(&head[..head.len() - 1]);
        let mut before = 0;
        column(out, "start", &kept, |i| {
            let at = self.at(s.start[i.at()]);
            std::mem::replace(&mut before, at).abs_diff(at)
        });
        column(out, "dur", &kept, |i| length(s.duration(i)));
        column(out, "method", &kept, |i| self.method(s.method[i.at()]) as u64);
        column(out, "depth", &kept, |i| u64::from(s.depth[i.at()]));
        column(out, "flags", &kept, |i| u64::from(s.flags[i.at()].0));
        column(out, "err", &kept, |i| u64::from(s.error[i.at()]));
        if t.is_native() {
            column(out, "values", &kept, |i| self.values_of(t, i));
        }
        out.push('}');
    }

    fn trigger(&mut self, verdict: &Verdict, tracks: &[usize]) -> Value {
        let Some(slow) = &verdict.slow else { return Value::Null };
        // Without its thread the page has nothing to point at; the words still tell it.
        let Some(thread) = slow.thread.and_then(|t| tracks.iter().position(|&k| k == t)) else {
            return Value::Null;
        };
        json!({
            "at": self.at(self.r.manifest.trigger.at()),
            "rule": slow.rule,
            "thread": thread,
            "method": self.method(slow.method),
            "start": self.at(slow.start),
            "duration": length(slow.duration),
            "running": slow.running,
        })
    }

    fn chain(&mut self, verdict: &Verdict, trigger: &Value) -> Vec<Value> {
        let Some(slow) = verdict.slow.as_ref().filter(|_| !trigger.is_null()) else { return Vec::new() };
        let links = slow.chain.links.iter().enumerate();
        links
            .map(|(depth, l)| {
                json!({
                    "method": self.method(l.method),
                    "start": self.at(self.r.slice(l.slice).start),
                    "total": length(l.total),
                    "self": length(l.own),
                    "wait": wait_word(l.wait),
                    "depth": depth,
                })
            })
            .collect()
    }
}

/// The page's word for a wait.
fn wait_word(wait: Wait) -> Option<&'static str> {
    Some(match wait {
        Wait::Monitor => "monitor",
        Wait::ObjectWait => "wait",
        Wait::Park => "park",
        Wait::Sleep => "sleep",
        Wait::Socket => "socket",
        Wait::File => "file",
        Wait::Process => "process",
        w if w.is_wait() => w.words(),
        _ => return None,
    })
}

fn column(out: &mut String, name: &str, kept: &[SliceIndex], mut value: impl FnMut(SliceIndex) -> u64) {
    let _ = write!(out, ",\"{name}\":[");
    for (n, &i) in kept.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        // Writing into a string cannot fail.
        let _ = write!(out, "{}", value(i));
    }
    out.push(']');
}
