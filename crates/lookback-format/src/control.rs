//! The control protocol: one JSON object a line, a request and its answer, over a Unix socket.
//!
//! The constraint that shaped it: it must be usable by a shell, checked strictly (unknown commands and
//! fields are errors, not guesses), and change nothing when a request is bad.

use crate::Nanos;
use crate::costs::Costs;
use crate::sample::Engine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most bytes that a request or an answer may have.
pub const MOST_BYTES: usize = 1 << 20;

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cmd", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// How tracing goes.
    Status,
    /// Write an incident now.
    Dump {
        /// Where; the agent's configured pattern when absent. An absolute path.
        #[serde(default)]
        file: Option<PathBuf>,
        /// Whether a file that is there may be replaced.
        #[serde(default)]
        force: bool,
    },
    /// Stop tracing until [`Request::Start`]; what is recorded stays.
    Stop {
        /// Whether to tell meanwhile how far it is, by lines [`Answer::Progress`].
        #[serde(default)]
        progress: bool,
    },
    /// Go on tracing.
    Start {
        /// As above.
        #[serde(default)]
        progress: bool,
    },
    /// Sample stacks from now on; in the place of a profile that is being taken already.
    Profile {
        /// By whom; the best that the VM offers when absent.
        #[serde(default)]
        engine: Option<Engine>,
        /// From one sample to the next.
        interval: Nanos,
        /// For how long, unless it is ended before.
        time: Nanos,
        /// Whether threads that wait are sampled as well.
        #[serde(default)]
        all: bool,
    },
    /// End the sampling, and write what was sampled.
    EndProfile {
        /// Where; an absolute path.
        file: PathBuf,
        /// Whether a file that is there may be replaced.
        #[serde(default)]
        force: bool,
    },
    /// Leave the program: stop tracing, and give its classes, the memory and the socket back.
    Detach {
        /// As above.
        #[serde(default)]
        progress: bool,
    },
}

impl Request {
    /// Whether the client wants to hear how far it is.
    #[must_use]
    pub const fn wants_progress(&self) -> bool {
        matches!(
            self,
            Request::Stop { progress: true }
                | Request::Start { progress: true }
                | Request::Detach { progress: true }
        )
    }
}

/// What the agent answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// To [`Request::Status`].
    Status(Box<Status>),
    /// To [`Request::Profile`]: it has begun.
    Profiling {
        /// Who samples.
        engine: Engine,
    },
    /// The incident was written.
    Dumped {
        /// Where.
        file: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// How far it is; another answer follows.
    Progress {
        /// Classes that were handed over again.
        done: u64,
        /// Of so many.
        of: u64,
    },
    /// Done.
    Done {
        /// In words.
        message: String,
    },
    /// Not done, and nothing was changed.
    Error {
        /// What failed and why.
        message: String,
        /// What to try; may be empty.
        hint: String,
    },
}

/// How tracing goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Version of the agent.
    pub lookback: String,
    /// The process.
    pub pid: u32,
    /// Main class or jar.
    pub program: String,
    /// Name and version of the VM.
    pub jvm: String,
    /// Whether tracing is on.
    pub tracing: bool,
    /// Whether the VM itself records what is entered and left, where there are frames of it: the extended VM.
    #[serde(default)]
    pub by_vm: bool,
    /// Seconds since the agent began.
    pub uptime_seconds: f64,
    /// The region file.
    pub region: PathBuf,
    /// Bytes of the ring.
    pub ring_bytes: u64,
    /// How far back the ring reaches, seconds, estimated from the rate of the last seconds.
    pub reach_seconds: f64,
    /// Entries and exits recorded a second over the last seconds.
    pub records_per_second: f64,
    /// What tracing costs and what that made the governor drop; absent without a budget.
    #[serde(default)]
    pub governing: Option<Governing>,
    /// Classes and methods seen, rewritten, left alone; by name.
    pub classes: BTreeMap<String, u64>,
    /// Classes that were loaded before the agent was, and are still to be looked at.
    #[serde(default)]
    pub classes_to_come: u64,
    /// The last pass over all classes.
    #[serde(default)]
    pub rewriting: Rewriting,
    /// Threads traced now.
    pub threads: u32,
    /// How far back each reaches; first those whose older records were overwritten, the shortest reach first; of very many
    /// threads the first.
    #[serde(default)]
    pub by_thread: Vec<ThreadStatus>,
    /// Losses by cause.
    pub losses: BTreeMap<String, u64>,
    /// The detectors' rules and how many slow calls each found, in a cool-down too.
    pub rules: Vec<(String, u64)>,
    /// Incidents written, newest last.
    pub incidents: Vec<PathBuf>,
    /// The options in force, as `key=value`.
    pub options: Vec<String>,
}

