//! The agent: how it comes to life with the VM, and what the VM's events and the natives find.
//!
//! The constraint that shaped it: everything is opened in `Agent_OnLoad`, before the VM has threads that a counter would
//! miss, and checked there, so that what is wrong is one warning before the program begins; then nothing is measured and
//! the program runs as it would. Other agents that start threads are to be loaded after this one.

use crate::allocation::Allocated;
use crate::clock;
use crate::counters::Counters;
use crate::error::{Error, Result};
use crate::log;
use crate::mock;
use crate::options::Options;
use crate::output::Output;
use crate::pauses::AllPauses;
use crate::report::{Line, Start};
use crate::server::{self, Server};
use crate::session::{End, Session};
use jni_sys::{JNIEnv, JavaVM, jint, jobject};
use lookback_jvmti::{Callbacks, Capabilities, Capability, Event, Jvmti, native_thread};
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The agent; one a process.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) vm: *mut JavaVM,
    counters: Counters,
    pauses: AllPauses,
    session: Mutex<Session>,
    /// The socket, until the thread that serves it has taken it.
    server: Mutex<Option<Server>>,
    socket: Option<PathBuf>,
}

// SAFETY: the VM's pointer is valid on every thread for as long as the process lives; the rest is.
unsafe impl Send for Agent {}
// SAFETY: as above.
unsafe impl Sync for Agent {}

static AGENT: OnceLock<Agent> = OnceLock::new();

/// Called by the VM that was started with `-agentpath`.
///
/// # Safety
/// Called by the VM, with its own pointers.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut JavaVM, options: *const c_char, _: *mut c_void) -> jint {
    // SAFETY: the VM gives a zero-terminated string or null.
    let text = unsafe { lookback_jvmti::text(options) };
    let why = match catch_unwind(AssertUnwindSafe(|| load(vm, &text))) {
        Ok(Ok(())) => return 0,
        Ok(Err(e)) => e.to_string(),
        Err(_) => "an internal error".to_owned(),
    };
    log::line(&format!("nothing is measured: {why}"));
    0
}

fn load(vm: *mut JavaVM, text: &str) -> Result<()> {
    let vm_refuses = |why: String| Error::Vm { why };
    if AGENT.get().is_some() {
        return Err(vm_refuses("the harness is loaded already in this process".into()));
    }
    let options = Options::parse(text)?;
    // SAFETY: the VM that has loaded us.
    let jvmti = unsafe { Jvmti::of(vm) }
        .ok_or_else(|| vm_refuses("this VM offers no JVM Tool Interface 1.2".into()))?;
    let wanted = [
        (Capability::GenerateGarbageCollectionEvents, options.pauses),
        (Capability::GenerateNativeMethodBindEvents, options.memory.is_some()),
    ];
    let wanted = wanted.into_iter().filter(|(_, wanted)| *wanted);
    let capabilities = wanted.fold(Capabilities::default(), |all, (c, _)| all.with(c));
    let refused = |what| move |e| vm_refuses(format!("the VM refuses {what}: {e}"));
    jvmti.add_capabilities(capabilities).map_err(refused("its capabilities"))?;
    jvmti.set_callbacks(callbacks()).map_err(refused("its events"))?;

    let output = Output::open(&options.out)?;
    let server = options.socket.as_deref().map(Server::listen).transpose()?;
    let counters = Counters::open();
    let mut session = Session::new(output, options.pauses);
    session.write(&Line::Start(Start {
        pid: std::process::id(),
        mono_ns: clock::monotonic(),
        sources: counters.sources().clone(),
        pauses: options.pauses,
        memory: options.memory,
    }));
    let agent = Agent {
        vm,
        counters,
        pauses: AllPauses::default(),
        session: Mutex::new(session),
        server: Mutex::new(server),
        socket: options.socket.clone(),
    };
    AGENT.set(agent).map_err(|_| vm_refuses("the harness is loaded already in this process".into()))?;
    let mut events = vec![Event::VmInit, Event::VmDeath];
    if options.pauses {
        events.extend([Event::GarbageCollectionStart, Event::GarbageCollectionFinish]);
    }
    if let Some(memory) = options.memory {
        mock::set(memory);
        events.push(Event::NativeMethodBind);
    }
    events.into_iter().try_for_each(|event| jvmti.enable(event, true)).map_err(refused("an event"))
}

fn callbacks() -> &'static Callbacks {
    static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();
    CALLBACKS.get_or_init(|| Callbacks {
        vm_init: Some(vm_init),
        vm_death: Some(vm_death),
        native_method_bind: Some(mock::native_method_bind),
        garbage_collection_start: Some(garbage_collection_start),
        garbage_collection_finish: Some(garbage_collection_finish),
        ..Callbacks::default()
    })
}

/// Runs `f` with the agent, when there is one, and lets no panic out.
fn with(f: impl FnOnce(&'static Agent)) {
    if let Some(agent) = Agent::get() {
        let _ = catch_unwind(AssertUnwindSafe(|| f(agent)));
    }
}

unsafe extern "C" fn vm_init(_: *mut c_void, _: *mut JNIEnv, _: jobject) {
    with(|agent| {
        let server = agent.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(server) = server
            && let Err(why) = native_thread(server::THREAD, move || server.run(agent))
        {
            log::line(&format!("nobody serves the socket: {why}"));
        }
    });
}

unsafe extern "C" fn vm_death(_: *mut c_void, _: *mut JNIEnv) {
    with(|agent| {
        agent.session().stop();
        if let Some(socket) = &agent.socket {
            let _ = std::fs::remove_file(socket);
        }
    });
}

unsafe extern "C" fn garbage_collection_start(_: *mut c_void) {
    with(|agent| agent.pauses.start(&agent.counters));
}

unsafe extern "C" fn garbage_collection_finish(_: *mut c_void) {
    with(|agent| agent.pauses.finish(&agent.counters));
}

impl Agent {
    /// The agent, when it measures.
    pub(crate) fn get() -> Option<&'static Agent> {
        AGENT.get()
    }

    pub(crate) fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An iteration begins when this returns.
    pub(crate) fn begin(
        &self,
        name: &str,
        iteration: i32,
        allocated: impl FnOnce() -> Option<Allocated>,
    ) -> Result<()> {
        self.session().begin(&self.counters, &self.pauses, (name, iteration), allocated)
    }

    /// The clocks at this moment, for [`Agent::end`].
    pub(crate) fn end_now(&self) -> End {
        End::read(&self.counters)
    }

    /// An iteration ended when `end` was read.
    pub(crate) fn end(
        &self,
        end: End,
        name: &str,
        iteration: i32,
        allocated: impl FnOnce() -> Option<Allocated>,
    ) -> Result<()> {
        self.session().end(&self.pauses, end, (name, iteration), allocated)
    }
}
