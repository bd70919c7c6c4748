//! Errors as numbers, the text of the last one, and the guard that no panic passes.
//!
//! The constraint: the text must be there when the caller asks, whatever other threads do meanwhile, so each thread
//! has its own.

use ::lookback_recorder::Error;
use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a function returns. Numbers are never used for something else.
#[allow(non_camel_case_types, reason = "as C calls it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum lookback_status {
    /// All is well.
    LOOKBACK_OK = 0,
    /// A null pointer or a text that is no UTF-8 was given.
    LOOKBACK_INVALID = 1,
    /// There is such a file already.
    LOOKBACK_EXISTS = 2,
    /// There is no such file.
    LOOKBACK_ABSENT = 3,
    /// The file system has no room.
    LOOKBACK_NO_SPACE = 4,
    /// The file is no ring file that this build can use, or is damaged.
    LOOKBACK_UNUSABLE = 5,
    /// The file was made before the machine was started last.
    LOOKBACK_OTHER_BOOT = 6,
    /// The operating system refused.
    LOOKBACK_SYSTEM = 7,
    /// A defect of this library. Nothing was done, and the recorder can still be used.
    LOOKBACK_DEFECT = 8,
}

use lookback_status as status;

/// Bytes of a message, the zero at its end included; longer ones are cut.
const MESSAGE_BYTES: usize = 1024;

thread_local! {
    // Without a destructor, and always at the same address: what the caller holds stays readable.
    static MESSAGE: [Cell<u8>; MESSAGE_BYTES] = const { [const { Cell::new(0) }; MESSAGE_BYTES] };
}

/// Why the last function that returned something other than LOOKBACK_OK to this thread did so, and what to try,
/// in UTF-8. Empty when there was none. The address is the same as long as the thread lives; the text changes
/// when another function fails. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn lookback_error_message() -> *const c_char {
    MESSAGE.with(|message| message.as_ptr().cast())
}

/// Keeps the text of an error for [`lookback_error_message`].
pub(crate) fn fail(code: status, text: &str) -> status {
    let mut end = text.len().min(MESSAGE_BYTES - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let bytes = text.as_bytes()[..end].iter().map(|&byte| if byte == 0 { b' ' } else { byte });
    MESSAGE.with(|message| message.iter().zip(bytes.chain([0])).for_each(|(to, byte)| to.set(byte)));
    code
}

pub(crate) fn fail_with(error: &Error) -> status {
    let code = match error {
        Error::Exists { .. } => status::LOOKBACK_EXISTS,
        Error::NoSpace { .. } => status::LOOKBACK_NO_SPACE,
        Error::OtherBoot { .. } => status::LOOKBACK_OTHER_BOOT,
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => status::LOOKBACK_ABSENT,
        Error::Io { .. } => status::LOOKBACK_SYSTEM,
        _ => status::LOOKBACK_UNUSABLE,
    };
    fail(code, &error.to_string())
}

/// Runs what may fail.
pub(crate) fn guard(run: impl FnOnce() -> Result<(), status>) -> status {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => status::LOOKBACK_OK,
        Ok(Err(code)) => code,
        Err(_) => fail(status::LOOKBACK_DEFECT, "a defect of liblookback_ring; please report it"),
    }
}

/// Runs what has a value, or gives another one in its place. Inlined, because events are recorded through it.
#[inline(always)]
pub(crate) fn guard_or<T>(other: T, run: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(other)
}

/// A text of the caller.
///
/// # Safety
/// `text` is null, or points to a text that ends with a zero and does not change meanwhile.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, status> {
    if text.is_null() {
        return Err(fail(status::LOOKBACK_INVALID, &format!("{what} is a null pointer")));
    }
    // SAFETY: not null, and a text by the caller's word.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| fail(status::LOOKBACK_INVALID, &format!("{what} is not UTF-8")))
}
