//! Prints the events of a ring file as they come.
//!
//! The constraint that shaped it: writers wait for nobody, so whoever follows may be too slow, and then it says
//! how much it missed and goes on. Blocks come in the ring's order and those of two cores overlap in time, so
//! what one look brings is put in the order of time before it is printed; from one look to the next an event
//! can come late by as long as a writer takes to finish it.

use super::RingFile;
use super::named::Names;
use crate::clock;
use crate::error::{Error, Result};
use crate::verbs::{Streams, stdout};
use lookback_format::Nanos;
use lookback_format::definitions::Definitions;
use lookback_format::native::Record;
use lookback_format::units::count;
use lookback_ring::{Delivery, Follower, LossCause, Ring};
use std::time::Duration;

/// How long to wait when nothing has come: short for a person, and no load.
const PAUSE: Duration = Duration::from_millis(50);

/// What was printed and what was not.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    events: u64,
    /// Blocks that were overwritten before they were read.
    missed: u64,
    /// Events that the ring had not taken when the follower began, and since.
    dropped: (u64, u64),
}

/// Prints events from now on (with `all`, from the oldest that is there) until `go_on` says no.
pub(crate) fn follow(
    mut source: RingFile,
    json: bool,
    all: bool,
    go_on: &mut dyn FnMut() -> bool,
    streams: &mut Streams<'_>,
) -> Result<()> {
    let path = source.path.clone();
    let mut names = names(&source);
    // The ring borrows the file that the names are read from anew, so they come from a handle of their own.
    let reader = RingFile::open(&path)?;
    let ring = source.ring().map_err(|why| Error::Ring { file: path, why })?;
    let begin = if all { lookback_ring::Position::START } else { ring.end() };
    let mut follower = Follower::new(begin);
    if !all {
        // What is in blocks that are still in use is old as well.
        follower = Follower::new(lookback_ring::Position::START);
        follower.look(&ring, &mut |_| {});
    }
    let mut seen = Seen { dropped: (ring.losses().dropped(), 0), ..Seen::default() };
    loop {
        // Asked before the look: what was recorded before the end is printed.
        let last = !go_on();
        let came = look(&mut follower, &ring, &reader, &mut names, json, &mut seen, streams)?;
        if last {
            break;
        }
        if came == 0 {
            std::thread::sleep(PAUSE);
        }
    }
    let missed = match (seen.missed, seen.dropped.1) {
        (0, 0) => "nothing was missed".to_owned(),
        (missed, dropped) => format!("missed: {} blocks, {} events", count(missed), count(dropped)),
    };
    streams.note(&format!("{} events; {missed}", count(seen.events)));
    Ok(())
}

fn names(source: &RingFile) -> Names {
    let definitions = Definitions::read(&source.definitions());
    let categories = source.categories(&definitions);
    let clock_pair = if source.this_boot { clock::now() } else { source.header.clock_pair };
    Names { definitions, categories, clock_pair }
}

/// One look; gives how many events it brought.
fn look(
    follower: &mut Follower,
    ring: &Ring,
    reader: &RingFile,
    known: &mut Names,
    json: bool,
    seen: &mut Seen,
    streams: &mut Streams<'_>,
) -> Result<usize> {
    let (mut found, mut missed) = (Vec::new(), 0);
    follower.look(ring, &mut |delivery| match delivery {
        Delivery::Events { events, .. } => {
            for entry in events {
                if let Some(Ok(record)) = Record::decode(entry.kind, entry.payload) {
                    found.push((record.time, record.at(Nanos(0))));
                }
            }
        }
        Delivery::Lost(lost) if lost.cause == LossCause::Overwritten => missed += lost.blocks,
        _ => {}
    });
    let dropped = ring.losses().dropped().saturating_sub(seen.dropped.0);
    if missed > 0 || dropped > seen.dropped.1 {
        streams.note(&format!(
            "lost: {} blocks overwritten before they were read, {} events that the ring did not take",
            count(missed),
            count(dropped - seen.dropped.1)
        ));
        seen.missed += missed;
        seen.dropped.1 = dropped;
    }
    if found.is_empty() {
        return Ok(0);
    }
    found.sort_by_key(|(ticks, _)| *ticks);
    let clock = reader.clock_map();
    if found.iter().any(|(_, event)| !known.know(event)) {
        *known = names(reader);
    }
    for (ticks, event) in &mut found {
        event.time = clock.nanos(*ticks);
        let line = if json { known.json(event) } else { known.line(event) };
        writeln!(streams.out, "{line}").map_err(stdout)?;
    }
    streams.out.flush().map_err(stdout)?;
    seen.events += found.len() as u64;
    Ok(found.len())
}
