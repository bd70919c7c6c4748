//! At a program's first start the classes of libraries wait: those that are cold are traced later, and all but the hot ones at
//! the next start.

use crate::support::{Java, Jdk, Place, Recorded, Running, artifacts, jdks};
use std::time::{Duration, Instant};

const HOT: &str = "org.acme.library.Library$Hot.sum";
const COLD: &str = "org.acme.library.Library$Cold.sum";
const OWN: &str = "FirstStart.turn";

/// Starts the program; what is learned of it is kept in the place.
fn started(jdk: &Jdk, place: &Place, options: &str) -> Running {
    let options = format!("budget=3%,learned={}{options}", place.file("learned").display());
    let mut running = Java::new(jdk, place, &["FirstStart"]).agent(&options).start();
    running.until("ready");
    running
}

/// Lets it run for a second.
fn run(running: &mut Running) {
    running.ask("run 1000", "did run 1000");
}

/// Whether each of the program's methods was called in what the main thread has recorded.
fn called(recorded: &Recorded) -> [bool; 3] {
    let recording = recorded.analysed();
    let slices = &recording.threads[recording.thread(recorded.thread("main").key).expect("it ran")].slices;
    let names: Vec<String> = slices.indices().map(|i| recorded.full_name(slices.method[i.at()])).collect();
    [OWN, COLD, HOT].map(|method| names.iter().any(|name| name == method))
}

fn waiting(place: &Place, running: &Running) -> u64 {
    place.status(running.pid)["governing"]["waiting_classes"].as_u64().expect("a number of classes")
}

/// The row of a class's method that the compilers found hot, or warm.
fn row(kind: &str, class: &str) -> String {
    format!("{kind}\t0\torg.acme.library.Library${class}\tsum\t(I)J\n")
}

/// Lets the program's next start know these methods, and try this part of them.
fn knows(place: &Place, part: u32, rows: &[String]) {
    let head = "lookback learned 2: methods that cost too much to trace (dropped), that compilers found hot (compiled) or \
                warm (warm), or that cost nothing to trace exactly (exact): kind, records a second, class, method, descriptor\n";
    let text = format!("{head}libraries are known; the next start tries part {part}\n{}", rows.concat());
    std::fs::write(place.file("learned"), text).expect("a file");
}

#[test]
fn libraries_wait_at_a_first_start_and_the_next_one_leaves_out_what_the_compilers_found_hot() {
    for jdk in jdks() {
        let place = Place::new();
        let learned = || std::fs::read_to_string(place.file("learned")).unwrap_or_default();
        let mut running = started(jdk, &place, "");
        run(&mut running);
        assert_eq!(called(&place.dump(running.pid)), [true, false, false], "JDK {}", jdk.version);
        assert_eq!(waiting(&place, &running), 2, "JDK {}", jdk.version);
        let told = place.lookback(&["status", &running.pid.to_string()]).ok();
        assert!(told.out.contains("2 classes of libraries are not traced yet"), "{}", told.out);
        let file = place.file("first.lkb").display().to_string();
        place.lookback(&["dump", &running.pid.to_string(), "-o", &file]).ok();
        let report = place.lookback(&["report", &file, "--text-only"]).ok();
        assert!(report.out.contains("Not traced yet at this first start"), "{}", report.out);
        // It may be this short at each start.
        running.end().ok();
        assert!(learned().contains(&row("compiled", "Hot")), "{}", learned());
        let inlined = "compiled\t0\torg.acme.library.Library$Hot\t<init>\t(I)V\n";
        assert!(learned().contains(inlined), "{}", learned());
        assert!(!learned().contains(&row("compiled", "Cold")), "{}", learned());
        let mut running = started(jdk, &place, "");
        run(&mut running);
        assert_eq!(called(&place.dump(running.pid)), [true, true, false], "JDK {}", jdk.version);
        assert_eq!(waiting(&place, &running), 0, "JDK {}", jdk.version);
        let told = place.lookback(&["status", &running.pid.to_string()]).ok();
        assert!(told.out.contains(&format!("{HOT}, hot in an earlier run")), "{}", told.out);
        running.end().ok();
    }
}

