//! The control thread: watches running calls, writes incidents, answers requests, keeps names fresh.
//!
//! The constraint that shaped it: everything that takes time or memory happens here and nowhere else. It is
//! attached to the VM as a daemon in the system thread group, so that the program neither waits for it nor
//! counts it among its own. It ends when the VM does, or when the agent has left the program and no class waits to be given
//! back.

use crate::agent::Agent;
use crate::clock;
use crate::detach;
use crate::detector::Fired;
use crate::events;
use crate::governor::Rounds;
use crate::incidents::{self, Collection, expand, slow_trigger};
use crate::java::jni;
use crate::log;
use crate::retransform;
use crate::sampler::Wanted;
use crate::server::{Asked, Message};
use crate::threads;
use crate::ticker;
use jni_sys::JNIEnv;
use lookback_format::Nanos;
use lookback_format::control::{Answer, Request, Rewriting};
use lookback_format::incident::Trigger;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often running calls are looked at when there are rules, at most and at least: a call that is too slow is noticed
/// late by a twentieth of what is too slow. To wake up is dear on some machines.
const LOOK: (u64, u64) = (5_000_000, 25_000_000);
/// How often it looks at anything when there are no rules.
const CALM: u64 = 100_000_000;
/// How often it looks at anything while tracing is off.
const IDLE: Duration = Duration::from_millis(200);
/// How often names and new threads are looked at, at most, nanoseconds. To look at them may take a thousandth of one core, and a hundredth
/// to adopt new ones, which is done once for each.
const SWEEP: u64 = 1_000_000_000;
const LOOKING: u64 = 1_000;
const ADOPTING: u64 = 100;
/// How often it is looked how fast the ring fills.
const RATE: Nanos = Nanos(1_000_000_000);
/// How often classes are tried that could not be rewritten yet.
const TRY: Nanos = Nanos(10_000_000_000);

struct Control<'a> {
    agent: &'static Agent,
    env: *mut JNIEnv,
    messages: &'a Receiver<Message>,
    ending: bool,
    next_sweep: Nanos,
    rated: Nanos,
    tried: Nanos,
    quiet_until: Nanos,
    governor: Option<Rounds>,
}

/// Runs until the VM ends, or the agent has left. `messages` come from the server and from the VM's end.
pub(crate) fn run(agent: &'static Agent, messages: &Receiver<Message>) {
    let Some(env) = threads::attach(agent, c"Lookback") else {
        log::line("cannot attach its control thread to the VM; no incidents will be written");
        return;
    };
    let (now, quiet_until) = (clock::now(), Nanos(0));
    let (next_sweep, rated, tried) = (now.plus(SWEEP), now, now);
    let governor = Rounds::begin(agent);
    let mut c =
        Control { agent, env, messages, ending: false, next_sweep, rated, tried, quiet_until, governor };
    let shortest = agent.options.slow.iter().map(|rule| rule.threshold / 20).min();
    let pause = Duration::from_nanos(shortest.map_or(CALM, |nanos| nanos.clamp(LOOK.0, LOOK.1)));
    c.sample();
    while !c.ending && !agent.is_detached() {
        c.listen(if agent.is_tracing() { pause } else { IDLE });
        c.frame(Control::round);
    }
    // An agent that has left has forgotten its methods; what it had learned is kept already.
    if !agent.is_detached() {
        c.learn();
    }
    while !c.ending && !agent.held.lock().unwrap_or_else(|e| e.into_inner()).is_empty() {
        c.listen(Duration::from_nanos(TRY.0));
        c.frame(|c| retransform::held_back(c.agent, c.env));
    }
    // The VM waits a while for attached threads before it ends.
    // SAFETY: attached above; no Java frames are below us.
    unsafe { (**agent.vm).DetachCurrentThread.map(|f| f(agent.vm)) };
}

