//! Makes an incident of what a ring file holds, while its writers go on or after their death.
//!
//! The constraint that shaped it: writers that go on overwrite the oldest blocks while those are read, so the
//! blocks of a living file are copied first, at the speed of memory, and converted afterwards; those of a dead one
//! are converted where they are. Blocks with events that were never finished are read without those (the
//! ring's salvage): it costs a running writer nothing, and is all that is left of one that was killed.

use super::RingFile;
use crate::clock;
use crate::error::{Error, Result};
use crate::output;
use crate::recover::host;
use lookback_format::definitions::{Definitions, Process};
use lookback_format::event::{frame, kind};
use lookback_format::incident::{self, Category, ENDED, Manifest, Thread, Trigger, VERSION, Writer};
use lookback_format::native::{HEAD_BYTES, Record, head};
use lookback_format::ring_file::Level;
use lookback_format::{Nanos, ThreadKey};
use lookback_ring::{Block, Losses, Position, SnapshotEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek, Write};
use std::path::Path;

/// Bytes of framed events after which a part of the incident ends: whoever reads it unpacks a part at a time.
const PART: usize = 32 << 20;

/// What was found, for people.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Names and ids of the processes of which there are events.
    pub(crate) processes: Vec<(String, u32)>,
    /// Threads of which there are events.
    pub(crate) threads: usize,
    /// Spans' begins and ends, and instants.
    pub(crate) events: u64,
    /// Oldest and newest event.
    pub(crate) span: Option<(Nanos, Nanos)>,
    /// Nothing was overwritten from here on; none when nothing was at all.
    pub(crate) complete_from: Option<Nanos>,
    /// Blocks that newer ones have taken the place of.
    pub(crate) overwritten: u64,
    /// Losses by cause.
    pub(crate) losses: BTreeMap<String, u64>,
    /// What is damaged, in words.
    pub(crate) damages: Vec<String>,
}

/// Writes the incident. `progress` is told the bytes of the ring read so far and in all.
///
/// # Errors
/// What `out` fails with, or [`Error::NoEvents`].
pub(crate) fn write<W: Write + Seek>(
    mut source: RingFile,
    out: W,
    out_name: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Found> {
    let failed = |error| output::failed_format(out_name, error);
    let mut writer = Writer::new(out);
    let clock = source.clock_map();
    let mut tally = Tally::default();
    let (mut framed, mut result) = (Vec::new(), Ok(()));
    let live = source.is_live();
    let ring = source.ring().map(|ring| {
        let geometry = ring.geometry();
        let all = u64::from(ring.blocks()) * u64::from(geometry.block_size);
        let mut read = 0;
        let mut convert = |block: Block<'_>| {
            tally.block(&block, &clock, &mut framed);
            if framed.len() >= PART && result.is_ok() {
                result = writer.ring(|out| out.write_all(&framed));
                framed.clear();
            }
            read += u64::from(geometry.block_size);
            progress(read.min(all), all);
        };
        let end = if live {
            let mut copies = Copies::default();
            let end = ring.salvage(Position::START, &mut |block| copies.add(&block));
            copies.blocks(geometry.active).for_each(&mut convert);
            end
        } else {
            ring.salvage(Position::START, &mut convert)
        };
        (end, ring.losses(), geometry.active)
    });
    result.map_err(failed)?;
    writer.ring(|out| out.write_all(&framed)).map_err(failed)?;
    let (end, counted, active) = ring.unwrap_or_else(|why| {
        source.damages.push(format!("the ring cannot be read: {why}"));
        Default::default()
    });
    // After the events: what they refer to was defined before them.
    let log = source.definitions();
    let definitions = Definitions::read(&log);
    if tally.events == 0 {
        return Err(Error::NoEvents { file: source.path, damages: source.damages });
    }
    writer.definitions(&log[..used(&log)]).map_err(failed)?;
    writer.symbols([]).map_err(failed)?;
    let threads = tally.threads(&definitions, &source);
    writer.threads(&threads).map_err(failed)?;
    if let Some(at) = definitions.damaged_at {
        source.damages.push(format!("the definitions are damaged at byte {at}: names that follow are lost"));
    }
    let complete_from = tally.complete_from(&end, u64::from(active));
    let losses = losses(&source, &tally, &end, &counted, &definitions);
    let processes = tally.processes(&definitions);
    let manifest = manifest(&source, &tally, &definitions, &processes, complete_from, losses);
    writer.finish(&manifest).map_err(failed)?;
    Ok(Found {
        processes,
        threads: tally.seen.len(),
        events: tally.events,
        span: tally.span,
        complete_from,
        overwritten: end.lost.overwritten,
        losses: manifest.losses,
        damages: source.damages,
    })
}

