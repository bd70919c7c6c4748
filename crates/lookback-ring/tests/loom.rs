//! Models of the ring for the loom checker, run on the shipped code with shrunk sizes:
//! `RUSTFLAGS="--cfg loom" cargo test -p lookback-ring --release --test loom`.
//!
//! Each model runs on the code as it ships and on mutants, each with one ordering or one check taken
//! away, which it must reject. The constraint: the number of interleavings. So a block holds one
//! or two events, there are one or two metadata blocks, and threads are switched out a bounded number of
//! times where it says so. loom does not model stores becoming visible out of order unless a load is
//! Relaxed, nor load buffering; the fences are within what it models.
#![cfg(loom)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lookback_ring::model::Mutant;
use lookback_ring::{Geometry, Obstacle, Position, Ring};
use loom::sync::Arc;
use loom::thread;

/// Blocks of 64 bytes: header, two events of two words, one word of filler.
fn geometry(blocks: u32, active: u32, cores: u32) -> Geometry {
    Geometry { block_size: 64, blocks, active, cores }
}

/// A model that has not been explored by then has grown too large: it fails.
const LIMIT: Duration = Duration::from_secs(300);

/// Checks `model` on the shipped code, with `preemptions` at most, and prints how many executions
/// that took; then checks that it rejects each of `mutants`.
fn check(name: &str, preemptions: usize, mutants: &[Mutant], model: fn(Mutant)) {
    let run = |mutant| {
        let executions = std::sync::Arc::new(AtomicU64::new(0));
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(preemptions);
        builder.max_duration = Some(LIMIT);
        // Where all metadata is looked at; no loop of the ring is without bound.
        builder.max_branches = 20_000;
        let counted = executions.clone();
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| {
            builder.check(move || {
                counted.fetch_add(1, Ordering::Relaxed);
                model(mutant);
            });
        }));
        let executions = executions.load(Ordering::Relaxed);
        println!("{name}, {mutant:?}: {executions} executions, {:.1?}", start.elapsed());
        result
    };
    let start = Instant::now();
    if let Err(failure) = run(Mutant::None) {
        std::panic::resume_unwind(failure);
    }
    assert!(start.elapsed() < LIMIT, "{name} was not explored in full");
    for &mutant in mutants {
        assert!(run(mutant).is_err(), "{name} does not reject {mutant:?}");
    }
}

/// An event of two words that belong together.
fn event(value: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&value.to_le_bytes());
    bytes[8..].copy_from_slice(&(!value).to_le_bytes());
    bytes
}

/// The values of all events delivered; panics on a torn one.
fn read(ring: &Ring) -> Vec<u64> {
    let mut values = Vec::new();
    ring.snapshot(Position::START, &mut |block| {
        for entry in block.entries() {
            let value = u64::from_le_bytes(entry.payload[..8].try_into().unwrap());
            assert_eq!(entry.payload, event(value), "torn");
            assert_eq!(u64::from(entry.kind), value, "header of another event");
            values.push(value);
        }
    });
    values
}

/// Two producers of one core, one metadata block, so that the block is exchanged under the other's
/// hands and an addition can land in a later round. At rest nothing is held, and every event that was
/// accepted is there, once.
fn two_producers(mutant: Mutant) {
    // Long enough that nothing is wrapped over, however many blocks are given up.
    let ring = Arc::new(Ring::model(geometry(32, 1, 1), mutant));
    // One event fits beside it.
    ring.write_on(0, 1, &[&event(1)]).unwrap();
    let other = ring.clone();
    let producer = thread::spawn(move || {
        [2, 3].map(|value| other.write_on(0, value, &[&event(u64::from(value))]).is_ok())
    });
    let mine = ring.write_on(0, 4, &[&event(4)]).is_ok();
    let theirs = producer.join().unwrap();
    let accepted = 1 + u64::from(mine) + theirs.map(u64::from).iter().sum::<u64>();
    let mut values = read(&ring);
    values.sort_unstable();
    values.dedup();
    assert_eq!(values.len() as u64, accepted, "found {values:?}");
    assert_eq!(accepted + ring.losses().dropped(), 4);
    // Nothing is left reserved: the metadata block can be taken again.
    assert_eq!(ring.write_on(0, 5, &[&event(5)]), Ok(()));
    assert!(read(&ring).contains(&5));
}

#[test]
fn two_producers_on_one_block_with_an_advance() {
    let mutants = [Mutant::LandingAbandoned, Mutant::LandingIgnored, Mutant::LookRelaxed];
    check("two producers", 2, &mutants, two_producers);
}

