//! What all threads do at one moment: states, stacks, who holds the monitor that a thread waits for.
//!
//! The constraint that shaped it: it is asked when the program is in trouble. Threads are looked at one by
//! one (each stack is taken by a handshake with that thread alone, nobody else stops), the important ones
//! first, and there is a bound on their number.

use crate::agent::Agent;
use crate::java::{delete, jni};
use crate::slab::OwnSlab;
use jni_sys::{JNIEnv, jobject};
use lookback_format::ThreadKey;
use lookback_format::incident::Thread;
use lookback_jvmti::Frame;

/// The most threads whose stacks are taken.
const MOST_THREADS: usize = 512;
/// The most frames of a stack.
const MOST_FRAMES: usize = 256;

/// All live threads, those of `first` with priority.
pub(crate) fn take(agent: &Agent, env: *mut JNIEnv, first: Option<ThreadKey>) -> Vec<Thread> {
    let Ok(threads) = agent.jvmti.all_threads() else { return Vec::new() };
    let mut keyed: Vec<(ThreadKey, jobject)> =
        threads.into_iter().map(|t| (key_of(agent, env, t), t)).collect();
    keyed.sort_by_key(|(k, _)| (Some(*k) != first, k.0 == 0));
    let mut out = Vec::with_capacity(keyed.len());
    for (n, (key, thread)) in keyed.into_iter().enumerate() {
        if key.0 != 0 {
            out.push(one(agent, env, thread, key, n < MOST_THREADS));
        }
        delete(env, thread);
    }
    out
}

/// The key of a traced thread, 0 for others.
fn key_of(agent: &Agent, env: *mut JNIEnv, thread: jobject) -> ThreadKey {
    let Some(java) = agent.java() else { return ThreadKey(0) };
    let home = java.home(env, thread);
    if home.is_null() {
        return ThreadKey(0);
    }
    let cursor = java.cursor(env, home);
    delete(env, home);
    OwnSlab::of_cursor(&agent.region, cursor).map_or(ThreadKey(0), |own| own.key())
}

fn one(agent: &Agent, env: *mut JNIEnv, thread: jobject, key: ThreadKey, stack: bool) -> Thread {
    let jvmti = agent.jvmti;
    let mut t = Thread { key, ..Thread::default() };
    if let Ok((name, references)) = jvmti.thread_name(thread) {
        t.name = name;
        references.into_iter().for_each(|r| delete(env, r));
    }
    t.java_tid = agent.java().map_or(0, |j| j.tid(env, thread));
    let state = jvmti.thread_state(thread).unwrap_or(0);
    t.state = words(state).into();
    if stack {
        let frames = jvmti.stack_trace(thread, MOST_FRAMES).unwrap_or_default();
        t.stack = frames.iter().map(|f| frame(agent, env, f)).collect();
    }
    if state & BLOCKED_ON_MONITOR != 0
        && let Ok(monitor) = jvmti.contended_monitor(thread)
        && !monitor.is_null()
    {
        let class = jni!(env, GetObjectClass, monitor);
        t.blocked_on = jvmti.class_name(class).ok();
        delete(env, class);
        if let Ok(owner) = jvmti.monitor_owner(monitor)
            && !owner.is_null()
        {
            t.owner = Some(key_of(agent, env, owner)).filter(|k| k.0 != 0);
            delete(env, owner);
        }
        delete(env, monitor);
    }
    t
}

const BLOCKED_ON_MONITOR: i32 = 0x0400;

/// The bits of `GetThreadState`, in a word.
fn words(state: i32) -> &'static str {
    match state {
        s if s & BLOCKED_ON_MONITOR != 0 => "blocked",
        s if s & 0x0040 != 0 => "sleeping",
        s if s & 0x0200 != 0 => "parked",
        s if s & 0x0100 != 0 => "in Object.wait",
        s if s & 0x0080 != 0 => "waiting",
        s if s & 0x40_0000 != 0 => "in native code",
        s if s & 0x0004 != 0 => "runnable",
        _ => "",
    }
}

/// `com.acme.Foo.bar(Foo.java:12)`.
fn frame(agent: &Agent, env: *mut JNIEnv, f: &Frame) -> String {
    let jvmti = agent.jvmti;
    let Ok(class) = jvmti.declaring_class(f.method) else { return "?".into() };
    let name = jvmti.class_name(class).unwrap_or_default();
    let method = jvmti.method_name(f.method).unwrap_or_default();
    let file = jvmti.source_file(class).unwrap_or_default();
    delete(env, class);
    match (f.location, jvmti.line(f.method, f.location)) {
        (-1, _) => format!("{name}.{method}(native)"),
        (_, 0) => format!("{name}.{method}({file})"),
        (_, line) => format!("{name}.{method}({file}:{line})"),
    }
}