#[test]
fn an_agent_that_leaves_has_learned_like_one_whose_program_ends() {
    let place = Place::new();
    let mut running = Java::new(&jdks()[0], &place, &["FirstStart"]).start();
    running.until("ready");
    let (pid, file) = (running.pid.to_string(), place.file("learned").display().to_string());
    place.lookback(&["attach", &pid, "--learned", &file]).ok();
    run(&mut running);
    assert_eq!(waiting(&place, &running), 2);
    place.lookback(&["detach", &pid]).ok();
    let learned = std::fs::read_to_string(&file).expect("what was learned");
    assert!(learned.contains(&row("compiled", "Hot")), "{learned}");
    assert!(!learned.contains(&row("compiled", "Cold")), "{learned}");
    place.lookback(&["attach", &pid, "--learned", &file]).ok();
    run(&mut running);
    assert_eq!(called(&place.dump(running.pid)), [true, true, false]);
    running.end().ok();
}

#[test]
fn what_has_stayed_cold_is_traced_half_a_minute_later() {
    let place = Place::new();
    let mut running = started(&jdks()[0], &place, "");
    let begun = Instant::now();
    while waiting(&place, &running) != 1 {
        assert!(begun.elapsed() < Duration::from_secs(120), "{:#}", place.status(running.pid));
        run(&mut running);
    }
    assert!(begun.elapsed() > Duration::from_secs(29), "{:?}", begun.elapsed());
    // A program that is killed now leaves to its next start what is hot.
    let learned = std::fs::read_to_string(place.file("learned")).unwrap_or_default();
    assert!(learned.contains(&row("compiled", "Hot")), "{learned}");
    run(&mut running);
    assert_eq!(called(&place.dump(running.pid)), [true, true, false]);
    running.end().ok();
}

#[test]
fn what_was_hot_in_an_earlier_run_and_is_not_any_more_is_traced_at_the_next_start() {
    let place = Place::new();
    let rows = ["Cold", "Hot"].map(|class| row("compiled", class));
    knows(&place, 0, &rows);
    let learned = || std::fs::read_to_string(place.file("learned")).unwrap_or_default();
    let mut running = started(&jdks()[0], &place, "");
    run(&mut running);
    assert_eq!(called(&place.dump(running.pid)), [true, false, false]);
    let begun = Instant::now();
    while learned().contains(&rows[0]) {
        assert!(begun.elapsed() < Duration::from_secs(120), "{}", learned());
        run(&mut running);
    }
    running.end().ok();
    assert!(learned().contains(&rows[1]), "{}", learned());
}

#[test]
fn what_was_warm_is_tried_once_and_left_out_again_when_it_costs_too_much() {
    let place = Place::new();
    knows(&place, 0, &[row("warm", "Hot")]);
    let mut tried = 0;
    // Each of four starts tries another part of what was warm; with the fifth the first one's comes round again.
    for _ in 0..5 {
        let mut running = started(&jdks()[0], &place, "");
        run(&mut running);
        let [own, cold, hot] = called(&place.dump(running.pid));
        assert!(own && cold);
        tried += u32::from(hot);
        running.end().ok();
    }
    let learned = std::fs::read_to_string(place.file("learned")).expect("what was learned");
    assert_eq!(tried, 1, "{learned}");
    assert!(!learned.contains("warm\t"), "{learned}");
    let rows =
        learned.lines().filter(|row| row.starts_with("dropped") && row.contains("Library$Hot\tsum\t(I)J"));
    assert_eq!(rows.count(), 1, "{learned}");
}

#[test]
fn what_is_the_programs_own_is_in_the_jars_manifest() {
    for jdk in jdks() {
        let place = Place::new();
        let jar = artifacts::application("FirstStart", place.path()).display().to_string();
        let options = format!("budget=3%,learned={}", place.file("learned").display());
        let mut running = Java::new(jdk, &place, &["-jar", &jar]).agent(&options).start();
        running.until("ready");
        run(&mut running);
        assert_eq!(called(&place.dump(running.pid)), [true, false, false], "JDK {}", jdk.version);
        running.end().ok();
    }
}

#[test]
fn what_is_named_or_always_the_same_does_not_wait() {
    for options in [",trace=**", ",slow=org.acme.library.Library$Hot.other:1s"] {
        let place = Place::new();
        let mut running = started(&jdks()[0], &place, options);
        run(&mut running);
        assert_eq!(waiting(&place, &running), 0, "{options}");
        assert_eq!(called(&place.dump(running.pid))[..2], [true, true], "{options}");
        running.end().ok();
    }
    let place = Place::new();
    let mut running = Java::new(&jdks()[0], &place, &["FirstStart"]).agent("budget=3%,learned=off").start();
    running.until("ready");
    run(&mut running);
    assert_eq!(called(&place.dump(running.pid))[..2], [true, true]);
    running.end().ok();
}
