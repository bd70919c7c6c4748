//! When a writer is preempted in the middle of an event, and when it comes back.
//!
//! The constraint: the trace alone says when a thread runs, and every replay of it must be the same. So:
//! - A thread's last event before another thread's on the same core ends its *slice*. If the thread writes again before
//!   the trace ends, the event stalls with the probability that gives the wanted share of all events; its writer comes
//!   back just before that next event. (A thread that never runs again was not preempted in the middle of something.)
//!   That is harsher than life: most slices end because the thread has nothing to do, and one that is preempted is
//!   runnable and back sooner.
//! - If even all slice ends are fewer than the wanted share, any other event stalls with the probability that makes up
//!   for it. In the trace its thread goes on, so the stalled event counts as one of a thread of its own, which was
//!   switched out there; it comes back after as many events as one of the trace's own pauses (from the end of a slice
//!   to that thread's next event), chosen at random, took.
//! - A writer that is away when the trace ends comes back then, in the order of the events.
//!
//! It must not know what a tracer does with a writer that is away.

use crate::synthetic::Random;
use crate::trace::Trace;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

pub(crate) struct Stalls<'t> {
    trace: &'t Trace,
    random: Random,
    /// Of an event in the middle of a slice, and of one at its end.
    probability: [f64; 2],
    /// Whether each event of the trace is the end of a slice.
    ends: Vec<bool>,
    /// In events, one for each slice.
    pauses: Vec<u64>,
    /// By thread, the event it is in the middle of.
    threads: HashMap<usize, u64>,
    /// Threads of their own: when they come back, and the event.
    others: BinaryHeap<Reverse<(u64, u64)>>,
    count: usize,
}

impl<'t> Stalls<'t> {
    /// `share` of all events stall; `seed` says which.
    pub(crate) fn new(trace: &'t Trace, share: f64, seed: u64) -> Stalls<'t> {
        let (ends, pauses) = if share > 0.0 { slices(trace) } else { Default::default() };
        let end_share = pauses.len() as f64 / trace.events.len() as f64;
        let probability = match share <= end_share {
            true => [0.0, if share > 0.0 { share / end_share } else { 0.0 }],
            false => [(share - end_share) / (1.0 - end_share), 1.0],
        };
        let random = Random::new(seed);
        let (threads, others) = Default::default();
        Stalls { trace, random, probability, ends, pauses, threads, others, count: 0 }
    }

    /// Whether there are any at all.
    pub(crate) fn any(&self) -> bool {
        !self.ends.is_empty()
    }

    /// The writers that come back before this event is written.
    pub(crate) fn back(&mut self, number: u64) -> Vec<u64> {
        let mut back = Vec::new();
        if !self.any() {
            return back;
        }
        back.extend(self.threads.remove(&self.trace.event(number).thread));
        while let Some(&Reverse((_, event))) = self.others.peek().filter(|next| next.0.0 <= number) {
            back.push(event);
            self.others.pop();
        }
        back
    }

    /// Whether this event stalls.
    pub(crate) fn stalls(&mut self, number: u64) -> bool {
        if !self.any() {
            return false;
        }
        let end = self.ends[number as usize % self.ends.len()];
        self.random.unit() < self.probability[usize::from(end)]
    }

    /// The event has been begun, and its writer is away.
    pub(crate) fn away(&mut self, number: u64) {
        self.count += 1;
        if self.ends[number as usize % self.ends.len()] {
            self.threads.insert(self.trace.event(number).thread, number);
        } else {
            let pause = self.pauses[self.random.below(self.pauses.len())];
            self.others.push(Reverse((number + pause, number)));
        }
    }

    /// The events in the middle of which a writer is away now.
    pub(crate) fn who(&self) -> HashSet<u64> {
        let others = self.others.iter().map(|Reverse((_, event))| *event);
        self.threads.values().copied().chain(others).collect()
    }

    /// How many there were.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

/// Which events end a slice of a thread that comes back, and how many events later it does.
fn slices(trace: &Trace) -> (Vec<bool>, Vec<u64>) {
    let mut pauses = Vec::new();
    let mut on_core: Vec<Option<usize>> = vec![None; trace.cores];
    let mut of_thread: Vec<Option<usize>> = vec![None; trace.threads];
    let mut ends = vec![false; trace.events.len()];
    for (at, event) in trace.events.iter().enumerate().rev() {
        let next = on_core[event.core].replace(event.thread);
        let again = of_thread[event.thread].replace(at);
        if let Some(again) = again.filter(|_| next.is_some_and(|thread| thread != event.thread)) {
            ends[at] = true;
            pauses.push((again - at) as u64);
        }
    }
    (ends, pauses)
}
