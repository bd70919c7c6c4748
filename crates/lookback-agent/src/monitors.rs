//! Waits that are no methods: entering a contended monitor, and `Object.wait`.
//!
//! The constraint that shaped it: the VM tells of them by events on the waiting thread, which is about to
//! stand still anyway. They become timed records of synthetic methods, `<monitor>` and `<wait>`, of the
//! class of the object: its name is all that is recorded of it. A program that hands work from thread to thread has tens of
//! thousands of them a second, and the end of one may be told while the monitor is held. So a class is asked for its name once,
//! a thread remembers where its waits are recorded and the class that it waited on last, and a wait's end asks the VM for the
//! cursor and nothing else.

use crate::agent::Agent;
use crate::java::jni;
use crate::region::Loss;
use crate::slab::OwnSlab;
use crate::trace_points;
use jni_sys::{JNIEnv, jobject, jweak};
use lookback_format::slot::EXIT;
use lookback_format::symbol::{Role, Wait};
use lookback_format::{MethodId, ThreadKey};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::sync::{PoisonError, RwLock};

/// Classes that are remembered: those that a program waits on are few.
const MOST: usize = 4_096;

thread_local! {
    static MINE: Mine = const {
        Mine { place: Cell::new(None), begun: Cell::new(None), last: [const { Cell::new(None) }; 2] }
    };
}

/// What a thread remembers of its waits. All of it is of one agent, as each part says.
struct Mine {
    /// Where they are recorded.
    place: Cell<Option<Place>>,
    /// The wait that this platform thread has begun and not ended. The VM tells the end of one before the begin of the next.
    begun: Cell<Option<Begun>>,
    /// What it waited on last: for a monitor, and with `Object.wait`.
    last: [Cell<Option<(*const Agent, Known)>>; 2],
}

/// A wait that goes on.
#[derive(Clone, Copy)]
struct Begun {
    agent: *const Agent,
    wait: Wait,
    id: u32,
}

/// The slab of a platform thread.
#[derive(Clone, Copy)]
struct Place {
    agent: *const Agent,
    slab: u32,
    key: ThreadKey,
}

impl Place {
    /// The object that holds the thread's cursor, without asking the VM; `None` when it must be asked: the slab is
    /// another thread's now, or the thread has carried a virtual one, whose wait it may be.
    fn home(self, agent: &Agent) -> Option<jobject> {
        if self.agent != std::ptr::from_ref(agent) || agent.vm_points.is_some() {
            return None;
        }
        let own = OwnSlab::at(&agent.region, self.slab);
        (own.key() == self.key && own.mounted() == 0).then(|| agent.brake.home(self.slab)).flatten()
    }
}

/// Ids of the synthetic methods.
#[derive(Default)]
pub(crate) struct Monitors {
    /// By the class objects' identity hashes.
    classes: RwLock<FxHashMap<i32, Vec<Known>>>,
}

/// What waits on objects of one class are recorded as.
#[derive(Clone, Copy)]
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
    /// Forgets all ids. Only once no thread is in an event of the VM any more.
    pub(crate) fn forget(&self, env: *mut JNIEnv) {
        let classes = std::mem::take(&mut *self.classes.write().unwrap_or_else(PoisonError::into_inner));
        classes.into_values().flatten().for_each(|known| {
            jni!(env, DeleteWeakGlobalRef, known.class);
        });
    }

    /// The id for a wait on `object` of the thread that remembers `last` of such waits. Never waits: when another thread is
    /// writing here, the loss is counted and the wait goes unrecorded.
    fn id(
        &self,
        agent: &Agent,
        env: *mut JNIEnv,
        object: jobject,
        wait: Wait,
        last: &Cell<Option<(*const Agent, Known)>>,
    ) -> Option<u32> {
        // The VM takes this reference back when its event ends.
        let class = jni!(env, GetObjectClass, object);
        if let Some((by, known)) = last.get()
            && by == std::ptr::from_ref(agent)
            && jni!(env, IsSameObject, known.class, class) != 0
        {
            return Some(known.id);
        }
        let known = self.of_class(agent, env, class, wait)?;
        if !known.class.is_null() {
            last.set(Some((agent, known)));
        }
        Some(known.id)
    }

    fn of_class(&self, agent: &Agent, env: *mut JNIEnv, class: jobject, wait: Wait) -> Option<Known> {
        let hash = agent.jvmti.hash_code(class).ok()?;
        let same = |known: &&Known| known.wait == wait && jni!(env, IsSameObject, known.class, class) != 0;
        if let Ok(classes) = self.classes.try_read()
            && let Some(known) = classes.get(&hash).and_then(|all| all.iter().find(same))
        {
            return Some(*known);
        }
        let name = agent.jvmti.class_name(class).ok()?;
        let Ok(mut classes) = self.classes.try_write() else {
            agent.region.lose(Loss::MonitorNames, 1);
            return None;
        };
        let method = if wait == Wait::Monitor { "<monitor>" } else { "<wait>" };
        let id = agent.symbols.single(&agent.region, &name, method, "", wait, Role::Method)?.0;
        agent.governor.told_by_event(MethodId(id));
        let mut known = Known { class: std::ptr::null_mut(), wait, id };
        if classes.len() < MOST {
            known.class = jni!(env, NewWeakGlobalRef, class);
            classes.entry(hash).or_default().push(known);
        }
        Some(known)
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
    MINE.with(|mine| {
        let begun =
            mine.begun.take().filter(|b| exit && b.agent == std::ptr::from_ref(agent) && b.wait == wait);
        let record = |cursor, is_platform| {
            trace_points::slow(cursor, |_, own, at, now| {
                // A virtual thread may go on on another carrier.
                let begun = begun.filter(|_| is_platform);
                let last = &mine.last[usize::from(wait == Wait::ObjectWait)];
                let known = begun.map(|b| b.id).or_else(|| agent.monitors.id(agent, env, object, wait, last));
                let Some(id) = known else { return at };
                if is_platform {
                    mine.place.set(Some(Place { agent, slab: own.index, key: own.key() }));
                    mine.begun.set((!exit).then_some(Begun { agent, wait, id }));
                }
                own.put_exact(at, if exit { id | EXIT } else { id }, now)
            })
        };
        match mine.place.get().and_then(|place| place.home(agent)) {
            Some(home) => java.with_cursor_at(env, home, |cursor| record(cursor, true)),
            None => java.with_cursor_of(env, thread, record),
        }
    });
}
