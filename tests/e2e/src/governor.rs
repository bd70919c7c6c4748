//! What costs more than the budget is dropped while the program runs, is told, and changes nothing else.

use crate::support::artifacts::benchmark;
use crate::support::{Java, Jdk, Place, Recorded, Running, jdks};
use lookback_format::Nanos;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Starts the program; what is learned of it is kept in the place.
fn started(jdk: &Jdk, place: &Place, options: &str) -> Running {
    let options = format!("learned={},{options}", place.file("hot.learned").display());
    let mut running = Java::new(jdk, place, &["Hot"]).agent(&options).start();
    running.until("ready");
    running
}

/// How the governor stands.
fn governing(place: &Place, running: &Running) -> Value {
    place.status(running.pid)["governing"].clone()
}

fn dropped(governing: &Value) -> Vec<&str> {
    let methods = governing["dropped"].as_array().into_iter().flatten();
    methods.filter_map(|m| m["method"].as_str()).collect()
}

/// Has the program run hot until the method is dropped, for a minute at most.
fn until_dropped(place: &Place, running: &mut Running, command: &str, method: &str) -> Value {
    for _ in 0..120 {
        running.ask(&format!("{command} 500"), &format!("did {command} 500"));
        let found = governing(place, running);
        if dropped(&found).contains(&method) {
            return found;
        }
    }
    panic!("{method} is not dropped: {:#}", governing(place, running));
}

#[test]
fn hot_methods_are_dropped_as_they_come_and_an_incident_says_which() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = started(jdk, &place, "budget=3%");
        let found = until_dropped(&place, &mut running, "one", "Hot$One.step");
        assert_eq!(found["budget_percent"].as_f64(), Some(3.0), "{found:#}");
        assert!(!dropped(&found).contains(&"Hot$Two.step"), "not hot yet: {found:#}");
        until_dropped(&place, &mut running, "two", "Hot$Two.step");
        let told = place.lookback(&["status", &running.pid.to_string()]).ok();
        assert!(told.out.contains("methods are not traced, which would cost more"), "{}", told.out);
        let file = place.file("hot.lkb").display().to_string();
        place.lookback(&["dump", &running.pid.to_string(), "-o", &file]).ok();
        let report = place.lookback(&["report", &file, "--text-only"]).ok();
        assert!(report.out.contains("Not traced, to keep within the budget"), "{}", report.out);
        let ran = running.end().ok();
        assert!(!ran.out.contains("wrongly"), "{}", ran.out);
    }
}

#[test]
fn what_was_learned_is_known_to_the_next_start() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = started(jdk, &place, "budget=3%");
        until_dropped(&place, &mut running, "one", "Hot$One.step");
        running.end().ok();
        let again = started(jdk, &place, "budget=3%").end().ok();
        assert!(again.err.lines().all(|line| line.contains("recording in")), "{}", again.err);
        let mut running = started(jdk, &place, "budget=3%");
        running.ask("one 300", "did one 300");
        let found = governing(&place, &running);
        assert!(dropped(&found).contains(&"Hot$One.step"), "{found:#}");
        let file = place.file("hot.lkb").display().to_string();
        place.lookback(&["dump", &running.pid.to_string(), "-o", &file]).ok();
        running.end().ok();
        let report = place.lookback(&["report", &file, "--text-only"]).ok();
        assert!(report.out.contains("Not traced, to keep within the budget"), "{}", report.out);
    }
}

#[test]
fn what_costs_nothing_is_traced_although_waits_cost_more_than_the_budget() {
    for jdk in jdks() {
        let place = Place::new();
        let classes = benchmark("Handoff", place.path());
        let java = Java::new(jdk, &place, &["Handoff", "park", "50"]).class_path(classes);
        let mut running = java.agent("learned=off,budget=1%").start();
        running.say("");
        running.line();
        let begun = Instant::now();
        loop {
            let found = governing(&place, &running);
            assert!(dropped(&found).is_empty(), "JDK {}: {found:#}", jdk.version);
            // So long it is quick to drop.
            if begun.elapsed() > Duration::from_secs(4) && found["cost_percent"].as_f64() > Some(1.0) {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(7), "waits cost little: {found:#}");
            std::thread::sleep(Duration::from_millis(200));
        }
        running.end().ok();
    }
}

