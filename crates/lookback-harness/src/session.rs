//! Begin and end: what is read when, and what becomes of it.
//!
//! The constraint that shaped it: reading takes time, and none of it may count as the program's. So the readings lie in
//! each other like shells, and what takes long is outermost:
//!
//! ```text
//! begin: allocation, peak memory, run delays | process clock | thread clocks | perf | time  =>  the program
//! end:   time | perf | thread clocks | process clock | memory, names, run delays, allocation, the line
//! ```
//!
//! Of what lies between the two readings of the process's clock, all but the program is the calling thread's own, and known
//! by its clock: it is subtracted (`harness_cpu_ns`). The threads' clocks are read inside of the process's, so that their
//! sum is never more than that. A begin takes 0.15 ms and an end 0.25 ms with 10 threads, 2 and 3 ms with 200; of
//! that, 2 to 9 us are counted in an iteration that does nothing.

use crate::allocation::Allocated;
use crate::clock;
use crate::counters::{Counters, Reading};
use crate::error::{Error, Result};
use crate::output::Output;
use crate::pauses::{self, AllPauses, Moment};
use crate::report::{Iteration, Line, Pauses, Requests, Series, Stop, Unfinished, Value};
use crate::resident;
use crate::threads;
use std::collections::BTreeMap;

/// Bytes of a name at the most.
pub(crate) const MOST_NAME: usize = 256;

/// An iteration that has begun.
#[derive(Debug)]
struct Open {
    name: String,
    iteration: i32,
    begin_ns: u64,
    /// The process's clock, as if the harness had used nothing since.
    cpu_ns: u64,
    harness_cpu_ns: u64,
    reading: Reading,
    pauses: Pauses,
    allocated: Option<Allocated>,
    has_peak: bool,
    values: BTreeMap<String, f64>,
}

/// The iteration that has ended last.
#[derive(Debug)]
struct Last {
    name: String,
    iteration: i32,
    begin_ns: u64,
}

/// What is measured now, and what was last.
#[derive(Debug)]
pub(crate) struct Session {
    output: Output,
    with_pauses: bool,
    threads: threads::Begin,
    open: Option<Open>,
    last: Option<Last>,
}

/// What an end is called with: its clocks, which were read first of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    end_ns: u64,
    own_cpu_ns: u64,
    reading: Reading,
}

impl End {
    /// To be read before anything else is done.
    pub(crate) fn read(counters: &Counters) -> End {
        let end_ns = clock::monotonic();
        let own_cpu_ns = clock::thread_cpu();
        End { end_ns, own_cpu_ns, reading: counters.read_at_end() }
    }
}

fn own_tid() -> i32 {
    // SAFETY: no arguments.
    unsafe { libc::gettid() }
}

fn checked(name: &str) -> Result<()> {
    if (1..=MOST_NAME).contains(&name.len()) { Ok(()) } else { Err(Error::NameTooLong { bytes: name.len() }) }
}

impl Session {
    pub(crate) fn new(output: Output, with_pauses: bool) -> Session {
        Session { output, with_pauses, threads: threads::Begin::default(), open: None, last: None }
    }

    pub(crate) fn write(&mut self, line: &Line) {
        self.output.write(line);
    }

    /// An iteration begins when this returns. `allocated` is asked first.
    ///
    /// # Errors
    /// Another has not ended, or the name is too long or empty.
    pub(crate) fn begin(
        &mut self,
        counters: &Counters,
        all_pauses: &AllPauses,
        (name, iteration): (&str, i32),
        allocated: impl FnOnce() -> Option<Allocated>,
    ) -> Result<()> {
        checked(name)?;
        if let Some(open) = &self.open {
            return Err(Error::Open { name: open.name.clone(), iteration: open.iteration });
        }
        let allocated = allocated();
        let has_peak = resident::reset_peak();
        self.threads.prepare();
        let open = self.open.insert(Open {
            name: name.to_owned(),
            iteration,
            begin_ns: 0,
            cpu_ns: 0,
            harness_cpu_ns: 0,
            reading: Reading::default(),
            pauses: Pauses::default(),
            allocated,
            has_peak,
            values: BTreeMap::new(),
        });
        let cpu = clock::process_cpu();
        let own_before = clock::thread_cpu();
        self.threads.read();
        let moment = Moment { wall_ns: clock::monotonic(), cpu_ns: cpu, ..Moment::default() };
        open.reading = counters.read_at_begin();
        open.pauses = all_pauses.until(Moment { task_clock_ns: open.reading.task_clock(), ..moment });
        let own = clock::thread_cpu();
        self.threads.set(own_tid(), own);
        open.harness_cpu_ns = own.saturating_sub(own_before);
        open.cpu_ns = cpu + open.harness_cpu_ns;
        open.begin_ns = clock::monotonic();
        Ok(())
    }

