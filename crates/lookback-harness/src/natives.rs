//! The native methods of `dev.lookback.harness.Harness` (`java/harness`).
//!
//! The constraint that shaped it: the VM looks for native methods in the libraries of its agents, so nothing is loaded by
//! the program. A method's code is looked for at its first call, which takes longer than a reading: begin and end are one
//! method, so that the end's is there. Each gives null, or in words what is wrong. No panic leaves them.

use crate::agent::Agent;
use crate::allocation::{Allocated, longs};
use crate::error::{Error, Result};
use crate::session::MOST_NAME;
use jni_sys::{JNIEnv, jboolean, jclass, jdouble, jint, jlongArray, jstring};
use lookback_jvmti::jni;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// An iteration begins (when this returns) or ends (when this is called).
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_lookback_harness_Harness_mark(
    env: *mut JNIEnv,
    _: jclass,
    begins: jboolean,
    name: jstring,
    iteration: jint,
) -> jstring {
    let mark = |agent: &Agent| {
        if begins == 0 {
            let end = agent.end_now();
            agent.end(end, &text(env, name)?, iteration, || Allocated::read(env))
        } else {
            agent.begin(&text(env, name)?, iteration, || Allocated::read(env))
        }
    };
    answer(env, mark)
}

/// A value of the iteration that goes on, else of the last.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_lookback_harness_Harness_tell(
    env: *mut JNIEnv,
    _: jclass,
    name: jstring,
    value: jdouble,
) -> jstring {
    answer(env, |agent| agent.session().value(&text(env, name)?, value))
}

/// Starts and ends of the last iteration's requests.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_lookback_harness_Harness_tellRequests(
    env: *mut JNIEnv,
    _: jclass,
    starts: jlongArray,
    ends: jlongArray,
) -> jstring {
    answer(env, |agent| {
        if starts.is_null() || ends.is_null() {
            return Err(Error::Requests { why: "there are no starts or no ends" });
        }
        let (starts, ends) = (longs(env, starts), longs(env, ends));
        agent.session().requests(&starts, &ends)
    })
}

/// Numbers of one kind of the last iteration.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_lookback_harness_Harness_tellSeries(
    env: *mut JNIEnv,
    _: jclass,
    name: jstring,
    values: jlongArray,
) -> jstring {
    answer(env, |agent| {
        let name = text(env, name)?;
        if values.is_null() {
            return Err(Error::Series { name });
        }
        agent.session().series(&name, longs(env, values))
    })
}

/// Null when it went well, and when the agent is loaded and does not measure: that was a warning already.
fn answer(env: *mut JNIEnv, f: impl FnOnce(&Agent) -> Result<()>) -> jstring {
    let Some(agent) = Agent::get() else { return null_mut() };
    let why = match catch_unwind(AssertUnwindSafe(|| f(agent))) {
        Ok(Ok(())) => return null_mut(),
        Ok(Err(e)) => e.to_string(),
        Err(_) => "an internal error".to_owned(),
    };
    let units: Vec<u16> = why.encode_utf16().collect();
    jni!(env, NewString, units.as_ptr(), units.len() as jint)
}

/// A name of Java; no name for null.
fn text(env: *mut JNIEnv, string: jstring) -> Result<String> {
    if string.is_null() {
        return Err(Error::NameTooLong { bytes: 0 });
    }
    let length = jni!(env, GetStringLength, string).max(0);
    // A unit is at least a byte.
    if length as usize > MOST_NAME {
        return Err(Error::NameTooLong { bytes: length as usize });
    }
    let mut units = vec![0_u16; length as usize];
    jni!(env, GetStringRegion, string, 0, length, units.as_mut_ptr());
    Ok(String::from_utf16_lossy(&units))
}
