//! How the agent comes to life, with the VM or later, and how it ends.
//!
//! The constraint that shaped it: nothing here may stop the program. Each step that fails becomes one line
//! that says what failed, why and what to try, and tracing is off. Everything is checked before the first
//! class is rewritten.

use crate::agent::{Agent, Parts};
use crate::brake;
use crate::cgroup;
use crate::control;
use crate::events;
use crate::java::{clear, jni};
use crate::log;
use crate::reach;
use crate::region::{Names, Region};
use crate::retransform;
use crate::rewriting::TRACE_POINT_CLASS;
use crate::server::{self, Message};
use crate::spans;
use crate::symbols::Symbols;
use crate::threads;
use crate::ticker;
use crate::trace_points;
use crate::{clock, incidents};
use jni_sys::{JNIEnv, JavaVM, jclass};
use lookback_format::control::{region_path, runtime_dir, socket_path};
use lookback_format::region::header;
use lookback_jvmti::{Capabilities, Capability, Event, Jvmti};
use lookback_options::{Options, RING_BYTES, Source, format_bytes};
use std::ffi::CString;
use std::os::unix::net::UnixListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

/// Runs a step. What fails in it is one line, and the result false.
pub(crate) fn guarded(f: impl FnOnce() -> Result<(), String>) -> bool {
    let why = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(())) => return true,
        Ok(Err(why)) => why,
        Err(_) => "an internal error".to_owned(),
    };
    log::line(&format!("tracing is off: {why}"));
    false
}

/// The VM starts and has loaded the agent.
pub(crate) fn load(vm: *mut JavaVM, text: &str) -> Result<(), String> {
    let agent = prepare(vm, text)?;
    agent.jvmti.enable(Event::VmInit, true).map_err(|e| e.to_string())
}

/// The VM runs and was told to load the agent.
pub(crate) fn attach(vm: *mut JavaVM, text: &str) -> Result<(), String> {
    let agent = prepare(vm, text)?;
    // The VM looks for native methods in this library only after this call has returned.
    agent.helpers.start("lookback-start", move || {
        let mut env = std::ptr::null_mut();
        // SAFETY: the VM that loaded us.
        let attached = unsafe {
            (**agent.vm)
                .AttachCurrentThreadAsDaemon
                .is_some_and(|f| f(agent.vm, &raw mut env, std::ptr::null_mut()) == 0)
        };
        if attached {
            guarded(|| go_live(agent, env.cast(), true));
            // SAFETY: attached above; no Java frames are below us.
            unsafe { (**agent.vm).DetachCurrentThread.map(|f| f(agent.vm)) };
        }
    })
}

/// All that can be done before the VM is up.
fn prepare(vm: *mut JavaVM, text: &str) -> Result<&'static Agent, String> {
    let before = Agent::newest();
    if before.is_some_and(|agent| !agent.is_detached()) {
        return Err(
            "the agent is loaded already in this process; one is enough (`lookback status PID`)".into()
        );
    }
    let mut options = read_options(text)?;
    log::set_quiet(options.quiet);
    fit_to_container(&mut options);
    let jvmti = match before {
        Some(before) => before.jvmti,
        None => environment(vm)?,
    };
    if let Some(before) = before {
        wait_for(before)?;
    } else {
        add_capabilities(jvmti)?;
    }
    let command = jvmti.system_property(c"sun.java.command");
    let program = command.split(' ').next().filter(|p| !p.is_empty()).unwrap_or("java").to_owned();
    let version = jvmti.system_property(c"java.vm.version");
    let jvm = format!("{} {version}", jvmti.system_property(c"java.vm.name"));
    let directory = std::env::current_dir().unwrap_or_default();
    let runtime = default_runtime_dir();
    let safe = server::prepare_directory(&runtime);
    let runtime = safe.is_ok().then_some(runtime);
    let names = Names { program: &program, jvm: &jvm };
    let carried = before.map(|b| b.symbols.close(&b.region)).unwrap_or_default();
    let region = make_region(&options, runtime.as_deref(), &names, before.map(|b| &b.region))
        .inspect_err(|_| before.iter().for_each(|b| b.symbols.reopen()))?;
    // Not before: where there is no place for its memory either, that is the one line.
    if let Err(e) = &safe {
        log::line(&format!("no control socket, the `lookback` command will not find this process: {e}"));
    }
    let symbols = before.map_or_else(Symbols::new, |b| Symbols::after(&b.symbols, &region, &carried));
    let socket = runtime.filter(|_| options.control).map(|dir| socket_path(&dir, std::process::id()));
    let parts =
        Parts { options, jvmti, vm, region, program, jvm, directory, socket, symbols, before, carried };
    let agent = Agent::install(parts).ok_or("the agent is loaded already in this process")?;
    jvmti.set_callbacks(events::callbacks()).map_err(|e| e.to_string())?;
    Ok(agent)
}

