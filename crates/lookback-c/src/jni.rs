//! The recorder for Java: the natives of `dev.lookback.api.RingSink` (`java/api`).
//!
//! The constraint that shaped it: a call from compiled Java costs some nanoseconds, and each use of the VM's
//! functions many more. So what records takes numbers only; texts come once, as arrays of UTF-8, when a kind of event is
//! named. Any code of the program can call these with any number: a wrong one finds nothing. A process has one
//! recorder, and it stays: compiled code calls it until the end.
//!
//! It must not throw, must not print, and no panic leaves it.

use jni_sys::{JNIEnv, jboolean, jbyteArray, jclass, jint, jlong, jstring};
use lookback_recorder::{FieldType, Level, Options, Phase, RawEventType, Recorder};
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::{Mutex, OnceLock};

/// How many kinds of events a program may name, as under the agent.
const MOST_KINDS: usize = 4_096;
/// Bytes of a category, a name or a path: more than any of them has, so that a wrong length costs nothing.
const MOST_BYTES: usize = 4_096;

/// A span, or an instant with no, one and two numbers: types differ where fields do.
struct Kind {
    bare: RawEventType,
    values: Option<Box<[RawEventType; 2]>>,
}

static RECORDER: OnceLock<Recorder> = OnceLock::new();
/// By key less 1. Filled from the front, under the lock of [`NAMED`].
static KINDS: [OnceLock<Kind>; MOST_KINDS] = [const { OnceLock::new() }; MOST_KINDS];
static NAMED: Mutex<Option<Named>> = Mutex::new(None);

/// Keys by category, name, and whether it is an instant.
type Named = HashMap<(String, String, bool), jlong>;

/// Opens the ring file for this process, and names the calling thread. Null when it went well, else the reason in words.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_lookback_api_RingSink_open(
    env: *mut JNIEnv,
    _: jclass,
    path: jbyteArray,
    program: jbyteArray,
    thread: jbyteArray,
) -> jstring {
    let open = || {
        let path = OsString::from_vec(bytes(env, path));
        let recorder = Options::new().program(text(env, program)).open(path).map_err(|e| e.to_string())?;
        // Another class loader's copy of the API may have been first; then its recorder serves both.
        RECORDER.get_or_init(|| recorder).set_thread_name(&text(env, thread));
        Ok::<(), String>(())
    };
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(Ok(())) => null_mut(),
        Ok(Err(why)) => string(env, &why),
        Err(_) => string(env, "an internal error"),
    }
}

/// The key of a kind of span or instant; 0 when there is no recorder or no room, or something is null.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_lookback_api_RingSink_register(
    env: *mut JNIEnv,
    _: jclass,
    category: jbyteArray,
    name: jbyteArray,
    instant: jboolean,
) -> jlong {
    let register = || {
        if category.is_null() || name.is_null() {
            return None;
        }
        key(RECORDER.get()?, text(env, category), text(env, name), instant != 0)
    };
    catch_unwind(AssertUnwindSafe(register)).ok().flatten().unwrap_or(0)
}

fn key(recorder: &Recorder, category: String, name: String, instant: bool) -> Option<jlong> {
    let mut named = NAMED.lock().unwrap_or_else(|e| e.into_inner());
    let named = named.get_or_insert_default();
    let wanted = (category, name, instant);
    if let Some(key) = named.get(&wanted) {
        return Some(*key);
    }
    let place = KINDS.get(named.len())?;
    let category = recorder.category(&wanted.0);
    let event_type = |fields: &[&str]| {
        let fields: Vec<_> = fields.iter().map(|field| (*field, FieldType::I64)).collect();
        category.raw_event_type(&wanted.1, Level::Info, &fields)
    };
    let values = || Box::new([event_type(&["value"]), event_type(&["first", "second"])]);
    let _ = place.set(Kind { bare: event_type(&[]), values: instant.then(values) });
    let key = named.len() as jlong + 1;
    named.insert(wanted, key);
    Some(key)
}

#[inline(always)]
fn kind(key: jlong) -> Option<&'static Kind> {
    KINDS.get((key as usize).wrapping_sub(1))?.get()
}

