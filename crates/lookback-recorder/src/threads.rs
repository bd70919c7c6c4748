//! Which thread records: ids of the calling thread's definitions, one a recorder.
//!
//! The constraint: every event carries the id, so it must cost a load and a comparison. The place is a
//! thread-local array without a destructor, indexed by the recorder's number; a recorder that finds
//! another's id there registers the thread again, which finds its definition in the log.
//!
//! **Fork.** The child's only thread begins with a copy of its parent's thread-locals and would record as the
//! parent's thread. A handler that runs in the child, on that thread (`pthread_atfork`), empties the array; there
//! are no other threads to tell. So the hot path needs no check. A process made by a bare `clone` system call runs
//! no handlers and must not record.

use std::cell::Cell;
use std::sync::Once;

/// How many recorders find a thread's id at once; more than a program has, as a rule.
const PLACES: usize = 8;

thread_local! {
    /// The recorder's number in the upper half, the thread's id there in the lower; 0: none.
    static IDS: [Cell<u64>; PLACES] = const { [const { Cell::new(0) }; PLACES] };
}

/// The calling thread's id at the recorder with this number, if it is at hand.
#[inline(always)]
pub(crate) fn id_at(recorder: u32) -> Option<u32> {
    let word = IDS.with(|ids| ids[recorder as usize % PLACES].get());
    ((word >> 32) as u32 == recorder).then_some(word as u32)
}

/// Keeps the calling thread's id at the recorder with this number.
pub(crate) fn keep(recorder: u32, id: u32) {
    IDS.with(|ids| ids[recorder as usize % PLACES].set(u64::from(recorder) << 32 | u64::from(id)));
}

/// Has the ids forgotten in the child of a fork.
pub(crate) fn watch_forks() {
    extern "C" fn forget() {
        IDS.with(|ids| ids.iter().for_each(|id| id.set(0)));
    }
    static ONCE: Once = Once::new();
    // SAFETY: the handler is there as long as the program or library that it is part of, which takes it
    // back when it is unloaded; it touches thread-locals without destructors only.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(forget));
    });
}

/// The operating system's id of the calling thread.
pub(crate) fn os_tid() -> u32 {
    // SAFETY: no arguments.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// What the operating system calls the calling thread: up to 15 bytes.
pub(crate) fn os_name() -> String {
    let mut name = [0_u8; 16];
    // SAFETY: the buffer has the 16 bytes that the call writes at the most.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    let len = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..len]).into_owned()
}
