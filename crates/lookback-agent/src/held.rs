//! Classes that must be left as they are for now, because a loop in one of their methods runs right now.
//!
//! The constraint that shaped it: when a class is rewritten, its methods that run already go on in their old form, and
//! HotSpot never compiles an old form: a thread that is in the middle of a long loop is interpreted until that loop ends
//! (measured on JDK 17: seven times slower, for good). What a method calls is not affected, so it matters only
//! where the long running method itself, or what was inlined into it, takes the time.

use crate::agent::Agent;
use crate::java::{class_name, clear, delete};
use crate::symbols::{hash_class, hash_method};
use jni_sys::{JNIEnv, jmethodID, jobject};
use lookback_format::MethodId;
use lookback_jvmti::Frame;
use rustc_hash::FxHashSet;
use std::time::Duration;

/// How often threads are looked at, and how long between.
const LOOKS: usize = 6;
const BETWEEN: Duration = Duration::from_millis(5);
/// Deeper stacks are not looked at.
const DEEPEST: usize = 512;
/// Calls up to so deep below a method were likely inlined into it.
const NEAR: usize = 2;

/// A thread that runs Java code, and its stacks, each from the outermost frame on.
struct Running {
    thread: jobject,
    stacks: Vec<Vec<jmethodID>>,
}

/// The hashes of the names of such classes. `is_short` tells of a method that its calls are known to be short.
pub(crate) fn classes(
    agent: &Agent,
    env: *mut JNIEnv,
    is_short: impl Fn(MethodId) -> bool,
) -> FxHashSet<u64> {
    let threads = agent.jvmti.all_threads().unwrap_or_default();
    let mut running: Vec<Running> =
        threads.into_iter().map(|thread| Running { thread, stacks: Vec::new() }).collect();
    for look in 0..LOOKS {
        if look > 0 {
            std::thread::sleep(BETWEEN);
        }
        running.retain_mut(|r| {
            let busy = stack(agent, r.thread).map(|s| r.stacks.push(s)).is_some();
            // Who runs nothing at two of the first looks is not in a loop.
            let keep = busy || r.stacks.len() + 1 > look;
            if !keep {
                delete(env, r.thread);
            }
            keep
        });
    }
    let mut held = FxHashSet::default();
    for r in running {
        for method in looping(&r.stacks) {
            if let Some((class, id)) = known(agent, env, method)
                && !id.is_some_and(&is_short)
            {
                held.insert(class);
            }
        }
        delete(env, r.thread);
    }
    clear(env);
    held
}

/// The hashes of the names of the classes that have a frame on some platform thread's stack, running or waiting.
pub(crate) fn on_stacks(agent: &Agent, env: *mut JNIEnv) -> FxHashSet<u64> {
    let mut methods = FxHashSet::default();
    let mut frames = Vec::new();
    for thread in agent.jvmti.all_threads().unwrap_or_default() {
        // A thread that has ended has none.
        let _ = agent.jvmti.stack_trace_into(thread, DEEPEST, &mut frames);
        methods.extend(frames.iter().map(|frame| frame.method));
        delete(env, thread);
    }
    let names = methods.into_iter().filter_map(|method| class_name(agent.jvmti, env, method));
    names.map(|name| hash_class(&name)).collect()
}

/// The methods that a thread runs, from the outermost on; `None` unless it runs Java code now.
fn stack(agent: &Agent, thread: jobject) -> Option<Vec<jmethodID>> {
    const RUNNABLE: i32 = 0x4;
    if agent.jvmti.thread_state(thread).ok()? & RUNNABLE == 0 {
        return None;
    }
    let frames = agent.jvmti.stack_trace(thread, DEEPEST).ok()?;
    // A native method has no place in its bytecode.
    let is_java = |f: &Frame| f.location >= 0;
    let whole = frames.first().is_some_and(is_java) && frames.len() < DEEPEST;
    whole.then(|| frames.iter().rev().map(|f| f.method).collect())
}

/// The methods that are in all of the stacks at the same depth, and near the top of at least a quarter of them.
fn looping<M: Copy + PartialEq>(stacks: &[Vec<M>]) -> Vec<M> {
    let Some((first, others)) = stacks.split_first().filter(|_| stacks.len() * 2 >= LOOKS) else {
        return Vec::new();
    };
    let common = |depth: usize| others.iter().all(|s| s.get(depth) == first.get(depth));
    let near = |depth: usize| stacks.iter().filter(|s| s.len() <= depth + 1 + NEAR).count();
    let depths = (0..first.len()).take_while(|&depth| common(depth));
    depths.filter(|&depth| near(depth) * 4 >= stacks.len()).map(|depth| first[depth]).collect()
}

/// The hash of the name of a method's class, and its id if it has one.
fn known(agent: &Agent, env: *mut JNIEnv, method: jmethodID) -> Option<(u64, Option<MethodId>)> {
    let class = hash_class(&class_name(agent.jvmti, env, method)?);
    let (name, descriptor) = agent.jvmti.method_signature(method).ok()?;
    let key = hash_method(&name, &descriptor);
    let methods = agent.symbols.known(class);
    let id = methods.iter().flat_map(|m| m.iter()).find(|(k, _)| *k == key).map(|(_, id)| *id);
    Some((class, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(texts: &[&str]) -> Vec<Vec<char>> {
        texts.iter().map(|t| t.chars().collect()).collect()
    }

    #[test]
    fn a_loop_near_the_top_of_the_stack_is_found() {
        assert_eq!(looping(&stacks(&["rmx", "rm", "rmy", "rmxz", "rm", "rm"])), ['r', 'm']);
        // The loop of `m` calls what goes deep: its own form hardly matters.
        assert_eq!(looping(&stacks(&["rmabcd", "rmabce", "rmafgh", "rmijkl", "rmabcd", "rmabcd"])), []);
        // Now and then the top is near it.
        assert_eq!(looping(&stacks(&["rmabcd", "rmx", "rmafgh", "rmy", "rmabcd", "rmabcd"])), ['r', 'm']);
        assert_eq!(looping(&stacks(&["rmx", "rnx"])), [], "it ran too seldom to be a loop");
    }
}
