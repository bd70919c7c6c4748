//! The one error of the command: what failed, why, and what to try.
//!
//! The constraint that shaped it: each variant carries facts, and all words are here, so that
//! `docs/TROUBLESHOOTING.md` can use the literal messages as headings and a test can hold the two
//! together. Nothing here prints or exits; only `main` does.

use lookback_lab::Error as LabError;
use lookback_options::format_bytes;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Result of a verb.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Exit code when all went well.
pub(crate) const OK: u8 = 0;
/// Exit code when something failed.
pub(crate) const FAILED: u8 = 1;
/// Exit code when the command line or an option is wrong, or when nothing was recorded.
pub(crate) const USAGE: u8 = 2;

/// What failed.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum Error {
    /// Standard output failed; a closed pipe is no error and is told apart in `main`.
    Stdout(io::Error),
    /// Two arguments do not go together, or one says nothing useful.
    Usage { what: String, hint: String },
    /// An option of the agent is wrong.
    Option { key: String, source: String, why: String, hint: String },
    /// A file of options cannot be read.
    OptionsFile { file: PathBuf, why: String },
    /// No liblookback.so at the places where it is looked for.
    NoAgent { tried: Vec<PathBuf> },
    /// The agent's file cannot be handed to a JVM.
    AgentPath { path: PathBuf, why: &'static str },
    /// The program did not start.
    Run { program: String, error: io::Error },
    /// No process has this id.
    NoProcess { pid: u32 },
    /// The process belongs to another user.
    NotOurs { pid: u32, theirs: u32, ours: u32 },
    /// The process runs no JVM.
    NotAJvm { pid: u32, name: String },
    /// The JVM does not listen to SIGQUIT, which would kill it.
    NoSignal { pid: u32 },
    /// The JVM was started with attaching switched off.
    AttachOff { pid: u32 },
    /// The JVM was started with loading of agents switched off.
    LoadingOff { pid: u32 },
    /// The JVM is built for another C library.
    Musl { pid: u32 },
    /// The JVM does not see the agent's file.
    AgentUnseen { pid: u32, path: PathBuf },
    /// The options are longer than the attach protocol carries.
    TooManyOptions { bytes: usize, most: usize },
    /// The JVM did not open its attach socket in time.
    AttachSilent { pid: u32, seconds: u64 },
    /// A step of the attach protocol failed.
    Attach { pid: u32, doing: &'static str, error: io::Error },
    /// The JVM answered that it did not load the agent.
    AttachRefused { pid: u32, message: String },
    /// The JVM answered that it did not run a diagnostic command.
    CommandRefused { pid: u32, message: String },
    /// JFR does not record what was asked for.
    JfrRefused { pid: u32, message: String },
    /// JFR has no samples by processor time.
    NoCpuTime { pid: u32, why: String },
    /// JFR's file cannot be read.
    JfrFile { pid: u32, why: String },
    /// The JVM ended, and JFR had no time to write.
    JfrLost { pid: u32 },
    /// The agent was loaded and said no.
    AgentRefused { pid: u32, code: i32 },
    /// The agent was loaded and is not heard of.
    AgentSilent { pid: u32, seconds: u64 },
    /// It is traced already.
    AlreadyTraced { pid: u32 },
    /// No traced program goes by this name.
    NoMatch { name: String },
    /// Several do.
    Ambiguous { name: String, candidates: Vec<(u32, String)> },
    /// The process is not traced.
    NotTraced { pid: u32, looked: Vec<PathBuf> },
    /// The process died; its region file is still there.
    Died { pid: u32, region: PathBuf },
    /// The directory of sockets and regions cannot be trusted.
    RuntimeDir { dir: PathBuf, why: String },
    /// Talking to the agent failed.
    Control { pid: u32, doing: &'static str, error: io::Error },
    /// The agent gave no whole answer in time.
    ControlSilent { pid: u32, seconds: u64 },
    /// The agent's answer is not one.
    BadAnswer { pid: u32, why: String },
    /// The agent said no.
    Refused { pid: u32, message: String, hint: String },
    /// The output file is there.
    Exists { file: PathBuf },
    /// An input file cannot be read.
    Read { file: PathBuf, error: io::Error },
    /// An output file cannot be written.
    Write { file: PathBuf, error: io::Error },
    /// A file is not what it should be.
    Format { file: PathBuf, error: lookback_format::Error },
    /// The format of the output cannot be told.
    UnknownFormat { output: String },
    /// The region's process still runs.
    StillRuns { file: PathBuf, pid: u32 },
    /// There is no record in it.
    NothingRecorded { file: PathBuf },
    /// No thread was found anywhere.
    NothingSampled { pid: u32 },
    /// Documents do not say what the runs say that they cite.
    Stale { differences: usize },
    /// There is no event in a ring file.
    NoEvents { file: PathBuf, damages: Vec<String> },
    /// The file system has no room for a ring.
    NoRoom { file: PathBuf, bytes: u64 },
    /// The ring in a ring file is unusable, or none can be made of the size asked for.
    Ring { file: PathBuf, why: String },
    /// A ring file is of an earlier boot.
    OtherBoot { file: PathBuf },
    /// A ring file is to become larger than it can.
    TooLarge { file: PathBuf, size: u64, most: u64 },
    /// A ring file is to become smaller than it can.
    TooSmall { file: PathBuf, size: u64, least: u64 },
    /// The laboratory cannot go on.
    Lab(LabError),
    /// No browser could be started.
    Open { file: PathBuf, why: String },
}

impl Error {
    /// What a recorder could not do with a ring file.
    pub(crate) fn of_recorder(path: &Path, error: lookback_recorder::Error) -> Error {
        use lookback_recorder::Error as Failed;
        let file = path.to_owned();
        match error {
            Failed::Exists { .. } => Error::Exists { file },
            Failed::Io { what: "open" | "read" | "map", source, .. } => Error::Read { file, error: source },
            Failed::Io { source, .. } => Error::Write { file, error: source },
            Failed::NoSpace { bytes, .. } => Error::NoRoom { file, bytes },
            Failed::Format { source, .. } => Error::Format { file, error: source },
            Failed::Ring { source, .. } => Error::Ring { file, why: source.to_string() },
            Failed::OtherBoot { .. } => Error::OtherBoot { file },
            other => Error::Ring { file, why: other.to_string() },
        }
    }

    /// The exit code that stands for this error.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Error::Usage { .. }
            | Error::Option { .. }
            | Error::OptionsFile { .. }
            | Error::TooManyOptions { .. }
            | Error::UnknownFormat { .. }
            | Error::TooLarge { .. }
            | Error::TooSmall { .. }
            | Error::NoEvents { .. }
            | Error::Lab(
                LabError::Experiment { .. }
                | LabError::UnknownConfiguration { .. }
                | LabError::AmbiguousConfiguration { .. }
                | LabError::Unknown { .. }
                | LabError::NotDistillable { .. },
            )
            | Error::Lab(
                LabError::NotAPlan { .. }
                | LabError::NoMatch { .. }
                | LabError::NothingToSearch
                | LabError::Hosts { .. }
                | LabError::NothingToVary,
            )
            | Error::NothingRecorded { .. }
            | Error::NothingSampled { .. } => USAGE,
            _ => FAILED,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Stdout(e) => write!(f, "cannot write to standard output: {e}"),
            Error::Usage { what, .. } => write!(f, "{what}"),
            Error::Option { key, source, why, .. } => {
                write!(f, "the option `{key}` from {source} is not valid: {why}")
            }
            Error::OptionsFile { file, why } => {
                write!(f, "cannot use the options in {}: {why}", file.display())
            }
            Error::NoAgent { .. } => write!(f, "cannot find the agent, liblookback.so"),
            Error::AgentPath { path, why } => {
                write!(f, "cannot use {} as the agent: {why}", path.display())
            }
            Error::Run { program, error } => write!(f, "cannot start {program}: {error}"),
            Error::NoProcess { pid } => write!(f, "there is no process {pid}"),
            Error::NotOurs { pid, theirs, ours } => {
                write!(f, "process {pid} belongs to user {theirs}, and this is user {ours}")
            }
            Error::NotAJvm { pid, name } => write!(f, "process {pid} ({name}) is not a JVM"),
            Error::NoSignal { pid } => {
                write!(f, "the JVM {pid} does not handle SIGQUIT, so it cannot be attached to")
            }
            Error::AttachOff { pid } => {
                write!(f, "the JVM {pid} was started with -XX:+DisableAttachMechanism")
            }
            Error::LoadingOff { pid } => {
                write!(f, "the JVM {pid} was started with -XX:-EnableDynamicAgentLoading")
            }
            Error::Musl { pid } => {
                write!(f, "the JVM {pid} is built for the C library musl, and the agent for glibc")
            }
            Error::AgentUnseen { pid, path } => {
                write!(f, "the JVM {pid} does not see the agent's file {}", path.display())
            }
            Error::TooManyOptions { bytes, most } => write!(
                f,
                "the options are too long for attaching: {bytes} bytes, and a JVM takes at most {most}"
            ),
            Error::AttachSilent { pid, seconds } => {
                write!(f, "the JVM {pid} did not open its attach socket within {seconds} s")
            }
            Error::Attach { pid, doing, error } => {
                write!(f, "attaching to the JVM {pid} failed while {doing}: {error}")
            }
            Error::AttachRefused { pid, message, .. } => {
                write!(f, "the JVM {pid} did not load the agent: {message}")
            }
            Error::CommandRefused { pid, message } => {
                write!(f, "the JVM {pid} did not run a diagnostic command: {message}")
            }
            Error::JfrRefused { pid, message } => {
                write!(f, "the JVM {pid} does not record with JFR: {message}")
            }
            Error::NoCpuTime { pid, why } => {
                write!(f, "the JVM {pid} has no samples of JFR by processor time: {why}")
            }
            Error::JfrFile { pid, why } => {
                write!(f, "what JFR of the JVM {pid} wrote cannot be read: {why}")
            }
            Error::JfrLost { pid } => {
                write!(f, "the JVM {pid} ended, and JFR had no time to write what it sampled")
            }
            Error::AgentRefused { pid, code } => {
                write!(f, "the agent was loaded into the JVM {pid} but did not start (code {code})")
            }
            Error::AgentSilent { pid, seconds } => {
                write!(f, "the JVM {pid} has loaded the agent, but it does not answer after {seconds} s")
            }
            Error::AlreadyTraced { pid } => write!(f, "the JVM {pid} is traced already"),
            Error::NoMatch { name } => write!(f, "no JVM of this user matches `{name}`"),
            Error::Ambiguous { name, candidates } => {
                write!(f, "several JVMs match `{name}`:")?;
                candidates.iter().try_for_each(|(pid, program)| write!(f, " {pid} ({program})"))
            }
            Error::NotTraced { pid, .. } => write!(f, "process {pid} is not traced by Lookback"),
            Error::Died { pid, .. } => write!(f, "process {pid} died; what it recorded is still there"),
            Error::RuntimeDir { dir, why } => {
                write!(f, "the runtime directory {} is not safe to use: {why}", dir.display())
            }
            Error::Control { pid, doing, error } => {
                write!(f, "talking to the agent in process {pid} failed while {doing}: {error}")
            }
            Error::ControlSilent { pid, seconds } => {
                write!(f, "the agent in process {pid} did not answer within {seconds} s")
            }
            Error::BadAnswer { pid, why } => {
                write!(f, "the answer from process {pid} is not one of Lookback's: {why}")
            }
            Error::Refused { pid, message, .. } => write!(f, "process {pid}: {message}"),
            Error::Exists { file } => write!(f, "{} is there already", file.display()),
            Error::Read { file, error } => write!(f, "cannot read {}: {error}", file.display()),
            Error::Write { file, error } => write!(f, "cannot write {}: {error}", file.display()),
            Error::Format { file, error } => write!(f, "cannot use {}: {error}", file.display()),
            Error::UnknownFormat { output } => {
                write!(f, "cannot tell the format to write from the name `{output}`")
            }
            Error::StillRuns { file, pid } => {
                write!(f, "{} is in use by process {pid}, which still runs", file.display())
            }
            Error::NothingRecorded { file } => write!(f, "{} holds no record of a method", file.display()),
            Error::NothingSampled { pid } => write!(f, "no thread of process {pid} was sampled"),
            Error::Stale { differences: 1 } => write!(f, "1 block differs from its run"),
            Error::Stale { differences } => write!(f, "{differences} blocks differ from their runs"),
            Error::NoEvents { file, .. } => write!(f, "{} holds no event", file.display()),
            Error::NoRoom { file, bytes } => {
                write!(f, "there is no room for {} at {}", crate::output::bytes(*bytes), file.display())
            }
            Error::Ring { file, why } => write!(f, "cannot use the ring of {}: {why}", file.display()),
            Error::OtherBoot { file } => {
                write!(f, "{} was made before this machine was started last", file.display())
            }
            Error::TooLarge { file, size, most } => write!(
                f,
                "{} cannot become {}: room for {} was reserved when it was made",
                file.display(),
                crate::output::bytes(*size),
                crate::output::bytes(*most)
            ),
            Error::TooSmall { file, size, least } => write!(
                f,
                "{} cannot become {}: its blocks take at least {}",
                file.display(),
                crate::output::bytes(*size),
                crate::output::bytes(*least)
            ),
            Error::Lab(error) => error.fmt(f),
            Error::Open { file, why } => write!(f, "cannot open {} in a browser: {why}", file.display()),
        }
    }
}

