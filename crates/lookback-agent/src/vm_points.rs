//! Trace points that the VM has itself, where it is the extended one (`vm/`) and runs with `-XX:+LookbackTracing`: at the frames
//! that there are in compiled code, so inlined methods have none.
//!
//! The constraint that shaped it: the cursor is a word of the VM's own thread, out of reach of Java and of JNI. So it is read and
//! set by the VM's extension functions, rewritten methods (those whose times are exact, and watched ones) call natives, and
//! all write into one slab. A method is traced when it has an id, so the governor's choice costs no class its compiled code. What
//! a trace point calls runs as a leaf, wherever a method is entered or left: nothing of the VM may be called from it.
//!
//! Source: "Hubble" (OSDI 2022), section 4; the functions are described in `vm/src/hotspot/share/lookback/tracePoints.h`.

use crate::agent::Agent;
use crate::java::{Cursor, clear, delete, jni};
use crate::slab::OwnSlab;
use crate::spans;
use crate::symbols::{hash_class, hash_single};
use crate::trace_points;
use jni_sys::{JNIEnv, jboolean, jclass, jint, jlong, jmethodID, jobject};
use lookback_format::slot::EXIT;
use lookback_format::symbol::Role;
use lookback_jvmti::Jvmti;
use rustc_hash::FxHashSet;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

const SET_IDS: &CStr = c"dev.lookback.functions.SetTraceIds";
const GET_CURSOR: &CStr = c"dev.lookback.functions.GetTraceCursor";
const SET_CURSOR: &CStr = c"dev.lookback.functions.SetTraceCursor";
const COMPARE_AND_SET_CURSOR: &CStr = c"dev.lookback.functions.CompareAndSetTraceCursor";
const SET_SLOW_PATH: &CStr = c"dev.lookback.functions.SetTraceSlowPath";

/// The class that rewritten methods call, as class files name it.
pub(crate) const CLASS: &str = "java/lang/LookbackNativePoint";

type SetIds = unsafe extern "C" fn(Jvmti, jint, *const jmethodID, *const jint) -> jint;
type GetCursor = unsafe extern "C" fn(Jvmti, jobject, *mut jlong) -> jint;
type SetCursor = unsafe extern "C" fn(Jvmti, jobject, jlong) -> jint;
type CompareAndSetCursor = unsafe extern "C" fn(Jvmti, jobject, jlong, jlong, *mut jboolean) -> jint;
type SlowPath = extern "C" fn(jlong, jint) -> jlong;
type SetSlowPath = unsafe extern "C" fn(Jvmti, SlowPath) -> jint;

/// The VM's functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VmPoints {
    jvmti: Jvmti,
    set_ids: SetIds,
    get: GetCursor,
    set: SetCursor,
    compare_and_set: CompareAndSetCursor,
    set_slow_path: SetSlowPath,
}

impl VmPoints {
    /// Finds them; `None` where the VM has no trace points.
    pub(crate) fn find(jvmti: Jvmti) -> Option<VmPoints> {
        let find = |name| jvmti.extension(name);
        let (ids, get, set) = (find(SET_IDS)?, find(GET_CURSOR)?, find(SET_CURSOR)?);
        let (compare_and_set, slow_path) = (find(COMPARE_AND_SET_CURSOR)?, find(SET_SLOW_PATH)?);
        // SAFETY: the VM's functions of these names have these signatures, by its header.
        Some(unsafe {
            VmPoints {
                jvmti,
                set_ids: std::mem::transmute::<*const c_void, SetIds>(ids),
                get: std::mem::transmute::<*const c_void, GetCursor>(get),
                set: std::mem::transmute::<*const c_void, SetCursor>(set),
                compare_and_set: std::mem::transmute::<*const c_void, CompareAndSetCursor>(compare_and_set),
                set_slow_path: std::mem::transmute::<*const c_void, SetSlowPath>(slow_path),
            }
        })
    }

    /// Defines the class that rewritten methods call, in `java.base`, unless an earlier attachment has, and says what a trace
    /// point calls. Only where no other agent has the trace points.
    pub(crate) fn take(&self, env: *mut JNIEnv, again: bool) -> Result<(), String> {
        if !again {
            define(env)?;
        }
        // SAFETY: the VM's own function.
        let code = unsafe { (self.set_slow_path)(self.jvmti, polled) };
        if code == 0 { Ok(()) } else { Err("the VM does not let its trace points be used".into()) }
    }

    /// The cursor of a thread; null: of the current one. `OFF` when the thread has ended.
    pub(crate) fn cursor(&self, thread: jobject) -> Cursor {
        let mut cursor = Cursor::OFF;
        // SAFETY: the VM's own function; what it may write to is valid, and of an error it writes nothing.
        unsafe { (self.get)(self.jvmti, thread, &raw mut cursor.0) };
        cursor
    }

    /// Sets the cursor of a thread, or of the current one. Another one that has a cursor stands still for it.
    pub(crate) fn set_cursor(&self, thread: jobject, cursor: Cursor) {
        if thread.is_null() || cursor == Cursor::OFF || !self.replace(thread, Cursor::OFF, cursor) {
            // SAFETY: the VM's own function.
            unsafe { (self.set)(self.jvmti, thread, cursor.0) };
        }
    }

    /// Sets the cursor of a thread if it is the one that was read; whether it was.
    pub(crate) fn replace(&self, thread: jobject, was: Cursor, cursor: Cursor) -> bool {
        let mut is_set = 0;
        // SAFETY: as in `cursor`.
        unsafe { (self.compare_and_set)(self.jvmti, thread, was.0, cursor.0, &raw mut is_set) };
        is_set != 0
    }

