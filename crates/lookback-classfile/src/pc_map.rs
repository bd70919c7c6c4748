//! From addresses in the old code to addresses in the new code.
//!
//! Constraint: a method has one insertion at its entry and one per return, so
//! the map is a short list of places from which the distance changes, not a
//! table with a cell per byte. A branch target maps behind the entry code (a
//! loop must not enter again) and before the exit code (a jump to a return
//! must leave). Must not know what is inserted, only how long it is.

use crate::opcode::Flow;
use crate::outcome::SkipReason;
use crate::scan::Event;
use crate::switch::{Switch, padding};

/// From `from` on, new address = old address + `shift`.
#[derive(Debug, Clone, Copy)]
struct Break {
    from: u32,
    shift: u32,
}

/// Where code is inserted into a method and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Insertions {
    /// Old address the entry code stands before.
    pub(crate) entry_pc: u32,
    /// Bytes of entry code.
    pub(crate) entry_len: u32,
    /// Bytes of exit code before each return.
    pub(crate) exit_len: u32,
}

/// The map of one method; reused from method to method.
#[derive(Default)]
pub(crate) struct PcMap {
    breaks: Vec<Break>,
    /// Old addresses of the returns, ascending.
    returns: Vec<u32>,
    insertions: Option<Insertions>,
    old_len: u32,
    new_len: u32,
}

impl PcMap {
    /// Lays the method out anew.
    pub(crate) fn build(
        &mut self,
        code: &[u8],
        events: &[Event],
        insertions: Insertions,
    ) -> Result<(), SkipReason> {
        let Insertions { entry_pc, entry_len, exit_len } = insertions;
        self.breaks.clear();
        self.returns.clear();
        let mut shift = 0;
        let mut entered = false;
        if entry_pc > 0 {
            self.breaks.push(Break { from: 0, shift });
        }
        for event in events {
            let pc = event.pc();
            if !entered && pc >= entry_pc {
                entered = true;
                shift += entry_len;
                self.breaks.push(Break { from: entry_pc, shift });
            }
            match event.flow() {
                Flow::Return => {
                    shift += exit_len;
                    self.returns.push(pc);
                    self.breaks.push(Break { from: pc + 1, shift });
                }
                Flow::Switch => {
                    let (old, new) = (padding(pc), padding(pc + shift));
                    if old != new {
                        // Wrapping only in between: the end of the operands never moves down.
                        shift = shift.wrapping_add(new).wrapping_sub(old);
                        let parsed = Switch::parse(code, pc as usize).ok_or(SkipReason::Malformed)?;
                        self.breaks.push(Break { from: parsed.operands as u32, shift });
                    }
                }
                Flow::Branch | Flow::WideBranch => {}
            }
        }
        if !entered {
            shift += entry_len;
            self.breaks.push(Break { from: entry_pc, shift });
        }
        self.insertions = Some(insertions);
        self.old_len = code.len() as u32;
        self.new_len = self.old_len.wrapping_add(shift);
        Ok(())
    }

    /// Length of the old code.
    pub(crate) fn old_len(&self) -> u32 {
        self.old_len
    }

    /// Length of the new code without the handler, which is also the handler's address.
    pub(crate) fn new_len(&self) -> u32 {
        self.new_len
    }

    /// Old addresses of the returns, ascending.
    pub(crate) fn returns(&self) -> &[u32] {
        &self.returns
    }

    /// Bytes of exit code before each return.
    pub(crate) fn exit_len(&self) -> u32 {
        self.insertions.map_or(0, |i| i.exit_len)
    }

    /// Looks ranges up.
    pub(crate) fn spans(&self) -> Spans<'_> {
        Spans { starts: self.cursor(), ends: self.cursor(), old_len: self.old_len }
    }

    /// A fresh cursor.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        let (entry_pc, entry_len) = self.insertions.map_or((u32::MAX, 0), |i| (i.entry_pc, i.entry_len));
        // An empty span, so that the first address is looked up.
        Cursor { map: self, at: 0, from: 1, to: 0, shift: 0, entry_pc, entry_len }
    }
}

/// Looks addresses up; cheap when they come roughly in order.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'m> {
    map: &'m PcMap,
    /// Index of the break that applied last.
    at: usize,
    /// It applies to the addresses in `from..to`.
    from: u32,
    to: u32,
    shift: u32,
    entry_pc: u32,
    entry_len: u32,
}

