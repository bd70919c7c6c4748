//! The JVMTI agent of Lookback.
//!
//! The constraint that shaped it: it lives inside somebody else's program. Whatever fails here becomes one
//! warning and less tracing; no panic, lock or exit reaches the program. Entry points, in the order of a
//! program's life: [`Agent_OnLoad`] (with the VM) or [`Agent_OnAttach`] (later), the events in `events`, the
//! trace points' natives in `trace_points`, the control thread in `control`.
//!
//! ```text
//! class file -> rewriting -> trace points in the program -> slab -> ring
//!                  |                                          \      |
//!               symbols                  ticker: poll words     incidents <- control <- detector, server
//! ```

// The models take up the files that they check by themselves; see `tests/loom.rs`.
#![cfg(not(loom))]

mod agent;
mod brake;
mod cgroup;
mod clock;
mod control;
mod detach;
mod detector;
mod events;
mod governor;
mod held;
mod helpers;
mod hooks;
mod incidents;
mod inside;
mod java;
mod log;
mod monitors;
mod new_file;
mod own;
mod reach;
mod region;
mod retransform;
mod rewriting;
mod sampler;
mod server;
mod slab;
mod spans;
mod stacks;
mod startup;
mod switch;
mod symbols;
mod threads;
mod ticker;
mod trace_points;
mod unmounted;
mod virtual_names;
mod vm_points;
mod waits;
mod watched;

use jni_sys::{JavaVM, jint};
use lookback_jvmti::text;
use std::ffi::{c_char, c_void};

/// Called by the VM that was started with `-agentpath`.
///
/// # Safety
/// Called by the VM, with its own pointers.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut JavaVM, options: *const c_char, _: *mut c_void) -> jint {
    // SAFETY: the VM gives a zero-terminated string or null.
    let text = unsafe { text(options) };
    startup::guarded(|| startup::load(vm, &text));
    0
}

/// Called by a running VM that was told to load the agent.
///
/// # Safety
/// Called by the VM, with its own pointers.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    // SAFETY: as above.
    let text = unsafe { text(options) };
    // Here, unlike at the start, somebody waits for the answer: a failure is told by its code.
    if startup::guarded(|| startup::attach(vm, &text)) { 0 } else { 100 }
}
