//! The way of the time: from a call down, always to where most of it went.
//!
//! The constraint that shaped it: a slow call is slow through one long call or through a thousand short ones
//! of the same method, and both must show. So calls of one method made from the same link are one link.

use crate::{Recording, SliceIndex, SliceRef};
use lookback_format::symbol::Wait;
use lookback_format::{MethodId, Nanos};
use std::collections::BTreeMap;

/// A chain has no more links than this.
const MOST_LINKS: usize = 64;
/// A link with less than this part of the first link's time tells nothing: 1/20.
const LEAST_SHARE: u64 = 20;

/// One step of a chain: all calls of a method from the link above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The longest of the calls.
    pub slice: SliceRef,
    /// The method.
    pub method: MethodId,
    /// How many calls.
    pub calls: u64,
    /// Their time together.
    pub total: Nanos,
    /// Their time without the traced calls made from them.
    pub own: Nanos,
    /// What they wait for.
    pub wait: Wait,
}

/// From a call down to where most of its time went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Outermost first; ends where own time is larger than that of any method called.
    pub links: Vec<Link>,
}

#[derive(Default)]
struct Group {
    calls: Vec<SliceIndex>,
    total: u64,
    longest: u64,
    at: usize,
}

impl Chain {
    /// Follows `from`. Only the time within `window` counts.
    #[must_use]
    pub fn below(r: &Recording, from: SliceRef, window: (Nanos, Nanos)) -> Chain {
        let s = &r.threads[from.thread].slices;
        let time = |i: SliceIndex| s.get(i).overlap(window.0, window.1).0;
        let mut links: Vec<Link> = Vec::new();
        let mut group = Group { calls: vec![from.slice], total: time(from.slice), longest: 0, at: 0 };
        loop {
            let mut inner: BTreeMap<MethodId, Group> = BTreeMap::new();
            let mut inside = 0;
            for &call in &group.calls {
                for child in s.children(call).filter(|&c| s.get(c).overlap(window.0, window.1).0 > 0) {
                    let took = time(child);
                    let g = inner.entry(s.method[child.at()]).or_default();
                    if took > g.longest {
                        (g.longest, g.at) = (took, g.calls.len());
                    }
                    g.calls.push(child);
                    g.total += took;
                    inside += took;
                }
            }
            let slice = group.calls[group.at];
            let own = group.total.saturating_sub(inside);
            let method = s.method[slice.at()];
            links.push(Link {
                slice: SliceRef { thread: from.thread, slice },
                method,
                calls: group.calls.len() as u64,
                total: Nanos(group.total),
                own: Nanos(own),
                wait: r.methods.wait(method),
            });
            let whole = links[0].total.0;
            match inner.into_values().max_by_key(|g| g.total) {
                Some(g) if g.total >= own && g.total >= whole / LEAST_SHARE && links.len() < MOST_LINKS => {
                    group = g;
                }
                _ => return Chain { links },
            }
        }
    }

    /// The last link: where most of the time went.
    #[must_use]
    pub fn end(&self) -> Option<&Link> {
        self.links.last()
    }
}
