//! Threads: begins and ends their tracing, keeps their names, turns tracing off and on for all of them.
//!
//! The constraint that shaped it: a thread's cursor must be valid or 0 from before its first Java code until
//! it is gone, because the field that holds it begins as the thread's requested stack size. So every thread
//! start is seen from before the first class is rewritten, or the first span of the program's own, whether tracing is on or
//! not; and none before that, since in a program with many short threads the events alone cost some percent. In such a program
//! most of them are not seen later, either: their ends are not asked for, and a sweep finds who lives on, and who is gone.

use crate::agent::Agent;
use crate::clock;
use crate::events;
use crate::helpers;
use crate::java::{Cursor, Java, ThreadName, clear, clipped, delete, jni};
use crate::region::Loss;
use crate::slab::{Identity, OwnSlab, owner};
use jni_sys::{JNIEnv, JavaVMAttachArgs, jobject};
use lookback_format::ThreadKey;
use lookback_format::event::{ThreadEvent, kind};
use lookback_format::region::{put_text, slab};
use lookback_jvmti::Event as VmEvent;
use rustc_hash::FxHashSet;
use std::ffi::CStr;
use std::sync::atomic::Ordering;

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
    if helpers::is_current() {
        // Never among the living, so that no sweep begins it.
        java.set_cursor(env, home, Cursor::OFF);
        delete(env, home);
        return;
    }
    // Relaxed, here and below: a counter, and a flag; who has not seen it yet is traced.
    agent.begun.fetch_add(1, Ordering::Relaxed);
    let passes = agent.unseen.load(Ordering::Relaxed);
    // Who passes has nothing to be taken, unless it asked for a stack of some size or a sweep was as quick.
    if passes && java.cursor(env, home) == Cursor::OFF {
        delete(env, home);
        return;
    }
    let java_tid = java.tid(env, thread);
    let mut live = agent.live.lock().unwrap_or_else(|e| e.into_inner());
    // The main thread's start is told after the VM's, when it has been adopted already.
    let has_slab = OwnSlab::of_cursor(&agent.region, java.cursor(env, home))
        .is_some_and(|own| agent.slabs.of_thread(&agent.region, java_tid) == Some(own.index));
    if passes {
        if !has_slab {
            take_cursor(java, env, home);
        }
    } else if live.insert(java_tid) || !has_slab {
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
    if !(is_current && helpers::is_current()) && live.insert(java.tid(env, thread)) {
        adopt(agent, env, thread, home, if is_current { gettid() } else { 0 });
    }
    drop(live);
    delete(env, home);
}

/// Traces a platform thread from now on when tracing is on, else makes sure that it is not traced. `os_tid` is 0 for another one
/// than the current: it sees the cursor at its next trace point.
fn adopt(agent: &Agent, env: *mut JNIEnv, thread: jobject, home: jobject, os_tid: u32) {
    let Some(java) = agent.java() else { return };
    let mut cursor = Cursor::OFF;
    if agent.is_tracing() {
        let name = thread_name(agent, env, thread);
        let java_tid = java.tid(env, thread);
        let now = clock::now();
        match agent.slabs.adopt(&agent.region, &Identity { name: &name, os_tid, java_tid }, now) {
            Some((index, first)) => {
                cursor = Cursor::new(first, false);
                agent.brake.begin(index, jni!(env, NewGlobalRef, home), now);
                let key = agent.slabs.key(&agent.region, index);
                let header = ThreadEvent::header(key, os_tid, java_tid, now);
                agent.region.record(kind::THREAD_START, &[&header, name.as_bytes()]);
            }
            None => agent.region.lose(Loss::NoSlab, 1),
        }
    }
    java.set_cursor(env, home, cursor);
}

/// Lets threads that begin from now on pass unseen, but for those that a sweep finds, or sees each of them again. Runs on the control
/// thread.
pub(crate) fn let_pass(agent: &Agent, env: *mut JNIEnv, on: bool) {
    if on {
        agent.unseen.store(true, Ordering::Relaxed);
        events::watch_monitors(agent, false);
        let _ = agent.jvmti.enable(VmEvent::ThreadEnd, false);
        // The ends of waits that have begun are not told: a break says that the calls of before are over. The sweep resumes.
        stop_all(agent);
    } else {
        // Who ends meanwhile is found to be gone by the next sweep.
        let _ = agent.jvmti.enable(VmEvent::ThreadEnd, true);
        agent.unseen.store(false, Ordering::Relaxed);
        sweep_for(agent, env, false, true);
        events::watch_monitors(agent, true);
    }
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
    close(agent, own, end, &Identity { name: &thread_name(agent, env, thread), os_tid: gettid(), java_tid });
}

