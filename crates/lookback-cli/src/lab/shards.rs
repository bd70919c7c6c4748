//! `lookback lab shards`: an experiment on several hosts, or by several workers of this one.
//!
//! The constraint that shaped it: each worker runs `lookback lab run`, the same command as by hand, so what it does can be
//! looked at and gone on with by hand. Nothing here measures.

use super::experiment::MINIMA;
use super::merge::merge_into;
use super::plan::PlanArgs;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::table::table;
use crate::verbs::{Streams, stdout};
use clap::{Args, ValueHint};
use lookback_lab::hosts::{
    Deal, Ending, HOSTS, Moved, Parallel, Part, Place, Sent, Worked, Worker, available, workers,
};
use lookback_lab::plan::{Plan, Shard};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// ssh that asks nothing and notices a host that has gone.
const SSH: &str =
    "ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=30 -o ServerAliveCountMax=4";

/// Arguments of `lookback lab shards`.
#[derive(Debug, Args)]
pub(crate) struct ShardsArgs {
    #[command(flatten)]
    plan: PlanArgs,
    /// Hosts, as ssh knows them
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    hosts: Vec<String>,
    /// A file of hosts, one a line; what follows a `#` is a remark
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    hosts_file: Option<PathBuf>,
    /// So many workers on this machine, each with cores of its own
    #[arg(long, value_name = "N", default_value_t = 0)]
    local: usize,
    /// How often a worker that failed is tried again
    #[arg(long, value_name = "N", default_value_t = 2)]
    retries: u32,
    /// The file of minimum heaps; hosts are sent it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, default_value = MINIMA)]
    min_heap: PathBuf,
    /// A file or directory that hosts are sent as well, such as jars that the experiment names; may be given several times
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    send: Vec<PathBuf>,
    /// The directory of results [default: lab-results/NAME]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    /// The directory of work on hosts, relative to where ssh begins [default: lookback-lab/NAME]
    #[arg(long, value_name = "DIR")]
    remote_dir: Option<String>,
    /// The command on hosts
    #[arg(long, value_name = "COMMAND", default_value = "lookback")]
    lookback: String,
    /// The command that stands for ssh, with its options
    #[arg(long, value_name = "COMMAND", default_value = SSH)]
    ssh: String,
}

/// Runs what is left on all workers, and merges what they have.
pub(crate) fn run(args: &ShardsArgs, streams: &mut Streams<'_>) -> Result<()> {
    let (plan, _) = args.plan.load(&args.min_heap, streams)?;
    let workers = workers(&hosts(args)?, args.local, &plan).map_err(Error::Lab)?;
    available().map_err(Error::Lab)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("lab-results").join(&plan.name));
    let out = std::path::absolute(&out).map_err(|error| Error::Read { file: out.clone(), error })?;
    let deal = dealt(&plan, &out, &workers, streams)?;
    let sent = Sent::new(args.plan.path(), args.plan.is_resolved(), &args.min_heap, &args.send);
    let sent = sent.map_err(Error::Lab)?;
    let directory = args.remote_dir.clone().unwrap_or_else(|| format!("lookback-lab/{}", plan.name));
    let parallel = Parallel { directory: &directory, ssh: &args.ssh, sent: &sent };
    interrupt::watch();
    let mut ended = BTreeMap::new();
    let mut parts = Part::all(&plan, &out, &deal).map_err(Error::Lab)?;
    for round in 0..=args.retries {
        let jobs: Vec<Worked<'_>> = workers
            .iter()
            .filter_map(|worker| Some((worker, args.line(worker, &left(&parts, worker)?, &sent, &out))))
            .collect();
        if jobs.is_empty() || interrupt::asked() {
            break;
        }
        if round > 0 {
            let names: Vec<_> = jobs.iter().map(|(worker, _)| worker.name.as_str()).collect();
            streams.note(&format!("trying again: {}", names.join(", ")));
        }
        // The worker's name stands before what it says, and this command's own before that.
        let mut tell = |line: &str| streams.note(&printable(&line.replacen(" lookback: ", ": ", 1)));
        let endings = parallel.run(&out.join(HOSTS), &jobs, &interrupt::asked, &mut tell);
        let endings = endings.map_err(Error::Lab)?;
        ended.extend(jobs.iter().zip(endings).map(|((worker, _), ending)| (worker.name.clone(), ending)));
        parts = Part::all(&plan, &out, &deal).map_err(Error::Lab)?;
    }
    merged(&out, &deal, streams)?;
    report(&parts, &ended, streams)
}

