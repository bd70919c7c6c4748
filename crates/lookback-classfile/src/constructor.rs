//! Finds where a constructor's `this` becomes an object.
//!
//! Constraint: the verifier lets no handler cover code in which `this` is
//! still uninitialized, so the trace point goes right behind the call of
//! `super(...)` or `this(...)`. Its arguments may hold branches, loops, other
//! constructor calls and, since Java 22, whole statements; so the code before it
//! is followed with a model of the stack that knows one thing about each word:
//! whether it is the uninitialized `this`. Whatever is not plainly sound (several
//! such calls, jumps across the call, paths that disagree) is refused: a
//! constructor that is not traced is better than one that does not verify.
//! Must not recurse, and must end soon on hostile code.

use crate::exception_table::{Entry, entries};
use crate::opcode::{
    ATHROW, EVENT, Flow, GOTO, GOTO_W, INFO, INVOKESPECIAL, LENGTH, LOOKUPSWITCH, TABLESWITCH, WIDE, flow,
};
use crate::pool::Pool;
use crate::reader::{read_i2, read_i4, read_u2};
use crate::scan::Event;
use crate::stack_effect::{field_words, method_words, stack_effect};
use crate::switch::Switch;

/// Instructions (times handlers that cover them) followed before giving up. The longest
/// arguments of a real `super(...)` are a few hundred instructions.
const WORK_LIMIT: u32 = 200_000;

/// Addresses at which paths may meet before giving up; each insertion moves the ones behind it.
const PLACES_LIMIT: usize = 4096;

/// Words of stack and locals in which `this` is followed.
const WORDS: u32 = 64;

/// Which words are the uninitialized `this`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    depth: u32,
    /// Bit i: word i of the stack, counted from the bottom.
    stack: u64,
    /// Bit i: local i.
    locals: u64,
}

impl State {
    fn push(&mut self, is_this: bool) -> Option<()> {
        if is_this {
            if self.depth >= WORDS {
                return None;
            }
            self.stack |= 1 << self.depth;
        }
        self.depth += 1;
        Some(())
    }

    fn push_others(&mut self, words: u32) {
        self.depth += words;
    }

    fn pop(&mut self) -> Option<bool> {
        self.depth = self.depth.checked_sub(1)?;
        let bit = 1u64.checked_shl(self.depth).unwrap_or(0);
        let is_this = self.stack & bit != 0;
        self.stack &= !bit;
        Some(is_this)
    }

    fn pop_many(&mut self, words: u32) -> Option<()> {
        self.depth = self.depth.checked_sub(words)?;
        if self.depth < WORDS {
            self.stack &= (1u64 << self.depth) - 1;
        }
        Some(())
    }

    /// Pops `moved` words, then `below` words, and pushes them back with the moved ones underneath as well.
    fn duplicate(&mut self, moved: usize, below: usize) -> Option<()> {
        let mut words = [false; 4];
        let total = moved + below;
        for word in words.get_mut(..total)?.iter_mut().rev() {
            *word = self.pop()?;
        }
        let (under, top) = words.get(..total)?.split_at(below);
        for word in top.iter().chain(under).chain(top) {
            self.push(*word)?;
        }
        Some(())
    }

    fn load(&mut self, local: u16) -> Option<()> {
        self.push(1u64.checked_shl(u32::from(local)).is_some_and(|bit| self.locals & bit != 0))
    }

    fn store(&mut self, local: u16) -> Option<()> {
        let is_this = self.pop()?;
        match 1u64.checked_shl(u32::from(local)) {
            Some(bit) if is_this => self.locals |= bit,
            Some(bit) => self.locals &= !bit,
            None if is_this => return None,
            None => {}
        }
        Some(())
    }

    fn overwrite(&mut self, local: u16, words: u32) {
        for word in 0..words {
            self.locals &= !1u64.checked_shl(u32::from(local) + word).unwrap_or(0);
        }
    }
}

/// Paths still to follow and states met; reused from class to class.
#[derive(Default)]
pub(crate) struct Paths {
    /// States at the targets of branches and at handlers, sorted by address.
    known: Vec<(u32, State)>,
    todo: Vec<(u32, State)>,
}

/// A constructor's code.
#[derive(Clone, Copy)]
pub(crate) struct Constructor<'a> {
    pub(crate) code: &'a [u8],
    pub(crate) events: &'a [Event],
    pub(crate) handlers: &'a [u8],
    pub(crate) pool: Pool<'a>,
}

