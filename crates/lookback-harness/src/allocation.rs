//! Bytes that Java threads have allocated.
//!
//! The constraint that shaped it: the VM tells them to Java only. From JDK 21 on `com.sun.management.ThreadMXBean` knows the
//! total of all threads, those that have ended among them; before that, of those that are alive. So the older VMs' figure
//! lacks threads that ended in the iteration, and the reading itself allocates some hundred bytes there. It is asked
//! outside of the window, through JNI, so that it is the same whoever marks begin and end.

use jni_sys::{JNIEnv, jlong, jmethodID, jobject, jvalue};
use lookback_jvmti::{clear, jni};
use std::collections::HashMap;
use std::ffi::CStr;

/// What was allocated until a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Allocated {
    /// By all threads, bytes.
    Total(u64),
    /// By each thread that is alive, bytes by Java's id.
    ByThread(HashMap<i64, u64>),
}

impl Allocated {
    /// Bytes since `begin`. Threads that were not there then count from their own begin.
    pub(crate) fn since(&self, begin: &Allocated) -> u64 {
        match (self, begin) {
            (Allocated::Total(end), Allocated::Total(begin)) => end.saturating_sub(*begin),
            (Allocated::ByThread(end), Allocated::ByThread(begin)) => {
                let before = |id| begin.get(id).copied().unwrap_or(0);
                end.iter().map(|(id, bytes)| bytes.saturating_sub(before(id))).sum()
            }
            _ => 0,
        }
    }

    /// Asks the VM; none when it does not tell. No exception is left pending.
    pub(crate) fn read(env: *mut JNIEnv) -> Option<Allocated> {
        // References made here go with the frame, also on threads that never return to Java.
        const REFERENCES: i32 = 8;
        if jni!(env, PushLocalFrame, REFERENCES) != 0 {
            clear(env);
            return None;
        }
        let allocated = read(env);
        clear(env);
        jni!(env, PopLocalFrame, std::ptr::null_mut());
        allocated
    }
}

fn read(env: *mut JNIEnv) -> Option<Allocated> {
    let factory = class(env, c"java/lang/management/ManagementFactory")?;
    let signature = c"()Ljava/lang/management/ThreadMXBean;";
    let get = jni!(env, GetStaticMethodID, factory, c"getThreadMXBean".as_ptr(), signature.as_ptr());
    let get = method_or_none(env, get)?;
    let bean = jni!(env, CallStaticObjectMethodA, factory, get, std::ptr::null());
    let bean = object_or_none(env, bean)?;
    let extended = class(env, c"com/sun/management/ThreadMXBean")?;
    if jni!(env, IsInstanceOf, bean, extended) == 0 {
        return None;
    }
    if let Some(total) = method(env, extended, c"getTotalThreadAllocatedBytes", c"()J") {
        let bytes = jni!(env, CallLongMethodA, bean, total, std::ptr::null());
        return if failed(env) { None } else { u64::try_from(bytes).ok().map(Allocated::Total) };
    }
    let ids = method(env, extended, c"getAllThreadIds", c"()[J")?;
    let ids = object_or_none(env, jni!(env, CallObjectMethodA, bean, ids, std::ptr::null()))?;
    let bytes = method(env, extended, c"getThreadAllocatedBytes", c"([J)[J")?;
    let arguments = [jvalue { l: ids }];
    let bytes = object_or_none(env, jni!(env, CallObjectMethodA, bean, bytes, arguments.as_ptr()))?;
    let (ids, bytes) = (longs(env, ids), longs(env, bytes));
    let told = ids.into_iter().zip(bytes).filter_map(|(id, bytes)| Some((id, u64::try_from(bytes).ok()?)));
    Some(Allocated::ByThread(told.collect()))
}

/// Whether an exception was thrown; it is forgotten.
fn failed(env: *mut JNIEnv) -> bool {
    let thrown = jni!(env, ExceptionCheck) != 0;
    clear(env);
    thrown
}

fn object_or_none(env: *mut JNIEnv, object: jobject) -> Option<jobject> {
    (!failed(env) && !object.is_null()).then_some(object)
}

fn method_or_none(env: *mut JNIEnv, method: jmethodID) -> Option<jmethodID> {
    (!failed(env) && !method.is_null()).then_some(method)
}

fn class(env: *mut JNIEnv, name: &CStr) -> Option<jobject> {
    object_or_none(env, jni!(env, FindClass, name.as_ptr()))
}

fn method(env: *mut JNIEnv, class: jobject, name: &CStr, signature: &CStr) -> Option<jmethodID> {
    method_or_none(env, jni!(env, GetMethodID, class, name.as_ptr(), signature.as_ptr()))
}

/// A copy of an array of longs.
pub(crate) fn longs(env: *mut JNIEnv, array: jobject) -> Vec<jlong> {
    let length = jni!(env, GetArrayLength, array).max(0);
    let mut copy: Vec<jlong> = vec![0; length as usize];
    jni!(env, GetLongArrayRegion, array, 0, length, copy.as_mut_ptr());
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_come_count_and_those_that_go_do_not() {
        let by_thread = |threads: &[(i64, u64)]| Allocated::ByThread(threads.iter().copied().collect());
        let (begin, end) = (by_thread(&[(1, 100), (2, 50)]), by_thread(&[(1, 130), (3, 7)]));
        assert_eq!(end.since(&begin), 37);
        assert_eq!(Allocated::Total(9).since(&Allocated::Total(4)), 5);
    }
}
