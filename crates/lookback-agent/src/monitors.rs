//! Waits that are no methods: entering a contended monitor, and `Object.wait`.
//!
//! The constraint that shaped it: the VM tells of them by events on the waiting thread, which is about to
//! stand still anyway. They become timed records of synthetic methods, `<monitor>` and `<wait>`, of the
//! class of the object: its name is all that is recorded of it. A program that hands work from thread to thread has tens of
//! thousands of them a second, so a class is asked for its name once, and a wait's end nothing at all.

use crate::agent::Agent;
use crate::java::{delete, jni};
use crate::region::Loss;
use crate::trace_points;
use jni_sys::{JNIEnv, jobject, jweak};
use lookback_format::slot::EXIT;
use lookback_format::symbol::{Role, Wait};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::sync::{PoisonError, RwLock};

/// Classes that are remembered: those that a program waits on are few.
const MOST: usize = 4_096;

thread_local! {
    /// The wait that the current platform thread has begun and not ended. The VM tells the end of one before
    /// the begin of the next.
    static BEGUN: Cell<Option<(*const Agent, Wait, u32)>> = const { Cell::new(None) };
}

/// Ids of the synthetic methods.
#[derive(Default)]
pub(crate) struct Monitors {
    /// By the class objects' identity hashes.
    classes: RwLock<FxHashMap<i32, Vec<Known>>>,
}

/// What waits on objects of one class are recorded as.
struct Known {
    class: jweak,
    wait: Wait,
    id: u32,
}

// SAFETY: a weak global reference is valid on every thread.
unsafe impl Send for Known {}
// SAFETY: as above.
unsafe impl Sync for Known {}

impl Monitors {
    /// Forgets all ids.
    pub(crate) fn forget(&self, env: *mut JNIEnv) {
        let classes = std::mem::take(&mut *self.classes.write().unwrap_or_else(PoisonError::into_inner));
        classes.into_values().flatten().for_each(|known| {
            jni!(env, DeleteWeakGlobalRef, known.class);
        });
    }

    /// The id for a wait on `object`. Never waits: when another thread is writing here, the loss is counted and the wait
    /// goes unrecorded.
    fn id(&self, agent: &Agent, env: *mut JNIEnv, object: jobject, wait: Wait) -> Option<u32> {
        let class = jni!(env, GetObjectClass, object);
        let id = self.of_class(agent, env, class, wait);
        delete(env, class);
        id
    }

    fn of_class(&self, agent: &Agent, env: *mut JNIEnv, class: jobject, wait: Wait) -> Option<u32> {
        let hash = agent.jvmti.hash_code(class).ok()?;
        let same = |known: &&Known| known.wait == wait && jni!(env, IsSameObject, known.class, class) != 0;
        if let Ok(classes) = self.classes.try_read()
            && let Some(known) = classes.get(&hash).and_then(|all| all.iter().find(same))
        {
            return Some(known.id);
        }
        let name = agent.jvmti.class_name(class).ok()?;
        let Ok(mut classes) = self.classes.try_write() else {
            agent.region.lose(Loss::MonitorNames, 1);
            return None;
        };
        let method = if wait == Wait::Monitor { "<monitor>" } else { "<wait>" };
        let id = agent.symbols.single(&agent.region, &name, method, "", wait, Role::Method)?.0;
        if classes.len() < MOST {
            let class = jni!(env, NewWeakGlobalRef, class);
            classes.entry(hash).or_default().push(Known { class, wait, id });
        }
        Some(id)
    }
}

/// Records one end of a wait of `thread`, the current one, on `object`.
pub(crate) fn mark(
    agent: &Agent,
    env: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    wait: Wait,
    exit: bool,
) {
    let Some(java) = agent.java() else { return };
    let id = |is_platform: bool| {
        if !is_platform {
            return agent.monitors.id(agent, env, object, wait); // may go on on another carrier
        }
        if exit
            && let Some((by, of, id)) = BEGUN.take()
            && (by, of) == (std::ptr::from_ref(agent), wait)
        {
            return Some(id);
        }
        let id = agent.monitors.id(agent, env, object, wait)?;
        if !exit {
            BEGUN.set(Some((agent, wait, id)));
        }
        Some(id)
    };
    java.with_cursor_of(env, thread, |cursor, is_platform| {
        trace_points::slow(cursor, |_, own, at, now| {
            id(is_platform).map_or(at, |id| own.put_exact(at, if exit { id | EXIT } else { id }, now))
        })
    });
}