/// Where control goes after an instruction.
enum Next {
    /// To the instruction at this address.
    At(u32),
    /// `this` is an object from here on; the call stands at this address.
    Initialized(u32),
    /// Nowhere: a throw, or a jump that is in `todo`.
    Ended,
}

impl Constructor<'_> {
    /// The address behind the only call of `super(...)` or `this(...)`; `None` when it is not
    /// certain that all code from there on, and no code before, sees an initialized `this`.
    pub(crate) fn initialized_at(&self, paths: &mut Paths) -> Option<u32> {
        paths.known.clear();
        paths.todo.clear();
        let mut call = None;
        let mut last_seen = 0;
        let mut work = WORK_LIMIT;
        paths.todo.push((0, State { depth: 0, stack: 0, locals: 1 }));
        while let Some((start, mut state)) = paths.todo.pop() {
            let mut pc = start;
            loop {
                if pc != start && paths.meets(pc, state)? {
                    break;
                }
                last_seen = last_seen.max(pc);
                work = work.checked_sub(1)?;
                for entry in entries(self.handlers) {
                    work = work.checked_sub(1)?;
                    if (u32::from(entry.start)..u32::from(entry.end)).contains(&pc) {
                        let caught = State { depth: 1, stack: 0, locals: state.locals };
                        paths.branch(u32::from(entry.handler), caught)?;
                    }
                }
                match self.step(pc, &mut state, paths)? {
                    Next::At(next) => pc = next,
                    Next::Ended => break,
                    Next::Initialized(at) => {
                        if call.is_some_and(|c| c != at) {
                            return None;
                        }
                        call = Some(at);
                        break;
                    }
                }
            }
        }
        let behind = call? + 3;
        (last_seen < behind && self.is_split_cleanly(behind)?).then_some(behind)
    }

    /// Executes the instruction at `pc`; `None` when in doubt.
    fn step(&self, pc: u32, state: &mut State, paths: &mut Paths) -> Option<Next> {
        let at = pc as usize;
        let op = *self.code.get(at)?;
        let info = INFO[usize::from(op)];
        let mut next = pc + u32::from(info & LENGTH);
        let operand = || self.code.get(at + 1).copied().map(u16::from);
        match op {
            25 => state.load(operand()?)?,
            42..=45 => state.load(u16::from(op - 42))?,
            58 => state.store(operand()?)?,
            75..=78 => state.store(u16::from(op - 75))?,
            // Stores of other types: they may overwrite the local that holds `this`.
            54..=57 => self.overwrite(state, op - 54, operand()?)?,
            59..=74 => self.overwrite(state, (op - 59) / 4, u16::from((op - 59) % 4))?,
            89 => state.duplicate(1, 0)?,
            90 => state.duplicate(1, 1)?,
            91 => state.duplicate(1, 2)?,
            92 => state.duplicate(2, 0)?,
            93 => state.duplicate(2, 1)?,
            94 => state.duplicate(2, 2)?,
            95 => {
                let (a, b) = (state.pop()?, state.pop()?);
                state.push(a)?;
                state.push(b)?;
            }
            178..=181 => {
                let words = field_words(self.member(at)?.descriptor)?;
                // getstatic, putstatic, getfield, putfield
                state.pop_many([0, words, 1, words + 1][usize::from(op - 178)])?;
                state.push_others(if op % 2 == 0 { words } else { 0 });
            }
            182..=186 => {
                let member = self.member(at)?;
                let (arguments, result) = method_words(member.descriptor)?;
                state.pop_many(arguments)?;
                // invokestatic and invokedynamic have no receiver.
                let on_this = !matches!(op, 184 | 186) && state.pop()?;
                if on_this && op == INVOKESPECIAL && member.name == b"<init>" {
                    return Some(Next::Initialized(pc));
                }
                state.push_others(result);
            }
            197 => {
                state.pop_many(u32::from(*self.code.get(at + 3)?))?;
                state.push_others(1);
            }
            WIDE => {
                let local = read_u2(self.code, at + 2)?;
                next = pc + 4;
                match *self.code.get(at + 1)? {
                    21 | 23 => state.push_others(1),
                    22 | 24 => state.push_others(2),
                    25 => state.load(local)?,
                    58 => state.store(local)?,
                    store @ 54..=57 => self.overwrite(state, store - 54, local)?,
                    132 => next = pc + 6,
                    _ => return None,
                }
            }
            _ => {
                let (pops, pushes) = stack_effect(op)?;
                state.pop_many(pops)?;
                state.push_others(pushes);
            }
        }
        if info & EVENT == 0 {
            return Some(if op == ATHROW { Next::Ended } else { Next::At(next) });
        }
        match flow(op) {
            // A constructor cannot return before `this` is an object.
            Flow::Return => return None,
            Flow::Branch => {
                paths.branch(pc.wrapping_add_signed(i32::from(read_i2(self.code, at + 1)?)), *state)?;
            }
            Flow::WideBranch => paths.branch(pc.wrapping_add_signed(read_i4(self.code, at + 1)?), *state)?,
            Flow::Switch => {
                for offset in Switch::parse(self.code, at)?.offset_positions() {
                    paths.branch(pc.wrapping_add_signed(read_i4(self.code, offset)?), *state)?;
                }
            }
        }
        Some(match op {
            GOTO | GOTO_W | TABLESWITCH | LOOKUPSWITCH => Next::Ended,
            _ => Next::At(next),
        })
    }

    fn member(&self, at: usize) -> Option<crate::pool::Member<'_>> {
        self.pool.member(read_u2(self.code, at + 1)?)
    }

    /// A store of int, long, float, double (0 to 3) to a local.
    fn overwrite(&self, state: &mut State, kind: u8, local: u16) -> Option<()> {
        let words = if kind % 2 == 1 { 2 } else { 1 };
        state.pop_many(words)?;
        state.overwrite(local, words);
        Some(())
    }

    /// Whether neither a branch nor a handler leads from one side of `behind` to the other.
    fn is_split_cleanly(&self, behind: u32) -> Option<bool> {
        for event in self.events {
            let pc = event.pc();
            let at = pc as usize;
            let same_side = |offset: i32| (pc.wrapping_add_signed(offset) < behind) == (pc < behind);
            let clean = match event.flow() {
                Flow::Return => pc >= behind,
                Flow::Branch => same_side(i32::from(read_i2(self.code, at + 1)?)),
                Flow::WideBranch => same_side(read_i4(self.code, at + 1)?),
                Flow::Switch => {
                    let mut clean = true;
                    for offset in Switch::parse(self.code, at)?.offset_positions() {
                        clean &= same_side(read_i4(self.code, offset)?);
                    }
                    clean
                }
            };
            if !clean {
                return Some(false);
            }
        }
        Some(entries(self.handlers).all(|Entry { start, end, handler, .. }| {
            let (start, end, handler) = (u32::from(start), u32::from(end), u32::from(handler));
            if start >= behind { handler >= behind } else { end <= behind && handler < behind }
        }))
    }
}

