//! What the harness writes: one JSON line for each thing that happens, as structures that a reader shares.
//!
//! ```text
//! {"kind":"start","pid":42,"mono_ns":9,"sources":{"cpu":"process clock","task_clock":"perf","cycles":"refused: ..."}}
//! {"kind":"iteration","name":"h2","iteration":0,"begin_ns":10,"end_ns":20,"counters":{"cpu_ns":8},"threads":[...]}
//! {"kind":"requests","name":"h2","iteration":0,"starts":[1,4],"ends":[3,9]}
//! {"kind":"series","name":"frame_ns","iteration":0,"values":[8,16]}
//! {"kind":"stop","mono_ns":30}
//! ```
//!
//! The constraint that shaped it: a JVM can be killed at any moment, so each line stands for itself, and what follows the
//! last line's end is not part of the report ([`read`]). Units stand in the names: `_ns` nanoseconds, `_bytes` bytes;
//! times of day are `CLOCK_MONOTONIC`, which is Java's `System.nanoTime`. A field that this machine or JVM cannot fill is
//! absent, never zero.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Line {
    /// The agent was loaded.
    Start(Start),
    /// An iteration has ended.
    Iteration(Box<Iteration>),
    /// The requests of the iteration that ended last.
    Requests(Requests),
    /// Many numbers of one kind of the iteration that ended last: one a frame, one an input event.
    Series(Series),
    /// A value that was told after its iteration had ended.
    Value(Value),
    /// The VM has ended in good order.
    Stop(Stop),
}

/// The agent was loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The process.
    pub pid: u32,
    /// When, monotonic.
    pub mono_ns: u64,
    /// Where each counter comes from, by its name without the unit: `cpu`, `task_clock`, `page_faults`, `minor_faults`,
    /// `major_faults`, `context_switches`, `migrations`, `cycles`, `instructions`.
    pub sources: BTreeMap<String, Source>,
    /// Whether stop-the-world pauses are attributed.
    pub pauses: bool,
    /// What the program is told of its heap, where that is not the truth (section 3.3 of the paper).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MockedMemory>,
}

/// What `Runtime` tells the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MockedMemory {
    /// `maxMemory`.
    pub max_bytes: u64,
    /// `totalMemory`, and the most that `freeMemory` answers.
    pub total_bytes: u64,
}

/// Where a counter comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
#[non_exhaustive]
pub enum Source {
    /// A perf event that counts user code and kernel.
    Perf,
    /// A perf event that counts user code only.
    PerfUserOnly,
    /// `getrusage` of the process.
    GetRusage,
    /// `CLOCK_PROCESS_CPUTIME_ID`: the scheduler's clock.
    ProcessClock,
    /// It is not counted: why.
    Refused(String),
    /// One that this version does not know.
    Other(String),
}

const SOURCES: [(Source, &str); 4] = [
    (Source::Perf, "perf"),
    (Source::PerfUserOnly, "perf, user only"),
    (Source::GetRusage, "getrusage"),
    (Source::ProcessClock, "process clock"),
];
const REFUSED: &str = "refused: ";

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Refused(why) => write!(f, "{REFUSED}{why}"),
            Source::Other(name) => f.write_str(name),
            known => f.write_str(SOURCES.iter().find(|(s, _)| s == known).map_or("", |(_, name)| name)),
        }
    }
}

impl From<Source> for String {
    fn from(source: Source) -> String {
        source.to_string()
    }
}

impl From<String> for Source {
    fn from(text: String) -> Source {
        if let Some((source, _)) = SOURCES.iter().find(|(_, name)| *name == text) {
            return source.clone();
        }
        match text.strip_prefix(REFUSED) {
            Some(why) => Source::Refused(why.to_owned()),
            None => Source::Other(text),
        }
    }
}

/// An iteration has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// The workload, as it names itself.
    pub name: String,
    /// The iteration, as the workload numbers it.
    pub iteration: i32,
    /// When it began, monotonic.
    pub begin_ns: u64,
    /// When it ended, monotonic.
    pub end_ns: u64,
    /// What was counted in between, for the whole process.
    pub counters: Counters,
    /// The threads that were alive at the end, those of the VM among them.
    pub threads: Vec<Thread>,
    /// Processor time of threads that were gone at the end: `counters.cpu_ns` less the sum over `threads`.
    pub exited_cpu_ns: u64,
    /// Stop-the-world pauses; absent with `pauses=off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Pauses>,
    /// Resident memory at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
    /// The most resident memory at any moment of the iteration; absent when the kernel does not let it begin anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
    /// Bytes that Java threads allocated. Before JDK 21 without threads that had ended at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated_bytes: Option<u64>,
    /// Processor time of the reading at both ends that fell between the readings, of the calling thread. It is subtracted
    /// from `counters.cpu_ns` already; the other counters are read innermost and hold next to nothing of it.
    pub harness_cpu_ns: u64,
    /// What the program told by `Harness.value` before the end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, f64>,
}

