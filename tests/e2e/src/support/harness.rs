//! Programs that the harness measures, and what it wrote of them.

use super::artifacts::{self, Jdk};
use super::java::Java;
use super::place::Place;
use lookback_harness::report::{self, Iteration, Line};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// A program of a folder of `tests/programs/harness`, without the agent.
pub(crate) fn program<'a>(jdk: &'a Jdk, place: &'a Place, folder: &str, program: &[&str]) -> Java<'a> {
    let (classes, jar) = (artifacts::harness_programs(folder), artifacts::harness_jar());
    Java::new(jdk, place, program).class_path(format!("{}:{}", classes.display(), jar.display()))
}

/// Parts of the program `Measured`, with the agent; `options` follow its `out=FILE`.
pub(crate) fn measured<'a>(jdk: &'a Jdk, place: &'a Place, parts: &[&str], options: &str) -> Java<'a> {
    let java = program(jdk, place, "", &[&["Measured"], parts].concat());
    java.agent_at(artifacts::harness(), &format!("out={}{options}", file(place).display()))
}

/// The report's file.
pub(crate) fn file(place: &Place) -> PathBuf {
    place.file("harness.jsonl")
}

/// The report.
#[track_caller]
pub(crate) fn lines(place: &Place) -> Vec<Line> {
    let text = std::fs::read_to_string(file(place)).expect("a report");
    report::read(&text).unwrap_or_else(|e| panic!("{e}:\n{text}"))
}

/// Its iterations.
#[track_caller]
pub(crate) fn iterations(place: &Place) -> Vec<Iteration> {
    let lines = lines(place).into_iter();
    let iterations = lines.filter_map(|l| if let Line::Iteration(i) = l { Some(*i) } else { None });
    iterations.inspect(consistent).collect()
}

/// The one iteration of this workload.
#[track_caller]
pub(crate) fn iteration(place: &Place, name: &str) -> Iteration {
    let mut named: Vec<Iteration> = iterations(place).into_iter().filter(|i| i.name == name).collect();
    assert_eq!(named.len(), 1, "{named:#?}");
    named.remove(0)
}

/// What holds for each iteration, whatever the machine allows.
fn consistent(iteration: &Iteration) {
    assert!(iteration.begin_ns <= iteration.end_ns, "{iteration:#?}");
    let alive: u64 = iteration.threads.iter().map(|t| t.cpu_ns).sum();
    assert_eq!(iteration.counters.cpu_ns, alive + iteration.exited_cpu_ns, "{iteration:#?}");
    assert!(iteration.threads.iter().any(|t| t.name == "VM Thread"), "{iteration:#?}");
    let counters = &iteration.counters;
    if let (Some(all), Some(minor), Some(major)) =
        (counters.page_faults, counters.minor_faults, counters.major_faults)
    {
        // Three events, read one after the other.
        assert!(all.abs_diff(minor + major) <= 64, "{counters:?}");
    }
}

/// Has the kernel refuse all perf events of a program, as a container's rules do.
pub(crate) fn without_perf(command: &mut Command) -> &mut Command {
    // Load the system call's number; if it is that of perf_event_open, EPERM; else it is allowed.
    const LOAD_WORD: u16 = 0x20;
    const SKIP_UNLESS_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let step = |code, jf, k| libc::sock_filter { code, jt: 0, jf, k };
    let mut filter = [
        step(LOAD_WORD, 0, 0),
        step(SKIP_UNLESS_EQUAL, 1, libc::SYS_perf_event_open as u32),
        step(RETURN, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let install = move || {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: a valid filter of the length given.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
        };
        if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: two system calls and no memory are all that happens between fork and exec.
    unsafe { command.pre_exec(install) }
}

/// Has the kernel give small pages only, so that touching memory is a known number of faults.
pub(crate) fn with_small_pages(command: &mut Command) -> &mut Command {
    let install = || {
        // SAFETY: numbers only.
        let done = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
        if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: as above.
    unsafe { command.pre_exec(install) }
}
