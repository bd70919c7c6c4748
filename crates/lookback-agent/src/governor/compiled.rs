//! Which methods the VM's compilers have found to be warm, or hot: all that can be known of a method that has no trace points.
//!
//! The constraint that shaped it: to have the VM tell of each method when it is compiled makes its compilers write more for all of
//! them. So it is asked for all at once, now and then, on the control thread, and the event is off in between: 70 to 100 ms for 10,000
//! compiled methods. It does not say which compiler a method's code is of. But HotSpot keeps its own code between that of the first
//! compiler, which still counts calls, and the code that no longer does. Where all stand in one heap, whatever was compiled is
//! final by this. What is inlined is told by the places in code where a thread may stop or fail, so a method without such a place
//! is inlined in silence.

use super::learned::{Kind, Row};
use crate::agent::Agent;
use crate::java::class_name;
use crate::symbols::hash_class;
use jni_sys::{JNIEnv, jmethodID};
use lookback_jvmti::{Event, inlined};
use rustc_hash::FxHashSet;
use std::ffi::c_void;
use std::sync::Mutex;

/// Bytes of bytecode of a method that is likely to be inlined in silence where it is hot. So is any constructor.
const SILENT: i64 = 12;

/// What the VM tells while it is asked.
#[derive(Default)]
pub(crate) struct Compiled {
    told: Mutex<Option<Told>>,
}

struct Told {
    /// Where the lowest of the VM's own code stands.
    own_code: usize,
    /// Methods with code that will not be compiled again, or that are inlined into such; and all others with code.
    final_code: FxHashSet<jmethodID>,
    first_code: FxHashSet<jmethodID>,
}

/// Compiled methods of classes that were asked for.
#[derive(Default)]
pub(super) struct Found {
    /// Those whose code will not be compiled again, or is part of such, or may be in silence.
    pub(super) hot: Vec<Row>,
    /// All others: they have been called some hundred times.
    pub(super) warm: Vec<Row>,
    /// How many methods of all classes are hot.
    pub(super) all_hot: usize,
}

impl Compiled {
    /// The VM has code of its own here.
    pub(crate) fn add_own_code(&self, address: usize) {
        if let Some(told) = &mut *self.told.lock().unwrap_or_else(|e| e.into_inner()) {
            told.own_code = told.own_code.min(address);
        }
    }

    /// The VM has compiled code of a method here.
    ///
    /// # Safety
    /// `info` is what the VM's event has for [`inlined`].
    pub(crate) unsafe fn add(&self, method: jmethodID, address: usize, info: *const c_void) {
        if let Some(told) = &mut *self.told.lock().unwrap_or_else(|e| e.into_inner()) {
            let code = if address > told.own_code { &mut told.final_code } else { &mut told.first_code };
            code.insert(method);
            // SAFETY: by the caller's word.
            unsafe { inlined(info, |methods| code.extend(methods)) };
        }
    }

    /// Asks the VM for the compiled methods of classes that are wanted, by the hashes of their names.
    pub(super) fn ask(
        &self,
        agent: &Agent,
        env: *mut JNIEnv,
        is_wanted: impl Fn(u64) -> bool,
    ) -> Option<Found> {
        let set = |told| std::mem::replace(&mut *self.told.lock().unwrap_or_else(|e| e.into_inner()), told);
        let (final_code, first_code) = Default::default();
        set(Some(Told { own_code: usize::MAX, final_code, first_code }));
        let each = |event| {
            let told = agent.jvmti.enable(event, true).and_then(|()| agent.jvmti.generate_events(event));
            let _ = agent.jvmti.enable(event, false);
            told
        };
        let told = each(Event::DynamicCodeGenerated).and_then(|()| each(Event::CompiledMethodLoad));
        let Told { final_code, first_code, .. } = set(None).filter(|_| told.is_ok())?;
        // A method whose class is gone meanwhile has no name.
        let row = |&method: &jmethodID| {
            let class = class_name(agent.jvmti, env, method).filter(|name| is_wanted(hash_class(name)))?;
            let (name, descriptor) = agent.jvmti.method_signature(method).ok()?;
            let is_silent =
                || name == "<init>" || agent.jvmti.code_size(method).is_ok_and(|size| size <= SILENT);
            let is_hot = final_code.contains(&method) || is_silent();
            let kind = if is_hot { Kind::Compiled } else { Kind::Warm };
            Some(Row { kind, per_second: 0.0, class, method: name, descriptor })
        };
        let rows = final_code.union(&first_code).filter_map(row);
        let (warm, hot) = rows.partition(|row| row.kind == Kind::Warm);
        Some(Found { warm, hot, all_hot: final_code.len() })
    }
}