/// Blocks as the ring gave them, one after the other.
#[derive(Default)]
struct Copies {
    bytes: Vec<u8>,
    /// Where each ends, and whether it is complete.
    ends: Vec<(usize, bool)>,
}

impl Copies {
    fn add(&mut self, block: &Block<'_>) {
        self.bytes.extend_from_slice(block.bytes);
        self.ends.push((self.bytes.len(), block.complete));
    }

    fn blocks(&self, active: u32) -> impl Iterator<Item = Block<'_>> {
        let mut from = 0;
        self.ends.iter().filter_map(move |&(end, complete)| {
            let bytes = &self.bytes[std::mem::replace(&mut from, end)..end];
            Block::from_bytes(bytes, active, complete)
        })
    }
}

/// Bytes of a log up to its last that is not zero.
fn used(log: &[u8]) -> usize {
    log.iter().rposition(|&b| b != 0).map_or(0, |last| (last + 1).next_multiple_of(8).min(log.len()))
}

/// What the events tell while they pass by.
#[derive(Debug, Default)]
struct Tally {
    events: u64,
    span: Option<(Nanos, Nanos)>,
    seen: BTreeSet<ThreadKey>,
    /// Position of each block, and its first event.
    blocks: Vec<(u64, Option<Nanos>)>,
    foreign: u64,
    damaged: u64,
}

impl Tally {
    /// Converts the events of a block, and frames them.
    fn block(
        &mut self,
        block: &Block<'_>,
        clock: &lookback_format::ring_file::ClockMap,
        framed: &mut Vec<u8>,
    ) {
        let mut first = None;
        for entry in block.entries() {
            let record = match Record::decode(entry.kind, entry.payload) {
                Some(Ok(record)) => record,
                Some(Err(_)) => {
                    self.damaged += 1;
                    continue;
                }
                None => {
                    self.foreign += 1;
                    continue;
                }
            };
            let at = clock.nanos(record.time);
            let mut words = [0; HEAD_BYTES];
            let head = head(lookback_format::Ticks(at.0), record.event_type, record.thread);
            words[..8].copy_from_slice(&head[0].to_le_bytes());
            words[8..].copy_from_slice(&head[1].to_le_bytes());
            let fields = if entry.kind == kind::SPAN_END { &[] } else { record.fields };
            frame(entry.kind, &[&words, fields], framed);
            self.events += 1;
            self.seen.insert(record.thread);
            let (oldest, newest) = self.span.unwrap_or((at, at));
            self.span = Some((oldest.min(at), newest.max(at)));
            first.get_or_insert(at);
        }
        self.blocks.push((block.position.0, first));
    }

    /// From when on nothing was overwritten. A block was closed before the one `active` places later was begun,
    /// so what came after the begin of that one is not in a block that is gone.
    fn complete_from(&self, end: &SnapshotEnd, active: u64) -> Option<Nanos> {
        let oldest = self.blocks.first().filter(|_| end.lost.overwritten > 0)?.0;
        let holes = |b: &[(u64, Option<Nanos>)]| b[1].0.saturating_sub(b[0].0 + 1);
        // Places that were skipped or not begun are holes that lose nothing. Which ones is not told, but the newest
        // holes are those: what is overwritten while the blocks are read is the oldest.
        let mut harmless = end.lost.skipped + end.lost.pending;
        let hole = self.blocks.windows(2).rfind(|b| {
            let lost = holes(b) > harmless;
            harmless = harmless.saturating_sub(holes(b));
            lost
        });
        let first = hole.map_or(oldest, |b| b[1].0);
        let newest = self.span.unwrap_or_default().1;
        let behind = self.blocks.iter().filter(|b| b.0 + 1 >= first + active);
        Some(behind.filter_map(|b| b.1).min().unwrap_or(newest))
    }

    fn processes(&self, definitions: &Definitions) -> Vec<(String, u32)> {
        let ids: BTreeSet<_> =
            self.seen.iter().filter_map(|&t| definitions.thread(t)).map(|t| t.process).collect();
        let found = ids.into_iter().filter_map(|id| definitions.process(id));
        found.map(|p| (definitions.name(p.name).unwrap_or_default().to_owned(), p.pid)).collect()
    }

    /// The threads, with whether they are still there.
    fn threads(&self, definitions: &Definitions, source: &RingFile) -> Vec<Thread> {
        let of = |&key: &ThreadKey| {
            let t = definitions.thread(key)?;
            let alive = definitions.process(t.process).filter(|_| source.is_live()).is_some_and(|p| {
                lives(p) && Path::new(&format!("/proc/{}/task/{}", p.pid, t.os_tid)).exists()
            });
            Some(Thread {
                key,
                name: definitions.name(t.name).unwrap_or_default().to_owned(),
                os_tid: t.os_tid,
                state: if alive { String::new() } else { ENDED.to_owned() },
                ..Thread::default()
            })
        };
        self.seen.iter().filter_map(of).collect()
    }
}

