//! A profile by the agent.
//!
//! The constraint that shaped it: an agent that was loaded for this traces nothing and leaves at the end, whatever went wrong in
//! between.

use super::{Taken, wait};
use crate::args::ProfileArgs;
use crate::control::{Client, printable};
use crate::error::Result;
use crate::process::Process;
use crate::progress::Progress;
use crate::verbs::Streams;
use crate::verbs::attach::wait_for_agent;
use crate::{agent, attach, interrupt};
use lookback_format::Nanos;
use lookback_format::control::{Answer, Request};

/// Of an agent that is loaded for a profile alone.
const OPTIONS: &str = "tracing=off,quiet=on,ring=16m,sample=off";

/// Has the JVM sampled by its agent, which gets one for that if it has none.
pub(super) fn take(args: &ProfileArgs, process: &Process, streams: &mut Streams<'_>) -> Result<Taken> {
    let (client, is_ours) = reach(args, process)?;
    interrupt::watch();
    let taken = sampled(args, &client);
    if is_ours {
        // What was sampled counts more than a JVM that cannot be left, which says so itself.
        if let Err(error) = client.ask(&Request::Detach { progress: false }) {
            streams.note(&printable(&error.to_string()));
        }
    }
    taken
}

/// The agent in the JVM, and whether it was loaded for this.
fn reach(args: &ProfileArgs, process: &Process) -> Result<(Client, bool)> {
    if let Ok(client) = Client::find(process.pid).and_then(|client| client.status().map(|_| client)) {
        return Ok((client, false));
    }
    let agent = agent::locate(args.agent.as_deref())?;
    let _spinner = Progress::spinner("waiting for the JVM to load the agent");
    attach::attach(process, &agent, OPTIONS)?;
    wait_for_agent(process.pid)?;
    Client::find(process.pid).map(|client| (client, true))
}

/// Has the JVM sampled, and its recording written.
fn sampled(args: &ProfileArgs, client: &Client) -> Result<Taken> {
    let (interval, time) = (Nanos(args.interval), Nanos(args.duration));
    match client.ask(&Request::Profile { engine: args.engine, interval, time, all: args.all })? {
        Answer::Profiling { engine } => wait(args, client.pid, engine.word()),
        other => return Err(client.unexpected(&other)),
    }
    let _spinner = Progress::spinner("the program writes what was sampled");
    client.fetch(|file| Request::EndProfile { file, force: false })
}
