//! All threads at a safepoint: what JVMTI offers of old, and what the thesis compares with (`JVMTI` there).
//!
//! The constraint that shaped it: the VM stops the whole program for each sample, and walks each stack to its end. So it is
//! dear with many threads and deep stacks, and never what is chosen unless somebody asks for it.

use super::collect::{Collector, MOST_FRAMES};
use super::engine::Engine;
use crate::clock;
use crate::java::delete;
use lookback_format::sample::Activity;
use lookback_jvmti::thread_state;

/// The engine.
pub(super) struct Safepoints;

impl Safepoints {
    pub(super) fn new() -> Safepoints {
        Safepoints
    }
}

impl Engine for Safepoints {
    fn sample(&mut self, collector: &mut Collector<'_>) {
        let (jvmti, env) = (collector.agent.jvmti, collector.env);
        let at = clock::now();
        let taken = jvmti.all_stack_traces(MOST_FRAMES, |thread, state, frames| {
            let sampled = collector.thread(thread, None, at);
            if let Some(sampled) = sampled.filter(|_| !frames.is_empty()) {
                collector.put(sampled.key, at, activity(state), frames);
            }
            delete(env, thread);
        });
        if taken.is_err() {
            collector.lose("samples that the VM refused", 1);
        }
    }
}

/// What a thread did that is in one of JVMTI's states. Native code may run or wait.
fn activity(state: i32) -> Activity {
    if state & thread_state::RUNNABLE == 0 {
        Activity::Waiting
    } else if state & thread_state::IN_NATIVE != 0 {
        Activity::Unknown
    } else {
        Activity::Running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_code_may_run_or_wait() {
        use thread_state::{ALIVE, IN_NATIVE, RUNNABLE};
        assert_eq!(activity(ALIVE | RUNNABLE), Activity::Running);
        assert_eq!(activity(ALIVE | RUNNABLE | IN_NATIVE), Activity::Unknown);
        assert_eq!(activity(ALIVE), Activity::Waiting);
    }
}
