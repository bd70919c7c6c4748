//! Samples of a recording, in columns, and the calling contexts that they share.
//!
//! The constraint that shaped it: an hour at 1 ms is millions of samples of fifty frames, which repeat. So stacks are interned
//! into a tree of calling contexts as they are read, and a sample is a few numbers. A damaged file may hold stacks that never repeat,
//! so the tree has a bound; what lies beyond is told.

use lookback_format::sample::{Activity, Sample};
use lookback_format::{MethodId, Nanos, ThreadKey};
use std::collections::HashMap;

/// Contexts that are kept: 24 bytes each.
const MOST_CONTEXTS: usize = 8_000_000;

/// A calling context: a frame, in its caller's context. 0 is the root, which is no frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(pub u32);

impl ContextId {
    /// The root.
    pub const ROOT: ContextId = ContextId(0);

    /// As an index.
    #[must_use]
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// The tree of calling contexts. A caller's number is below those of what it calls.
#[derive(Clone, Debug)]
pub struct Contexts {
    /// The caller's context.
    pub parent: Vec<ContextId>,
    /// The method; identifier 0 when its name is unknown.
    pub method: Vec<MethodId>,
    /// The source line in it; 0 when unknown.
    pub line: Vec<u16>,
    known: HashMap<(ContextId, MethodId, u16), ContextId>,
}

impl Default for Contexts {
    fn default() -> Self {
        Contexts {
            parent: vec![ContextId::ROOT],
            method: vec![MethodId(0)],
            line: vec![0],
            known: HashMap::new(),
        }
    }
}

impl Contexts {
    /// The context of a frame in `parent`; none when there is no room for another one.
    fn child(&mut self, parent: ContextId, method: MethodId, line: u16) -> Option<ContextId> {
        let next = ContextId(self.parent.len() as u32);
        if let Some(&known) = self.known.get(&(parent, method, line)) {
            return Some(known);
        }
        if self.parent.len() >= MOST_CONTEXTS {
            return None;
        }
        self.known.insert((parent, method, line), next);
        self.parent.push(parent);
        self.method.push(method);
        self.line.push(line);
        Some(next)
    }

    /// A context and those around it, innermost first, without the root.
    pub fn frames(&self, context: ContextId) -> impl Iterator<Item = ContextId> + '_ {
        let around = |c: &ContextId| Some(self.parent[c.at()]).filter(|p| *p != ContextId::ROOT);
        std::iter::successors(Some(context).filter(|c| *c != ContextId::ROOT), around)
    }

    /// How many there are, with the root.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Never: there is a root.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }
}

/// The samples, by time; columns of the same length.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// When.
    pub at: Vec<Nanos>,
    /// The thread.
    pub thread: Vec<ThreadKey>,
    /// What it did.
    pub activity: Vec<Activity>,
    /// Where it was.
    pub context: Vec<ContextId>,
    /// What the contexts are.
    pub contexts: Contexts,
    /// Samples of which outer frames are missing.
    pub cut: u64,
    /// Samples of which inner frames are missing, because there are too many different ones.
    pub beyond: u64,
}

impl Samples {
    pub(crate) fn add(&mut self, sample: &Sample) {
        let mut context = ContextId::ROOT;
        for frame in sample.frames.iter().rev() {
            match self.contexts.child(context, frame.method, frame.line) {
                Some(inner) => context = inner,
                None => {
                    self.beyond += 1;
                    break;
                }
            }
        }
        self.cut += u64::from(sample.is_cut);
        self.at.push(sample.at);
        self.thread.push(sample.thread);
        self.activity.push(sample.activity);
        self.context.push(context);
    }

