//! How many words each instruction pops and pushes.
//!
//! Constraint: needed only to follow `this` through a constructor up to its
//! call of `super(...)`; types do not matter, words of 32 bits do. Source: Java
//! Virtual Machine Specification, chapter 6. Must not touch instructions that
//! move values about (loads and stores of references, `dup` and its kin) or
//! depend on the constant pool: those return `None`.

/// Words popped and pushed by `op`; `None` when its operands decide or its effect is more than that.
pub(crate) fn stack_effect(op: u8) -> Option<(u32, u32)> {
    Some(match op {
        // nop, iinc, goto, goto_w, return
        0 | 132 | 167 | 177 | 200 => (0, 0),
        // constants, ldc, loads of one word, new
        1..=8 | 11..=13 | 16..=19 | 21 | 23 | 26..=29 | 34..=37 | 187 => (0, 1),
        // constants and loads of two words
        9 | 10 | 14 | 15 | 20 | 22 | 24 | 30..=33 | 38..=41 => (0, 2),
        // array loads
        46 | 48 | 50..=53 => (2, 1),
        47 | 49 => (2, 2),
        // stores of non-references
        54 | 56 | 59..=62 | 67..=70 => (1, 0),
        55 | 57 | 63..=66 | 71..=74 => (2, 0),
        // array stores
        79 | 81 | 83..=86 => (3, 0),
        80 | 82 => (4, 0),
        87 => (1, 0),
        88 => (2, 0),
        // add, sub, mul, div, rem by type: int, long, float, double
        96..=115 => {
            if op.is_multiple_of(2) {
                (2, 1)
            } else {
                (4, 2)
            }
        }
        // neg
        116 | 118 => (1, 1),
        117 | 119 => (2, 2),
        // shifts
        120 | 122 | 124 => (2, 1),
        121 | 123 | 125 => (3, 2),
        // and, or, xor
        126 | 128 | 130 => (2, 1),
        127 | 129 | 131 => (4, 2),
        // conversions
        133 | 135 | 140 | 141 => (1, 2),
        134 | 139 | 145..=147 => (1, 1),
        136 | 137 | 142 | 144 => (2, 1),
        138 | 143 => (2, 2),
        // comparisons
        148 | 151 | 152 => (4, 1),
        149 | 150 => (2, 1),
        // branches on one word, switches, ifnull
        153..=158 | 170 | 171 | 198 | 199 => (1, 0),
        159..=166 => (2, 0),
        // newarray, anewarray, arraylength, checkcast, instanceof
        188..=190 | 192 | 193 => (1, 1),
        // monitors, athrow, returns of one word
        191 | 194 | 195 | 172 | 174 | 176 => (1, 0),
        173 | 175 => (2, 0),
        _ => return None,
    })
}

/// Words a field of this descriptor takes.
pub(crate) fn field_words(descriptor: &[u8]) -> Option<u32> {
    match descriptor.first()? {
        b'J' | b'D' => Some(2),
        b'V' => Some(0),
        _ => Some(1),
    }
}

/// Words of the arguments, without a receiver, and of the result.
pub(crate) fn method_words(descriptor: &[u8]) -> Option<(u32, u32)> {
    let (open, mut rest) = descriptor.split_first()?;
    if *open != b'(' {
        return None;
    }
    let mut arguments = 0;
    loop {
        let (first, tail) = rest.split_first()?;
        rest = tail;
        arguments += match first {
            b')' => return Some((arguments, field_words(rest)?)),
            b'J' | b'D' => 2,
            b'L' => {
                rest = after_class_name(rest)?;
                1
            }
            b'[' => {
                while let [b'[', tail @ ..] = rest {
                    rest = tail;
                }
                let (element, tail) = rest.split_first()?;
                rest = if *element == b'L' { after_class_name(tail)? } else { tail };
                1
            }
            _ => 1,
        };
    }
}

fn after_class_name(rest: &[u8]) -> Option<&[u8]> {
    rest.get(rest.iter().position(|b| *b == b';')? + 1..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_measured() {
        assert_eq!(method_words(b"()V"), Some((0, 0)));
        assert_eq!(method_words(b"(IJLjava/lang/String;[[D[Lx;Z)J"), Some((7, 2)));
        assert_eq!(method_words(b"(D)Ljava/lang/Object;"), Some((2, 1)));
        assert_eq!(method_words(b"(Lx"), None);
        assert_eq!(method_words(b"([)V"), None);
        assert_eq!(method_words(b""), None);
        assert_eq!(field_words(b"[J"), Some(1));
    }

    #[test]
    fn instructions_that_need_more_are_left_to_the_caller() {
        for op in [25, 42, 58, 75, 89, 90, 91, 92, 93, 94, 95, 168, 169, 178, 181, 182, 186, 196, 197, 201] {
            assert_eq!(stack_effect(op), None, "{op}");
        }
        assert_eq!(stack_effect(123), Some((3, 2)));
        assert_eq!(stack_effect(97), Some((4, 2)));
        assert_eq!(stack_effect(98), Some((2, 1)));
    }
}