/// The last of a thread, which has recorded up to `end`, goes into the ring, and its slab to whom wants it.
fn close(agent: &Agent, own: OwnSlab<'_>, end: usize, who: &Identity<'_>) {
    let now = clock::now();
    own.empty(end, now);
    let header = ThreadEvent::header(own.key(), who.os_tid, who.java_tid, now);
    let chunks = u64::from(own.chunks()).to_le_bytes();
    agent.region.record(kind::THREAD_END, &[&header, &chunks, who.name.as_bytes()]);
    agent.slabs.release(&agent.region, own.index);
}

/// A thread is gone whose slab was `i` and key was `key`, unless its end was seen. Nobody touches the slab any more.
fn gone(agent: &Agent, env: *mut JNIEnv, i: u32, key: ThreadKey) {
    let Some(java) = agent.java() else { return };
    let live = agent.live.lock().unwrap_or_else(|e| e.into_inner());
    let owner = owner(&agent.region, i).filter(|owner| agent.slabs.is_taken(i) && owner.0 == key);
    let Some((_, os_tid, java_tid, name)) = owner else { return };
    let home = agent.brake.end(i);
    let cursor = if home.is_null() { Cursor::OFF } else { java.cursor(env, home) };
    jni!(env, DeleteGlobalRef, home);
    drop(live);
    let own = OwnSlab::at(&agent.region, i);
    let end = if cursor == Cursor::OFF { own.stopped() } else { cursor.address() };
    close(agent, own, end, &Identity { name: &name, os_tid, java_tid });
}

fn thread_name(agent: &Agent, env: *mut JNIEnv, thread: jobject) -> ThreadName {
    if let Some(name) = agent.java().and_then(|java| java.name(env, thread)) {
        return name;
    }
    match agent.jvmti.thread_name(thread) {
        Ok((name, references)) => {
            references.into_iter().for_each(|r| delete(env, r));
            clipped(name.chars())
        }
        Err(_) => ThreadName::new(),
    }
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
/// (tracing was off when they began, no slab was free, or they have passed unseen), or are gone. Runs on the control thread. Whom there
/// is no room for is counted unless that was done before, `again`. Gives the processor time that adopting threads took, nanoseconds.
pub(crate) fn sweep(agent: &Agent, env: *mut JNIEnv, again: bool) -> u64 {
    sweep_for(agent, env, again, agent.unseen.load(Ordering::Relaxed))
}

/// As [`sweep`]; also, if `new`, for threads whose beginning was not seen.
fn sweep_for(agent: &Agent, env: *mut JNIEnv, again: bool, new: bool) -> u64 {
    let mut adopting = 0;
    let Some(java) = agent.java() else { return adopting };
    let ours = {
        let seen = agent.seen.lock().unwrap_or_else(|e| e.into_inner());
        if !seen.all {
            return adopting;
        }
        seen.ours.clone()
    };
    // Before it is asked who is there: a thread that begins meanwhile is not gone.
    let begun =
        if new { agent.live.lock().unwrap_or_else(|e| e.into_inner()).clone() } else { FxHashSet::default() };
    let taken: Vec<(u32, ThreadKey)> = (0..agent.slabs.high())
        .filter(|&i| agent.slabs.is_taken(i))
        .map(|i| (i, agent.slabs.key(&agent.region, i)))
        .collect();
    let Ok(threads) = agent.jvmti.all_threads() else { return adopting };
    let mut there = FxHashSet::default();
    for thread in threads {
        let home = java.home(env, thread);
        if !home.is_null() {
            let tid = java.tid(env, thread);
            there.insert(tid);
            // Who has not begun, or has ended, is not begun here, unless it was not to be seen.
            let mut live = agent.live.lock().unwrap_or_else(|e| e.into_inner());
            let is_new = new && !ours.contains(&tid) && live.insert(tid);
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
                    None if again && !is_new && !agent.slabs.has_free() => {}
                    None => {
                        let begun = clock::thread_cpu();
                        adopt(agent, env, thread, home, 0);
                        adopting += clock::thread_cpu() - begun;
                    }
                },
                None => {}
            }
            drop(live);
            delete(env, home);
        }
        clear(env);
        delete(env, thread);
    }
    for tid in begun.difference(&there) {
        agent.live.lock().unwrap_or_else(|e| e.into_inner()).remove(tid);
    }
    for (i, key) in taken {
        // Relaxed: written before the slab was published.
        let tid = agent.region.u64(agent.region.slab_at(i) + slab::JAVA_TID).load(Ordering::Relaxed);
        if !there.contains(&tid) {
            gone(agent, env, i, key);
        }
    }
    adopting
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
