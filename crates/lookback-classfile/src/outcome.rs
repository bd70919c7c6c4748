//! What came of one class: new bytes, traced methods, and what was left alone.
//!
//! Constraint: nothing is lost silently; each method that cannot be traced is
//! counted by cause. Must not hold borrowed data, so that a caller can keep it.

use crate::probe::MethodId;

/// Why a method was left alone although nobody asked for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// `ACC_ABSTRACT`: no code.
    Abstract,
    /// `ACC_NATIVE`: no bytecode.
    Native,
    /// Uses `jsr` or `ret` (compilers before Java 6): a subroutine's code is shared by
    /// several paths, and the old verifier follows each, so it is left alone.
    Subroutine,
    /// More than 65535 bytes of code after rewriting.
    CodeTooLarge,
    /// At most 8000 bytes of code before, more after: HotSpot would never compile
    /// it any more (`HugeMethodLimit`).
    PastCompileLimit,
    /// A 16-bit branch offset would no longer reach.
    BranchOffset,
    /// The constant pool, an exception table or an attribute list has no room left.
    TableFull,
    /// A constructor whose call of `super(...)` or `this(...)` cannot be told apart soundly.
    ConstructorFlow,
    /// `max_stack` would pass 65535.
    StackTooDeep,
    /// HotSpot gives the method's code a meaning of its own. `finalize()` without a body: with any
    /// instruction in it every object of the class is queued for finalization, and from
    /// `java/lang/Object` every object there is. `Object.<init>`: HotSpot makes its return register
    /// finalizers, and the C2 compiler of JDK 17.0.15 crashed on it once it had a handler.
    KnownToVm,
    /// The method's bytes contradict the specification; the JVM will say so.
    Malformed,
}

/// Every reason, in the order of [`SkipCounts`].
pub(crate) const REASONS: [SkipReason; 11] = [
    SkipReason::Abstract,
    SkipReason::Native,
    SkipReason::Subroutine,
    SkipReason::CodeTooLarge,
    SkipReason::PastCompileLimit,
    SkipReason::BranchOffset,
    SkipReason::TableFull,
    SkipReason::ConstructorFlow,
    SkipReason::StackTooDeep,
    SkipReason::KnownToVm,
    SkipReason::Malformed,
];

impl SkipReason {
    /// A short name for reports, such as `branch offset`.
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::Abstract => "abstract",
            SkipReason::Native => "native",
            SkipReason::Subroutine => "subroutine",
            SkipReason::CodeTooLarge => "code too large",
            SkipReason::PastCompileLimit => "past compile limit",
            SkipReason::BranchOffset => "branch offset",
            SkipReason::TableFull => "table full",
            SkipReason::ConstructorFlow => "constructor flow",
            SkipReason::StackTooDeep => "stack too deep",
            SkipReason::KnownToVm => "known to the VM",
            SkipReason::Malformed => "malformed",
        }
    }
}

impl From<crate::reader::Cut> for SkipReason {
    fn from(_: crate::reader::Cut) -> Self {
        SkipReason::Malformed
    }
}

/// Methods left alone, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkipCounts {
    counts: [u32; REASONS.len()],
}

impl SkipCounts {
    /// How many methods were left alone for this reason.
    pub fn get(&self, reason: SkipReason) -> u32 {
        self.counts[reason as usize]
    }

    /// Every reason with its count, zeros included.
    pub fn iter(&self) -> impl Iterator<Item = (SkipReason, u32)> + '_ {
        REASONS.iter().map(|&reason| (reason, self.get(reason)))
    }

    /// All reasons together.
    pub fn total(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// Adds the counts of another class.
    pub fn add(&mut self, other: &SkipCounts) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
    }

    pub(crate) fn note(&mut self, reason: SkipReason) {
        self.counts[reason as usize] += 1;
    }
}

/// A method that now has trace points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traced {
    /// The id its trace points carry.
    pub id: MethodId,
    /// Position in the class file's list of methods.
    pub index: u16,
}

/// A method the policy wanted traced and that was left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The id the policy gave; no trace point carries it.
    pub id: MethodId,
    /// Position in the class file's list of methods.
    pub index: u16,
    /// Why.
    pub reason: SkipReason,
}

/// What came of one class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The new class file; `None` when no method was rewritten.
    pub bytes: Option<Vec<u8>>,
    /// The methods that were rewritten, in class file order.
    pub traced: Vec<Traced>,
    /// The methods the policy wanted and did not get, in class file order; they are in `skipped` too.
    pub refused: Vec<Refused>,
    /// Methods left alone for a reason other than the policy's wish.
    pub skipped: SkipCounts,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_listed_in_the_order_they_are_counted() {
        for (i, reason) in REASONS.iter().enumerate() {
            assert_eq!(*reason as usize, i, "{}", reason.name());
        }
        let mut counts = SkipCounts::default();
        counts.note(SkipReason::Malformed);
        counts.add(&counts.clone());
        assert_eq!(counts.get(SkipReason::Malformed), 2);
        assert_eq!(counts.total(), 2);
    }
}
