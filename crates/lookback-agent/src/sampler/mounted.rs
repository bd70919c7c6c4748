//! The virtual thread that a carrier runs (JDK 21 and later).
//!
//! The constraint that shaped it: JVMTI shows of a carrier its own frames alone, and what it tells of virtual threads it tells to an
//! environment with a capability for which the program's threads report when they are mounted. So there is an environment of its
//! own for it, as long as a session lasts, and nobody pays at other times. Which thread is mounted is told by an extension
//! function of HotSpot's.

use crate::agent::Agent;
use crate::java::{delete, jni};
use jni_sys::{JNIEnv, jint, jobject};
use lookback_jvmti::{Capabilities, Capability, Frame, Jvmti};
use std::ffi::c_void;

/// Of a carrier: the virtual thread on it, or null.
type GetVirtualThread = unsafe extern "C" fn(Jvmti, ...) -> jint;

/// Tells of mounted virtual threads.
pub(super) struct Mounted {
    jvmti: Jvmti,
    env: *mut JNIEnv,
    get: GetVirtualThread,
}

impl Mounted {
    /// None on a VM that has no virtual threads, or tells nothing of them.
    pub(super) fn find(agent: &Agent, env: *mut JNIEnv) -> Option<Mounted> {
        let function = agent.jvmti.extension(c"com.sun.hotspot.functions.GetVirtualThread")?;
        // SAFETY: the VM's function of this name has this signature: the carrier, and where the virtual thread goes to.
        let get = unsafe { std::mem::transmute::<*const c_void, GetVirtualThread>(function) };
        // SAFETY: the agent's own VM.
        let jvmti = unsafe { Jvmti::of(agent.vm) }?;
        // From here on it is given back when it is dropped.
        let mounted = Mounted { jvmti, env, get };
        let wanted = Capabilities::default().with(Capability::SupportVirtualThreads);
        jvmti.add_capabilities(wanted).is_ok().then_some(mounted)
    }

    /// The virtual thread on a carrier, a local reference; none where it runs none.
    pub(super) fn on(&self, carrier: jobject) -> Option<jobject> {
        let mut thread: jobject = std::ptr::null_mut();
        // SAFETY: see `find`; `thread` is valid to write.
        let code = unsafe { (self.get)(self.jvmti, carrier, &raw mut thread) };
        (code == 0 && !thread.is_null()).then_some(thread)
    }

    /// The frames of a virtual thread, innermost first, if it is still on its carrier when they have been read.
    pub(super) fn frames(
        &self,
        carrier: jobject,
        thread: jobject,
        most: usize,
        frames: &mut Vec<Frame>,
    ) -> bool {
        if self.jvmti.stack_trace_into(thread, most, frames).is_err() {
            return false;
        }
        let Some(now) = self.on(carrier) else { return false };
        let is_same = jni!(self.env, IsSameObject, now, thread) != 0;
        delete(self.env, now);
        is_same
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.jvmti.dispose();
    }
}
