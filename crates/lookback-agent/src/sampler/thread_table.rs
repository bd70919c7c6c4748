//! The threads that are sampled: the key under which each stands in recordings, and the system's number.
//!
//! The constraint that shaped it: a thread that is not traced has no slab and so no key, and none of this may be asked of the
//! VM for each sample. Threads that are traced have the key of their slab, so that samples and calls stand on one track.

use super::os_threads::OsThreads;
use crate::agent::Agent;
use crate::java::{delete, jni};
use jni_sys::{JNIEnv, jobject};
use lookback_format::event::ThreadEvent;
use lookback_format::{Nanos, ThreadKey};
use rustc_hash::{FxHashMap, FxHashSet};

/// One that was not traced is looked at again after so long.
const AGAIN: Nanos = Nanos(1_000_000_000);

/// So many threads are remembered: where they live for a moment there are millions.
const MOST_ROWS: usize = 1 << 16;

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sampled {
    pub(super) key: ThreadKey,
    /// The system's number; 0 when unknown.
    pub(super) os_tid: u32,
}

struct Row {
    sampled: Sampled,
    /// Whether the key is that of a slab.
    is_traced: bool,
    looked: Nanos,
}

/// By Java's id.
#[derive(Default)]
pub(super) struct ThreadTable {
    rows: FxHashMap<u64, Row>,
    ours: FxHashSet<u64>,
}

impl ThreadTable {
    /// Takes note of which threads are the agent's own.
    pub(super) fn new(agent: &Agent) -> ThreadTable {
        ThreadTable { rows: FxHashMap::default(), ours: agent.own_threads() }
    }

    /// The thread with this Java id if it was seen before, which lately enough says who it is.
    pub(super) fn known(&self, java_tid: u64, now: Nanos) -> Option<Sampled> {
        let row = self.rows.get(&java_tid)?;
        (row.is_traced || now.since(row.looked) < AGAIN).then_some(row.sampled)
    }

    pub(super) fn is_ours(&self, java_tid: u64) -> bool {
        self.ours.contains(&java_tid)
    }

    /// The thread, and what is to be told of it if it is new. None for the agent's own, and virtual ones.
    pub(super) fn look(
        &mut self,
        agent: &Agent,
        env: *mut JNIEnv,
        thread: jobject,
        numbers: Option<&OsThreads>,
        now: Nanos,
    ) -> Option<(Sampled, Option<ThreadEvent>)> {
        let java = agent.java()?;
        let java_tid = java.tid(env, thread);
        if self.is_ours(java_tid) {
            return None;
        }
        if let Some(known) = self.known(java_tid, now) {
            return Some((known, None));
        }
        let home = java.home(env, thread);
        if home.is_null() {
            return None;
        }
        delete(env, home);
        let slab = agent.slabs.of_thread(&agent.region, java_tid);
        let before = self.rows.get(&java_tid).map(|row| row.sampled);
        let key = match (slab, before) {
            (Some(i), _) => agent.slabs.key(&agent.region, i),
            (None, Some(before)) => before.key,
            (None, None) => agent.slabs.fresh_key(),
        };
        let os_tid = before.map(|b| b.os_tid).filter(|&n| n != 0);
        let os_tid = os_tid.or_else(|| numbers?.number(env, thread)).unwrap_or(0);
        let sampled = Sampled { key, os_tid };
        if self.rows.len() >= MOST_ROWS {
            // Ids are given in order: the oldest half are most likely gone, and one that lives is looked at once more.
            let mut ids: Vec<u64> = self.rows.keys().copied().collect();
            ids.sort_unstable();
            for id in &ids[..MOST_ROWS / 2] {
                self.rows.remove(id);
            }
        }
        self.rows.insert(java_tid, Row { sampled, is_traced: slab.is_some(), looked: now });
        let is_new = before.is_none_or(|b| b.key != key);
        let name = || java.name(env, thread).unwrap_or_default().to_string();
        let event = is_new.then(|| ThreadEvent { thread: key, os_tid, java_tid, at: now, name: name() });
        Some((sampled, event))
    }
}

/// The live threads, as references of the current thread, given back when it is dropped.
pub(super) struct Live {
    env: *mut JNIEnv,
    pub(super) threads: Vec<jobject>,
}

impl Live {
    pub(super) fn look(agent: &Agent, env: *mut JNIEnv) -> Live {
        Live { env, threads: agent.jvmti.all_threads().unwrap_or_default() }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        for &thread in &self.threads {
            jni!(self.env, DeleteLocalRef, thread);
        }
    }
}
