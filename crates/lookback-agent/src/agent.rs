//! The agent as a whole: what is made once, at the start, and lives as long as the process.
//!
//! The constraint that shaped it: compiled code and VM events use it at any time from any thread, so it is
//! built before the first of them can come and is never taken down. One that has left its program (`detach`) sleeps until
//! another attachment puts a new one in its place.

use crate::brake::Brake;
use crate::detector::Detector;
use crate::governor::{Cost, Governor};
use crate::helpers::Helpers;
use crate::incidents;
use crate::inside::{Counted, Inside};
use crate::java::{Cursor, Java, delete, jni};
use crate::monitors::Monitors;
use crate::own::Own;
use crate::reach;
use crate::region::Region;
use crate::retransform::Passes;
use crate::rewriting::Counts;
use crate::sampler::Sampler;
use crate::server::Message;
use crate::slab::Slabs;
use crate::switch::Switch;
use crate::symbols::Symbols;
use crate::threads::Seen;
use crate::virtual_names::VirtualNames;
use crate::vm_points::VmPoints;
use crate::{clock, java};
use jni_sys::{JNIEnv, JavaVM, jobject};
use lookback_format::Nanos;
use lookback_format::control::Status;
use lookback_format::symbol::{Class, Method};
use lookback_jvmti::Jvmti;
use lookback_options::Options;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, OnceLock};

/// The newest agent of this process. Never freed: a thread of the program may hold it for as long as it likes.
static NEWEST: AtomicPtr<Agent> = AtomicPtr::new(std::ptr::null_mut());
/// The VM's events that are being handled right now.
static INSIDE: Inside = Inside::new();

/// The agent in the hands of an event of the VM, or of a native method that is no trace point.
pub(crate) struct Entered(
    pub(crate) &'static Agent,
    #[expect(dead_code, reason = "counts while it lives")] Counted<'static>,
);

/// Everything.
pub(crate) struct Agent {
    pub(crate) options: Options,
    pub(crate) jvmti: Jvmti,
    pub(crate) vm: *mut JavaVM,
    /// The VM's own trace points, where it has some: then it also keeps the cursors.
    pub(crate) vm_points: Option<VmPoints>,
    pub(crate) region: Region,
    pub(crate) slabs: Slabs,
    pub(crate) symbols: Symbols,
    pub(crate) monitors: Monitors,
    pub(crate) virtual_names: VirtualNames,
    pub(crate) detector: Detector,
    pub(crate) brake: Brake,
    pub(crate) governor: Governor,
    /// Which classes are the program's own.
    pub(crate) own: Own,
    pub(crate) sampler: Sampler,
    pub(crate) counts: Counts,
    /// The classes that are handed over again right now.
    pub(crate) passes: Passes,
    /// Classes that could not be handed over again yet, see [`crate::held`]: their names, by hashes of them.
    pub(crate) held: Mutex<FxHashMap<u64, String>>,
    pub(crate) rates: Rates,
    /// Whether the program is to be traced.
    pub(crate) tracing: Switch,
    /// Whether it has left the program.
    detached: AtomicBool,
    /// Its own threads.
    pub(crate) helpers: Helpers,
    /// The rules of spans that were named to the agent before this one.
    rules_again: FxHashMap<u32, u32>,
    /// Whether some pattern looks at annotations.
    pub(crate) need_annotations: bool,
    pub(crate) started: Nanos,
    pub(crate) program: String,
    pub(crate) jvm: String,
    /// The working directory at the start.
    pub(crate) directory: PathBuf,
    /// Sockets and links to remove at the end.
    pub(crate) socket: Option<PathBuf>,
    /// The agent that has left this program before.
    pub(crate) before: Option<&'static Agent>,
    pub(crate) incidents: Mutex<Vec<PathBuf>>,
    pub(crate) next_number: AtomicU32,
    /// Whether every thread's start and end are seen, see [`crate::threads::begin`].
    pub(crate) seen: Mutex<Seen>,
    /// How many threads have begun since then, and whether those that begin pass unseen, see [`crate::threads::let_pass`].
    pub(crate) begun: AtomicU64,
    pub(crate) unseen: AtomicBool,
    /// Java ids of the threads that have begun and not ended; also orders who gives and takes their slabs.
    pub(crate) live: Mutex<FxHashSet<u64>>,
    java: OnceLock<Live>,
    /// Tells the control thread that the VM ends.
    pub(crate) control: OnceLock<SyncSender<Message>>,
    /// Whether the control thread has let go of the VM.
    pub(crate) control_gone: AtomicBool,
}