    /// An iteration ended when `end` was read.
    ///
    /// # Errors
    /// It has not begun.
    pub(crate) fn end(
        &mut self,
        all_pauses: &AllPauses,
        end: End,
        (name, iteration): (&str, i32),
        allocated: impl FnOnce() -> Option<Allocated>,
    ) -> Result<()> {
        let mut clocks = threads::clocks();
        let own = own_tid();
        clocks.iter_mut().filter(|(tid, _)| *tid == own).for_each(|(_, cpu)| *cpu = end.own_cpu_ns);
        let own_after = clock::thread_cpu();
        let cpu = clock::process_cpu();

        let begun = self.open.take_if(|open| open.name == name && open.iteration == iteration);
        let Some(begun) = begun else {
            return Err(Error::NotBegun { name: name.chars().take(MOST_NAME).collect(), iteration });
        };
        let task_clock_ns = end.reading.task_clock();
        let moment = Moment { wall_ns: end.end_ns, cpu_ns: cpu, task_clock_ns, ..Moment::default() };
        let all_pauses = all_pauses.until(moment);
        let resident = resident::read();
        let allocated = allocated();
        let own_after = own_after.saturating_sub(end.own_cpu_ns);
        let cpu_ns = cpu.saturating_sub(own_after).saturating_sub(begun.cpu_ns);
        let threads = threads::since(&self.threads, &clocks);
        let alive: u64 = threads.iter().map(|t| t.cpu_ns).sum();
        self.output.write(&Line::Iteration(Box::new(Iteration {
            name: begun.name.clone(),
            iteration,
            begin_ns: begun.begin_ns,
            end_ns: end.end_ns,
            counters: end.reading.since(&begun.reading, cpu_ns),
            threads,
            exited_cpu_ns: cpu_ns.saturating_sub(alive),
            pauses: self.with_pauses.then(|| pauses::since(begun.pauses, all_pauses)),
            rss_bytes: resident.map(|(now, _)| now),
            peak_rss_bytes: resident.filter(|_| begun.has_peak).map(|(_, peak)| peak),
            allocated_bytes: begun.allocated.zip(allocated).map(|(begin, end)| end.since(&begin)),
            harness_cpu_ns: begun.harness_cpu_ns + own_after,
            values: begun.values,
        })));
        self.last = Some(Last { name: begun.name, iteration, begin_ns: begun.begin_ns });
        Ok(())
    }

    /// A value of the iteration that goes on, else of the last.
    ///
    /// # Errors
    /// It is no finite number, or its name too long or empty.
    pub(crate) fn value(&mut self, key: &str, value: f64) -> Result<()> {
        checked(key)?;
        if !value.is_finite() {
            return Err(Error::NotFinite { name: key.to_owned() });
        }
        if let Some(open) = &mut self.open {
            open.values.insert(key.to_owned(), value);
        } else {
            let name = self.last.as_ref().map(|l| l.name.clone());
            let iteration = self.last.as_ref().map(|l| l.iteration);
            self.output.write(&Line::Value(Value { name, iteration, key: key.to_owned(), value }));
        }
        Ok(())
    }

    /// Requests of the iteration that has ended last: monotonic nanoseconds of each's start and end.
    ///
    /// # Errors
    /// None has ended, one goes on, or there are not as many ends as starts.
    pub(crate) fn requests(&mut self, starts: &[i64], ends: &[i64]) -> Result<()> {
        let why = |why| Err(Error::Requests { why });
        let Some(last) = self.ended() else {
            return why("requests are told after the end of their iteration");
        };
        if starts.len() != ends.len() {
            return why("there must be as many ends of requests as starts");
        }
        let begin_ns = last.begin_ns as i64;
        let since = |times: &[i64]| times.iter().map(|t| t.wrapping_sub(begin_ns)).collect();
        let (starts, ends) = (since(starts), since(ends));
        let requests = Requests { name: last.name.clone(), iteration: last.iteration, starts, ends };
        self.output.write(&Line::Requests(requests));
        Ok(())
    }

    /// Numbers of one kind of the iteration that has ended last.
    ///
    /// # Errors
    /// None has ended, one goes on, or the name is too long or empty.
    pub(crate) fn series(&mut self, name: &str, values: Vec<i64>) -> Result<()> {
        checked(name)?;
        let Some(last) = self.ended() else {
            return Err(Error::Series { name: name.to_owned() });
        };
        let series = Series { name: name.to_owned(), iteration: last.iteration, values };
        self.output.write(&Line::Series(series));
        Ok(())
    }

    /// The iteration that has ended last, unless one goes on.
    fn ended(&self) -> Option<&Last> {
        self.last.as_ref().filter(|_| self.open.is_none())
    }

