//! The instruction sequences that are inserted: push the id, call the trace point.
//!
//! Constraint: every byte counts, because HotSpot decides by bytecode size what
//! it inlines; so the shortest push is taken. Must not need more than two
//! words of stack.

use crate::opcode::{ATHROW, BIPUSH, INVOKESTATIC, LDC_W, SIPUSH};
use crate::pool_append::PoolAppend;
use crate::probe::{Kind, MethodId, TracePoints};

/// Up to two pushes, a call and a throw: 3 + 3 + 3 + 1 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sequence {
    bytes: [u8; 10],
    len: u8,
}

impl Sequence {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> u32 {
        u32::from(self.len)
    }

    fn add(&mut self, bytes: &[u8]) {
        let from = usize::from(self.len);
        if let Some(room) = self.bytes.get_mut(from..from + bytes.len()) {
            room.copy_from_slice(bytes);
            self.len += bytes.len() as u8;
        }
    }

    fn push(&mut self, value: i32, pool: &mut PoolAppend) -> Option<()> {
        if let Ok(byte) = i8::try_from(value) {
            self.add(&[BIPUSH, byte as u8]);
        } else if let Ok(short) = i16::try_from(value) {
            let [a, b] = short.to_be_bytes();
            self.add(&[SIPUSH, a, b]);
        } else {
            let [a, b] = pool.int(value)?.to_be_bytes();
            self.add(&[LDC_W, a, b]);
        }
        Some(())
    }
}

/// The code for one method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TraceCode {
    pub(crate) entry: Sequence,
    pub(crate) exit: Sequence,
    /// Exit and rethrow; what it is given is the only thing on the stack.
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
        pool: &mut PoolAppend,
    ) -> Option<TraceCode> {
        let mut arguments = Sequence::default();
        arguments.push(id.0 as i32, pool)?;
        if kind == Kind::Watched {
            arguments.push(i32::from(rule), pool)?;
        }
        let mut call = |exit: bool| {
            let [a, b] = pool.trace_point(points, kind, exit)?.to_be_bytes();
            let mut sequence = arguments;
            sequence.add(&[INVOKESTATIC, a, b]);
            Some(sequence)
        };
        let (entry, exit) = (call(false)?, call(true)?);
        let mut handler = exit;
        handler.add(&[ATHROW]);
        Some(TraceCode { entry, exit, handler, stack: if kind == Kind::Watched { 2 } else { 1 } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u32, kind: Kind, rule: u16) -> Vec<u8> {
        let mut pool = PoolAppend::default();
        pool.reset(1);
        let code = TraceCode::new(&TracePoints::in_class("T"), kind, MethodId(id), rule, &mut pool);
        code.expect("room in the pool").entry.as_bytes().to_vec()
    }

    #[test]
    fn the_shortest_push_is_taken() {
        assert_eq!(entry(127, Kind::Plain, 0), [BIPUSH, 127, INVOKESTATIC, 0, 6]);
        assert_eq!(entry(128, Kind::Plain, 0), [SIPUSH, 0, 128, INVOKESTATIC, 0, 6]);
        assert_eq!(entry(32767, Kind::Timed, 0), [SIPUSH, 127, 255, INVOKESTATIC, 0, 6]);
        assert_eq!(entry(32768, Kind::Plain, 0), [LDC_W, 0, 1, INVOKESTATIC, 0, 7]);
    }

    #[test]
    fn watched_pushes_the_rule_second() {
        assert_eq!(entry(5, Kind::Watched, 9), [BIPUSH, 5, BIPUSH, 9, INVOKESTATIC, 0, 6]);
        let longest = entry(1 << 29, Kind::Watched, 65535);
        assert_eq!(longest, [LDC_W, 0, 1, LDC_W, 0, 2, INVOKESTATIC, 0, 8]);
    }
}
