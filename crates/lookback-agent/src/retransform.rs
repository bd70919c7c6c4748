//! Has the VM hand over classes again that are loaded already, so that they are rewritten anew.
//!
//! The constraint that shaped it: for each batch, large or small, the VM stops all threads and looks through all
//! classes and all compiled code: a hundred classes took 24 ms (a web shop of 2,900 classes). So there are few batches,
//! and none is so large that its stop is felt.

use crate::agent::Agent;
use crate::held;
use crate::java::{clear, delete};
use crate::rewriting;
use crate::symbols::hash_class;
use crate::waits;
use jni_sys::{JNIEnv, jclass};
use rustc_hash::FxHashSet;
use std::sync::atomic::Ordering;

/// Classes of a batch.
const BATCH: usize = 100;

/// The classes loaded already that are traced while tracing is on: those with wait points and, when the program has run
/// before, its own, but those that must be left as they are for now.
pub(crate) fn choose(agent: &Agent, env: *mut JNIEnv, late: bool) -> Vec<jclass> {
    let held = if late { held::classes(agent, env, |_| false) } else { FxHashSet::default() };
    loaded(agent, env, |class| {
        let name = agent.jvmti.class_name(class).unwrap_or_default();
        if held.contains(&hash_class(&name)) {
            agent.held.lock().unwrap_or_else(|e| e.into_inner()).insert(hash_class(&name));
            return false;
        }
        let name = name.replace('.', "/");
        (agent.options.waits && waits::has_waits(&name))
            || (late && rewriting::is_of_application(agent, env, &name, || agent.jvmti.class_loader(class)))
    })
}

/// Rewrites these classes, and counts them down in `classes_to_come`. Gives the references back.
pub(crate) fn all(agent: &Agent, env: *mut JNIEnv, classes: Vec<jclass>) {
    for batch in classes.chunks(BATCH) {
        halves(agent, env, batch);
        let n = batch.len() as u64;
        // Relaxed: a number to show; classes that nobody announced are not in it.
        let _ = agent
            .classes_to_come
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(n)));
    }
    classes.into_iter().for_each(|c| delete(env, c));
}

/// Rewrites the classes whose names have these hashes, whatever loaded them.
pub(crate) fn named(agent: &Agent, env: *mut JNIEnv, names: &FxHashSet<u64>) {
    if !names.is_empty() {
        let is_wanted = |class| agent.jvmti.class_name(class).is_ok_and(|n| names.contains(&hash_class(&n)));
        all(agent, env, loaded(agent, env, is_wanted));
    }
}

/// Tries again what could not be rewritten because a loop in it ran.
pub(crate) fn held_back(agent: &Agent, env: *mut JNIEnv) {
    let mut wanted = std::mem::take(&mut *agent.held.lock().unwrap_or_else(|e| e.into_inner()));
    if !wanted.is_empty() {
        let held = held::classes(agent, env, |_| false);
        let still: FxHashSet<u64> = wanted.intersection(&held).copied().collect();
        wanted.retain(|class| !still.contains(class));
        agent.held.lock().unwrap_or_else(|e| e.into_inner()).extend(still);
        named(agent, env, &wanted);
    }
}

/// The classes that are loaded, may be rewritten, and are wanted.
fn loaded(agent: &Agent, env: *mut JNIEnv, is_wanted: impl Fn(jclass) -> bool) -> Vec<jclass> {
    // One class that may not be rewritten makes the VM refuse a whole batch.
    let is_chosen = |&class: &jclass| agent.jvmti.is_modifiable(class) && is_wanted(class);
    let all = agent.jvmti.loaded_classes().unwrap_or_default();
    let (chosen, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_chosen);
    others.into_iter().for_each(|c| delete(env, c));
    chosen
}

/// Rewrites all of these that the VM takes. One that it refuses, because it does not verify or has failed to
/// initialise, makes it refuse all: halves find it with few stops.
fn halves(agent: &Agent, env: *mut JNIEnv, classes: &[jclass]) {
    let refused = agent.jvmti.retransform(classes).is_err();
    clear(env);
    if refused && classes.len() > 1 {
        let (first, second) = classes.split_at(classes.len() / 2);
        halves(agent, env, first);
        halves(agent, env, second);
    }
}
