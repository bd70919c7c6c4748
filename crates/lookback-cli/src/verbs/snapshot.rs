//! `lookback snapshot`: an incident of what a ring file holds; see [`crate::ring_file`].

use super::{Streams, lines, losses, named, stdout};
use crate::args::SnapshotArgs;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::output::{self, Access, bytes, seconds};
use crate::progress::Progress;
use crate::ring_file::{self, Found, RingFile};
use crate::table;
use lookback_format::units::count;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Makes an incident of a ring file.
pub(crate) fn run(args: &SnapshotArgs, streams: &mut Streams<'_>) -> Result<()> {
    let target = args.output.clone().unwrap_or_else(|| beside_us(&args.ring, "lkb"));
    if output::is_stdout(&target) {
        return Err(Error::Usage {
            what: "an incident is a ZIP, which cannot be written to a pipe".into(),
            hint: "give a file with -o".into(),
        });
    }
    let source = RingFile::open(&args.ring)?;
    let (live, holder) = (source.is_live(), source.holder);
    let mut found = None;
    let size = output::write(&target, args.force, Access::Private, |file| {
        let progress = Progress::bytes("reading the ring");
        let mut buffered = BufWriter::with_capacity(1 << 20, file);
        let result =
            ring_file::write(source, &mut buffered, &target, &mut |done, all| progress.at(done, all))?;
        buffered.flush().map_err(output::failed(&target))?;
        found = Some(result);
        Ok(())
    })?;
    let found = found.unwrap_or_default();
    table::facts(streams.out, &facts(&found)).map_err(stdout)?;
    let shown = printable(&target.display().to_string());
    writeln!(streams.out, "\n{shown}  {}", bytes(size)).map_err(stdout)?;
    if !live {
        streams
            .note("nobody has the ring file open any more; what its programs left unfinished was left out");
    } else if let Some(pid) = holder.filter(|pid| !found.processes.iter().any(|(_, p)| p == pid)) {
        streams.note(&format!("process {pid} has the ring file open, too"));
    }
    streams.note(&format!("lookback report {shown}  shows what is in it"));
    Ok(())
}

/// A name in the current directory after a ring file's.
pub(crate) fn beside_us(ring: &Path, ending: &str) -> PathBuf {
    Path::new(ring.file_name().unwrap_or("ring".as_ref())).with_extension(ending)
}

fn facts(found: &Found) -> Vec<(&'static str, String)> {
    let nanos = |n: u64| seconds(n as f64 / 1e9);
    let (oldest, newest) = found.span.unwrap_or_default();
    let processes = found.processes.iter().map(|(name, pid)| format!("{} (process {pid})", named(name)));
    let reach = match found.complete_from {
        None => format!("all that was recorded: {}", nanos(newest.since(oldest).0)),
        Some(from) => format!(
            "complete for the last {}; {} older blocks were overwritten",
            nanos(newest.since(from).0),
            count(found.overwritten)
        ),
    };
    vec![
        ("Processes", lines(processes, "none")),
        (
            "Events",
            format!(
                "{} over {}, of {} threads",
                count(found.events),
                nanos(newest.since(oldest).0),
                found.threads
            ),
        ),
        ("Reach", reach),
        ("Losses", losses(&found.losses)),
        ("Damage", lines(found.damages.iter().map(|d| printable(d)), "none")),
    ]
}
