//! The counters of the process: perf events where the machine allows them, and what stands in for those that it does not.
//!
//! The constraint that shaped it: what cannot be counted is said, never guessed. An unprivileged process may count user
//! code only; then a task clock still counts all processor time, cycles and instructions are those of user code (and said
//! to be), but page faults and switches would be counted wrong: a switch happens in the kernel, so that its event stays at
//! zero. `getrusage` has those for the whole process, and stands in.
//!
//! It must not allocate when it reads.

use crate::clock;
use crate::perf::{Count, Event, PerfEvent, Scope};
use crate::report::{Counters as Differences, Source};
use std::collections::BTreeMap;
use std::io;

/// The events, by their names in the report.
const EVENTS: [(Event, &str); 8] = [
    (Event::TaskClock, "task_clock"),
    (Event::PageFaults, "page_faults"),
    (Event::MinorFaults, "minor_faults"),
    (Event::MajorFaults, "major_faults"),
    (Event::ContextSwitches, "context_switches"),
    (Event::Migrations, "migrations"),
    (Event::Cycles, "cycles"),
    (Event::Instructions, "instructions"),
];

/// Where a counter comes from.
#[derive(Debug)]
enum Means {
    Perf(PerfEvent),
    GetRusage,
    Nothing,
}

/// The counters that are open.
#[derive(Debug)]
pub(crate) struct Counters {
    /// In the order of [`EVENTS`].
    means: [Means; EVENTS.len()],
    sources: BTreeMap<String, Source>,
}

/// All counters at one moment, in the order of [`EVENTS`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading([Option<Count>; EVENTS.len()]);

impl Counters {
    /// Opens what the machine allows. Counts the calling thread and those that are created from now on.
    pub(crate) fn open() -> Counters {
        Self::open_by(PerfEvent::open)
    }

    fn open_by(open: impl Fn(Event, Scope) -> io::Result<PerfEvent>) -> Counters {
        let mut sources = BTreeMap::new();
        let means = EVENTS.map(|(event, name)| {
            let (means, source) = choose(event, &open);
            sources.insert(name.to_owned(), source);
            means
        });
        sources.insert("cpu".to_owned(), Source::ProcessClock);
        Counters { means, sources }
    }

    /// Where each comes from, by its name in the report.
    pub(crate) fn sources(&self) -> &BTreeMap<String, Source> {
        &self.sources
    }

    /// Reads all, the task clock last: what reading the others takes is then before the begin.
    pub(crate) fn read_at_begin(&self) -> Reading {
        self.read((0..EVENTS.len()).rev())
    }

    /// Reads all, the task clock first.
    pub(crate) fn read_at_end(&self) -> Reading {
        self.read(0..EVENTS.len())
    }

    fn read(&self, order: impl Iterator<Item = usize>) -> Reading {
        let usage = self.means.iter().any(|m| matches!(m, Means::GetRusage)).then(usage);
        let mut reading = Reading::default();
        for i in order {
            reading.0[i] = match &self.means[i] {
                Means::Perf(perf) => perf.read(),
                Means::GetRusage => usage.map(|u| of_usage(&u, EVENTS[i].0)),
                Means::Nothing => None,
            };
        }
        reading
    }

    /// The task clock alone, nanoseconds.
    pub(crate) fn task_clock(&self) -> Option<u64> {
        match &self.means[0] {
            Means::Perf(perf) => perf.read().map(|c| c.value),
            Means::GetRusage | Means::Nothing => None,
        }
    }
}

fn choose(event: Event, open: impl Fn(Event, Scope) -> io::Result<PerfEvent>) -> (Means, Source) {
    let why = match open(event, Scope::All) {
        Ok(perf) => return (Means::Perf(perf), Source::Perf),
        Err(e) => e,
    };
    match event {
        Event::TaskClock => match open(event, Scope::User) {
            Ok(perf) => (Means::Perf(perf), Source::Perf),
            Err(e) => (Means::Nothing, Source::Refused(reason(&e))),
        },
        Event::Cycles | Event::Instructions => match open(event, Scope::User) {
            Ok(perf) => (Means::Perf(perf), Source::PerfUserOnly),
            Err(e) => (Means::Nothing, Source::Refused(reason(&e))),
        },
        Event::PageFaults | Event::MinorFaults | Event::MajorFaults | Event::ContextSwitches => {
            (Means::GetRusage, Source::GetRusage)
        }
        Event::Migrations => (Means::Nothing, Source::Refused(reason(&why))),
    }
}

