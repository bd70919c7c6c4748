//! Partial safepoints with incremental stack traces, where the VM is the extended one (`vm/`): threads that reach a poll first
//! sample themselves, and no thread stops for another.
//!
//! The constraint that shaped it: to wait for threads, and to be woken, takes longer than all that threads do for a sample. So a request
//! is one call that returns when they are asked, the next request ends it, and now and then all that was recorded is taken
//! at once (see `retrieval`).
//!
//! Source: "Fast Profiling in the HotSpot Java VM with Incremental Stack Tracing and Partial Safepoints" (Linz 2014),
//! sections 3.3 and 4.1; the functions are described in `vm/src/hotspot/share/lookback/stackTraces.h`.

use super::collect::Collector;
use super::engine::{self, cores};
use super::latency::Latencies;
use super::retrieval::{self, Retrieval};
use crate::agent::Agent;
use crate::clock;
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

/// So long after a request threads may take its samples: until it ends.
const ANY_TIME: jlong = 0;

type Request = unsafe extern "C" fn(Jvmti, jlong, jint, *const jobject, jint, jint, jlong) -> jint;

/// The engine.
pub(super) struct Partial {
    jvmti: Jvmti,
    request: Request,
    retrieval: Retrieval,
    most: jint,
    how: jint,
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
        })
    }
}

impl engine::Engine for Partial {
    fn sample(&mut self, collector: &mut Collector<'_>) {
        // It ends the request that goes on, as the next does.
        self.retrieval.now_and_then(collector);
        let tag = clock::now().0 as jlong;
        // SAFETY: the VM's own function.
        let code =
            unsafe { (self.request)(self.jvmti, tag, 0, std::ptr::null(), self.most, self.how, ANY_TIME) };
        if code != 0 {
            collector.lose("requests that the VM refused", 1);
        }
    }

    fn latencies(&self) -> Option<&Latencies> {
        (self.how & AT_SAFEPOINT == 0).then(|| self.retrieval.latencies())
    }

    fn finish(&mut self, collector: &mut Collector<'_>) {
        self.retrieval.take(collector);
    }
}
