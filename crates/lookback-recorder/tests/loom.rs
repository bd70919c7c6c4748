//! Models of what processes share without a lock, for the loom checker, run on the code that ships:
//! `RUSTFLAGS="--cfg loom" cargo test -p lookback-recorder --release --test loom`.
//!
//! Each model runs on the code as it ships and on mutants, each with one ordering or one check taken away, which it
//! must reject. The constraint: the files are taken up from `src`, because the rest of the crate maps files
//! and cannot run under the checker.
#![cfg(loom)]

#[path = "../src/atomics.rs"]
mod atomics;
#[path = "../src/log.rs"]
mod log;
#[path = "../src/mutant.rs"]
mod mutant;
#[path = "../src/pair.rs"]
mod pair;

use atomics::{AtomicU64, AtomicUsize, Ordering};
use log::Log;
use lookback_format::definitions::{Definitions, Head, RESERVED, encode_name};
use loom::sync::Arc;
use loom::thread;
use mutant::{BUILT_IN, Mutant};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Checks `model` on the code that ships, then that it rejects each of `mutants`. One at a time: the fault is
/// the process's.
fn check(name: &str, mutants: &[Mutant], model: fn()) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let run = |mutant| {
        *BUILT_IN.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = mutant;
        let executions = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let counted = executions.clone();
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        let result = catch_unwind(AssertUnwindSafe(|| {
            builder.check(move || {
                counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                model();
            });
        }));
        println!("{name}, {mutant:?}: {} executions", executions.load(std::sync::atomic::Ordering::Relaxed));
        result
    };
    if let Err(failure) = run(Mutant::None) {
        std::panic::resume_unwind(failure);
    }
    for &mutant in mutants {
        assert!(run(mutant).is_err(), "{name} does not reject {mutant:?}");
    }
}

/// Room for three records of two words.
struct Space {
    words: Vec<AtomicU64>,
    end: AtomicU64,
    claimed: AtomicUsize,
}

impl Space {
    fn new() -> Arc<Space> {
        let words: Vec<_> = (0..6).map(|_| AtomicU64::new(0)).collect();
        let claimed = AtomicUsize::new(words.len() * 8);
        Arc::new(Space { words, end: AtomicU64::new(0), claimed })
    }

    fn with<T>(&self, then: impl FnOnce(&Log<'_>) -> T) -> T {
        let Space { words, end, claimed } = self;
        then(&Log { words, end, claimed, claim: &|_, _| false })
    }

    fn append(&self, name: &str) {
        let mut record = Vec::new();
        encode_name(name, &mut record);
        let id = self.with(|log| log.append(&record)).expect("room");
        assert!(self.with(|log| log.holds(id, &record)), "what was appended is there");
    }

    /// All names that are committed, sorted; fails on one that is not whole.
    fn names(&self) -> (Vec<String>, Definitions) {
        let all = Definitions::read(&self.with(|log| log.copy(0)));
        let mut names: Vec<_> = all.names().map(|(_, name)| name.to_owned()).collect();
        assert!(names.iter().all(|name| ["aa", "bb"].contains(&name.as_str())), "torn: {names:?}");
        assert_eq!(all.damaged_at, None);
        names.sort();
        (names, all)
    }
}

/// L1, L2, L3: two appenders and a reader.
#[test]
fn appenders_do_not_overlap_and_readers_see_whole_records() {
    let mutants = [Mutant::CommitRelaxed, Mutant::HeadRelaxed, Mutant::TakenByStore];
    check("two appenders, a reader", &mutants, || {
        let space = Space::new();
        let appenders = ["aa", "bb"].map(|name| {
            let space = space.clone();
            thread::spawn(move || space.append(name))
        });
        space.names();
        appenders.into_iter().for_each(|appender| appender.join().unwrap());
        let (names, all) = space.names();
        assert_eq!((names, all.unfinished), (vec!["aa".to_owned(), "bb".to_owned()], 0));
        assert_eq!(space.end.load(Ordering::Relaxed), 32, "End is where the last record ends (L4)");
    });
}

/// L1, L4: an appender was killed after it took its space, before it moved End.
#[test]
fn a_killed_appender_stops_nobody() {
    check("a killed appender, two appenders", &[Mutant::TakenByStore], || {
        let space = Space::new();
        let reserved = Head { bytes: 16, kind: 1, state: RESERVED };
        space.words[0].store(reserved.word(), Ordering::Relaxed);
        let other = space.clone();
        let appender = thread::spawn(move || other.append("aa"));
        space.append("bb");
        appender.join().unwrap();
        let (names, all) = space.names();
        assert_eq!((names, all.unfinished), (vec!["aa".to_owned(), "bb".to_owned()], 1));
    });
}

/// P1, P2: a place of the clock table is written again while it is read.
#[test]
fn a_clock_snapshot_is_read_as_it_was_written() {
    let mutants =
        [Mutant::WriterFenceMissing, Mutant::TicksRelaxed, Mutant::ReaderFenceMissing, Mutant::NotRechecked];
    check("a snapshot, a reader", &mutants, || {
        let place = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let written = place.clone();
        let writer = thread::spawn(move || {
            let [ticks, nanos] = &*written;
            pair::store([ticks, nanos], 1, 10);
            pair::store([ticks, nanos], 2, 20);
        });
        let [ticks, nanos] = &*place;
        let found = pair::load([ticks, nanos]);
        assert!([None, Some((1, 10)), Some((2, 20))].contains(&found), "{found:?}");
        writer.join().unwrap();
        assert_eq!(pair::load([ticks, nanos]), Some((2, 20)));
    });
}
