//! `lookback status`, `dump`, `stop`, `start` and `detach`: what the agent in a program is asked for.

use super::{Streams, counted, lines, losses, named, stdout};
use crate::args::{DumpArgs, StatusArgs};
use crate::control::{Client, printable};
use crate::error::{Error, Result};
use crate::output::{self, Access, bytes, seconds};
use crate::progress::Progress;
use crate::table;
use lookback_format::control::{Answer, Governing, Request, Status};
use lookback_format::units::count;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Prints how tracing goes.
pub(crate) fn status(args: &StatusArgs, streams: &mut Streams<'_>) -> Result<()> {
    let client = Client::resolve(&args.target)?;
    let status = client.status()?;
    if args.json {
        return json(&status, streams);
    }
    table::facts(streams.out, &facts(&status)).map_err(stdout)
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl serde::Serialize, streams: &mut Streams<'_>) -> Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(|e| stdout(e.into()))?;
    writeln!(streams.out, "{text}").map_err(stdout)
}

fn facts(s: &Status) -> Vec<(&'static str, String)> {
    let rewritten = Rewritten::of(&s.classes);
    let rules = s.rules.iter().map(|(rule, n)| {
        let calls = if *n == 1 { "slow call" } else { "slow calls" };
        format!("{}: {} {calls}", printable(rule), count(*n))
    });
    let given = s.options.iter().filter(|o| !o.ends_with("(default)"));
    vec![
        ("Program", format!("{} (process {})", named(&s.program), s.pid)),
        ("VM", named(&s.jvm)),
        ("Lookback", format!("{}, for {}", named(&s.lookback), seconds(s.uptime_seconds))),
        (
            "Tracing",
            match (s.tracing, s.by_vm) {
                (true, true) => "on, by the VM's own trace points: a method that is inlined has none".into(),
                (true, false) => "on".into(),
                (false, _) => format!("off; lookback start {}", s.pid),
            },
        ),
        (
            "Reaches back",
            format!(
                "{} at {} records/s",
                seconds(s.reach_seconds),
                count(s.records_per_second.max(0.0) as u64)
            ),
        ),
        ("Costs", s.governing.as_ref().map_or_else(|| "no budget; set one with --budget".into(), costs)),
        ("Ring", bytes(s.ring_bytes)),
        ("Region", printable(&s.region.display().to_string())),
        ("Threads", threads(s)),
        ("Classes", lines(rewritten.classes, "none yet")),
        ("Methods", lines(rewritten.methods, "none yet")),
        ("Losses", losses(&s.losses)),
        ("Rules", lines(rules, "none; add one with --slow PATTERN:THRESHOLD")),
        ("Incidents", lines(s.incidents.iter().map(|p| printable(&p.display().to_string())), "none")),
        ("Options", lines(given.map(|o| printable(o)), "all default")),
    ]
}

/// What became of classes and of their methods, the most first.
struct Rewritten {
    classes: Vec<String>,
    methods: Vec<String>,
}

impl Rewritten {
    /// Sorts the agent's counts: a name begins with what it counts, or is why methods were left alone.
    fn of(counts: &BTreeMap<String, u64>) -> Rewritten {
        let mut sorted: Vec<_> = counts.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        sorted.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let mut all = Rewritten { classes: Vec::new(), methods: Vec::new() };
        let mut took = None;
        for (name, n) in sorted {
            if name == "microseconds of rewriting" {
                took = Some(format!("{} of rewriting", seconds(n as f64 / 1e6)));
            } else if let Some(words) = name.strip_prefix("classes ") {
                all.classes.push(counted(n, words));
            } else {
                all.methods.push(counted(n, name.strip_prefix("methods ").unwrap_or(name)));
            }
        }
        if !all.classes.is_empty() {
            all.classes.extend(took);
        }
        all
    }
}

/// How many threads there are, and which reach back least.
fn threads(s: &Status) -> String {
    const SHOWN: usize = 3;
    let mut lines = vec![count(u64::from(s.threads))];
    let overwritten: Vec<_> = s.by_thread.iter().filter(|t| !t.whole).collect();
    lines.extend(overwritten.iter().take(SHOWN).map(|t| {
        let braked = if t.braked { ", braked" } else { "" };
        format!("  {} reaches back {}{braked}", named(&t.name), seconds(t.reach_seconds))
    }));
    if overwritten.len() > SHOWN {
        lines.push("  ... (--json lists all)".into());
    }
    lines.join("\n")
}

