//! Samples where threads are: for `lookback profile`, and beside tracing, so that methods which are not traced show.
//!
//! The constraint that shaped it: whatever takes the samples (see [`Engine`]), it may not hold the program up for longer
//! than its own interval, and what is sampled by JVMTI has names only as long as its class is there. So one thread of the
//! agent's takes or gathers all samples, one session at a time, and turns them into events of the format at once.

mod checked;
mod collect;
mod engine;
mod handshake;
mod incremental_signal;
mod interrupts;
mod latency;
mod mailboxes;
mod mounted;
mod names;
mod os_threads;
mod partial;
pub(crate) mod poll;
mod raw;
mod retrieval;
mod safepoint;
mod signal;
mod thread_table;

pub(crate) use signal::class_prepared;

use crate::agent::Agent;
use crate::clock;
use crate::threads;
use collect::Collector;
use engine::Engine;
use latency::Latencies;
use lookback_format::Nanos;
use lookback_format::incident::Sampling;
use lookback_format::sample;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a session may take to begin, or to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// So long what a session gave waits for who has asked for it.
const ABANDONED: u64 = 60_000_000_000;
/// It is looked whether a session should end at least so often.
const LOOK: u64 = 20_000_000;
/// Which threads there are is looked at so often at the most.
const REFRESH: u64 = 20_000_000;

/// When it is looked again which threads there are: of ten thousand that takes milliseconds, and no more than a fiftieth of
/// the time may go into it.
#[derive(Default)]
struct Pace {
    due: Nanos,
}

impl Pace {
    fn is_due(&self, now: Nanos) -> bool {
        now >= self.due
    }

    /// It was looked from `begun` until now.
    fn looked(&mut self, begun: Nanos) {
        let now = clock::now();
        self.due = now.plus(REFRESH.max(50 * now.since(begun).0));
    }
}

/// What is to be sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// By whom; none: by the best that this VM offers.
    pub(crate) engine: Option<sample::Engine>,
    /// From one sample to the next.
    pub(crate) interval: Nanos,
    /// For how long; none: until it is ended.
    pub(crate) time: Option<Nanos>,
    /// Whether threads that wait are sampled as well, where the engine can choose.
    pub(crate) all: bool,
    /// Into the ring, or into memory of its own until it is asked for.
    pub(crate) into_ring: bool,
}

/// What a session has given.
pub(crate) struct Taken {
    /// The facts of it.
    pub(crate) facts: Sampling,
    /// The events, framed and packed.
    pub(crate) packed: Vec<u8>,
    /// What is missing, by cause.
    pub(crate) lost: BTreeMap<String, u64>,
}

/// The session that goes on, and the facts of one that writes into the ring.
#[derive(Default)]
pub(crate) struct Sampler {
    session: Mutex<Option<Session>>,
    facts: Arc<Mutex<Option<Sampling>>>,
    /// Threads of sessions that are attached to the VM: one, or two for a moment.
    attached: AtomicU32,
}

struct Session {
    wanted: Wanted,
    begun: Nanos,
    ends: Arc<AtomicBool>,
    taken: Receiver<Taken>,
}

impl Sampler {
    /// Begins a session, in the place of one that goes on.
    ///
    /// # Errors
    /// In words: what this VM does not offer.
    pub(crate) fn begin(&self, agent: &'static Agent, wanted: Wanted) -> Result<sample::Engine, String> {
        self.end();
        let mut session = self.session.lock().unwrap_or_else(|e| e.into_inner());
        let (ends, (tell, told)) = (Arc::new(AtomicBool::new(false)), sync_channel(1));
        let (give, taken) = sync_channel(1);
        let until = Arc::clone(&ends);
        agent.helpers.start("lookback-sample", move || run(agent, wanted, &until, &tell, &give))?;
        let began = told.recv_timeout(PATIENCE).map_err(|_| "its thread does not begin".to_owned());
        began.and_then(|began| began).inspect_err(|_| ends.store(true, Ordering::Relaxed)).inspect(|_| {
            *session = Some(Session { wanted, begun: clock::now(), ends, taken });
        })
    }

    /// Ends the session, if one goes on; what it has given, if it does so soon.
    pub(crate) fn end(&self) -> Option<(Wanted, Taken)> {
        let session = self.session.lock().unwrap_or_else(|e| e.into_inner()).take()?;
        // Relaxed: a flag.
        session.ends.store(true, Ordering::Relaxed);
        session.taken.recv_timeout(PATIENCE).ok().map(|taken| (session.wanted, taken))
    }

