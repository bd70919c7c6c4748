//! Recording from C: the calls behind the header's inline functions.
//!
//! The constraint: as in the recorder: no allocation, no lock, no system call after a thread's first event.

use crate::handles::{event_type, lookback_event_type};
use crate::status::guard_or;
use ::lookback_recorder::Phase;

/// What an event says about its span.
#[allow(non_camel_case_types, dead_code, reason = "for the header: functions take numbers, and check them")]
#[repr(u32)]
pub enum lookback_phase {
    /// It stands for itself.
    LOOKBACK_INSTANT = 16,
    /// A span begins on this thread.
    LOOKBACK_BEGIN = 17,
    /// The innermost span of this type on this thread ends.
    LOOKBACK_END = 18,
}

/// Records an event, whatever its level: the inline functions below look at that and call this. `phase` is one
/// of lookback_phase. `values` are `count` words, one for each field of the type but a text or bytes at its end,
/// which are the `tail_bytes` bytes at `tail`. What does not fit the type is recorded as it is. An event that is
/// larger than a block of the ring is dropped and counted. NULL for a type, and an unknown phase, record
/// nothing. Any thread; not from a signal handler as a thread's first event.
///
/// # Safety
/// `of` is null or of a recorder that is open; `values` has `count` words and `tail` has `tail_bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_record(
    of: *const lookback_event_type,
    phase: u32,
    values: *const u64,
    count: usize,
    tail: *const u8,
    tail_bytes: usize,
) {
    guard_or((), move || {
        // SAFETY: null or of an open recorder by the caller's word.
        let Some(handle) = (unsafe { event_type(of) }) else { return };
        let Some(phase) = u16::try_from(phase).ok().and_then(Phase::from_kind) else { return };
        // SAFETY: so many words and bytes are there by the caller's word; null stands for none.
        let (values, tail) = unsafe { (slice(values, count), slice(tail, tail_bytes)) };
        handle.of.record(phase, values, tail);
    });
}

/// # Safety
/// `at` is null or has `count` elements that do not change meanwhile.
unsafe fn slice<'a, T>(at: *const T, count: usize) -> &'a [T] {
    if at.is_null() {
        return &[];
    }
    // SAFETY: passed on from the caller.
    unsafe { std::slice::from_raw_parts(at, count) }
}
