//! `lookback convert`: an incident in the formats of other viewers, or as a page.

use super::report::refuse_empty;
use crate::args::{ConvertArgs, Format};
use crate::error::{Error, Result};
use crate::incident;
use crate::output::{self, Access, bytes};
use crate::progress::Progress;
use crate::verbs::Streams;
use lookback_analysis::{
    DEFAULT_SLICES, Recording, Trim, Verdict, chrome_json, collapsed, collapsed_samples, embed, jfr,
    page_json, perfetto, pprof,
};
use lookback_format::incident::Trigger;
use lookback_format::sample::Activity;
use lookback_format::units::count;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The report page, waiting for its data.
const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/report.html"));

/// How many calls a trace has unless it is asked for more: what Perfetto opens within seconds, some 45 MB.
const TRACE_SLICES: usize = 1_000_000;

/// Converts an incident.
pub(crate) fn run(args: &ConvertArgs, streams: &mut Streams<'_>) -> Result<()> {
    let format = match args.format {
        Some(format) => format,
        None => Format::of(&args.output)
            .ok_or_else(|| Error::UnknownFormat { output: args.output.display().to_string() })?,
    };
    output::check(&args.output, args.force)?;
    if format == Format::Lkb {
        return Err(Error::Usage {
            what: format!("{} is a recording already", args.file.display()),
            hint: "choose another format, or copy the file".into(),
        });
    }
    let recording = incident::load(&args.file)?;
    refuse_empty(&recording, &args.file)?;
    for damage in &recording.damages {
        streams.note(&crate::control::printable(&format!("damaged: {damage}")));
    }
    if matches!(format, Format::Pprof | Format::Jfr) && recording.samples.is_empty() {
        return Err(Error::Usage {
            what: format!("{} has no samples, which this format is made of", args.file.display()),
            hint: "record with --sample 10ms, or take a profile: lookback profile PID".into(),
        });
    }
    let samples = args.samples || args.running;
    let how = How { samples, running: args.running, slices: args.slices, force: args.force };
    write_as(&recording, format, &args.output, &how, streams)
}

/// How a recording is written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// Samples where there are calls as well.
    pub(crate) samples: bool,
    /// Of these, only those of threads that did not wait.
    pub(crate) running: bool,
    /// The most calls; 0 means all.
    pub(crate) slices: Option<usize>,
    /// Whether a file that is there may be replaced.
    pub(crate) force: bool,
}

/// Writes a recording in a format, and tells where and how much.
pub(crate) fn write_as(
    r: &Recording,
    format: Format,
    target: &Path,
    how: &How,
    streams: &mut Streams<'_>,
) -> Result<()> {
    let _spinner = Progress::spinner("writing");
    let force = how.force;
    let most = |default| match how.slices {
        Some(0) => usize::MAX,
        given => given.unwrap_or(default),
    };
    let mut hidden = None;
    let mut trim = |r: &Recording| {
        let trim = Trim::new(r, most(TRACE_SLICES));
        hidden = trim.hidden(r);
        trim
    };
    let is_profile = matches!(r.manifest.trigger, Trigger::Profile { .. });
    let size = match format {
        Format::Html => page(r, &Verdict::of(r), most(DEFAULT_SLICES), target, force)?,
        Format::Pftrace => write(target, force, |out| perfetto(r, &trim(r), out))?,
        Format::Json => write(target, force, |out| chrome_json(r, &trim(r), out))?,
        Format::Collapsed if how.samples || is_profile => {
            let wanted = |a: &Activity| !how.running || *a != Activity::Waiting;
            let activities: Vec<Activity> = Activity::ALL.into_iter().filter(wanted).collect();
            write(target, force, |out| collapsed_samples(r, &activities, out))?
        }
        Format::Collapsed => write(target, force, |out| collapsed(r, out))?,
        Format::Pprof => write(target, force, |out| pprof(r, out))?,
        Format::Jfr => write(target, force, |out| jfr(r, out))?,
        // It is a recording already: who calls this has copied it.
        Format::Lkb => return Ok(()),
    };
    if let Some((calls, why)) = hidden {
        streams.note(&format!("{} calls left out, {why}; --slices 0 shows all that is kept", count(calls)));
    }
    if !output::is_stdout(target) {
        let shown = crate::control::printable(&target.display().to_string());
        streams.note(&format!("{shown}  {}", bytes(size)));
    }
    Ok(())
}

/// Writes the page and returns its size.
pub(crate) fn page(
    recording: &Recording,
    verdict: &Verdict,
    slices: usize,
    target: &Path,
    force: bool,
) -> Result<u64> {
    let json = page_json(recording, verdict, slices);
    let html = embed(TEMPLATE, &json).map_err(|error| match error {
        lookback_analysis::Error::Io(e) => output::failed(target)(e),
        other => Error::Usage {
            what: other.to_string(),
            hint: "this command was built with a damaged template".into(),
        },
    })?;
    write(target, force, |out| out.write_all(html.as_bytes()))
}

/// Writes to a file, or to standard output past the stream that takes colours away: a trace is no text.
fn write(target: &Path, force: bool, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<u64> {
    let failed = output::failed(target);
    if output::is_stdout(target) {
        let mut out = BufWriter::new(io::stdout().lock());
        fill(&mut out).and_then(|()| out.flush()).map_err(failed)?;
        return Ok(0);
    }
    output::write(target, force, Access::Usual, |file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        fill(&mut out).and_then(|()| out.flush()).map_err(failed)
    })
}
