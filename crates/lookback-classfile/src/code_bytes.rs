//! Writes the instructions of a rewritten method.
//!
//! Constraint: whole runs of instructions are copied at once; only what
//! changes is touched: branches over an insertion, switches, returns. Must
//! follow the same rules as `pc_map`, which laid the method out.

use crate::opcode::Flow;
use crate::outcome::SkipReason;
use crate::pc_map::{Cursor, PcMap};
use crate::reader::{read_i2, read_i4};
use crate::scan::Event;
use crate::switch::{Switch, padding};
use crate::trace_code::{Sequence, TraceCode};

const MALFORMED: SkipReason = SkipReason::Malformed;

/// Appends the new code to `out`, the handler last.
pub(crate) fn write(
    code: &[u8],
    events: &[Event],
    map: &PcMap,
    entry_pc: u32,
    trace: &TraceCode,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let begin = out.len();
    let mut copy = Copier { code, out, copied: 0 };
    let mut targets = map.cursor();
    // Distance from old to new addresses of the instruction at hand.
    let mut shift = 0u32;
    let mut entered = false;
    for event in events {
        let pc = event.pc();
        if !entered && pc >= entry_pc {
            entered = true;
            shift += trace.entry.len();
            copy.insert(entry_pc, &trace.entry)?;
        }
        match event.flow() {
            Flow::Return => {
                copy.insert(pc, &trace.exit)?;
                shift += trace.exit.len();
            }
            Flow::Branch => {
                let old = read_i2(code, pc as usize + 1).ok_or(MALFORMED)?;
                let new = offset(&mut targets, pc, shift, i32::from(old));
                if new != i32::from(old) {
                    let new = i16::try_from(new).map_err(|_| SkipReason::BranchOffset)?;
                    copy.up_to(pc + 1)?;
                    copy.replace(&new.to_be_bytes());
                }
            }
            Flow::WideBranch => {
                let old = read_i4(code, pc as usize + 1).ok_or(MALFORMED)?;
                let new = offset(&mut targets, pc, shift, old);
                copy.up_to(pc + 1)?;
                copy.replace(&new.to_be_bytes());
            }
            Flow::Switch => {
                let switch = Switch::parse(code, pc as usize).ok_or(MALFORMED)?;
                copy.up_to(pc + 1)?;
                let (old_pad, new_pad) = (padding(pc), padding(pc.wrapping_add(shift)));
                copy.out.extend_from_slice([0u8; 3].get(..new_pad as usize).unwrap_or_default());
                copy.copied = switch.operands;
                for at in switch.offset_positions() {
                    let old = read_i4(code, at).ok_or(MALFORMED)?;
                    let new = offset(&mut targets, pc, shift, old);
                    copy.up_to(at as u32)?;
                    copy.replace(&new.to_be_bytes());
                }
                shift = shift.wrapping_add(new_pad).wrapping_sub(old_pad);
            }
        }
    }
    if !entered {
        copy.insert(entry_pc, &trace.entry)?;
    }
    copy.up_to(code.len() as u32)?;
    debug_assert_eq!(out.len() - begin, map.new_len() as usize);
    trace.handler.append_to(out);
    Ok(())
}

/// The new offset of a branch at old address `pc`, which now stands at `pc + shift`.
#[inline]
fn offset(targets: &mut Cursor<'_>, pc: u32, shift: u32, old: i32) -> i32 {
    let target = targets.target(pc.wrapping_add_signed(old));
    target.wrapping_sub(pc.wrapping_add(shift)) as i32
}

struct Copier<'a> {
    code: &'a [u8],
    out: &'a mut Vec<u8>,
    copied: usize,
}

impl Copier<'_> {
    #[inline]
    fn up_to(&mut self, pc: u32) -> Result<(), SkipReason> {
        let run = self.code.get(self.copied..pc as usize).ok_or(MALFORMED)?;
        self.out.extend_from_slice(run);
        self.copied = pc as usize;
        Ok(())
    }

    #[inline]
    fn insert(&mut self, pc: u32, sequence: &Sequence) -> Result<(), SkipReason> {
        self.up_to(pc)?;
        sequence.append_to(self.out);
        Ok(())
    }

    #[inline]
    fn replace(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.copied += bytes.len();
    }
}
