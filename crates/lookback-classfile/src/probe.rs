//! What a caller wants traced: method ids, kinds of trace points, the policy.
//!
//! Constraint: the rewriter asks, the agent decides; the rewriter knows no
//! patterns, thresholds or registries. Must not hold state.

use crate::class_info::ClassInfo;
use crate::method_info::MethodInfo;

/// The number a trace point carries. Meant for 1..=2^30-1; the rewriter writes
/// the 32 bits as they are. Up to 32767 an id costs no constant pool entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodId(pub u32);

/// What to put into a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// Nothing: the method is copied verbatim.
    None,
    /// `enter(id)` and `exit(id)`.
    Plain(MethodId),
    /// `enterTimed(id)` and `exitTimed(id)`.
    Timed(MethodId),
    /// `enterWatched(id, rule)` and `exitWatched(id, rule)`.
    Watched {
        /// The method.
        id: MethodId,
        /// Which watch rule matched.
        rule: u16,
    },
}

/// The kinds of trace points, as an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain = 0,
    Timed = 1,
    Watched = 2,
}

/// The class and the names of the static trace point methods. Descriptors are
/// `(I)V`, for the watched ones `(II)V`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracePoints {
    /// Internal name of the class, such as `java/lang/LookbackTracePoint`.
    pub class: &'static str,
    /// Called at entry, `(I)V`.
    pub enter: &'static str,
    /// Called at exit, `(I)V`.
    pub exit: &'static str,
    /// Called at entry of a timed method, `(I)V`.
    pub enter_timed: &'static str,
    /// Called at exit of a timed method, `(I)V`.
    pub exit_timed: &'static str,
    /// Called at entry of a watched method, `(II)V`.
    pub enter_watched: &'static str,
    /// Called at exit of a watched method, `(II)V`.
    pub exit_watched: &'static str,
}

impl TracePoints {
    /// The usual method names in the class with this internal name.
    pub const fn in_class(class: &'static str) -> Self {
        TracePoints {
            class,
            enter: "enter",
            exit: "exit",
            enter_timed: "enterTimed",
            exit_timed: "exitTimed",
            enter_watched: "enterWatched",
            exit_watched: "exitWatched",
        }
    }

    pub(crate) fn name(&self, kind: Kind, exit: bool) -> &'static str {
        match (kind, exit) {
            (Kind::Plain, false) => self.enter,
            (Kind::Plain, true) => self.exit,
            (Kind::Timed, false) => self.enter_timed,
            (Kind::Timed, true) => self.exit_timed,
            (Kind::Watched, false) => self.enter_watched,
            (Kind::Watched, true) => self.exit_watched,
        }
    }
}

/// Decides what is traced; implemented by the caller.
pub trait Policy {
    /// Asked once per class before any method; `false` leaves the class alone.
    fn class(&mut self, class: &ClassInfo<'_>) -> bool;

    /// Asked, in class file order, for every method with code that can be
    /// read, has no subroutines (`jsr`, `ret`) and is not
    /// [`crate::SkipReason::KnownToVm`]. A method the policy wants
    /// may still turn out not to be rewritable; [`crate::Outcome::refused`] says so.
    fn method(&mut self, class: &ClassInfo<'_>, method: &MethodInfo<'_>) -> Probe;
}
