//! Writers are killed at any instruction, two hundred times, and the others notice nothing.
#![cfg(not(loom))]

mod support;

use lookback_recorder::{Level, Options, Recorder};
use std::time::{Duration, Instant};
use support::{Job, numbers};

const WRITER: &str = "killed_writers_cost_the_others_nothing";
const SURVIVORS: u64 = 2;
const VICTIMS: u64 = 200;
const THREADS: u64 = 2;

/// Bytes of an event in the ring: its header, time, ids, four fields.
const EVENT: u64 = 8 + 16 + 32;

#[test]
fn killed_writers_cost_the_others_nothing() {
    if let Some((job, path)) = Job::from_environment() {
        job.run(&path);
    }
    let directory = tempfile::tempdir_in(if std::fs::exists("/dev/shm").unwrap() { "/dev/shm" } else { "." });
    let directory = directory.unwrap();
    let path = directory.path().join("x.ring");
    // Large enough for all that is recorded here, so that nothing is overwritten.
    let recorder = Options::new().bytes(256 << 20).prefault(false).create(&path).unwrap();
    let job = |writer, yields| Job { writer, threads: THREADS, events: u64::MAX, yields };
    let mut survivors: Vec<_> = (0..SURVIVORS).map(|writer| job(writer, true).start(WRITER, &path)).collect();
    survivors.iter_mut().for_each(|writer| writer.go());

    let mut random = 1_u64;
    for victim in 0..VICTIMS {
        let mut writer = job(100 + victim, false).start(WRITER, &path);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // One in four is killed while it starts and registers, the others while they record.
        let most = if victim % 4 == 0 {
            Duration::from_millis(4)
        } else {
            writer.go();
            assert_eq!(writer.line().as_deref(), Some("records"));
            Duration::from_micros(300)
        };
        let (start, moment) = (Instant::now(), most.mul_f64((random >> 40) as f64 / f64::from(1 << 24)));
        while start.elapsed() < moment {
            std::hint::spin_loop();
        }
        writer.child.kill().unwrap();
        writer.child.wait().unwrap();
    }

    // Who comes now opens, registers and records as ever.
    let mut late = Job { writer: 99, threads: THREADS, events: 1_000, yields: false }.start(WRITER, &path);
    late.go();
    let mut written: Vec<_> = late.finish().into_iter().map(|(thread, n)| ((99, thread), n)).collect();
    for (writer, process) in survivors.into_iter().enumerate() {
        let wrote = process.finish();
        written.extend(wrote.into_iter().map(|(thread, n)| ((writer as u64, thread), n)));
    }
    assert_eq!(written.len() as u64, (SURVIVORS + 1) * THREADS);

    let snapshot = Recorder::open(&path).unwrap().snapshot();
    let (numbers, losses) = (numbers(&snapshot), *snapshot.losses());
    assert_eq!(losses.blocks.overwritten, 0, "all that was recorded is in range: {losses:?}");
    let mut missing = 0;
    for (who, n) in &written {
        let found = &numbers[who];
        assert!(found.is_sorted_by(|a, b| a < b), "in order, each once");
        assert!(found.last() < Some(n));
        missing += n - found.len() as u64;
    }
    let total: u64 = written.iter().map(|(_, n)| n).sum();
    let victims = numbers.keys().filter(|who| who.0 >= 100).count();
    println!("{total} events of survivors, {missing} missing, {victims} victims' threads; {losses:?}");
    // What a victim hides, by dying between taking space and writing how much, is reported to the byte.
    let hidden = losses.blocks.unreadable_bytes / EVENT;
    assert!(missing <= hidden, "{missing} are missing: {losses:?}");
    assert_eq!(losses.ring.dropped(), 0);
    assert!(losses.blocks.unfinished_entries <= VICTIMS * THREADS);
    assert!(losses.unfinished_definitions <= VICTIMS && losses.definitions == 0);
    assert!(victims > 100, "{victims} threads were killed while they recorded");
    let definitions = snapshot.definitions();
    assert_eq!(definitions.damaged_at, None);
    let of_test = definitions.event_types().filter(|(_, of)| definitions.name(of.name) == Some("count"));
    assert!(of_test.count() as u64 <= VICTIMS, "types are found again");

    let fresh = recorder.category("fresh").event_type::<u64>("after", Level::Info, ["n"]);
    fresh.instant(5);
    let snapshot = recorder.snapshot();
    assert!(snapshot.events().any(|event| event.to_string() == "fresh.after n=5"));

    // What the victims hold is held as long as anybody has the file open, and then taken back.
    let held = snapshot.losses().ring.blocks_left_behind;
    assert!(held > 0, "none of the victims died in the middle of an event");
    let next_to_us = Recorder::open(&path).unwrap();
    assert_eq!(next_to_us.blocks_left_behind(), recorder.blocks_left_behind());
    assert!(recorder.blocks_left_behind() > 0);
    drop((recorder, next_to_us, fresh));
    assert_eq!(Recorder::open(&path).unwrap().blocks_left_behind(), 0);
}
