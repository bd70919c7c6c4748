//! `lookback info`: what an incident holds, without analysing it.

use super::{Streams, lines, losses, named, stdout};
use crate::args::InfoArgs;
use crate::control::printable;
use crate::error::Result;
use crate::output::{bytes, seconds};
use crate::progress::Progress;
use crate::table;
use lookback_format::Nanos;
use lookback_format::event::Event;
use lookback_format::incident::{Category, Damage, Manifest, Trigger};
use lookback_format::slot::{Record, Records};
use lookback_format::units::count;
use serde::Serialize;
use std::collections::BTreeSet;

/// What `--json` gives.
#[derive(Debug, Serialize)]
struct Info {
    manifest: Manifest,
    /// Name and packed bytes.
    parts: Vec<(String, u64)>,
    records: u64,
    chunks: u64,
    /// Events that native programs recorded.
    events: u64,
    /// Samples of stacks.
    samples: u64,
    processes: usize,
    threads: usize,
    classes: usize,
    methods: usize,
    oldest: Nanos,
    newest: Nanos,
    damages: Vec<String>,
}

/// Prints what an incident holds.
pub(crate) fn run(args: &InfoArgs, streams: &mut Streams<'_>) -> Result<()> {
    let info = read(args)?;
    if args.json {
        return super::control::json(&info, streams);
    }
    table::facts(streams.out, &facts(&info)).map_err(stdout)
}

fn read(args: &InfoArgs) -> Result<Info> {
    let mut reader = crate::incident::open(&args.file)?;
    let _spinner = Progress::spinner("reading the incident");
    let (mut records, mut chunks, mut events, mut samples) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut threads = BTreeSet::new();
    let mut span: Option<(Nanos, Nanos)> = None;
    let mut reach = |first: Nanos, last: Nanos| {
        let (oldest, newest) = span.unwrap_or((first, last));
        span = Some((oldest.min(first), newest.max(last)));
    };
    let mut damages = reader.events(&mut |event| match event {
        Event::Chunk(c) => {
            let called = |r: &Record| matches!(r, Record::Entry(_) | Record::Exit(_));
            records += Records::new(&c.slots).filter(called).count() as u64;
            chunks += 1;
            threads.insert(c.thread);
            reach(c.first, c.last);
        }
        Event::Sample(s) => {
            samples += 1;
            threads.insert(s.thread);
            reach(s.at, s.at);
        }
        Event::Native(n) => {
            events += 1;
            threads.insert(n.thread);
            reach(n.time, n.time);
        }
        _ => {}
    });
    let (classes, more) = reader.symbols();
    damages.extend(more);
    let (definitions, more) = reader.definitions();
    damages.extend(more);
    let of = threads.iter().filter_map(|&t| definitions.thread(t)).map(|t| t.process);
    let processes: BTreeSet<_> = of.collect();
    let mut damages: Vec<String> = damages.iter().map(in_words).collect();
    if let Err(e) = reader.threads() {
        damages.push(format!("threads.json: {e}"));
    }
    let (oldest, newest) = span.unwrap_or_default();
    Ok(Info {
        parts: reader.parts(),
        manifest: reader.manifest,
        records,
        chunks,
        events,
        samples,
        processes: processes.len(),
        threads: threads.len(),
        classes: classes.len(),
        methods: classes.iter().map(|c| c.methods.len()).sum(),
        oldest,
        newest,
        damages,
    })
}

/// A damage in words.
fn in_words(damage: &Damage) -> String {
    format!("{}: {}", damage.section, damage.error)
}

