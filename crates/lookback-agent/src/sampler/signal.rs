//! Signals: a thread is interrupted wherever it is, and HotSpot's `AsyncGetCallTrace` walks its stack there.
//!
//! The constraint that shaped it: a handler may call next to nothing, HotSpot never promised that function, and it needs the
//! identifiers of all methods made beforehand, which costs with each class. So it is a variant for comparison and for those
//! who ask for it: it alone sees places between the VM's polls. The handler fills a box (see `mailboxes`); who is interrupted
//! when is the affair of `interrupts`.

use super::collect::Collector;
use super::engine::Engine;
use super::interrupts::Interrupts;
use super::mailboxes::Mailboxes;
use super::raw::Raw;
use crate::agent::Agent;
use crate::clock;
use crate::hooks::vm_symbol;
use crate::java::delete;
use crate::threads::gettid;
use jni_sys::{JNI_VERSION_1_8, JNIEnv, JavaVM, jclass, jint, jmethodID};
use lookback_format::Nanos;
use lookback_format::sample::Activity;
use lookback_jvmti::{Event, Frame};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// `ASGCT_CallTrace` (forte.cpp).
#[repr(C)]
struct CallTrace {
    env: *mut JNIEnv,
    /// How many frames, or why there are none.
    frames: jint,
    first: *mut CallFrame,
}

/// `ASGCT_CallFrame`: as long as a frame of JVMTI's, the other way round.
#[repr(C)]
#[derive(Clone, Copy)]
struct CallFrame {
    bci: jint,
    method: jmethodID,
}

const _: () = assert!(size_of::<CallFrame>() == size_of::<Frame>());

type AsyncGetCallTrace = unsafe extern "C" fn(*mut CallTrace, jint, *mut c_void);

/// Why HotSpot gives no stack, by its code negated (forte.cpp).
const REFUSALS: [&str; 12] = [
    "samples without Java frames",
    "samples refused: the VM was not told to load classes for this",
    "samples refused: a collection went on",
    "samples refused: not in Java, in an unknown place",
    "samples refused: not in Java, and the stack cannot be walked",
    "samples refused: in Java, in an unknown place",
    "samples refused: in Java, and the stack cannot be walked",
    "samples refused: the thread is in no known state",
    "samples refused: the thread ends",
    "samples refused: the thread is deoptimised",
    "samples refused: at a safepoint",
    "samples refused, for a reason of the VM's",
];

/// Whether methods must have identifiers.
static NEEDS_IDS: AtomicBool = AtomicBool::new(false);
static PLACE: AtomicPtr<Place> = AtomicPtr::new(std::ptr::null_mut());
/// The VM, for the handler.
static VM: AtomicPtr<JavaVM> = AtomicPtr::new(std::ptr::null_mut());
static WALK: AtomicUsize = AtomicUsize::new(0);

/// Boxes: what two cores send at 0.1 ms until they are emptied.
const BOXES: usize = 256;

struct Place {
    mailboxes: Mailboxes<Raw>,
    refused: [AtomicU64; REFUSALS.len()],
}

/// The engine.
pub(super) struct Signals {
    agent: &'static Agent,
    interrupts: Interrupts,
    place: &'static Place,
}

impl Signals {
    pub(super) fn new(agent: &'static Agent, env: *mut JNIEnv, interval: Nanos) -> Result<Signals, String> {
        let function = vm_symbol(c"AsyncGetCallTrace")
            .ok_or("this VM has no AsyncGetCallTrace; choose another engine")?;
        // ORDERING: Acquire; pairs with the Release below, of a session before this one.
        let mut place = PLACE.load(Ordering::Acquire);
        if place.is_null() {
            let refused = std::array::from_fn(|_| AtomicU64::new(0));
            place = Box::into_raw(Box::new(Place { mailboxes: Mailboxes::new(BOXES, Raw::empty), refused }));
            WALK.store(function as usize, Ordering::Relaxed);
            VM.store(agent.vm, Ordering::Relaxed);
            // ORDERING: Release; pairs with the Acquire in the handler: the two above come before.
            PLACE.store(place, Ordering::Release);
        }
        // Nobody is interrupted before the first sample is due.
        let interrupts = Interrupts::begin(agent, env, interval, walk)?;
        // Without its event the VM refuses each sample; the other tells of classes whose methods need identifiers.
        let enable =
            |event| agent.jvmti.enable(event, true).map_err(|e| format!("the VM refuses an event: {e}"));
        NEEDS_IDS.store(true, Ordering::Relaxed);
        enable(Event::ClassLoad)?;
        enable(Event::ClassPrepare)?;
        for class in agent.jvmti.loaded_classes().unwrap_or_default() {
            class_prepared(agent, class);
            delete(env, class);
        }
        // SAFETY: made above or by a session before, and never freed.
        Ok(Signals { agent, interrupts, place: unsafe { &*place } })
    }

