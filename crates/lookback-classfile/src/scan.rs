//! The one pass over a method's instructions.
//!
//! Constraint: runs for every method of every loaded class, most of which are
//! then not traced, so the loop is a table look-up and three additions per
//! instruction; branches, switches and returns ("events") are noted without a
//! conditional jump. Must not allocate per instruction.

use crate::opcode::{
    CALL, EVENT, EVENT_SHIFT, Flow, IINC, INFO, LENGTH, LOCK, LOOKUPSWITCH, RET, SUBROUTINE, TABLESWITCH,
    WIDE, flow,
};
use crate::outcome::SkipReason;
use crate::reader::{read_i2, read_i4};
use crate::switch::Switch;

/// A branch, switch or return: address and opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Event(u32);

impl Event {
    #[inline]
    fn new(pc: usize, op: u8) -> Self {
        // Code is at most 65535 bytes long, so the address fits 24 bits.
        Event((pc as u32) << 8 | u32::from(op))
    }

    #[inline]
    pub(crate) fn pc(self) -> u32 {
        self.0 >> 8
    }

    #[inline]
    pub(crate) fn op(self) -> u8 {
        self.0 as u8
    }

    #[inline]
    pub(crate) fn flow(self) -> Flow {
        flow(self.op())
    }
}

/// What the pass found; the events are the first `events` of the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeFacts {
    pub(crate) instructions: u32,
    pub(crate) has_call: bool,
    pub(crate) has_loop: bool,
    pub(crate) has_monitor: bool,
    pub(crate) events: usize,
}

/// Longest code the format allows.
pub(crate) const MAX_CODE: usize = 65535;

/// Checks the instructions and notes the events in address order.
pub(crate) fn scan(code: &[u8], buffer: &mut Vec<Event>) -> Result<CodeFacts, SkipReason> {
    if code.is_empty() || code.len() > MAX_CODE {
        return Err(SkipReason::Malformed);
    }
    if buffer.len() < code.len() {
        buffer.resize(code.len(), Event::default());
    }
    let slots = &mut buffer[..];
    let (mut pc, mut count, mut events, mut seen) = (0usize, 0u32, 0usize, 0u16);
    while pc < code.len() {
        let op = code[pc];
        let info = INFO[usize::from(op)];
        // Written for each instruction, kept only when it is an event: no jump to mispredict.
        slots[events] = Event::new(pc, op);
        events += usize::from((info & EVENT) >> EVENT_SHIFT);
        seen |= info;
        count += 1;
        let length = usize::from(info & LENGTH);
        pc = if length != 0 { pc + length } else { varying(code, pc)? };
        if seen & SUBROUTINE != 0 {
            return Err(SkipReason::Subroutine);
        }
    }
    if pc != code.len() {
        return Err(SkipReason::Malformed);
    }
    let has_loop = check_targets(code, &slots[..events]).ok_or(SkipReason::Malformed)?;
    Ok(CodeFacts {
        instructions: count,
        has_call: seen & CALL != 0,
        has_loop,
        has_monitor: seen & LOCK != 0,
        events,
    })
}

/// The address behind an instruction of varying length.
#[cold]
fn varying(code: &[u8], pc: usize) -> Result<usize, SkipReason> {
    match code.get(pc..).unwrap_or_default() {
        [TABLESWITCH | LOOKUPSWITCH, ..] => {
            Switch::parse(code, pc).map(|s| s.end).ok_or(SkipReason::Malformed)
        }
        [WIDE, IINC, ..] => Ok(pc + 6),
        [WIDE, RET, ..] => Err(SkipReason::Subroutine),
        [WIDE, 21..=25 | 54..=58, ..] => Ok(pc + 4),
        _ => Err(SkipReason::Malformed),
    }
}

/// Whether any branch goes backwards; `None` when one leaves the code.
fn check_targets(code: &[u8], events: &[Event]) -> Option<bool> {
    let mut backwards = false;
    for event in events {
        let pc = event.pc() as usize;
        match event.flow() {
            Flow::Return => {}
            Flow::Branch => backwards |= check(code, pc, i32::from(read_i2(code, pc + 1)?))?,
            Flow::WideBranch => backwards |= check(code, pc, read_i4(code, pc + 1)?)?,
            Flow::Switch => {
                for at in Switch::parse(code, pc)?.offset_positions() {
                    backwards |= check(code, pc, read_i4(code, at)?)?;
                }
            }
        }
    }
    Some(backwards)
}

#[inline]
fn check(code: &[u8], pc: usize, offset: i32) -> Option<bool> {
    let target = pc as i64 + i64::from(offset);
    (target >= 0 && target < code.len() as i64).then_some(offset <= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(code: &[u8]) -> Result<CodeFacts, SkipReason> {
        scan(code, &mut Vec::new())
    }

    #[test]
    fn counts_and_flags() {
        // iconst_0, ifeq +6, invokestatic #1, monitorenter; goto -8
        let code = [3, 153, 0, 6, 184, 0, 1, 194, 167, 0xff, 0xf8, 177];
        let f = facts(&code).expect("well formed");
        assert_eq!((f.instructions, f.events), (6, 3));
        assert!(f.has_call && f.has_loop && f.has_monitor);
        let f = facts(&[3, 172]).expect("well formed");
        assert!(!f.has_call && !f.has_loop && !f.has_monitor);
    }

    #[test]
    fn wide_forms_have_their_lengths() {
        let f = facts(&[196, 132, 0, 1, 0, 1, 196, 21, 0, 1, 177]).expect("well formed");
        assert_eq!(f.instructions, 3);
        assert_eq!(facts(&[196, 0, 0, 0, 177]), Err(SkipReason::Malformed));
    }

    #[test]
    fn subroutines_and_bad_code_are_told_apart() {
        assert_eq!(facts(&[168, 0, 3, 177]), Err(SkipReason::Subroutine));
        assert_eq!(facts(&[201, 0, 0, 0, 5, 177]), Err(SkipReason::Subroutine));
        assert_eq!(facts(&[169, 1]), Err(SkipReason::Subroutine));
        assert_eq!(facts(&[196, 169, 0, 1]), Err(SkipReason::Subroutine));
        assert_eq!(facts(&[202]), Err(SkipReason::Malformed));
        assert_eq!(facts(&[17, 0]), Err(SkipReason::Malformed));
        assert_eq!(facts(&[]), Err(SkipReason::Malformed));
        assert_eq!(facts(&[167, 0, 3]), Err(SkipReason::Malformed));
        assert_eq!(facts(&[167, 0xff, 0xff]), Err(SkipReason::Malformed));
    }
}
