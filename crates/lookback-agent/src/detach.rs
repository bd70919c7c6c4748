//! Leaves a running program: as if the agent had never been loaded, but for what can be loaded only once.
//!
//! The constraint that shaped it: compiled code may be in the middle of a trace point at any time, with a cursor in a
//! register. So classes are given back first, then every cursor is 0 and no thread is seen within a trace point, and only
//! then is the memory given back; and no address ever goes away, so that a thread that was overlooked (the stack of a
//! virtual thread cannot be seen from outside) meets memory that stops it. A HotSpot never unloads an agent's library, and
//! never a class of `java.base`: these two stay, and the events of a thread's start, because the field that holds the
//! cursor begins as the thread's stack size, and of its end, because a later attachment must not miss one of them.
//!
//! What stays for another attachment to take up: the addresses, the names of the program's own spans, and those of classes
//! that cannot be given back yet, because a loop in them runs.

use crate::agent::Agent;
use crate::java::{Cursor, delete, jni};
use crate::rewriting::TRACE_POINT_CLASS;
use crate::startup;
use crate::threads;
use crate::vm_points;
use jni_sys::{JNIEnv, jobject};
use lookback_format::control::Rewriting;
use lookback_options::format_bytes;
use std::time::{Duration, Instant};

/// How long threads are looked at, at most: one that a debugger holds within a trace point never leaves it.
const LONGEST: Duration = Duration::from_secs(5);
/// How long between two looks: longer than the scheduler lets a thread that can run wait, where that is usual.
const BETWEEN: Duration = Duration::from_millis(5);
/// So many looks in a row must find all threads outside.
const LOOKS: u32 = 3;
/// A trace point is at most so deep below the top of a stack: what it calls itself is native, or `Unsafe`'s.
const NEAR: usize = 4;

/// Leaves the program, whose classes were given back as `done` says; gives what to tell who asked for it.
pub(crate) fn leave(agent: &Agent, env: *mut JNIEnv, done: &Rewriting) -> String {
    agent.tracing.end();
    agent.brake.stop();
    drop(agent.sampler.end());
    agent.detach();
    if let Ok(class) = startup::find_trace_points(env) {
        let _ = startup::link_trace_points(env, class);
        delete(env, class);
    }
    let outside = all_outside(agent, env);
    let high = agent.slabs.high();
    // Who is still in an event of the VM may hold them.
    let is_left_alone = outside || Agent::is_left_alone();
    (0..high).map(|i| agent.brake.end(i)).filter(|_| is_left_alone).for_each(|home| {
        jni!(env, DeleteGlobalRef, home);
    });
    let held = |class| agent.held.lock().unwrap_or_else(|e| e.into_inner()).contains_key(&class);
    let region = &agent.region;
    agent.symbols.forget(region, held, || region.give_back(high));
    startup::forget_link();
    agent.forget(env, is_left_alone);
    let mut message = format!(
        "the agent has left process {}: {}; {} of memory, its socket and its threads are gone",
        std::process::id(),
        given_back(agent, done),
        format_bytes(agent.options.ring)
    );
    if !outside {
        message.push_str(
            "; a thread stands still within a trace point, and meets an empty record when it goes on",
        );
    }
    message
}

/// In words, what was given back, and what could not be yet.
pub(crate) fn given_back(agent: &Agent, done: &Rewriting) -> String {
    let held = agent.held.lock().unwrap_or_else(|e| e.into_inner());
    let given = match done.classes {
        0 => String::new(),
        n => format!("{} given back in {:.1} s", classes(n), done.seconds),
    };
    if held.is_empty() {
        return if given.is_empty() {
            "all classes are as they were".into()
        } else {
            format!("{given}, all are as they were")
        };
    }
    let mut names: Vec<&str> = held.values().map(String::as_str).collect();
    names.sort_unstable();
    let more = if names.len() > SHOWN { ", ..." } else { "" };
    let comma = if given.is_empty() { "" } else { ", " };
    format!(
        "{given}{comma}{} in which a loop runs will be when the loop ends ({}{more})",
        classes(names.len() as u64),
        names[..names.len().min(SHOWN)].join(", ")
    )
}

/// So many names are told.
const SHOWN: usize = 5;

/// A number of classes, in words.
pub(crate) fn classes(n: u64) -> String {
    if n == 1 { "1 class".into() } else { format!("{n} classes") }
}

/// A thread begins in a program that was left: what its stack is to be is no cursor.
pub(crate) fn forget_cursor(agent: &Agent, env: *mut JNIEnv, thread: jobject) {
    let Some(java) = agent.java() else { return };
    let home = java.home(env, thread);
    if !home.is_null() {
        java.set_cursor(env, home, Cursor::OFF);
        delete(env, home);
    }
}

/// Takes every thread its cursor, until none is seen to have one or to be within a trace point; false when one still is.
fn all_outside(agent: &Agent, env: *mut JNIEnv) -> bool {
    let begun = Instant::now();
    let mut clean = 0;
    while clean < LOOKS {
        if begun.elapsed() > LONGEST {
            return false;
        }
        if clean > 0 || begun.elapsed() > Duration::ZERO {
            std::thread::sleep(BETWEEN);
        }
        let threads = agent.jvmti.all_threads().unwrap_or_default();
        let outside = threads.iter().filter(|&&t| is_outside(agent, env, t)).count();
        clean = if outside == threads.len() && Agent::is_left_alone() { clean + 1 } else { 0 };
        threads.into_iter().for_each(|t| delete(env, t));
    }
    true
}

/// Whether a thread had no cursor and is not within a trace point; it has none now. The stack is looked at between: a trace
/// point that had begun with a cursor is seen there, or has stored it by then.
fn is_outside(agent: &Agent, env: *mut JNIEnv, thread: jobject) -> bool {
    let within = is_within(agent, env, thread);
    let Some(java) = agent.java() else { return true };
    let home = java.home(env, thread);
    if home.is_null() {
        return true;
    }
    let had = threads::take_cursor(java, env, home);
    delete(env, home);
    !had && !within
}

fn is_within(agent: &Agent, env: *mut JNIEnv, thread: jobject) -> bool {
    let jvmti = agent.jvmti;
    let frames = jvmti.stack_trace(thread, NEAR).unwrap_or_default();
    frames.iter().any(|frame| {
        let Ok(class) = jvmti.declaring_class(frame.method) else { return false };
        let name = jvmti.class_name(class).unwrap_or_default().replace('.', "/");
        delete(env, class);
        [TRACE_POINT_CLASS, vm_points::CLASS, SPANS_CLASS].contains(&name.as_str())
    })
}

/// The class that the API calls.
const SPANS_CLASS: &str = "java/lang/LookbackSpans";
