//! Signals: a thread is interrupted wherever it is, and HotSpot's `AsyncGetCallTrace` walks its stack there.
//!
//! The constraint that shaped it: a handler may call next to nothing, HotSpot never promised that function, and it needs the
//! identifiers of all methods made beforehand, which costs with each class. So it is a variant for comparison and for those
//! who ask for it: it alone sees places between the VM's polls. The handler fills a box (see `mailboxes`), and stays installed
//! once it was, since a signal that comes late would end the program otherwise.
//!
//! Each thread has a timer of its own processor time. The kernel looks at such timers only when its own clock ticks, so
//! for shorter intervals the sampler itself sends the signal to the threads that run.

use super::Pace;
use super::collect::Collector;
use super::engine::Engine;
use super::mailboxes::Mailboxes;
use super::os_threads::{OsThreads, is_running};
use super::raw::Raw;
use super::thread_table::Live;
use crate::agent::Agent;
use crate::clock::{self, ThreadClock};
use crate::hooks::vm_symbol;
use crate::java::delete;
use crate::threads::gettid;
use jni_sys::{JNI_VERSION_1_8, JNIEnv, JavaVM, jclass, jint, jmethodID};
use lookback_format::sample::Activity;
use lookback_format::{Nanos, ThreadKey};
use lookback_jvmti::{Event, Frame};
use rustc_hash::FxHashMap;
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

/// Whether the handler is to do anything.
static IS_ON: AtomicBool = AtomicBool::new(false);
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
    numbers: OsThreads,
    interval: Nanos,
    place: &'static Place,
    pace: Pace,
    /// By the system's number: the key, and its timer, or its processor time at the last look.
    threads: FxHashMap<u32, Target>,
    /// Whether threads have timers; else they are sent signals.
    have_timers: bool,
}

struct Target {
    key: ThreadKey,
    /// Kept for as long as the thread is.
    _timer: Option<Timer>,
    cpu: u64,
}

impl Signals {
    pub(super) fn new(agent: &'static Agent, env: *mut JNIEnv, interval: Nanos) -> Result<Signals, String> {
        let walk = vm_symbol(c"AsyncGetCallTrace")
            .ok_or("this VM has no AsyncGetCallTrace; choose another engine")?;
        let numbers = OsThreads::find(agent, env)?;
        // ORDERING: Acquire; pairs with the Release below, of a session before this one.
        let mut place = PLACE.load(Ordering::Acquire);
        if place.is_null() {
            install()?;
            let refused = std::array::from_fn(|_| AtomicU64::new(0));
            place = Box::into_raw(Box::new(Place { mailboxes: Mailboxes::new(BOXES, Raw::empty), refused }));
            WALK.store(walk as usize, Ordering::Relaxed);
            VM.store(agent.vm, Ordering::Relaxed);
            // ORDERING: Release; pairs with the Acquire in the handler: the two above come before.
            PLACE.store(place, Ordering::Release);
        }
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
        // Relaxed: a flag.
        IS_ON.store(true, Ordering::Relaxed);
        Ok(Signals {
            agent,
            numbers,
            interval,
            // SAFETY: made above or by a session before, and never freed.
            place: unsafe { &*place },
            pace: Pace::default(),
            threads: FxHashMap::default(),
            have_timers: interval >= kernel_tick(),
        })
    }

    fn refresh(&mut self, collector: &mut Collector<'_>, now: Nanos) {
        let live = Live::look(self.agent, collector.env);
        let mut before = std::mem::take(&mut self.threads);
        for &thread in &live.threads {
            let Some(sampled) = collector.thread(thread, Some(&self.numbers), now) else { continue };
            if sampled.os_tid == 0 {
                continue;
            }
            let target = before.remove(&sampled.os_tid).unwrap_or_else(|| {
                let timer = self.have_timers.then(|| Timer::start(sampled.os_tid, self.interval)).flatten();
                Target { key: sampled.key, _timer: timer, cpu: 0 }
            });
            self.threads.insert(sampled.os_tid, Target { key: sampled.key, ..target });
        }
        self.pace.looked(now);
    }

