//! Has the VM hand over classes again that are loaded already, so that they are rewritten anew.
//!
//! The constraint that shaped it: for each batch, large or small, the VM stops all threads and looks through all
//! classes and all compiled code: of Hibernate's workload, with 10,000 classes loaded, 20 and 100 classes took 38 ms each, 500 took
//! 53 ms. So there are few batches, and none is much dearer than an empty one. Somebody may be waiting, so it can be asked how far
//! it is.

use crate::agent::Agent;
use crate::held;
use crate::java::{clear, delete};
use crate::rewriting;
use crate::symbols::hash_class;
use crate::waits;
use jni_sys::{JNIEnv, jclass};
use lookback_format::control::Rewriting;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Classes of a batch.
pub(crate) const BATCH: usize = 500;

/// How far a pass over all classes is. One at a time: who begins another waits.
#[derive(Default)]
pub(crate) struct Passes {
    one: Mutex<()>,
    to_come: AtomicU64,
    last: Mutex<Rewriting>,
}

impl Passes {
    /// So many classes are to be handed over again.
    pub(crate) fn announce(&self, classes: usize) {
        // Relaxed: a number to show.
        self.to_come.store(classes as u64, Ordering::Relaxed);
    }

    /// Classes that are not handed over again yet.
    pub(crate) fn to_come(&self) -> u64 {
        // Relaxed: a number to show.
        self.to_come.load(Ordering::Relaxed)
    }