/// A writer that has allocated and not confirmed; meanwhile another core comes round to its
/// metadata block. That goes on with another lease or, once the writer has confirmed, with the same;
/// afterwards all of it must take part again, and the late entry must be whole.
fn block_left_behind(mutant: Mutant) {
    let ring = Arc::new(Ring::model(geometry(4, 2, 2), mutant));
    // Position 2, metadata block 0.
    let held = ring.model_reserve(0, 16).unwrap();
    // Position 3, metadata block 1: full.
    ring.write_on(1, 1, &[&event(1)]).unwrap();
    ring.write_on(1, 2, &[&event(2)]).unwrap();
    let other = ring.clone();
    let writer = thread::spawn(move || other.model_commit(held, 3, &[&event(3)]));
    // Position 4: metadata block 0, perhaps held.
    ring.write_on(1, 4, &[&event(4)]).unwrap();
    writer.join().unwrap();
    let mut values = read(&ring);
    values.sort_unstable();
    assert_eq!(values, [1, 2, 3, 4]);
    assert_eq!(ring.left_behind(), 0);
    // Both metadata blocks are usable: two blocks in a row without a skip.
    let skipped = ring.losses().skipped_blocks;
    for value in 5..9 {
        ring.write_on(1, value, &[&event(u64::from(value))]).unwrap();
    }
    assert_eq!(ring.losses().skipped_blocks, skipped);
    assert!(read(&ring).ends_with(&[8]));
}

#[test]
fn a_held_block_is_left_behind_and_used_again() {
    check("left behind", 4, &[Mutant::HeldLeaseTaken], block_left_behind);
}

/// Two data blocks under one metadata block, one of them held: the other core goes on in the other one and then
/// comes to the held one again. It may use it only when the writer has confirmed.
fn held_block_comes_round(mutant: Mutant) {
    let g = Geometry { block_size: 32, ..geometry(2, 1, 2) };
    let ring = Arc::new(Ring::model(g, mutant));
    // Position 1, data block 1.
    let held = ring.model_reserve(0, 16).unwrap();
    let other = ring.clone();
    let writer = thread::spawn(move || other.model_commit(held, 1, &[&event(1)]));
    // Position 2, data block 0; then position 3, data block 1.
    ring.write_on(1, 2, &[&event(2)]).unwrap();
    let third = ring.write_on(1, 3, &[&event(3)]).is_ok();
    writer.join().unwrap();
    let values = read(&ring);
    // What is there is whole; the newest accepted event is.
    let newest = if third { 3 } else { 2 };
    assert!(values.contains(&newest), "{values:?}, {third}");
    assert!(ring.losses().dropped() == u64::from(!third));
    assert_eq!(ring.left_behind(), 0);
    ring.write_on(1, 4, &[&event(4)]).unwrap();
    assert!(read(&ring).ends_with(&[4]));
    assert_eq!(ring.left_behind(), 0);
}

#[test]
fn a_held_block_that_comes_round_is_not_written() {
    let mutants = [Mutant::HeldBlockTaken, Mutant::LeaseKept];
    check("held block comes round", 4, &mutants, held_block_comes_round);
}

/// A reader copies the only two blocks while a producer goes over them.
fn consumer_against_wrap(mutant: Mutant) {
    let ring = Arc::new(Ring::model(Geometry { block_size: 32, ..geometry(1, 1, 1) }, mutant));
    ring.write_on(0, 1, &[&event(1)]).unwrap();
    let other = ring.clone();
    let producer = thread::spawn(move || other.write_on(0, 2, &[&event(2)]).unwrap());
    let values = read(&ring);
    assert!(values.is_empty() || values == [1] || values == [2], "{values:?}");
    // A block of this size, once filled, holds just one event.
    ring.snapshot(Position::START, &mut |block| {
        assert_eq!(
            block.entries().count(),
            usize::from(block.bytes.len() == 32),
            "confirmed, yet not written"
        );
    });
    producer.join().unwrap();
    assert_eq!(read(&ring), [2]);
}

#[test]
fn a_reader_never_delivers_what_was_overwritten_under_it() {
    let mutants = [
        Mutant::NotRechecked,
        Mutant::ReaderFenceMissing,
        Mutant::WriterFenceMissing,
        Mutant::ConfirmRelaxed,
    ];
    check("wrap", 2, &mutants, consumer_against_wrap);
}