#[test]
fn a_wait_that_the_vm_tells_of_counts_for_more_than_a_wait_point() {
    for jdk in jdks() {
        let place = Place::new();
        let classes = benchmark("Handoff", place.path());
        let told = |kind| {
            let java = Java::new(jdk, &place, &["Handoff", kind, "8"]).class_path(classes.clone());
            let mut running = java.agent("learned=off,budget=3%").start();
            running.say("");
            running.line();
            std::thread::sleep(Duration::from_secs(3));
            let found = governing(&place, &running);
            running.end().ok();
            found["cost_percent"].as_f64().expect("it has a budget")
        };
        // Both hand turns over about as often.
        let (point, event) = (told("park"), told("monitor"));
        assert!(point > 1.0 && event > 2.0 * point, "JDK {}: {point} %, {event} %", jdk.version);
    }
}

#[test]
fn a_watched_method_is_never_dropped_however_hot() {
    let place = Place::new();
    let mut running = started(&jdks()[0], &place, "budget=3%,slow=Hot$Watched.step:10s");
    let found = until_dropped(&place, &mut running, "watched", "Hot.same");
    assert!(!dropped(&found).contains(&"Hot$Watched.step"), "{found:#}");
    running.end().ok();
}

/// The timing errors of all calls of a method on the main thread, nanoseconds.
fn errors(recorded: &Recorded, method: &str) -> Vec<u32> {
    let recording = recorded.analysed();
    let slices = &recording.threads[recording.thread(recorded.thread("main").key).expect("it ran")].slices;
    let of = |i: &lookback_analysis::SliceIndex| recorded.full_name(slices.method[i.at()]) == method;
    slices.indices().filter(of).map(|i| slices.error[i.at()]).collect()
}

#[test]
fn what_is_to_be_precise_has_exact_times_and_is_dropped_like_others_when_it_costs_too_much() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = started(jdk, &place, "budget=3%,precise=Hot.stage;Hot$Two.*");
        // So short that the brake does not cut it: a call's end that was not seen has no timing error.
        running.ask("request 4", "did request 4");
        let recorded = place.dump(running.pid);
        assert_eq!(errors(&recorded, "Hot.stage"), [0, 0], "JDK {}", jdk.version);
        let request = errors(&recorded, "Hot.request");
        assert!(request.len() == 1 && request[0] > 0, "a tick's: {request:?}");
        until_dropped(&place, &mut running, "two", "Hot$Two.step");
        running.end().ok();
    }
}

#[test]
fn what_is_called_seldom_has_exact_times_at_the_next_start() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = started(jdk, &place, "budget=3%");
        let learned = || std::fs::read_to_string(place.file("hot.learned")).unwrap_or_default();
        let knows =
            |text: &str| text.lines().any(|line| line.starts_with("exact\t") && line.contains("\thot\t"));
        let begun = Instant::now();
        while !knows(&learned()) {
            assert!(begun.elapsed() < Duration::from_secs(60), "JDK {}: {}", jdk.version, learned());
            running.ask("lists 100", "did lists 100");
        }
        assert!(begun.elapsed() > Duration::from_secs(5), "nothing is known so soon");
        running.end().ok();
        assert!(
            !learned().lines().any(|line| line.starts_with("exact\t") && line.contains("\tstep\t")),
            "hot"
        );
        let mut running = started(jdk, &place, "budget=3%");
        running.ask("lists 100", "did lists 100");
        let recorded = place.dump(running.pid);
        assert_eq!(errors(&recorded, "Hot.hot"), [0], "JDK {}", jdk.version);
        running.end().ok();
    }
}

#[test]
fn an_agent_that_left_does_not_spoil_what_it_had_learned() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = started(jdk, &place, "budget=3%");
        let learned = || std::fs::read_to_string(place.file("hot.learned")).unwrap_or_default();
        let begun = Instant::now();
        until_dropped(&place, &mut running, "one", "Hot$One.step");
        // From then on there is something to be kept at the end.
        while begun.elapsed() < Duration::from_secs(12) {
            running.ask("one 500", "did one 500");
        }
        place.lookback(&["detach", &running.pid.to_string()]).ok();
        running.end().ok();
        assert!(learned().contains("\tHot$One\tstep\t"), "JDK {}: {}", jdk.version, learned());
    }
}

#[test]
fn a_file_that_holds_something_else_is_not_replaced() {
    for jdk in jdks() {
        let place = Place::new();
        std::fs::write(place.file("hot.learned"), "a list of mine").expect("a file");
        let mut running = started(jdk, &place, "budget=3%");
        until_dropped(&place, &mut running, "one", "Hot$One.step");
        let ran = running.end().ok();
        assert_eq!(std::fs::read_to_string(place.file("hot.learned")).expect("it"), "a list of mine");
        assert!(ran.err.contains("it holds something else, and is left as it is"), "{}", ran.err);
    }
}

