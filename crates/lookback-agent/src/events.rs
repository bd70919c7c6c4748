//! The VM's events: each is one C function that does one thing and lets no panic out.
//!
//! The constraint that shaped it: these run on the program's threads (garbage collection events on a VM
//! thread with the world stopped, where neither JNI nor JVMTI may be called).

use crate::agent::Agent;
use crate::clock;
use crate::detach;
use crate::monitors;
use crate::rewriting;
use crate::sampler;
use crate::startup;
use crate::threads;
use jni_sys::{JNIEnv, jclass, jint, jlong, jmethodID, jobject};
use lookback_format::Nanos;
use lookback_format::event::{Event, kind};
use lookback_format::symbol::Wait;
use lookback_jvmti::{Callbacks, Event as VmEvent};
use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// All callbacks, for [`lookback_jvmti::Jvmti::set_callbacks`].
pub(crate) fn callbacks() -> &'static Callbacks {
    static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();
    CALLBACKS.get_or_init(|| Callbacks {
        vm_init: Some(vm_init),
        vm_death: Some(vm_death),
        thread_start: Some(thread_start),
        thread_end: Some(thread_end),
        class_file_load_hook: Some(class_file_load_hook),
        class_load: Some(class_load),
        class_prepare: Some(class_prepare),
        compiled_method_load: Some(compiled_method_load),
        dynamic_code_generated: Some(dynamic_code_generated),
        monitor_wait: Some(monitor_wait),
        monitor_waited: Some(monitor_waited),
        monitor_contended_enter: Some(monitor_contended_enter),
        monitor_contended_entered: Some(monitor_contended_entered),
        garbage_collection_start: Some(garbage_collection_start),
        garbage_collection_finish: Some(garbage_collection_finish),
        ..Callbacks::default()
    })
}

/// Has the VM tell what happens in the program, or not any more: it does so only while tracing is on. The starts and ends of
/// threads are told apart from it, see [`threads::begin`].
pub(crate) fn watch(agent: &Agent, on: bool) -> Result<(), String> {
    let enable = |e| agent.jvmti.enable(e, on);
    // Relaxed: of a pause that was not told to its end; none goes on that is told.
    PAUSE_BEGAN.store(0, Ordering::Relaxed);
    enable(VmEvent::ClassFileLoadHook).map_err(|e| format!("the VM refuses its class hook: {e}"))?;
    if agent.vm_points.is_some() && on {
        enable(VmEvent::ClassPrepare)
            .map_err(|e| format!("the VM refuses its event of prepared classes: {e}"))?;
    }
    // A VM without one of these tells less; that is no reason not to trace.
    let _ = enable(VmEvent::GarbageCollectionStart).and_then(|()| enable(VmEvent::GarbageCollectionFinish));
    // Relaxed: written by the thread that asks.
    watch_monitors(agent, on && !agent.unseen.load(Ordering::Relaxed));
    Ok(())
}

/// Has the VM tell of waits for monitors, or not any more.
pub(crate) fn watch_monitors(agent: &Agent, on: bool) {
    if agent.options.waits {
        let enable = |e| agent.jvmti.enable(e, on);
        // As above: one that cannot tells less.
        let _ = enable(VmEvent::MonitorWait).and_then(|()| enable(VmEvent::MonitorWaited));
        let _ =
            enable(VmEvent::MonitorContendedEnter).and_then(|()| enable(VmEvent::MonitorContendedEntered));
    }
}

