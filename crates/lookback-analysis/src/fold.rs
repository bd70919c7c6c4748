//! Keeps the number of slices within bounds: short calls are folded into their callers.
//!
//! The constraint that shaped it: an incident that waited seconds for a slow call to end holds several rings'
//! worth of records, hundreds of millions of calls, and their columns would fill any memory. So there is a
//! limit; each time it is reached, the least duration that is kept doubles and shorter calls are taken out.
//! Their time becomes own time of their callers, and they are counted. A call is never shorter than the calls
//! inside it, so what is kept has all its callers.

use crate::{Columns, SliceIndex};
use lookback_format::Nanos;

/// The first least duration: a step small enough that the limit is used well.
const FIRST: u64 = 16;
/// Calls of this length are kept whatever the limit says.
const ALWAYS: u64 = 1_000_000_000;

/// What is folded of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    limit: usize,
    /// Calls shorter than this are not kept, nanoseconds.
    pub(crate) least: u64,
    /// How many were folded.
    pub(crate) folded: u64,
}

impl Fold {
    pub(crate) const fn new(limit: usize) -> Self {
        Fold { limit, least: 0, folded: 0 }
    }

    pub(crate) const fn limit(&self) -> usize {
        self.limit
    }

    /// Takes slices out until a quarter of the limit is free. `open` are the slices whose end is not known
    /// yet, outermost first; they stay, and are told their new positions.
    #[cold]
    pub(crate) fn shrink<'a>(&mut self, s: &mut Columns, open: impl Iterator<Item = &'a mut u32>) {
        let mut open: Vec<&mut u32> = open.collect();
        for slice in &open {
            s.end[**slice as usize] = Nanos(u64::MAX);
        }
        while s.len() > self.limit / 4 * 3 && self.least < ALWAYS {
            self.least = (self.least * 2).max(FIRST);
            self.take_out(s, &mut open);
        }
        if s.len() > self.limit / 4 * 3 {
            self.limit *= 2;
        }
        for slice in open {
            let i = *slice as usize;
            s.end[i] = s.start[i];
        }
    }

    fn take_out(&mut self, s: &mut Columns, open: &mut [&mut u32]) {
        let mut open = open.iter_mut().peekable();
        // The newest kept slice of each depth: the one above a kept slice is its parent.
        let mut path: Vec<u32> = Vec::new();
        let mut to = 0;
        for from in 0..s.len() {
            let is_open = open.peek().is_some_and(|o| ***o as usize == from);
            if !is_open && s.end[from].since(s.start[from]).0 < self.least {
                self.folded += 1;
                continue;
            }
            if is_open && let Some(o) = open.next() {
                **o = to as u32;
            }
            let depth = s.depth[from] as usize;
            path.truncate(depth);
            s.parent[to] = path.last().map_or(SliceIndex::NONE, |&p| SliceIndex(p));
            path.push(to as u32);
            s.start[to] = s.start[from];
            s.end[to] = s.end[from];
            s.method[to] = s.method[from];
            s.depth[to] = s.depth[from];
            s.flags[to] = s.flags[from];
            s.error[to] = s.error[from];
            if let Some(&detail) = s.detail.get(from) {
                s.detail[to] = detail;
            }
            to += 1;
        }
        s.truncate(to);
    }
}