    /// Whether nobody has come for what a session gave that has long ended.
    pub(crate) fn is_abandoned(&self, now: Nanos) -> bool {
        let session = self.session.lock().unwrap_or_else(|e| e.into_inner());
        let until = session.as_ref().and_then(|s| Some(s.begun.plus(s.wanted.time?.0)));
        until.is_some_and(|until| now > until.plus(ABANDONED))
    }

    /// What is sampled into the ring; none when nothing is.
    pub(crate) fn facts(&self) -> Option<Sampling> {
        self.facts.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// Has the session end, without waiting for it.
    pub(crate) fn stop(&self) {
        if let Some(session) = &*self.session.lock().unwrap_or_else(|e| e.into_inner()) {
            session.ends.store(true, Ordering::Relaxed);
        }
    }

    /// Whether no thread of it is attached to the VM.
    pub(crate) fn is_gone(&self) -> bool {
        // ORDERING: Acquire; pairs with the Release in `run`.
        self.attached.load(Ordering::Acquire) == 0
    }
}

/// The thread of a session.
fn run(
    agent: &'static Agent,
    wanted: Wanted,
    ends: &AtomicBool,
    tell: &SyncSender<Result<sample::Engine, String>>,
    give: &SyncSender<Taken>,
) {
    let sampler = &agent.sampler;
    // ORDERING: Release, as below; pairs with `is_gone`: the VM's end sees this thread before it is attached.
    sampler.attached.fetch_add(1, Ordering::Release);
    match threads::attach(agent, c"Lookback sampler") {
        None => drop(tell.send(Err("the VM does not let its thread attach".into()))),
        Some(env) => {
            // The kernel may not add its usual 50 us to a sleep. SAFETY: no pointers are involved.
            unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
            let mut collector = Collector::new(agent, env, wanted.into_ring);
            match engine::choose(agent, env, &wanted) {
                Err(why) => drop(tell.send(Err(why))),
                Ok((kind, mut engine)) => {
                    collector.by = Some(kind);
                    let _ = tell.send(Ok(kind));
                    let facts = follow(agent, &wanted, kind, engine.as_mut(), &mut collector, ends);
                    drop(engine);
                    let (packed, lost) = collector.finish();
                    let _ = give.send(Taken { facts, packed, lost });
                }
            }
            // SAFETY: attached above; no Java frames are below us.
            unsafe { (**agent.vm).DetachCurrentThread.map(|f| f(agent.vm)) };
        }
    }
    sampler.attached.fetch_sub(1, Ordering::Release);
}

/// Takes samples until the session's end.
fn follow(
    agent: &Agent,
    wanted: &Wanted,
    kind: sample::Engine,
    engine: &mut dyn Engine,
    collector: &mut Collector<'_>,
    ends: &AtomicBool,
) -> Sampling {
    let begun = clock::now();
    let cpu = clock::thread_cpu();
    let until = wanted.time.map(|time| begun.plus(time.0));
    let mut calls = Latencies::default();
    let (mut due, mut late, mut told) = (begun, 0, begun);
    let facts = |engine: &dyn Engine, calls: &Latencies, late, collector: &Collector<'_>| Sampling {
        engine: kind,
        interval: wanted.interval,
        begun,
        ended: clock::now(),
        requests: calls.count(),
        late,
        samples: collector.taken,
        latency: [0.025, 0.5, 0.975].map(|share| engine.latencies().unwrap_or(calls).quantile(share)),
        cpu: Nanos(clock::thread_cpu() - cpu),
    };
    loop {
        let now = clock::now();
        // Relaxed: a flag.
        if ends.load(Ordering::Relaxed) || agent.is_detached() || until.is_some_and(|until| now >= until) {
            break;
        }
        if now < due {
            clock::sleep_until(due.0.min(now.0 + LOOK));
            continue;
        }
        if wanted.into_ring && agent.options.tracing && !agent.is_tracing() {
            due = now.plus(LOOK);
            continue;
        }
        engine.sample(collector);
        let done = clock::now();
        calls.add(done.since(now));
        // One that takes longer than the interval is followed by the next at once, and those between are not made up for.
        due = due.plus(wanted.interval.0);
        if done > due {
            late += done.since(due).0 / wanted.interval.0.max(1);
            due = done;
        }
        if wanted.into_ring && done.since(told).0 > 1_000_000_000 {
            told = done;
            let facts = facts(&*engine, &calls, late, collector);
            *agent.sampler.facts.lock().unwrap_or_else(|e| e.into_inner()) = Some(facts);
        }
    }
    engine.finish(collector);
    facts(&*engine, &calls, late, collector)
}