    /// The pass that goes on or was the last.
    pub(crate) fn last(&self) -> Rewriting {
        self.last.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}

/// Hands over these classes, which were announced, and says what it took. Gives the references back.
pub(crate) fn pass(agent: &Agent, env: *mut JNIEnv, classes: Vec<jclass>) -> Rewriting {
    let passes = &agent.passes;
    let _one = passes.one.lock().unwrap_or_else(|e| e.into_inner());
    let mut done = Rewriting { of: classes.len() as u64, ..Rewriting::default() };
    passes.announce(classes.len());
    let begun = Instant::now();
    for batch in classes.chunks(BATCH) {
        let batch_begun = Instant::now();
        rewrite(agent, env, batch);
        done.classes += batch.len() as u64;
        done.longest_seconds = done.longest_seconds.max(batch_begun.elapsed().as_secs_f64());
        done.seconds = begun.elapsed().as_secs_f64();
        *passes.last.lock().unwrap_or_else(|e| e.into_inner()) = done.clone();
        passes.announce((done.of - done.classes) as usize);
    }
    *passes.last.lock().unwrap_or_else(|e| e.into_inner()) = done.clone();
    classes.into_iter().for_each(|c| delete(env, c));
    done
}

/// The classes loaded already that are traced while tracing is on: those with wait points, and the program's own (of which
/// there are some before it has run: those that the VM took from an AOT cache, JEP 483), but those that must be left as
/// they are for now, which is so only `late`, when the program has run. A class that was left as it is before, while
/// tracing was the other way, is what it is to be.
pub(crate) fn choose(agent: &Agent, env: *mut JNIEnv, late: bool) -> Vec<jclass> {
    let looping = if late { held::classes(agent, env, |_| false) } else { FxHashSet::default() };
    let before = std::mem::take(&mut *agent.held.lock().unwrap_or_else(|e| e.into_inner()));
    let mut held = FxHashMap::default();
    let classes = loaded(agent, env, |class| {
        let name = agent.jvmti.class_name(class).unwrap_or_default();
        let key = hash_class(&name);
        // To give back what was never rewritten takes time, and some VMs keep every version of a class.
        let worth = agent.is_tracing() || agent.symbols.known(key).is_some();
        let wanted = worth
            && (has_waits(agent, &name) || is_own(agent, env, class, &name) && !waits(agent, key, &name));
        if !wanted || !looping.contains(&key) {
            return wanted;
        }
        if !before.contains_key(&key) {
            held.insert(key, name);
        }
        false
    });
    *agent.held.lock().unwrap_or_else(|e| e.into_inner()) = held;
    classes
}

/// Gives back classes that were rewritten while tracing was turned off: the VM had them from the agent before, and finished
/// loading them after `seen` were looked up, the hashes of whose names they are.
pub(crate) fn give_back_late(agent: &Agent, env: *mut JNIEnv, seen: &FxHashSet<u64>) -> u64 {
    let late = loaded(agent, env, |class| {
        let name = agent.jvmti.class_name(class).unwrap_or_default();
        let key = hash_class(&name);
        // A class whose monitors have names is known as well.
        let is_late = !seen.contains(&key) && agent.symbols.known(key).is_some() && !is_held(agent, key);
        is_late && (has_waits(agent, &name) || is_own(agent, env, class, &name))
    });
    let n = late.len() as u64;
    all(agent, env, late);
    n
}

/// Whether the class of this name has wait points that are traced.
fn has_waits(agent: &Agent, name: &str) -> bool {
    agent.options.waits && waits::has_waits(&name.replace('.', "/"))
}

/// Whether it is the program's.
fn is_own(agent: &Agent, env: *mut JNIEnv, class: jclass, name: &str) -> bool {
    rewriting::is_of_application(agent, env, &name.replace('.', "/"), || agent.jvmti.class_loader(class))
}

/// Whether a class of the program's waits for its trace points, and none of its methods can be watched.
fn waits(agent: &Agent, key: u64, name: &str) -> bool {
    let waiting = &agent.governor.waiting;
    let waits =
        agent.is_tracing() && agent.own.names_all_watched() && waiting.holds(key, || agent.own.has(name));
    if waits {
        waiting.add(key);
    }
    waits
}

fn is_held(agent: &Agent, class: u64) -> bool {
    agent.held.lock().unwrap_or_else(|e| e.into_inner()).contains_key(&class)
}

/// Hands over these classes. Gives the references back.
fn all(agent: &Agent, env: *mut JNIEnv, classes: Vec<jclass>) {
    classes.chunks(BATCH).for_each(|batch| rewrite(agent, env, batch));
    classes.into_iter().for_each(|c| delete(env, c));
}

/// The hashes of the names of these classes.
pub(crate) fn names(agent: &Agent, classes: &[jclass]) -> FxHashSet<u64> {
    let name = |&class: &jclass| agent.jvmti.class_name(class).ok();
    classes.iter().filter_map(name).map(|name| hash_class(&name)).collect()
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
    if !agent.held.lock().unwrap_or_else(|e| e.into_inner()).is_empty() {
        let looping = held::classes(agent, env, |_| false);
        let mut free = FxHashSet::default();
        agent.held.lock().unwrap_or_else(|e| e.into_inner()).retain(|&class, _| {
            let stays = looping.contains(&class);
            if !stays {
                free.insert(class);
            }
            stays
        });
        named(agent, env, &free);
    }
}

/// The classes that are loaded, may be rewritten, and are wanted.
fn loaded(agent: &Agent, env: *mut JNIEnv, mut is_wanted: impl FnMut(jclass) -> bool) -> Vec<jclass> {
    // One class that may not be rewritten makes the VM refuse a whole batch.
    let mut is_chosen = |&class: &jclass| agent.jvmti.is_modifiable(class) && is_wanted(class);
    let all = agent.jvmti.loaded_classes().unwrap_or_default();
    let (chosen, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|class| is_chosen(class));
    others.into_iter().for_each(|c| delete(env, c));
    chosen
}

/// Rewrites these classes; where the VM has trace points of its own, they are as their methods are traced now.
fn rewrite(agent: &Agent, env: *mut JNIEnv, classes: &[jclass]) {
    halves(agent, env, classes);
    if let Some(points) = &agent.vm_points {
        classes.iter().for_each(|&class| points.set_ids(agent, class));
    }
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
