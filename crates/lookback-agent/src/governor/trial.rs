//! A trial: what the program does in moments while recording is switched off, and in as many while it is on.
//!
//! The constraint that shaped it: a trial takes records away, so there is none while a watched call is on its way to be slow,
//! and none soon after a change. Bytes allocated come from the JDK's own bean, which is documented, stops nobody, and is
//! not in every image: without it there are no trials.

use super::measured::Moment;
use crate::agent::Agent;
use crate::brake;
use crate::clock::ThreadClock;
use crate::java::{clear, delete, jni};
use crate::threads;
use jni_sys::{JNIEnv, jarray, jmethodID, jobject, jvalue};
use lookback_format::Nanos;
use std::ffi::CStr;
use std::time::Duration;

/// How long recording is off at a time, and how long it is watched while on: shorter than most of what a program does, so
/// that both see the same of it.
const MOMENT: Duration = Duration::from_micros(1_250);
/// How often it is switched off in a trial.
const TIMES: u32 = 8;
/// Until all threads have noticed.
const SETTLE: Duration = Duration::from_micros(100);
/// From one trial to the next: this and up to twice as much more; an eighth of it at first, so that something is known soon.
const PAUSE: u64 = 2_000_000_000;
const FIRST: u32 = 20;
/// Of more threads there is no trial: to read their clocks would take longer than a moment.
const MOST_THREADS: usize = 500;
/// After a change of what is traced, compilers need a while.
const QUIET: Nanos = Nanos(10_000_000_000);

/// Makes trials, when they are due.
pub(super) struct Trial {
    due: Nanos,
    /// Since the last change.
    made: u32,
    bean: Bean,
}

/// Where the bean is.
enum Bean {
    NotSought,
    /// This JDK has none.
    None,
    Found(Allocated),
}

impl Trial {
    pub(super) fn new(now: Nanos) -> Trial {
        Trial { due: now.plus(QUIET.0), made: 0, bean: Bean::NotSought }
    }

    /// What is traced has changed.
    pub(super) fn put_off(&mut self, now: Nanos) {
        (self.due, self.made) = (now.plus(QUIET.0), 0);
    }

    /// A trial, when one is due: what it does without recording, and with it.
    pub(super) fn make(&mut self, agent: &Agent, env: *mut JNIEnv, now: Nanos) -> Option<(Moment, Moment)> {
        if now < self.due || !brake::can_release(agent) {
            return None;
        }
        let threads = threads::os_tids(agent);
        if threads.len() > MOST_THREADS {
            return None;
        }
        if agent.detector.is_half_slow(&agent.region, &agent.slabs, now) {
            return None; // soon
        }
        // The clock's last digits are as good as dice.
        let dice = now.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let pause = if self.made < FIRST { PAUSE / 8 } else { PAUSE };
        self.due = now.plus(pause + (dice >> 32) % (2 * pause));
        self.made += 1;
        if matches!(self.bean, Bean::NotSought) {
            self.bean = Allocated::find(env).map_or(Bean::None, Bean::Found);
        }
        let Bean::Found(allocated) = &self.bean else { return None };
        let counted = allocated.by_whom(env);
        let off = || {
            agent.brake.pause(true);
            threads::poll_all(agent);
            let moment = allocated.moment(env, counted, &threads);
            agent.brake.pause(false);
            brake::release(agent, env);
            moment
        };
        let on = || allocated.moment(env, counted, &threads);
        let (mut all_off, mut all_on) = (Some(Moment::default()), Some(Moment::default()));
        for turn in 0..TIMES {
            let (off, on) = if dice >> (63 - turn) & 1 == 0 {
                let off = off();
                (off, on())
            } else {
                let on = on();
                (off(), on)
            };
            all_off = all_off.zip(off).map(|(all, one)| all.and(one));
            all_on = all_on.zip(on).map(|(all, one)| all.and(one));
        }
        delete(env, counted);
        all_off.zip(all_on)
    }
}

/// Processor time that each of these threads has taken, nanoseconds.
fn taken(threads: &[u32]) -> Vec<u64> {
    threads.iter().map(|&tid| ThreadClock::of(tid).read()).collect()
}

