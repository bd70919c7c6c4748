//! Stop-the-world pauses, added up since the VM began.
//!
//! The constraint that shaped it: the VM calls at both ends of a pause with the world stopped, where neither JNI nor
//! JVMTI may be called and each microsecond is the program's. So two or three clocks are read and added under a lock that
//! nobody holds for longer than that. An iteration that ends or begins within a pause, as when another thread has asked
//! for the collection, gets its part of it.
//!
//! It must not allocate.

use crate::clock;
use crate::counters::Counters;
use crate::report::Pauses;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The clocks at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: u64,
    /// Of the thread that announces the pause; only the difference between its start and finish means anything.
    pub(crate) thread_cpu_ns: u64,
    pub(crate) task_clock_ns: Option<u64>,
}

impl Moment {
    fn read(counters: &Counters) -> Moment {
        let task_clock_ns = counters.task_clock();
        Moment {
            wall_ns: clock::monotonic(),
            cpu_ns: clock::process_cpu(),
            thread_cpu_ns: clock::thread_cpu(),
            task_clock_ns,
        }
    }
}

#[derive(Debug, Default)]
struct State {
    /// Of the pauses that have ended; `count` also of the one that goes on.
    sum: Pauses,
    open: Option<Moment>,
}

impl State {
    fn start(&mut self, now: Moment) {
        self.sum.count += 1;
        self.open = Some(now);
    }

    fn finish(&mut self, now: Moment) {
        if let Some(begun) = self.open.take() {
            add(&mut self.sum, begun, now);
        }
    }

    fn until(&self, now: Moment) -> Pauses {
        let mut sum = self.sum;
        if let Some(begun) = self.open {
            // Who asks is another thread than the one that announced it.
            add(&mut sum, begun, Moment { thread_cpu_ns: begun.thread_cpu_ns, ..now });
        }
        if now.task_clock_ns.is_some() {
            // None of its time is not the same as no such clock.
            sum.task_clock_ns.get_or_insert(0);
        }
        sum
    }
}

fn add(sum: &mut Pauses, from: Moment, to: Moment) {
    sum.wall_ns += to.wall_ns.saturating_sub(from.wall_ns);
    sum.cpu_ns += to.cpu_ns.saturating_sub(from.cpu_ns);
    sum.thread_cpu_ns += to.thread_cpu_ns.saturating_sub(from.thread_cpu_ns);
    if let (Some(from), Some(to)) = (from.task_clock_ns, to.task_clock_ns) {
        *sum.task_clock_ns.get_or_insert(0) += to.saturating_sub(from);
    }
}

/// All pauses so far.
#[derive(Debug, Default)]
pub(crate) struct AllPauses(Mutex<State>);

impl AllPauses {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The world has stopped.
    pub(crate) fn start(&self, counters: &Counters) {
        let now = Moment::read(counters);
        self.state().start(now);
    }

    /// The world goes on in a moment.
    pub(crate) fn finish(&self, counters: &Counters) {
        let now = Moment::read(counters);
        self.state().finish(now);
    }

    /// All until a moment, with the part of a pause that goes on.
    pub(crate) fn until(&self, now: Moment) -> Pauses {
        self.state().until(now)
    }
}

/// What `end` has more than `begin`.
pub(crate) fn since(begin: Pauses, end: Pauses) -> Pauses {
    Pauses {
        count: end.count.saturating_sub(begin.count),
        wall_ns: end.wall_ns.saturating_sub(begin.wall_ns),
        cpu_ns: end.cpu_ns.saturating_sub(begin.cpu_ns),
        thread_cpu_ns: end.thread_cpu_ns.saturating_sub(begin.thread_cpu_ns),
        task_clock_ns: end.task_clock_ns.map(|n| n.saturating_sub(begin.task_clock_ns.unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(wall_ns: u64) -> Moment {
        Moment { wall_ns, cpu_ns: wall_ns * 2, thread_cpu_ns: wall_ns, task_clock_ns: Some(wall_ns * 3) }
    }

    fn pauses(count: u64, wall_ns: u64, thread_cpu_ns: u64) -> Pauses {
        Pauses { count, wall_ns, cpu_ns: wall_ns * 2, thread_cpu_ns, task_clock_ns: Some(wall_ns * 3) }
    }

    #[test]
    fn a_pause_that_crosses_a_border_is_divided_there_and_counted_once() {
        let mut state = State::default();
        state.start(at(100));
        state.finish(at(110));
        state.start(at(200));
        let begin = state.until(at(205));
        state.finish(at(220));
        state.start(at(300));
        state.finish(at(301));
        state.start(at(400));
        let end = state.until(at(450));
        state.finish(at(500));
        // The announcing thread's time is known when a pause has ended, and counts then.
        assert_eq!(begin, pauses(2, 15, 10));
        assert_eq!(since(begin, end), pauses(2, 15 + 1 + 50, 20 + 1));
        assert_eq!(since(end, state.until(at(600))), pauses(0, 50, 100));
    }

    #[test]
    fn a_finish_without_a_start_and_a_task_clock_that_is_refused_count_nothing() {
        let mut state = State::default();
        state.finish(at(10));
        assert_eq!(state.until(at(11)), pauses(0, 0, 0));
        state.start(Moment { task_clock_ns: None, ..at(20) });
        state.finish(Moment { task_clock_ns: None, ..at(30) });
        let until = state.until(Moment { task_clock_ns: None, ..at(40) });
        assert_eq!((until.wall_ns, until.task_clock_ns), (10, None));
    }
}
