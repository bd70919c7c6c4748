//! Writes incidents: follows the ring while the slow call goes on, then puts all parts into one file.
//!
//! The constraint that shaped it: the program goes on and goes on being recorded, so the ring is read
//! speculatively, oldest first, and what a fast program overwrites meanwhile is saved before the call ends:
//! a first part at once, further parts as the ring fills, the last after the tail. A file appears whole, by
//! a rename, or not at all.

use crate::agent::Agent;
use crate::detector::Fired;
use crate::new_file::NewFile;
use crate::sampler::Taken;
use crate::slab;
use crate::stacks;
use jni_sys::JNIEnv;
use lookback_format::event::{Chunk, frame};
use lookback_format::incident::{Manifest, Sampling, Thread, Trigger, VERSION, Writer};
use lookback_format::region::{LOSS_CAUSES, header};
use lookback_format::symbol::Log;
use lookback_format::{Nanos, ThreadKey};
use lookback_ring::{Position, SnapshotEnd};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// How many bytes of records a slow call may add to its incident while it runs: an incident that nobody can open
/// explains nothing. Nearly so many (the demo's 1.5 GB) took six seconds to decode, and 48 MB packed.
const MOST_FOLLOWED: u64 = 3 << 29;

/// An incident that is being written.
pub(crate) struct Collection<'a> {
    agent: &'a Agent,
    writer: Writer<BufWriter<File>>,
    new: NewFile,
    /// Where in the ring to go on.
    next: Position,
    /// Bytes of records saved since the first part.
    followed: u64,
    threads: Vec<Thread>,
    lost: BTreeMap<String, u64>,
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
        let (new, file) = NewFile::create(target, force)?;
        let mut c = Collection {
            agent,
            writer: Writer::new(BufWriter::with_capacity(1 << 18, file)),
            new,
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
        self.writer.ring(save).map_err(io::Error::other)?;
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
        // The slabs first, then the ring: a chunk that is emptied between is then in both, and not in neither.
        let copies: Vec<_> = (0..agent.slabs.high())
            .filter(|&i| agent.slabs.is_taken(i))
            .filter_map(|i| slab::copy(&agent.region, i))
            .collect();
        self.save_ring()?;
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
        let chunks: Vec<&Chunk> = copies.iter().map(|c| &c.chunk).collect();
        self.writer
            .staging(chunks)
            .and_then(|()| self.writer.threads(&self.threads))
            .map_err(io::Error::other)?;
        self.lost.extend(agent.losses());
        close(agent, self.writer, self.new, trigger, agent.sampler.facts(), self.lost)
    }
}

/// Writes what was sampled as a file of its own, and gives its name and size.
pub(crate) fn write_profile(
    agent: &Agent,
    taken: Taken,
    target: PathBuf,
    force: bool,
) -> io::Result<(PathBuf, u64)> {
    let (new, file) = NewFile::create(target, force)?;
    let mut writer = Writer::new(BufWriter::with_capacity(1 << 18, file));
    writer.packed_ring(&taken.packed).map_err(io::Error::other)?;
    let trigger = Trigger::Profile { at: taken.facts.ended };
    close(agent, writer, new, trigger, Some(taken.facts), taken.lost)
}

/// Writes the parts that every file has, and gives the file its name.
fn close(
    agent: &Agent,
    mut writer: Writer<BufWriter<File>>,
    new: NewFile,
    trigger: Trigger,
    sampling: Option<Sampling>,
    losses: BTreeMap<String, u64>,
) -> io::Result<(PathBuf, u64)> {
    let region = &agent.region;
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
        waiting_classes: agent.governor.waiting.len() as u64,
        // What a profile costs stands in its own facts.
        costs: agent.governor.costs(agent).filter(|_| !matches!(trigger, Trigger::Profile { .. })),
        sampling,
        ring_file: None,
        trigger,
        losses,
    };
    let symbols = Log::new(agent.symbols.log(region)).filter_map(Result::ok);
    let options = agent.options.to_agent_string();
    let written = writer
        .symbols(symbols)
        .and_then(|()| writer.plain("options.txt", options.as_bytes()))
        .and_then(|()| writer.finish(&manifest));
    let mut file = written.map_err(io::Error::other)?;
    file.flush()?;
    let bytes = file.into_inner().map_err(|e| e.into_error())?.metadata()?.len();
    Ok((new.publish()?, bytes))
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
