//! The operands of `tableswitch` and `lookupswitch`.
//!
//! Constraint: their padding depends on the address, so they are the only
//! instructions whose length changes when code moves. Must not allocate.

use crate::opcode::TABLESWITCH;
use crate::reader::read_i4;

/// A switch whose operands all lie inside the code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Switch {
    /// Address of the default offset, behind the padding.
    pub(crate) operands: usize,
    /// Address of the first case's offset.
    first: usize,
    /// Bytes from one case's offset to the next: 4 or 8.
    stride: usize,
    /// Number of cases.
    cases: usize,
    /// Address behind the instruction.
    pub(crate) end: usize,
}

/// Padding bytes between the opcode of a switch at `pc` and its operands.
#[inline]
pub(crate) fn padding(pc: u32) -> u32 {
    3 - (pc & 3)
}

impl Switch {
    /// Reads the switch at `pc`; `None` when its operands leave the code or contradict each other.
    pub(crate) fn parse(code: &[u8], pc: usize) -> Option<Switch> {
        let operands = (pc & !3) + 4;
        let (first, stride, cases) = if *code.get(pc)? == TABLESWITCH {
            let low = i64::from(read_i4(code, operands + 4)?);
            let high = i64::from(read_i4(code, operands + 8)?);
            (operands + 12, 4, usize::try_from(high - low + 1).ok().filter(|n| *n > 0)?)
        } else {
            (operands + 12, 8, usize::try_from(read_i4(code, operands + 4)?).ok()?)
        };
        // For lookupswitch `first` is behind the first match, which need not exist.
        let end = if stride == 4 { first } else { first - 4 } + cases.checked_mul(stride)?;
        (operands + 4 <= code.len() && end <= code.len()).then_some(Switch {
            operands,
            first,
            stride,
            cases,
            end,
        })
    }

    /// Addresses of all offsets, the default's first.
    pub(crate) fn offset_positions(&self) -> impl Iterator<Item = usize> + use<> {
        let Switch { operands, first, stride, cases, .. } = *self;
        std::iter::once(operands).chain((0..cases).map(move |i| first + i * stride))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(pc: usize, pairs: i32) -> Vec<u8> {
        let mut code = vec![0; pc];
        code.push(171);
        code.resize((pc & !3) + 4, 0);
        code.extend([0, 0, 0, 9]);
        code.extend(pairs.to_be_bytes());
        for i in 0..pairs.max(0) {
            code.extend(i.to_be_bytes());
            code.extend([0, 0, 0, 7]);
        }
        code
    }

    #[test]
    fn every_alignment_is_understood() {
        for pc in 0..8 {
            for pairs in [0, 1, 3] {
                let code = lookup(pc, pairs);
                let s = Switch::parse(&code, pc).expect("well formed");
                assert_eq!(s.end, code.len());
                assert_eq!(s.operands, pc + 1 + padding(pc as u32) as usize);
                assert_eq!(s.offset_positions().count(), pairs as usize + 1);
                assert!(s.offset_positions().skip(1).all(|p| read_i4(&code, p) == Some(7)));
            }
        }
    }

    #[test]
    fn impossible_counts_are_refused() {
        assert!(Switch::parse(&lookup(0, -1), 0).is_none());
        let mut code = lookup(0, 1);
        code[8..12].copy_from_slice(&i32::MAX.to_be_bytes());
        assert!(Switch::parse(&code, 0).is_none());
        // tableswitch with high < low, and with 2^32 cases.
        let mut table = vec![170, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0, 0];
        assert!(Switch::parse(&table, 0).is_none());
        table[8..12].copy_from_slice(&i32::MIN.to_be_bytes());
        table[12..16].copy_from_slice(&i32::MAX.to_be_bytes());
        assert!(Switch::parse(&table, 0).is_none());
        assert!(Switch::parse(&[171], 0).is_none());
        assert!(Switch::parse(&[], 0).is_none());
    }
}
