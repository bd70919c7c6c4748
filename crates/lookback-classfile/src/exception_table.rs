//! The exception table of a rewritten method.
//!
//! Constraint: the program's own handlers must not see what a trace point
//! does. A range that covers a return is therefore cut around the exit code:
//! otherwise a compiler's catch-all that unlocks a monitor would cover an exit
//! code that runs unlocked, and HotSpot would refuse to compile the method.
//! The new catch-all comes last, so that it is met only when nothing else
//! catches. Must keep the order of the entries: it decides who catches.

use crate::outcome::SkipReason;
use crate::pc_map::{Cursor, PcMap};
use crate::reader::Reader;

/// Bytes of one entry.
pub(crate) const ENTRY: usize = 8;

/// One row of the table, with the specification's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) start: u16,
    pub(crate) end: u16,
    pub(crate) handler: u16,
    pub(crate) catch_type: u16,
}

impl Entry {
    fn write(self, out: &mut Vec<u8>) {
        for field in [self.start, self.end, self.handler, self.catch_type] {
            out.extend_from_slice(&field.to_be_bytes());
        }
    }
}

/// Reads the rows of `table`, whose length is a multiple of [`ENTRY`].
pub(crate) fn entries(table: &[u8]) -> impl Iterator<Item = Entry> + '_ {
    table.chunks_exact(ENTRY).map(|c| Entry {
        start: u16::from_be_bytes([c[0], c[1]]),
        end: u16::from_be_bytes([c[2], c[3]]),
        handler: u16::from_be_bytes([c[4], c[5]]),
        catch_type: u16::from_be_bytes([c[6], c[7]]),
    })
}

/// New indices of entries that moved because earlier ones were cut.
#[derive(Default)]
pub(crate) struct Moved {
    /// New index by old index; empty when nothing moved.
    indices: Vec<u16>,
}

impl Moved {
    /// Where the entry with this old index is now.
    pub(crate) fn index(&self, old: u16) -> u16 {
        self.indices.get(usize::from(old)).copied().unwrap_or(old)
    }
}

/// Appends count and entries to `out`; `entry_pc` is the old address the entry code stands before.
pub(crate) fn write(
    table: &[u8],
    map: &PcMap,
    entry_pc: u32,
    moved: &mut Moved,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    moved.indices.clear();
    let count_at = out.len();
    out.extend_from_slice(&[0, 0]);
    let mut cursor = map.cursor();
    let mut count = 0usize;
    for (old_index, entry) in entries(table).enumerate() {
        if entry.start >= entry.end
            || u32::from(entry.end) > map.old_len()
            || u32::from(entry.handler) >= map.old_len()
        {
            return Err(SkipReason::Malformed);
        }
        if !moved.indices.is_empty() {
            moved.indices.push(count as u16);
        }
        let pieces = write_pieces(entry, map, &mut cursor, out)?;
        if pieces > 1 && moved.indices.is_empty() {
            moved.indices.extend(0..=old_index as u16);
        }
        count += pieces;
        if count >= usize::from(u16::MAX) {
            return Err(SkipReason::TableFull);
        }
    }
    let handler = narrow(map.new_len())?;
    Entry { start: narrow(cursor.target(entry_pc))?, end: handler, handler, catch_type: 0 }.write(out);
    if let Some(slot) = out.get_mut(count_at..count_at + 2) {
        slot.copy_from_slice(&((count + 1) as u16).to_be_bytes());
    }
    Ok(())
}

fn narrow(pc: u32) -> Result<u16, SkipReason> {
    u16::try_from(pc).map_err(|_| SkipReason::CodeTooLarge)
}

/// Writes an entry, cut around the exit code of the returns in its range.
fn write_pieces(
    entry: Entry,
    map: &PcMap,
    cursor: &mut Cursor<'_>,
    out: &mut Vec<u8>,
) -> Result<usize, SkipReason> {
    let (old_start, old_end) = (u32::from(entry.start), u32::from(entry.end));
    let mut piece = Entry {
        start: narrow(cursor.target(old_start))?,
        end: narrow(cursor.before(old_end))?,
        handler: narrow(cursor.target(u32::from(entry.handler)))?,
        catch_type: entry.catch_type,
    };
    let end = piece.end;
    let mut pieces = 1;
    let first = map.returns().partition_point(|pc| *pc < old_start);
    for &pc in map.returns().get(first..).unwrap_or_default() {
        if pc >= old_end {
            break;
        }
        let exit_code = cursor.target(pc);
        if pc > old_start {
            piece.end = narrow(exit_code)?;
            piece.write(out);
            pieces += 1;
            if pieces >= usize::from(u16::MAX) {
                return Err(SkipReason::TableFull);
            }
        }
        piece.start = narrow(exit_code + map.exit_len())?;
    }
    piece.end = end;
    piece.write(out);
    Ok(pieces)
}

/// The rows of a table as they stand in a `Code` attribute; the reader is at the count.
pub(crate) fn read<'a>(r: &mut Reader<'a>) -> Result<&'a [u8], SkipReason> {
    let count = usize::from(r.u2()?);
    Ok(r.take(count * ENTRY)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pc_map::Insertions;
    use crate::scan::scan;

    fn rewritten(code: &[u8], table: &[[u16; 4]]) -> (Vec<Entry>, Moved) {
        let mut events = Vec::new();
        let facts = scan(code, None, &mut events).expect("well formed");
        let mut map = PcMap::default();
        map.build(code, &events[..facts.events], Insertions { entry_pc: 0, entry_len: 5, exit_len: 5 })
            .expect("well formed");
        let bytes: Vec<u8> = table.iter().flatten().flat_map(|v| v.to_be_bytes()).collect();
        let (mut moved, mut out) = (Moved::default(), Vec::new());
        write(&bytes, &map, 0, &mut moved, &mut out).expect("well formed");
        assert_eq!(usize::from(u16::from_be_bytes([out[0], out[1]])) * ENTRY, out.len() - 2);
        (entries(&out[2..]).collect(), moved)
    }

    fn entry(start: u16, end: u16, handler: u16, catch_type: u16) -> Entry {
        Entry { start, end, handler, catch_type }
    }

    #[test]
    fn the_catch_all_comes_last_and_leaves_the_entry_code_out() {
        // nop; return; athrow
        let (rows, moved) = rewritten(&[0, 177, 191], &[[0, 1, 2, 9]]);
        assert_eq!(rows, [entry(5, 6, 12, 9), entry(5, 13, 13, 0)]);
        assert_eq!(moved.index(0), 0);
    }

    #[test]
    fn ranges_are_cut_around_exit_code() {
        // return; nop; return; athrow; second entry covers a return only
        let (rows, moved) = rewritten(&[177, 0, 177, 191], &[[0, 3, 3, 7], [2, 3, 3, 0], [1, 2, 3, 8]]);
        assert_eq!(
            rows,
            [
                entry(10, 12, 18, 7),
                entry(17, 18, 18, 7),
                entry(17, 18, 18, 0),
                entry(11, 12, 18, 8),
                entry(5, 19, 19, 0),
            ]
        );
        assert_eq!([0, 1, 2].map(|i| moved.index(i)), [0, 2, 3]);
    }
}
