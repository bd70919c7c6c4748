//! The threads of the process and their processor time.
//!
//! The constraint that shaped it: what is subtracted from the process's clock must be of the same clock, and as fresh.
//! `schedstat` shows a running thread's time as of its last switch or tick, up to some milliseconds ago; the thread's own
//! clock brings it up to date, at a third of a microsecond. So clocks are read between the two readings of the process's
//! clock, names and run delays outside of them, from `/proc/self/task`.

use crate::clock;
use crate::report::Thread;
use std::collections::HashMap;
use std::fs;

/// Ids of the threads that are alive.
fn alive() -> Vec<i32> {
    let entries = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

/// Field 2 of `schedstat`: nanoseconds that a thread was ready and did not run.
fn run_delay(tid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/self/task/{tid}/schedstat")).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The thread's name; an id when it has ended meanwhile.
fn name(tid: i32) -> String {
    match fs::read(format!("/proc/self/task/{tid}/comm")) {
        Ok(bytes) => String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned(),
        Err(_) => format!("thread {tid}"),
    }
}

/// What was read at the begin.
#[derive(Debug, Default)]
pub(crate) struct Begin {
    delays: HashMap<i32, u64>,
    cpu: HashMap<i32, u64>,
}

impl Begin {
    /// What takes long: before the process's clock is read.
    pub(crate) fn prepare(&mut self) {
        let alive = alive();
        self.delays.clear();
        self.delays.extend(alive.iter().filter_map(|tid| Some((*tid, run_delay(*tid)?))));
        self.cpu.clear();
        self.cpu.reserve(alive.len());
        // Brings the threads that run up to date, and with them the process's clock.
        for tid in alive {
            let _ = clock::of_thread(tid);
        }
    }

    /// The clocks: after the process's clock was read. A thread that is not among them began after it, so that all of
    /// its time is of the iteration.
    pub(crate) fn read(&mut self) {
        self.cpu.extend(clocks());
    }

    /// The calling thread's clock, which has gone on while the others were read.
    pub(crate) fn set(&mut self, tid: i32, cpu: u64) {
        self.cpu.insert(tid, cpu);
    }
}

/// The clocks of all threads that are alive; at the end before the process's clock is read.
pub(crate) fn clocks() -> Vec<(i32, u64)> {
    alive().into_iter().filter_map(|tid| Some((tid, clock::of_thread(tid)?))).collect()
}

/// What the threads of `clocks` have used since `begin`. A thread that was not there then has begun since.
pub(crate) fn since(begin: &Begin, clocks: &[(i32, u64)]) -> Vec<Thread> {
    let thread = |(tid, cpu): &(i32, u64)| {
        // An id that is another thread's by now has a clock that went back.
        let before = begin.cpu.get(tid).copied().filter(|before| before <= cpu).unwrap_or(0);
        let delay_before = begin.delays.get(tid).copied().unwrap_or(0);
        Thread {
            name: name(*tid),
            tid: *tid,
            cpu_ns: cpu - before,
            run_delay_ns: run_delay(*tid).map(|now| now.checked_sub(delay_before).unwrap_or(now)),
        }
    };
    clocks.iter().map(thread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_thread_counts_from_the_begin_or_from_its_own() {
        let burn = |nanos: u64| {
            let begin = clock::thread_cpu();
            while clock::thread_cpu() < begin + nanos {}
        };
        let (begun, wait) = channel();
        let (go, may_go) = channel::<()>();
        let (done, is_done) = channel();
        let (end, may_end) = channel::<()>();
        let worker = std::thread::Builder::new().name("old-worker".into()).spawn(move || {
            burn(20_000_000);
            let _ = begun.send(());
            let _ = may_go.recv();
            burn(10_000_000);
            let _ = done.send(());
            let _ = may_end.recv();
        });
        wait.recv().expect("it has begun");
        let mut begin = Begin::default();
        begin.prepare();
        let before = clock::process_cpu();
        begin.read();
        go.send(()).expect("it waits");
        is_done.recv().expect("it works");
        let clocks = clocks();
        let spent = clock::process_cpu() - before;
        let threads = since(&begin, &clocks);
        let old = threads.iter().find(|t| t.name == "old-worker").expect("it is alive");
        assert!((10_000_000..20_000_000).contains(&old.cpu_ns), "{old:?}");
        assert!(threads.iter().map(|t| t.cpu_ns).sum::<u64>() <= spent, "{threads:?} of {spent}");
        drop(end);
        worker.expect("a thread").join().expect("it ends");
    }
}