    /// Runs `f` with the current thread's cursor and keeps the one that it gives; nothing happens when it is not traced.
    pub(crate) fn with_cursor(&self, f: impl FnOnce(Cursor) -> Cursor) {
        let cursor = self.cursor(null_mut());
        if cursor != Cursor::OFF {
            // SAFETY: the VM's own function.
            unsafe { (self.set)(self.jvmti, null_mut(), f(cursor).0) };
        }
    }

    /// Gives the methods of a class the ids under which they are to be recorded now; 0 to all others.
    pub(crate) fn set_ids(&self, agent: &Agent, class: jclass) {
        let Ok(name) = agent.jvmti.class_name(class) else { return };
        let Some(known) = agent.symbols.known(hash_class(&name)) else { return };
        let is_on = agent.is_tracing();
        let id_of = |role, name: &str, descriptor: &str| {
            let key = hash_single(name, descriptor, role);
            let found = known.iter().find(|(k, _)| *k == key);
            found.map(|(_, id)| *id).filter(|&id| agent.governor.is_plain(id))
        };
        // A class that is not prepared has no methods yet.
        let Ok(methods) = agent.jvmti.class_methods(class) else { return };
        let id = |&method: &jmethodID| {
            let (name, descriptor) = agent.jvmti.method_signature(method).ok()?;
            let found =
                [Role::Method, Role::Precise].into_iter().find_map(|role| id_of(role, &name, &descriptor));
            Some(found?.0 as jint)
        };
        let ids: Vec<jint> =
            if is_on { methods.iter().map(|m| id(m).unwrap_or(0)).collect() } else { vec![0; methods.len()] };
        // SAFETY: the VM's own function; both lists are as long as it is told.
        unsafe { (self.set_ids)(self.jvmti, methods.len() as jint, methods.as_ptr(), ids.as_ptr()) };
    }

    /// The same of all loaded classes whose names have these hashes.
    pub(crate) fn set_ids_of(&self, agent: &Agent, env: *mut JNIEnv, names: &FxHashSet<u64>) {
        if names.is_empty() {
            return;
        }
        for class in agent.jvmti.loaded_classes().unwrap_or_default() {
            if agent.jvmti.class_name(class).is_ok_and(|name| names.contains(&hash_class(&name))) {
                self.set_ids(agent, class);
            }
            delete(env, class);
        }
    }
}

fn define(env: *mut JNIEnv) -> Result<(), String> {
    const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/java/lang/LookbackNativePoint.class"));
    let (name, loader) = (c"java/lang/LookbackNativePoint", null_mut());
    let class = jni!(env, DefineClass, name.as_ptr(), loader, BYTES.as_ptr().cast(), BYTES.len() as jint);
    clear(env);
    let refused = "the VM refuses the class of the trace points with exact times";
    if class.is_null() { Err(refused.into()) } else { Ok(()) }
}

/// What a trace point calls that finds its thread's poll set or its page filled; the slot is written.
extern "C" fn polled(cursor: jlong, slot: jint) -> jlong {
    trace_points::polled(Cursor(cursor), slot as u32).0
}

/// Runs `f` with the agent and the current thread's cursor, and keeps the one that it gives.
fn here(f: impl FnOnce(&Agent, Cursor) -> Cursor) {
    if let Some(agent) = Agent::get()
        && let Some(points) = agent.vm_points
    {
        points.with_cursor(|cursor| f(agent, cursor));
    }
}

/// A method is entered or left whose times are exact, as long as a braked thread has not entered too many such.
fn precise(slot: u32) {
    here(|agent, cursor| {
        let is_held = |own: OwnSlab<'_>| cursor.is_braked() && own.holds_precise();
        match OwnSlab::of_cursor(&agent.region, cursor) {
            Some(own) if is_held(own) => cursor,
            _ => trace_points::precise(cursor, slot),
        }
    });
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackNativePoint_enterTimed(
    _: *mut JNIEnv,
    _: jclass,
    id: jint,
) {
    here(|_, cursor| trace_points::timed(cursor, id as u32));
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackNativePoint_exitTimed(
    _: *mut JNIEnv,
    _: jclass,
    id: jint,
) {
    here(|_, cursor| trace_points::timed(cursor, id as u32 | EXIT));
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackNativePoint_enterPrecise(
    _: *mut JNIEnv,
    _: jclass,
    id: jint,
) {
    precise(id as u32);
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackNativePoint_exitPrecise(
    _: *mut JNIEnv,
    _: jclass,
    id: jint,
) {
    precise(id as u32 | EXIT);
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackNativePoint_enterWatched(
    _: *mut JNIEnv,
    _: jclass,
    id: jint,
    rule: jint,
) {
    here(|_, cursor| trace_points::watched(cursor, id as u32, rule as u32));
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackNativePoint_exitWatched(
    _: *mut JNIEnv,
    _: jclass,
    id: jint,
    rule: jint,
) {
    here(|_, cursor| trace_points::watched(cursor, id as u32 | EXIT, rule as u32));
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackNativePoint_span(
    _: *mut JNIEnv,
    _: jclass,
    slot: jint,
    rule: jint,
) {
    let slot = slot as u32;
    if slot & !EXIT != 0 {
        here(|_, cursor| match u32::try_from(rule) {
            Ok(rule) => trace_points::watched(cursor, slot, rule),
            Err(_) => trace_points::timed(cursor, slot),
        });
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackNativePoint_instant(
    _: *mut JNIEnv,
    _: jclass,
    id: jint,
) {
    if id != 0 {
        here(|_, cursor| spans::moment(cursor, id as u32));
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackNativePoint_isRecording(
    _: *mut JNIEnv,
    _: jclass,
) -> jboolean {
    let points = Agent::get().and_then(|agent| agent.vm_points);
    jboolean::from(points.is_some_and(|points| points.cursor(null_mut()) != Cursor::OFF))
}
