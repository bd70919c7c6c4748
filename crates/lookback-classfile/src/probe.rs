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
    /// `enterPrecise(id)` and `exitPrecise(id)`.
    Precise(MethodId),
    /// `enterWatched(id, rule)` and `exitWatched(id, rule)`.
    Watched {
        /// The method.
        id: MethodId,
        /// Which watch rule matched.
        rule: u16,
    },
    /// `mount(this, id)` at entry and `unmount(id)` at exit, of an instance method.
    Mount(MethodId),
    /// `unmount(id)` at entry and exit.
    Unmount(MethodId),
    /// `ready(this)` at entry of an instance method, which has no id.
    Ready,
}

/// The kinds of trace points, as an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain = 0,
    Timed = 1,
    Watched = 2,
    Mount = 3,
    Unmount = 4,
    Ready = 5,
    Precise = 6,
}

/// The primitive values that a plain exit hands through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    Int = 0,
    Long = 1,
    Float = 2,
    Double = 3,
}

impl Value {
    /// What a method of this descriptor returns, when it is a primitive value.
    pub(crate) fn returned_by(descriptor: &[u8]) -> Option<Value> {
        let at = descriptor.iter().rposition(|&b| b == b')')?;
        match descriptor.get(at + 1)? {
            b'I' | b'Z' | b'B' | b'C' | b'S' => Some(Value::Int),
            b'J' => Some(Value::Long),
            b'F' => Some(Value::Float),
            b'D' => Some(Value::Double),
            _ => None,
        }
    }
}

/// One trace point method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    Enter(Kind),
    Exit(Kind),
    /// A plain exit that takes the returned value and gives it back.
    ExitWith(Value),
    /// A plain exit by an exception.
    Unwind,
}

impl Point {
    /// How many there are.
    pub(crate) const COUNT: usize = 16;

    /// Its place in tables.
    pub(crate) fn index(self) -> usize {
        match self {
            Point::Enter(Kind::Mount) => 11,
            Point::Enter(Kind::Unmount) | Point::Exit(Kind::Mount | Kind::Unmount) => 12,
            Point::Enter(Kind::Ready) | Point::Exit(Kind::Ready) => 13,
            Point::Enter(Kind::Precise) => 14,
            Point::Exit(Kind::Precise) => 15,
            Point::Enter(kind) => kind as usize * 2,
            Point::Exit(kind) => kind as usize * 2 + 1,
            Point::ExitWith(value) => 6 + value as usize,
            Point::Unwind => 10,
        }
    }

    /// The place of the first trace point with the same name.
    pub(crate) fn name_index(self) -> usize {
        match self {
            Point::ExitWith(_) => Point::Exit(Kind::Plain).index(),
            other => other.index(),
        }
    }

    /// The place of the first trace point with the same descriptor.
    pub(crate) fn descriptor_index(self) -> usize {
        match self {
            Point::Enter(Kind::Watched) | Point::Exit(Kind::Watched) => 1,
            Point::Enter(Kind::Mount | Kind::Ready) => self.index(),
            Point::Enter(_) | Point::Exit(_) | Point::Unwind => 0,
            Point::ExitWith(_) => self.index(),
        }
    }

    pub(crate) fn descriptor(self) -> &'static str {
        match self {
            Point::Enter(Kind::Watched) | Point::Exit(Kind::Watched) => "(II)V",
            Point::Enter(Kind::Mount) => "(Ljava/lang/Object;I)V",
            Point::Enter(Kind::Ready) => "(Ljava/lang/Object;)V",
            Point::Enter(_) | Point::Exit(_) | Point::Unwind => "(I)V",
            Point::ExitWith(Value::Int) => "(II)I",
            Point::ExitWith(Value::Long) => "(JI)J",
            Point::ExitWith(Value::Float) => "(FI)F",
            Point::ExitWith(Value::Double) => "(DI)D",
        }
    }
}

/// The class and the names of the static trace point methods. Descriptors are
/// `(I)V`, for the watched ones `(II)V`. A plain exit from a method that returns
/// a primitive value takes the value, the id second, and gives the value back:
/// `(II)I`, `(JI)J`, `(FI)F`, `(DI)D`. So the value need not survive a call in
/// it, which would cost every such method a store and a load. A plain method that
/// an exception leaves has a method of its own: nearly none ever are, so it should not
/// be inlined where the exits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracePoints {
    /// Internal name of the class, such as `java/lang/LookbackTracePoint`.
    pub class: &'static str,
    /// Called at entry, `(I)V`.
    pub enter: &'static str,
    /// Called at exit, `(I)V` and its overloads.
    pub exit: &'static str,
    /// Called when an exception leaves, `(I)V`.
    pub unwind: &'static str,
    /// Called at entry of a timed method, `(I)V`.
    pub enter_timed: &'static str,
    /// Called at exit of a timed method, `(I)V`.
    pub exit_timed: &'static str,
    /// Called at entry of a method that is timed where that does not cost too much, `(I)V`.
    pub enter_precise: &'static str,
    /// Called at exit of such a method, `(I)V`.
    pub exit_precise: &'static str,
    /// Called at entry of a watched method, `(II)V`.
    pub enter_watched: &'static str,
    /// Called at exit of a watched method, `(II)V`.
    pub exit_watched: &'static str,
    /// Called at entry of a method that runs a virtual thread, its `this`: `(Ljava/lang/Object;I)V`.
    pub mount: &'static str,
    /// Called where the virtual thread does not run any more, `(I)V`.
    pub unmount: &'static str,
    /// Called at entry of a method that hands a virtual thread, its `this`, to its scheduler: `(Ljava/lang/Object;)V`.
    pub ready: &'static str,
}

impl TracePoints {
    /// The usual method names in the class with this internal name.
    pub const fn in_class(class: &'static str) -> Self {
        TracePoints {
            class,
            enter: "enter",
            exit: "exit",
            unwind: "unwind",
            enter_timed: "enterTimed",
            exit_timed: "exitTimed",
            enter_precise: "enterPrecise",
            exit_precise: "exitPrecise",
            enter_watched: "enterWatched",
            exit_watched: "exitWatched",
            mount: "mount",
            unmount: "unmount",
            ready: "ready",
        }
    }

    pub(crate) fn name(&self, point: Point) -> &'static str {
        match point {
            Point::Enter(Kind::Plain) => self.enter,
            Point::Exit(Kind::Plain) | Point::ExitWith(_) => self.exit,
            Point::Unwind => self.unwind,
            Point::Enter(Kind::Timed) => self.enter_timed,
            Point::Exit(Kind::Timed) => self.exit_timed,
            Point::Enter(Kind::Precise) => self.enter_precise,
            Point::Exit(Kind::Precise) => self.exit_precise,
            Point::Enter(Kind::Watched) => self.enter_watched,
            Point::Exit(Kind::Watched) => self.exit_watched,
            Point::Enter(Kind::Mount) => self.mount,
            Point::Enter(Kind::Unmount) | Point::Exit(Kind::Mount | Kind::Unmount) => self.unmount,
            Point::Enter(Kind::Ready) | Point::Exit(Kind::Ready) => self.ready,
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
