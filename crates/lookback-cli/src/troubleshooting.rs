//! Holds `docs/TROUBLESHOOTING.md` and the messages of [`crate::error::Error`] together: each message has
//! its heading there. Compiled for tests only.

use crate::error::Error;
use lookback_lab::Error as LabError;
use std::io;
use std::path::PathBuf;

const PAGE: &str = include_str!("../../../docs/TROUBLESHOOTING.md");

fn io_error() -> io::Error {
    io::Error::other("WHY")
}

/// One error of each kind that users see, with the placeholders of the page.
fn samples() -> Vec<Error> {
    let file = || PathBuf::from("FILE");
    let text = |s: &str| s.to_owned();
    let mut all = vec![
        Error::Stdout(io_error()),
        Error::Option { key: text("KEY"), source: text("SOURCE"), why: text("WHY"), hint: text("") },
        Error::OptionsFile { file: file(), why: text("WHY") },
        Error::NoAgent { tried: vec![] },
        Error::AgentPath { path: file(), why: "WHY" },
        Error::Run { program: text("PROGRAM"), error: io_error() },
        Error::NoProcess { pid: 0 },
        Error::NotOurs { pid: 0, theirs: 1, ours: 2 },
        Error::NotAJvm { pid: 0, name: text("NAME") },
        Error::NoSignal { pid: 0 },
        Error::AttachOff { pid: 0 },
        Error::LoadingOff { pid: 0 },
        Error::Musl { pid: 0 },
        Error::AgentUnseen { pid: 0, path: file() },
        Error::TooManyOptions { bytes: 3, most: crate::attach::ARGUMENT_BYTES },
        Error::AttachSilent { pid: 0, seconds: 10 },
        Error::Attach { pid: 0, doing: "DOING", error: io_error() },
        Error::AttachRefused { pid: 0, message: text("WHY") },
        Error::CommandRefused { pid: 0, message: text("WHY") },
        Error::JfrRefused { pid: 0, message: text("WHY") },
        Error::NoCpuTime { pid: 0, why: text("WHY") },
        Error::JfrFile { pid: 0, why: text("WHY") },
        Error::JfrLost { pid: 0 },
        Error::AgentRefused { pid: 0, code: 4 },
        Error::AgentSilent { pid: 0, seconds: 20 },
        Error::AlreadyTraced { pid: 0 },
        Error::NoMatch { name: text("NAME") },
        Error::Ambiguous { name: text("NAME"), candidates: vec![] },
        Error::NotTraced { pid: 0, looked: vec![] },
        Error::Died { pid: 0, region: file() },
        Error::RuntimeDir { dir: "DIR".into(), why: text("WHY") },
        Error::Control { pid: 0, doing: "DOING", error: io_error() },
        Error::ControlSilent { pid: 0, seconds: 5 },
        Error::BadAnswer { pid: 0, why: text("WHY") },
        Error::Refused { pid: 0, message: text("MESSAGE"), hint: text("") },
        Error::Exists { file: file() },
        Error::Read { file: file(), error: io_error() },
        Error::Write { file: file(), error: io_error() },
        Error::Format { file: file(), error: lookback_format::Error::Missing { section: text("x") } },
        Error::UnknownFormat { output: text("NAME") },
        Error::StillRuns { file: "REGION".into(), pid: 0 },
        Error::NothingRecorded { file: file() },
        Error::NothingSampled { pid: 0 },
        Error::Lab(LabError::Drawing { figure: text("NAME"), why: text("WHY") }),
        Error::Lab(LabError::Published { path: file() }),
        Error::Lab(LabError::Block { path: file(), line: 0, why: text("WHY") }),
        Error::Stale { differences: 0 },
        Error::NoEvents { file: file(), damages: vec![] },
        Error::NoRoom { file: file(), bytes: 0 },
        Error::Ring { file: file(), why: text("WHY") },
        Error::OtherBoot { file: file() },
        Error::TooLarge { file: file(), size: 0, most: 0 },
        Error::TooSmall { file: file(), size: 0, least: 0 },
        Error::Open { file: file(), why: text("WHY") },
    ];
    all.extend(of_the_laboratory().into_iter().map(Error::Lab));
    all
}

/// Those of the laboratory, without the two that are worded as the command's own.
fn of_the_laboratory() -> Vec<LabError> {
    let path = || PathBuf::from("FILE");
    let text = |s: &str| s.to_owned();
    vec![
        LabError::Damaged { path: path(), line: 0, why: text("WHY") },
        LabError::NotAPlan { path: path(), why: text("WHY") },
        LabError::InUse { path: "DIR".into(), pid: Some(0) },
        LabError::Directory { path: "DIR".into(), character: ',' },
        LabError::Cores { missing: vec![7], allowed: vec![0] },
        LabError::NoHarness { workload: text("NAME") },
        LabError::NoMatch { pattern: text("PATTERN"), names: vec![] },
        LabError::NothingToSearch,
        LabError::NothingToVary,
        LabError::SelfCheck { failed: vec![], all: 4 },
        LabError::CannotStart { workload: text("NAME"), why: text("WHY") },
        LabError::Interrupted { done: 0, all: 0 },
        LabError::MixedCells { cell: text("CELL"), ids: vec![text("IDS")] },
        LabError::UnknownConfiguration { pattern: text("PATTERN"), known: vec![] },
        LabError::AmbiguousConfiguration { pattern: text("PATTERN"), matches: vec![text("NAMES")] },
        LabError::Unknown { kind: "METRIC", name: text("NAME"), known: vec![] },
        LabError::NotDistillable { metric: text("METRIC") },
        LabError::NothingToCompare { left_out: vec![] },
        LabError::JitRun { directory: "DIR".into(), why: text("WHY") },
        LabError::Experiment { path: path(), problems: vec![] },
        LabError::Incomplete { path: path(), missing: vec![] },
        LabError::Hosts { why: text("WHY") },
        LabError::Parallel { why: text("WHY") },
        LabError::Shards { missing: 0, all: 0, hosts: vec![text("HOSTS")] },
    ]
}

/// The words of a heading or a message without what differs each time: numbers and capitals.
fn fixed(text: &str) -> Vec<String> {
    let varies = |w: &str| {
        let w = w.trim_matches(|c: char| !c.is_alphanumeric());
        w.is_empty()
            || w.chars().all(|c| c.is_ascii_digit())
            || (w.len() > 2 && w.chars().all(|c| c.is_ascii_uppercase()))
    };
    text.split_whitespace().filter(|w| !varies(w)).map(str::to_owned).collect()
}

#[test]
fn every_message_is_a_heading_of_the_page() {
    let headings: Vec<_> = PAGE.lines().filter_map(|l| l.strip_prefix("### ")).map(fixed).collect();
    for error in samples() {
        let message = error.to_string();
        let message = message.replace("0 bytes", "SIZE");
        let words = fixed(message.split(": the section").next().unwrap_or_default());
        assert!(headings.contains(&words), "no heading for: {message}");
    }
    assert_eq!(headings.len(), samples().len(), "a heading for a message that is not there any more");
}
