//! The one pass over a method's instructions.
//!
//! Constraint: runs for every method of every loaded class, most of which are
//! then not traced, so the loop is a table look-up and three additions per
//! instruction; branches, switches and returns ("events") are noted without a
//! conditional jump. Each step waits for the length the one before looked up,
//! about ten cycles; so where a line number names an instruction near the middle,
//! both halves are walked at once and the two chains of look-ups overlap. Must
//! not allocate per instruction, nor trust the line number.

use crate::opcode::{
    CALL, EVENT, EVENT_SHIFT, Flow, IINC, INFO, JSR, JSR_W, LENGTH, LOCK, LOOKUPSWITCH, RET, TABLESWITCH,
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

/// Code shorter than this is walked in one piece: it is done before two chains pay.
const WORTH_HALVING: usize = 32;

/// Checks the instructions and notes the events in address order. `middle` is the address of
/// some instruction near the middle, if there is a guess. A function of its own, so that the
/// state of both walks fits into registers.
#[inline(never)]
pub(crate) fn scan(
    code: &[u8],
    middle: Option<u16>,
    buffer: &mut Vec<Event>,
) -> Result<CodeFacts, SkipReason> {
    if code.is_empty() || code.len() > MAX_CODE {
        return Err(SkipReason::Malformed);
    }
    if buffer.len() < code.len() {
        buffer.resize(code.len(), Event::default());
    }
    // An event takes at least one byte of code, so a slot per byte is enough for each half.
    let slots = &mut buffer[..code.len()];
    let middle = middle.map(usize::from).filter(|m| code.len() >= WORTH_HALVING && *m < code.len());
    let mut walk = Walk::at(0);
    if let Some(middle) = middle {
        let (front, back) = slots.split_at_mut(middle);
        let mut second = Walk::at(middle);
        // When the guess is wrong so may be what the second walk meets: judged below.
        let mut verdict = Ok(());
        while walk.pc < middle && second.pc < code.len() {
            walk.step(code, front)?;
            verdict = second.step(code, back);
            if verdict.is_err() {
                break;
            }
        }
        while walk.pc < middle {
            walk.step(code, front)?;
        }
        if walk.pc == middle {
            verdict?;
            while second.pc < code.len() {
                second.step(code, back)?;
            }
            slots.copy_within(middle..middle + second.events, walk.events);
            walk = walk.joined(second);
        }
    }
    while walk.pc < code.len() {
        walk.step(code, slots)?;
    }
    if walk.pc != code.len() {
        return Err(SkipReason::Malformed);
    }
    let has_loop = check_targets(code, &slots[..walk.events]).ok_or(SkipReason::Malformed)?;
    Ok(CodeFacts {
        instructions: walk.instructions,
        has_call: walk.seen & CALL != 0,
        has_loop,
        has_monitor: walk.seen & LOCK != 0,
        events: walk.events,
    })
}

/// A position in the code and what was met on the way.
#[derive(Clone, Copy)]
struct Walk {
    pc: usize,
    instructions: u32,
    events: usize,
    /// The classes of all instructions met.
    seen: u16,
}

impl Walk {
    fn at(pc: usize) -> Self {
        Walk { pc, instructions: 0, events: 0, seen: 0 }
    }

    /// Moves over the instruction at `pc`, which is inside the code.
    #[inline(always)]
    fn step(&mut self, code: &[u8], slots: &mut [Event]) -> Result<(), SkipReason> {
        let op = code[self.pc];
        let info = INFO[usize::from(op)];
        // Written for each instruction, kept only when it is an event: no jump to mispredict.
        slots[self.events] = Event::new(self.pc, op);
        self.events += usize::from((info & EVENT) >> EVENT_SHIFT);
        self.seen |= info;
        self.instructions += 1;
        let length = usize::from(info & LENGTH);
        self.pc = if length != 0 { self.pc + length } else { varying(code, self.pc)? };
        Ok(())
    }

    /// This walk followed by one that began where this one ended.
    fn joined(self, next: Walk) -> Walk {
        Walk {
            pc: next.pc,
            instructions: self.instructions + next.instructions,
            events: self.events + next.events,
            seen: self.seen | next.seen,
        }
    }
}

/// The address behind an instruction of varying length.
#[cold]
fn varying(code: &[u8], pc: usize) -> Result<usize, SkipReason> {
    match code.get(pc..).unwrap_or_default() {
        [TABLESWITCH | LOOKUPSWITCH, ..] => {
            Switch::parse(code, pc).map(|s| s.end).ok_or(SkipReason::Malformed)
        }
        [WIDE, IINC, ..] => Ok(pc + 6),
        [JSR | JSR_W | RET, ..] | [WIDE, RET, ..] => Err(SkipReason::Subroutine),
        [WIDE, 21..=25 | 54..=58, ..] => Ok(pc + 4),
        _ => Err(SkipReason::Malformed),
    }
}

/// Whether any branch goes backwards; `None` when one leaves the code.
#[inline(never)]
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
        scan(code, None, &mut Vec::new())
    }

    #[test]
    fn both_halves_at_once_find_the_same() {
        // sipush pairs, returns, a backward goto, a switch: every guess of the middle must agree.
        let mut code = Vec::new();
        for i in 0..12u8 {
            code.extend([17, 177, 177, 153, 0, 3, 184, 0, i, 87]);
        }
        code.extend([167, 0xff, 0xfd, 170]);
        code.resize((code.len() + 3) & !3, 0);
        code.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 194, 177]);
        let mut expected_events = Vec::new();
        let expected = scan(&code, None, &mut expected_events).expect("well formed");
        assert!(expected.has_loop && expected.has_monitor);
        for middle in 0..=code.len() as u16 {
            let mut events = Vec::new();
            assert_eq!(scan(&code, Some(middle), &mut events), Ok(expected), "{middle}");
            assert_eq!(events[..expected.events], expected_events[..expected.events], "{middle}");
        }
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
