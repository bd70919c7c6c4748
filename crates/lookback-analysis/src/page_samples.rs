//! The samples in the report page's JSON, by its data contract (`SamplesData` in `web/src/data/schema.ts`).
//!
//! The constraint that shaped it: the page knows methods and not lines, and draws what is on the screen. So contexts that differ
//! by lines alone are one, and of very many samples every so-manieth is there, which stands for as many.

use crate::samples::{ContextId, Samples};
use crate::{Recording, words};
use lookback_format::incident::Trigger;
use lookback_format::{MethodId, Nanos};
use serde_json::{Value, json};
use std::collections::HashMap;

/// More samples than these a page does not hold: 15 bytes each.
const MOST: usize = 400_000;

/// The samples of a recording whose threads are shown in this order; null when it has none. `method` numbers the methods,
/// `at` tells times as the page does.
pub(crate) fn page_samples(
    r: &Recording,
    shown: &[usize],
    mut method: impl FnMut(MethodId) -> usize,
    at: impl Fn(Nanos) -> i64,
) -> Value {
    let s = &r.samples;
    let Some(sampling) = r.manifest.sampling.as_ref().filter(|_| !s.is_empty()) else { return Value::Null };
    let threads: HashMap<_, usize> = shown.iter().enumerate().map(|(n, &t)| (r.threads[t].key, n)).collect();
    let step = s.len().div_ceil(MOST);
    let kept: Vec<usize> =
        (0..s.len()).step_by(step).filter(|&i| threads.contains_key(&s.thread[i])).collect();
    let merged = Merged::of(s, &kept);
    let mut before = 0;
    let steps: Vec<i64> =
        kept.iter().map(|&i| at(s.at[i]) - std::mem::replace(&mut before, at(s.at[i]))).collect();
    let frames: Vec<usize> =
        merged.method.iter().enumerate().map(|(n, &m)| if n == 0 { 0 } else { method(m) }).collect();
    json!({
        "how": format!("Samples taken {}, every {}", sampling.engine.words(), words::duration(sampling.interval)),
        "each": sampling.interval.0 * step as u64,
        "only": matches!(r.manifest.trigger, Trigger::Profile { .. }),
        "parent": merged.parent,
        "frame": frames,
        "at": steps,
        "thread": kept.iter().map(|&i| threads[&s.thread[i]]).collect::<Vec<_>>(),
        "context": kept.iter().map(|&i| merged.of[&s.context[i]]).collect::<Vec<_>>(),
        "activity": kept.iter().map(|&i| s.activity[i] as u8).collect::<Vec<_>>(),
    })
}

/// Contexts without lines; a caller's stands before what it calls.
struct Merged {
    parent: Vec<usize>,
    method: Vec<MethodId>,
    of: HashMap<ContextId, usize>,
}

impl Merged {
    /// Those of these samples.
    fn of(s: &Samples, kept: &[usize]) -> Merged {
        let mut m =
            Merged { parent: vec![0], method: vec![MethodId(0)], of: HashMap::from([(ContextId::ROOT, 0)]) };
        let mut known: HashMap<(usize, MethodId), usize> = HashMap::new();
        let mut path = Vec::new();
        for &i in kept {
            path.clear();
            path.extend(s.contexts.frames(s.context[i]).take_while(|c| !m.of.contains_key(c)));
            for &c in path.iter().rev() {
                let (parent, method) = (m.of[&s.contexts.parent[c.at()]], s.contexts.method[c.at()]);
                let node = *known.entry((parent, method)).or_insert_with(|| {
                    m.parent.push(parent);
                    m.method.push(method);
                    m.parent.len() - 1
                });
                m.of.insert(c, node);
            }
        }
        m
    }
}