impl Iteration {
    /// How long it took, nanoseconds.
    #[must_use]
    pub fn wall_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.begin_ns)
    }
}

/// What was counted, for the whole process. [`Start::sources`] says of what kind each is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Processor time by the scheduler's clock: the clock of [`Thread::cpu_ns`]. Not to be subtracted from or divided by
    /// `task_clock_ns`, which is another clock.
    pub cpu_ns: u64,
    /// Processor time by perf's task clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_clock_ns: Option<u64>,
    /// Page faults, minor and major.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_faults: Option<u64>,
    /// Page faults that needed no I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
    /// Page faults that did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Context switches, wanted or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// Moves of a thread to another processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migrations: Option<u64>,
    /// Processor cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// Instructions retired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
}

/// A thread that was alive at the end of an iteration: differences since its begin, or since the thread's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its name to the system: at most 15 bytes, so those of Java are cut.
    pub name: String,
    /// Its id to the system.
    pub tid: i32,
    /// Processor time, the scheduler's clock.
    pub cpu_ns: u64,
    /// Time that it was ready to run and did not; absent when the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<u64>,
}

impl Thread {
    /// What it is for, by its name.
    #[must_use]
    pub fn role(&self) -> ThreadRole {
        ThreadRole::of(&self.name)
    }
}

/// What a thread is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ThreadRole {
    /// It works for the garbage collector and for nothing else.
    Collector,
    /// The VM's own thread, which runs the Serial collector, and parts of others, besides other operations of the VM: what
    /// of it is collection, pauses tell.
    VmThread,
    /// It compiles.
    Compiler,
    /// Another of the VM's threads.
    Vm,
    /// The harness's own.
    Harness,
    /// The program's, or of a tracer.
    Program,
}

impl ThreadRole {
    /// By the name that HotSpot 17 to 25 gives to a thread, cut to 15 bytes. A thread of the program that bears such a
    /// name is taken for the VM's.
    #[must_use]
    pub fn of(name: &str) -> ThreadRole {
        // Serial has no thread of its own; the others in this order: Parallel, G1, string deduplication, Shenandoah and
        // its generational mode, Z, and Z of one generation as JDK 21 to 23 have it.
        const COLLECTORS: [&str; 24] = [
            "GC Thread#",
            "G1 Conc#",
            "G1 Main Marker",
            "G1 Refine#",
            "G1 Service",
            "StrDedup",
            "Shenandoah GC T",
            "Shenandoah Cont",
            "Shenandoah Regu",
            "Shenandoah Unco",
            "ShenUncommit",
            "ZWorker",
            "ZDriver",
            "ZDirector",
            "ZStat",
            "ZUnmapper",
            "ZUncommitter",
            "RuntimeWorker#",
            "XWorker#",
            "XDriver",
            "XDirector",
            "XStat",
            "XUnmapper",
            "XUncommitter",
        ];
        // The sweeper of the code cache, until JDK 19, serves the compilers.
        const COMPILERS: [&str; 5] =
            ["C1 Compiler", "C2 Compiler", "JVMCI Compiler", "JVMCI-native", "Sweeper thread"];
        // Without those that run the program's code for it: Finalizer and Common-Cleaner.
        const VM: [&str; 9] = [
            "VM Periodic Tas",
            "Signal Dispatch",
            "Service Thread",
            "Monitor Deflati",
            "Notification Th",
            "Reference Handl",
            "Attach Listener",
            "AsyncLog Thread",
            "CodeCache Flush",
        ];
        let begins = |prefixes: &[&str]| prefixes.iter().any(|p| name.starts_with(p));
        match name {
            "VM Thread" => ThreadRole::VmThread,
            "lookback-harnes" | "lookback-harness" => ThreadRole::Harness,
            _ if begins(&COLLECTORS) => ThreadRole::Collector,
            _ if begins(&COMPILERS) => ThreadRole::Compiler,
            _ if begins(&VM) => ThreadRole::Vm,
            _ => ThreadRole::Program,
        }
    }
}

