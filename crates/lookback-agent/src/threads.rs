//! Threads: begins and ends their tracing, keeps their names, turns tracing off and on for all of them.
//!
//! The constraint that shaped it: a thread's cursor must be valid or 0 from before its first Java code until
//! it is gone, because the field that holds it begins as the thread's requested stack size. So every thread
//! start is seen from before the first class is rewritten, or the first span of the program's own, whether tracing is on or
//! not; and none before that, since in a program with many short threads the events alone cost some percent.

use crate::agent::Agent;
use crate::clock;
use crate::java::{Cursor, Java, clear, delete, jni};
use crate::region::Loss;
use crate::slab::{Identity, OwnSlab};
use jni_sys::{JNIEnv, JavaVMAttachArgs, jobject};
use lookback_format::event::{Event, ThreadEvent};
use lookback_format::region::{put_text, slab};
use lookback_jvmti::Event as VmEvent;
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::ffi::CStr;
use std::sync::atomic::Ordering;

thread_local!(static OURS: Cell<bool> = const { Cell::new(false) });

/// Marks the current thread as the agent's own: it is never traced.
pub(crate) fn mark_as_ours() {
    OURS.set(true);
}

/// Which threads are seen.
#[derive(Default)]
pub(crate) struct Seen {
    /// All that begin or end.
    all: bool,
    /// Java ids of the agent's own.
    pub(crate) ours: FxHashSet<u64>,
}

/// Sees every thread from now on, and adopts those that are there. Before any class is rewritten, and before the class with
/// the program's own spans is used: until then nothing reads the field that holds the cursor.
pub(crate) fn begin(agent: &Agent, env: *mut JNIEnv) -> Result<(), String> {
    let refused = |e| format!("the VM refuses its thread events: {e}");
    let mut seen = agent.seen.lock().unwrap_or_else(|e| e.into_inner());
    if seen.all {
        return Ok(());
    }
    agent.jvmti.enable(VmEvent::ThreadStart, true).map_err(refused)?;
    agent.jvmti.enable(VmEvent::ThreadEnd, true).map_err(refused)?;
    let java = agent.java().ok_or("the agent is not alive")?;
    let current = agent.own_thread(env);
    for thread in agent.jvmti.all_threads().map_err(|e| e.to_string())? {
        let tid = java.tid(env, thread);
        if !seen.ours.contains(&tid) {
            found(agent, env, thread, Some(tid) == current);
        }
        delete(env, thread);
    }
    seen.all = true;
    Ok(())
}

/// Attaches the current thread as a daemon of the system thread group.
pub(crate) fn attach(agent: &Agent, name: &CStr) -> Option<*mut JNIEnv> {
    mark_as_ours();
    // Held, so that nobody finds it meanwhile.
    let mut seen = agent.seen.lock().unwrap_or_else(|e| e.into_inner());
    let group = agent.system_group();
    let mut args =
        JavaVMAttachArgs { version: jni_sys::JNI_VERSION_1_8, name: name.as_ptr().cast_mut(), group };
    let mut env = std::ptr::null_mut();
    // SAFETY: the VM that loaded us; the name is copied.
    let code = unsafe {
        let attach = (**agent.vm).AttachCurrentThreadAsDaemon?;
        attach(agent.vm, &raw mut env, (&raw mut args).cast())
    };
    let env = (code == 0).then_some(env.cast())?;
    seen.ours.extend(agent.own_thread(env));
    Some(env)
}

/// The operating system's id of the current thread.
pub(crate) fn gettid() -> u32 {
    // SAFETY: no arguments.
    unsafe { libc::gettid() as u32 }
}

/// A thread begins; runs on it, before its first Java code.
pub(crate) fn started(agent: &Agent, env: *mut JNIEnv, thread: jobject) {
    let Some(java) = agent.java() else { return };
    let home = java.home(env, thread);
    if home.is_null() {
        return; // a virtual thread
    }
    if OURS.get() {
        // Never among the living, so that no sweep begins it.
        java.set_cursor(env, home, Cursor::OFF);
        delete(env, home);
        return;
    }
    let java_tid = java.tid(env, thread);
    let mut live = agent.live.lock().unwrap_or_else(|e| e.into_inner());
    // The main thread's start is told after the VM's, when it has been adopted already.
    let has_slab = OwnSlab::of_cursor(&agent.region, java.cursor(env, home))
        .is_some_and(|own| agent.slabs.of_thread(&agent.region, java_tid) == Some(own.index));
    if live.insert(java_tid) || !has_slab {
        adopt(agent, env, thread, home, gettid());
    }
    drop(live);
    delete(env, home);
}

