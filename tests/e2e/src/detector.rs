//! A call that is slow, in whatever way, makes one incident that tells which call it was, how long it took
//! and what it waited for.
//!
//! The constraint: times are compared with what the program was told to do, with room above for a busy
//! machine and none below.

use crate::support::{Java, Jdk, Place, Recorded, Running, jdks};
use lookback_format::incident::Trigger;
use lookback_format::symbol::Wait;
use lookback_format::{MethodId, Nanos};
use std::path::PathBuf;

/// How much longer than asked for a call may seem to be on a busy machine.
const SLACK: u64 = 1_500;

/// What an incident's trigger says.
struct Fired {
    method: String,
    id: MethodId,
    start: Nanos,
    millis: u64,
    running: bool,
}

fn fired(recorded: &Recorded) -> Fired {
    let Trigger::Slow { ref rule, method, start, duration, running, .. } = recorded.manifest.trigger else {
        panic!("not fired by a slow call: {:?}", recorded.manifest.trigger)
    };
    assert!(rule.starts_with("slow=Commands$Slow"), "{rule}");
    let millis = duration.0 / 1_000_000;
    Fired { method: recorded.full_name(method), id: method, start, millis, running }
}

/// Starts the program with a rule for its slow calls.
fn commands(jdk: &Jdk, place: &Place, options: &str) -> Running {
    let out = place.file("incident-%n.lkb");
    let java = Java::new(jdk, place, &["Commands"]);
    let java = java.agent(&format!("slow=Commands$Slow.*:200ms,tail=50ms,out={},{options}", out.display()));
    let mut running = java.start();
    running.until("ready");
    running
}

/// Waits until the agent says that it wrote an incident; reads it.
#[track_caller]
fn incident(running: &mut Running, place: &Place, number: u32) -> Recorded {
    let line = running.error_line("[lookback] slow call");
    let file = place.file(&format!("incident-{number}.lkb"));
    assert!(line.contains(&format!("wrote {}", file.display())), "{line}");
    Recorded::read(&file)
}

/// How long the thread of the trigger waited in that way during the call, in milliseconds.
fn waited(recorded: &Recorded, call: &Fired, kind: Wait) -> u64 {
    let Trigger::Slow { thread, .. } = recorded.manifest.trigger else { return 0 };
    let track = recorded.threads.iter().find(|t| t.key == thread).expect("the thread is recorded");
    let (mut since, mut sum) = (None, 0);
    let mut inside = false;
    for step in track.steps(recorded) {
        if step.method == call.id {
            inside = step.entry && step.since >= call.start;
        }
        let is_wait = recorded.methods.get(&step.method).is_some_and(|m| m.wait == kind);
        if inside && is_wait {
            match (step.entry, since) {
                (true, _) => since = Some(step.since),
                (false, Some(begun)) => {
                    sum += step.since.since(begun).0;
                    since = None;
                }
                (false, None) => {}
            }
        }
    }
    sum / 1_000_000
}

#[test]
fn every_kind_of_slow_call_is_caught_and_told_apart() {
    const WAYS: [(&str, Wait); 9] = [
        ("sleep", Wait::Sleep),
        ("busy", Wait::None),
        ("park", Wait::Park),
        ("notify", Wait::ObjectWait),
        ("monitor", Wait::Monitor),
        ("file", Wait::File),
        ("socket", Wait::Socket),
        ("process", Wait::Process),
        ("throw", Wait::Sleep),
    ];
    for jdk in jdks() {
        let place = Place::new();
        let pipe = std::ffi::CString::new(place.file("pipe").display().to_string()).expect("a path");
        // SAFETY: a zero-terminated path.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
        let mut running = commands(jdk, &place, "cooldown=0s");
        let mut failures = Vec::new();
        for (number, (way, wait)) in (1..).zip(WAYS) {
            running.ask(&format!("slow {way} 400"), &format!("did slow {way} 400"));
            let recorded = incident(&mut running, &place, number);
            let call = fired(&recorded);
            let method = if way == "throw" { "thrown" } else { way };
            assert_eq!(call.method, format!("Commands$Slow.{method}"), "{way}");
            assert!((395..400 + SLACK).contains(&call.millis), "{way} took {} ms", call.millis);
            assert!(!call.running, "{way} has ended");
            let waited = waited(&recorded, &call, wait);
            // The other process begins its sleep while this one still starts it.
            let least = if wait == Wait::Process { 100 } else { 350 };
            if wait != Wait::None && !(least..=call.millis + 1).contains(&waited) {
                failures.push(format!("{way}: {waited} of {} ms in {wait:?}", call.millis));
            }
            let verdict = recorded.analysed().trigger_slice();
            assert!(verdict.is_some(), "{way}: the analysis finds the call");
        }
        assert_eq!(failures, Vec::<String>::new(), "JDK {}", jdk.version);
        let ran = running.end().ok();
        assert!(ran.out.contains("caught late"), "{}", ran.out);
    }
}

#[test]
fn a_call_that_still_runs_is_caught_while_it_runs() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = commands(jdk, &place, "hold=300ms");
        running.say("slow sleep 60000");
        let recorded = incident(&mut running, &place, 1);
        let call = fired(&recorded);
        assert_eq!((call.method.as_str(), call.running), ("Commands$Slow.sleep", true));
        assert!((500..500 + SLACK).contains(&call.millis), "it had run for {} ms", call.millis);
        let thread = recorded.listed.iter().find(|t| t.name == "main").expect("main is listed");
        assert!(thread.stack.iter().any(|f| f.contains("Commands$Slow.sleep")), "{:?}", thread.stack);
        assert_eq!(running.end_by(libc::SIGKILL).signal, Some(libc::SIGKILL));
    }
}

