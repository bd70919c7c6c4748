//! The attributes of `Code` that hold addresses: line numbers, variables,
//! type annotations, character ranges.
//!
//! Constraint: debuggers and stack traces read them, so each address is moved.
//! Each keeps its length, so it is copied and then corrected in place. An
//! attribute this crate does not know is kept as it is: the JVM ignores it, and
//! a tool that reads it meets at worst old addresses. The CLDC's `StackMap` is
//! kept so too: only KVM-style verifiers read it. Must not handle
//! `StackMapTable`, which changes its length; `frames` does.

use crate::annotations::skip_pairs;
use crate::exception_table::Moved;
use crate::outcome::SkipReason;
use crate::pc_map::{Cursor, PcMap, Spans};
use crate::pool::Pool;
use crate::reader::{Reader, read_u2};

const MALFORMED: SkipReason = SkipReason::Malformed;

/// What kind of attribute of `Code` a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeAttribute {
    StackMapTable,
    LineNumbers,
    /// `LocalVariableTable` and `LocalVariableTypeTable`, which have one layout.
    Variables,
    /// Visible at run time or not.
    TypeAnnotations,
    /// `CharacterRangeTable`, written by `javac -Xjcov`.
    CharacterRanges,
    /// Kept as it is.
    Unknown,
}

impl CodeAttribute {
    fn from_name(name: &[u8]) -> Self {
        match name {
            b"StackMapTable" => CodeAttribute::StackMapTable,
            b"LineNumberTable" => CodeAttribute::LineNumbers,
            b"LocalVariableTable" | b"LocalVariableTypeTable" => CodeAttribute::Variables,
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                CodeAttribute::TypeAnnotations
            }
            b"CharacterRangeTable" => CodeAttribute::CharacterRanges,
            _ => CodeAttribute::Unknown,
        }
    }
}

/// Remembers which constant pool index is which attribute: a class has few names and uses them in
/// every method. A slot per low bits of the index; a clash only costs the comparison again.
#[derive(Default)]
pub(crate) struct Names {
    slots: [(u16, Option<CodeAttribute>); 16],
}

impl Names {
    /// Forgets everything: the next class has another pool.
    pub(crate) fn reset(&mut self) {
        *self = Names::default();
    }

    #[inline]
    pub(crate) fn kind(&mut self, index: u16, pool: &Pool<'_>) -> CodeAttribute {
        let slot = &mut self.slots[usize::from(index & 15)];
        match *slot {
            (known, Some(kind)) if known == index => kind,
            _ => {
                let kind = CodeAttribute::from_name(pool.utf8(index).unwrap_or_default());
                *slot = (index, Some(kind));
                kind
            }
        }
    }
}

/// The first line of a `LineNumberTable`.
pub(crate) fn first_line(content: &[u8]) -> Option<u16> {
    let mut r = Reader::new(content);
    r.u2().ok().filter(|n| *n > 0)?;
    r.u2().ok()?;
    r.u2().ok()
}

/// The address in the middle row of a `LineNumberTable`.
pub(crate) fn middle_pc(content: &[u8]) -> Option<u16> {
    let rows = usize::from(read_u2(content, 0)?);
    read_u2(content, 2 + rows / 2 * 4)
}

/// Appends `content` to `out` with its addresses moved.
pub(crate) fn write(
    kind: CodeAttribute,
    content: &[u8],
    map: &PcMap,
    moved: &Moved,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let at = out.len();
    out.extend_from_slice(content);
    let copy = out.get_mut(at..).unwrap_or_default();
    let cursor = map.cursor();
    match kind {
        CodeAttribute::LineNumbers => line_numbers(copy, map, cursor),
        CodeAttribute::Variables => variables(copy, map.spans()),
        CodeAttribute::TypeAnnotations => type_annotations(content, copy, map, cursor, moved),
        CodeAttribute::CharacterRanges => character_ranges(copy, map, cursor),
        CodeAttribute::StackMapTable | CodeAttribute::Unknown => Ok(()),
    }
}

/// The rows of a table of fixed-size entries behind a 16-bit count.
fn rows(copy: &mut [u8], size: usize) -> Result<std::slice::ChunksExactMut<'_, u8>, SkipReason> {
    let (count, rest) = copy.split_at_mut_checked(2).ok_or(MALFORMED)?;
    let count = usize::from(u16::from_be_bytes([count[0], count[1]]));
    if rest.len() != count * size {
        return Err(MALFORMED);
    }
    Ok(rest.chunks_exact_mut(size))
}

fn narrow(pc: u32) -> Result<[u8; 2], SkipReason> {
    u16::try_from(pc).map(u16::to_be_bytes).map_err(|_| SkipReason::CodeTooLarge)
}

fn line_numbers(copy: &mut [u8], map: &PcMap, mut cursor: Cursor<'_>) -> Result<(), SkipReason> {
    for row in rows(copy, 4)? {
        let pc = u32::from(u16::from_be_bytes([row[0], row[1]]));
        if pc >= map.old_len() {
            return Err(MALFORMED);
        }
        [row[0], row[1]] = narrow(cursor.before(pc))?;
    }
    Ok(())
}

fn variables(copy: &mut [u8], mut spans: Spans<'_>) -> Result<(), SkipReason> {
    for row in rows(copy, 10)? {
        let (start, length) = (u16::from_be_bytes([row[0], row[1]]), u16::from_be_bytes([row[2], row[3]]));
        let (start, length) = spans.range(start, length).ok_or(MALFORMED)?;
        [row[0], row[1]] = start.to_be_bytes();
        [row[2], row[3]] = length.to_be_bytes();
    }
    Ok(())
}

