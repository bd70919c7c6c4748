//! Statistics of spans and instants, by what they are called.
//!
//! The constraint that shaped it: percentiles need all durations of a kind at once, so those are gathered as
//! plain numbers and given back kind by kind.

use crate::{Flags, Recording, SliceRef};
use lookback_format::{MethodId, Nanos};
use std::collections::BTreeMap;

/// What is to be said of all spans, or all instants, of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// What they are; see [`crate::Methods`].
    pub method: MethodId,
    /// Whether they are instants, which have no durations.
    pub instants: bool,
    /// How many.
    pub count: u64,
    /// How many of them are cut; they are not among the durations below.
    pub cut: u64,
    /// Duration of all of them together, cut ones as far as they were seen.
    pub total: Nanos,
    /// Half of them took no longer.
    pub median: Nanos,
    /// 99 of 100 took no longer.
    pub p99: Nanos,
    /// The longest took this.
    pub longest: Nanos,
    /// The longest that is whole.
    pub slice: Option<SliceRef>,
}

#[derive(Default)]
struct Gathered {
    whole: Vec<u64>,
    count: u64,
    total: Nanos,
    longest: Option<(Nanos, SliceRef)>,
}

/// The kinds of a recording: those that took most time first, then the most frequent.
pub(crate) fn kinds(r: &Recording) -> Vec<Kind> {
    let mut by_name: BTreeMap<(MethodId, bool), Gathered> = BTreeMap::new();
    for (thread, t) in r.threads.iter().enumerate().filter(|(_, t)| t.is_native()) {
        let s = &t.slices;
        for i in s.indices() {
            let (flags, took) = (s.flags[i.at()], s.duration(i));
            let of = by_name.entry((s.method[i.at()], flags.has(Flags::INSTANT))).or_default();
            of.count += 1;
            of.total = of.total.plus(took.0);
            if !flags.cut() && !flags.has(Flags::INSTANT) {
                of.whole.push(took.0);
                if of.longest.is_none_or(|(longest, _)| took > longest) {
                    of.longest = Some((took, SliceRef { thread, slice: i }));
                }
            }
        }
    }
    let kind = |((method, instants), mut g): ((MethodId, bool), Gathered)| {
        g.whole.sort_unstable();
        // The smallest value that at least so many of a hundred do not exceed.
        let at = |percent: usize| {
            let rank = (g.whole.len() * percent).div_ceil(100);
            Nanos(g.whole.get(rank.saturating_sub(1)).copied().unwrap_or(0))
        };
        Kind {
            method,
            instants,
            count: g.count,
            cut: if instants { 0 } else { g.count - g.whole.len() as u64 },
            total: g.total,
            median: at(50),
            p99: at(99),
            longest: at(100),
            slice: g.longest.map(|(_, slice)| slice),
        }
    };
    let mut all: Vec<Kind> = by_name.into_iter().map(kind).collect();
    all.sort_by_key(|k| (std::cmp::Reverse((k.total, k.count)), k.method));
    all
}