    fn drain(&self, collector: &mut Collector<'_>) {
        self.place.mailboxes.drain(|raw| {
            if let Some(key) = self.interrupts.key(raw.thread) {
                collector.put(key, raw.at, Activity::Running, &raw.frames[..raw.len]);
            }
        });
        collector.lose("samples that found no box", self.place.mailboxes.lost());
        for (why, n) in REFUSALS.iter().zip(&self.place.refused) {
            // Relaxed: a counter.
            collector.lose(why, n.swap(0, Ordering::Relaxed));
        }
    }
}

impl Engine for Signals {
    fn sample(&mut self, collector: &mut Collector<'_>) {
        self.interrupts.tick(collector, clock::now());
        self.drain(collector);
    }

    fn finish(&mut self, collector: &mut Collector<'_>) {
        self.drain(collector);
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        NEEDS_IDS.store(false, Ordering::Relaxed);
        let _ = self.agent.jvmti.enable(Event::ClassLoad, false);
        // Where the VM has trace points of its own, they need it as well.
        if self.agent.vm_points.is_none() {
            let _ = self.agent.jvmti.enable(Event::ClassPrepare, false);
        }
    }
}

/// Makes identifiers for the methods of a class, so that a handler finds them.
pub(crate) fn class_prepared(agent: &Agent, class: jclass) {
    // Relaxed: set before the event is enabled, which others may want as well.
    if NEEDS_IDS.load(Ordering::Relaxed) {
        // A class that is not prepared yet is an error, and comes later.
        let _ = agent.jvmti.make_method_ids(class);
    }
}

/// Walks the stack of what was interrupted, in the handler.
fn walk(context: *mut c_void) {
    // ORDERING: Acquire; pairs with the Release in `Signals::new`. SAFETY: null, or made there and never freed.
    let Some(place) = (unsafe { PLACE.load(Ordering::Acquire).as_ref() }) else { return };
    let (vm, function) = (VM.load(Ordering::Relaxed), WALK.load(Ordering::Relaxed));
    let mut env = std::ptr::null_mut();
    // SAFETY: the VM's own pointer; this looks at the thread's own storage alone. A thread that is not Java's has none.
    let code = unsafe { (**vm).GetEnv.map(|f| f(vm, &raw mut env, JNI_VERSION_1_8)) };
    if code != Some(0) {
        return;
    }
    let Some(claimed) = place.mailboxes.claim() else { return };
    claimed.put(|raw| {
        let mut trace = CallTrace { env: env.cast(), frames: 0, first: raw.frames.as_mut_ptr().cast() };
        // SAFETY: HotSpot's function, made for signal handlers; the frames have room for so many.
        unsafe {
            let f = std::mem::transmute::<usize, AsyncGetCallTrace>(function);
            f(&raw mut trace, raw.frames.len() as jint, context);
        }
        if trace.frames <= 0 {
            let why = (trace.frames.unsigned_abs() as usize).min(REFUSALS.len() - 1);
            place.refused[why].fetch_add(1, Ordering::Relaxed);
            return false;
        }
        raw.len = trace.frames as usize;
        for frame in &mut raw.frames[..raw.len] {
            // SAFETY: as long as a frame of JVMTI's, written just now.
            let found = unsafe { std::ptr::from_mut(frame).cast::<CallFrame>().read() };
            *frame = Frame { method: found.method, location: found.bci.into() };
        }
        (raw.thread, raw.at) = (gettid(), clock::now());
        true
    });
}
