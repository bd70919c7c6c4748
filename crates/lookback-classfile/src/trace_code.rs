//! The instruction sequences that are inserted: push the id, call the trace point.
//!
//! Constraint: every byte counts, because HotSpot decides by bytecode size what
//! it inlines; so the shortest push is taken. Must not need more than two
//! words of stack.

use crate::opcode::{ALOAD_0, ATHROW, BIPUSH, INVOKESTATIC, LDC_W, SIPUSH};
use crate::pool_append::PoolAppend;
use crate::probe::{Kind, MethodId, Point, TracePoints, Value};

/// Bytes of a sequence, padded so that it is copied in one move.
const ROOM: usize = 16;

/// Up to two pushes, a call and a throw: 3 + 3 + 3 + 1 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sequence {
    bytes: [u8; ROOM],
    len: u8,
}

impl Sequence {
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        u32::from(self.len)
    }

    /// Appends the sequence to code.
    #[inline]
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        // A copy of known length is two instructions; one of the exact length is a call.
        let end = out.len() + usize::from(self.len);
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
    }

    /// The sequence with up to three more bytes, of which `len` count.
    #[inline]
    fn then(mut self, bytes: [u8; 3], len: u8) -> Self {
        let from = usize::from(self.len);
        if let Some(room) = self.bytes.get_mut(from..from + 3) {
            room.copy_from_slice(&bytes);
            self.len += len;
        }
        self
    }

    #[inline]
    fn then_push(self, value: i32, pool: &mut PoolAppend) -> Option<Self> {
        Some(if let Ok(byte) = i8::try_from(value) {
            self.then([BIPUSH, byte as u8, 0], 2)
        } else if let Ok(short) = i16::try_from(value) {
            let [a, b] = short.to_be_bytes();
            self.then([SIPUSH, a, b], 3)
        } else {
            let [a, b] = pool.int(value)?.to_be_bytes();
            self.then([LDC_W, a, b], 3)
        })
    }
}

/// The code for one method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TraceCode {
    pub(crate) entry: Sequence,
    pub(crate) exit: Sequence,
    /// Unwind (or exit, where there is no inlining) and rethrow; what it is given is the only thing on the stack.
    pub(crate) handler: Sequence,
    /// Words of stack that entry or exit code needs on top of what is there.
    pub(crate) stack: u16,
}

impl TraceCode {
    /// Makes the code and the constants it needs; `None` when the pool is full.
    pub(crate) fn new(
        points: &TracePoints,
        kind: Kind,
        id: MethodId,
        rule: u16,
        returns: Option<Value>,
        pool: &mut PoolAppend,
    ) -> Option<TraceCode> {
        let mut arguments = Sequence::default().then_push(id.0 as i32, pool)?;
        if kind == Kind::Watched {
            arguments = arguments.then_push(i32::from(rule), pool)?;
        }
        let this = Sequence::default().then([ALOAD_0, 0, 0], 1);
        let entered = match kind {
            Kind::Ready => this,
            Kind::Mount => this.then_push(id.0 as i32, pool)?,
            _ => arguments,
        };
        let mut call_with = |arguments: Sequence, point| {
            let [a, b] = pool.trace_point(points, point)?.to_be_bytes();
            Some(arguments.then([INVOKESTATIC, a, b], 3))
        };
        let entry = call_with(entered, Point::Enter(kind))?;
        let mut call = |point| call_with(arguments, point);
        let exit = match (kind, returns) {
            (Kind::Plain, Some(value)) => call(Point::ExitWith(value))?,
            (Kind::Ready, _) => Sequence::default(),
            _ => call(Point::Exit(kind))?,
        };
        let thrown = if kind == Kind::Plain { call(Point::Unwind)? } else { exit };
        let handler = thrown.then([ATHROW, 0, 0], 1);
        let stack = if matches!(kind, Kind::Watched | Kind::Mount) { 2 } else { 1 };
        Some(TraceCode { entry, exit, handler, stack })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u32, kind: Kind, rule: u16) -> Vec<u8> {
        let mut pool = PoolAppend::default();
        pool.reset(1);
        let code = TraceCode::new(&TracePoints::in_class("T"), kind, MethodId(id), rule, None, &mut pool);
        let mut out = vec![];
        code.expect("room in the pool").entry.append_to(&mut out);
        out
    }

    #[test]
    fn the_shortest_push_is_taken() {
        assert_eq!(entry(127, Kind::Plain, 0), [BIPUSH, 127, INVOKESTATIC, 0, 6]);
        assert_eq!(entry(128, Kind::Plain, 0), [SIPUSH, 0, 128, INVOKESTATIC, 0, 6]);
        assert_eq!(entry(32767, Kind::Timed, 0), [SIPUSH, 127, 255, INVOKESTATIC, 0, 6]);
        assert_eq!(entry(32768, Kind::Plain, 0), [LDC_W, 0, 1, INVOKESTATIC, 0, 7]);
    }

    #[test]
    fn a_returned_value_goes_through_the_exit_and_not_through_the_handler() {
        let mut pool = PoolAppend::default();
        pool.reset(1);
        let returns = Value::returned_by(b"(JLjava/lang/String;)Z");
        assert_eq!(returns, Some(Value::Int));
        let points = TracePoints::in_class("T");
        let code = TraceCode::new(&points, Kind::Plain, MethodId(7), 0, returns, &mut pool).expect("room");
        let bytes = |s: &Sequence| {
            let mut out = vec![];
            s.append_to(&mut out);
            out
        };
        let (exit, handler) = (bytes(&code.exit), bytes(&code.handler));
        assert_eq!((exit.len(), handler.len()), (5, 6));
        assert_ne!(exit[3..5], handler[3..5], "another overload");
        assert_eq!(Value::returned_by(b"()V"), None);
        assert_eq!(Value::returned_by(b"()[I"), None);
        assert_eq!(Value::returned_by(b"()"), None);
    }

    #[test]
    fn a_mount_pushes_this_first() {
        assert_eq!(entry(5, Kind::Mount, 0), [ALOAD_0, BIPUSH, 5, INVOKESTATIC, 0, 6]);
        assert_eq!(entry(5, Kind::Unmount, 0), [BIPUSH, 5, INVOKESTATIC, 0, 6]);
        assert_eq!(entry(0, Kind::Ready, 0), [ALOAD_0, INVOKESTATIC, 0, 6]);
    }

    #[test]
    fn watched_pushes_the_rule_second() {
        assert_eq!(entry(5, Kind::Watched, 9), [BIPUSH, 5, BIPUSH, 9, INVOKESTATIC, 0, 6]);
        let longest = entry(1 << 29, Kind::Watched, 65535);
        assert_eq!(longest, [LDC_W, 0, 1, LDC_W, 0, 2, INVOKESTATIC, 0, 8]);
    }
}
