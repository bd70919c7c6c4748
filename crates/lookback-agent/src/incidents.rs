//! Writes incidents: follows the ring while the slow call goes on, then puts all parts into one file.
//!
//! The constraint that shaped it: the program goes on and goes on being recorded, so the ring is read
//! speculatively, oldest first, and what a fast program overwrites meanwhile is saved before the call ends:
//! a first part at once, further parts as the ring fills, the last after the tail. A file appears whole, by
//! a rename, or not at all.

use crate::agent::Agent;
use crate::detector::Fired;
use crate::slab;
use crate::stacks;
use jni_sys::JNIEnv;
use lookback_format::event::{Chunk, frame};
use lookback_format::incident::{Manifest, Thread, Trigger, VERSION, Writer};
use lookback_format::region::{LOSS_CAUSES, header};
use lookback_format::symbol::Log;
use lookback_format::{Nanos, ThreadKey};
use lookback_ring::{Position, SnapshotEnd};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// How many bytes of records a slow call may add to its incident while it runs: an incident that nobody can open
/// explains nothing. Nearly so many (the demo's 1.5 GB) took six seconds to decode, and 48 MB packed.
const MOST_FOLLOWED: u64 = 3 << 29;

/// An incident that is being written.
pub(crate) struct Collection<'a> {
    agent: &'a Agent,
    writer: Option<Writer<BufWriter<File>>>,
    temporary: PathBuf,
    target: PathBuf,
    force: bool,
    /// Where in the ring to go on.
    next: Position,
    /// Bytes of records saved since the first part.
    followed: u64,
    threads: Vec<Thread>,
    lost: BTreeMap<String, u64>,
}