/// Why an event was refused, and what would help.
fn reason(e: &io::Error) -> String {
    let help = match e.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => "this machine has no such counter",
        Some(libc::EACCES) => {
            "kernel.perf_event_paranoid is above 1; lower it, or give the process CAP_PERFMON"
        }
        Some(libc::EPERM) => "the container's rules (seccomp) or capabilities forbid it",
        Some(libc::ENOSYS) => "this kernel has no perf events",
        Some(libc::EMFILE | libc::ENFILE) => "too many files are open",
        _ => "unexpected",
    };
    format!("{e}: {help}")
}

fn usage() -> libc::rusage {
    // SAFETY: zeros are a valid structure, which the call fills; it cannot fail for the process itself.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    }
}

fn of_usage(usage: &libc::rusage, event: Event) -> Count {
    let value = match event {
        Event::PageFaults => usage.ru_minflt + usage.ru_majflt,
        Event::MinorFaults => usage.ru_minflt,
        Event::MajorFaults => usage.ru_majflt,
        Event::ContextSwitches => usage.ru_nvcsw + usage.ru_nivcsw,
        Event::TaskClock | Event::Migrations | Event::Cycles | Event::Instructions => 0,
    };
    // It counts always, so any time will do as that in which it did.
    let now = clock::monotonic();
    Count { value: value.max(0) as u64, enabled_ns: now, running_ns: now }
}

impl Reading {
    /// The task clock, nanoseconds.
    pub(crate) fn task_clock(&self) -> Option<u64> {
        self.0[0].map(|c| c.value)
    }

    /// What was counted since `begin`. The process's clock is added by the caller.
    pub(crate) fn since(&self, begin: &Reading, cpu_ns: u64) -> Differences {
        let count = |event: Event| {
            let i = EVENTS.iter().position(|(e, _)| *e == event)?;
            self.0[i]?.since(begin.0[i]?)
        };
        Differences {
            task_clock_ns: count(Event::TaskClock),
            cpu_ns,
            page_faults: count(Event::PageFaults),
            minor_faults: count(Event::MinorFaults),
            major_faults: count(Event::MajorFaults),
            context_switches: count(Event::ContextSwitches),
            migrations: count(Event::Migrations),
            cycles: count(Event::Cycles),
            instructions: count(Event::Instructions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusing(code: i32) -> impl Fn(Event, Scope) -> io::Result<PerfEvent> {
        move |_, _| Err(io::Error::from_raw_os_error(code))
    }

    #[test]
    fn what_is_refused_is_said_with_its_reason_and_the_rest_is_counted() {
        let counters = Counters::open_by(refusing(libc::EPERM));
        let source = |name: &str| counters.sources()[name].clone();
        assert!(matches!(source("task_clock"), Source::Refused(why) if why.contains("seccomp")));
        assert!(matches!(source("migrations"), Source::Refused(_)));
        assert!(matches!(source("cycles"), Source::Refused(_)));
        assert_eq!(source("page_faults"), Source::GetRusage);
        assert_eq!(source("context_switches"), Source::GetRusage);

        let begin = counters.read_at_begin();
        const PAGES: usize = 64;
        let mut memory = vec![0_u8; PAGES * 4096];
        memory.iter_mut().step_by(4096).for_each(|b| *std::hint::black_box(b) = 1);
        let counted = counters.read_at_end().since(&begin, 7);
        assert_eq!((counted.task_clock_ns, counted.cycles, counted.cpu_ns), (None, None, 7));
        assert!(counted.page_faults.is_some_and(|n| n >= PAGES as u64), "{counted:?}");
        assert_eq!(
            counted.page_faults,
            counted.minor_faults.zip(counted.major_faults).map(|(minor, major)| minor + major)
        );
    }

    #[test]
    fn an_unprivileged_process_counts_user_code_where_that_means_something() {
        let user_only = |event, scope| match scope {
            Scope::All => Err(io::Error::from_raw_os_error(libc::EACCES)),
            // Any event does: only what is said about it is tested here.
            Scope::User => PerfEvent::open(Event::TaskClock, Scope::User).map_err(|_| panic!("{event:?}")),
        };
        if PerfEvent::open(Event::TaskClock, Scope::User).is_err() {
            return;
        }
        let counters = Counters::open_by(user_only);
        assert_eq!(counters.sources()["task_clock"], Source::Perf);
        assert_eq!(counters.sources()["cycles"], Source::PerfUserOnly);
        assert_eq!(counters.sources()["minor_faults"], Source::GetRusage);
        let refused = Source::Refused(String::new());
        assert_eq!(
            std::mem::discriminant(&counters.sources()["migrations"]),
            std::mem::discriminant(&refused),
            "it happens in the kernel"
        );
    }
}
