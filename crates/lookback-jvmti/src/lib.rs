//! What the project's agents need of the VM's native interfaces.
//!
//! The constraint that shaped it: two agents live side by side in one VM, Lookback's own and the harness that measures
//! it, and neither may depend on the other. What they share is this: the tables of JVMTI and JNI, and threads of their
//! own. It must not print, must not hold state and must not know what an agent is for.

#![expect(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "references and ids are the VM's own handles, which the agents got from it and hand back to it"
)]
#![expect(
    clippy::macro_metavars_in_unsafe,
    reason = "a call of JNI is unsafe as a whole, its arguments with it; agents pass values only"
)]

mod jni;
mod jvmti;
mod native_thread;

pub use jni::{clear, delete};
pub use jvmti::*;
pub use native_thread::native_thread;

use std::ffi::{CStr, c_char};

/// The options that the VM hands to an agent; empty when it hands none.
///
/// # Safety
/// `p` is null or a zero-terminated string.
#[must_use]
pub unsafe fn text(p: *const c_char) -> String {
    if p.is_null() {
        return String::new();
    }
    // SAFETY: by the caller's word.
    unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned()
}
