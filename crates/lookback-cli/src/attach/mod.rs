//! `lookback attach`: loads the agent into a JVM that already runs, by HotSpot's attach protocol and
//! without any JDK. Diagnostic commands, as `jcmd` gives them, take the same way.
//!
//! The constraint that shaped it: the first step of the protocol is a SIGQUIT, which kills what is not a
//! listening JVM. So all that can be checked is checked first, on a pinned process, and whatever fails
//! afterwards leaves the program as it was.

mod answer;
mod protocol;

use crate::error::{Error, Result};
use crate::process::{Process, our_uid};
use std::path::Path;

pub(crate) use answer::clean;
pub(crate) use protocol::ARGUMENT_BYTES;

/// From this version on a JVM warns of agents that are loaded into it (JEP 451).
const WARNS_FROM: u32 = 21;

/// What came of an attachment that worked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Attached {
    /// What the user should know besides.
    pub(crate) notes: Vec<String>,
}

/// Loads `agent` into `process` with `options`.
///
/// # Errors
/// What is wrong with the target, the protocol, or the agent's start.
pub(crate) fn attach(process: &Process, agent: &Path, options: &str) -> Result<Attached> {
    let pid = process.pid;
    check(process)?;
    check_loading(process)?;
    let path = crate::agent::text(agent)?;
    let length = path.len().max(options.len());
    if length > ARGUMENT_BYTES {
        return Err(Error::TooManyOptions { bytes: length, most: ARGUMENT_BYTES });
    }
    if !process.in_root(agent).exists() {
        return Err(Error::AgentUnseen { pid, path: agent.to_owned() });
    }
    let reply = protocol::Session::open(process)?.load(path, options)?;
    let allowed = flag(process, DYNAMIC_LOADING) == Some(true);
    let silent = allowed || process.java_version().is_some_and(|version| version < WARNS_FROM);
    answer::explain(pid, &reply, silent)
}

/// Has `process` run a diagnostic command, as the JDK's `jcmd` does; what it says. Nothing is loaded into it.
///
/// # Errors
/// What is wrong with the target, the protocol, or the command.
pub(crate) fn diagnose(process: &Process, command: &str) -> Result<String> {
    check(process)?;
    if command.len() > ARGUMENT_BYTES {
        return Err(Error::TooManyOptions { bytes: command.len(), most: ARGUMENT_BYTES });
    }
    let reply = protocol::Session::open(process)?.ask(&["jcmd", command])?;
    answer::said(process.pid, &reply)
}

/// The flag by which a JVM allows agents to be loaded while it runs (JEP 451).
const DYNAMIC_LOADING: &str = "EnableDynamicAgentLoading";

/// How a flag of the JVM was set; the last word counts, and those on the command line come last. `None` when it was not.
fn flag(process: &Process, name: &str) -> Option<bool> {
    let variables =
        ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"].map(|name| process.variable(name).unwrap_or_default());
    let words = variables.iter().flat_map(|value| value.split_whitespace()).map(str::to_owned);
    let set = |word: String| match word.strip_prefix("-XX:")?.split_at_checked(1)? {
        ("+", flag) if flag == name => Some(true),
        ("-", flag) if flag == name => Some(false),
        _ => None,
    };
    words.chain(process.command()).filter_map(set).next_back()
}

/// Refuses what loads no agent of ours.
fn check_loading(process: &Process) -> Result<()> {
    let pid = process.pid;
    if process.is_musl() {
        return Err(Error::Musl { pid });
    }
    if flag(process, DYNAMIC_LOADING) == Some(false) {
        return Err(Error::LoadingOff { pid });
    }
    Ok(())
}

/// Refuses whatever must not get a SIGQUIT.
fn check(process: &Process) -> Result<()> {
    let pid = process.pid;
    let (theirs, ours) = (process.uid()?, our_uid());
    if theirs != ours {
        return Err(Error::NotOurs { pid, theirs, ours });
    }
    if !process.is_jvm() {
        return Err(Error::NotAJvm { pid, name: process.name() });
    }
    if flag(process, "DisableAttachMechanism") == Some(true) {
        return Err(Error::AttachOff { pid });
    }
    if !process.handles(libc::SIGQUIT) {
        return Err(Error::NoSignal { pid });
    }
    Ok(())
}