impl Error {
    /// What to try; empty when there is nothing better to say than the message.
    pub(crate) fn hint(&self) -> String {
        match self {
            Error::Usage { hint, .. } | Error::Option { hint, .. } | Error::Refused { hint, .. } => hint.clone(),
            Error::OptionsFile { .. } => "`lookback config` lists all options with examples".into(),
            Error::NoAgent { tried } => {
                let tried: Vec<_> = tried.iter().map(|p| p.display().to_string()).collect();
                format!(
                    "give it with --agent FILE or in LOOKBACK_AGENT; looked for {}",
                    tried.join(", ")
                )
            }
            Error::AgentPath { .. } => "name a liblookback.so on a plain path with --agent".into(),
            Error::Run { error, .. } if error.kind() == io::ErrorKind::NotFound => {
                "check the name and PATH, or give the whole path".into()
            }
            Error::NoProcess { .. } => {
                "`lookback ls --all` shows the JVMs of this user; `lookback recover` reads what a dead one left"
                    .into()
            }
            Error::NotOurs { theirs, .. } => format!(
                "a JVM only answers its own user, not even root: run this as that user (sudo -u '#{theirs}' lookback ...)"
            ),
            Error::NotAJvm { .. } => "nothing was sent to it; `lookback ls --all` shows the JVMs of this user".into(),
            Error::NoSignal { .. } => {
                "it still starts (try again), or it was started with -Xrs (SIGQUIT would kill it; nothing was sent): start it with `lookback run`"
                    .into()
            }
            Error::AttachOff { .. } => "start it without that flag, or with `lookback run`".into(),
            Error::LoadingOff { .. } => {
                "start it without that flag, or with `lookback run`, which needs no loading later (JEP 451)".into()
            }
            Error::Musl { .. } => {
                "nothing was sent to it; run the program on an image with glibc (Debian, Ubuntu, Red Hat) instead of Alpine".into()
            }
            Error::AgentUnseen { path, .. } => format!(
                "it runs in another container or mount namespace: copy the file to the same path there ({})",
                path.display()
            ),
            Error::TooManyOptions { .. } => {
                "give fewer or shorter patterns, or start the program with `lookback run`, which has no such limit"
                    .into()
            }
            Error::AttachSilent { .. } => {
                "it may be stopped, busy in a long pause, or have attaching switched off (-XX:+DisableAttachMechanism); look for a thread dump in its output"
                    .into()
            }
            Error::AttachRefused { message, .. } if message.contains("EnableDynamicAgentLoading") => {
                "start it with -XX:+EnableDynamicAgentLoading, or with `lookback run` (JEP 451)".into()
            }
            Error::AttachRefused { .. } => {
                "check that the file is a liblookback.so built for its architecture and C library; the program goes on"
                    .into()
            }
            Error::CommandRefused { .. } => "it may be about to end, or be no HotSpot; the program goes on".into(),
            Error::JfrRefused { message, .. } if message.contains("disabled") => {
                "start it without -XX:-FlightRecorder, or leave out --engine: the agent needs no JFR".into()
            }
            Error::JfrRefused { message, .. } if message.contains("jdk.jfr") => {
                "its Java was built without the module jdk.jfr: leave out --engine, the agent needs no JFR".into()
            }
            Error::JfrRefused { .. } => "leave out --engine: the agent needs no JFR".into(),
            Error::NoCpuTime { .. } => {
                "`--engine signal` samples by processor time on any JDK; `--engine jfr` takes JFR's samples by time".into()
            }
            Error::JfrFile { .. } => "leave out --engine: the agent needs no JFR".into(),
            Error::JfrLost { .. } => {
                "it was killed within a second, or its /tmp has gone with it: `lookback run` records in a file that survives".into()
            }
            Error::AgentSilent { pid, .. } => {
                format!("if it could not start, it says why in one line in the program's own error output; in a very busy JVM it may come yet: `lookback status {pid}`")
            }
            Error::AgentRefused { .. } => {
                "the agent says why in one line in the program's own error output; the program goes on".into()
            }
            Error::AlreadyTraced { pid } => {
                format!("`lookback status {pid}` shows how it goes; `lookback detach {pid}` first, to attach with other options")
            }
            Error::NoMatch { .. } => "`lookback ls --all` shows what runs".into(),
            Error::Ambiguous { .. } => "give the process id".into(),
            Error::NotTraced { pid, looked } => {
                let looked: Vec<_> = looked.iter().map(|p| p.display().to_string()).collect();
                format!(
                    "`lookback attach {pid}` traces a running JVM; looked for its socket in {}",
                    looked.join(", ")
                )
            }
            Error::Died { region, .. } => format!("lookback recover {}", region.display()),
            Error::RuntimeDir { dir, .. } => {
                format!("it must be a directory of this user with mode 0700: chmod 700 {}", dir.display())
            }
            Error::Control { .. } => "the program may just have ended: `lookback ls` shows what is left".into(),
            Error::ControlSilent { .. } => {
                "the process may be stopped or starved of CPU; its region file can be read with `lookback recover --force`"
                    .into()
            }
            Error::BadAnswer { .. } => "use a `lookback` of the same version as the agent".into(),
            Error::Exists { .. } => "give another name with -o, or --force to replace it".into(),
            Error::Write { error, .. } if error.kind() == io::ErrorKind::StorageFull => {
                "nothing was left behind; free some space or give another place with -o".into()
            }
            Error::Write { error, .. } if error.kind() == io::ErrorKind::PermissionDenied => {
                "give another place with -o".into()
            }
            Error::Format { error: lookback_format::Error::Foreign { found, expected }, .. } => {
                if found.len() >= 4 && lookback_format::region::MAGIC.starts_with(found) {
                    "it is a region file: `lookback recover` makes an incident of it".into()
                } else if found.starts_with(b"PK") {
                    "it looks like an incident: `lookback report` reads it".into()
                } else if expected.contains("ring file") {
                    "a ring file comes from `lookback record`, or from a program that records".into()
                } else {
                    "an incident (.lkb) comes from `lookback dump`, `lookback recover` or a rule".into()
                }
            }
            Error::Format { error: lookback_format::Error::Truncated { .. }, .. } => {
                "it was cut while it was copied or written: copy it again".into()
            }
            Error::UnknownFormat { .. } => {
                "name it .pftrace, .json, .collapsed or .html, or say --format".into()
            }
            Error::StillRuns { pid, .. } => {
                format!("`lookback dump {pid}` gives a better recording of a living program; --force reads it anyway")
            }
            Error::NothingRecorded { .. } => {
                "was tracing on, and do the patterns match? `lookback info` shows what is in it".into()
            }
            Error::NothingSampled { .. } => {
                "threads that wait are sampled with --all; a longer -d or a shorter -i finds those that seldom run".into()
            }
            Error::Stale { .. } => {
                "`lookback lab publish DIR --name NAME --into DOCUMENT` writes a run and renews the blocks of documents".into()
            }
            Error::NoEvents { damages, file } if damages.is_empty() => format!(
                "has a program recorded into it, and do its levels let anything pass? `lookback record --ring {} --level trace` lets everything pass",
                file.display()
            ),
            Error::NoEvents { damages, .. } => format!("it is damaged: {}", damages.join("; ")),
            Error::NoRoom { .. } => "choose a smaller --size, or another place with --ring".into(),
            Error::Ring { .. } => "`lookback snapshot` reads what is left of it; make another with `lookback record`".into(),
            Error::OtherBoot { file } => format!(
                "its programs are gone: `lookback snapshot {}` keeps what it holds; then remove it",
                file.display()
            ),
            Error::TooLarge { most, .. } => format!(
                "give {} or less, or make another with `lookback record --reserve`",
                format_bytes(most >> 10 << 10)
            ),
            Error::TooSmall { least, .. } => {
                format!("give {} or more", format_bytes(least.div_ceil(1 << 10) << 10))
            }
            Error::Lab(error) => error.hint(),
            Error::Open { file, .. } => format!("open {} yourself", file.display()),
            _ => String::new(),
        }
    }
}

impl std::error::Error for Error {}

impl From<LabError> for Error {
    fn from(error: LabError) -> Error {
        match error {
            LabError::Read { path, error } => Error::Read { file: path, error },
            LabError::Write { path, error } => Error::Write { file: path, error },
            error => Error::Lab(error),
        }
    }
}
