//! The native half of the trace points: what `LookbackTracePoint` calls when a poll is set, a slab is
//! filled, or a time must be exact.
//!
//! The constraint that shaped it: these run on the program's threads, about once a tick and thread. They
//! take a cursor and give the next one (0 turns tracing off for the thread), call nothing of the VM (but for a sample that
//! somebody has asked for), take no lock and do not allocate. A panic turns tracing off for the thread and goes no further.

use crate::agent::Agent;
use crate::clock;
use crate::detector::Detector;
use crate::hooks;
use crate::java::Cursor;
use crate::region::Loss;
use crate::sampler::poll;
use crate::slab::OwnSlab;
use jni_sys::{JNIEnv, jclass, jint, jlong};
use lookback_format::Nanos;
use lookback_format::region::slab;
use lookback_format::slot::{self, GapCause};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs one slow path: `f` gets the slab, the address of the next slot and the time, and gives the new address. Gives
/// the new cursor.
pub(crate) fn slow(
    cursor: Cursor,
    f: impl FnOnce(&'static Agent, &OwnSlab<'static>, usize, Nanos) -> usize,
) -> Cursor {
    let run = || {
        let agent = Agent::get()?;
        let own = OwnSlab::of_cursor(&agent.region, cursor)?;
        let now = clock::now();
        let mut at = f(agent, &own, cursor.address(), now);
        if own.poll() != 0 {
            own.answer_poll();
            own.tell_os_tid();
        }
        if own.is_off() {
            own.stop(at, now);
            Detector::forget(&agent.region, &own);
            return None;
        }
        let mut is_begun = false;
        let goes_on = !cursor.is_braked() || agent.brake.goes_on(own.index, now);
        let mut is_braked = !goes_on;
        let words = own.words_before(at);
        let missed = if goes_on { agent.brake.missed(own.index, words) } else { 0 };
        if missed > 0 {
            agent.region.lose(Loss::Braked, missed);
        }
        if own.is_filled(at) {
            at = own.empty(at, now);
            is_braked = is_braked || agent.brake.spend(own.index, words, now);
            is_begun = true;
        } else if goes_on {
            is_braked = agent.brake.joins_pause(own.index, words, now);
        }
        if is_braked {
            if goes_on {
                own.hold_precise(false); // not at once
            }
            // What was recorded just now is followed by more that is not.
            let cause = if own.holds_precise() { GapCause::BrakeAll } else { GapCause::Brake };
            at = own.put_gap(at, cause, now);
        }
        if is_begun {
            at = own.put_carried(at, now);
        }
        Some(Cursor::new(at, is_braked))
    };
    catch_unwind(AssertUnwindSafe(run)).ok().flatten().unwrap_or(Cursor::OFF)
}

/// A slot was written just before `cursor`, and the poll word is set or the slab filled: writes its exact time.
pub(crate) fn polled(cursor: Cursor, slot: u32) -> Cursor {
    slow(cursor, |_, own, at, now| match own.poll() {
        0 => at,
        _ => own.put_exact(at - 4, slot, now),
    })
}

/// An entry into, or exit from, a method whose times are exact.
pub(crate) fn timed(cursor: Cursor, slot: u32) -> Cursor {
    slow(cursor, |_, own, at, now| own.put_exact(at, slot, now))
}

/// An entry into, or exit from, a method whose times are exact. Such methods are the program's choice or an earlier run's, so
/// a braked thread records them as well, but not any number.
pub(crate) fn precise(cursor: Cursor, slot: u32) -> Cursor {
    slow(cursor, |agent, own, at, now| {
        agent.brake.charge(own.index);
        if cursor.is_braked() && agent.brake.is_overdrawn(own.index, now) {
            own.hold_precise(true);
        }
        own.put_exact(at, slot, now)
    })
}

/// An entry into, or exit from, a method that a detector watches.
pub(crate) fn watched(cursor: Cursor, slot: u32, rule: u32) -> Cursor {
    slow(cursor, |agent, own, at, now| {
        if slot & slot::EXIT == 0 {
            agent.detector.enter(&agent.region, own, slot, agent.rule_now(slot, rule), now);
        } else {
            agent.detector.exit(&agent.region, own, now);
        }
        own.put_exact(at, slot, now)
    })
}