/// Runs `f` with the agent, when there is one.
fn with(f: impl FnOnce(&'static Agent)) {
    if let Some(entered) = Agent::enter() {
        let _ = catch_unwind(AssertUnwindSafe(|| f(entered.0)));
    }
}

/// As [`with`], also when it has left the program.
fn with_newest(f: impl FnOnce(&'static Agent)) {
    if let Some(agent) = Agent::newest() {
        let _ = catch_unwind(AssertUnwindSafe(|| f(agent)));
    }
}

unsafe extern "C" fn vm_init(_: *mut c_void, env: *mut JNIEnv, _: jobject) {
    with(|agent| {
        startup::guarded(|| startup::go_live(agent, env, false));
    });
}

unsafe extern "C" fn vm_death(_: *mut c_void, _: *mut JNIEnv) {
    with_newest(startup::end);
}

unsafe extern "C" fn thread_start(_: *mut c_void, env: *mut JNIEnv, thread: jobject) {
    with(|agent| threads::started(agent, env, thread));
    // Sees an agent that has left while this thread was between the two.
    with_newest(|agent| {
        if agent.is_detached() {
            detach::forget_cursor(agent, env, thread);
        }
    });
}

unsafe extern "C" fn thread_end(_: *mut c_void, env: *mut JNIEnv, thread: jobject) {
    with(|agent| threads::ended(agent, env, thread));
}

unsafe extern "C" fn class_file_load_hook(
    _: *mut c_void,
    env: *mut JNIEnv,
    _: jclass,
    loader: jobject,
    name: *const c_char,
    _: jobject,
    len: jint,
    bytes: *const c_uchar,
    new_len: *mut jint,
    new_bytes: *mut *mut c_uchar,
) {
    with(|agent| {
        // SAFETY: the VM gives null or a zero-terminated name.
        let name = if name.is_null() { c"" } else { unsafe { CStr::from_ptr(name) } };
        let Ok(name) = name.to_str() else { return };
        // SAFETY: the VM gives `len` bytes that live through this call.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, len.max(0) as usize) };
        let Some(new) = rewriting::class_file(agent, env, loader, name, bytes) else { return };
        if let Ok(p) = agent.jvmti.allocate(&new) {
            // SAFETY: out parameters of the VM.
            unsafe {
                *new_len = new.len() as jint;
                *new_bytes = p;
            }
        }
    });
}

/// Nothing: that it is asked for is what makes the VM walk stacks in signal handlers.
unsafe extern "C" fn class_load(_: *mut c_void, _: *mut JNIEnv, _: jobject, _: jclass) {}

unsafe extern "C" fn class_prepare(_: *mut c_void, _: *mut JNIEnv, _: jobject, class: jclass) {
    with(|agent| {
        sampler::class_prepared(agent, class);
        if let Some(points) = &agent.vm_points {
            points.set_ids(agent, class);
        }
    });
}

unsafe extern "C" fn compiled_method_load(
    _: *mut c_void,
    method: jmethodID,
    _: jint,
    address: *const c_void,
    _: jint,
    _: *const c_void,
    info: *const c_void,
) {
    // SAFETY: the VM's own argument.
    with(|agent| unsafe { agent.governor.compiled.add(method, address.addr(), info) });
}

unsafe extern "C" fn dynamic_code_generated(
    _: *mut c_void,
    _: *const c_char,
    address: *const c_void,
    _: jint,
) {
    with(|agent| agent.governor.compiled.add_own_code(address.addr()));
}

unsafe extern "C" fn monitor_wait(
    _: *mut c_void,
    env: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    _: jlong,
) {
    with(|agent| monitors::mark(agent, env, thread, object, Wait::ObjectWait, false));
}

unsafe extern "C" fn monitor_waited(
    _: *mut c_void,
    env: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    _: u8,
) {
    with(|agent| monitors::mark(agent, env, thread, object, Wait::ObjectWait, true));
}

unsafe extern "C" fn monitor_contended_enter(
    _: *mut c_void,
    env: *mut JNIEnv,
    thread: jobject,
    object: jobject,
) {
    with(|agent| monitors::mark(agent, env, thread, object, Wait::Monitor, false));
}

unsafe extern "C" fn monitor_contended_entered(
    _: *mut c_void,
    env: *mut JNIEnv,
    thread: jobject,
    object: jobject,
) {
    with(|agent| monitors::mark(agent, env, thread, object, Wait::Monitor, true));
}

/// When the pause that goes on began; 0 when none does.
static PAUSE_BEGAN: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn garbage_collection_start(_: *mut c_void) {
    // Relaxed: the world stands still, and the same thread sends the end.
    PAUSE_BEGAN.store(clock::now().0, Ordering::Relaxed);
}

unsafe extern "C" fn garbage_collection_finish(_: *mut c_void) {
    with(|agent| {
        let began = PAUSE_BEGAN.swap(0, Ordering::Relaxed);
        if began == 0 || !agent.is_tracing() {
            return;
        }
        let mut payload = Vec::with_capacity(24);
        Event::Pause(Nanos(began), clock::now(), 0).encode(&mut payload);
        agent.region.record(kind::PAUSE, &[&payload]);
    });
}
