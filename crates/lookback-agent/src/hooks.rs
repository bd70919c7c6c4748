//! Wait points that are native methods: their natives are bound again, to a timed wrapper.
//!
//! Once the agent has left the program they are bound to the VM's own functions again.
//!
//! The constraint that shaped it: bytecode cannot enter a native method, and before JDK 21 `Thread.sleep` is
//! one. The VM logs a warning when code outside of the boot loader rebinds a platform method, so this is
//! called through a Java method of `LookbackTracePoint`, which is inside.

use crate::agent::Agent;
use crate::java::{clear, jni};
use crate::trace_points;
use jni_sys::{JNIEnv, JNINativeMethod, jclass, jlong, jobject};
use lookback_format::symbol::{Role, Wait};
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

type SleepFn = unsafe extern "system" fn(*mut JNIEnv, jclass, jlong);
type SyncFn = unsafe extern "system" fn(*mut JNIEnv, jobject);

/// The VM's own functions.
static SLEEP: OnceLock<SleepFn> = OnceLock::new();
static SYNC: OnceLock<SyncFn> = OnceLock::new();
/// The ids of the wrappers' methods.
static SLEEP_ID: AtomicU32 = AtomicU32::new(0);
static SYNC_ID: AtomicU32 = AtomicU32::new(0);

/// Rebinds what this VM has as natives; what it does not have stays as it is.
pub(crate) fn rebind_natives(agent: &Agent, env: *mut JNIEnv) {
    if agent.is_detached() {
        if let Some(&f) = SLEEP.get() {
            bind(env, c"java/lang/Thread", c"sleep", c"(J)V", f as *mut c_void);
        }
        if let Some(&f) = SYNC.get() {
            bind(env, c"java/io/FileDescriptor", c"sync", c"()V", f as *mut c_void);
        }
        return;
    }
    if let (Some(f), Some(id)) =
        (vm_symbol(c"JVM_Sleep"), register(agent, "java.lang.Thread", "sleep", "(J)V", Wait::Sleep))
    {
        // SAFETY: libjvm's JVM_Sleep has had this signature for as long as it exists.
        let _ = SLEEP.set(unsafe { std::mem::transmute::<*mut c_void, SleepFn>(f) });
        // Relaxed: binding the wrapper, which reads it, orders.
        SLEEP_ID.store(id, Ordering::Relaxed);
        bind(env, c"java/lang/Thread", c"sleep", c"(J)V", sleep as *mut c_void);
    }
    let java_library = format!("{}/lib/libjava.so\0", agent.jvmti.system_property(c"java.home"));
    let path = CStr::from_bytes_with_nul(java_library.as_bytes()).unwrap_or(c"");
    if let (Some(f), Some(id)) = (
        symbol_in(path, c"Java_java_io_FileDescriptor_sync"),
        register(agent, "java.io.FileDescriptor", "sync", "()V", Wait::Sync),
    ) {
        // SAFETY: the JNI function of `native void sync()`.
        let _ = SYNC.set(unsafe { std::mem::transmute::<*mut c_void, SyncFn>(f) });
        // Relaxed: as above.
        SYNC_ID.store(id, Ordering::Relaxed);
        bind(env, c"java/io/FileDescriptor", c"sync", c"()V", sync as *mut c_void);
    }
}

/// What the VM's own library, or any that is loaded, exports under a name.
pub(crate) fn vm_symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: looks a name up among the libraries that are loaded.
    let global = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if global.is_null() { symbol_in(c"libjvm.so", name) } else { Some(global) }
}

fn symbol_in(library: &CStr, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: RTLD_NOLOAD gives a handle only of what is loaded already; the VM never unloads these.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: a handle that was given just now.
    let f = unsafe { libc::dlsym(handle, name.as_ptr()) };
    (!f.is_null()).then_some(f)
}

/// Gives a native method its id and symbol.
fn register(agent: &Agent, class: &str, name: &str, descriptor: &str, wait: Wait) -> Option<u32> {
    agent.symbols.single(&agent.region, class, name, descriptor, wait, Role::Method).map(|id| id.0)
}

/// Binds a method when the class declares it native; else forgets the error.
fn bind(env: *mut JNIEnv, class: &CStr, name: &CStr, descriptor: &CStr, f: *mut c_void) {
    let c = jni!(env, FindClass, class.as_ptr());
    clear(env);
    if c.is_null() || !is_native(env, c, name, descriptor) {
        return;
    }
    let method = JNINativeMethod {
        name: name.as_ptr() as *mut c_char,
        signature: descriptor.as_ptr() as *mut c_char,
        fnPtr: f,
    };
    jni!(env, RegisterNatives, c, &raw const method, 1);
    clear(env);
}

/// Whether the class declares the method, and as native, by its reflection object's modifiers.
fn is_native(env: *mut JNIEnv, class: jclass, name: &CStr, descriptor: &CStr) -> bool {
    const ACC_NATIVE: i32 = 0x100;
    let mut is_static = true;
    let mut id = jni!(env, GetStaticMethodID, class, name.as_ptr(), descriptor.as_ptr());
    clear(env);
    if id.is_null() {
        is_static = false;
        id = jni!(env, GetMethodID, class, name.as_ptr(), descriptor.as_ptr());
        clear(env);
    }
    if id.is_null() {
        return false;
    }
    let reflected = jni!(env, ToReflectedMethod, class, id, u8::from(is_static));
    if reflected.is_null() {
        clear(env);
        return false;
    }
    let method_class = jni!(env, GetObjectClass, reflected);
    let get = jni!(env, GetMethodID, method_class, c"getModifiers".as_ptr(), c"()I".as_ptr());
    let modifiers =
        if get.is_null() { 0 } else { jni!(env, CallIntMethodA, reflected, get, std::ptr::null()) };
    clear(env);
    modifiers & ACC_NATIVE != 0
}

/// Records one end of a native wait point.
fn mark(env: *mut JNIEnv, slot: u32) {
    let Some(entered) = Agent::enter() else { return };
    let agent = entered.0;
    agent.java_with_cursor(env, |cursor| {
        trace_points::slow(cursor, |_, own, at, now| own.put_exact(at, slot, now))
    });
}

unsafe extern "system" fn sleep(env: *mut JNIEnv, class: jclass, millis: jlong) {
    if let Some(&f) = SLEEP.get() {
        // Relaxed: see `rebind_natives`.
        let id = SLEEP_ID.load(Ordering::Relaxed);
        mark(env, id);
        // SAFETY: the VM's own function, with the arguments that it was called with.
        unsafe { f(env, class, millis) };
        mark(env, id | lookback_format::slot::EXIT);
    }
}

unsafe extern "system" fn sync(env: *mut JNIEnv, descriptor: jobject) {
    if let Some(&f) = SYNC.get() {
        // Relaxed: see `rebind_natives`.
        let id = SYNC_ID.load(Ordering::Relaxed);
        mark(env, id);
        // SAFETY: as above.
        unsafe { f(env, descriptor) };
        mark(env, id | lookback_format::slot::EXIT);
    }
}