fn facts(info: &Info) -> Vec<(&'static str, String)> {
    let m = &info.manifest;
    let nanos = |n: Nanos| seconds(n.0 as f64 / 1e9);
    let trigger = match &m.trigger {
        Trigger::Command { .. } => "asked for".to_owned(),
        Trigger::Program { reason, .. } => format!("the program asked for it: {}", printable(reason)),
        Trigger::Profile { .. } => "sampled for a while".to_owned(),
        Trigger::Recovered { .. } => "recovered after the program's death".to_owned(),
        Trigger::Slow { rule, duration, running, .. } => {
            let still = if *running { ", still running" } else { "" };
            format!("rule {} ({}{still})", printable(rule), nanos(*duration))
        }
        _ => "unknown to this version".to_owned(),
    };
    let parts = info.parts.iter().map(|(name, n)| format!("{}  {}", printable(name), bytes(*n)));
    let ends = [
        ("Losses", losses(&m.losses)),
        ("Parts", lines(parts, "none")),
        ("Damage", lines(info.damages.iter().map(|d| printable(d)), "none")),
    ];
    if let Some(ring_file) = &m.ring_file {
        let level = |c: &Category| format!("{} {}", named(&c.name), printable(&c.level));
        let facts = [
            ("Program", format!("{} (on {})", named(&m.program), named(&m.host))),
            ("Written by", format!("Lookback {}, format {}", named(&m.lookback), m.version)),
            (
                "Why",
                if matches!(m.trigger, Trigger::Recovered { .. }) {
                    "read after the end of its programs".into()
                } else {
                    trigger
                },
            ),
            ("When", utc(m, m.trigger.at())),
            (
                "Events",
                format!(
                    "{} over {}, of {} threads in {}",
                    count(info.events),
                    nanos(info.newest.since(info.oldest)),
                    info.threads,
                    if info.processes == 1 {
                        "1 process".into()
                    } else {
                        format!("{} processes", info.processes)
                    }
                ),
            ),
            (
                "Complete",
                ring_file.complete_from.map_or("all of it".into(), |from| {
                    format!("for the last {}", nanos(info.newest.since(from)))
                }),
            ),
            ("Categories", lines(ring_file.categories.iter().skip(1).map(level), "none")),
        ];
        return facts.into_iter().chain(ends).collect();
    }
    let facts = [
        ("Program", format!("{} (process {} on {})", named(&m.program), m.pid, named(&m.host))),
        ("VM", named(&m.jvm)),
        ("Written by", format!("Lookback {}, format {}", named(&m.lookback), m.version)),
        ("Why", trigger),
        ("When", utc(m, m.trigger.at())),
        (
            "Records",
            format!(
                "{} over {}, in {} chunks of {} threads",
                count(info.records),
                nanos(info.newest.since(info.oldest)),
                count(info.chunks),
                info.threads
            ),
        ),
        ("Tick", format!("{}, late by up to {}", nanos(m.tick), nanos(m.tick_late))),
        (
            "Names",
            format!("{} methods of {} classes", count(info.methods as u64), count(info.classes as u64)),
        ),
    ];
    let sampled = m.sampling.as_ref().map(|s| {
        let every = nanos(s.interval);
        ("Samples", format!("{}, taken {}, every {every}", count(info.samples), s.engine.words()))
    });
    facts.into_iter().chain(sampled).chain(ends).collect()
}

/// A moment of the recording on the wall clock: `2026-01-31 12:00:00.000 UTC`.
fn utc(manifest: &Manifest, at: Nanos) -> String {
    let (monotonic, wall) = manifest.clock_pair;
    let nanos = i128::from(wall) + i128::from(at.0) - i128::from(monotonic.0);
    let Ok(millis) = u64::try_from(nanos / 1_000_000) else { return "unknown".into() };
    let (days, of_day) = (millis / 86_400_000, millis % 86_400_000);
    let (year, month, day) = civil(days);
    let (h, min, s, ms) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1_000 % 60, of_day % 1_000);
    format!("{year:04}-{month:02}-{day:02} {h:02}:{min:02}:{s:02}.{ms:03} UTC")
}

/// Year, month, day of a day counted from 1970-01-01. The calendar repeats every 400 years of 146,097
/// days; counted from 1 March, leap days come last and months follow a 153-day pattern of five.
const fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let day_of_era = z % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + z / 146_097 * 400;
    (if month <= 2 { year + 1 } else { year }, month, day)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_453), (2025, 12, 31));
        assert_eq!(civil(47_540), (2100, 2, 28));
        assert_eq!(civil(47_541), (2100, 3, 1));
    }
}
