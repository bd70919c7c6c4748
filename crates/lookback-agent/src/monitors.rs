//! Waits that are no methods: entering a contended monitor, and `Object.wait`.
//!
//! The constraint that shaped it: the VM tells of them by events on the waiting thread, which is about to
//! stand still anyway. They become timed records of synthetic methods, `<monitor>` and `<wait>`, of the
//! class of the object: its name is all that is recorded of it.

use crate::agent::Agent;
use crate::java::{delete, jni};
use crate::region::Loss;
use crate::trace_points;
use jni_sys::{JNIEnv, jobject};
use lookback_format::slot::EXIT;
use lookback_format::symbol::{Role, Wait};
use std::collections::HashMap;
use std::sync::Mutex;

/// Ids of the synthetic methods, by class name.
#[derive(Default)]
pub(crate) struct Monitors {
    ids: Mutex<HashMap<(Wait, String), u32>>,
}

impl Monitors {
    /// Forgets all ids.
    pub(crate) fn forget(&self) {
        *self.ids.lock().unwrap_or_else(|e| e.into_inner()) = HashMap::new();
    }

    /// The id for a wait on an object of `class`. Never waits: when another thread is here, the loss is
    /// counted and the wait goes unrecorded.
    fn id(&self, agent: &Agent, wait: Wait, class: String) -> Option<u32> {
        let Ok(mut ids) = self.ids.try_lock() else {
            agent.region.lose(Loss::MonitorNames, 1);
            return None;
        };
        if let Some(&id) = ids.get(&(wait, class.clone())) {
            return Some(id);
        }
        let name = if wait == Wait::Monitor { "<monitor>" } else { "<wait>" };
        let id = agent.symbols.single(&agent.region, &class, name, "", wait, Role::Method)?;
        ids.insert((wait, class), id.0);
        Some(id.0)
    }
}

/// Records one end of a wait on `object`, on its thread.
pub(crate) fn mark(agent: &Agent, env: *mut JNIEnv, object: jobject, wait: Wait, exit: bool) {
    agent.java_with_cursor(env, |cursor| {
        trace_points::slow(cursor, |_, own, at, now| {
            let class = jni!(env, GetObjectClass, object);
            let name = agent.jvmti.class_name(class);
            delete(env, class);
            let id = name.ok().and_then(|name| agent.monitors.id(agent, wait, name));
            id.map_or(at, |id| own.put_exact(at, if exit { id | EXIT } else { id }, now))
        })
    });
}