/// Ends look at the level as well: Java keeps nothing of a span that could tell whether it was on when it began.
#[inline(always)]
fn record(of: &RawEventType, phase: Phase, words: &[u64]) {
    if of.enabled() {
        of.record(phase, words, &[]);
    }
}

/// A span begins.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_lookback_api_RingSink_begin0(_: *mut JNIEnv, _: jclass, key: jlong) {
    if let Some(kind) = kind(key) {
        record(&kind.bare, Phase::Begin, &[]);
    }
}

/// A span ends.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_lookback_api_RingSink_end0(_: *mut JNIEnv, _: jclass, key: jlong) {
    if let Some(kind) = kind(key) {
        record(&kind.bare, Phase::End, &[]);
    }
}

/// Something happens.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_lookback_api_RingSink_record0(_: *mut JNIEnv, _: jclass, key: jlong) {
    if let Some(kind) = kind(key) {
        record(&kind.bare, Phase::Instant, &[]);
    }
}

/// Something happens, with a number.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_lookback_api_RingSink_record1(
    _: *mut JNIEnv,
    _: jclass,
    key: jlong,
    value: jlong,
) {
    if let Some([one, _]) = kind(key).and_then(|kind| kind.values.as_deref()) {
        record(one, Phase::Instant, &[value as u64]);
    }
}

/// Something happens, with two numbers.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_lookback_api_RingSink_record2(
    _: *mut JNIEnv,
    _: jclass,
    key: jlong,
    first: jlong,
    second: jlong,
) {
    if let Some([_, two]) = kind(key).and_then(|kind| kind.values.as_deref()) {
        record(two, Phase::Instant, &[first as u64, second as u64]);
    }
}

fn text(env: *mut JNIEnv, array: jbyteArray) -> String {
    String::from_utf8_lossy(&bytes(env, array)).into_owned()
}

/// A copy of an array of Java, at most [`MOST_BYTES`] of it; nothing for null.
fn bytes(env: *mut JNIEnv, array: jbyteArray) -> Vec<u8> {
    if array.is_null() {
        return Vec::new();
    }
    // SAFETY: the current thread's environment, whose table is complete in every JDK, and an array.
    let length = unsafe { ((**env).GetArrayLength.expect("a JNI function of every JDK"))(env, array) };
    let length = (length.max(0) as usize).min(MOST_BYTES);
    let mut copy = vec![0; length];
    // SAFETY: as above; the copy has room for so many bytes, and so has the array.
    unsafe {
        let get = (**env).GetByteArrayRegion.expect("a JNI function of every JDK");
        get(env, array, 0, length as jint, copy.as_mut_ptr().cast());
    }
    copy
}

/// A string of Java; null when the VM has no memory for it.
fn string(env: *mut JNIEnv, text: &str) -> jstring {
    let units: Vec<u16> = text.encode_utf16().collect();
    // SAFETY: as above; the units are copied.
    unsafe {
        ((**env).NewString.expect("a JNI function of every JDK"))(env, units.as_ptr(), units.len() as jint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_were_given_find_anything_and_there_is_an_end_of_them() {
        let recorder = Recorder::private(1 << 20).expect("a recorder in memory");
        let named = |i: usize, instant| key(&recorder, "test".into(), format!("name {i}"), instant);
        assert_eq!(named(0, false), Some(1));
        assert_eq!(named(0, true), Some(2), "an instant of the same name is something else");
        assert_eq!(named(0, false), Some(1), "the same again");
        assert!(kind(1).is_some_and(|k| k.values.is_none()) && kind(2).is_some_and(|k| k.values.is_some()));
        for wrong in [0, -1, 3, MOST_KINDS as jlong, MOST_KINDS as jlong + 1, jlong::MIN, jlong::MAX] {
            assert!(kind(wrong).is_none(), "{wrong}");
        }
        assert_eq!((1..2 * MOST_KINDS).filter_map(|i| named(i, false)).count(), MOST_KINDS - 2);
        assert!(kind(MOST_KINDS as jlong).is_some());
    }
}
