//! The agent as a whole: what is made once, at the start, and lives as long as the process.
//!
//! The constraint that shaped it: compiled code and VM events use it at any time from any thread, so it is
//! built before the first of them can come and is never taken down.

use crate::brake::Brake;
use crate::detector::Detector;
use crate::governor::{self, Governor};
use crate::incidents;
use crate::java::{Cursor, Java, delete, jni};
use crate::monitors::Monitors;
use crate::region::Region;
use crate::rewriting::Counts;
use crate::server::Message;
use crate::slab::Slabs;
use crate::switch::Switch;
use crate::symbols::Symbols;
use crate::{clock, java};
use jni_sys::{JNIEnv, JavaVM, jobject};
use lookback_format::Nanos;
use lookback_format::control::Status;
use lookback_jvmti::Jvmti;
use lookback_options::Options;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, OnceLock};

static AGENT: OnceLock<Agent> = OnceLock::new();

/// Everything.
pub(crate) struct Agent {
    pub(crate) options: Options,
    pub(crate) jvmti: Jvmti,
    pub(crate) vm: *mut JavaVM,
    pub(crate) region: Region,
    pub(crate) slabs: Slabs,
    pub(crate) symbols: Symbols,
    pub(crate) monitors: Monitors,
    pub(crate) detector: Detector,
    pub(crate) brake: Brake,
    pub(crate) governor: Governor,
    pub(crate) counts: Counts,
    /// Classes loaded before the agent that it has not looked at yet.
    pub(crate) classes_to_come: AtomicU64,
    /// Classes that could not be rewritten yet, see [`crate::held`]; hashes of their names.
    pub(crate) held: Mutex<FxHashSet<u64>>,
    pub(crate) rates: Rates,
    /// Whether the program is to be traced.
    pub(crate) tracing: Switch,
    /// Whether some pattern looks at annotations.
    pub(crate) need_annotations: bool,
    pub(crate) started: Nanos,
    pub(crate) program: String,
    pub(crate) jvm: String,
    /// The working directory at the start.
    pub(crate) directory: PathBuf,
    /// Sockets and links to remove at the end.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) incidents: Mutex<Vec<PathBuf>>,
    pub(crate) next_number: AtomicU32,
    /// Java ids of the threads that have begun and not ended; also orders who gives and takes their slabs.
    pub(crate) live: Mutex<FxHashSet<u64>>,
    java: OnceLock<Live>,
    /// Tells the control thread that the VM ends.
    pub(crate) control: OnceLock<SyncSender<Message>>,
    /// Whether the control thread has let go of the VM.
    pub(crate) control_gone: AtomicBool,
}

/// What is known once the VM is up.
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
}

impl Agent {
    /// The agent of this process.
    pub(crate) fn get() -> Option<&'static Agent> {
        AGENT.get()
    }

    /// Puts the agent together. `None` when there is one already.
    pub(crate) fn install(parts: Parts) -> Option<&'static Agent> {
        let Parts { options, jvmti, vm, region, program, jvm, directory, socket } = parts;
        let annotated = options.slow.iter().any(|r| r.pattern.is_annotation());
        let share = options.budget.map(|hundredths| f64::from(hundredths) / 10_000.0);
        let trace_point = governor::trace_point();
        let agent = Agent {
            slabs: Slabs::new(region.slabs),
            brake: Brake::new(region.slabs, share, trace_point),
            symbols: Symbols::new(),
            monitors: Monitors::default(),
            detector: Detector::new(&options.slow),
            governor: Governor::new(&options, &program, trace_point),
            counts: Counts::default(),
            classes_to_come: AtomicU64::new(0),
            held: Mutex::default(),
            rates: Rates::default(),
            tracing: Switch::new(options.tracing),
            need_annotations: annotated || options.trace.need_annotations(),
            started: clock::now(),
            incidents: Mutex::default(),
            next_number: AtomicU32::new(1),
            live: Mutex::default(),
            java: OnceLock::new(),
            control: OnceLock::new(),
            control_gone: AtomicBool::new(false),
            options,
            jvmti,
            vm,
            region,
            program,
            jvm,
            directory,
            socket,
        };
        AGENT.set(agent).ok()?;
        AGENT.get()
    }

    /// Looks up what can be looked up once the VM is up. An error says what is missing.
    pub(crate) fn come_alive(&self, env: *mut JNIEnv) -> Result<(), String> {
        let java = Java::find(env)?;
        let platform_loader = platform_loader(env);
        let groups = self.jvmti.top_thread_groups().unwrap_or_default();
        let global = |r: jobject| if r.is_null() { r } else { jni!(env, NewGlobalRef, r) };
        let system_group = groups.first().map_or(std::ptr::null_mut(), |&g| global(g));
        let live = Live { java, platform_loader: global(platform_loader), system_group };
        self.java.set(live).map_err(|_| "the agent is alive already".to_owned())
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
            uptime_seconds: clock::now().since(self.started).0 as f64 / 1e9,
            region: self.region.path.clone(),
            ring_bytes: self.region.ring_bytes as u64,
            reach_seconds: reach,
            records_per_second: bytes_per_second / 4.0,
            governing: self.governor.status(self),
            classes,
            // Relaxed: a number to show.
            classes_to_come: self.classes_to_come.load(Ordering::Relaxed),
            threads,
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