/// How long threads of an agent that has left may take to end.
const GOING: Duration = Duration::from_secs(5);

/// Waits until the agent that has left this program is really gone.
fn wait_for(before: &Agent) -> Result<(), String> {
    // It may wait for a loop to end, to give its class back.
    let _ = before.control.get().map(|control| control.try_send(Message::End));
    if before.helpers.are_gone(GOING) {
        return Ok(());
    }
    Err("the agent is still leaving this process; try again in a moment".into())
}

fn read_options(text: &str) -> Result<Options, String> {
    let mut options = Options::default();
    let (config, text) = lookback_options::split_config(text);
    let file = config.unwrap_or("lookback.toml");
    match std::fs::read_to_string(file) {
        Ok(content) => options.apply_toml(&content).map_err(|e| format!("{file}: {e}"))?,
        Err(e) if config.is_some() => return Err(format!("cannot read the options in {file}: {e}")),
        Err(_) => {}
    }
    if let Ok(environment) = std::env::var("LOOKBACK_OPTS") {
        options.apply(&environment, Source::Environment).map_err(|e| format!("LOOKBACK_OPTS: {e}"))?;
    }
    options.apply(&text, Source::Given).map_err(|e| e.to_string())?;
    Ok(options)
}

/// A ring that nobody has asked for is made smaller where a container would have no room for it.
fn fit_to_container(options: &mut Options) {
    let Some(limit) = cgroup::memory_limit().filter(|l| l.region < options.ring) else { return };
    let fits = limit.region >> 20 << 20;
    if !options.is_chosen("ring") && fits >= RING_BYTES.0 {
        log::line(&format!(
            "the memory limit of its cgroup is {}: it takes {} and not {}; ring= asks for more or less",
            format_bytes(limit.whole >> 20 << 20),
            format_bytes(fits),
            format_bytes(options.ring),
        ));
        options.ring = fits;
    }
}

fn environment(vm: *mut JavaVM) -> Result<Jvmti, String> {
    // SAFETY: the VM that has loaded us.
    unsafe { Jvmti::of(vm) }.ok_or_else(|| "this VM offers no JVM Tool Interface 1.2".into())
}

/// Asks for what the VM offers; only rewriting is indispensable.
fn add_capabilities(jvmti: Jvmti) -> Result<(), String> {
    let offered = jvmti.potential_capabilities().map_err(|e| e.to_string())?;
    let wanted = [
        Capability::RetransformClasses,
        Capability::RetransformAnyClass,
        Capability::GenerateAllClassHookEvents,
        Capability::GenerateCompiledMethodLoadEvents,
        Capability::GenerateMonitorEvents,
        Capability::GenerateGarbageCollectionEvents,
        Capability::GetCurrentContendedMonitor,
        Capability::GetMonitorInfo,
        Capability::GetSourceFileName,
        Capability::GetLineNumbers,
    ];
    if !offered.has(Capability::RetransformClasses) {
        return Err("this VM does not let agents rewrite classes".into());
    }
    let chosen =
        wanted.into_iter().filter(|&c| offered.has(c)).fold(Capabilities::default(), Capabilities::with);
    jvmti.add_capabilities(chosen).map_err(|e| format!("the VM refuses its capabilities: {e}"))
}

fn default_runtime_dir() -> PathBuf {
    let xdg = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|d| d.is_dir());
    // SAFETY: no arguments.
    runtime_dir(xdg.as_deref(), &std::env::temp_dir(), unsafe { libc::geteuid() })
}