/// What is known once the VM is up.
#[derive(Clone)]
struct Live {
    java: Java,
    platform_loader: jobject,
    system_group: jobject,
}

// SAFETY: global references and the VM's pointer are valid on every thread.
unsafe impl Send for Live {}
// SAFETY: as above.
unsafe impl Sync for Live {}
// SAFETY: the VM's pointer is valid on every thread; all else is Send by itself.
unsafe impl Send for Agent {}
// SAFETY: as above.
unsafe impl Sync for Agent {}

/// Parts that the caller of [`Agent::install`] has made.
pub(crate) struct Parts {
    pub(crate) options: Options,
    pub(crate) jvmti: Jvmti,
    pub(crate) vm: *mut JavaVM,
    pub(crate) region: Region,
    pub(crate) program: String,
    pub(crate) jvm: String,
    pub(crate) directory: PathBuf,
    pub(crate) socket: Option<PathBuf>,
    pub(crate) symbols: Symbols,
    /// What the agent before this one has left.
    pub(crate) before: Option<&'static Agent>,
    pub(crate) carried: Vec<Class>,
}

impl Agent {
    /// The agent of this process, unless it has left the program.
    pub(crate) fn get() -> Option<&'static Agent> {
        Agent::newest().filter(|agent| !agent.is_detached())
    }

    /// The agent of this process, also one that has left the program.
    pub(crate) fn newest() -> Option<&'static Agent> {
        // ORDERING: Acquire; pairs with the Release in `install`. SAFETY: null, or made there and never freed.
        unsafe { NEWEST.load(Ordering::Acquire).as_ref() }
    }

    /// As [`Agent::get`], for events of the VM: until the result is dropped, [`Agent::is_left_alone`] is false.
    pub(crate) fn enter() -> Option<Entered> {
        let counted = INSIDE.enter();
        // ORDERING: SeqCst, as is the store in `detach`: see `Inside::enter`.
        Agent::newest()
            .filter(|agent| !agent.detached.load(Ordering::SeqCst))
            .map(|agent| Entered(agent, counted))
    }

    /// Whether it has left the program.
    pub(crate) fn is_detached(&self) -> bool {
        // Relaxed: who must not come too late asks through `enter`.
        self.detached.load(Ordering::Relaxed)
    }

    /// From now on no event of the VM and no trace point finds it.
    pub(crate) fn detach(&self) {
        // ORDERING: see `enter`.
        self.detached.store(true, Ordering::SeqCst);
    }

    /// Whether, after [`Agent::detach`], every event has ended that had found it before.
    pub(crate) fn is_left_alone() -> bool {
        INSIDE.is_empty()
    }

    /// The rule that a span falls under: `rule`, unless it was named to an agent before this one.
    pub(crate) fn rule_now(&self, id: u32, rule: u32) -> u32 {
        self.rules_again.get(&id).copied().unwrap_or(rule)
    }

    /// Puts the agent together. `None` when there is one already.
    pub(crate) fn install(parts: Parts) -> Option<&'static Agent> {
        let Parts { options, jvmti, vm, region, program, jvm, directory, socket, symbols, before, carried } =
            parts;
        let detector = Detector::new(&options.slow);
        let spans = carried.iter().flat_map(|class| class.methods.iter().map(|m| (m, &class.class)));
        let rule =
            |m: &Method, class: &str| detector.rule_of(class, &m.name, &[]).map_or(u32::MAX, u32::from);
        let rules_again = spans.map(|(m, class)| (m.id.0, rule(m, class))).collect();
        let java = OnceLock::new();
        if let Some(live) = before.and_then(|b| b.java.get()) {
            let _ = java.set(live.clone());
        }
        let annotated = options.slow.iter().any(|r| r.pattern.is_annotation());
        // Without a budget nobody asks what a record costs.
        let budget = options.budget_share().map(|share| (share, Cost::measured()));
        let vm_points = VmPoints::find(jvmti);
        let agent = Agent {
            slabs: Slabs::new(region.slabs),
            brake: Brake::new(
                region.slabs,
                budget.map(|(share, cost)| share / cost.plain),
                budget.map_or(0.0, |(_, cost)| cost.timed / cost.plain),
                clock::thread_cpu,
            ),
            monitors: Monitors::default(),
            virtual_names: VirtualNames::default(),
            detector,
            governor: Governor::new(&options, &program, budget.map(|(_, cost)| cost), vm_points.is_some()),
            own: Own::default(),
            sampler: Sampler::default(),
            counts: Counts::default(),
            passes: Passes::default(),
            // They still are as the agent before had them.
            held: Mutex::new(before.map(|b| b.held()).unwrap_or_default()),
            rates: Rates::default(),
            tracing: Switch::new(options.tracing),
            detached: AtomicBool::new(false),
            helpers: Helpers::default(),
            rules_again,
            need_annotations: annotated
                || options.trace.need_annotations()
                || options.precise.need_annotations(),
            started: clock::now(),
            incidents: Mutex::default(),
            next_number: AtomicU32::new(1),
            seen: Mutex::default(),
            begun: AtomicU64::default(),
            unseen: AtomicBool::default(),
            live: Mutex::default(),
            java,
            control: OnceLock::new(),
            control_gone: AtomicBool::new(false),
            options,
            jvmti,
            vm,
            vm_points,
            region,
            program,
            jvm,
            directory,
            socket,
            before,
            symbols,
        };
        let was = before.map_or(std::ptr::null_mut(), |b| std::ptr::from_ref(b).cast_mut());
        let new = Box::into_raw(Box::new(agent));
        // ORDERING: Release; pairs with the Acquire in `newest`. Relaxed on failure: nothing is read.
        if NEWEST.compare_exchange(was, new, Ordering::Release, Ordering::Relaxed).is_err() {
            // SAFETY: made above, and nobody else has seen it.
            drop(unsafe { Box::from_raw(new) });
        }
        // SAFETY: never freed from here on, when it is the one that was put there.
        Agent::newest().filter(|agent| std::ptr::eq(*agent, new))
    }

    /// Looks up what can be looked up once the VM is up. An error says what is missing.
    pub(crate) fn come_alive(&self, env: *mut JNIEnv) -> Result<(), String> {
        // Nobody else asks what is its own.
        if self.governor.waiting.is_on() {
            self.own.find(env, &self.program, &self.options);
        }
        if self.java.get().is_some() {
            return Ok(());
        }
        let java = Java::find(env, self.vm_points)?;
        let platform_loader = platform_loader(env);
        let groups = self.jvmti.top_thread_groups().unwrap_or_default();
        let global = |r: jobject| if r.is_null() { r } else { jni!(env, NewGlobalRef, r) };
        let system_group = groups.first().map_or(std::ptr::null_mut(), |&g| global(g));
        let live = Live { java, platform_loader: global(platform_loader), system_group };
        self.java.set(live).map_err(|_| "the agent is alive already".to_owned())
    }

    fn held(&self) -> FxHashMap<u64, String> {
        self.held.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// Lets go of what is large, once it has left the program; of references only if `is_left_alone`.
    pub(crate) fn forget(&self, env: *mut JNIEnv, is_left_alone: bool) {
        if is_left_alone {
            self.monitors.forget(env);
        }
        self.governor.forget();
        *self.live.lock().unwrap_or_else(|e| e.into_inner()) = FxHashSet::default();
    }

    /// The Java side of threads, once the VM is up.
    pub(crate) fn java(&self) -> Option<&Java> {
        self.java.get().map(|l| &l.java)
    }

    /// See [`Java::with_cursor`].
    pub(crate) fn java_with_cursor(&self, env: *mut JNIEnv, f: impl FnOnce(Cursor) -> Cursor) {
        if let Some(java) = self.java() {
            java.with_cursor(env, f);
        }
    }

    pub(crate) fn system_group(&self) -> jobject {
        self.java.get().map_or(std::ptr::null_mut(), |l| l.system_group)
    }

    pub(crate) fn is_platform_loader(&self, env: *mut JNIEnv, loader: jobject) -> bool {
        let platform = self.java.get().map_or(std::ptr::null_mut(), |l| l.platform_loader);
        !platform.is_null() && jni!(env, IsSameObject, loader, platform) != 0
    }

    /// Java's id of the current thread, for the agent's own threads.
    pub(crate) fn own_thread(&self, env: *mut JNIEnv) -> Option<u64> {
        let java = self.java()?;
        let thread = java.current(env)?;
        let tid = java.tid(env, thread);
        delete(env, thread);
        Some(tid)
    }

    /// Java ids of the agent's own threads.
    pub(crate) fn own_threads(&self) -> FxHashSet<u64> {
        self.seen.lock().unwrap_or_else(|e| e.into_inner()).ours.clone()
    }

    pub(crate) fn is_tracing(&self) -> bool {
        self.tracing.is_on()
    }

    /// How far the ring has come, in blocks.
    pub(crate) fn ring_end(&self) -> u64 {
        self.region.ring.end().0
    }

    pub(crate) fn losses(&self) -> BTreeMap<String, u64> {
        incidents::losses(self)
    }

    pub(crate) fn status(&self) -> Status {
        let (counts, nanos) = self.counts.read();
        let mut classes: BTreeMap<String, u64> = counts.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        classes.insert("microseconds of rewriting".into(), nanos / 1_000);
        let held = self.held.lock().unwrap_or_else(|e| e.into_inner()).len() as u64;
        if held > 0 {
            classes.insert("classes left as they are while a loop in them runs".into(), held);
        }
        let (bytes_per_second, reach) = self.rates.read(self);
        let threads = (0..self.slabs.high()).filter(|&i| self.slabs.is_taken(i)).count() as u32;
        let found = self.detector.found.iter().map(|n| n.load(Ordering::Relaxed));
        Status {
            lookback: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            program: self.program.clone(),
            jvm: self.jvm.clone(),
            tracing: self.is_tracing(),
            by_vm: self.vm_points.is_some(),
            uptime_seconds: clock::now().since(self.started).0 as f64 / 1e9,
            region: self.region.path.clone(),
            ring_bytes: self.region.ring_bytes as u64,
            reach_seconds: reach,
            records_per_second: bytes_per_second * reach::records_per_byte(self),
            governing: self.governor.status(self),
            classes,
            classes_to_come: self.passes.to_come(),
            rewriting: self.passes.last(),
            threads,
            by_thread: reach::by_thread(self),
            losses: self.losses(),
            rules: self.detector.rules.iter().map(|r| r.text()).zip(found).collect(),
            incidents: self.incidents.lock().unwrap_or_else(|e| e.into_inner()).clone(),
            options: self
                .options
                .effective()
                .into_iter()
                .map(|(k, v, s)| format!("{k}={v} ({})", s.words()))
                .collect(),
        }
    }
}

