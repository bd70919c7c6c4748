//! Slices of one thread, as columns.
//!
//! The constraint that shaped them: eight million slices must fit beside the slots they come from, so each
//! field is an array of its own and a slice is a position. Slices stand in call order, outer first: the slices
//! inside slice `i` follow it without a break, and a column is written once, front to back.

use lookback_format::{MethodId, Nanos};

/// What is special about a slice, as bits. The report page knows them by the same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// The entry was not seen: the call began before this place of the recording.
    pub const CUT_START: Flags = Flags(1);
    /// The exit was not seen: still running at the end, or its record was lost in a gap.
    pub const CUT_END: Flags = Flags(2);
    /// The end follows from a later record of the same thread, not from an exit of its own.
    pub const INFERRED_END: Flags = Flags(4);
    /// A wait point: the thread stood still, and both times are exact.
    pub const WAIT: Flags = Flags(16);
    /// The call that fired the trigger.
    pub const TRIGGER: Flags = Flags(32);
    /// A span that the program marked itself, exact at both ends.
    pub const SPAN: Flags = Flags(64);
    /// Something that happened at one moment, marked by the program: start and end are the same.
    pub const INSTANT: Flags = Flags(128);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether one end was not seen, so that the duration is a lower bound.
    #[must_use]
    pub const fn cut(self) -> bool {
        self.0 & (Flags::CUT_START.0 | Flags::CUT_END.0) != 0
    }

    /// Both together.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Position of a slice in its thread's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliceIndex(pub u32);

impl SliceIndex {
    /// In place of a parent: the slice is outermost.
    pub const NONE: SliceIndex = SliceIndex(u32::MAX);

    /// As an index.
    #[must_use]
    pub const fn at(self) -> usize {
        self.0 as usize
    }

    /// `None` for [`SliceIndex::NONE`].
    #[must_use]
    pub fn some(self) -> Option<SliceIndex> {
        (self != SliceIndex::NONE).then_some(self)
    }
}

/// The slices of one thread. All columns have the same length, but `detail`, which can be empty; `start` ascends; a parent stands before its
/// children and covers them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// When each call began.
    pub start: Vec<Nanos>,
    /// When it ended.
    pub end: Vec<Nanos>,
    /// The method.
    pub method: Vec<MethodId>,
    /// Number of slices around it.
    pub depth: Vec<u32>,
    /// The slice around it, [`SliceIndex::NONE`] for an outermost one.
    pub parent: Vec<SliceIndex>,
    /// What is special about it.
    pub flags: Vec<Flags>,
    /// Timing error in nanoseconds: neither end is further than this from the truth; `u32::MAX` = that or more.
    pub error: Vec<u32>,
    /// Which entry of the thread's [`crate::Details`] holds its values. Empty when none of the slices has any.
    pub detail: Vec<u32>,
}

/// One slice, gathered from the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// When it began.
    pub start: Nanos,
    /// When it ended.
    pub end: Nanos,
    /// The method.
    pub method: MethodId,
    /// Number of slices around it.
    pub depth: u32,
    /// The slice around it.
    pub parent: SliceIndex,
    /// What is special about it.
    pub flags: Flags,
    /// Timing error, nanoseconds.
    pub error: u32,
}

impl Slice {
    /// How long it took.
    #[must_use]
    pub const fn duration(&self) -> Nanos {
        self.end.since(self.start)
    }

    /// How much of `from..to` it covers.
    #[must_use]
    pub fn overlap(&self, from: Nanos, to: Nanos) -> Nanos {
        self.end.min(to).since(self.start.max(from))
    }
}

impl Columns {
    /// Empty columns with room for `slices`.
    #[must_use]
    pub fn with_capacity(slices: usize) -> Self {
        Columns {
            start: Vec::with_capacity(slices),
            end: Vec::with_capacity(slices),
            method: Vec::with_capacity(slices),
            depth: Vec::with_capacity(slices),
            parent: Vec::with_capacity(slices),
            flags: Vec::with_capacity(slices),
            error: Vec::with_capacity(slices),
            detail: Vec::new(),
        }
    }

    /// Forgets all slices from position `len` on.
    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.start.truncate(len);
        self.end.truncate(len);
        self.method.truncate(len);
        self.depth.truncate(len);
        self.parent.truncate(len);
        self.flags.truncate(len);
        self.error.truncate(len);
        self.detail.truncate(len);
    }

    /// Number of slices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// One slice.
    ///
    /// # Panics
    /// When there is no such slice.
    #[must_use]
    pub fn get(&self, i: SliceIndex) -> Slice {
        let i = i.at();
        Slice {
            start: self.start[i],
            end: self.end[i],
            method: self.method[i],
            depth: self.depth[i],
            parent: self.parent[i],
            flags: self.flags[i],
            error: self.error[i],
        }
    }

    /// How long slice `i` took.
    #[must_use]
    pub fn duration(&self, i: SliceIndex) -> Nanos {
        self.end[i.at()].since(self.start[i.at()])
    }

    /// All positions.
    pub fn indices(&self) -> impl Iterator<Item = SliceIndex> + use<> {
        (0..self.len() as u32).map(SliceIndex)
    }

    /// The position after the last slice inside `i`.
    #[must_use]
    pub fn subtree_end(&self, i: SliceIndex) -> SliceIndex {
        let depth = self.depth[i.at()];
        let inside = self.depth[i.at() + 1..].iter().take_while(|&&d| d > depth).count();
        SliceIndex(i.0 + 1 + inside as u32)
    }

    /// All slices inside `i`, without it.
    pub fn inside(&self, i: SliceIndex) -> impl Iterator<Item = SliceIndex> + use<> {
        (i.0 + 1..self.subtree_end(i).0).map(SliceIndex)
    }

    /// The calls made directly from `i`, in order.
    pub fn children(&self, i: SliceIndex) -> impl Iterator<Item = SliceIndex> + '_ {
        self.inside(i).filter(move |c| self.parent[c.at()] == i)
    }

    /// The callers of `i`, innermost first, without it.
    pub fn callers(&self, i: SliceIndex) -> impl Iterator<Item = SliceIndex> + '_ {
        std::iter::successors(self.parent[i.at()].some(), |p| self.parent[p.at()].some())
    }

    /// Own time of every slice: its duration without the calls made from it, nanoseconds.
    #[must_use]
    pub fn self_times(&self) -> Vec<u64> {
        let mut own: Vec<u64> = self.start.iter().zip(&self.end).map(|(s, e)| e.since(*s).0).collect();
        for i in 0..self.len() {
            if let Some(p) = self.parent[i].some() {
                own[p.at()] = own[p.at()].saturating_sub(self.end[i].since(self.start[i]).0);
            }
        }
        own
    }
}