impl Paths {
    /// Notes a path to follow; `None` when another path came there in another state, or there are too many.
    fn branch(&mut self, pc: u32, state: State) -> Option<()> {
        match self.known.binary_search_by_key(&pc, |known| known.0) {
            Ok(at) => (self.known.get(at)?.1 == state).then_some(()),
            Err(_) if self.known.len() >= PLACES_LIMIT => None,
            Err(at) => {
                self.known.insert(at, (pc, state));
                self.todo.push((pc, state));
                Some(())
            }
        }
    }

    /// Whether this address is being followed already; `None` when in another state.
    fn meets(&self, pc: u32, state: State) -> Option<bool> {
        match self.known.binary_search_by_key(&pc, |known| known.0) {
            Ok(at) => (self.known.get(at)?.1 == state).then_some(true),
            Err(_) => Some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::scan;

    /// Entries 1: Methodref X.<init>()V; 2: Methodref X.<init>(I)V; 3: Methodref X.f()I.
    fn pool() -> (Vec<u8>, Vec<u32>) {
        let mut bytes = vec![0u8; 10];
        for entry in [
            &[10, 0, 4, 0, 5][..],
            &[10, 0, 4, 0, 6],
            &[10, 0, 4, 0, 7],
            &[7, 0, 8],
            &[12, 0, 9, 0, 10],
            &[12, 0, 9, 0, 11],
            &[12, 0, 12, 0, 13],
            b"\x01\0\x01X",
            b"\x01\0\x06<init>",
            b"\x01\0\x03()V",
            b"\x01\0\x04(I)V",
            b"\x01\0\x01f",
            b"\x01\0\x03()I",
        ] {
            bytes.extend(entry);
        }
        let mut offsets = Vec::new();
        crate::pool::index(&bytes, 10, 14, &mut offsets).expect("well formed");
        (bytes, offsets)
    }

    fn initialized_at(code: &[u8], handlers: &[u8]) -> Option<u32> {
        let (bytes, offsets) = pool();
        let mut events = Vec::new();
        let facts = scan(code, None, &mut events).expect("well formed");
        let constructor = Constructor {
            code,
            events: &events[..facts.events],
            handlers,
            pool: Pool::new(&bytes, &offsets),
        };
        constructor.initialized_at(&mut Paths::default())
    }

    #[test]
    fn the_usual_constructor() {
        assert_eq!(initialized_at(&[42, 183, 0, 1, 177], &[]), Some(4));
    }

    #[test]
    fn other_objects_made_for_the_arguments_do_not_count() {
        // aload_0; new; dup; invokespecial ()V; invokevirtual f()I; invokespecial (I)V; return
        let code = [42, 187, 0, 4, 89, 183, 0, 1, 182, 0, 3, 183, 0, 2, 177];
        assert_eq!(initialized_at(&code, &[]), Some(14));
    }

    #[test]
    fn a_conditional_argument() {
        // aload_0; iload_1; ifeq +7; iconst_1; goto +4; iconst_2; invokespecial (I)V; return
        let code = [42, 27, 153, 0, 7, 4, 167, 0, 4, 5, 183, 0, 2, 177];
        assert_eq!(initialized_at(&code, &[]), Some(13));
    }

    #[test]
    fn a_loop_and_a_try_block_before_the_call() {
        // 0 iload_1; 1 ifne -1; 4 iconst_0; 5 istore_1; 6 goto +4; 9 astore_2; 10 aload_0; 11 call; 14 return
        let code = [27, 154, 0xff, 0xff, 3, 60, 167, 0, 4, 77, 42, 183, 0, 1, 177];
        let handlers = [0, 4, 0, 6, 0, 9, 0, 0];
        assert_eq!(initialized_at(&code, &handlers), Some(14));
    }

    #[test]
    fn this_is_followed_through_locals_and_the_stack() {
        // aload_0; astore_1; aconst_null; aload_1; swap; pop; invokespecial; return
        assert_eq!(initialized_at(&[42, 76, 1, 43, 95, 87, 183, 0, 1, 177], &[]), Some(9));
        // Without the swap the call is on null, and `this` is never initialized.
        assert_eq!(initialized_at(&[42, 76, 1, 43, 87, 183, 0, 1, 177], &[]), None);
    }

    #[test]
    fn doubtful_flow_is_refused() {
        // Two calls on two paths.
        let two = [42, 27, 153, 0, 7, 183, 0, 1, 177, 183, 0, 1, 177];
        assert_eq!(initialized_at(&two, &[]), None);
        // A branch from behind the call to before it.
        assert_eq!(initialized_at(&[0, 42, 183, 0, 1, 167, 0xff, 0xfb], &[]), None);
        // A handler behind the call covers code before it.
        assert_eq!(initialized_at(&[42, 183, 0, 1, 177, 191], &[0, 0, 0, 4, 0, 5, 0, 0]), None);
        // A range across the call.
        assert_eq!(initialized_at(&[42, 183, 0, 1, 177, 191], &[0, 1, 0, 5, 0, 5, 0, 0]), None);
        // No call at all; return before it; stack underflow.
        assert_eq!(initialized_at(&[1, 191], &[]), None);
        assert_eq!(initialized_at(&[177], &[]), None);
        assert_eq!(initialized_at(&[183, 0, 1, 177], &[]), None);
    }

    #[test]
    fn hostile_flow_ends_soon() {
        // 20000 branches, each to the next instruction, covered by 8000 handlers.
        let mut code = Vec::new();
        for _ in 0..20000 {
            code.extend([167, 0, 3]);
        }
        code.extend([42, 183, 0, 1, 177]);
        let handlers: Vec<u8> = [0, 0, 0xea, 0, 0xea, 0x60, 0, 0].repeat(8000);
        assert_eq!(initialized_at(&code, &handlers), None);
    }
}
