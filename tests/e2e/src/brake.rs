//! A flood of calls is held back from its first moments on, and what is kept of it is still one tree.

use crate::support::{Java, Place, jdks};
use serde_json::Value;

/// Begin and duration, in microseconds, of the slices of a method.
fn slices(trace: &Value, method: &str) -> Vec<(f64, f64)> {
    let events = trace["traceEvents"].as_array().into_iter().flatten();
    let named = events.filter(|e| e["name"].as_str().is_some_and(|name| name.ends_with(method)));
    named.filter_map(|e| Some((e["ts"].as_f64()?, e["dur"].as_f64()?))).collect()
}

#[test]
fn a_request_that_floods_is_one_call_with_its_stages_and_says_what_was_held_back() {
    for jdk in jdks() {
        let place = Place::new();
        let (incident, trace) = (place.file("hot.lkb"), place.file("hot.json"));
        let (incident, trace) = (incident.display().to_string(), trace.display().to_string());
        // The stages are not timed: only what the records say keeps them in one piece.
        let options = format!("budget=3%,learned=off,slow=Hot.request:400ms,tail=50ms,out={incident}");
        let mut running = Java::new(jdk, &place, &["Hot"]).agent(&options).start();
        running.until("ready");
        running.ask("request 1000", "did request 1000");
        running.error_line("[lookback] slow call");
        let ran = running.end().ok();
        assert!(!ran.out.contains("wrongly"), "{}", ran.out);
        place.lookback(&["convert", &incident, "-o", &trace]).ok();
        let trace: Value = serde_json::from_slice(&std::fs::read(&trace).expect("written")).expect("JSON");
        let (request, stages) = (slices(&trace, "Hot.request"), slices(&trace, "Hot.stage"));
        assert_eq!(request.len(), 1, "{request:?}");
        // Where the second begins may be in a gap; but the first is no row of pieces.
        let longest = stages.iter().map(|s| s.1).fold(0.0, f64::max);
        assert!(stages.len() <= 3 && longest > 450e3 && longest < request[0].1, "{stages:?} in {request:?}");
        let report = place.lookback(&["report", &incident, "--text-only"]).ok();
        assert!(report.out.contains("held back by the brake"), "{}", report.out);
    }
}