    /// Puts them in the order of time.
    pub(crate) fn sort(&mut self) {
        if self.at.is_sorted() {
            return;
        }
        let mut order: Vec<u32> = (0..self.at.len() as u32).collect();
        order.sort_by_key(|&i| self.at[i as usize]);
        fn by<T: Copy>(order: &[u32], column: &mut Vec<T>) {
            *column = order.iter().map(|&i| column[i as usize]).collect();
        }
        by(&order, &mut self.at);
        by(&order, &mut self.thread);
        by(&order, &mut self.activity);
        by(&order, &mut self.context);
    }

    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// How many samples were taken in each context itself, by context and what the thread did.
    #[must_use]
    pub fn own(&self) -> Vec<[u64; Activity::ALL.len()]> {
        let mut own = vec![[0; Activity::ALL.len()]; self.contexts.len()];
        for (context, activity) in self.context.iter().zip(&self.activity) {
            own[context.at()][*activity as usize] += 1;
        }
        own
    }
}

/// How often a method was found in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hot {
    /// The method.
    pub method: MethodId,
    /// Samples in which it was the innermost.
    pub own: u64,
    /// Samples in which it was found at all.
    pub total: u64,
}

impl Hot {
    /// All methods of the samples in which threads did one of `activities`, those first that were innermost most often.
    #[must_use]
    pub fn of(samples: &Samples, activities: &[Activity]) -> Vec<Hot> {
        let contexts = &samples.contexts;
        let wanted = |counts: [u64; 3]| activities.iter().map(|&a| counts[a as usize]).sum::<u64>();
        let own: Vec<u64> = samples.own().into_iter().map(wanted).collect();
        let mut within = own.clone();
        // What is called has a higher number than its caller.
        for i in (1..within.len()).rev() {
            within[contexts.parent[i].at()] += within[i];
        }
        let mut found: HashMap<MethodId, Hot> = HashMap::new();
        for i in 1..contexts.len() {
            let id = ContextId(i as u32);
            let method = contexts.method[i];
            let hot = found.entry(method).or_insert(Hot { method, own: 0, total: 0 });
            hot.own += own[i];
            // In a recursion the outermost call counts.
            if within[i] > 0 && !contexts.frames(id).skip(1).any(|c| contexts.method[c.at()] == method) {
                hot.total += within[i];
            }
        }
        let mut found: Vec<Hot> = found.into_values().filter(|hot| hot.total > 0).collect();
        found.sort_by_key(|hot| (std::cmp::Reverse((hot.own, hot.total)), hot.method));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookback_format::sample::Frame;

    fn sample(at: u64, methods: &[u32], activity: Activity) -> Sample {
        let frame = |&m: &u32| Frame { method: MethodId(m), line: 1, bci: None };
        Sample {
            thread: ThreadKey(1),
            at: Nanos(at),
            activity,
            engine: None,
            is_cut: false,
            // Innermost first.
            frames: methods.iter().rev().map(frame).collect(),
        }
    }

    #[test]
    fn samples_share_their_contexts_and_stand_by_time() {
        let mut samples = Samples::default();
        samples.add(&sample(2, &[1, 2, 3], Activity::Running));
        samples.add(&sample(1, &[1, 2], Activity::Waiting));
        samples.sort();
        assert_eq!((samples.at[0], samples.activity[0]), (Nanos(1), Activity::Waiting));
        assert_eq!(samples.contexts.len(), 4);
        let methods: Vec<u32> =
            samples.contexts.frames(samples.context[1]).map(|c| samples.contexts.method[c.at()].0).collect();
        assert_eq!(methods, [3, 2, 1]);
        assert_eq!(samples.contexts.frames(ContextId::ROOT).count(), 0);
    }

    #[test]
    fn a_method_counts_once_in_a_recursion() {
        let mut samples = Samples::default();
        samples.add(&sample(1, &[1, 2, 1, 2], Activity::Running));
        samples.add(&sample(2, &[1], Activity::Running));
        samples.add(&sample(3, &[1, 2], Activity::Waiting));
        let hot = |activities: &[Activity]| -> Vec<(u32, u64, u64)> {
            Hot::of(&samples, activities).iter().map(|h| (h.method.0, h.own, h.total)).collect()
        };
        assert_eq!(hot(&[Activity::Running]), [(1, 1, 2), (2, 1, 1)]);
        assert_eq!(hot(&Activity::ALL), [(2, 2, 2), (1, 1, 3)]);
    }
}