/// What tracing costs, and the costliest of the methods that were dropped for it.
fn costs(governing: &Governing) -> String {
    const SHOWN: usize = 5;
    let own = governing.costs.own_percent_of_core;
    let mut lines =
        vec![governing.costs.to_string(), format!("Lookback's own threads take {own:.2} % of a core")];
    if governing.braked_threads > 0 {
        let threads = if governing.braked_threads == 1 { "thread is" } else { "threads are" };
        let n = count(u64::from(governing.braked_threads));
        lines.push(format!("{n} {threads} braked: they record waits and watched calls only, for now"));
    }
    lines.extend(governing.costs.unseen());
    let n = governing.dropped.len();
    if n > 0 {
        let methods = if n == 1 { "method is" } else { "methods are" };
        lines.push(format!("{} {methods} not traced, which would cost more:", count(n as u64)));
    }
    lines.extend(governing.dropped.iter().take(SHOWN).map(|dropped| {
        let why = match dropped.records_per_second {
            Some(rate) => format!("{} records/s", count(rate.max(0.0) as u64)),
            None => "hot in an earlier run, judging by what was compiled".into(),
        };
        format!("  {}, {why}", printable(&dropped.method))
    }));
    if n > SHOWN {
        lines.push("  ... (--json lists all)".into());
    }
    if governing.waiting_classes > 0 {
        let classes = counted(governing.waiting_classes, "classes");
        lines.push(format!(
            "{classes} of libraries are not traced yet: at a first start they wait until it is known what is hot (trace= names what is traced at once)"
        ));
    }
    lines.join("\n")
}

/// Has an incident written.
pub(crate) fn dump(args: &DumpArgs, streams: &mut Streams<'_>) -> Result<()> {
    let client = Client::resolve(&args.target)?;
    let contained = client.contained();
    if let Some(target) = &args.output {
        output::check(target, args.force)?;
        if output::is_stdout(target) || contained.is_some() {
            return dump_by_copy(&client, target, args.force, streams);
        }
    }
    let file = args.output.as_deref().map(absolute).transpose()?;
    let (file, size) = ask(&client, file, args.force)?;
    // What a contained program calls its file is reached through its root.
    let file = contained.map_or(file.clone(), |(root, _)| beneath(&root, &file));
    tell(&file, size, streams)
}

/// Has the incident written where both sides can reach it, and copies it from there: to standard output,
/// or out of a container.
fn dump_by_copy(client: &Client, target: &Path, force: bool, streams: &mut Streams<'_>) -> Result<()> {
    let (written, _made) = {
        let _spinner = Progress::spinner(WRITING);
        client.fetch(|file| Request::Dump { file: Some(file), force: false })?
    };
    copy(&written, target, force)?.map_or(Ok(()), |size| tell(target, size, streams))
}

/// Copies a recording to its place, and gives its size; none for standard output.
pub(crate) fn copy(written: &Path, target: &Path, force: bool) -> Result<Option<u64>> {
    let mut from = File::open(written).map_err(|error| Error::Read { file: written.to_owned(), error })?;
    if output::is_stdout(target) {
        // Past the stream that takes colours away: these are no words.
        let mut to = std::io::stdout().lock();
        return std::io::copy(&mut from, &mut to).and_then(|_| to.flush()).map(|()| None).map_err(stdout);
    }
    let size = output::write(target, force, Access::Private, |to| {
        std::io::copy(&mut from, to).map(drop).map_err(output::failed(target))
    })?;
    Ok(Some(size))
}

const WRITING: &str = "the program writes the incident";

fn ask(client: &Client, file: Option<PathBuf>, force: bool) -> Result<(PathBuf, u64)> {
    let _spinner = Progress::spinner(WRITING);
    match client.ask(&Request::Dump { file, force })? {
        Answer::Dumped { file, bytes } => Ok((file, bytes)),
        other => Err(client.unexpected(&other)),
    }
}

fn tell(file: &Path, size: u64, streams: &mut Streams<'_>) -> Result<()> {
    let shown = printable(&file.display().to_string());
    writeln!(streams.out, "{shown}  {}", bytes(size)).map_err(stdout)?;
    streams.note(&format!("lookback report {shown}  shows what is in it"));
    Ok(())
}

/// An absolute path below another root.
fn beneath(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The program has a current directory of its own, so the name is made absolute here.
fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| Error::Write { file: path.to_owned(), error })
}

/// Stops or starts tracing, or has the agent leave.
pub(crate) fn switch(target: &str, request: &Request, streams: &mut Streams<'_>) -> Result<()> {
    let client = Client::resolve(target)?;
    let answer = {
        let progress = Progress::count("classes");
        client.ask_and_hear(request, |done, of| progress.at(done, of))?
    };
    match answer {
        Answer::Done { message } => writeln!(streams.out, "{}", printable(&message)).map_err(stdout),
        other => Err(client.unexpected(&other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_methods_are_told_apart() {
        let counts = [
            ("abstract", 1_333),
            ("classes rewritten", 529),
            ("classes seen", 681),
            ("methods traced", 5_575),
            ("microseconds of rewriting", 12_083),
        ];
        let found = Rewritten::of(&counts.map(|(name, n)| (name.to_owned(), n)).into());
        assert_eq!(found.classes, ["681 seen", "529 rewritten", "12.1 ms of rewriting"]);
        assert_eq!(found.methods, ["5,575 traced", "1,333 abstract"]);
        let none = Rewritten::of(&[("microseconds of rewriting".to_owned(), 0)].into());
        assert!(none.classes.is_empty() && none.methods.is_empty());
    }
}
