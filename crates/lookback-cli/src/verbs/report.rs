//! `lookback report`: an incident in words on standard output, and as a page beside the file.

use super::{Streams, stdout};
use crate::args::ReportArgs;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::output::{self, bytes};
use crate::progress::Progress;
use crate::{incident, verbs::convert};
use lookback_analysis::{Recording, Style, Verdict, report};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Reports an incident.
pub(crate) fn run(args: &ReportArgs, streams: &mut Streams<'_>) -> Result<()> {
    let page = page_file(args)?;
    let recording = incident::load(&args.file)?;
    let verdict = Verdict::of(&recording);
    if page.as_deref().is_some_and(output::is_stdout) {
        refuse_empty(&recording, &args.file)?;
        return convert::page(&recording, &verdict, args.slices, Path::new("-"), args.force).map(|_| ());
    }
    let style = Style { width: args.width.unwrap_or_else(text_width), colour: true };
    report(&recording, &verdict, style, streams.out).map_err(stdout)?;
    streams.out.flush().map_err(stdout)?;
    refuse_empty(&recording, &args.file)?;
    let Some(page) = page else { return Ok(()) };
    let shown = printable(&page.display().to_string());
    if args.output.is_none() && !args.force && page.exists() {
        streams.note(&format!("{shown} is there already and was left as it is; --force writes it anew"));
    } else {
        let size = {
            let _spinner = Progress::spinner("writing the page");
            convert::page(&recording, &verdict, args.slices, &page, args.force)?
        };
        streams.note(&format!("{shown}  {}: open it in any browser", bytes(size)));
    }
    let trace = page.with_extension("pftrace");
    streams.note(&format!(
        "for Perfetto: lookback convert {} -o {}, and open that in ui.perfetto.dev or any copy of it",
        printable(&args.file.display().to_string()),
        printable(&trace.display().to_string()),
    ));
    if args.open { open(&page) } else { Ok(()) }
}

/// Where the page goes; none when it is not wanted. A name that the user gave is checked before the work.
fn page_file(args: &ReportArgs) -> Result<Option<PathBuf>> {
    if args.text_only {
        return Ok(None);
    }
    if let Some(path) = &args.output {
        output::check(path, args.force)?;
        return Ok(Some(path.clone()));
    }
    if crate::ring_file::is_ring_file(&args.file) {
        return Ok(Some(super::snapshot::beside_us(&args.file, "html")));
    }
    let page = args.file.with_extension("html");
    if page == args.file {
        return Err(Error::Usage {
            what: format!("{} is a page already, not an incident", page.display()),
            hint: "give the .lkb file".into(),
        });
    }
    Ok(Some(page))
}

/// An incident without a single call or sample leaves nothing to show.
pub(crate) fn refuse_empty(recording: &Recording, file: &Path) -> Result<()> {
    if recording.slices() == 0 && recording.samples.is_empty() {
        return Err(Error::NothingRecorded { file: file.to_owned() });
    }
    Ok(())
}

/// Columns of the terminal, if there is one, up to what is pleasant to read.
pub(crate) fn text_width() -> usize {
    /// Longer lines are hard to follow.
    const MOST: usize = 120;
    terminal_size::terminal_size().map_or(Style::default().width, |(w, _)| usize::from(w.0).min(MOST))
}

pub(crate) fn open(page: &Path) -> Result<()> {
    let browser = std::env::var_os("BROWSER").filter(|b| !b.is_empty()).unwrap_or_else(|| "xdg-open".into());
    let mut command = Command::new(&browser);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The browser stays when this command ends, so it is not waited for.
    command.spawn().map(drop).map_err(|e| Error::Open {
        file: page.to_owned(),
        why: format!("{}: {e}", browser.to_string_lossy()),
    })
}