/// A thread that ran before its start could be seen is traced from now on.
fn found(agent: &Agent, env: *mut JNIEnv, thread: jobject, is_current: bool) {
    let Some(java) = agent.java() else { return };
    let home = java.home(env, thread);
    if home.is_null() {
        return;
    }
    let mut live = agent.live.lock().unwrap_or_else(|e| e.into_inner());
    if !(is_current && OURS.get()) && live.insert(java.tid(env, thread)) {
        if is_current {
            adopt(agent, env, thread, home, gettid());
        } else {
            adopt_other(agent, env, thread, home);
        }
    }
    drop(live);
    delete(env, home);
}

/// Traces a platform thread from now on when tracing is on, else makes sure that it is not traced.
fn adopt(agent: &Agent, env: *mut JNIEnv, thread: jobject, home: jobject, os_tid: u32) {
    let Some(java) = agent.java() else { return };
    let mut cursor = Cursor::OFF;
    if agent.is_tracing() && !OURS.get() {
        let name = thread_name(agent, env, thread);
        let java_tid = java.tid(env, thread);
        let now = clock::now();
        match agent.slabs.adopt(&agent.region, &Identity { name: &name, os_tid, java_tid }, now) {
            Some((index, first)) => {
                cursor = Cursor::new(first, false);
                agent.brake.begin(index, jni!(env, NewGlobalRef, home), now);
                let key = agent.slabs.key(&agent.region, index);
                let thread = ThreadEvent { thread: key, os_tid, java_tid, at: now, name };
                announce(agent, &Event::ThreadStart(thread));
            }
            None => agent.region.lose(Loss::NoSlab, 1),
        }
    }
    java.set_cursor(env, home, cursor);
}

/// A thread ends; runs on it, after its last Java code.
pub(crate) fn ended(agent: &Agent, env: *mut JNIEnv, thread: jobject) {
    let Some(java) = agent.java() else { return };
    let home = java.home(env, thread);
    if home.is_null() {
        return;
    }
    let java_tid = java.tid(env, thread);
    // Under the lock: a sweep has adopted the thread before this, or never will, and the brake has released it.
    let mut live = agent.live.lock().unwrap_or_else(|e| e.into_inner());
    live.remove(&java_tid);
    let cursor = java.cursor(env, home);
    java.set_cursor(env, home, Cursor::OFF);
    delete(env, home);
    let (own, end) = match OwnSlab::of_cursor(&agent.region, cursor) {
        Some(own) => (own, cursor.address()),
        // A thread that was stopped has no cursor, but may still have its slab.
        None => match agent.slabs.of_thread(&agent.region, java_tid) {
            Some(index) => {
                let own = OwnSlab::at(&agent.region, index);
                (own, own.stopped())
            }
            None => return,
        },
    };
    let reference = agent.brake.end(own.index);
    drop(live);
    jni!(env, DeleteGlobalRef, reference);
    let now = clock::now();
    own.empty(end, now);
    let name = thread_name(agent, env, thread);
    let thread = ThreadEvent { thread: own.key(), os_tid: gettid(), java_tid, at: now, name };
    announce(agent, &Event::ThreadEnd(thread, own.chunks()));
    agent.slabs.release(&agent.region, own.index);
}

fn thread_name(agent: &Agent, env: *mut JNIEnv, thread: jobject) -> String {
    if let Some(name) = agent.java().and_then(|java| java.name(env, thread, slab::NAME_BYTES)) {
        return name;
    }
    match agent.jvmti.thread_name(thread) {
        Ok((name, references)) => {
            references.into_iter().for_each(|r| delete(env, r));
            name
        }
        Err(_) => String::new(),
    }
}

fn announce(agent: &Agent, event: &Event) {
    let mut payload = Vec::new();
    let kind = event.encode(&mut payload);
    agent.region.record(kind, &[&payload]);
}