/// A pass over all classes that are to be rewritten, or to be as they were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rewriting {
    /// Classes so far.
    pub classes: u64,
    /// Of so many.
    pub of: u64,
    /// Seconds so far.
    pub seconds: f64,
    /// Seconds of the longest batch; the program stands still for most of them.
    pub longest_seconds: f64,
}

/// How far back the records of a thread reach.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadStatus {
    /// Its name.
    pub name: String,
    /// Java's id of it.
    pub java_tid: u64,
    /// How long ago its oldest record that is still there was made, seconds.
    pub reach_seconds: f64,
    /// Whether that is all that it has recorded.
    pub whole: bool,
    /// Whether it is braked now.
    pub braked: bool,
}

/// How the governor keeps its budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Governing {
    /// What it is about.
    #[serde(flatten)]
    pub costs: Costs,
    /// Threads that record only timed methods now, because they had recorded more than they may.
    #[serde(default)]
    pub braked_threads: u32,
    /// Methods that are not traced because they would cost too much, the costliest first.
    pub dropped: Vec<Dropped>,
    /// Classes that are not traced yet, since this is the program's first start and nothing is known of them.
    #[serde(default)]
    pub waiting_classes: u64,
}

/// A method that the governor has dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// Class and method, `com.acme.Api.find`.
    pub method: String,
    /// How fast it was recorded before, entries and exits a second; none when it never was, and compilers have found it to be hot.
    pub records_per_second: Option<f64>,
}

/// The directory for sockets and region files of a user: `$XDG_RUNTIME_DIR/lookback` when there is a
/// runtime directory, else `lookback-UID` in `tmp`. It must have mode 0700 and belong to the user.
#[must_use]
pub fn runtime_dir(xdg_runtime_dir: Option<&Path>, tmp: &Path, uid: u32) -> PathBuf {
    match xdg_runtime_dir {
        Some(dir) if dir.is_absolute() => dir.join("lookback"),
        _ => tmp.join(format!("lookback-{uid}")),
    }
}

/// The control socket of a process in `dir`.
#[must_use]
pub fn socket_path(dir: &Path, pid: u32) -> PathBuf {
    dir.join(format!("{pid}.sock"))
}

/// The region file of a process in `dir`.
#[must_use]
pub fn region_path(dir: &Path, pid: u32) -> PathBuf {
    dir.join(format!("{pid}.region"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_checked_strictly() {
        let ok: Request = serde_json::from_str(r#"{"cmd":"dump","file":"/x/y.lkb"}"#).unwrap();
        assert_eq!(ok, Request::Dump { file: Some("/x/y.lkb".into()), force: false });
        for bad in [r#"{"cmd":"format-disk"}"#, r#"{"cmd":"dump","fiel":"/x"}"#, "[]", ""] {
            assert!(serde_json::from_str::<Request>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_relative_runtime_directory_is_not_trusted() {
        let tmp = Path::new("/tmp");
        assert_eq!(runtime_dir(Some(Path::new("x")), tmp, 5), Path::new("/tmp/lookback-5"));
        assert_eq!(runtime_dir(Some(Path::new("/run/user/5")), tmp, 5), Path::new("/run/user/5/lookback"));
    }
}