/// Rows of start, last address (inclusive), two positions in the source, flags.
fn character_ranges(copy: &mut [u8], map: &PcMap, mut cursor: Cursor<'_>) -> Result<(), SkipReason> {
    for row in rows(copy, 14)? {
        for at in [0, 2] {
            let pc = u32::from(u16::from_be_bytes([row[at], row[at + 1]]));
            if pc >= map.old_len() {
                return Err(MALFORMED);
            }
            [row[at], row[at + 1]] = narrow(cursor.before(pc))?;
        }
    }
    Ok(())
}

fn type_annotations(
    content: &[u8],
    copy: &mut [u8],
    map: &PcMap,
    mut cursor: Cursor<'_>,
    moved: &Moved,
) -> Result<(), SkipReason> {
    let mut put = |at: usize, value: [u8; 2]| {
        if let Some(slot) = copy.get_mut(at..at + 2) {
            slot.copy_from_slice(&value);
        }
    };
    let mut spans = map.spans();
    let mut r = Reader::new(content);
    for _ in 0..r.u2()? {
        match r.u1()? {
            // Type parameters and formal parameters: never in Code, but defined.
            0x00 | 0x01 | 0x16 => r.skip(1)?,
            0x10 | 0x11 | 0x12 | 0x17 => r.skip(2)?,
            0x13..=0x15 => {}
            // Local variables and resources.
            0x40 | 0x41 => {
                for _ in 0..r.u2()? {
                    let at = r.pos();
                    let (start, length) = spans.range(r.u2()?, r.u2()?).ok_or(MALFORMED)?;
                    put(at, start.to_be_bytes());
                    put(at + 2, length.to_be_bytes());
                    r.skip(2)?;
                }
            }
            // A catch parameter names its entry of the exception table.
            0x42 => {
                let at = r.pos();
                put(at, moved.index(r.u2()?).to_be_bytes());
            }
            // instanceof, new, method references; casts and type arguments have one byte more.
            kind @ 0x43..=0x4b => {
                let at = r.pos();
                let pc = u32::from(r.u2()?);
                if pc >= map.old_len() {
                    return Err(MALFORMED);
                }
                put(at, narrow(cursor.target(pc))?);
                r.skip(usize::from(kind >= 0x47))?;
            }
            _ => return Err(MALFORMED),
        }
        let path = usize::from(r.u1()?);
        r.skip(path * 2)?;
        r.skip(2)?;
        skip_pairs(&mut r, 0)?;
    }
    if r.at_end() { Ok(()) } else { Err(MALFORMED) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pc_map::Insertions;
    use crate::scan::scan;

    /// nop; return; nop; nop; return with 5 bytes of entry code and 5 before each return.
    fn rewritten(kind: CodeAttribute, content: &[u8]) -> Result<Vec<u8>, SkipReason> {
        let code = [0, 177, 0, 0, 177];
        let mut events = Vec::new();
        let facts = scan(&code, None, &mut events).expect("well formed");
        let mut map = PcMap::default();
        map.build(&code, &events[..facts.events], Insertions { entry_pc: 0, entry_len: 5, exit_len: 5 })
            .expect("well formed");
        let mut out = vec![];
        write(kind, content, &map, &Moved::default(), &mut out).map(|()| out)
    }

    #[test]
    fn lines_of_the_first_instruction_cover_the_entry_code() {
        let out = rewritten(CodeAttribute::LineNumbers, &[0, 2, 0, 0, 0, 7, 0, 2, 0, 8]);
        assert_eq!(out, Ok(vec![0, 2, 0, 0, 0, 7, 0, 12, 0, 8]));
        assert_eq!(rewritten(CodeAttribute::LineNumbers, &[0, 1, 0, 5, 0, 7]), Err(MALFORMED));
        assert_eq!(rewritten(CodeAttribute::LineNumbers, &[0, 2, 0, 0, 0, 7]), Err(MALFORMED));
        assert_eq!(first_line(&[0, 1, 0, 0, 0, 7]), Some(7));
        assert_eq!(first_line(&[0, 0]), None);
    }

    #[test]
    fn variables_span_what_they_spanned() {
        let content = [0, 2, 0, 0, 0, 5, 0, 1, 0, 1, 0, 0, 0, 2, 0, 3, 0, 1, 0, 1, 0, 1];
        let out = rewritten(CodeAttribute::Variables, &content).expect("well formed");
        assert_eq!(out[2..6], [0, 0, 0, 20]);
        assert_eq!(out[12..16], [0, 12, 0, 8]);
    }

    #[test]
    fn type_annotations_follow_their_instructions() {
        // new at 3; cast at 2 with a type index; a local variable over [2, 4); a catch parameter.
        let content = [
            0, 4, 0x44, 0, 3, 0, 0, 9, 0, 0, 0x47, 0, 2, 1, 0, 0, 9, 0, 0, 0x40, 0, 1, 0, 2, 0, 2, 0, 1, 0,
            0, 9, 0, 0, 0x42, 0, 0, 1, 3, 0, 0, 9, 0, 0,
        ];
        let out = rewritten(CodeAttribute::TypeAnnotations, &content).expect("well formed");
        assert_eq!(out[3..5], [0, 13]);
        assert_eq!(out[11..13], [0, 12]);
        assert_eq!(out[22..26], [0, 12, 0, 2]);
        assert_eq!(out.len(), content.len());
    }

    #[test]
    fn character_ranges_move() {
        let mut content = vec![0, 1, 0, 0, 0, 3];
        content.extend([0; 10]);
        let out = rewritten(CodeAttribute::CharacterRanges, &content).expect("well formed");
        assert_eq!(out[2..6], [0, 0, 0, 13]);
    }
}
