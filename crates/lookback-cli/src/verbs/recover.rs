//! `lookback recover`: see [`crate::recover`].

use super::{Streams, losses, named, stdout};
use crate::args::RecoverArgs;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::output::{self, Access, bytes, seconds};
use crate::progress::Progress;
use crate::recover::{self, Found, FoundThread, Region};
use crate::table;
use lookback_format::units::count;
use std::io::BufWriter;

/// Makes an incident of a region file.
pub(crate) fn run(args: &RecoverArgs, streams: &mut Streams<'_>) -> Result<()> {
    let region = Region::open(&args.region, args.force)?;
    let target = args.output.clone().unwrap_or_else(|| recover::default_output(&args.region, region.pid()));
    if output::is_stdout(&target) {
        return Err(Error::Usage {
            what: "an incident is a ZIP, which cannot be written to a pipe".into(),
            hint: "give a file with -o".into(),
        });
    }
    let mut found = None;
    let size = output::write(&target, args.force, Access::Private, |file| {
        let progress = Progress::bytes("reading the ring");
        let mut step = 0_u64;
        let mut buffered = BufWriter::with_capacity(1 << 20, file);
        let result = region.write(&mut buffered, &target, &mut |done, all| {
            step += 1;
            if step & 63 == 0 {
                progress.at(done, all);
            }
        })?;
        std::io::Write::flush(&mut buffered).map_err(output::failed(&target))?;
        if result.records == 0 {
            return Err(recover::nothing(&args.region));
        }
        found = Some(result);
        Ok(())
    })?;
    let found = found.unwrap_or_default();
    table::facts(streams.out, &facts(&found)).map_err(stdout)?;
    let shown = printable(&target.display().to_string());
    writeln!(streams.out, "\n{shown}  {}", bytes(size)).map_err(stdout)?;
    streams.note(&format!("lookback report {shown}  shows what is in it"));
    Ok(())
}

fn facts(found: &Found) -> Vec<(&'static str, String)> {
    /// How many threads are named one by one.
    const LISTED: usize = 12;
    let nanos = |n: u64| seconds(n as f64 / 1e9);
    let (oldest, newest) = found.span.unwrap_or_default();
    let (mut busy, idle): (Vec<_>, Vec<_>) =
        found.threads.iter().partition(|t| t.last.is_some() || !t.watched.is_empty());
    busy.sort_by_key(|t| std::cmp::Reverse(t.watched.len()));
    let line = |t: &FoundThread| {
        let name = named(&t.name);
        match (t.watched.last(), &t.last) {
            (Some((method, since)), _) => {
                format!("{name}: in {}, for {}", printable(method), nanos(found.death.since(*since).0))
            }
            (None, Some((method, true))) => format!("{name}: had entered {}", printable(method)),
            (None, Some((method, false))) => format!("{name}: had left {}", printable(method)),
            (None, None) => name,
        }
    };
    let mut lines: Vec<String> = busy.iter().take(LISTED).map(|t| line(t)).collect();
    if busy.len() > LISTED {
        lines.push(format!("and {} more that ran", busy.len() - LISTED));
    }
    if !idle.is_empty() {
        lines.push(format!("and {} with nothing new", idle.len()));
    }
    vec![
        ("Program", format!("{} (process {})", named(&found.program), found.pid)),
        ("VM", named(&found.jvm)),
        (
            "Records",
            format!(
                "{} over {}, of {} threads",
                count(found.records),
                nanos(newest.since(oldest).0),
                found.threads_seen
            ),
        ),
        ("Newest record", format!("{} before the end", nanos(found.death.since(newest).0))),
        (
            "Names",
            format!("{} methods of {} classes", count(found.symbols.1 as u64), count(found.symbols.0 as u64)),
        ),
        ("Threads at the end", super::lines(lines, "none")),
        ("Losses", losses(&found.losses)),
        ("Damage", super::lines(found.damages.iter().map(|d| printable(d)), "none")),
    ]
}