#[test]
fn the_outermost_of_nested_slow_calls_is_told_once() {
    let place = Place::new();
    let mut running = commands(&jdks()[0], &place, "cooldown=60s");
    running.ask("slow nested 400", "did slow nested 400");
    let call = fired(&incident(&mut running, &place, 1));
    assert!(
        ["Commands$Slow.nested", "Commands$Slow.sleep"].contains(&call.method.as_str()),
        "{}",
        call.method
    );
    // Within the cooldown nothing like it is written.
    running.ask("slow busy 300", "did slow busy 300");
    running.ask("slow sleep 300", "did slow sleep 300");
    let status = place.lookback(&["status", &running.pid.to_string(), "--json"]).ok();
    let status: serde_json::Value = serde_json::from_str(&status.out).expect("JSON");
    let incidents = status["incidents"].as_array().expect("a list").len();
    let found = status["rules"][0][1].as_u64().expect("a count");
    assert_eq!((incidents, found >= 3), (1, true), "{status:#}");
    running.end().ok();
    assert!(!place.file("incident-2.lkb").exists());
}

#[test]
fn a_small_stall_does_not_hide_the_great_one_behind_it() {
    let place = Place::new();
    let mut running = commands(&jdks()[0], &place, "cooldown=60s");
    running.ask("slow busy 250", "did slow busy 250");
    let first = fired(&incident(&mut running, &place, 1));
    let (great, least) = (first.millis * 3, first.millis * 3 - 5);
    running.ask(&format!("slow sleep {great}"), &format!("did slow sleep {great}"));
    let second = fired(&incident(&mut running, &place, 2));
    assert_eq!((second.method.as_str(), second.running), ("Commands$Slow.sleep", false));
    assert!(second.millis >= least, "{} of {great} ms", second.millis);
    // The like of it again is none.
    running.ask(&format!("slow sleep {great}"), &format!("did slow sleep {great}"));
    running.end().ok();
    assert!(!place.file("incident-3.lkb").exists());
}

#[test]
fn no_more_incidents_are_written_than_allowed() {
    let place = Place::new();
    let mut running = commands(&jdks()[0], &place, "cooldown=0s,incidents=2");
    let read: Vec<Recorded> = (1..=2)
        .map(|number| {
            running.ask("slow sleep 250", "did slow sleep 250");
            incident(&mut running, &place, number)
        })
        .collect();
    assert!(read.iter().all(|r| fired(r).method == "Commands$Slow.sleep"));
    running.ask("slow sleep 250", "did slow sleep 250");
    running.ask("slow sleep 250", "did slow sleep 250");
    let ran = running.end().ok();
    let files: Vec<PathBuf> = (1..5).map(|n| place.file(&format!("incident-{n}.lkb"))).collect();
    assert_eq!(files.iter().filter(|f| f.exists()).count(), 2, "{:?}", ran.agent_lines());
}

#[test]
fn directories_for_incidents_are_made() {
    let place = Place::new();
    let out = place.file("not/there/yet");
    let options = format!("slow=Commands$Slow.*:200ms,tail=20ms,out={}/", out.display());
    let mut running = Java::new(&jdks()[0], &place, &["Commands"]).agent(&options).start();
    running.until("ready");
    running.ask("slow sleep 250", "did slow sleep 250");
    running.error_line("[lookback] slow call");
    let file = out.join(format!("lookback-{}-1.lkb", running.pid));
    assert_eq!(fired(&Recorded::read(&file)).method, "Commands$Slow.sleep");
    running.end().ok();
}

#[test]
fn a_quick_call_makes_no_incident() {
    let place = Place::new();
    let mut running = commands(&jdks()[0], &place, "cooldown=0s");
    running.ask("slow sleep 20", "did slow sleep 20");
    running.ask("work 100000", "did work 100000");
    let ran = running.end().ok();
    assert_eq!(ran.agent_lines().len(), 1, "{:?}", ran.agent_lines());
}

#[test]
fn a_slow_call_right_before_the_end_holds_nothing_up() {
    for jdk in jdks() {
        let place = Place::new();
        // A tail and a hold that are longer than this test may take: the program's end must not wait for them.
        let options = "slow=Commands$Slow.*:100ms,tail=1h,hold=1h,cooldown=0s";
        let mut running = Java::new(jdk, &place, &["Commands"]).agent(options).start();
        running.until("ready");
        running.ask("slow sleep 300", "did slow sleep 300");
        let begun = std::time::Instant::now();
        running.say("exit 7");
        let ran = running.end();
        assert_eq!(ran.code, Some(7), "{ran:#?}");
        assert!(begun.elapsed().as_secs() < 20, "it took {:?} to end", begun.elapsed());
        let names: Vec<_> = std::fs::read_dir(place.path()).expect("the place").flatten().collect();
        let names: Vec<_> = names.iter().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        let parts: Vec<_> = names.iter().filter(|n| n.ends_with(".part")).collect();
        println!("JDK {}: {names:?}", jdk.version);
        assert!(parts.is_empty(), "no half of a file is left: {names:?}");
    }
}