/// Creates the region where the options say, else in shared memory, else in the runtime directory; leaves a
/// link in the runtime directory, by which `lookback ls` finds it.
fn make_region(
    options: &Options,
    runtime: Option<&Path>,
    names: &Names<'_>,
    before: Option<&Region>,
) -> Result<Region, String> {
    let pid = std::process::id();
    let linked = runtime.map(|dir| region_path(dir, pid));
    let stamp = clock::pair().1 / 1_000_000_000;
    let file = format!("{pid}-{stamp}.region");
    let region = match &options.region {
        Some(path) => Region::create(path, options, names, before)
            .map_err(|e| format!("cannot create the region file {}: {e}", path.display()))?,
        None => {
            // SAFETY: no arguments.
            let shared = PathBuf::from(format!("/dev/shm/lookback-{}", unsafe { libc::geteuid() }));
            let mut why = Vec::new();
            let places = [Some(shared), runtime.map(Path::to_owned)];
            let made = places.into_iter().flatten().find_map(|dir| {
                let made = server::prepare_directory(&dir)
                    .inspect(|()| forget_old_regions(&dir))
                    .and_then(|()| Region::create(&dir.join(&file), options, names, before));
                made.map_err(|e| why.push(format!("{}: {e}", dir.display()))).ok()
            });
            made.ok_or_else(|| {
                format!("no place for its memory ({}); name one with region=FILE", why.join("; "))
            })?
        }
    };
    if let Some(link) = linked
        && link != region.path
    {
        let target = std::path::absolute(&region.path).unwrap_or_else(|_| region.path.clone());
        let _ = std::fs::remove_file(&link);
        let _ = std::os::unix::fs::symlink(target, link);
    }
    Ok(region)
}

/// Of the regions that dead processes left behind, the newest few are kept: each takes memory.
fn forget_old_regions(dir: &Path) {
    const KEPT: usize = 3;
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut dead: Vec<_> = entries
        .flatten()
        .filter(|e| {
            let name = e.file_name().to_string_lossy().into_owned();
            let pid = name.strip_suffix(".region").and_then(|n| n.split('-').next()).map(str::to_owned);
            let is_file = e.file_type().is_ok_and(|t| t.is_file());
            is_file && pid.is_some_and(|p| !Path::new("/proc").join(p).exists())
        })
        .filter_map(|e| Some((e.metadata().and_then(|m| m.modified()).ok()?, e.path())))
        .collect();
    dead.sort();
    for (_, path) in dead.iter().rev().skip(KEPT) {
        let _ = std::fs::remove_file(path);
    }
}

/// The VM is up: brings tracing to life. `late` when the program has run before.
pub(crate) fn go_live(agent: &'static Agent, env: *mut JNIEnv, late: bool) -> Result<(), String> {
    agent.come_alive(env)?;
    let again = agent.before.is_some();
    let class = if again { find_trace_points(env) } else { define_trace_points(agent, env) }?;
    if let Some(points) = &agent.vm_points {
        points.take(env, again)?;
    }
    link_trace_points(env, class)?;
    ticker::publish(&agent.region, clock::now());
    let most = agent.options.ticker_share();
    let ticks = move || ticker::run(&agent.region, &agent.slabs, &agent.brake, &agent.tracing, most);
    agent.helpers.start("lookback-tick", ticks)?;
    if agent.options.budget.is_some() {
        agent.brake.find(env, class);
        agent.helpers.start("lookback-brake", move || brake::run(agent))?;
    }
    // A VM without it does not say how the program ended; that is no reason not to trace.
    let _ = agent.jvmti.enable(Event::VmDeath, true);
    // While tracing is off, nothing is seen and no class is rewritten.
    let mut loaded = Vec::new();
    if agent.is_tracing() {
        threads::begin(agent, env)?;
        events::watch(agent, true)?;
        loaded = retransform::choose(agent, env, late);
    }
    if !again {
        spans::define(env);
    }
    agent.passes.announce(loaded.len());
    // Before the classes are rewritten, which in a large program takes seconds: it can be asked how far it is.
    begin_control(agent)?;
    agent.helpers.start("lookback-warm", move || warm_up(agent))?;
    retransform::pass(agent, env, loaded);
    announce(agent);
    Ok(())
}

/// Defines the class with the trace points in `java.base`.
fn define_trace_points(agent: &Agent, env: *mut JNIEnv) -> Result<jclass, String> {
    let bytes = trace_points::class_file(agent.region.address(header::TICK_WORD))
        .ok_or("the trace point class has no place for the tick's address")?;
    let name = CString::new(TRACE_POINT_CLASS).unwrap_or_default();
    let loader = std::ptr::null_mut();
    let class = jni!(env, DefineClass, name.as_ptr(), loader, bytes.as_ptr().cast(), bytes.len() as i32);
    clear(env);
    if class.is_null() {
        return Err(
            "the VM refuses the trace point class; is another Lookback loaded in this process?".into()
        );
    }
    Ok(class)
}

/// The class with the trace points, which an earlier attachment has defined. The address in it is still the tick's.
pub(crate) fn find_trace_points(env: *mut JNIEnv) -> Result<jclass, String> {
    let name = CString::new(TRACE_POINT_CLASS).unwrap_or_default();
    let class = jni!(env, FindClass, name.as_ptr());
    clear(env);
    if class.is_null() { Err("the VM does not find the trace point class".into()) } else { Ok(class) }
}