    /// Interrupts the threads that run.
    fn send(&mut self) {
        for (&os_tid, target) in &mut self.threads {
            let cpu = ThreadClock::of(os_tid).read();
            if std::mem::replace(&mut target.cpu, cpu) != cpu && is_running(os_tid) {
                // SAFETY: no pointers are involved; a thread that has ended is an error.
                unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), os_tid, libc::SIGPROF) };
            }
        }
    }

    fn drain(&self, collector: &mut Collector<'_>) {
        self.place.mailboxes.drain(|raw| {
            if let Some(target) = self.threads.get(&raw.thread) {
                collector.put(target.key, raw.at, Activity::Running, &raw.frames[..raw.len]);
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
        let now = clock::now();
        if self.pace.is_due(now) {
            self.refresh(collector, now);
        }
        if !self.have_timers {
            self.send();
        }
        self.drain(collector);
    }

    fn finish(&mut self, collector: &mut Collector<'_>) {
        self.drain(collector);
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        IS_ON.store(false, Ordering::Relaxed);
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

/// How often the kernel looks at timers of processor time: when its own clock ticks.
fn kernel_tick() -> Nanos {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is valid to write.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut t) };
    Nanos(t.tv_nsec as u64)
}

/// Installs the handler, unless somebody else has one: that would be theirs, and their signals ours.
fn install() -> Result<(), String> {
    // SAFETY: zeros are a valid action with no handler; the pointers are valid.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGPROF, std::ptr::null(), &raw mut old);
        if old.sa_sigaction != libc::SIG_DFL && old.sa_sigaction != libc::SIG_IGN {
            return Err("SIGPROF is in use in this program (another profiler?); choose another engine".into());
        }
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handle as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigemptyset(&raw mut new.sa_mask);
        match libc::sigaction(libc::SIGPROF, &raw const new, std::ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(format!("SIGPROF: {}", std::io::Error::last_os_error())),
        }
    }
}

unsafe extern "C" fn handle(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // Relaxed: a flag; a signal that comes late does nothing.
    if !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: errno's place is the thread's own.
    let errno = unsafe { *libc::__errno_location() };
    walk(context);
    // SAFETY: as above. What was interrupted may be about to read it.
    unsafe { *libc::__errno_location() = errno };
}

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

/// A timer of a thread's processor time, which sends that thread the signal.
struct Timer(libc::timer_t);

impl Timer {
    fn start(os_tid: u32, interval: Nanos) -> Option<Timer> {
        let mut timer = std::ptr::null_mut();
        let every = libc::timespec {
            tv_sec: (interval.0 / 1_000_000_000) as libc::time_t,
            tv_nsec: (interval.0 % 1_000_000_000) as libc::c_long,
        };
        let spec = libc::itimerspec { it_interval: every, it_value: every };
        // SAFETY: zeros are a valid event; all pointers are valid.
        unsafe {
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGPROF;
            event.sigev_notify_thread_id = os_tid as libc::pid_t;
            let clock = ThreadClock::of(os_tid).id();
            if libc::timer_create(clock, &raw mut event, &raw mut timer) != 0 {
                return None;
            }
            let timer = Timer(timer);
            (libc::timer_settime(timer.0, 0, &raw const spec, std::ptr::null_mut()) == 0).then_some(timer)
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: created by `start`, and deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_clock_ticks_a_hundred_to_a_thousand_times_a_second() {
        assert!((1_000_000..=10_000_000).contains(&kernel_tick().0), "{:?}", kernel_tick());
    }

    #[test]
    fn a_timer_of_processor_time_needs_a_thread_that_lives() {
        assert!(Timer::start(gettid(), Nanos(3_600_000_000_000)).is_some());
        let ended = std::thread::spawn(gettid).join().unwrap();
        assert!(Timer::start(ended, Nanos(1_000_000)).is_none());
    }
}