impl Control<'_> {
    /// Runs `f` with its own frame of local references.
    fn frame(&mut self, f: impl FnOnce(&mut Self)) {
        if jni!(self.env, PushLocalFrame, 64) == 0 {
            f(self);
            jni!(self.env, PopLocalFrame, std::ptr::null_mut());
        }
    }

    /// Keeps what the run has taught, while the methods are still known.
    fn learn(&mut self) {
        self.frame(|c| {
            if let Some(governor) = c.governor.as_mut() {
                governor.end(c.agent, c.env);
            }
        });
    }

    /// Waits for a message for as long as `pause`, and obeys it.
    fn listen(&mut self, pause: Duration) {
        match self.messages.recv_timeout(pause) {
            Ok(Message::Asked(asked)) => self.answer(asked),
            Ok(Message::Wanted(reason)) => self.wanted(reason),
            Ok(Message::NoMemory(why)) => self.no_memory(&why),
            Ok(Message::End) => self.ending = true,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(pause),
        }
    }

    fn round(&mut self) {
        let now = clock::now();
        let agent = self.agent;
        if !agent.detector.rules.is_empty() {
            if now >= self.quiet_until {
                agent.detector.cooled_down();
            }
            if let Some(fired) = agent.detector.worst(&agent.region, &agent.slabs, now) {
                self.fired(&fired);
            }
        }
        if now >= self.next_sweep {
            // Not by the clock on the wall: on a busy machine this thread waits, and costs nothing meanwhile.
            let begun = clock::thread_cpu();
            let adopting = threads::sweep(self.agent, self.env, true);
            let looking = clock::thread_cpu() - begun - adopting;
            self.next_sweep = now.plus((LOOKING * looking).max(ADOPTING * adopting).max(SWEEP));
        }
        if now.since(self.rated) >= RATE {
            self.rated = now;
            self.agent.rates.sample(self.agent, now);
        }
        if now.since(self.tried) >= TRY {
            self.tried = now;
            retransform::held_back(agent, self.env);
        }
        if agent.sampler.is_abandoned(now) {
            drop(agent.sampler.end());
            self.sample();
        }
        if let Some(governor) = self.governor.as_mut().filter(|_| agent.is_tracing())
            && let Some(why) = governor.round(agent, self.env)
        {
            self.too_dear(&why);
        }
    }

    /// Tracing costs more than it may, whatever was dropped: it ends.
    fn too_dear(&mut self, why: &str) {
        self.stop();
        let pid = std::process::id();
        log::line(&format!(
            "tracing is off: {why}; to watch fewer methods, to leave waits out (waits=off) or to allow more (budget=): \
             lookback detach {pid}, and attach with other options; to go on as it was: lookback start {pid}"
        ));
    }

    /// A watched call was too slow: writes the incident unless there were enough already.
    fn fired(&mut self, f: &Fired) {
        let agent = self.agent;
        let written = agent.incidents.lock().unwrap_or_else(|e| e.into_inner()).len() as u32;
        if written >= agent.options.incidents {
            return;
        }
        agent.detector.cool_down(f, f.at.since(f.start));
        match self.collect(f) {
            Ok((path, bytes, took, running)) => {
                let what = if running { "still runs after" } else { "took" };
                log::line(&format!(
                    "slow call {what} {:.0} ms ({}): wrote {} ({} KiB); read it with: lookback report {}",
                    took.as_millis_f64(),
                    agent.detector.rules[f.rule].text(),
                    path.display(),
                    bytes >> 10,
                    path.display()
                ));
                agent.detector.cool_down(f, took);
                self.remember(path);
            }
            Err(e) => {
                log::line(&format!("an incident could not be written: {e}; the program is not affected"))
            }
        }
        self.quiet_until = clock::now().plus(agent.options.cooldown);
    }

    /// Follows the ring until the call has ended and the tail has passed, then writes the file. Gives its
    /// name and size, how long the call took, and whether it still runs.
    fn collect(&mut self, f: &Fired) -> std::io::Result<(PathBuf, u64, Nanos, bool)> {
        let agent = self.agent;
        let target = self.next_target();
        let mut c = Collection::begin(agent, self.env, target, false, Some(f.thread))?;
        let begun = clock::now();
        let mut running = f.running;
        let mut end = f.at;
        loop {
            let now = clock::now();
            if running && !agent.detector.still_runs(&agent.region, f) {
                running = false;
                end = now;
            }
            let held = running && now.since(begun).0 < agent.options.hold;
            if !held && now.since(end).0 >= agent.options.tail {
                break;
            }
            c.follow()?;
            self.listen(Duration::from_millis(5));
            if self.ending {
                break;
            }
        }
        if running {
            end = clock::now();
        }
        let (path, bytes) = c.finish(slow_trigger(agent, f, running, end))?;
        Ok((path, bytes, end.since(f.start), running))
    }

    fn next_target(&self) -> PathBuf {
        // Relaxed: only this thread counts.
        let number = self.agent.next_number.fetch_add(1, Ordering::Relaxed);
        let wall = clock::pair().1 / 1_000_000_000;
        let path = self.agent.directory.join(expand(&self.agent.options.out, number, wall));
        // What fails here, fails with its reason when the file is opened.
        let _ = path.parent().map(std::fs::create_dir_all);
        path
    }

    fn remember(&self, path: PathBuf) {
        self.agent.incidents.lock().unwrap_or_else(|e| e.into_inner()).push(path);
    }

    fn answer(&mut self, asked: Asked) {
        let answer = match asked.request {
            Request::Status => Answer::Status(Box::new(self.agent.status())),
            Request::Dump { file, force } => self.dump(file, force),
            Request::Stop { .. } => {
                let message = match self.stop() {
                    Some(done) => format!(
                        "tracing is off: {}; what was recorded stays until it is dumped",
                        detach::given_back(self.agent, &done)
                    ),
                    None => "tracing was off already".into(),
                };
                Answer::Done { message }
            }
            Request::Start { .. } => match self.start() {
                Ok(Some(done)) => Answer::Done {
                    message: format!(
                        "tracing is on; {} rewritten in {:.1} s",
                        detach::classes(done.classes),
                        done.seconds
                    ),
                },
                Ok(None) => Answer::Done { message: "tracing was on already".into() },
                Err(why) => {
                    Answer::Error { message: format!("tracing stays off: {why}"), hint: String::new() }
                }
            },
            Request::Profile { engine, interval, time, all } => {
                let wanted = Wanted { engine, interval, time: Some(time), all, into_ring: false };
                match self.agent.sampler.begin(self.agent, wanted) {
                    Ok(engine) => Answer::Profiling { engine },
                    Err(why) => {
                        self.sample();
                        Answer::Error { message: format!("cannot sample: {why}"), hint: String::new() }
                    }
                }
            }
            Request::EndProfile { file, force } => self.end_profile(file, force),
            Request::Detach { .. } => {
                self.learn();
                let done = self.stop().unwrap_or_default();
                let mut message = String::new();
                self.frame(|c| message = detach::leave(c.agent, c.env, &done));
                Answer::Done { message }
            }
        };
        let _ = asked.reply.send(answer);
    }

    /// Turns tracing on for all threads, and puts trace points into all classes. `None` when it was on before.
    fn start(&mut self) -> Result<Option<Rewriting>, String> {
        let agent = self.agent;
        if agent.is_tracing() {
            return Ok(None);
        }
        threads::begin(agent, self.env)?;
        events::watch(agent, true)?;
        Ok(agent.tracing.set(true).then(|| self.turned(true)))
    }

    /// Turns tracing off for all threads, and takes the trace points out of all classes. `None` when it was off before.
    fn stop(&mut self) -> Option<Rewriting> {
        self.agent.tracing.set(false).then(|| self.turned(false))
    }

    /// What is to be done when tracing was turned on or off.
    fn turned(&mut self, on: bool) -> Rewriting {
        let agent = self.agent;
        let mut done = Rewriting::default();
        agent.detector.forget_unmounted();
        if on {
            ticker::publish(&agent.region, clock::now());
            self.governor.iter_mut().for_each(|governor| governor.resume(clock::now()));
        } else {
            threads::stop_all(agent);
            let _ = events::watch(agent, false);
        }
        self.frame(|c| {
            let classes = retransform::choose(agent, c.env, true);
            let seen = retransform::names(agent, &classes);
            done = retransform::pass(agent, c.env, classes);
            if !on {
                done.classes += retransform::give_back_late(agent, c.env, &seen);
            }
        });
        if on {
            self.frame(|c| {
                threads::sweep(c.agent, c.env, false);
            });
        }
        done
    }

    /// There is less memory than the ring was made for: nothing is recorded any more.
    fn no_memory(&mut self, why: &str) {
        // The switch is off already, which was quicker; the classes follow.
        let path = self.agent.region.path.display();
        log::line(&format!(
            "tracing is off: its memory at {path} cannot be had: {why}; make room, or choose a smaller ring= or another region="
        ));
        self.turned(false);
    }

    /// The program asked for an incident: writes it unless there were enough already, or one just now.
    fn wanted(&mut self, reason: String) {
        let written = self.agent.incidents.lock().unwrap_or_else(|e| e.into_inner()).len() as u32;
        let at = clock::now();
        if written >= self.agent.options.incidents || at < self.quiet_until {
            return;
        }
        let (target, shown) = (self.next_target(), reason.clone());
        match self.write(target, false, Trigger::Program { at, reason }) {
            Ok((path, bytes)) => log::line(&format!(
                "the program asked for an incident ({shown}): wrote {} ({} KiB); read it with: lookback report {}",
                path.display(),
                bytes >> 10,
                path.display()
            )),
            Err(e) => {
                log::line(&format!("an incident could not be written: {e}; the program is not affected"))
            }
        }
        self.quiet_until = clock::now().plus(self.agent.options.cooldown);
    }

    /// Writes what is recorded now, and remembers the file.
    fn write(&mut self, target: PathBuf, force: bool, trigger: Trigger) -> std::io::Result<(PathBuf, u64)> {
        let mut result = Err(std::io::Error::other("no memory for references"));
        self.frame(|c| {
            result = Collection::begin(c.agent, c.env, target, force, None).and_then(|c| c.finish(trigger));
        });
        result.inspect(|(file, _)| self.remember(file.clone()))
    }

    fn dump(&mut self, file: Option<PathBuf>, force: bool) -> Answer {
        let target = file.unwrap_or_else(|| self.next_target());
        written(&target.clone(), || self.write(target, force, Trigger::Command { at: clock::now() }))
    }

    /// Samples beside tracing, if that is wanted.
    fn sample(&mut self) {
        let options = &self.agent.options;
        let Some(interval) = options.sample.map(Nanos) else { return };
        let wanted = Wanted { engine: options.engine, interval, time: None, all: false, into_ring: true };
        if let Err(why) = self.agent.sampler.begin(self.agent, wanted) {
            log::line(&format!("nothing is sampled: {why}"));
        }
    }

    fn end_profile(&mut self, file: PathBuf, force: bool) -> Answer {
        let ended = self.agent.sampler.end().filter(|(wanted, _)| !wanted.into_ring);
        self.sample();
        match ended {
            Some((_, taken)) => {
                written(&file.clone(), || incidents::write_profile(self.agent, taken, file, force))
            }
            None => Answer::Error { message: "no profile is being taken".into(), hint: String::new() },
        }
    }
}

/// What is answered to who wants a file: `write` writes it. The name must be an absolute path.
fn written(file: &Path, write: impl FnOnce() -> std::io::Result<(PathBuf, u64)>) -> Answer {
    if !file.is_absolute() {
        return Answer::Error {
            message: format!("{} is not an absolute path", file.display()),
            hint: "the program may have another working directory than you".into(),
        };
    }
    match write() {
        Ok((file, bytes)) => Answer::Dumped { file, bytes },
        Err(e) => Answer::Error {
            message: format!("cannot write {}: {e}", file.display()),
            hint: "choose another place with -o FILE; the program goes on and is recorded".into(),
        },
    }
}
