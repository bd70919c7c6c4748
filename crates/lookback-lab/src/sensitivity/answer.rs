//! What a program may be told of its heap.
//!
//! The constraint that shaped it: from what differs it must be told which question a program asks, so each of the two
//! numbers is varied alone, half and twice, before both are varied together.

use lookback_options::format_bytes;
use std::fmt;

/// What `Runtime.maxMemory` and `totalMemory` answer, bytes; none is the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer(pub Option<(u64, u64)>);

const MIB: u64 = 1 << 20;

/// The paper's constants, with which the others are compared.
pub const CONSTANTS: Answer = Answer(Some((512 * MIB, 128 * MIB)));

/// The eight of the study; the paper does not say which its eight were, but for the truth and the constants.
pub const ANSWERS: [Answer; 8] = [
    CONSTANTS,
    Answer(None),
    Answer(Some((256 * MIB, 128 * MIB))),
    Answer(Some((1024 * MIB, 128 * MIB))),
    Answer(Some((512 * MIB, 64 * MIB))),
    Answer(Some((512 * MIB, 256 * MIB))),
    Answer(Some((128 * MIB, 32 * MIB))),
    Answer(Some((2048 * MIB, 512 * MIB))),
];

/// What stands before an answer in a configuration's name.
const WORD: &str = "|memory=";

impl Answer {
    /// The name of a configuration with this answer: `g1|memory=512m:128m`.
    pub(super) fn name(self, configuration: &str) -> String {
        format!("{configuration}{WORD}{self}")
    }

    /// Configuration and answer of such a name.
    pub(super) fn of(name: &str) -> Option<(&str, Answer)> {
        let (configuration, answer) = name.rsplit_once(WORD)?;
        ANSWERS.into_iter().find(|known| known.to_string() == answer).map(|known| (configuration, known))
    }

    /// Whether it differs from the constants in the maximum alone.
    pub(super) fn only_maximum(self) -> bool {
        self.parts().is_some_and(|(maximum, total)| maximum && !total)
    }

    /// Whether it differs from the constants in the total alone.
    pub(super) fn only_total(self) -> bool {
        self.parts().is_some_and(|(maximum, total)| total && !maximum)
    }

    /// Whether maximum and total differ from the constants; none for the truth.
    fn parts(self) -> Option<(bool, bool)> {
        let ((maximum, total), (constant, constant_total)) = self.0.zip(CONSTANTS.0)?;
        Some((maximum != constant, total != constant_total))
    }
}

impl fmt::Display for Answer {
    /// `512m:128m`, `own` for the truth.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("own"),
            Some((maximum, total)) => write!(f, "{}:{}", format_bytes(maximum), format_bytes(total)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_names_of_their_own_that_are_understood_again() {
        for (i, answer) in ANSWERS.into_iter().enumerate() {
            assert!(!ANSWERS[i + 1..].contains(&answer));
            assert_eq!(Answer::of(&answer.name("g1|x")), Some(("g1|x", answer)));
        }
        assert_eq!(CONSTANTS.name("g1"), "g1|memory=512m:128m");
        assert_eq!(Answer::of("g1|memory=3m:1m"), None);
        assert_eq!(Answer::of("g1"), None);
    }

    #[test]
    fn each_number_is_varied_alone_to_both_sides() {
        let of = |alone: fn(Answer) -> bool| ANSWERS.into_iter().filter(|&answer| alone(answer)).count();
        assert_eq!((of(Answer::only_maximum), of(Answer::only_total)), (2, 2));
    }
}