/// Two cores, one metadata block: one comes round to it while the other is still preparing its
/// block, and closes that. The late preparer must not write into a block that is in use by
/// someone else: every event in the last N positions is found.
fn closed_while_being_prepared(mutant: Mutant) {
    let g = Geometry { block_size: 32, ..geometry(2, 1, 2) };
    let ring = Arc::new(Ring::model(g, mutant));
    let write = |ring: &Ring, core: usize, value: u16| {
        let reservation = ring.model_reserve(core, 16).ok()?;
        let position = ring.model_position(&reservation);
        ring.model_commit(reservation, value, &[&event(u64::from(value))]);
        Some((position, u64::from(value)))
    };
    let other = ring.clone();
    let producer = thread::spawn(move || [1, 2].map(|value| write(&other, 1, value)));
    let mine = write(&ring, 0, 3);
    let theirs = producer.join().unwrap();
    let end = ring.end().0;
    let values = read(&ring);
    for (position, value) in theirs.into_iter().chain([mine]).flatten() {
        assert!(position + 2 < end || values.contains(&value), "{value} at {position} of {end}: {values:?}");
    }
}

#[test]
fn a_block_closed_while_being_prepared_is_not_written_late() {
    let mutants = [Mutant::ConfirmedByCloser, Mutant::PublishedBlindly];
    check("closed while prepared", 1, &mutants, closed_while_being_prepared);
}

/// A ring of three blocks of one event each shrinks to one while a producer goes through all three. Nobody
/// writes into what was given back, and what was held is named.
fn resize_against_producer(mutant: Mutant) {
    let g = Geometry { block_size: 32, ..geometry(3, 1, 1) };
    let ring = Arc::new(Ring::model(g, mutant));
    // Position 1, row 1.
    ring.write_on(0, 1, &[&event(1)]).unwrap();
    let other = ring.clone();
    // Position 2 is in row 2, or in row 0 after the change.
    let producer = thread::spawn(move || other.write_on(0, 2, &[&event(2)]).is_ok());
    let mut released = Vec::new();
    let resized = ring
        .resize(1, &mut |_| false, &mut |bytes| {
            ring.model_release(bytes.clone());
            released.push(bytes);
        })
        .unwrap();
    let written = producer.join().unwrap();
    for bytes in released {
        assert!(ring.model_is_released(bytes), "written after it was given back");
    }
    // An event is dropped only when the resizer was caught closing the one block that there is.
    assert_eq!(u64::from(!written), ring.losses().dropped());
    // Once the writer has left, all of it can be given back, and the ring goes on.
    let again = ring.resize(1, &mut |_| false, &mut |bytes| ring.model_release(bytes)).unwrap();
    assert_eq!(again.held, 0, "after {resized:?}");
    ring.write_on(0, 3, &[&event(3)]).unwrap();
    assert!(read(&ring).ends_with(&[3]));
}

#[test]
fn nobody_writes_into_what_a_resize_gave_back() {
    let mutants = [
        Mutant::RatioNotReread,
        Mutant::TakerFenceMissing,
        Mutant::ResizerFenceMissing,
        Mutant::ReleasedWhileHeld,
    ];
    check("resize against producer", 3, &mutants, resize_against_producer);
}

/// A reader copies a block that a resize gives back. It gets it whole or not at all.
fn resize_against_consumer(mutant: Mutant) {
    let g = Geometry { block_size: 32, ..geometry(2, 1, 1) };
    let ring = Arc::new(Ring::model(g, mutant));
    // Position 1, row 1, and position 2, row 0.
    ring.write_on(0, 1, &[&event(1)]).unwrap();
    ring.write_on(0, 2, &[&event(2)]).unwrap();
    let other = ring.clone();
    let consumer = thread::spawn(move || {
        let mut events = Vec::new();
        other.snapshot(Position::START, &mut |block| events.push(block.entries().count()));
        assert!(events.iter().all(|&count| count == 1), "cut short: {events:?}");
    });
    let mut wait = |obstacle| {
        assert!(matches!(obstacle, Obstacle::Reader { .. }), "{obstacle:?}");
        thread::yield_now();
        true
    };
    let resized = ring.resize(1, &mut wait, &mut |bytes| ring.model_release(bytes)).unwrap();
    assert_eq!((resized.released, resized.held), (1, 0));
    consumer.join().unwrap();
    assert_eq!(read(&ring), [2]);
}

#[test]
fn a_reader_never_delivers_what_a_resize_gave_back() {
    check("resize against consumer", 3, &[Mutant::ReleasedWhileRead], resize_against_consumer);
}