impl ShardsArgs {
    /// The line of shell that makes a worker run its parts.
    fn line(&self, worker: &Worker, shards: &[Shard], sent: &Sent, out: &Path) -> String {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut words: Vec<String> = Vec::new();
        let mut path = |option: Option<&str>, path: &Path| {
            words.extend(option.map(str::to_owned));
            words.push(path.to_string_lossy().into_owned());
        };
        let plan = self.plan.is_resolved().then_some("--plan");
        let begin = match &worker.place {
            Place::Host(_) => {
                path(plan, &sent.file);
                if let Some(minima) = &sent.minima {
                    path(Some("--min-heap"), minima);
                }
                path(Some("--out"), Path::new(&worker.name));
                // The name that the user knows it by, which no other host has.
                words.extend(["--host".into(), worker.name.clone()]);
                format!("exec {}", self.lookback)
            }
            Place::Here(cores) => {
                path(plan, &absolute(self.plan.path()));
                path(Some("--min-heap"), &absolute(&self.min_heap));
                path(Some("--out"), &out.join(HOSTS).join(&worker.name));
                words.extend(self.plan.tools());
                let cores: Vec<_> = cores.iter().map(usize::to_string).collect();
                let here = std::env::current_dir().unwrap_or_default();
                let command = std::env::current_exe().unwrap_or_else(|_| "lookback".into());
                format!("cd {} && exec taskset -c {} {}", quoted(&here), cores.join(","), quoted(&command))
            }
        };
        words.extend(shards.iter().flat_map(|shard| ["--shard".to_owned(), shard.to_string()]));
        format!("{begin} lab run {}", shell_words::join(words))
    }
}

fn quoted(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}

/// The hosts of the arguments.
fn hosts(args: &ShardsArgs) -> Result<Vec<String>> {
    let mut hosts = args.hosts.clone();
    if let Some(file) = &args.hosts_file {
        let text = std::fs::read_to_string(file);
        let text = text.map_err(|error| Error::Read { file: file.clone(), error })?;
        let names = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        hosts.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    Ok(hosts)
}

/// Who has which part: as before, but for the parts of workers that are not there any more.
fn dealt(plan: &Plan, out: &Path, workers: &[Worker], streams: &mut Streams<'_>) -> Result<Deal> {
    let mut deal = match Deal::read(out).map_err(Error::Lab)? {
        Some(deal) => deal,
        None => Deal::new(workers),
    };
    let parts = Part::all(plan, out, &deal).map_err(Error::Lab)?;
    let done = |shard: Shard, worker: &str| {
        parts.iter().any(|part| part.shard == shard && part.worker == worker && part.is_done())
    };
    for Moved { shard, from, to } in deal.again(workers, &done) {
        streams.note(&format!("part {shard} goes from {from} to {to}, who begins it anew"));
    }
    deal.write(out).map_err(Error::Lab)?;
    Ok(deal)
}

/// The parts of a worker that are not done; none when it has nothing to do.
fn left(parts: &[Part], worker: &Worker) -> Option<Vec<Shard>> {
    let own = parts.iter().filter(|part| part.worker == worker.name && !part.is_done());
    let left: Vec<Shard> = own.map(|part| part.shard).collect();
    (!left.is_empty()).then_some(left)
}

/// Merges the results of all workers that have any, also of those that are not there any more.
fn merged(out: &Path, deal: &Deal, streams: &mut Streams<'_>) -> Result<()> {
    let hosts = out.join(HOSTS);
    let mut names: BTreeSet<String> = deal.names().map(str::to_owned).collect();
    for entry in std::fs::read_dir(&hosts).into_iter().flatten().flatten() {
        names.extend(entry.file_name().into_string());
    }
    let with_results = names.iter().map(|name| hosts.join(name));
    let sources: Vec<_> =
        with_results.filter(|dir| dir.join(lookback_lab::results::RECORDS).exists()).collect();
    if sources.is_empty() { Ok(()) } else { merge_into(&sources, out, streams) }
}

/// What each worker has done, and what is missing.
fn report(parts: &[Part], ended: &BTreeMap<String, Ending>, streams: &mut Streams<'_>) -> Result<()> {
    let ending = |part: &Part| ended.get(&part.worker).map_or("not run".into(), Ending::to_string);
    let rows: Vec<Vec<String>> = parts
        .iter()
        .map(|part| {
            let last = if part.is_done() { "done".into() } else { ending(part) };
            vec![part.worker.clone(), part.shard.to_string(), format!("{}/{}", part.done, part.all), last]
        })
        .collect();
    table(streams.out, &["WORKER", "PART", "DONE", "STATE"], &rows).map_err(stdout)?;
    let sum = |of: fn(&Part) -> usize| parts.iter().map(of).sum::<usize>();
    let (done, all) = (sum(|part| part.done), sum(|part| part.all));
    if done == all {
        return Ok(());
    }
    if interrupt::asked() {
        return Err(Error::Lab(lookback_lab::Error::Interrupted { done, all }));
    }
    let lacking = parts.iter().filter(|part| !part.is_done()).map(|part| {
        let strangers = if part.strangers > 0 { ", measured other cells" } else { "" };
        format!("{} has {} of {} ({}{strangers})", part.worker, part.done, part.all, ending(part))
    });
    let hosts = lacking.collect();
    Err(Error::Lab(lookback_lab::Error::Shards { missing: all - done, all, hosts }))
}
