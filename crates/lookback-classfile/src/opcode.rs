//! Opcodes: lengths and the few classes a rewriter tells apart.
//!
//! Constraint: looked up once per instruction of every class that is loaded,
//! so length and classes share one table of 512 bytes. Source: Java Virtual
//! Machine Specification, chapter 6. Must not know about operands' meaning;
//! `stack_effect` does.

pub(crate) const BIPUSH: u8 = 16;
pub(crate) const SIPUSH: u8 = 17;
pub(crate) const LDC_W: u8 = 19;
pub(crate) const ALOAD_0: u8 = 42;
pub(crate) const IINC: u8 = 132;
pub(crate) const JSR: u8 = 168;
pub(crate) const RET: u8 = 169;
pub(crate) const GOTO: u8 = 167;
pub(crate) const TABLESWITCH: u8 = 170;
pub(crate) const LOOKUPSWITCH: u8 = 171;
pub(crate) const IRETURN: u8 = 172;
pub(crate) const RETURN: u8 = 177;
pub(crate) const INVOKESPECIAL: u8 = 183;
pub(crate) const INVOKESTATIC: u8 = 184;
pub(crate) const ATHROW: u8 = 191;
pub(crate) const WIDE: u8 = 196;
pub(crate) const GOTO_W: u8 = 200;
pub(crate) const JSR_W: u8 = 201;

/// Bits of [`INFO`]: the length of an instruction; 0 when it varies, the opcode is unknown, or belongs to
/// subroutines (`jsr`, `ret`), which end the scan.
pub(crate) const LENGTH: u16 = 7;
/// The instruction is a branch, switch or return: the scan notes its place.
pub(crate) const EVENT: u16 = 1 << EVENT_SHIFT;
pub(crate) const EVENT_SHIFT: u32 = 3;
/// The instruction invokes something.
pub(crate) const CALL: u16 = 1 << 4;
/// The instruction enters a monitor.
pub(crate) const LOCK: u16 = 1 << 5;

/// Length and classes by opcode.
pub(crate) static INFO: [u16; 256] = build();

const fn build() -> [u16; 256] {
    let mut t = [0u16; 256];
    let mut op = 0;
    while op <= 201 {
        t[op] = match op as u8 {
            16 | 18 | 21..=25 | 54..=58 | 188 => 2,
            17 | 19 | 20 | 132 | 153..=167 | 178..=184 | 187 | 189 | 192 | 193 | 198 | 199 => 3,
            197 => 4,
            185 | 186 | 200 => 5,
            TABLESWITCH | LOOKUPSWITCH | WIDE | JSR | RET | JSR_W => 0,
            _ => 1,
        };
        t[op] |= match op as u8 {
            153..=167 | TABLESWITCH..=RETURN | 198..=200 => EVENT,
            182..=186 => CALL,
            194 => LOCK,
            _ => 0,
        };
        op += 1;
    }
    t
}

/// How control leaves an instruction that the scan noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// A branch with a 16-bit offset.
    Branch,
    /// A branch with a 32-bit offset.
    WideBranch,
    /// `tableswitch` or `lookupswitch`.
    Switch,
    /// Any of the six returns.
    Return,
}

/// How control leaves; only for opcodes with [`EVENT`].
#[inline]
pub(crate) fn flow(op: u8) -> Flow {
    match op {
        TABLESWITCH | LOOKUPSWITCH => Flow::Switch,
        IRETURN..=RETURN => Flow::Return,
        GOTO_W => Flow::WideBranch,
        _ => Flow::Branch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_all_opcodes_add_up() {
        // Sums over the specification's opcode list: 202 opcodes, three of them of varying length
        // and three for subroutines.
        let known = INFO.iter().filter(|i| **i & LENGTH != 0).count();
        assert_eq!(known, 196);
        let total: u32 = INFO.iter().map(|i| u32::from(i & LENGTH)).sum();
        // 147 of one byte, 13 of two, 32 of three, 1 of four, 3 of five.
        assert_eq!(total, 147 + 13 * 2 + 32 * 3 + 4 + 3 * 5);
        assert_eq!(INFO.iter().filter(|i| **i & EVENT != 0).count(), 15 + 2 + 6 + 3);
    }
}