/// `com.sun.management.ThreadMXBean`.
struct Allocated {
    /// A global reference.
    bean: jobject,
    how: How,
}

/// How the bean tells bytes allocated.
enum How {
    /// By all threads, also by those that have ended (JDK 21).
    Total(jmethodID),
    /// By each thread of a list.
    Each { threads: jmethodID, bytes: jmethodID },
}

impl Allocated {
    fn find(env: *mut JNIEnv) -> Option<Allocated> {
        let class = |name: &CStr| {
            let class = jni!(env, FindClass, name.as_ptr());
            clear(env);
            (!class.is_null()).then_some(class)
        };
        let factory = class(c"java/lang/management/ManagementFactory")?;
        let kind = class(c"com/sun/management/ThreadMXBean")?;
        let sig = c"()Ljava/lang/management/ThreadMXBean;";
        let get = jni!(env, GetStaticMethodID, factory, c"getThreadMXBean".as_ptr(), sig.as_ptr());
        clear(env);
        if get.is_null() {
            return None;
        }
        let bean = jni!(env, CallStaticObjectMethodA, factory, get, std::ptr::null());
        clear(env);
        if bean.is_null() || jni!(env, IsInstanceOf, bean, kind) == 0 {
            return None;
        }
        let method = |name: &CStr, sig: &CStr| {
            let method = jni!(env, GetMethodID, kind, name.as_ptr(), sig.as_ptr());
            clear(env);
            (!method.is_null()).then_some(method)
        };
        let how = match method(c"getTotalThreadAllocatedBytes", c"()J") {
            Some(total) => How::Total(total),
            None => How::Each {
                threads: method(c"getAllThreadIds", c"()[J")?,
                bytes: method(c"getThreadAllocatedBytes", c"([J)[J")?,
            },
        };
        let bean = jni!(env, NewGlobalRef, bean);
        (!bean.is_null()).then_some(Allocated { bean, how })
    }

    /// The threads of which it tells bytes from now on: a local reference, or null.
    fn by_whom(&self, env: *mut JNIEnv) -> jobject {
        let How::Each { threads, .. } = self.how else { return std::ptr::null_mut() };
        let list = jni!(env, CallObjectMethodA, self.bean, threads, std::ptr::null());
        clear(env);
        list
    }

    /// Bytes that each of them has allocated until now; negative for one that has ended.
    fn bytes(&self, env: *mut JNIEnv, by: jobject) -> Vec<i64> {
        match self.how {
            How::Total(total) => {
                let bytes = jni!(env, CallLongMethodA, self.bean, total, std::ptr::null());
                clear(env);
                vec![bytes]
            }
            How::Each { .. } if by.is_null() => Vec::new(),
            How::Each { bytes, .. } => {
                let arguments = [jvalue { l: by }];
                let list: jarray = jni!(env, CallObjectMethodA, self.bean, bytes, arguments.as_ptr());
                clear(env);
                if list.is_null() {
                    return Vec::new();
                }
                let mut each = vec![0; jni!(env, GetArrayLength, list).max(0) as usize];
                jni!(env, GetLongArrayRegion, list, 0, each.len() as i32, each.as_mut_ptr());
                clear(env);
                delete(env, list);
                each
            }
        }
    }

    /// What the program does in a moment from now on.
    fn moment(&self, env: *mut JNIEnv, by: jobject, threads: &[u32]) -> Option<Moment> {
        std::thread::sleep(SETTLE);
        let (cpu, before) = (taken(threads), self.bytes(env, by));
        std::thread::sleep(MOMENT);
        let (after, now) = (self.bytes(env, by), taken(threads));
        let cpu = cpu.iter().zip(&now).map(|(then, now)| now.saturating_sub(*then)).sum();
        let both = before.iter().zip(&after).filter(|(before, after)| **before >= 0 && **after >= 0);
        let bytes = both.map(|(before, after)| after.saturating_sub(*before).max(0) as u64).sum();
        (before.len() == after.len()).then_some(Moment { bytes, cpu })
    }
}