/// Asks all threads to stop recording, at their next exit or timed trace point.
pub(crate) fn stop_all(agent: &Agent) {
    for i in (0..agent.slabs.high()).filter(|&i| agent.slabs.is_taken(i)) {
        let at = agent.region.slab_at(i);
        // Relaxed: a flag that the thread reads at its next poll.
        agent.region.u32(at + slab::STATE).store(slab::STATE_OFF, Ordering::Relaxed);
    }
    poll_all(agent);
}

/// Has all threads come by at their next exit or timed trace point.
pub(crate) fn poll_all(agent: &Agent) {
    for i in (0..agent.slabs.high()).filter(|&i| agent.slabs.is_taken(i)) {
        OwnSlab::at(&agent.region, i).want_time();
    }
}

/// The system's numbers of the traced threads.
pub(crate) fn os_tids(agent: &Agent) -> Vec<u32> {
    let slabs = (0..agent.slabs.high()).filter(|&i| agent.slabs.is_taken(i));
    // Relaxed: written before the slab was published; 0 for a thread whose number nobody knows.
    let tid = |i| agent.region.u32(agent.region.slab_at(i) + slab::OS_TID).load(Ordering::Relaxed);
    slabs.map(tid).filter(|&tid| tid != 0).collect()
}

/// Brings the picture of all threads up to date: names, and threads that should be traced and are not
/// (tracing was off when they began, or no slab was free). Runs on the control thread. Whom there is no room for is counted
/// unless that was done before, `again`.
pub(crate) fn sweep(agent: &Agent, env: *mut JNIEnv, again: bool) {
    let Some(java) = agent.java() else { return };
    if !agent.seen.lock().unwrap_or_else(|e| e.into_inner()).all {
        return;
    }
    let Ok(threads) = agent.jvmti.all_threads() else { return };
    for thread in threads {
        let home = java.home(env, thread);
        if !home.is_null() {
            let tid = java.tid(env, thread);
            // Who has not begun, or has ended, is not begun here: nobody would end it.
            let live = agent.live.lock().unwrap_or_else(|e| e.into_inner());
            let wanted = agent.is_tracing() && live.contains(&tid);
            let cursor = java.cursor(env, home);
            match OwnSlab::of_cursor(&agent.region, cursor) {
                Some(own) => {
                    rename(agent, env, thread, own.index);
                    if cursor.is_braked() {
                        agent.brake.found(own.index);
                    }
                }
                None if wanted => match agent.slabs.of_thread(&agent.region, tid) {
                    // The thread has stopped; its slab waits for it.
                    Some(i) => resume(agent, env, home, i),
                    None if again && !agent.slabs.has_free() => {}
                    None => adopt_other(agent, env, thread, home),
                },
                None => {}
            }
            drop(live);
            delete(env, home);
        }
        clear(env);
        delete(env, thread);
    }
}

/// Traces a thread that runs already. It sees the cursor at its next trace point.
fn adopt_other(agent: &Agent, env: *mut JNIEnv, thread: jobject, home: jobject) {
    let ours = OURS.replace(false);
    adopt(agent, env, thread, home, 0);
    OURS.set(ours);
}

fn rename(agent: &Agent, env: *mut JNIEnv, thread: jobject, i: u32) {
    let name = thread_name(agent, env, thread);
    let at = agent.region.slab_at(i) + slab::NAME;
    put_text(agent.region.bytes_mut(at, slab::NAME_BYTES + 2), &name, slab::NAME_BYTES);
}

fn resume(agent: &Agent, env: *mut JNIEnv, home: jobject, i: u32) {
    let Some(java) = agent.java() else { return };
    let (own, at) = (OwnSlab::at(&agent.region, i), agent.region.slab_at(i));
    // Relaxed: the thread has no cursor, so nobody else touches these words; it sees them through the
    // cursor's store below, and JNI orders that store after them.
    own.want_time();
    agent.region.u32(at + slab::STATE).store(slab::STATE_ON, Ordering::Relaxed);
    java.set_cursor(env, home, Cursor::new(own.stopped(), false));
}

/// Takes a thread its cursor; whether it had one.
pub(crate) fn take_cursor(java: &Java, env: *mut JNIEnv, home: jobject) -> bool {
    let had = java.cursor(env, home) != Cursor::OFF;
    if had {
        java.set_cursor(env, home, Cursor::OFF);
    }
    had
}
