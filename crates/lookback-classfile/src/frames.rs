//! `StackMapTable`: the verifier's frames, moved to the new addresses.
//!
//! Constraint: frames name their addresses as distances from the frame before,
//! so a frame only changes where the distance does; the rest is copied. Source:
//! Java Virtual Machine Specification, section 4.7.4. Must not compute frames:
//! the only new one is the handler's, whose state is known in advance.

use crate::outcome::SkipReason;
use crate::pc_map::{Cursor, PcMap};
use crate::reader::Reader;

const ITEM_UNINITIALIZED_THIS: u8 = 6;
const ITEM_OBJECT: u8 = 7;
const ITEM_UNINITIALIZED: u8 = 8;

const SAME_EXTENDED: u8 = 251;
const SAME_ONE_ITEM_EXTENDED: u8 = 247;
const FULL: u8 = 255;

/// Bytes of the handler's frame.
const HANDLER_FRAME: usize = 10;

/// A table without frames, for methods that had none.
pub(crate) const EMPTY: &[u8] = &[0, 0];

/// What frames of a constructor must not say: that `this` is still uninitialized
/// where the handler covers. Other methods have no such frames.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum This {
    /// Not a constructor that calls another.
    Initialized,
    /// A constructor; the call of `super(...)` or `this(...)` ends at this old address.
    UninitializedBefore(u32),
}

/// Appends the content of a `StackMapTable` to `out`, with a frame for the handler at the end:
/// no locals, a Throwable (constant pool index `throwable`) on the stack.
pub(crate) fn write(
    content: &[u8],
    map: &PcMap,
    this: This,
    throwable: u16,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let mut r = Reader::new(content);
    let count = r.u2()?;
    let new_count = count.checked_add(1).ok_or(SkipReason::TableFull)?;
    out.extend_from_slice(&new_count.to_be_bytes());
    let mut writer = Writer { content, copied: r.pos(), cursor: map.cursor(), out };
    // One more than the address of the frame before; the first frame's distance counts from 0.
    let (mut old_next, mut new_next) = (0u32, 0u32);
    let mut uninitialized = matches!(this, This::UninitializedBefore(_));
    for _ in 0..count {
        let at = r.pos();
        let kind = r.u1()?;
        let distance = match kind {
            0..=63 => u32::from(kind),
            64..=127 => u32::from(kind - 64),
            SAME_ONE_ITEM_EXTENDED..=FULL => u32::from(r.u2()?),
            _ => return Err(SkipReason::Malformed),
        };
        let old = old_next + distance;
        if old >= map.old_len() {
            return Err(SkipReason::Malformed);
        }
        let new = writer.cursor.target(old);
        let new_distance = new.checked_sub(new_next).ok_or(SkipReason::Malformed)?;
        (old_next, new_next) = (old + 1, new + 1);
        if new_distance != distance {
            writer.copy_up_to(at)?;
            head(kind, new_distance, writer.out)?;
            writer.copied = r.pos();
        }
        match kind {
            64..=127 | SAME_ONE_ITEM_EXTENDED => {
                writer.items(&mut r, 1)?;
            }
            252..=254 => uninitialized |= writer.items(&mut r, u16::from(kind - SAME_EXTENDED))?,
            FULL => {
                // What counts is `this` among the locals.
                let locals = r.u2()?;
                uninitialized = writer.items(&mut r, locals)?;
                let stack = r.u2()?;
                writer.items(&mut r, stack)?;
            }
            _ => {}
        }
        if uninitialized && matches!(this, This::UninitializedBefore(pc) if old >= pc) {
            return Err(SkipReason::ConstructorFlow);
        }
    }
    writer.copy_up_to(r.pos())?;
    if !r.at_end() {
        return Err(SkipReason::Malformed);
    }
    let distance = map.new_len().checked_sub(new_next).and_then(|d| u16::try_from(d).ok());
    let [d0, d1] = distance.ok_or(SkipReason::CodeTooLarge)?.to_be_bytes();
    let [t0, t1] = throwable.to_be_bytes();
    let frame: [u8; HANDLER_FRAME] = [FULL, d0, d1, 0, 0, 0, 1, ITEM_OBJECT, t0, t1];
    out.extend_from_slice(&frame);
    Ok(())
}

/// Writes a frame's kind and distance; short kinds become extended ones where the distance outgrew them.
#[inline]
fn head(kind: u8, distance: u32, out: &mut Vec<u8>) -> Result<(), SkipReason> {
    let long = match (kind, distance) {
        (0..=63, 0..=63) => {
            out.push(distance as u8);
            return Ok(());
        }
        (64..=127, 0..=63) => {
            out.push(64 + distance as u8);
            return Ok(());
        }
        (0..=63, _) => SAME_EXTENDED,
        (64..=127, _) => SAME_ONE_ITEM_EXTENDED,
        _ => kind,
    };
    let [a, b] = u16::try_from(distance).map_err(|_| SkipReason::CodeTooLarge)?.to_be_bytes();
    out.extend_from_slice(&[long, a, b]);
    Ok(())
}

