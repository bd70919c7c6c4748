//! What the kernel knows of Java's threads: their numbers, and whether they run.
//!
//! The constraint that shaped it: neither JNI nor JVMTI tells a thread's number. HotSpot describes its own structures for
//! debuggers (`gHotSpotVMStructs`), and `java.lang.Thread` holds the address of the VM's thread, which may be gone when it is
//! read. So memory is read by a system call that fails where there is none, and what is found is compared with what this
//! thread knows of itself before anything is believed.

use crate::agent::Agent;
use crate::hooks::vm_symbol;
use crate::java::{clear, delete, jni};
use crate::threads::gettid;
use jni_sys::{JNIEnv, jfieldID, jobject};
use std::ffi::{CStr, c_char};
use std::fs::File;
use std::io::Read;

/// Where a thread's number stands.
pub(super) struct OsThreads {
    /// Of `java.lang.Thread`: the address of the VM's thread.
    eetop: jfieldID,
    /// Offset in it of the pointer to the system's thread.
    os_thread: usize,
    /// Offset in that of its number.
    number: usize,
}

impl OsThreads {
    /// Looks for it, with the current thread as the test.
    pub(super) fn find(agent: &Agent, env: *mut JNIEnv) -> Result<OsThreads, String> {
        let own = agent.java().and_then(|java| java.current(env)).ok_or("the agent is not alive")?;
        let found = OsThreads::with(env, own);
        delete(env, own);
        found
    }

    fn with(env: *mut JNIEnv, own: jobject) -> Result<OsThreads, String> {
        let missing =
            || "this VM does not tell which of its threads run (HotSpot's descriptions are missing)";
        let class = jni!(env, GetObjectClass, own);
        let eetop = jni!(env, GetFieldID, class, c"eetop".as_ptr(), c"J".as_ptr());
        clear(env);
        let found = (!eetop.is_null())
            .then(|| {
                let os_thread = offset(&["JavaThread", "Thread"], "_osthread")?;
                let number = offset(&["OSThread"], "_thread_id")?;
                Some(OsThreads { eetop, os_thread, number })
            })
            .flatten();
        found.filter(|threads| threads.number(env, own) == Some(gettid())).ok_or_else(|| missing().into())
    }

    /// The number of a thread; none when it has ended.
    pub(super) fn number(&self, env: *mut JNIEnv, thread: jobject) -> Option<u32> {
        let address = jni!(env, GetLongField, thread, self.eetop) as usize;
        let os_thread = read::<usize>(address.checked_add(self.os_thread).filter(|_| address != 0)?)?;
        let number = read::<u32>(os_thread.checked_add(self.number).filter(|_| os_thread != 0)?)?;
        // Of a thread that has ended it may be anything.
        std::path::Path::new(&format!("/proc/self/task/{number}")).exists().then_some(number)
    }
}

/// Whether a thread of this process is on a processor, or could be.
pub(super) fn is_running(number: u32) -> bool {
    let mut line = [0; 64];
    let read = File::open(format!("/proc/self/task/{number}/stat")).and_then(|mut f| f.read(&mut line));
    read.is_ok_and(|n| state(&line[..n]) == Some(b'R'))
}

/// The state among the first bytes of a `stat` file: behind the name, which is at most 15 bytes and may hold anything.
fn state(stat: &[u8]) -> Option<u8> {
    let name_end = stat.iter().rposition(|&b| b == b')')?;
    stat.get(name_end + 2).copied()
}

/// The offset of a field by the VM's own description of one of these types.
fn offset(types: &[&str], field: &str) -> Option<usize> {
    let number = |name: &CStr| {
        let p = vm_symbol(name)?;
        // SAFETY: HotSpot exports these as u64 (vmStructs.hpp).
        Some(unsafe { *p.cast::<u64>() } as usize)
    };
    let type_name = number(c"gHotSpotVMStructEntryTypeNameOffset")?;
    let field_name = number(c"gHotSpotVMStructEntryFieldNameOffset")?;
    let is_static = number(c"gHotSpotVMStructEntryIsStaticOffset")?;
    let at = number(c"gHotSpotVMStructEntryOffsetOffset")?;
    let stride = number(c"gHotSpotVMStructEntryArrayStride")?;
    // SAFETY: HotSpot exports the address of the first entry; an entry without a type ends the table.
    unsafe {
        let mut entry = *vm_symbol(c"gHotSpotVMStructs")?.cast::<*const u8>();
        loop {
            let name = entry.add(type_name).cast::<*const c_char>().read_unaligned();
            if name.is_null() {
                return None;
            }
            let its_field = entry.add(field_name).cast::<*const c_char>().read_unaligned();
            let is_this = |wanted: &str| CStr::from_ptr(name).to_bytes() == wanted.as_bytes();
            if !its_field.is_null()
                && CStr::from_ptr(its_field).to_bytes() == field.as_bytes()
                && types.iter().any(|t| is_this(t))
                && entry.add(is_static).cast::<i32>().read_unaligned() == 0
            {
                return Some(entry.add(at).cast::<u64>().read_unaligned() as usize);
            }
            entry = entry.add(stride);
        }
    }
}

/// What stands at an address of this process, if anything does.
fn read<T: Copy + Default>(address: usize) -> Option<T> {
    let mut value = T::default();
    let len = size_of::<T>();
    let local = libc::iovec { iov_base: (&raw mut value).cast(), iov_len: len };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: len };
    // SAFETY: `local` is a valid buffer; the kernel checks the other side.
    let n = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    (n == len as isize).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_reads_as_none() {
        let there = 0x1234_5678_u32;
        assert_eq!(read::<u32>(&raw const there as usize), Some(there));
        assert_eq!(read::<u32>(8), None);
    }

    #[test]
    fn the_current_thread_runs_and_one_that_waits_does_not() {
        assert!(is_running(gettid()));
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let waiting = std::thread::spawn(move || {
            tell.send(gettid()).unwrap();
            ended.recv().unwrap_or(());
        });
        let number = told.recv().unwrap();
        while is_running(number) {
            std::thread::yield_now();
        }
        drop(end);
        waiting.join().unwrap();
        assert!(!is_running(number), "one that has ended");
    }

    #[test]
    fn a_name_may_hold_anything() {
        assert_eq!(state(b"4711 (a ) R (b) S 1 2"), Some(b'S'));
        assert_eq!(state(b"4711 (a"), None);
    }
}
