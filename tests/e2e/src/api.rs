//! Spans and instants of the public API: among traced methods, in viewers, and where nobody records.
//!
//! The constraint: a program that uses the API does the same with the agent, without it, and with an API that is
//! handed nonsense.

use crate::support::{Java, Jdk, Place, Recorded, artifacts, jdks};
use lookback_analysis::{Flags, Slice};
use lookback_format::incident::Trigger;
use lookback_format::symbol::Role;

fn spans<'a>(jdk: &'a Jdk, place: &'a Place, parts: &[&str]) -> Java<'a> {
    Java::new(jdk, place, &[&["Spans"], parts].concat()).with_api()
}

/// Slices of the main thread whose method is called this.
fn slices(recorded: &Recorded, name: &str) -> Vec<Slice> {
    let r = recorded.analysed();
    let main = r.threads.iter().find(|t| t.name == "main").expect("the main thread");
    let all = main.slices.indices().map(|i| main.slices.get(i));
    all.filter(|s| r.methods.full(s.method) == name).collect()
}

#[test]
fn spans_and_instants_nest_among_traced_methods() {
    for jdk in jdks() {
        let place = Place::new();
        let without = spans(jdk, &place, &["nest"]).run().ok();
        assert_eq!((without.out.as_str(), without.err.as_str()), ("101\ndid nest\n", ""));
        let with = spans(jdk, &place, &["nest"]).agent("trivial=0,keep=on").run();
        with.same_as(&without);
        assert_eq!(with.own_err(), "");

        let recorded = place.recover();
        let lines = recorded.lines(recorded.thread("main"), "");
        let ours = |l: &&String| l[2..].starts_with("shop.") || l[2..].starts_with("Spans$Work.");
        let lines: Vec<&str> = lines.iter().filter(ours).map(String::as_str).collect();
        let turn = [
            "E shop.checkout",
            "E Spans$Work.inner",
            "E shop.pay",
            "E shop.retry",
            "X shop.retry",
            "E Spans$Work.leaf",
            "X Spans$Work.leaf",
            "X shop.pay",
            "X Spans$Work.inner",
            "X shop.checkout",
        ];
        let wanted = [&["E Spans$Work.outer"][..], &turn, &turn, &turn, &["X Spans$Work.outer"]].concat();
        assert_eq!(lines, wanted, "JDK {}", jdk.version);
        let own = |m: &&crate::support::recorded::Method| m.class.starts_with("dev.lookback");
        assert_eq!(recorded.methods.values().filter(own).count(), 0, "the API itself is not traced");
        for m in recorded.methods.values() {
            let role = match (m.class.as_str(), m.name.as_str()) {
                ("shop", "retry") => Role::Instant,
                ("shop", _) => Role::Span,
                _ => Role::Method,
            };
            assert_eq!(m.role, role, "{}.{}", m.class, m.name);
        }

        let (checkouts, retries) = (slices(&recorded, "shop.checkout"), slices(&recorded, "shop.retry"));
        assert_eq!((checkouts.len(), retries.len()), (3, 3));
        for s in &checkouts {
            assert_eq!((s.flags, s.error), (Flags::SPAN, 0), "both ends are exact");
            assert!(s.start < s.end);
        }
        for s in &retries {
            assert_eq!((s.flags, s.error), (Flags::INSTANT, 0));
            assert_eq!(s.start, s.end);
        }
        println!(
            "JDK {}: checkouts of {:?}",
            jdk.version,
            checkouts.iter().map(|s| s.duration()).collect::<Vec<_>>()
        );
    }
}

