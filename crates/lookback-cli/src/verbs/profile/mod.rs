//! `lookback profile`: samples a JVM for a while, and writes what was found.
//!
//! The constraint that shaped it: the JVM may have the agent or not, may be sampled by its own recorder, and is left as it was
//! found. Whoever samples, what was sampled is a recording in a file first, and all else is made of that.

mod by_agent;
mod by_jfr;

use super::convert::{How, write_as};
use super::report::{open, text_width};
use super::{Streams, stdout};
use crate::args::{Format, ProfileArgs};
use crate::control::{self, printable};
use crate::error::{Error, Result};
use crate::output::{self, bytes};
use crate::process::Process;
use crate::progress::Progress;
use crate::verbs::control::copy;
use crate::{incident, interrupt};
use lookback_analysis::{Style, Verdict, report};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often it is looked whether somebody wants the end.
const LOOK: Duration = Duration::from_millis(100);

/// A recording of what was sampled, and what removes it when it is dropped.
type Taken = (PathBuf, tempfile::TempDir);

/// Takes a profile.
pub(crate) fn run(args: &ProfileArgs, streams: &mut Streams<'_>) -> Result<()> {
    let process = control::resolve_jvm(&args.target)?;
    let (target, format) = place(args, process.pid)?;
    let (written, _made) = match args.engine {
        Some(engine) if engine.is_jfr() => by_jfr::take(args, engine, &process, streams)?,
        _ => by_agent::take(args, &process, streams)?,
    };
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

/// Waits for the profile's end, or for somebody who wants it, or for the program's.
fn wait(args: &ProfileArgs, pid: u32, engine: &str) {
    let (begun, time) = (Instant::now(), Duration::from_nanos(args.duration));
    let progress = Progress::count(&format!("sampling {pid} ({engine}), seconds"));
    // A program that ends meanwhile is told of by whoever asks it next.
    while begun.elapsed() < time && !interrupt::asked() && Process::find(pid).is_ok() {
        progress.at(begun.elapsed().as_secs(), time.as_secs());
        std::thread::sleep(LOOK.min(time.saturating_sub(begun.elapsed())));
    }
}