/// Links the natives of the trace points, and binds the JDK's native wait points as is right now.
pub(crate) fn link_trace_points(env: *mut JNIEnv, class: jclass) -> Result<(), String> {
    let start = jni!(env, GetStaticMethodID, class, c"start".as_ptr(), c"()V".as_ptr());
    if start.is_null() {
        clear(env);
        return Err(
            "the trace point class cannot be initialised on this VM (HotSpot 17 to 25 is needed)".into()
        );
    }
    // When attached, the VM finds the natives only a moment later.
    for _ in 0..1_000 {
        jni!(env, CallStaticVoidMethodA, class, start, std::ptr::null());
        if jni!(env, ExceptionCheck) == 0 {
            return Ok(());
        }
        jni!(env, ExceptionClear);
        std::thread::sleep(Duration::from_millis(5));
    }
    Err("the VM does not find the agent's native methods".into())
}

fn begin_control(agent: &'static Agent) -> Result<(), String> {
    let (tell, told) = sync_channel(16);
    let _ = agent.control.set(tell.clone());
    if let Some(path) = &agent.socket {
        let listener: Result<UnixListener, String> = server::listen(path).map_err(|e| e.to_string());
        match listener {
            Ok(listener) => {
                agent.helpers.start("lookback-serve", move || server::run(agent, listener, path, &tell))?
            }
            Err(e) => log::line(&format!(
                "no control socket at {}: {e}; the `lookback` command will not find this process",
                path.display()
            )),
        }
    }
    agent.helpers.start("lookback-ctl", move || {
        control::run(agent, &told);
        // ORDERING: Release; pairs with the Acquire in `end`.
        agent.control_gone.store(true, Ordering::Release);
    })
}

/// Takes the rest of the ring's memory. Where somebody else has taken it meanwhile, nothing is recorded: a store into what
/// is not there would end the program.
fn warm_up(agent: &Agent) {
    if let Err(e) = agent.region.warm_up() {
        agent.tracing.set(false);
        threads::stop_all(agent);
        let _ = agent.control.get().map(|control| control.send(Message::NoMemory(e.to_string())));
    }
}

fn announce(agent: &Agent) {
    let pid = std::process::id();
    let state = if agent.options.tracing { "recording" } else { "ready, tracing off" };
    log::line(&format!(
        "pid {pid}: {state} in {} ({}); reach in seconds: lookback status {pid}; write it now: lookback dump {pid}; turn off: lookback stop {pid}",
        format_bytes(agent.options.ring),
        agent.region.path.display(),
    ));
}

/// How long the VM's end may be held up for an incident that is just being written.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The program ends well: tidies up, and says what was done when asked to.
pub(crate) fn end(agent: &'static Agent) {
    // The VM waits 10 ms at a time for attached threads that are in native code, so ours leave first.
    agent.brake.stop();
    agent.sampler.stop();
    if agent.control.get().is_some_and(|c| c.try_send(Message::End).is_ok()) {
        let begun = Instant::now();
        // ORDERING: Acquire; pairs with the Release in `begin_control` and in `brake::run`.
        let are_gone = || {
            agent.control_gone.load(Ordering::Acquire)
                && agent.brake.gone.load(Ordering::Acquire)
                && agent.sampler.is_gone()
        };
        while !are_gone() && begun.elapsed() < LAST_WORDS {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
    if agent.is_detached() {
        return;
    }
    if agent.options.stats {
        let (counts, nanos) = agent.counts.read();
        let rewritten = counts.get("classes rewritten").copied().unwrap_or(0);
        let seen = counts.get("classes seen").copied().unwrap_or(0);
        log::line(&format!(
            "rewriting: {:.1} us a class ({} us, {seen} classes seen, {rewritten} rewritten)",
            nanos as f64 / 1e3 / seen.max(1) as f64,
            nanos / 1_000
        ));
        counts.iter().for_each(|(name, n)| log::line(&format!("{name}: {n}")));
        let bytes = agent.ring_end() * u64::from(agent.region.ring.geometry().block_size);
        log::line(&format!("records, about: {:.0}", bytes as f64 * reach::records_per_byte(agent)));
        incidents::losses(agent).iter().for_each(|(cause, n)| log::line(&format!("lost, {cause}: {n}")));
    }
    if let Some(socket) = &agent.socket {
        let _ = std::fs::remove_file(socket);
    }
    if !agent.options.keep {
        let _ = std::fs::remove_file(&agent.region.path);
        forget_link();
    }
}

/// Removes the link to the region.
pub(crate) fn forget_link() {
    let _ = std::fs::remove_file(region_path(&default_runtime_dir(), std::process::id()));
}