impl Cursor<'_> {
    /// The new address of a branch target, frame or handler at `pc`; `pc` may be the end of the code.
    #[inline]
    pub(crate) fn target(&mut self, pc: u32) -> u32 {
        if !(self.from..self.to).contains(&pc) {
            self.seek(pc);
        }
        pc.wrapping_add(self.shift)
    }

    /// Finds the break that applies to `pc`: often the next one, else by halving.
    fn seek(&mut self, pc: u32) {
        let breaks = &self.map.breaks;
        let to = |i: usize| breaks.get(i + 1).map_or(u32::MAX, |b| b.from);
        let next = self.at + 1;
        self.at = if breaks.get(next).is_some_and(|b| b.from <= pc) && pc < to(next) {
            next
        } else {
            // The first break is at 0, so one always applies.
            breaks.partition_point(|b| b.from <= pc).saturating_sub(1)
        };
        if let Some(found) = breaks.get(self.at) {
            (self.from, self.to, self.shift) = (found.from, to(self.at), found.shift);
        }
    }

    /// Like [`Cursor::target`], but before the entry code: for line numbers and variables, which
    /// the entry code shares with the instruction it stands before, and for the ends of
    /// ranges, which must not cover it.
    #[inline]
    pub(crate) fn before(&mut self, pc: u32) -> u32 {
        let target = self.target(pc);
        if pc == self.entry_pc { target.wrapping_sub(self.entry_len) } else { target }
    }
}

/// Looks ranges up; starts and ends are followed apart, since they jump to and fro between each other.
pub(crate) struct Spans<'m> {
    starts: Cursor<'m>,
    ends: Cursor<'m>,
    old_len: u32,
}

impl Spans<'_> {
    /// A range `[start, start + length)` of addresses as new start and length; `None` when it leaves the code.
    #[inline]
    pub(crate) fn range(&mut self, start: u16, length: u16) -> Option<(u16, u16)> {
        let (start, end) = (u32::from(start), u32::from(start) + u32::from(length));
        if end > self.old_len {
            return None;
        }
        let new_start = self.starts.before(start);
        let new_end = if length == 0 { new_start } else { self.ends.before(end) };
        Some((u16::try_from(new_start).ok()?, u16::try_from(new_end.checked_sub(new_start)?).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::scan;

    fn map(code: &[u8], entry_pc: u32) -> PcMap {
        let mut events = Vec::new();
        let facts = scan(code, None, &mut events).expect("well formed");
        let mut map = PcMap::default();
        let insertions = Insertions { entry_pc, entry_len: 5, exit_len: 6 };
        map.build(code, &events[..facts.events], insertions).expect("well formed");
        map
    }

    #[test]
    fn targets_skip_the_entry_code_and_meet_the_exit_code() {
        // iconst_0; ifeq +4; return; return
        let m = map(&[3, 153, 0, 4, 177, 177], 0);
        let mut c = m.cursor();
        assert_eq!([0, 1, 4, 5, 6].map(|pc| c.target(pc)), [5, 6, 9, 16, 23]);
        assert_eq!(c.target(0), 5);
        assert_eq!(c.before(0), 0);
        assert_eq!(c.before(4), 9);
        assert_eq!(m.new_len(), 6 + 5 + 12);
        assert_eq!(m.returns(), [4, 5]);
    }

    #[test]
    fn entry_in_the_middle_splits_there() {
        let m = map(&[42, 183, 0, 1, 177], 4);
        let mut c = m.cursor();
        assert_eq!([0, 1, 4, 5].map(|pc| c.target(pc)), [0, 1, 9, 16]);
        assert_eq!(c.before(4), 4);
        let mut s = m.spans();
        assert_eq!(s.range(0, 5), Some((0, 16)));
        assert_eq!(s.range(4, 2), None);
    }

    #[test]
    fn switch_padding_is_followed() {
        for before in 0..4usize {
            let mut code = vec![0; before];
            code.push(171);
            code.resize((before & !3) + 4, 0);
            let operands = code.len();
            code.extend([0, 0, 0, (operands + 8 - before) as u8, 0, 0, 0, 0]);
            code.push(177);
            let m = map(&code, 0);
            let mut c = m.cursor();
            assert_eq!(c.target(before as u32) as usize, before + 5);
            assert_eq!(c.target(operands as u32) & 3, 0, "operands stay aligned");
            assert_eq!(c.target(operands as u32 + 8), c.target(operands as u32) + 8);
        }
    }
}