/// Whether the process of this definition still runs, and not another that got its id.
fn lives(p: &Process) -> bool {
    /// The kernel counts a process's start in hundredths of a second.
    const TICK: u64 = 10_000_000;
    /// The clock that it counts by also runs while the machine is suspended: what is later by more was not seen
    /// to be an earlier process.
    const SLACK: u64 = 1_000_000_000;
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", p.pid)) else { return false };
    // The name, in brackets, may hold anything; the 22nd field is the 20th behind it.
    let started = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.split_ascii_whitespace().nth(19)?.parse::<u64>().ok());
    started.is_some_and(|ticks| ticks.saturating_mul(TICK) <= p.start.0.saturating_add(SLACK))
}

fn losses(
    source: &RingFile,
    tally: &Tally,
    end: &SnapshotEnd,
    counted: &Losses,
    definitions: &Definitions,
) -> BTreeMap<String, u64> {
    let (unfinished, cut) = match source.is_live() {
        true => ("events that were being written", "definitions that were being written"),
        false => ("events cut by the end of their program", "definitions cut by the end of their program"),
    };
    let all = [
        ("events dropped because stalled writers held every block", counted.dropped_blocked),
        ("events dropped because other writers filled each new block first", counted.dropped_contended),
        ("events dropped because they are larger than a block", counted.dropped_too_large),
        ("events dropped because the ring's positions are used up", counted.dropped_exhausted),
        (unfinished, end.lost.unfinished_entries),
        ("bytes hidden by an unfinished event", end.lost.unreadable_bytes),
        ("definitions that there was no room for", source.definitions_lost()),
        (cut, definitions.unfinished),
        ("entries of the ring that are no events of a program", tally.foreign),
        ("events that are damaged", tally.damaged),
        ("damaged places of the ring file", source.damages.len() as u64),
    ];
    all.into_iter().filter(|(_, n)| *n > 0).map(|(cause, n)| (cause.to_owned(), n)).collect()
}

fn manifest(
    source: &RingFile,
    tally: &Tally,
    definitions: &Definitions,
    processes: &[(String, u32)],
    complete_from: Option<Nanos>,
    losses: BTreeMap<String, u64>,
) -> Manifest {
    let header = &source.header;
    let newest = tally.span.unwrap_or_default().1;
    // The wall clock may have been set since the file was made.
    let clock_pair = if source.this_boot { clock::now() } else { header.clock_pair };
    let trigger = match source.is_live() {
        true => Trigger::Command { at: clock_pair.0.max(newest) },
        false => Trigger::Recovered { at: newest },
    };
    let mut names: Vec<&str> = processes.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    let program = if header.name.is_empty() { names.join(", ") } else { header.name.clone() };
    let category = |c: lookback_format::ring_file::Category| Category {
        name: c.name,
        level: c.level.map_or("off", Level::name).to_owned(),
    };
    Manifest {
        version: VERSION,
        lookback: env!("CARGO_PKG_VERSION").to_owned(),
        clock_pair,
        pid: if let [(_, pid)] = processes { *pid } else { header.pid },
        program,
        jvm: String::new(),
        host: host(),
        tick: Nanos(0),
        tick_late: Nanos(0),
        trigger,
        losses,
        dropped: Vec::new(),
        waiting_classes: 0,
        costs: None,
        sampling: None,
        ring_file: Some(incident::RingFile {
            name: header.name.clone(),
            categories: source.categories(definitions).into_iter().map(category).collect(),
            complete_from,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_complete_behind_the_last_block_that_may_have_overlapped_a_lost_one() {
        let times = |places: &[u64]| places.iter().map(|&p| (p, Some(Nanos(p * 10)))).collect();
        let from = |blocks: &[u64], overwritten, skipped| {
            let mut end = SnapshotEnd::default();
            (end.lost.overwritten, end.lost.skipped) = (overwritten, skipped);
            let span = Some((Nanos(0), Nanos(1_000)));
            Tally { blocks: times(blocks), span, ..Tally::default() }.complete_from(&end, 4).map(|n| n.0)
        };
        let all: Vec<u64> = (10..30).collect();
        assert_eq!(from(&all, 0, 0), None, "nothing was overwritten");
        assert_eq!(from(&all, 6, 0), Some(130), "block 9 was closed before block 13 was begun");
        assert_eq!(from(&[10, 11, 20, 21, 22, 23, 24, 26, 27], 14, 1), Some(230), "places 12 to 19 are gone");
        assert_eq!(from(&[10, 11, 13, 14, 15], 6, 1), Some(130), "place 12 was skipped");
        assert_eq!(from(&[10, 11], 6, 0), Some(1_000), "too little to say more");
        assert_eq!(from(&[], 6, 0), None);
    }
}