/// Stop-the-world pauses: from JVMTI's `GarbageCollectionStart` to its `GarbageCollectionFinish`, all clocks read at
/// both. Concurrent work is no part of them, and other threads' work at the same time is: native code runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// How many began.
    pub count: u64,
    /// Their time.
    pub wall_ns: u64,
    /// Processor time of the whole process in them, the scheduler's clock.
    pub cpu_ns: u64,
    /// Of this, that of the thread that announces them, the VM thread: with Serial the whole collection. The other
    /// collectors' work is that of their own threads, and this is what comes on top.
    pub thread_cpu_ns: u64,
    /// The same by perf's task clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_clock_ns: Option<u64>,
}

/// The requests of an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// The workload.
    pub name: String,
    /// The iteration.
    pub iteration: i32,
    /// When each began: nanoseconds since the iteration's `begin_ns`, in the program's order.
    pub starts: Vec<i64>,
    /// When each ended, likewise.
    pub ends: Vec<i64>,
}

/// Many numbers of one kind of an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// What they are, with its unit: `frame_ns`.
    pub name: String,
    /// The iteration.
    pub iteration: i32,
    /// In the program's order.
    pub values: Vec<i64>,
}

/// A value that the program told outside of an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// The workload whose iteration ended last; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// That iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<i32>,
    /// What it is called.
    pub key: String,
    /// The value, in the program's own unit.
    pub value: f64,
}

/// The VM has ended in good order. A report without this line is of a JVM that was killed or has crashed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// When, monotonic.
    pub mono_ns: u64,
    /// An iteration that had begun and not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
}

/// An iteration that had begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// The workload.
    pub name: String,
    /// The iteration.
    pub iteration: i32,
}

/// Reads a report. What follows the last line's end is left out: it is of a JVM that died while it wrote.
///
/// # Errors
/// A whole line is not one of a report.
pub fn read(text: &str) -> Result<Vec<Line>> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole.lines().enumerate().filter(|(_, line)| !line.is_empty());
    let parse =
        |(i, line)| serde_json::from_str(line).map_err(|source| Error::Report { line: i + 1, source });
    lines.map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests() -> Line {
        Line::Requests(Requests { name: "h2".into(), iteration: 3, starts: vec![-1, 4], ends: vec![3, 9] })
    }

    #[test]
    fn lines_are_read_as_they_were_written_and_a_torn_one_is_left_out() {
        let sources = [
            ("cycles".to_owned(), Source::Refused("no counter".into())),
            ("instructions".to_owned(), Source::PerfUserOnly),
            ("other".to_owned(), Source::Other("of tomorrow".into())),
        ];
        let start =
            Start { pid: 42, mono_ns: 7, sources: sources.into_iter().collect(), pauses: true, memory: None };
        let lines = [Line::Start(start), requests(), Line::Stop(Stop { mono_ns: 9, unfinished: None })];
        let mut text = String::new();
        for line in &lines {
            text += &serde_json::to_string(line).expect("it can be written");
            text.push('\n');
        }
        assert!(text.contains(r#""cycles":"refused: no counter""#), "{text}");
        assert!(text.contains(r#""kind":"stop","mono_ns":9}"#), "{text}");
        assert_eq!(read(&text).expect("whole lines"), lines);
        let torn = &text[..text.len() - 1];
        assert_eq!(read(torn).expect("whole lines"), lines[..2]);
        assert_eq!(read("").expect("nothing"), []);
        let wrong = text.replacen("requests", "question", 1);
        assert!(matches!(read(&wrong), Err(Error::Report { line: 2, .. })));
    }

    #[test]
    fn threads_are_known_by_the_names_that_hotspot_gives_them() {
        let roles = |names: &[&str]| names.iter().map(|n| ThreadRole::of(n)).collect::<Vec<_>>();
        let collectors =
            ["GC Thread#0", "G1 Conc#12", "Shenandoah GC T", "ZWorkerYoung#0", "ZDriverMinor", "ZStat"];
        assert_eq!(roles(&collectors), [ThreadRole::Collector; 6]);
        assert_eq!(roles(&["C1 CompilerThre", "C2 CompilerThre"]), [ThreadRole::Compiler; 2]);
        assert_eq!(
            roles(&["VM Thread", "main", "Z"]),
            [ThreadRole::VmThread, ThreadRole::Program, ThreadRole::Program]
        );
    }
}
