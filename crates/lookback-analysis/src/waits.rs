//! What a call waited for: by kind, and the longest wait.
//!
//! A wait inside a wait is part of the outer one, so that the totals never exceed the call. Only what a virtual thread
//! waited while it was pinned, and could have gone on had there been a carrier, is told apart.

use crate::{Columns, Flags, Recording, SliceIndex, SliceRef};
use lookback_format::Nanos;
use lookback_format::symbol::Wait;
use std::collections::BTreeMap;

/// The waits of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTotal {
    /// The kind.
    pub kind: Wait,
    /// How long, together.
    pub total: Nanos,
    /// How many.
    pub count: u64,
    /// The longest of them.
    pub longest: Nanos,
}

/// The longest wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongestWait {
    /// Its slice.
    pub slice: SliceRef,
    /// Its kind.
    pub kind: Wait,
    /// How long.
    pub duration: Nanos,
    /// Class of the object whose monitor was wanted, or that was to be notified.
    pub on: Option<String>,
    /// The call that waited.
    pub caller: Option<SliceRef>,
}

/// What a call waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// How long, all together.
    pub total: Nanos,
    /// By kind, the longest first.
    pub kinds: Vec<WaitTotal>,
    /// The longest wait.
    pub longest: Option<LongestWait>,
}

impl Waits {
    /// The waits inside `call`, itself included.
    #[must_use]
    pub fn within(r: &Recording, call: SliceRef) -> Waits {
        let s = &r.threads[call.thread].slices;
        let mut kinds: BTreeMap<Wait, WaitTotal> = BTreeMap::new();
        let mut longest: Option<(Nanos, SliceIndex)> = None;
        let (mut at, end) = (call.slice, s.subtree_end(call.slice));
        while at < end {
            if !s.flags[at.at()].has(Flags::WAIT) {
                at = SliceIndex(at.0 + 1);
                continue;
            }
            let (took, outer) = (s.duration(at), r.methods.wait(s.method[at.at()]));
            let kind = mostly(r, s, at).unwrap_or(outer);
            let new = WaitTotal { kind, total: Nanos(0), count: 0, longest: Nanos(0) };
            let t = kinds.entry(kind).or_insert(new);
            (t.total, t.count, t.longest) = (t.total.plus(took.0), t.count + 1, t.longest.max(took));
            if longest.is_none_or(|(most, _)| took > most) {
                longest = Some((took, at));
            }
            at = s.subtree_end(at);
        }
        let mut kinds: Vec<_> = kinds.into_values().collect();
        kinds.sort_by_key(|k| std::cmp::Reverse(k.total));
        let total = Nanos(kinds.iter().map(|k| k.total.0).sum());
        let longest = longest.map(|(duration, slice)| {
            let method = r.methods.get(s.method[slice.at()]);
            let outer = method.map_or(Wait::None, |m| m.wait);
            // Who holds a monitor says more than that the wait for it was pinned.
            let kind = mostly(r, s, slice).filter(|_| outer != Wait::Monitor).unwrap_or(outer);
            let named = matches!(kind, Wait::Monitor | Wait::ObjectWait);
            LongestWait {
                slice: SliceRef { thread: call.thread, slice },
                kind,
                duration,
                on: method.filter(|_| named).map(|m| m.class.to_string()),
                caller: s.parent[slice.at()].some().map(|slice| SliceRef { thread: call.thread, slice }),
            }
        });
        Waits { total, kinds, longest }
    }
}

/// What a virtual thread's wait was for most of its time, itself or in what it consists of, if that is of more interest.
fn mostly(r: &Recording, s: &Columns, wait: SliceIndex) -> Option<Wait> {
    let (mut pinned, mut ready) = (Nanos(0), Nanos(0));
    let (mut at, end) = (wait, s.subtree_end(wait));
    while at < end {
        let sum = match r.methods.wait(s.method[at.at()]) {
            Wait::Pinned => &mut pinned,
            Wait::Ready => &mut ready,
            _ => {
                at = SliceIndex(at.0 + 1);
                continue;
            }
        };
        *sum = sum.plus(s.duration(at).0);
        at = s.subtree_end(at);
    }
    let half = s.duration(wait).0 / 2;
    match (pinned.0 > half, ready.0 > half) {
        (true, _) => Some(Wait::Pinned),
        (_, true) => Some(Wait::Ready),
        _ => None,
    }
}
