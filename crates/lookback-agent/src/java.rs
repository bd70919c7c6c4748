//! The Java side of a thread: where its cursor is kept, and how native code reaches it.
//!
//! The constraint that shaped it: the cursor is a Java field (see `LookbackTracePoint`), so native code goes
//! through JNI, which is for slow paths only. Field ids are looked up once. Where the VM has trace points of its own, it has the
//! cursors, too (see `vm_points`).

use crate::vm_points::VmPoints;
use arrayvec::ArrayString;
use jni_sys::{JNIEnv, jclass, jfieldID, jint, jlong, jmethodID, jobject, jstring};
use lookback_format::region::slab;
use lookback_jvmti::Jvmti;
pub(crate) use lookback_jvmti::{clear, delete, jni};
use std::ffi::CStr;
use std::ptr::null_mut;

/// A thread's cursor: the address of its next slot, 0 while the thread is not traced, negated while it is braked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor(pub(crate) jlong);

impl Cursor {
    /// Of a thread that is not traced.
    pub(crate) const OFF: Cursor = Cursor(0);

    /// The cursor of a thread whose next slot is at `address`.
    pub(crate) fn new(address: usize, is_braked: bool) -> Cursor {
        let address = address as jlong;
        Cursor(if is_braked { -address } else { address })
    }

    pub(crate) fn is_braked(self) -> bool {
        self.0 < 0
    }

    /// Of the next slot.
    pub(crate) fn address(self) -> usize {
        self.0.unsigned_abs() as usize
    }
}

/// The name of a thread, as much as a slab has room for.
pub(crate) type ThreadName = ArrayString<{ slab::NAME_BYTES }>;

/// As much of a name as there is room for.
pub(crate) fn clipped(chars: impl Iterator<Item = char>) -> ThreadName {
    let mut name = ThreadName::new();
    for c in chars {
        if name.try_push(c).is_err() {
            break;
        }
    }
    name
}

/// Ids of the fields and methods that the agent uses.
#[derive(Clone, Debug)]
pub(crate) struct Java {
    thread: jclass,
    holder: Option<jfieldID>,
    cursor: jfieldID,
    tid: jfieldID,
    name: Option<jfieldID>,
    current: jmethodID,
    vm_points: Option<VmPoints>,
}

// SAFETY: a global reference and ids, valid on every thread for as long as the VM lives.
unsafe impl Send for Java {}
// SAFETY: as above.
unsafe impl Sync for Java {}

impl Java {
    /// Looks everything up. An error says what this VM lacks.
    pub(crate) fn find(env: *mut JNIEnv, vm_points: Option<VmPoints>) -> Result<Java, String> {
        let class = |name: &CStr| {
            let c = jni!(env, FindClass, name.as_ptr());
            clear(env);
            if c.is_null() { Err(format!("this VM has no class {}", name.to_string_lossy())) } else { Ok(c) }
        };
        let field = |c: jclass, name: &CStr, sig: &CStr| {
            let f = jni!(env, GetFieldID, c, name.as_ptr(), sig.as_ptr());
            clear(env);
            (!f.is_null()).then_some(f)
        };
        let thread = class(c"java/lang/Thread")?;
        let holder = field(thread, c"holder", c"Ljava/lang/Thread$FieldHolder;");
        let home = if holder.is_some() { class(c"java/lang/Thread$FieldHolder")? } else { thread };
        let cursor = field(home, c"stackSize", c"J").ok_or("this VM's threads have no field stackSize")?;
        let tid = field(thread, c"tid", c"J").ok_or("this VM's threads have no field tid")?;
        let name = field(thread, c"name", c"Ljava/lang/String;");
        let sig = c"()Ljava/lang/Thread;";
        let mut current =
            jni!(env, GetStaticMethodID, thread, c"currentCarrierThread".as_ptr(), sig.as_ptr());
        clear(env);
        if current.is_null() {
            current = jni!(env, GetStaticMethodID, thread, c"currentThread".as_ptr(), sig.as_ptr());
            clear(env);
        }
        let thread = jni!(env, NewGlobalRef, thread);
        Ok(Java { thread, holder, cursor, tid, name, current, vm_points })
    }

    /// The object that holds a platform thread's cursor, a local reference; null for a virtual thread.
    pub(crate) fn home(&self, env: *mut JNIEnv, thread: jobject) -> jobject {
        match self.holder {
            Some(holder) => jni!(env, GetObjectField, thread, holder),
            None => jni!(env, NewLocalRef, thread),
        }
    }

    /// The cursor kept in `home`.
    pub(crate) fn cursor(&self, env: *mut JNIEnv, home: jobject) -> Cursor {
        match &self.vm_points {
            Some(points) => points.cursor(home),
            None => Cursor(jni!(env, GetLongField, home, self.cursor)),
        }
    }

    pub(crate) fn set_cursor(&self, env: *mut JNIEnv, home: jobject, cursor: Cursor) {
        match &self.vm_points {
            Some(points) => points.set_cursor(home, cursor),
            None => jni!(env, SetLongField, home, self.cursor, cursor.0),
        }
    }

