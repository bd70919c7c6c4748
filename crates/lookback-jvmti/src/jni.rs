//! The Java Native Interface: a call by name, and the two that every other needs.
//!
//! The constraint that shaped it: `jni-sys` has the table of functions, each of which may be absent in principle and is
//! there in every JDK. It is slow from native code (tens of nanoseconds and more), so none of this is for hot paths.

use jni_sys::{JNIEnv, jobject};

/// Calls a JNI function that every VM has.
#[macro_export]
macro_rules! jni {
    ($env:expr, $name:ident $(, $arg:expr)*) => {{
        // SAFETY: `$env` is the current thread's environment, its table is complete in every JDK, and the
        // arguments are what the function takes.
        unsafe { (**$env).$name.expect("a JNI function of every JDK")($env $(, $arg)*) }
    }};
}

/// Forgets an exception that a look-up threw.
pub fn clear(env: *mut JNIEnv) {
    if crate::jni!(env, ExceptionCheck) != 0 {
        crate::jni!(env, ExceptionClear);
    }
}

/// Deletes a local reference.
pub fn delete(env: *mut JNIEnv, r: jobject) {
    if !r.is_null() {
        crate::jni!(env, DeleteLocalRef, r);
    }
}
