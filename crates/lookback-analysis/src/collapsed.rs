//! Collapsed stacks: one line a stack with its own time, or with how often it was sampled, as flame graph tools read them.
//!
//! The constraint that shaped it: eight million slices have few distinct stacks. Slices are in call order, so
//! a tree of calling contexts is built in one pass with one look-up a slice.

use crate::{ContextId, Recording, ThreadTrack};
use lookback_format::MethodId;
use lookback_format::sample::Activity;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

struct Node {
    method: MethodId,
    parent: usize,
    own: u64,
}

/// Writes `thread;Class.method;... MICROSECONDS` lines to `out`: own time, rounded to microseconds. Stacks of
/// less than half a microsecond are left out. `;`, and control characters in names become `_`.
///
/// # Errors
/// What `out` fails with.
pub fn collapsed(r: &Recording, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    for i in r.by_process() {
        let t = &r.threads[i];
        let nodes = tree(t);
        let names: HashMap<MethodId, String> =
            nodes[1..].iter().map(|n| (n.method, clean(&r.methods.full(n.method)))).collect();
        let thread = clean(&r.thread_name(i));
        let mut path = Vec::new();
        for (n_at, n) in nodes.iter().enumerate().skip(1) {
            let micros = n.own.saturating_add(500) / 1_000;
            if micros == 0 {
                continue;
            }
            path.clear();
            path.extend(std::iter::successors(Some(n_at), |&i| Some(nodes[i].parent)).take_while(|&i| i > 0));
            out.write_all(thread.as_bytes())?;
            for &i in path.iter().rev() {
                write!(out, ";{}", names[&nodes[i].method])?;
            }
            writeln!(out, " {micros}")?;
        }
    }
    out.flush()
}

/// Writes `thread;Class.method;... SAMPLES` lines to `out`, of the samples in which threads did one of `activities`.
///
/// # Errors
/// What `out` fails with.
pub fn collapsed_samples(r: &Recording, activities: &[Activity], out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    let (samples, contexts) = (&r.samples, &r.samples.contexts);
    let mut merged: BTreeMap<(usize, ContextId), u64> = BTreeMap::new();
    for i in (0..samples.len()).filter(|&i| activities.contains(&samples.activity[i])) {
        if let Some(thread) = r.thread(samples.thread[i]) {
            *merged.entry((thread, samples.context[i])).or_default() += 1;
        }
    }
    let mut names: HashMap<MethodId, String> = HashMap::new();
    // Contexts tell lines apart, stacks of this format do not.
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for ((thread, context), n) in merged {
        let mut line = clean(&r.thread_name(thread));
        let frames: Vec<ContextId> = contexts.frames(context).collect();
        for c in frames.into_iter().rev() {
            let method = contexts.method[c.at()];
            line.push(';');
            line.push_str(names.entry(method).or_insert_with(|| clean(&r.methods.full(method))));
        }
        *lines.entry(line).or_default() += n;
    }
    for (line, n) in lines {
        writeln!(out, "{line} {n}")?;
    }
    out.flush()
}

/// Calling contexts of a thread; the first node is the thread itself.
fn tree(t: &ThreadTrack) -> Vec<Node> {
    let s = &t.slices;
    let mut nodes = vec![Node { method: MethodId(0), parent: 0, own: 0 }];
    let mut known: HashMap<(usize, MethodId), usize> = HashMap::new();
    let mut stack: Vec<usize> = Vec::new();
    for i in s.indices() {
        let (depth, method, took) = (s.depth[i.at()] as usize, s.method[i.at()], s.duration(i).0);
        stack.truncate(depth);
        let parent = stack.last().copied().unwrap_or(0);
        let node = *known.entry((parent, method)).or_insert_with(|| {
            nodes.push(Node { method, parent, own: 0 });
            nodes.len() - 1
        });
        nodes[node].own = nodes[node].own.wrapping_add(took);
        // A node's slices and the calls in them cancel out only when all are counted: the sum may pass
        // through less than nothing in between, which wrapping arithmetic keeps exact.
        nodes[parent].own = nodes[parent].own.wrapping_sub(took);
        stack.push(node);
    }
    nodes[0].own = 0;
    nodes
}

fn clean(name: &str) -> String {
    name.chars().map(|c| if c == ';' || c.is_control() { '_' } else { c }).collect()
}
