//! Spans and instants of the public API in a ring file, without any agent.
//!
//! The constraint: whatever the file and the library are, the program does the same, and at most one line says what is
//! wrong.

use crate::support::{Java, Jdk, Place, artifacts, jdks};
use lookback_recorder::{Level, Options, Recorder};
use std::path::Path;

/// A program with the API that is told of a ring file and of the library.
fn spans<'a>(jdk: &'a Jdk, place: &'a Place, ring: &Path, parts: &[&str]) -> Java<'a> {
    program(Java::new(jdk, place, &[&["Spans"], parts].concat()), ring)
        .option(format!("-Dlookback.library={}", artifacts::ring_library().display()))
}

fn program<'a>(java: Java<'a>, ring: &Path) -> Java<'a> {
    // From 24 on the VM warns of each native library that it was not told to expect.
    java.with_api()
        .option("--enable-native-access=ALL-UNNAMED")
        .option(format!("-Dlookback.ring={}", ring.display()))
}

fn create(place: &Place, mib: usize) -> Recorder {
    Options::new().bytes(mib << 20).create(place.file("marks.ring")).expect("a ring file")
}

/// All events: the thread, what it is, and its values.
fn events(recorder: &Recorder) -> Vec<String> {
    recorder.snapshot().events().map(|e| format!("{}: {e}", e.thread_name())).collect()
}

/// What the part `nest` of the program marks.
fn nested() -> Vec<String> {
    let turn = |i: u32| {
        ["begin shop.checkout", "begin shop.pay", "", "end shop.pay", "end shop.checkout"].map(|event| {
            let retry = format!("shop.retry value={i}");
            format!("main: {}", if event.is_empty() { &retry } else { event })
        })
    };
    (0..3).flat_map(turn).collect()
}

#[test]
fn marks_go_into_the_ring_file_with_their_values() {
    for jdk in jdks() {
        let place = Place::new();
        let recorder = create(&place, 8);
        let ran = spans(jdk, &place, recorder.path(), &["nest"]).run().ok();
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("101\ndid nest\n", ""), "JDK {}", jdk.version);
        assert_eq!(events(&recorder), nested());
    }
}

#[test]
fn a_recording_that_is_switched_off_stays_empty() {
    let jdk = &jdks()[0];
    let place = Place::new();
    let recorder = create(&place, 8);
    recorder.set_level(None);
    let ran = spans(jdk, &place, recorder.path(), &["nest", "odd"]).run().ok();
    assert_eq!(ran.err, "");
    assert_eq!(events(&recorder), Vec::<String>::new());
    recorder.set_level(Level::Info);
    spans(jdk, &place, recorder.path(), &["nest"]).run().ok();
    assert_eq!(events(&recorder), nested());
}

#[test]
fn the_library_is_found_on_the_path_and_in_the_jar_and_the_file_by_a_variable() {
    for jdk in jdks() {
        let directory = artifacts::ring_library().parent().expect("a directory").display().to_string();
        for path in [directory.as_str(), "nowhere"] {
            let place = Place::new();
            let recorder = create(&place, 8);
            let java = Java::new(jdk, &place, &["Spans", "nest"]).with_api();
            let java = java.variable("LOOKBACK_RING", recorder.path());
            let java = java.options(&["--enable-native-access=ALL-UNNAMED"]);
            let ran = java.option(format!("-Djava.library.path={path}")).run().ok();
            assert_eq!(ran.err, "");
            assert_eq!(events(&recorder), nested(), "JDK {}, {path}", jdk.version);
        }
    }
}

#[test]
fn many_threads_and_processes_share_a_file() {
    for jdk in jdks() {
        let place = Place::new();
        let recorder = create(&place, 64);
        for _ in 0..2 {
            spans(jdk, &place, recorder.path(), &["many"]).run().ok();
        }
        let snapshot = recorder.snapshot();
        assert_eq!(snapshot.events().len(), 2 * 3 * 50_000 * 3);
        let mut pids: Vec<_> = snapshot.events().filter_map(|e| e.pid()).collect();
        pids.sort_unstable();
        pids.dedup();
        assert_eq!(pids.len(), 2);
        for t in 0..3 {
            let name = format!("many-{t}");
            assert_eq!(snapshot.events().filter(|e| e.thread_name() == name).count(), 2 * 50_000 * 3);
        }
    }
}

