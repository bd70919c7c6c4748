//! The copy of a large payload into a data block, for x86-64.
//!
//! The constraint: the compiler does not vectorise atomic stores, and eight bytes a cycle is half
//! of what sixteen-byte stores, which every x86-64 processor has, bring: 4 KiB in 126 ns against
//! 69 ns in the caches, 213 against 173 ns when the block has to come from memory. `rep movsb` is
//! faster still in the caches (46 ns) but much slower to memory when the payload does not begin at a
//! cache line (288 ns), as it never does here; stores past the caches are slower throughout. It must
//! only be used for payload, never for a word that tells others something.

use crate::atomics::AtomicU64;

/// Bytes of one turn.
pub(crate) const STEP: usize = 64;

/// Stores as many whole steps of `bytes` as there are and as fit into `words`; returns how many
/// bytes that were.
#[inline]
pub(crate) fn store_steps(words: &[AtomicU64], bytes: &[u8]) -> usize {
    let count = bytes.len().min(size_of_val(words)) / STEP * STEP;
    if count == 0 {
        return 0;
    }
    // SAFETY: `count` is a multiple of STEP, not zero, and at most the length of both slices, so
    // `at` stays within both. What the instructions do to the words is what as many Relaxed
    // stores of eight bytes do, in any order: a store of sixteen bytes at a multiple of eight is
    // never torn within its aligned halves. They cannot overlap `bytes`, as nobody has a `&[u8]` of the
    // ring's area. Plain stores are ordered with what comes before and after as on this
    // architecture all are.
    unsafe {
        core::arch::asm!(
            "2:",
            "movups {a}, [{from} + {at}]",
            "movups {b}, [{from} + {at} + 16]",
            "movups {c}, [{from} + {at} + 32]",
            "movups {d}, [{from} + {at} + 48]",
            "movups [{to} + {at}], {a}",
            "movups [{to} + {at} + 16], {b}",
            "movups [{to} + {at} + 32], {c}",
            "movups [{to} + {at} + 48], {d}",
            "add {at}, 64",
            "cmp {at}, {count}",
            "jb 2b",
            from = in(reg) bytes.as_ptr(),
            to = in(reg) words.as_ptr(),
            count = in(reg) count,
            at = inout(reg) 0usize => _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack),
        );
    }
    count
}
