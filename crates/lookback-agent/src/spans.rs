//! The agent's side of the public API (`java/api`): names of spans and instants, and incidents on request.
//!
//! The constraint that shaped it: any code of the program can call these natives, with any text, as often as it
//! likes. So names are cut and cleaned, there is room for a fixed number of them, and a wish for an incident is
//! one message into a bounded queue. What a span records goes the way of the timed trace points.

use crate::agent::Agent;
use crate::java::{self, Cursor, clear, jni};
use crate::log;
use crate::region::Loss;
use crate::server::Message;
use crate::threads;
use crate::trace_points;
use jni_sys::{JNI_FALSE, JNI_TRUE, JNIEnv, jboolean, jclass, jint, jlong, jstring};
use lookback_format::slot::EXIT;
use lookback_format::symbol::{Role, Wait};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

/// How many names the program may give: what a large program needs many times over, and at their longest a tenth of
/// the room for symbols in the default region.
const MOST_NAMES: u32 = 4_096;
/// UTF-16 units of a category or name; and of the reason for an incident.
const NAME_UNITS: usize = 60;
const REASON_UNITS: usize = 200;

/// How many names were given.
static NAMES: AtomicU32 = AtomicU32::new(0);

/// Defines the class that the API looks for. Without it the program's spans are not recorded, and nothing else is lost.
pub(crate) fn define(env: *mut JNIEnv) {
    const CLASS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/java/lang/LookbackSpans.class"));
    let (name, loader) = (c"java/lang/LookbackSpans", std::ptr::null_mut());
    let class = jni!(env, DefineClass, name.as_ptr(), loader, CLASS.as_ptr().cast(), CLASS.len() as i32);
    clear(env);
    if class.is_null() {
        log::line("the VM refuses the class for the program's own spans: they are not recorded");
    }
}

/// The class is used for the first time, also when the agent has left.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackSpans_ready(env: *mut JNIEnv, _: jclass) -> jboolean {
    let run = || threads::begin(Agent::newest()?, env).ok();
    let ready = catch_unwind(AssertUnwindSafe(run)).ok().flatten().is_some();
    if ready { JNI_TRUE } else { JNI_FALSE }
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackSpans_register(
    env: *mut JNIEnv,
    _: jclass,
    category: jstring,
    name: jstring,
    role: jint,
) -> jlong {
    let role = if role == jint::from(Role::Instant.code()) { Role::Instant } else { Role::Span };
    let run = || {
        // Also one that has left: another attachment takes up the names.
        let agent = Agent::newest()?;
        let (category, name) = (text(env, category, NAME_UNITS), text(env, name, NAME_UNITS));
        key(agent, &category, &name, role)
    };
    catch_unwind(AssertUnwindSafe(run)).ok().flatten().unwrap_or(0)
}

/// An instant whose poll word was set, or whose page is filled: one time for its entry and its exit.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackSpans_moment(
    _: *mut JNIEnv,
    _: jclass,
    cursor: jlong,
    id: jint,
) -> jlong {
    moment(Cursor(cursor), id as u32).0
}

/// One time for the entry and the exit.
pub(crate) fn moment(cursor: Cursor, id: u32) -> Cursor {
    trace_points::slow(cursor, |_, own, at, now| {
        let entered = own.put_exact(at, id, now);
        own.put_exact(entered, id | EXIT, now)
    })
}

/// Whether the VM keeps the cursors.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackSpans_isByVm(_: *mut JNIEnv, _: jclass) -> jboolean {
    jboolean::from(Agent::newest().is_some_and(|agent| agent.vm_points.is_some()))
}

/// The key of a name, see `LookbackSpans`.
fn key(agent: &Agent, category: &str, name: &str, role: Role) -> Option<jlong> {
    let id = match agent.symbols.find(category, name, "", role) {
        Some(id) => id,
        // Relaxed: a limit, which threads that name at the same time may miss by a few.
        None if NAMES.fetch_add(1, Ordering::Relaxed) < MOST_NAMES => {
            agent.symbols.single(&agent.region, category, name, "", Wait::None, role)?
        }
        None => {
            // Counts no further, so that it cannot wrap.
            NAMES.store(MOST_NAMES + 1, Ordering::Relaxed);
            agent.region.lose(Loss::Symbols, 1);
            return None;
        }
    };
    let watched = agent.detector.rule_of(category, name, &[]).filter(|_| role == Role::Span);
    let rule = watched.map_or(0, |rule| jlong::from(rule) + 1);
    Some(rule << 32 | jlong::from(id.0))
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackSpans_dump(
    env: *mut JNIEnv,
    _: jclass,
    reason: jstring,
) -> jboolean {
    let run = || {
        let control = Agent::get()?.control.get()?;
        control.try_send(Message::Wanted(text(env, reason, REASON_UNITS))).ok()
    };
    let taken = catch_unwind(AssertUnwindSafe(run)).ok().flatten().is_some();
    if taken { JNI_TRUE } else { JNI_FALSE }
}

/// The first `most` units of a string, without control characters. Never fails: null is "null".
fn text(env: *mut JNIEnv, string: jstring, most: usize) -> String {
    if string.is_null() {
        return "null".into();
    }
    clean(&java::units(env, string, most))
}

fn clean(units: &[u16]) -> String {
    let readable = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    char::decode_utf16(units.iter().copied())
        .map(|c| c.map_or(char::REPLACEMENT_CHARACTER, readable))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_program_breaks_a_name() {
        let units: Vec<u16> = "a\u{7}\n".encode_utf16().chain([0, 0xd800, 0xdc00, 0xd83d]).collect();
        assert_eq!(clean(&units), "a\u{fffd}\u{fffd}\u{fffd}\u{10000}\u{fffd}");
    }
}
