//! What virtual threads are called: told in the ring when one begins to run on a carrier.
//!
//! The constraint that shaped it: a virtual thread begins to run millions of times and is one of hundreds of thousands, and the
//! ring overwrites what was told. So a name is told the first time, and again when half of the ring was overwritten since;
//! who was told of last is remembered in a table of one size, whose cells threads share: what is forgotten is told once more.
//! A thread without a name costs nothing here, and one that was told of allocates nothing. It must not wait.

use crate::agent::Agent;
use crate::clock;
use crate::java;
use jni_sys::{JNIEnv, jclass, jlong, jstring};
use lookback_format::event::Event;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// UTF-16 units of a name that are told.
const UNITS: usize = 60;
/// So many virtual threads are remembered at a time: 64 KiB, once the first of them has a name.
const CELLS: usize = 1 << 13;

/// Of whom the names were told lately.
#[derive(Default)]
pub(crate) struct VirtualNames {
    /// By the low bits of Java's id: that id, and in the lowest byte which half of the ring was written then.
    told: OnceLock<Box<[AtomicU64]>>,
}

impl VirtualNames {
    /// Whether a thread's name is to be told now that the ring is in its `half`-th half, counted from its beginning; from
    /// then on it was.
    fn is_due(&self, tid: u64, half: u64) -> bool {
        let told = self.told.get_or_init(|| (0..CELLS).map(|_| AtomicU64::new(u64::MAX)).collect());
        let mark = tid << 8 | half & 0xff;
        // Relaxed: who is told of twice, or misses another's mark, does no harm.
        told[tid as usize % CELLS].swap(mark, Ordering::Relaxed) != mark
    }
}

/// A virtual thread that runs now has this name; the string may be empty, or none.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_java_lang_LookbackTracePoint_named(
    env: *mut JNIEnv,
    _: jclass,
    tid: jlong,
    name: jstring,
) {
    let run = || {
        let agent = Agent::get()?;
        let half = u64::from(agent.region.ring.geometry().blocks).max(2) / 2;
        if !name.is_null() && agent.virtual_names.is_due(tid as u64, agent.ring_end() / half) {
            tell(agent, env, tid as u64, name);
        }
        Some(())
    };
    let _ = catch_unwind(AssertUnwindSafe(run));
}

fn tell(agent: &Agent, env: *mut JNIEnv, tid: u64, name: jstring) {
    let name = String::from_utf16_lossy(&java::units(env, name, UNITS));
    if name.is_empty() {
        return;
    }
    let mut payload = Vec::with_capacity(16 + name.len());
    let kind = Event::VirtualName(tid, clock::now(), name).encode(&mut payload);
    agent.region.record(kind, &[&payload]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_told_once_in_each_half_of_the_ring() {
        let names = VirtualNames::default();
        let due: Vec<bool> = [0, 0, 1, 1, 1, 2].map(|half| names.is_due(30, half)).to_vec();
        assert_eq!(due, [true, false, true, false, false, true]);
        // Another one whose cell it is.
        let other = 30 + CELLS as u64;
        assert_eq!([names.is_due(other, 2), names.is_due(30, 2), names.is_due(30, 2)], [true, true, false]);
    }
}
