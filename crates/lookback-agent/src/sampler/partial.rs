//! Partial safepoints with incremental stack traces, where the VM is the extended one (`vm/`): threads that reach a poll first
//! sample themselves, and no thread stops for another.
//!
//! The constraint that shaped it: the VM keeps what it recorded until somebody takes it, and a stack trace has the frames that
//! it shares with others only once. So requests are one call each, and now and then all is taken at once.
//!
//! Source: "Fast Profiling in the HotSpot Java VM with Incremental Stack Tracing and Partial Safepoints" (Linz 2014),
//! sections 3.3 and 4.1; the functions are described in `vm/src/hotspot/share/lookback/stackTraces.h`.

use super::collect::Collector;
use super::engine::{self, cores};
use crate::agent::Agent;
use crate::clock;
use jni_sys::{jint, jlong, jmethodID, jobject};
use lookback_format::Nanos;
use lookback_format::sample::{Activity, Engine};
use lookback_jvmti::{Frame, Jvmti};
use std::ffi::CStr;
use std::slice;

const REQUEST: &CStr = c"dev.lookback.functions.RequestStackTraces";
const RETRIEVE: &CStr = c"dev.lookback.functions.RetrieveStackTraces";

/// Bits of how a request takes its samples.
const AT_SAFEPOINT: jint = 1;
const WHOLE: jint = 2;

/// How long a request waits for threads to reach a poll, at most.
const PATIENCE: jlong = 10_000_000;
/// How often what was recorded is taken.
const RETRIEVAL: Nanos = Nanos(50_000_000);

/// See `stackTraces.h`, as all of these.
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
    is_running: jint,
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

type Request = unsafe extern "C" fn(Jvmti, jlong, jint, *const jobject, jint, jint, jlong, *mut jint) -> jint;
type Retrieve = unsafe extern "C" fn(Jvmti, jint, *const jobject, *mut *mut VmTraces) -> jint;

/// The engine.
pub(super) struct Partial {
    jvmti: Jvmti,
    request: Request,
    retrieve: Retrieve,
    most: jint,
    how: jint,
    /// Whether threads that wait are kept.
    all: bool,
    tag: jlong,
    retrieved: Nanos,
    frames: Vec<Frame>,
}

impl Partial {
    /// Whether this VM has the functions.
    pub(super) fn is_offered(agent: &Agent) -> bool {
        agent.jvmti.extension(REQUEST).is_some()
    }

    pub(super) fn new(agent: &Agent, engine: Engine, all: bool) -> Result<Partial, String> {
        let find = |name| {
            let missing = "this VM has no partial safepoints (the extended one has, with -XX:+LookbackSampling); choose another engine";
            agent.jvmti.extension(name).ok_or(missing)
        };
        // SAFETY: the VM's functions of these names have these signatures, by its header.
        let (request, retrieve) = unsafe {
            (
                std::mem::transmute::<*const std::ffi::c_void, Request>(find(REQUEST)?),
                std::mem::transmute::<*const std::ffi::c_void, Retrieve>(find(RETRIEVE)?),
            )
        };
        Ok(Partial {
            jvmti: agent.jvmti,
            request,
            retrieve,
            // At a safepoint all are sampled.
            most: if engine == Engine::Incremental { 0 } else { cores() as jint },
            how: match engine {
                Engine::Partial => WHOLE,
                Engine::Incremental => AT_SAFEPOINT,
                _ => 0,
            },
            all,
            tag: 0,
            retrieved: Nanos(0),
            frames: Vec::new(),
        })
    }

    fn take(&mut self, collector: &mut Collector<'_>) {
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
            // At a safepoint none samples itself, and what the threads did before is not told.
            let activity = match trace.is_running {
                0 if self.how & AT_SAFEPOINT != 0 => Activity::Unknown,
                0 if !self.all => continue,
                0 => Activity::Waiting,
                _ => Activity::Running,
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
    }
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

impl engine::Engine for Partial {
    fn sample(&mut self, collector: &mut Collector<'_>) {
        self.tag += 1;
        let mut taken = 0;
        let (no_list, how) = (std::ptr::null(), self.how);
        // SAFETY: the VM's own function; `taken` is valid to write.
        let code = unsafe {
            (self.request)(self.jvmti, self.tag, 0, no_list, self.most, how, PATIENCE, &raw mut taken)
        };
        if code != 0 {
            collector.lose("requests that the VM refused", 1);
        }
        let now = clock::now();
        if now.since(self.retrieved) > RETRIEVAL {
            self.retrieved = now;
            self.take(collector);
        }
    }

    fn finish(&mut self, collector: &mut Collector<'_>) {
        self.take(collector);
    }
}
