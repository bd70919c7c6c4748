//! Partial safepoints with incremental stack traces, where the VM is the extended one (`vm/`): threads that reach a poll first
//! sample themselves, and no thread stops for another.
//!
//! The constraint that shaped it: the VM keeps what it recorded until somebody takes it (see `retrieval`). So requests are one call
//! each, and now and then all is taken at once.
//!
//! Source: "Fast Profiling in the HotSpot Java VM with Incremental Stack Tracing and Partial Safepoints" (Linz 2014),
//! sections 3.3 and 4.1; the functions are described in `vm/src/hotspot/share/lookback/stackTraces.h`.

use super::collect::Collector;
use super::engine::{self, cores};
use super::retrieval::{self, Retrieval};
use crate::agent::Agent;
use jni_sys::{jint, jlong, jobject};
use lookback_format::sample::Engine;
use lookback_jvmti::Jvmti;
use std::ffi::{CStr, c_void};

const REQUEST: &CStr = c"dev.lookback.functions.RequestStackTraces";

// Bits of how a request takes its samples.
const AT_SAFEPOINT: jint = 1;
const WHOLE: jint = 2;
/// Threads that wait take no sample's place.
const RUNNING: jint = 4;

/// How long a request waits for threads to reach a poll, at most.
const PATIENCE: jlong = 10_000_000;

type Request = unsafe extern "C" fn(Jvmti, jlong, jint, *const jobject, jint, jint, jlong, *mut jint) -> jint;

/// The engine.
pub(super) struct Partial {
    jvmti: Jvmti,
    request: Request,
    retrieval: Retrieval,
    most: jint,
    how: jint,
    tag: jlong,
}

impl Partial {
    /// Whether this VM has the functions.
    pub(super) fn is_offered(agent: &Agent) -> bool {
        agent.jvmti.extension(REQUEST).is_some()
    }

    pub(super) fn new(agent: &Agent, engine: Engine, all: bool) -> Result<Partial, String> {
        let request = retrieval::function(agent.jvmti, REQUEST)?;
        let which = if all { 0 } else { RUNNING };
        Ok(Partial {
            jvmti: agent.jvmti,
            // SAFETY: the VM's function of this name has this signature, by its header.
            request: unsafe { std::mem::transmute::<*const c_void, Request>(request) },
            retrieval: Retrieval::new(agent.jvmti)?,
            // At a safepoint all are sampled.
            most: if engine == Engine::Incremental { 0 } else { cores() as jint },
            how: match engine {
                Engine::Partial => WHOLE | which,
                Engine::Incremental => AT_SAFEPOINT,
                _ => which,
            },
            tag: 0,
        })
    }
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
        self.retrieval.now_and_then(collector);
    }

    fn finish(&mut self, collector: &mut Collector<'_>) {
        self.retrieval.take(collector);
    }
}
