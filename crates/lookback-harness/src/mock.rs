//! What the program is told of its heap where that is to be the same whatever heap it has.
//!
//! Programs size caches by `Runtime.maxMemory`, so that their work depends on the heap's size, which is what an experiment
//! varies. Section 3.3 of the paper answers with constants: `maxMemory` and `totalMemory` as given, `freeMemory` the lesser
//! of what is free and the mocked total. What the VM itself does, JMX and logs tell the truth as before.
//!
//! The constraint that shaped it: the JDK asks for `maxMemory` itself while it starts, before the VM is up (it is the limit
//! of direct buffers), and redefining a native later prints a warning. So each native method's code is replaced when
//! the VM binds it, in phases in which it answers no question about methods: they are known by the name of their code.

use crate::report::MockedMemory;
use jni_sys::{JNIEnv, jlong, jmethodID, jobject};
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

static MEMORY: OnceLock<MockedMemory> = OnceLock::new();
/// The code of the true `freeMemory`.
static FREE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

type Native = unsafe extern "system" fn(*mut JNIEnv, jobject) -> jlong;

/// From now on natives that are bound tell these. Only the first counts.
pub(crate) fn set(memory: MockedMemory) {
    let _ = MEMORY.set(memory);
}

/// The VM binds a native method to its code.
pub(crate) unsafe extern "C" fn native_method_bind(
    _: *mut c_void,
    _: *mut JNIEnv,
    _: jobject,
    _: jmethodID,
    code: *mut c_void,
    new_code: *mut *mut c_void,
) {
    if MEMORY.get().is_none() {
        return;
    }
    let mock: Native = match symbol(code) {
        Some(b"Java_java_lang_Runtime_maxMemory") => max_memory,
        Some(b"Java_java_lang_Runtime_totalMemory") => total_memory,
        Some(b"Java_java_lang_Runtime_freeMemory") => {
            // ORDERING: Release; pairs with the Acquire in `free_memory`, whose code is reachable only after this.
            FREE.store(code, Ordering::Release);
            free_memory
        }
        _ => return,
    };
    // SAFETY: the VM's out parameter.
    unsafe { *new_code = mock as *mut c_void };
}

/// The name of the function at an address.
fn symbol(code: *mut c_void) -> Option<&'static [u8]> {
    // SAFETY: zeros are a valid structure; any address may be asked for; the name is of a library that stays.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(code, &raw mut info) == 0 || info.dli_sname.is_null() || info.dli_saddr != code {
            return None;
        }
        Some(CStr::from_ptr(info.dli_sname).to_bytes())
    }
}

fn told(choose: fn(&MockedMemory) -> u64) -> jlong {
    MEMORY.get().map_or(0, choose) as jlong
}

unsafe extern "system" fn max_memory(_: *mut JNIEnv, _: jobject) -> jlong {
    told(|m| m.max_bytes)
}

unsafe extern "system" fn total_memory(_: *mut JNIEnv, _: jobject) -> jlong {
    told(|m| m.total_bytes)
}

unsafe extern "system" fn free_memory(env: *mut JNIEnv, runtime: jobject) -> jlong {
    let total = told(|m| m.total_bytes);
    // ORDERING: Acquire; pairs with the Release in `native_method_bind`.
    let code = FREE.load(Ordering::Acquire);
    if code.is_null() {
        return total;
    }
    // SAFETY: the JDK's own code of this method, called with what it was called with.
    let free = unsafe { std::mem::transmute::<*mut c_void, Native>(code)(env, runtime) };
    free.min(total)
}
