//! `lookback attach`: see [`crate::attach`].

use super::{Streams, stdout};
use crate::args::AttachArgs;
use crate::control::{self, Client};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::settings::Settings;
use crate::{agent, attach};
use lookback_format::control::{Rewriting, Status};
use lookback_format::units::count;
use std::time::{Duration, Instant};

/// How long the agent may take to come to life in a JVM that has loaded it.
const ALIVE: Duration = Duration::from_secs(20);

/// Loads the agent into a running JVM.
pub(crate) fn run(args: &AttachArgs, settings: &Settings, streams: &mut Streams<'_>) -> Result<()> {
    let process = control::resolve_jvm(&args.target)?;
    let agent = agent::locate(args.agent.as_deref())?;
    let cwd = std::env::current_dir().ok();
    let options = settings.agent_string(cwd.as_deref())?;
    let pid = process.pid;
    if Client::find(pid).is_ok_and(|client| client.status().is_ok()) {
        return Err(Error::AlreadyTraced { pid });
    }
    let attached = {
        let _spinner = Progress::spinner("waiting for the JVM to load the agent");
        attach::attach(&process, &agent, &options)?
    };
    let rewriting = if settings.options.control { Some(watch(pid)?) } else { None };
    writeln!(streams.out, "The JVM {pid} is traced. `lookback status {pid}` shows how it goes.")
        .map_err(stdout)?;
    if let Some(done) = rewriting.filter(|done| done.of > 0) {
        streams.note(&rewritten(&done));
    }
    if !settings.options.quiet {
        attached.notes.iter().for_each(|note| streams.note(note));
    }
    Ok(())
}

/// How classes were rewritten that were there before, in words.
fn rewritten(done: &Rewriting) -> String {
    format!(
        "{} classes that were loaded before were rewritten in {:.1} s; the longest of the batches took {:.0} ms, for a part of which the program stood still",
        count(done.of),
        done.seconds,
        done.longest_seconds * 1e3
    )
}

/// How tracing goes in a program; none when it does not answer, and an error when it is gone.
fn ask(pid: u32) -> Result<Option<Status>> {
    match Client::find(pid).and_then(|client| client.status()) {
        Ok(status) => Ok(Some(status)),
        Err(gone @ (Error::NoProcess { .. } | Error::Died { .. })) => Err(gone),
        Err(_) => Ok(None),
    }
}

/// Waits until the agent lives.
pub(crate) fn wait_for_agent(pid: u32) -> Result<Status> {
    let begun = Instant::now();
    loop {
        if let Some(status) = ask(pid)? {
            return Ok(status);
        }
        if begun.elapsed() > ALIVE {
            return Err(Error::AgentSilent { pid, seconds: ALIVE.as_secs() });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the agent lives and has looked at all classes that were there before it; says what that took.
fn watch(pid: u32) -> Result<Rewriting> {
    let mut status = wait_for_agent(pid)?;
    let progress = Progress::count("classes loaded before");
    let all = status.classes_to_come;
    while status.classes_to_come > 0 {
        progress.at(all.saturating_sub(status.classes_to_come), all);
        std::thread::sleep(Duration::from_millis(50));
        // A JVM that does not answer for a moment is still at it.
        status = ask(pid)?.unwrap_or(status);
    }
    Ok(status.rewriting)
}
