//! `lookback profile`: samples a JVM for a while, and writes what was found.
//!
//! The constraint that shaped it: the JVM may have the agent or not, and is left as it was found. So an agent that was loaded
//! for this traces nothing and leaves at the end, whatever went wrong in between.

use super::attach::wait_for_agent;
use super::convert::{How, write_as};
use super::report::{open, text_width};
use super::{Streams, stdout};
use crate::args::{Format, ProfileArgs};
use crate::control::{self, Client, printable};
use crate::error::{Error, Result};
use crate::output::{self, bytes};
use crate::process::Process;
use crate::progress::Progress;
use crate::verbs::control::copy;
use crate::{agent, attach, incident, interrupt};
use lookback_analysis::{Style, Verdict, report};
use lookback_format::Nanos;
use lookback_format::control::{Answer, Request};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Of an agent that is loaded for a profile alone.
const OPTIONS: &str = "tracing=off,quiet=on,ring=16m,sample=off";
/// How often it is looked whether somebody wants the end.
const LOOK: Duration = Duration::from_millis(100);

/// Takes a profile.
pub(crate) fn run(args: &ProfileArgs, streams: &mut Streams<'_>) -> Result<()> {
    let process = control::resolve_jvm(&args.target)?;
    let (target, format) = place(args, process.pid)?;
    let (client, is_ours) = reach(args, &process)?;
    interrupt::watch();
    let taken = take(args, &client);
    if is_ours {
        // What was sampled counts more than a JVM that cannot be left, which says so itself.
        if let Err(error) = client.ask(&Request::Detach { progress: false }) {
            streams.note(&printable(&error.to_string()));
        }
    }
    let (written, _made) = taken?;
    if format == Format::Lkb {
        let size = copy(&written, &target, args.force)?;
        if let Some(size) = size {
            let shown = printable(&target.display().to_string());
            streams.note(&format!("{shown}  {}: lookback report {shown}", bytes(size)));
        }
        return Ok(());
    }
    let recording = incident::load(&written)?;
    if recording.samples.is_empty() {
        return Err(Error::NothingSampled { pid: process.pid });
    }
    if !output::is_stdout(&target) {
        let style = Style { width: text_width(), colour: true };
        report(&recording, &Verdict::of(&recording), style, streams.out).map_err(stdout)?;
        streams.out.flush().map_err(stdout)?;
    }
    write_as(&recording, format, &target, &How { force: args.force, ..How::default() }, streams)?;
    if args.open { open(&target) } else { Ok(()) }
}

/// Where the profile goes, and as what; checked before anything is done.
fn place(args: &ProfileArgs, pid: u32) -> Result<(PathBuf, Format)> {
    let default = || PathBuf::from(format!("lookback-{pid}-profile.html"));
    let target = args.output.clone().unwrap_or_else(default);
    let unknown = || Error::UnknownFormat { output: target.display().to_string() };
    let format = args.format.or_else(|| Format::of(&target)).ok_or_else(unknown)?;
    if args.open && format != Format::Html {
        return Err(Error::Usage {
            what: "only a page can be opened".into(),
            hint: "leave out --open, or write to a file that ends in .html".into(),
        });
    }
    output::check(&target, args.force)?;
    Ok((target, format))
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
fn take(args: &ProfileArgs, client: &Client) -> Result<(PathBuf, tempfile::TempDir)> {
    let (interval, time) = (Nanos(args.interval), Nanos(args.duration));
    match client.ask(&Request::Profile { engine: args.engine, interval, time, all: args.all })? {
        Answer::Profiling { engine } => wait(args, client.pid, engine.word()),
        other => return Err(client.unexpected(&other)),
    }
    let _spinner = Progress::spinner("the program writes what was sampled");
    client.fetch(|file| Request::EndProfile { file, force: false })
}

/// Waits for the profile's end, or for somebody who wants it.
fn wait(args: &ProfileArgs, pid: u32, engine: &str) {
    let (begun, time) = (Instant::now(), Duration::from_nanos(args.duration));
    let progress = Progress::count(&format!("sampling {pid} ({engine}), seconds"));
    // A program that ends meanwhile is told of by whoever asks it next.
    let lives = || Path::new(&format!("/proc/{pid}")).exists();
    while begun.elapsed() < time && !interrupt::asked() && lives() {
        progress.at(begun.elapsed().as_secs(), time.as_secs());
        std::thread::sleep(LOOK.min(time.saturating_sub(begun.elapsed())));
    }
}
