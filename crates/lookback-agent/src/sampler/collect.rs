//! Where samples go: into the ring, or into packed memory of a session's own.
//!
//! The constraint that shaped it: a session may last for hours, and its memory is the program's. So samples are packed as
//! they come (Zstandard finds that stacks repeat: some three bytes a frame become a tenth of that), and there is a bound.

use super::Pace;
use super::names::Names;
use super::os_threads::OsThreads;
use super::thread_table::{Live, Sampled, ThreadTable};
use crate::agent::Agent;
use crate::slab;
use jni_sys::{JNIEnv, jobject};
use lookback_format::event::{Event, ThreadEvent, frame, kind};
use lookback_format::sample::{Activity, Engine, FRAME, HEAD, Sample};
use lookback_format::{Nanos, ThreadKey};
use lookback_jvmti::Frame as VmFrame;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::io::Write;

/// The most frames of a sample.
pub(super) const MOST_FRAMES: usize = 1_024;
/// The most bytes that a session keeps.
const MOST_PACKED: usize = 128 << 20;
/// Of so many threads it is remembered that it was told who they are: where they live for a moment there are millions.
const MOST_TOLD: usize = 1 << 16;
/// Bytes that are packed at a time.
const PIECE: usize = 1 << 18;

/// Turns what engines find into events.
pub(super) struct Collector<'a> {
    pub(super) agent: &'a Agent,
    pub(super) env: *mut JNIEnv,
    pub(super) by: Option<Engine>,
    /// Samples so far.
    pub(super) taken: u64,
    names: Names,
    threads: ThreadTable,
    /// Of these traced and virtual threads it was told who they are.
    told: FxHashSet<ThreadKey>,
    /// None: into the ring.
    store: Option<Store>,
    lost: BTreeMap<&'static str, u64>,
    sample: Sample,
    payload: Vec<u8>,
    pace: Pace,
}

struct Store {
    framed: Vec<u8>,
    packed: zstd::Encoder<'static, Vec<u8>>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(agent: &'a Agent, env: *mut JNIEnv, into_ring: bool) -> Self {
        let packed = (!into_ring).then(|| zstd::Encoder::new(Vec::new(), 1));
        let store = packed.and_then(Result::ok).map(|packed| Store { framed: Vec::new(), packed });
        Collector {
            agent,
            env,
            by: None,
            taken: 0,
            names: Names::default(),
            threads: ThreadTable::new(agent),
            told: FxHashSet::default(),
            store,
            lost: BTreeMap::new(),
            sample: Sample {
                thread: ThreadKey(0),
                at: Nanos(0),
                activity: Activity::Running,
                engine: None,
                is_cut: false,
                frames: Vec::new(),
            },
            payload: Vec::new(),
            pace: Pace::default(),
        }
    }

    /// Who a thread is; none when it is not to be sampled.
    pub(super) fn thread(
        &mut self,
        thread: jobject,
        numbers: Option<&OsThreads>,
        now: Nanos,
    ) -> Option<Sampled> {
        let (sampled, event) = self.threads.look(self.agent, self.env, thread, numbers, now)?;
        if let Some(event) = event {
            self.tell(event);
        }
        Some(sampled)
    }

    /// The thread with this Java id.
    pub(super) fn thread_of(&mut self, java_tid: u64, now: Nanos) -> Option<Sampled> {
        if self.threads.is_ours(java_tid) {
            return None;
        }
        if self.threads.known(java_tid, now).is_none() && self.pace.is_due(now) {
            let live = Live::look(self.agent, self.env);
            for &thread in &live.threads {
                self.thread(thread, None, now);
            }
            self.pace.looked(now);
        }
        self.threads.known(java_tid, now)
    }

    /// The thread that has this slab; none when that changes meanwhile.
    pub(super) fn thread_at(&mut self, slab: u32, now: Nanos) -> Option<ThreadKey> {
        let key = self.agent.slabs.key(&self.agent.region, slab);
        if !self.told.contains(&key) {
            let (thread, os_tid, java_tid, name) = slab::owner(&self.agent.region, slab)?;
            self.tell(ThreadEvent { thread, os_tid, java_tid, at: now, name });
            self.told.insert(thread);
        }
        Some(key)
    }

    /// The key of a virtual thread, of which it is told who it is.
    pub(super) fn virtual_thread(&mut self, thread: jobject, now: Nanos) -> Option<ThreadKey> {
        let java = self.agent.java()?;
        let java_tid = java.tid(self.env, thread);
        let key = ThreadKey::of_virtual(java_tid);
        if self.told.len() >= MOST_TOLD {
            self.told.clear();
        }
        if self.told.insert(key)
            && let Some(name) = java.name(self.env, thread).filter(|name| !name.is_empty())
        {
            self.payload.clear();
            let kind = Event::VirtualName(java_tid, now, name.to_string()).encode(&mut self.payload);
            self.write(kind);
        }
        Some(key)
    }

    /// One sample; `stack` is innermost first.
    pub(super) fn put(&mut self, thread: ThreadKey, at: Nanos, activity: Activity, stack: &[VmFrame]) {
        let mut most = MOST_FRAMES;
        if self.store.is_none() {
            most = most.min((self.agent.region.ring.max_payload() - HEAD) / FRAME);
        }
        let sample = &mut self.sample;
        (sample.thread, sample.at, sample.activity, sample.engine) = (thread, at, activity, self.by);
        sample.is_cut = stack.len() >= most;
        sample.frames.clear();
        let shown = &stack[..stack.len().min(most)];
        self.names.frames(self.agent, self.env, at, shown, &mut sample.frames);
        self.payload.clear();
        sample.encode(&mut self.payload);
        self.taken += 1;
        self.write(kind::SAMPLE);
    }

    /// So many samples could not be taken, for this reason.
    pub(super) fn lose(&mut self, why: &'static str, n: u64) {
        if n > 0 {
            *self.lost.entry(why).or_default() += n;
        }
    }

    fn tell(&mut self, event: ThreadEvent) {
        self.payload.clear();
        let kind = Event::ThreadStart(event).encode(&mut self.payload);
        self.write(kind);
    }

    /// Writes the event whose payload was made.
    fn write(&mut self, kind: u16) {
        let Some(store) = &mut self.store else {
            return self.agent.region.record(kind, &[&self.payload]);
        };
        if store.packed.get_ref().len() > MOST_PACKED {
            return self.lose("samples for which there was no room", 1);
        }
        frame(kind, &[&self.payload], &mut store.framed);
        if store.framed.len() >= PIECE {
            // Writing into memory does not fail.
            let _ = store.packed.write_all(&store.framed);
            store.framed.clear();
        }
    }

    /// The packed events of a session that has memory of its own, and what is missing by cause.
    pub(super) fn finish(mut self) -> (Vec<u8>, BTreeMap<String, u64>) {
        let packed = self.store.take().and_then(|mut store| {
            store.packed.write_all(&store.framed).ok()?;
            store.packed.finish().ok()
        });
        (packed.unwrap_or_default(), self.lost.into_iter().map(|(why, n)| (why.to_owned(), n)).collect())
    }
}
