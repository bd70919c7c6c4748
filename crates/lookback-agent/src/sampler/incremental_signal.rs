//! Signals say when, the extended VM's polls where: a thread that is interrupted samples itself at its next poll, and its callers are
//! recorded as they go on.
//!
//! The constraint that shaped it: no frame can be recorded where a signal finds a thread. The tables of compiled code tell
//! frames at polls and calls alone, and a return that is trapped from the handler may be halfway through the comparison that
//! traps it. So the handler asks the VM for a sample, which is two words that it sets, and nothing can crash.
//!
//! Source: "Fast Profiling in the HotSpot Java VM with Incremental Stack Tracing and Partial Safepoints" (Linz 2014), section
//! 4.2, whose own variant, which records in the handler, is called experimental there.

use super::collect::Collector;
use super::engine::Engine;
use super::interrupts::Interrupts;
use super::retrieval::{self, Retrieval};
use crate::agent::Agent;
use crate::clock;
use jni_sys::{JNIEnv, jint};
use lookback_format::Nanos;
use lookback_jvmti::Jvmti;
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

const REQUEST_OWN: &CStr = c"dev.lookback.functions.RequestOwnStackTrace";

type RequestOwn = unsafe extern "C" fn(Jvmti) -> jint;

/// For the handler: the VM's function, and how often it was refused.
static REQUEST: OnceLock<Own> = OnceLock::new();
static REFUSED: AtomicU64 = AtomicU64::new(0);

struct Own {
    jvmti: Jvmti,
    request: RequestOwn,
}

// SAFETY: the VM's environment and a function of it, which any thread may use.
unsafe impl Send for Own {}
// SAFETY: as above.
unsafe impl Sync for Own {}

/// The engine.
pub(super) struct IncrementalSignals {
    interrupts: Interrupts,
    retrieval: Retrieval,
}

impl IncrementalSignals {
    pub(super) fn new(
        agent: &'static Agent,
        env: *mut JNIEnv,
        interval: Nanos,
    ) -> Result<IncrementalSignals, String> {
        let request = retrieval::function(agent.jvmti, REQUEST_OWN)?;
        // SAFETY: the VM's function of this name has this signature, by its header.
        let request = unsafe { std::mem::transmute::<*const c_void, RequestOwn>(request) };
        REQUEST.get_or_init(|| Own { jvmti: agent.jvmti, request });
        let retrieval = Retrieval::new(agent.jvmti)?;
        Ok(IncrementalSignals { interrupts: Interrupts::begin(agent, env, interval, ask)?, retrieval })
    }
}

/// Runs in the handler.
fn ask(_: *mut c_void) {
    // SAFETY: the VM's own function, made for signal handlers.
    if REQUEST.get().is_some_and(|own| unsafe { (own.request)(own.jvmti) } != 0) {
        // Relaxed: a counter.
        REFUSED.fetch_add(1, Ordering::Relaxed);
    }
}

impl Engine for IncrementalSignals {
    fn sample(&mut self, collector: &mut Collector<'_>) {
        self.interrupts.tick(collector, clock::now());
        self.retrieval.now_and_then(collector);
    }

    fn finish(&mut self, collector: &mut Collector<'_>) {
        self.retrieval.take(collector);
        collector.lose("signals to threads that are ending", REFUSED.swap(0, Ordering::Relaxed));
    }
}
