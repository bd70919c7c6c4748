//! What the extended VM has recorded of stacks, taken from it now and then.
//!
//! The constraint that shaped it: the VM keeps what it recorded until somebody takes it, completes it for that, and tells the frames
//! that stack traces share only once.
//!
//! Source: `vm/src/hotspot/share/lookback/stackTraces.h`.

use super::collect::Collector;
use super::latency::Latencies;
use crate::clock;
use jni_sys::{jint, jlong, jmethodID, jobject};
use lookback_format::Nanos;
use lookback_format::sample::Activity;
use lookback_jvmti::{Frame, Jvmti};
use rustc_hash::FxHashMap;
use std::ffi::{CStr, c_void};
use std::slice;

const RETRIEVE: &CStr = c"dev.lookback.functions.RetrieveStackTraces";

/// How often what was recorded is taken.
const PAUSE: Nanos = Nanos(50_000_000);

// See `stackTraces.h`, as all of these.
const WAITS: jint = 0;
const RUNS: jint = 1;

#[repr(C)]
struct VmFrame {
    method: jmethodID,
    bci: jint,
    caller: jint,
}

#[repr(C)]
struct VmTrace {
    tag: jlong,
    thread: jlong,
    time: jlong,
    top: jint,
    activity: jint,
}

#[repr(C)]
struct VmTraces {
    traces: jint,
    frames: jint,
    first_trace: *const VmTrace,
    first_frame: *const VmFrame,
    dropped: jlong,
    differing: jlong,
}

type Retrieve = unsafe extern "C" fn(Jvmti, jint, *const jobject, *mut *mut VmTraces) -> jint;

/// Takes what was recorded.
pub(super) struct Retrieval {
    jvmti: Jvmti,
    retrieve: Retrieve,
    last: Nanos,
    frames: Vec<Frame>,
    latencies: Latencies,
    /// When the last sample of a request was taken, by when that was made: some 500 requests at most, one retrieval's.
    ended: FxHashMap<jlong, jlong>,
}

impl Retrieval {
    /// An error where the VM has nothing of the kind.
    pub(super) fn new(jvmti: Jvmti) -> Result<Retrieval, String> {
        let retrieve = function(jvmti, RETRIEVE)?;
        // SAFETY: the VM's function of this name has this signature, by its header.
        let retrieve = unsafe { std::mem::transmute::<*const c_void, Retrieve>(retrieve) };
        let (latencies, ended) = Default::default();
        Ok(Retrieval { jvmti, retrieve, last: Nanos(0), frames: Vec::new(), latencies, ended })
    }

    /// How long it took from requests, whose tags are times, to their last samples.
    pub(super) fn latencies(&self) -> &Latencies {
        &self.latencies
    }

    /// Takes it if that was not done just now.
    pub(super) fn now_and_then(&mut self, collector: &mut Collector<'_>) {
        let now = clock::now();
        if now.since(self.last) > PAUSE {
            self.last = now;
            self.take(collector);
        }
    }

    /// Takes it.
    pub(super) fn take(&mut self, collector: &mut Collector<'_>) {
        let mut all: *mut VmTraces = std::ptr::null_mut();
        // SAFETY: the VM's own function; `all` is valid to write.
        if unsafe { (self.retrieve)(self.jvmti, 0, std::ptr::null(), &raw mut all) } != 0 || all.is_null() {
            return collector.lose("retrievals that the VM refused", 1);
        }
        // SAFETY: the VM gives one block with so many of each, until it is freed below.
        let (traces, frames, dropped) = unsafe {
            let of = &*all;
            (part(of.first_trace, of.traces), part(of.first_frame, of.frames), of.dropped)
        };
        collector.lose("stack traces for which the VM had no memory", dropped.max(0) as u64);
        let now = clock::now();
        for trace in traces {
            if trace.tag != 0 {
                let ended = self.ended.entry(trace.tag).or_default();
                *ended = trace.time.max(*ended);
            }
            let activity = match trace.activity {
                RUNS => Activity::Running,
                WAITS => Activity::Waiting,
                _ => Activity::Unknown,
            };
            let Some(sampled) = collector.thread_of(trace.thread as u64, now) else { continue };
            self.frames.clear();
            let mut at = trace.top;
            // Callers stand where they stand, so a circle in what the VM gives must not be followed for ever.
            while let Some(frame) = usize::try_from(at).ok().and_then(|at| frames.get(at)) {
                self.frames.push(Frame { method: frame.method, location: frame.bci.into() });
                if self.frames.len() > frames.len() {
                    break;
                }
                at = frame.caller;
            }
            collector.put(sampled.key, Nanos(trace.time as u64), activity, &self.frames);
        }
        self.jvmti.deallocate(all.cast());
        for (begun, ended) in self.ended.drain() {
            self.latencies.add(Nanos(ended as u64).since(Nanos(begun as u64)));
        }
    }
}

/// A function of the extended VM's for sampling.
pub(super) fn function(jvmti: Jvmti, name: &CStr) -> Result<*const c_void, String> {
    let missing = "this VM has no partial safepoints (the extended one has, with -XX:+LookbackSampling); choose another engine";
    jvmti.extension(name).ok_or_else(|| missing.to_owned())
}

/// So many elements of an array of the VM's.
///
/// # Safety
/// They are there for as long as the result is used.
unsafe fn part<'a, T>(first: *const T, n: jint) -> &'a [T] {
    if first.is_null() || n <= 0 {
        return &[];
    }
    // SAFETY: by the caller's word.
    unsafe { slice::from_raw_parts(first, n as usize) }
}