#[test]
fn nothing_is_learned_of_a_program_that_is_never_traced() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = started(jdk, &place, "budget=3%,tracing=off");
        let begun = Instant::now();
        // From then on there would be something to be kept at the end.
        while begun.elapsed() < Duration::from_secs(12) {
            running.ask("one 500", "did one 500");
        }
        running.end().ok();
        assert!(!place.file("hot.learned").exists(), "JDK {}", jdk.version);
    }
}

#[test]
fn what_recording_costs_is_measured_while_the_program_runs_and_told_with_its_interval() {
    for jdk in jdks() {
        let place = Place::new();
        // What is called often is not traced: so all gaps are moments in which tracing was off.
        let mut running = started(jdk, &place, "budget=3%,trace=Hot.*");
        let begun = Instant::now();
        let measured = loop {
            running.ask("lists 1000", "did lists 1000");
            let found = governing(&place, &running);
            let measured = |name: &str| found["measured"][name].as_f64();
            if let Some(percent) = measured("percent") {
                assert!(measured("low") <= Some(percent) && Some(percent) <= measured("high"), "{found:#}");
                assert!(measured("trials") >= Some(10.0), "{found:#}");
                break found;
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "{found:#}");
        };
        assert!(measured["own_percent_of_core"].as_f64() > Some(0.0), "{measured:#}");
        let told = place.lookback(&["status", &running.pid.to_string()]).ok();
        assert!(told.out.contains(" % (budget 3 %), measured "), "{}", told.out);
        let file = place.file("lists.lkb").display().to_string();
        place.lookback(&["dump", &running.pid.to_string(), "-o", &file]).ok();
        let report = place.lookback(&["report", &file, "--text-only"]).ok();
        assert!(report.out.contains("tracing cost about "), "{}", report.out);
        // Tracing was off for moments, and a call of a second is one for all that, unless it begins or ends in one.
        let recorded = Recorded::read(&place.file("lists.lkb"));
        let main = recorded.analysed().threads.iter().find(|t| t.name == "main").expect("it recorded");
        let slices: Vec<_> = main.slices.indices().map(|i| main.slices.get(i)).collect();
        let hot: Vec<_> = slices.iter().filter(|s| recorded.full_name(s.method) == "Hot.hot").collect();
        assert!(main.gaps.len() >= 10 && hot.len() >= 10, "{} gaps, {} calls", main.gaps.len(), hot.len());
        let cut = hot.iter().filter(|s| s.flags.cut() || s.duration() < Nanos(900_000_000)).count();
        assert!(cut < main.gaps.len() / 2, "{} gaps: {hot:?}", main.gaps.len());
        let ran = running.end().ok();
        assert!(!ran.out.contains("wrongly"), "{}", ran.out);
    }
}

#[test]
fn tracing_that_costs_more_than_the_budget_in_spite_of_all_ends_and_says_so() {
    let place = Place::new();
    let mut running = started(&jdks()[0], &place, "budget=3%,slow=Hot$Watched.step:10s");
    let begun = Instant::now();
    while place.status(running.pid)["tracing"] != Value::Bool(false) {
        running.ask("watched 1000", "did watched 1000");
        assert!(begun.elapsed() < Duration::from_secs(120), "{:#}", place.status(running.pid));
    }
    assert!(begun.elapsed() > Duration::from_secs(15), "not at once: {:?}", begun.elapsed());
    // Who turns it on again is not refused, and has as long again.
    let started = place.lookback(&["start", &running.pid.to_string()]).ok();
    assert!(started.out.contains("tracing is on"), "{}", started.out);
    running.ask("watched 1000", "did watched 1000");
    assert_eq!(place.status(running.pid)["tracing"], Value::Bool(true));
    let ran = running.end().ok();
    assert!(ran.err.contains("tracing is off: it ") && ran.err.contains("of a budget of 3 %"), "{}", ran.err);
    assert!(!ran.out.contains("wrongly"), "{}", ran.out);
}

#[test]
fn without_a_budget_nothing_is_dropped() {
    let place = Place::new();
    let mut running = started(&jdks()[0], &place, "budget=off");
    running.ask("one 1500", "did one 1500");
    assert_eq!(governing(&place, &running), Value::Null);
    running.end().ok();
}