impl Drop for Collection<'_> {
    fn drop(&mut self) {
        if self.writer.is_some() {
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

impl<'a> Collection<'a> {
    /// Begins a file and saves what the ring holds now, and what the threads do.
    pub(crate) fn begin(
        agent: &'a Agent,
        env: *mut JNIEnv,
        target: PathBuf,
        force: bool,
        first: Option<ThreadKey>,
    ) -> io::Result<Self> {
        if !force && target.exists() {
            let why = format!("{} is there already; choose another name or use --force", target.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        let name = target.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let temporary = target.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        let mut c = Collection {
            agent,
            writer: Some(Writer::new(BufWriter::with_capacity(1 << 18, file))),
            temporary,
            target,
            force,
            next: Position(0),
            followed: 0,
            threads: stacks::take(agent, env, first),
            lost: BTreeMap::new(),
        };
        c.save_ring()?;
        Ok(c)
    }

    /// Saves a further part when the ring has filled enough that waiting longer might lose something.
    pub(crate) fn follow(&mut self) -> io::Result<()> {
        let g = self.agent.region.ring.geometry();
        let filled = self.agent.ring_end().saturating_sub(self.next.0);
        if filled <= u64::from(g.blocks / 4) || self.followed > MOST_FOLLOWED {
            return Ok(());
        }
        self.followed += filled.min(u64::from(g.blocks)) * u64::from(g.block_size);
        self.save_ring()
    }

    fn save_ring(&mut self) -> io::Result<()> {
        let ring = &self.agent.region.ring;
        let (from, mut lost) = (self.next, BTreeMap::new());
        let first_part = from.0 == 0;
        let writer = self.writer.as_mut().ok_or_else(|| io::Error::other("the file is finished"))?;
        let (mut framed, mut end) = (Vec::new(), SnapshotEnd::default());
        // Packed as it is read: that goes faster than a thread fills the ring, so the reader stays ahead of it.
        let save = |out: &mut dyn Write| {
            let mut written = Ok(());
            end = ring.snapshot(from, &mut |block| {
                framed.clear();
                for e in block.entries() {
                    frame(e.kind, &[e.payload], &mut framed);
                }
                if written.is_ok() {
                    written = out.write_all(&framed);
                }
            });
            written
        };
        writer.ring(save).map_err(io::Error::other)?;
        // Of a first part, what is older than the ring is no loss; of the later ones it is.
        if !first_part {
            lost.insert("blocks overwritten before they were saved".to_owned(), end.lost.overwritten);
        }
        lost.insert("blocks skipped, their writer was stalled".to_owned(), end.lost.skipped);
        lost.insert("blocks being written when they were read".to_owned(), end.lost.busy);
        self.next = end.next;
        for (cause, n) in lost.into_iter().filter(|(_, n)| *n > 0) {
            *self.lost.entry(cause).or_default() += n;
        }
        Ok(())
    }

    /// Saves the rest, closes the file and gives its name and size.
    pub(crate) fn finish(mut self, trigger: Trigger) -> io::Result<(PathBuf, u64)> {
        let agent = self.agent;
        let region = &agent.region;
        // The slabs first, then the ring: a chunk that is emptied between is then in both, and not in neither.
        let copies: Vec<_> = (0..agent.slabs.high())
            .filter(|&i| agent.slabs.is_taken(i))
            .filter_map(|i| slab::copy(region, i))
            .collect();
        self.save_ring()?;
        let mut writer = self.writer.take().ok_or_else(|| io::Error::other("the file is finished"))?;
        let chunks: Vec<&Chunk> = copies.iter().map(|c| &c.chunk).collect();
        let write = || -> lookback_format::Result<u64> {
            writer.staging(chunks)?;
            writer.symbols(Log::new(agent.symbols.log(region)).filter_map(Result::ok))?;
            for copy in &copies {
                match self.threads.iter_mut().find(|t| t.key == copy.chunk.thread) {
                    Some(t) => t.os_tid = copy.os_tid,
                    None => self.threads.push(Thread {
                        key: copy.chunk.thread,
                        name: copy.name.clone(),
                        os_tid: copy.os_tid,
                        java_tid: copy.java_tid,
                        ..Thread::default()
                    }),
                }
            }
            writer.threads(&self.threads)?;
            writer.plain("options.txt", agent.options.to_agent_string().as_bytes())?;
            let losses = agent.losses();
            self.lost.extend(losses);
            let manifest = Manifest {
                version: VERSION,
                lookback: env!("CARGO_PKG_VERSION").into(),
                // Relaxed: written before the region was published.
                clock_pair: (Nanos(region.epoch), region.u64(header::CLOCK_PAIR + 8).load(Ordering::Relaxed)),
                pid: std::process::id(),
                program: agent.program.clone(),
                jvm: agent.jvm.clone(),
                host: hostname(),
                tick: Nanos(region.tick),
                tick_late: Nanos(region.u64(header::TICK_LATE).load(Ordering::Relaxed)),
                dropped: agent.governor.dropped(agent),
                costs: agent.governor.costs(agent),
                ring_file: None,
                trigger,
                losses: std::mem::take(&mut self.lost),
            };
            let mut file = writer.finish(&manifest)?;
            file.flush()?;
            let file = file.into_inner().map_err(|e| e.into_error())?;
            Ok(file.metadata()?.len())
        };
        match write().map_err(io::Error::other).and_then(|bytes| self.publish().map(|()| bytes)) {
            Ok(bytes) => Ok((std::mem::take(&mut self.target), bytes)),
            Err(e) => {
                let _ = std::fs::remove_file(&self.temporary);
                Err(e)
            }
        }
    }

    /// Gives the file its name; without `force`, only when no file has it.
    fn publish(&self) -> io::Result<()> {
        if self.force {
            return std::fs::rename(&self.temporary, &self.target);
        }
        // A link fails when the name is taken; some file systems have no links, there a rename must do.
        match std::fs::hard_link(&self.temporary, &self.target) {
            Ok(()) => std::fs::remove_file(&self.temporary),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(e),
            Err(_) => std::fs::rename(&self.temporary, &self.target),
        }
    }
}

/// The trigger of a call that was too slow, as it stands now.
pub(crate) fn slow_trigger(agent: &Agent, f: &Fired, running: bool, end: Nanos) -> Trigger {
    Trigger::Slow {
        at: f.at,
        rule: format!("slow={}", agent.detector.rules[f.rule].text()),
        thread: f.thread,
        method: f.method,
        start: f.start,
        duration: end.since(f.start),
        running,
    }
}

/// The name of the machine.
fn hostname() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").map(|s| s.trim().to_owned()).unwrap_or_default()
}

/// Losses counted since the agent began, by cause in words.
pub(crate) fn losses(agent: &Agent) -> BTreeMap<String, u64> {
    let counted =
        LOSS_CAUSES.iter().enumerate().map(|(i, cause)| ((*cause).to_owned(), agent.region.lost(i)));
    counted.filter(|(_, n)| *n > 0).collect()
}

/// The next file name of a pattern: `%p` process, `%t` time, `%n` number, `%{VAR}` environment; a directory
/// gets the default name in it.
pub(crate) fn expand(pattern: &str, number: u32, wall_seconds: u64) -> PathBuf {
    let is_dir = pattern.ends_with('/') || Path::new(pattern).is_dir();
    let joined = if is_dir {
        format!("{}/lookback-%p-%n.lkb", pattern.trim_end_matches('/'))
    } else {
        pattern.to_owned()
    };
    let mut out = String::new();
    let mut rest = joined.as_str();
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let (text, used) = match tail.chars().next() {
            Some('p') => (std::process::id().to_string(), 1),
            Some('n') => (number.to_string(), 1),
            Some('t') => (wall_seconds.to_string(), 1),
            Some('%') => ("%".to_owned(), 1),
            Some('{') => match tail.find('}') {
                Some(end) => (std::env::var(&tail[1..end]).unwrap_or_default(), end + 1),
                None => ("%".to_owned(), 0),
            },
            _ => ("%".to_owned(), 0),
        };
        out.push_str(&text);
        rest = &tail[used..];
    }
    out.push_str(rest);
    PathBuf::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_patterns_expand() {
        let pid = std::process::id();
        assert_eq!(expand("/x/a-%p-%n-%t.lkb", 3, 9), PathBuf::from(format!("/x/a-{pid}-3-9.lkb")));
        assert_eq!(expand("100%%-%", 1, 1), PathBuf::from("100%-%"));
        assert_eq!(expand("/tmp/", 1, 1), PathBuf::from(format!("/tmp/lookback-{pid}-1.lkb")));
        assert_eq!(expand("%{NO_SUCH_VARIABLE_HERE}x", 1, 1), PathBuf::from("x"));
    }
}
