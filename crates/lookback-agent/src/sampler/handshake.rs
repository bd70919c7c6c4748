//! Threads that run right now, which the kernel tells, one by one: each is stopped alone, by a handshake.
//!
//! The constraint that shaped it: JVMTI does not say which threads run, and to ask for the stacks of all that might is what
//! makes sampling dear. So each thread's own clock of processor time is read (a quarter of a microsecond), of those that have
//! gone on the kernel is asked for the state, and at most as many as there are cores are sampled, a different one first each time.
//! A thread that is sampled whenever it is found running is sampled in proportion to its time.

use super::Pace;
use super::collect::{Collector, MOST_FRAMES};
use super::engine::{Engine, cores};
use super::mounted::Mounted;
use super::os_threads::{OsThreads, is_running};
use super::thread_table::{Live, Sampled};
use crate::agent::Agent;
use crate::clock::{self, ThreadClock};
use crate::java::delete;
use jni_sys::{JNIEnv, jobject};
use lookback_format::Nanos;
use lookback_format::sample::Activity;
use lookback_jvmti::Frame;
use rustc_hash::FxHashMap;

/// The engine.
pub(super) struct Handshakes {
    numbers: OsThreads,
    mounted: Option<Mounted>,
    /// Whether threads that wait are sampled as well.
    all: bool,
    most: usize,
    live: Option<Live>,
    pace: Pace,
    candidates: Vec<Candidate>,
    /// Processor time at the last look, by number.
    clocks: FxHashMap<u32, u64>,
    first: usize,
    frames: Vec<Frame>,
}

#[derive(Clone, Copy)]
struct Candidate {
    thread: jobject,
    sampled: Sampled,
}

impl Handshakes {
    pub(super) fn new(agent: &Agent, env: *mut JNIEnv, all: bool) -> Result<Handshakes, String> {
        Ok(Handshakes {
            numbers: OsThreads::find(agent, env)?,
            mounted: Mounted::find(agent, env),
            all,
            most: cores(),
            live: None,
            pace: Pace::default(),
            candidates: Vec::new(),
            clocks: FxHashMap::default(),
            first: 0,
            frames: Vec::new(),
        })
    }

    /// Looks which threads there are.
    fn refresh(&mut self, collector: &mut Collector<'_>, now: Nanos) {
        self.live = None;
        self.candidates.clear();
        let live = Live::look(collector.agent, collector.env);
        for &thread in &live.threads {
            if let Some(sampled) = collector.thread(thread, Some(&self.numbers), now)
                && sampled.os_tid != 0
            {
                self.candidates.push(Candidate { thread, sampled });
            }
        }
        self.live = Some(live);
        let clocks = std::mem::take(&mut self.clocks);
        let numbers = self.candidates.iter().map(|c| c.sampled.os_tid);
        self.clocks = numbers.map(|n| (n, clocks.get(&n).copied().unwrap_or(0))).collect();
        self.pace.looked(now);
    }

    /// Whether a thread has run since the last look, and runs now.
    fn runs(&mut self, os_tid: u32) -> bool {
        let cpu = ThreadClock::of(os_tid).read();
        let before = self.clocks.insert(os_tid, cpu).unwrap_or(0);
        cpu != before && is_running(os_tid)
    }

    fn take(&mut self, collector: &mut Collector<'_>, candidate: Candidate, activity: Activity) -> bool {
        if let Some(mounted) = &self.mounted
            && let Some(thread) = mounted.on(candidate.thread)
        {
            let taken = mounted.frames(candidate.thread, thread, MOST_FRAMES, &mut self.frames);
            let at = clock::now();
            let key = collector.virtual_thread(thread, at).filter(|_| taken && !self.frames.is_empty());
            delete(collector.env, thread);
            key.inspect(|&key| collector.put(key, at, activity, &self.frames));
            return key.is_some();
        }
        let jvmti = collector.agent.jvmti;
        match jvmti.stack_trace_into(candidate.thread, MOST_FRAMES, &mut self.frames) {
            // A thread without Java frames is none of ours, or ends.
            Ok(()) if self.frames.is_empty() => false,
            Ok(()) => {
                let at = clock::now();
                collector.put(candidate.sampled.key, at, activity, &self.frames);
                true
            }
            // It has ended.
            Err(_) => false,
        }
    }
}

impl Engine for Handshakes {
    fn sample(&mut self, collector: &mut Collector<'_>) {
        let now = clock::now();
        if self.pace.is_due(now) {
            self.refresh(collector, now);
        }
        let n = self.candidates.len();
        // Another one first, so that no place in the list is preferred.
        self.first = if n == 0 { 0 } else { (self.first + 1) % n };
        let (mut running, mut waiting) = (0, Vec::new());
        for i in 0..n {
            let candidate = self.candidates[(self.first + i) % n];
            let runs = self.runs(candidate.sampled.os_tid);
            if runs && running < self.most {
                running += usize::from(self.take(collector, candidate, Activity::Running));
            } else if !runs && self.all {
                waiting.push(candidate);
            }
        }
        // Of those that wait, each in its turn, and as many as there are cores: in an hour all are told apart, and none costs.
        for candidate in waiting.into_iter().take(self.most) {
            self.take(collector, candidate, Activity::Waiting);
        }
    }
}