/// Copies what stays in runs, up to each change.
struct Writer<'a, 'm, 'o> {
    content: &'a [u8],
    /// Up to here the content is in `out` or replaced.
    copied: usize,
    cursor: Cursor<'m>,
    out: &'o mut Vec<u8>,
}

impl Writer<'_, '_, '_> {
    fn copy_up_to(&mut self, end: usize) -> Result<(), SkipReason> {
        self.out.extend_from_slice(self.content.get(self.copied..end).ok_or(SkipReason::Malformed)?);
        self.copied = end;
        Ok(())
    }

    /// Steps over verification types; tells whether one is the uninitialized `this`.
    #[inline]
    fn items(&mut self, r: &mut Reader<'_>, count: u16) -> Result<bool, SkipReason> {
        let mut uninitialized_this = false;
        for _ in 0..count {
            match r.u1()? {
                ITEM_OBJECT => r.skip(2)?,
                ITEM_UNINITIALIZED => {
                    // The address of the `new` that made the object.
                    self.copy_up_to(r.pos())?;
                    let new = self.cursor.target(u32::from(r.u2()?));
                    let new = u16::try_from(new).map_err(|_| SkipReason::CodeTooLarge)?;
                    self.out.extend_from_slice(&new.to_be_bytes());
                    self.copied = r.pos();
                }
                tag @ 0..=ITEM_UNINITIALIZED_THIS => uninitialized_this |= tag == ITEM_UNINITIALIZED_THIS,
                _ => return Err(SkipReason::Malformed),
            }
        }
        Ok(uninitialized_this)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pc_map::Insertions;
    use crate::scan::scan;

    /// 200 bytes of `nop` with a return at the end and one at 100.
    fn map(entry_pc: u32) -> PcMap {
        let mut code = vec![0u8; 200];
        code[100] = 177;
        code[199] = 177;
        let mut events = Vec::new();
        let facts = scan(&code, None, &mut events).expect("well formed");
        let mut map = PcMap::default();
        let insertions = Insertions { entry_pc, entry_len: 5, exit_len: 5 };
        map.build(&code, &events[..facts.events], insertions).expect("well formed");
        map
    }

    fn rewritten(content: &[u8], this: This) -> Result<Vec<u8>, SkipReason> {
        let mut out = Vec::new();
        write(content, &map(0), this, 0x0102, &mut out).map(|()| out)
    }

    fn handler(distance: u16) -> Vec<u8> {
        let [a, b] = distance.to_be_bytes();
        vec![255, a, b, 0, 0, 0, 1, 7, 1, 2]
    }

    #[test]
    fn short_frames_grow_when_they_must() {
        // Frames at 60 (same), 120 (one item, across the first return), 130 (same).
        let out = rewritten(&[0, 3, 60, 64 + 59, 1, 9], This::Initialized).expect("well formed");
        let mut expected = vec![0, 4, 251, 0, 65, 247, 0, 64, 1, 9];
        expected.extend(handler(215 - 140 - 1));
        assert_eq!(out, expected);
    }

    #[test]
    fn a_frame_at_the_old_start_moves_behind_the_entry_code() {
        let out = rewritten(&[0, 1, 0], This::Initialized).expect("well formed");
        let mut expected = vec![0, 2, 5];
        expected.extend(handler(215 - 6));
        assert_eq!(out, expected);
    }

    #[test]
    fn addresses_in_types_move() {
        // full frame at 150: one local made by the new at 110, stack of an object
        let content = [0, 1, 255, 0, 150, 0, 1, 8, 0, 110, 0, 1, 7, 0, 3];
        let out = rewritten(&content, This::Initialized).expect("well formed");
        let mut expected = vec![0, 2, 255, 0, 160, 0, 1, 8, 0, 120, 0, 1, 7, 0, 3];
        expected.extend(handler(215 - 161));
        assert_eq!(out, expected);
        assert_eq!(out.len(), content.len() + HANDLER_FRAME);
    }

    #[test]
    fn a_constructor_frame_with_uninitialized_this_behind_the_call_is_refused() {
        let this = This::UninitializedBefore(50);
        assert_eq!(rewritten(&[0, 1, 60], this), Err(SkipReason::ConstructorFlow));
        assert!(rewritten(&[0, 1, 40], this).is_ok());
        assert!(rewritten(&[0, 1, 255, 0, 60, 0, 0, 0, 0], this).is_ok());
        assert_eq!(rewritten(&[0, 1, 255, 0, 60, 0, 1, 6, 0, 0], this), Err(SkipReason::ConstructorFlow));
    }

    #[test]
    fn malformed_tables_are_refused() {
        for bad in [&[0][..], &[0, 1], &[0, 1, 200], &[0, 1, 64, 9], &[0, 0, 0], &[0, 1, 251, 0, 200]] {
            assert_eq!(rewritten(bad, This::Initialized), Err(SkipReason::Malformed), "{bad:?}");
        }
    }
}