#[test]
fn nonsense_does_no_harm() {
    for jdk in jdks() {
        let place = Place::new();
        let recorder = create(&place, 8);
        let java = spans(jdk, &place, recorder.path(), &["odd", "names", "odd"]);
        let ran = java.option("-Xcheck:jni").run().ok();
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("did odd\ndid names\ndid odd\n", ""));
        let events = events(&recorder);
        assert!(
            events.contains(&"main: null.null first=-9223372036854775808 second=9223372036854775807".into())
        );
        assert!(events.contains(&"main: end names.name 4000".into()));
        assert!(!events.contains(&"main: end names.name 4200".into()), "there is room for 4,096 names");
    }
}

#[test]
fn a_file_or_library_that_cannot_be_used_is_one_line() {
    for jdk in jdks() {
        let place = Place::new();
        let without = Java::new(jdk, &place, &["Spans", "nest", "odd"]).with_api().run().ok();
        std::fs::write(place.file("garbage"), vec![0xa5; 1 << 20]).expect("a file");
        std::fs::write(place.file("empty"), "").expect("a file");
        let recorder = create(&place, 8);
        let whole = std::fs::read(recorder.path()).expect("the ring file");
        std::fs::write(place.file("cut"), &whole[..whole.len() / 2]).expect("a file");
        for name in ["missing", "garbage", "empty", "cut", "."] {
            let ran = spans(jdk, &place, &place.file(name), &["nest", "odd"]).run();
            ran.same_as(&without);
            assert_eq!(ran.err.lines().count(), 1, "{name}: {}", ran.err);
            assert!(ran.err.starts_with("[lookback] spans and instants are not recorded: "), "{}", ran.err);
        }
        let java = program(Java::new(jdk, &place, &["Spans", "nest", "odd"]), recorder.path());
        for library in ["missing.so", "garbage"] {
            let ran =
                java.clone().option(format!("-Dlookback.library={}", place.file(library).display())).run();
            ran.same_as(&without);
            // The VM has words of its own for a library that is none.
            assert_eq!(ran.agent_lines().len(), 1, "{library}: {}", ran.err);
        }
        let blank = spans(jdk, &place, Path::new(" "), &["nest", "odd"]).run();
        blank.same_as(&without);
        assert_eq!(blank.err, "", "nobody asks for a file");
    }
}

#[test]
fn a_file_with_damage_inside_does_no_harm() {
    let jdk = &jdks()[0];
    let place = Place::new();
    let without = Java::new(jdk, &place, &["Spans", "nest", "many"]).with_api().run().ok();
    let whole = std::fs::read(create(&place, 4).path()).expect("the ring file");
    let mut seed = 11_u64;
    for round in 0..6 {
        let mut bytes = whole.clone();
        let used = bytes.iter().rposition(|&b| b != 0).map_or(bytes.len(), |last| last + 1);
        for _ in 0..1 << (round * 2) {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // The magic stays, so that the damage is met behind it.
            let at = 8 + (seed >> 33) as usize % (used - 8);
            bytes[at] = (seed >> 20) as u8;
        }
        std::fs::write(place.file("damaged.ring"), bytes).expect("a file");
        let ran = spans(jdk, &place, &place.file("damaged.ring"), &["nest", "many"]).run();
        ran.same_as(&without);
        assert!(ran.err.lines().count() <= 1, "{}", ran.err);
        println!("round {round}: {}", ran.err.trim());
    }
}

#[test]
fn the_agent_comes_before_a_ring_file() {
    let jdk = &jdks()[0];
    let place = Place::new();
    let recorder = create(&place, 8);
    spans(jdk, &place, recorder.path(), &["nest"]).agent("keep=on").run().ok();
    assert_eq!(events(&recorder), Vec::<String>::new());
    let recorded = place.recover();
    let lines = recorded.lines(recorded.thread("main"), "shop");
    assert_eq!(lines.iter().filter(|l| *l == "E .checkout").count(), 3);
}

#[test]
fn spans_of_virtual_threads_are_on_their_carriers() {
    let Some(jdk) = artifacts::jdk_with_virtual_threads() else { return };
    let place = Place::new();
    let recorder = create(&place, 16);
    let java = Java::new(jdk, &place, &["VirtualSpans", "10000"]);
    let without = java.clone().with_api().run().ok();
    let ran = program(java, recorder.path()).run();
    ran.same_as(&without);
    assert_eq!(ran.err, "");
    let snapshot = recorder.snapshot();
    let events = snapshot.events().map(|e| e.to_string()).collect::<Vec<_>>();
    let count = |what: &str| events.iter().filter(|e| *e == what).count();
    let counts =
        ["begin virtual.task", "end virtual.task", "begin virtual.step", "end virtual.step"].map(count);
    assert_eq!(counts, [10_000, 10_000, 30_000, 30_000], "{:?}", snapshot.losses());
}