/// An exit, its slot written just before `cursor`, whose poll word was set or whose slab is filled.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackTracePoint_poll(
    env: *mut JNIEnv,
    _: jclass,
    cursor: jlong,
    exit: jint,
) -> jlong {
    let cursor = polled(Cursor(cursor), exit as u32);
    poll::here(env, cursor);
    cursor.0
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackTracePoint_timed(
    _: *mut JNIEnv,
    _: jclass,
    cursor: jlong,
    slot: jint,
) -> jlong {
    timed(Cursor(cursor), slot as u32).0
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackTracePoint_precise(
    _: *mut JNIEnv,
    _: jclass,
    cursor: jlong,
    slot: jint,
) -> jlong {
    precise(Cursor(cursor), slot as u32).0
}

#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackTracePoint_watched(
    _: *mut JNIEnv,
    _: jclass,
    cursor: jlong,
    slot: jint,
    rule: jint,
) -> jlong {
    watched(Cursor(cursor), slot as u32, rule as u32).0
}

/// An entry into the method in which a carrier runs a virtual thread: its watched calls come with it.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackTracePoint_mounted(
    _: *mut JNIEnv,
    _: jclass,
    cursor: jlong,
    slot: jint,
    tid: jlong,
) -> jlong {
    let mounted = |agent: &'static Agent, own: &OwnSlab<'_>, at, now| {
        own.set_mounted(tid as u64);
        agent.detector.mount(&agent.region, own, tid as u64);
        own.put_mount(at, slot as u32, tid as u64, now)
    };
    slow(Cursor(cursor), mounted).0
}

/// The carrier has left the last frame of its virtual thread, and no other can run that yet; or this was said before.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackTracePoint_unmounted(
    _: *mut JNIEnv,
    _: jclass,
    cursor: jlong,
    slot: jint,
) -> jlong {
    let unmounted = |agent: &'static Agent, own: &OwnSlab<'_>, at, now| {
        if own.mounted() == slab::UNMOUNTED {
            return at;
        }
        agent.detector.unmount(&agent.region, own);
        own.set_mounted(slab::UNMOUNTED);
        own.put_exact(at, slot as u32, now)
    };
    slow(Cursor(cursor), unmounted).0
}

/// A virtual thread is handed to its scheduler: from now on it waits for a carrier.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackTracePoint_readied(
    _: *mut JNIEnv,
    _: jclass,
    cursor: jlong,
    tid: jlong,
) -> jlong {
    slow(Cursor(cursor), |_, own, at, now| own.put(at, &slot::ready(tid as u64, now), now)).0
}

/// Called through Java by the agent, at its attachment and when it leaves: shows that these natives are linked, and takes
/// the chance to rebind the JDK's native wait points from inside the boot loader.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackTracePoint_link(env: *mut JNIEnv, _: jclass) {
    let run = || {
        if let Some(agent) = Agent::newest().filter(|a| a.options.waits) {
            hooks::rebind_natives(agent, env);
        }
    };
    let _ = catch_unwind(AssertUnwindSafe(run));
}

/// The class file of `LookbackTracePoint`, with the address of the tick record in its place.
pub(crate) fn class_file(tick_word: usize) -> Option<Vec<u8>> {
    const CLASS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/java/lang/LookbackTracePoint.class"));
    let mut bytes = CLASS.to_vec();
    let mut places = bytes.windows(8).enumerate().filter(|(_, w)| *w == PLACE);
    let (at, _) = places.next()?;
    if places.next().is_some() {
        return None;
    }
    bytes[at..at + 8].copy_from_slice(&(tick_word as u64).to_be_bytes());
    Some(bytes)
}

/// What stands in the class file where the address belongs.
const PLACE: [u8; 8] = *b"tickaddr";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_writes_the_same_records_of_time() {
        let [first, ..] = slot::time(Nanos(0));
        let constant = [&[3], first.to_be_bytes().as_slice()].concat(); // an integer of the constant pool
        let bytes = class_file(0).expect("one place");
        assert!(bytes.windows(5).any(|w| w == constant));
    }

    #[test]
    fn the_address_has_exactly_one_place() {
        let bytes = class_file(0x1234).expect("one place");
        assert!(bytes.windows(8).any(|w| w == 0x1234_u64.to_be_bytes()));
    }
}