#[test]
fn viewers_get_spans_as_spans_and_instants_as_instants() {
    let jdk = &jdks()[0];
    let place = Place::new();
    spans(jdk, &place, &["nest"]).agent("trivial=0,keep=on").run().ok();
    place.recover();
    place.lookback(&["convert", "recovered.lkb", "-o", "trace.json"]).ok();
    let json = std::fs::read_to_string(place.file("trace.json")).expect("the trace");
    let events = |words: &[&str]| json.lines().filter(|l| words.iter().all(|w| l.contains(w))).count();
    assert_eq!(events(&[r#""ph":"i""#, r#""name":"shop.retry""#]), 3);
    assert_eq!(events(&[r#""ph":"X""#, r#""name":"shop.retry""#]), 0);
    assert_eq!(events(&[r#""ph":"X""#, r#""name":"shop.pay""#, r#""cat":"span""#]), 3);
}

#[test]
fn very_many_marks_fill_slabs_and_lose_nothing() {
    for jdk in jdks() {
        let place = Place::new();
        let without = spans(jdk, &place, &["many"]).run().ok();
        let with = spans(jdk, &place, &["many"]).agent("keep=on").run();
        with.same_as(&without);
        let recorded = place.recover();
        for t in 0..3 {
            let track = recorded.thread(&format!("many-{t}"));
            assert_eq!(track.missing(), 0);
            let lines = recorded.lines(track, "shop");
            let lines: Vec<&str> = lines.iter().map(|l| l.as_str()).collect();
            assert_eq!(lines.len(), 200_000);
            assert!(lines.chunks(4).all(|c| c == ["E .pay", "E .retry", "X .retry", "X .pay"]));
        }
        assert_eq!(recorded.gaps(), Vec::<String>::new());
    }
}

#[test]
fn nonsense_does_no_harm() {
    for jdk in jdks() {
        let place = Place::new();
        let parts = ["odd", "names", "odd", "nest"];
        let without = spans(jdk, &place, &parts).run().ok();
        assert_eq!(without.err, "");
        let with = spans(jdk, &place, &parts).agent("keep=on").run();
        with.same_as(&without);
        assert_eq!(with.own_err(), "");
        let recorded = place.recover();
        let named = recorded.methods.values().filter(|m| m.role != Role::Method);
        let named: Vec<String> = named.map(|m| format!("{}.{}", m.class, m.name)).collect();
        assert_eq!(named.len(), 4_096, "so many names there are, and no more");
        assert!(named.contains(&"null.null".to_owned()) && named.contains(&".".to_owned()));
        assert!(named.contains(&"\u{fffd}\u{fffd}[31m.\u{fffd}\u{fffd}[31m".to_owned()));
        let long = "x".repeat(60);
        assert!(named.contains(&format!("{long}.{long}")));
        let lost = recorded.manifest.losses.get("symbols that did not fit").copied().unwrap_or(0);
        assert!(lost > 5_000, "the others are counted: {:?}", recorded.manifest.losses);
    }
}

#[test]
fn a_program_gets_the_incident_that_it_asks_for() {
    for jdk in jdks() {
        let place = Place::new();
        let out = place.file("incident-%n.lkb").display().to_string();
        let java = spans(jdk, &place, &["nest", "dump", "dump", "wait"]).agent(&format!("out={out}"));
        let mut running = java.start();
        let said = running.error_line("the program asked for an incident");
        assert!(said.contains("(the stock\u{fffd}is wrong)"), "{said}");
        running.until("waits");
        running.say("");
        running.end().ok();
        let recorded = Recorded::read(&place.file("incident-1.lkb"));
        let Trigger::Program { reason, .. } = &recorded.manifest.trigger else {
            panic!("{:?}", recorded.manifest.trigger)
        };
        assert_eq!(reason, "the stock\u{fffd}is wrong");
        assert_eq!(slices(&recorded, "shop.checkout").len(), 3);
        assert!(!place.file("incident-2.lkb").exists(), "one in a cool-down is enough");
    }
}

#[test]
fn a_span_can_be_watched_like_a_method() {
    for jdk in jdks() {
        let place = Place::new();
        let out = place.file("incident-%n.lkb").display().to_string();
        let options = format!("slow=shop.checkout:10ms,tail=1ms,out={out}");
        let mut running = spans(jdk, &place, &["nest", "slow", "wait"]).agent(&options).start();
        let said = running.error_line("slow call");
        assert!(said.contains("shop.checkout"), "{said}");
        running.until("waits");
        running.say("");
        running.end().ok();
        let recorded = Recorded::read(&place.file("incident-1.lkb"));
        let Trigger::Slow { method, .. } = recorded.manifest.trigger else {
            panic!("{:?}", recorded.manifest.trigger)
        };
        assert_eq!(recorded.full_name(method), "shop.checkout");
    }
}

#[test]
fn nothing_is_recorded_while_tracing_is_off() {
    for jdk in jdks() {
        let place = Place::new();
        let parts = ["nest", "odd", "sized"];
        let without = spans(jdk, &place, &parts).run().ok();
        let with = spans(jdk, &place, &parts).agent("tracing=off,keep=on").run();
        with.same_as(&without);
        let region = place.region().display().to_string();
        place.lookback(&["recover", &region, "-o", "nothing.lkb"]).fails(2, &["holds no record of a method"]);
    }
}

#[test]
fn spans_of_virtual_threads_are_on_their_carriers() {
    let Some(jdk) = artifacts::jdk_with_virtual_threads() else { return };
    let place = Place::new();
    let java = Java::new(jdk, &place, &["VirtualSpans", "10000"]).with_api();
    let without = java.clone().run().ok();
    let with = java.agent("keep=on").run();
    with.same_as(&without);
    let recorded = place.recover();
    let (mut begun, mut ended, mut steps) = (0, 0, 0);
    for track in &recorded.threads {
        let lines = recorded.lines(track, "virtual");
        begun += lines.iter().filter(|l| *l == "E .task").count();
        ended += lines.iter().filter(|l| *l == "X .task").count();
        // Nothing in a step blocks, so its two ends are neighbours among the spans of its carrier.
        let neighbours = lines.windows(2).filter(|w| *w == ["E .step", "X .step"]).count();
        assert_eq!(neighbours, lines.iter().filter(|l| *l == "E .step").count());
        steps += neighbours;
    }
    assert_eq!((begun, ended, steps), (10_000, 10_000, 30_000));
    assert_eq!(recorded.gaps(), Vec::<String>::new());
}
