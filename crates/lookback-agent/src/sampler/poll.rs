//! Threads sample themselves at the trace points' own poll: no thread stops for another, and no signal is sent.
//!
//! The constraint that shaped it: a thread comes to this place once a tick if it runs traced methods, and it may not pay for
//! what nobody has asked for. So there is one number that says which sample is due, which is read there; a thread that has
//! not taken that one yet takes it, by a box that the sampler empties. Who is left out: threads that are braked, and what a
//! traced method calls that is not traced (its caller's exit is where the sample is taken). This is the thesis' "sampling
//! point" (chapter 6).

use super::collect::Collector;
use super::engine::Engine;
use super::mailboxes::Mailboxes;
use super::raw::Raw;
use crate::agent::Agent;
use crate::clock;
use crate::java::{Cursor, delete};
use crate::rewriting::TRACE_POINT_CLASS;
use crate::slab::OwnSlab;
use jni_sys::{JNIEnv, jmethodID};
use lookback_format::sample::Activity;
use lookback_format::{Nanos, ThreadKey};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Which sample is due; 0: none. Apart from everything else, since each thread reads it once a tick.
static DUE: AtomicU32 = AtomicU32::new(0);
/// Where it goes. Never freed: a thread may be on its way there.
static PLACE: AtomicPtr<Place> = AtomicPtr::new(std::ptr::null_mut());

/// Boxes: a few for each thread that can run.
const BOXES: usize = 64;
/// The trace point's own frames, at the top of a stack that is taken there.
const OWN_FRAMES: usize = 4;

struct Place {
    mailboxes: Mailboxes<Raw>,
    /// By slab, the sample that its thread has taken last.
    taken: Box<[AtomicU32]>,
}

/// The engine.
pub(super) struct Polls {
    place: &'static Place,
    /// The methods of the trace points' class, as they are met.
    own: Vec<jmethodID>,
}

impl Polls {
    pub(super) fn new(agent: &'static Agent, interval: Nanos) -> Result<Polls, String> {
        if agent.vm_points.is_some() {
            return Err(
                "the engine poll takes samples at trace points of bytecode, and here the VM has its own; \
                        choose partial-incremental"
                    .into(),
            );
        }
        if !agent.is_tracing() {
            return Err("the engine poll needs tracing: threads sample themselves at trace points; \
                        `lookback start` turns it on, or choose another engine"
                .into());
        }
        if interval.0 < agent.options.tick {
            return Err(format!(
                "the engine poll samples once a tick at the most, which is {}; choose a longer interval or a shorter tick=",
                lookback_options::format_duration(agent.options.tick)
            ));
        }
        // ORDERING: Acquire; pairs with the Release below, of a session before this one.
        let mut place = PLACE.load(Ordering::Acquire);
        // SAFETY: null, or made here and never freed.
        if unsafe { place.as_ref() }.is_none_or(|place| place.taken.len() < agent.region.slabs as usize) {
            let taken = (0..agent.region.slabs).map(|_| AtomicU32::new(0)).collect();
            place = Box::into_raw(Box::new(Place { mailboxes: Mailboxes::new(BOXES, Raw::empty), taken }));
            // ORDERING: Release; pairs with the Acquire in `take`.
            PLACE.store(place, Ordering::Release);
        }
        // SAFETY: made here and never freed.
        Ok(Polls { place: unsafe { &*place }, own: Vec::new() })
    }

    /// How many frames at the top are the trace point's.
    fn own_frames(&mut self, collector: &Collector<'_>, frames: &[lookback_jvmti::Frame]) -> usize {
        let is_own = |own: &mut Vec<jmethodID>, method: jmethodID| {
            if own.contains(&method) {
                return true;
            }
            let jvmti = collector.agent.jvmti;
            let is_new = jvmti.declaring_class(method).is_ok_and(|class| {
                let name = jvmti.class_name(class).unwrap_or_default();
                delete(collector.env, class);
                name.replace('.', "/") == TRACE_POINT_CLASS
            });
            own.extend(is_new.then_some(method));
            is_new
        };
        frames.iter().take(OWN_FRAMES).take_while(|frame| is_own(&mut self.own, frame.method)).count()
    }

    fn drain(&mut self, collector: &mut Collector<'_>) {
        let place = self.place;
        place.mailboxes.drain(|raw| {
            let frames = &raw.frames[..raw.len];
            let own = self.own_frames(collector, frames);
            let key = match raw.virtual_tid {
                0 => collector.thread_at(raw.thread, raw.at),
                tid => Some(ThreadKey::of_virtual(tid)),
            };
            if let Some(key) = key {
                collector.put(key, raw.at, Activity::Running, &frames[own..]);
            }
        });
        collector.lose("samples that found no box", place.mailboxes.lost());
    }
}

impl Engine for Polls {
    fn sample(&mut self, collector: &mut Collector<'_>) {
        // Relaxed: only the sampler writes it, and who sees it late is sampled late.
        let next = DUE.load(Ordering::Relaxed).wrapping_add(1).max(1);
        DUE.store(next, Ordering::Relaxed);
        self.drain(collector);
    }

    fn finish(&mut self, collector: &mut Collector<'_>) {
        self.drain(collector);
    }
}

impl Drop for Polls {
    fn drop(&mut self) {
        DUE.store(0, Ordering::Relaxed);
    }
}

/// The current thread has come to a poll, and goes on at this cursor.
pub(crate) fn here(env: *mut JNIEnv, cursor: Cursor) {
    // Relaxed: see `Polls::sample`.
    let due = DUE.load(Ordering::Relaxed);
    if due != 0 && cursor != Cursor::OFF {
        let _ = catch_unwind(AssertUnwindSafe(|| take(env, cursor, due)));
    }
}

#[cold]
fn take(env: *mut JNIEnv, cursor: Cursor, due: u32) -> Option<()> {
    let agent = Agent::get()?;
    let own = OwnSlab::of_cursor(&agent.region, cursor)?;
    // ORDERING: Acquire; pairs with the Release in `Polls::new`. SAFETY: null, or made there and never freed.
    let place = unsafe { PLACE.load(Ordering::Acquire).as_ref() }?;
    // Relaxed: only this thread uses the word of its slab; after another thread had the slab, one sample more or less.
    if place.taken.get(own.index as usize)?.swap(due, Ordering::Relaxed) == due {
        return None;
    }
    place.mailboxes.claim()?.put(|raw| {
        (raw.thread, raw.at) = (own.index, clock::now());
        raw.virtual_tid = own.carries().unwrap_or(0);
        // By name and not as null: for that, a VM with virtual threads would hold all of them up.
        let Ok(current) = agent.jvmti.current_thread() else { return false };
        raw.len = agent.jvmti.stack_trace_in(current, &mut raw.frames).unwrap_or(0);
        delete(env, current);
        raw.len > 0
    });
    Some(())
}