fn platform_loader(env: *mut JNIEnv) -> jobject {
    let class = jni!(env, FindClass, c"java/lang/ClassLoader".as_ptr());
    let sig = c"()Ljava/lang/ClassLoader;";
    let get = jni!(env, GetStaticMethodID, class, c"getPlatformClassLoader".as_ptr(), sig.as_ptr());
    let loader = if get.is_null() {
        std::ptr::null_mut()
    } else {
        jni!(env, CallStaticObjectMethodA, class, get, std::ptr::null())
    };
    java::clear(env);
    loader
}

/// How fast the ring fills, from a look a second.
#[derive(Default)]
pub(crate) struct Rates {
    inner: Mutex<RatesInner>,
}

#[derive(Default)]
struct RatesInner {
    last: Option<(Nanos, u64)>,
    blocks_per_second: f64,
}

impl Rates {
    pub(crate) fn sample(&self, agent: &Agent, now: Nanos) {
        let end = agent.ring_end();
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((then, before)) = inner.last {
            let rate = (end - before) as f64 / (now.since(then).0.max(1) as f64 / 1e9);
            // The mean of about the last four seconds.
            inner.blocks_per_second = inner.blocks_per_second * 0.75 + rate * 0.25;
        }
        inner.last = Some((now, end));
    }

    /// Bytes a second, and seconds that the ring reaches back.
    fn read(&self, agent: &Agent) -> (f64, f64) {
        let rate = self.inner.lock().unwrap_or_else(|e| e.into_inner()).blocks_per_second;
        let g = agent.region.ring.geometry();
        let uptime = clock::now().since(agent.started).0 as f64 / 1e9;
        let reach = if rate > 0.0 { (f64::from(g.blocks) / rate).min(uptime) } else { uptime };
        (rate * f64::from(g.block_size), reach)
    }
}