    /// Lets the thread of a cursor that is braked go on, unless it has moved it meanwhile; whether it does. `in_java` does so where
    /// the cursor is a Java field.
    pub(crate) fn release(&self, home: jobject, cursor: Cursor, in_java: impl FnOnce() -> bool) -> bool {
        match &self.vm_points {
            Some(points) => points.replace(home, cursor, Cursor(-cursor.0)),
            None => in_java(),
        }
    }

    /// Java's id of a thread.
    pub(crate) fn tid(&self, env: *mut JNIEnv, thread: jobject) -> u64 {
        jni!(env, GetLongField, thread, self.tid) as u64
    }

    /// A thread's name, when this VM keeps it in a field: a third of the work of asking JVMTI, which counts where threads are
    /// short-lived. Nothing is allocated, which is dear on a new thread: the allocator has nothing at hand for it yet.
    pub(crate) fn name(&self, env: *mut JNIEnv, thread: jobject) -> Option<ThreadName> {
        let name = jni!(env, GetObjectField, thread, self.name?);
        let mut units = [0; slab::NAME_BYTES];
        let text = (!name.is_null()).then(|| {
            let len = (jni!(env, GetStringLength, name) as usize).min(units.len());
            jni!(env, GetStringRegion, name, 0, len as jint, units.as_mut_ptr());
            clear(env);
            let chars = char::decode_utf16(units[..len].iter().copied());
            clipped(chars.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)))
        });
        delete(env, name);
        text
    }

    /// The current platform thread, a virtual thread's carrier; a local reference.
    pub(crate) fn current(&self, env: *mut JNIEnv) -> Option<jobject> {
        let thread = jni!(env, CallStaticObjectMethodA, self.thread, self.current, null_mut());
        (!thread.is_null()).then_some(thread)
    }

    /// Runs `f` with the current thread's cursor and keeps the one that it gives; nothing happens when the
    /// thread is not traced. For events on the program's threads; a pending exception is kept.
    pub(crate) fn with_cursor(&self, env: *mut JNIEnv, f: impl FnOnce(Cursor) -> Cursor) {
        match &self.vm_points {
            Some(points) => points.with_cursor(f),
            None => keeping_exception(env, || self.with_carriers_cursor(env, f)),
        }
    }

    /// As [`Java::with_cursor`], when the current thread is known: `thread`, which may be a virtual one. Tells `f` whether it
    /// is a platform thread. Asking the VM for the current thread is what costs most.
    pub(crate) fn with_cursor_of(
        &self,
        env: *mut JNIEnv,
        thread: jobject,
        f: impl FnOnce(Cursor, bool) -> Cursor,
    ) {
        if let Some(points) = &self.vm_points {
            return keeping_exception(env, || points.with_cursor(|cursor| f(cursor, true)));
        }
        keeping_exception(env, || {
            let home = self.home(env, thread);
            if home.is_null() {
                self.with_carriers_cursor(env, |cursor| f(cursor, false));
            } else {
                self.with_cursor_in(env, home, |cursor| f(cursor, true));
            }
        });
    }

    fn with_carriers_cursor(&self, env: *mut JNIEnv, f: impl FnOnce(Cursor) -> Cursor) {
        if let Some(thread) = self.current(env) {
            let home = self.home(env, thread);
            if !home.is_null() {
                self.with_cursor_in(env, home, f);
            }
            delete(env, thread);
        }
    }

    /// As [`Java::with_cursor`], when it is known which object holds the cursor; the reference stays.
    pub(crate) fn with_cursor_at(&self, env: *mut JNIEnv, home: jobject, f: impl FnOnce(Cursor) -> Cursor) {
        keeping_exception(env, || self.move_cursor(env, home, f));
    }

    /// Takes the reference `home`.
    fn with_cursor_in(&self, env: *mut JNIEnv, home: jobject, f: impl FnOnce(Cursor) -> Cursor) {
        self.move_cursor(env, home, f);
        delete(env, home);
    }

    fn move_cursor(&self, env: *mut JNIEnv, home: jobject, f: impl FnOnce(Cursor) -> Cursor) {
        let cursor = self.cursor(env, home);
        if cursor != Cursor::OFF {
            self.set_cursor(env, home, f(cursor));
        }
    }
}

/// The name of the class that declares a method, `com.acme.Api`; `None` when it is gone.
pub(crate) fn class_name(jvmti: Jvmti, env: *mut JNIEnv, method: jmethodID) -> Option<String> {
    let class = jvmti.declaring_class(method).ok()?;
    let name = jvmti.class_name(class);
    delete(env, class);
    name.ok()
}

/// The first `most` UTF-16 units of a string.
pub(crate) fn units(env: *mut JNIEnv, string: jstring, most: usize) -> Vec<u16> {
    let mut units = vec![0; (jni!(env, GetStringLength, string) as usize).min(most)];
    jni!(env, GetStringRegion, string, 0, units.len() as jint, units.as_mut_ptr());
    clear(env);
    units
}

/// Runs `f`, which may call Java, and throws again what was thrown before.
fn keeping_exception(env: *mut JNIEnv, f: impl FnOnce()) {
    // Nearly always none: to ask only whether there is one makes no reference.
    if jni!(env, ExceptionCheck) == 0 {
        return f();
    }
    let pending = jni!(env, ExceptionOccurred);
    jni!(env, ExceptionClear);
    f();
    jni!(env, Throw, pending);
    delete(env, pending);
}