    /// The VM ends.
    pub(crate) fn stop(&mut self) {
        let open = self.open.take();
        let unfinished = open.map(|o| Unfinished { name: o.name, iteration: o.iteration });
        self.output.write(&Line::Stop(Stop { mono_ns: clock::monotonic(), unfinished }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report;

    struct Place {
        session: Session,
        counters: Counters,
        pauses: AllPauses,
        dir: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Place {
            let dir = tempfile::tempdir().expect("a directory");
            let output = Output::open(&dir.path().join("out")).expect("a file");
            let pauses = AllPauses::default();
            Place { session: Session::new(output, true), counters: Counters::open(), pauses, dir }
        }

        fn begin(&mut self, name: &str, iteration: i32) -> Result<()> {
            self.session.begin(&self.counters, &self.pauses, (name, iteration), || None)
        }

        fn end(&mut self, name: &str, iteration: i32) -> Result<()> {
            let end = End::read(&self.counters);
            self.session.end(&self.pauses, end, (name, iteration), || None)
        }

        fn lines(&self) -> Vec<Line> {
            let text = std::fs::read_to_string(self.dir.path().join("out")).expect("the report");
            report::read(&text).expect("a report")
        }
    }

    #[test]
    fn an_iteration_is_one_line_with_what_was_used_in_it() {
        let mut place = Place::new();
        let begin = clock::thread_cpu();
        place.begin("burn", 3).expect("it begins");
        while clock::thread_cpu() < begin + 30_000_000 {}
        place.session.value("answer", 42.0).expect("a value");
        place.pauses.start(&place.counters);
        place.pauses.finish(&place.counters);
        place.end("burn", 3).expect("it ends");
        let most = clock::process_cpu();
        place.session.value("late", 1.0).expect("a value");
        place.session.series("frame_ns", vec![8, 16]).expect("a series");

        let lines = place.lines();
        let [Line::Iteration(iteration), Line::Value(late), Line::Series(series)] = &lines[..] else {
            panic!("{lines:?}")
        };
        let frames = Series { name: "frame_ns".into(), iteration: 3, values: vec![8, 16] };
        assert_eq!(*series, frames);
        assert_eq!((iteration.name.as_str(), iteration.iteration), ("burn", 3));
        assert_eq!(iteration.values, BTreeMap::from([("answer".to_owned(), 42.0)]));
        assert_eq!(iteration.pauses.expect("pauses").count, 1);
        assert_eq!((late.name.as_deref(), late.iteration), (Some("burn"), Some(3)));
        let counters = iteration.counters;
        assert!((20_000_000..most).contains(&counters.cpu_ns), "{counters:?}");
        let alive: u64 = iteration.threads.iter().map(|t| t.cpu_ns).sum();
        assert_eq!(counters.cpu_ns, alive + iteration.exited_cpu_ns);
        let own = iteration.threads.iter().find(|t| t.tid == own_tid()).expect("this thread");
        assert!(own.cpu_ns >= 20_000_000, "{own:?}");
        assert!(iteration.begin_ns < iteration.end_ns, "{iteration:?}");
    }

    #[test]
    fn what_does_not_fit_together_is_refused_and_changes_nothing() {
        let mut place = Place::new();
        assert!(matches!(place.end("a", 0), Err(Error::NotBegun { .. })));
        assert!(matches!(place.session.requests(&[1], &[2]), Err(Error::Requests { .. })));
        assert!(matches!(place.session.series("frame_ns", vec![1]), Err(Error::Series { .. })));
        place.begin("a", 0).expect("it begins");
        assert!(matches!(place.begin("a", 1), Err(Error::Open { iteration: 0, .. })));
        assert!(matches!(place.end("a", 1), Err(Error::NotBegun { iteration: 1, .. })));
        assert!(matches!(place.end("b", 0), Err(Error::NotBegun { .. })));
        assert!(matches!(place.session.requests(&[1], &[2]), Err(Error::Requests { .. })));
        assert!(matches!(place.session.value("x", f64::NAN), Err(Error::NotFinite { .. })));
        assert!(matches!(place.session.value("", 1.0), Err(Error::NameTooLong { bytes: 0 })));
        let long = "x".repeat(MOST_NAME + 1);
        assert!(matches!(place.session.value(&long, 1.0), Err(Error::NameTooLong { .. })));
        place.end("a", 0).expect("it ends");
        assert!(matches!(place.session.requests(&[1], &[]), Err(Error::Requests { .. })));
        place.session.requests(&[i64::MIN, i64::MAX], &[0, -1]).expect("whatever the times");
        place.begin("b", 7).expect("it begins");
        place.session.stop();
        let lines = place.lines();
        let [Line::Iteration(_), Line::Requests(requests), Line::Stop(stop)] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert_eq!((requests.name.as_str(), requests.starts.len()), ("a", 2));
        assert_eq!(stop.unfinished, Some(Unfinished { name: "b".into(), iteration: 7 }));
    }
}
