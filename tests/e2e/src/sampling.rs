//! `lookback profile` and the option `sample`: what samplers find of threads of which is known where they are.

use crate::support::{Java, Jdk, Place, Recorded, Running, artifacts, jdks};
use lookback_analysis::{Recording, ThreadTrack};
use lookback_format::sample::{Activity, Engine};
use std::collections::BTreeMap;

/// Frames of recursion in the program's thread `deep`.
const DEPTH: usize = 300;

fn start(jdk: &Jdk, place: &Place, agent: Option<&str>) -> Running {
    start_with(jdk, place, agent, 1)
}

/// Starts the program with so many threads that wait.
fn start_with(jdk: &Jdk, place: &Place, agent: Option<&str>, idle: usize) -> Running {
    let java = Java::new(jdk, place, &["Sampled", &DEPTH.to_string(), &idle.to_string()]);
    // Threads sample themselves at trace points of bytecode alone; and where nothing is inlined, AsyncGetCallTrace loses most
    // samples of small methods, and gives some without their callers: it does not walk from a frame that is half there.
    let java = if jdk.is_extended { java.option("-XX:-LookbackTracing").option("-XX:+Inline") } else { java };
    let mut running = match agent {
        Some(options) => java.agent(options).start(),
        None => java.start(),
    };
    running.until("ready");
    running
}

/// The engines that ask at each tick which threads run.
fn engines_of_running_threads(jdk: &Jdk) -> impl Iterator<Item = Engine> {
    let extended = jdk.is_extended.then_some([Engine::Partial, Engine::PartialIncremental]);
    std::iter::once(Engine::Handshake).chain(extended.into_iter().flatten())
}

/// Takes a profile with these options, and reads it.
#[track_caller]
pub(crate) fn profile(place: &Place, running: &Running, options: &[&str]) -> Recorded {
    let out = place.file("profile.lkb");
    let (pid, target) = (running.pid.to_string(), out.display().to_string());
    let args = [&["profile", &pid, "-o", &target, "--force"][..], options].concat();
    place.lookback(&args).ok();
    Recorded::read(&out)
}

/// All samples: the thread, its methods innermost first, and what it did.
fn samples(r: &Recording) -> impl Iterator<Item = (&ThreadTrack, Vec<String>, Activity)> {
    let s = &r.samples;
    (0..s.len()).map(move |i| {
        let thread = &r.threads[r.thread(s.thread[i]).expect("a thread of each sample")];
        let frames = s.contexts.frames(s.context[i]).map(|c| r.methods.full(s.contexts.method[c.at()]));
        (thread, frames.collect(), s.activity[i])
    })
}

/// The samples of each thread by its name: methods outermost first, without the JDK's, and what it did.
pub(crate) fn stacks(r: &Recording) -> BTreeMap<String, Vec<(Vec<String>, Activity)>> {
    let mut found: BTreeMap<String, Vec<(Vec<String>, Activity)>> = BTreeMap::new();
    for (thread, mut frames, did) in samples(r) {
        frames.retain(|name| name.starts_with("Sampled$") && !name.contains("$$Lambda"));
        frames.reverse();
        found.entry(thread.name.clone()).or_default().push((frames, did));
    }
    found
}

/// Checks what is known of the program's threads; engines that find running threads alone find no other.
#[track_caller]
fn check(r: &Recording, engine: Engine, what: &str) {
    let sampling = r.manifest.sampling.as_ref().expect("facts of the sampling");
    assert_eq!(sampling.engine, engine, "{what}");
    assert_eq!(sampling.samples, r.samples.len() as u64, "{what}");
    let found = stacks(r);
    let of = |thread: &str| found.get(thread).map(Vec::as_slice).unwrap_or_default();
    for (thread, outermost) in [("busy", "Sampled$Busy.outer"), ("twice", "Sampled$Twice.turns")] {
        assert!(of(thread).len() >= 10, "{what}: {thread} has {} samples", of(thread).len());
        for (frames, _) in of(thread) {
            assert_eq!(frames[0], outermost, "{what}: {thread}: {frames:?}");
            assert!(frames.len() <= 4, "{what}: {thread}: {frames:?}");
        }
    }
    for (frames, _) in of("deep") {
        let down = frames.iter().filter(|name| *name == "Sampled$Deep.down").count();
        assert_eq!(down, DEPTH + 1, "{what}: {frames:?}");
    }
    assert!(!of("deep").is_empty(), "{what}");
}

#[test]
fn each_engine_finds_threads_where_they_are() {
    for jdk in jdks() {
        let place = Place::new();
        let running = start(jdk, &place, None);
        let stock = [Engine::Handshake, Engine::Safepoint, Engine::Signal];
        let extended =
            [Engine::Partial, Engine::Incremental, Engine::PartialIncremental, Engine::IncrementalSignal];
        let extended = jdk.is_extended.then_some(extended).into_iter().flatten();
        for engine in stock.into_iter().chain(extended) {
            let what = format!("JDK {}, {}", jdk.version, engine.word());
            let options = ["-d", "2s", "-i", "5ms", "--engine", engine.word()];
            let recorded = profile(&place, &running, &options);
            let r = recorded.analysed();
            check(r, engine, &what);
            let found = stacks(r);
            match found.get("idle") {
                Some(idle) if matches!(engine, Engine::Safepoint | Engine::Incremental) => {
                    assert!(idle.iter().all(|(_, did)| *did == Activity::Waiting), "{what}");
                    assert!(
                        idle.iter().all(|(frames, _)| frames == &["Sampled$Idle.rest"]),
                        "{what}: {idle:?}"
                    );
                }
                idle => assert!(idle.is_none() && engine != Engine::Safepoint, "{what}: {idle:?}"),
            }
            // The agent came for this and left: nothing of it is there.
            assert!(!place.runtime().join(format!("{}.sock", running.pid)).exists(), "{what}");
        }
        running.end().ok();
    }
}

#[test]
fn threads_that_wait_take_no_sample_of_those_that_run() {
    for jdk in jdks() {
        let place = Place::new();
        let running = start_with(jdk, &place, None, 60);
        for engine in engines_of_running_threads(jdk) {
            let options = ["-d", "2s", "-i", "5ms", "--engine", engine.word()];
            let recorded = profile(&place, &running, &options);
            let r = recorded.analysed();
            let taken = r.samples.len() as u64;
            let requests = r.manifest.sampling.as_ref().expect("facts of the sampling").requests;
            // A request finds as many threads as there are cores that nobody else has; one in ten if those that wait took turns
            // with the three that run.
            let what = format!("JDK {}, {}: {taken} samples of {requests}", jdk.version, engine.word());
            assert!(requests >= 50 && taken * 4 >= requests, "{what}");
        }
        running.end().ok();
    }
}

#[test]
fn threads_that_wake_for_moments_take_samples_in_proportion_to_their_time() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = Java::new(jdk, &place, &["Wakers"]).start();
        running.until("ready");
        // What they used while this engine sampled: others on the machine hold threads up, now more and now less.
        let used = |running: &mut Running| -> f64 {
            running.say("used");
            let told = running.line().expect("it runs");
            told.strip_prefix("used ").and_then(|share| share.parse().ok()).expect("what is used")
        };
        for engine in engines_of_running_threads(jdk) {
            let options = ["-d", "4s", "-i", "10ms", "--engine", engine.word()];
            used(&mut running);
            let recorded = profile(&place, &running, &options);
            let used = used(&mut running);
            let (mut wakers, mut all) = (0, 0);
            for (thread, ..) in samples(recorded.analysed()) {
                let is_waker = thread.name == "waker";
                wakers += u32::from(is_waker);
                all += u32::from(is_waker || thread.name == "busy");
            }
            assert!(all >= 200, "JDK {}, {}: {all} samples", jdk.version, engine.word());
            let share = f64::from(wakers) / f64::from(all);
            let what = format!("JDK {}, {}: {share:.3}, by the clocks {used:.3}", jdk.version, engine.word());
            assert!((share - used).abs() < 0.2, "{what}");
        }
        running.end().ok();
    }
}

#[test]
fn threads_that_compute_in_native_code_are_found_there() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = Java::new(jdk, &place, &["Native"]).start();
        running.until("ready");
        for engine in engines_of_running_threads(jdk) {
            let options = ["-d", "2s", "-i", "5ms", "--engine", engine.word()];
            let recorded = profile(&place, &running, &options);
            let (mut taken, mut in_native) = (0, 0);
            for (thread, frames, did) in samples(recorded.analysed()) {
                let innermost = frames.first().expect("a frame");
                if thread.name == "native" {
                    assert_eq!(did, Activity::Running);
                    taken += 1;
                    in_native += usize::from(innermost == "java.util.zip.Deflater.deflateBytesBytes");
                }
            }
            let what = format!("JDK {}, {}: {in_native} of {taken}", jdk.version, engine.word());
            // Of 400 requests, on a machine on which others compute as well.
            assert!(taken >= 100 && in_native * 10 >= taken * 9, "{what}");
        }
        running.end().ok();
    }
}

#[test]
fn virtual_threads_are_sampled_by_their_own_names() {
    const WORKERS: usize = 5;
    let Some(jdk) = artifacts::jdk_with_virtual_threads() else { return };
    let place = Place::new();
    let mut running = Java::new(jdk, &place, &["Mounted", &WORKERS.to_string()]).start();
    running.until("ready");
    // The second session finds nothing that the first has left.
    for _ in 0..2 {
        let recorded = profile(&place, &running, &["-d", "2s", "-i", "2ms", "--engine", "handshake"]);
        let mut by_worker = [0; WORKERS];
        for (thread, names, _) in samples(recorded.analysed()) {
            let worker = (0..WORKERS).find(|n| thread.name.starts_with(&format!("worker-{n} ")));
            let Some(worker) = worker else { continue };
            assert!(thread.key.is_virtual(), "{}", thread.name);
            assert!(names.iter().any(|name| name == "Mounted.outer"), "{names:?}");
            by_worker[worker] += 1;
        }
        assert!(by_worker.iter().all(|&n| n >= 10), "{by_worker:?}");
    }
    running.end().ok();
}

#[test]
fn threads_that_wait_are_sampled_when_that_is_asked_for() {
    let jdk = &jdks()[0];
    let place = Place::new();
    let running = start(jdk, &place, None);
    let recorded = profile(&place, &running, &["-d", "1s", "-i", "5ms", "--all"]);
    let found = stacks(recorded.analysed());
    let idle = found.get("idle").expect("a thread that waits");
    assert!(idle.iter().all(|(_, did)| *did == Activity::Waiting));
    running.end().ok();
}

#[test]
fn a_traced_program_is_sampled_by_itself_and_traced_on() {
    for jdk in jdks() {
        let place = Place::new();
        let running = start(jdk, &place, Some("trivial=0"));
        let recorded = profile(&place, &running, &["-d", "2s", "-i", "5ms", "--engine", "poll"]);
        let r = recorded.analysed();
        let found = stacks(r);
        let busy = found.get("busy").expect("a thread that runs");
        assert!(busy.len() >= 10 && busy.iter().all(|(frames, _)| frames[0] == "Sampled$Busy.outer"));
        let trace_points = recorded.methods.values().any(|m| m.class.contains("LookbackTracePoint"));
        assert!(!trace_points, "JDK {}: trace points are no frames of the program", jdk.version);
        assert_eq!(place.status(running.pid)["tracing"].as_bool(), Some(true));
        running.end().ok();
    }
}

#[test]
fn what_is_not_traced_shows_beside_what_is() {
    for jdk in jdks() {
        let place = Place::new();
        // Attached when each thread is where it stays: on its way there it loads classes, and may be sampled at that.
        let running = start(jdk, &place, None);
        place.attach(running.pid, &["--sample", "5ms", "--trace", "Sampled$Idle.*"]);
        let mut found = BTreeMap::new();
        for _ in 0..100 {
            let recorded = place.dump(running.pid);
            found = stacks(recorded.analysed());
            if found.get("busy").is_some_and(|busy| busy.len() >= 10) {
                break;
            }
        }
        let busy = found.get("busy").expect("samples of a thread that is not traced");
        let outermost =
            |frames: &Vec<String>| frames.first().map(String::as_str) == Some("Sampled$Busy.outer");
        assert!(busy.iter().all(|(frames, _)| outermost(frames)), "JDK {}: {busy:?}", jdk.version);
        running.end().ok();
    }
}

#[test]
fn where_the_time_goes_is_told_in_shares() {
    let jdk = &jdks()[0];
    let place = Place::new();
    let running = start(jdk, &place, None);
    // A stock VM's polls are at the ends of calls and loops, and only signals find a thread wherever it is.
    let recorded = profile(&place, &running, &["-d", "3s", "-i", "4ms", "--engine", "signal"]);
    let found = stacks(recorded.analysed());
    let twice = &found["twice"];
    let within =
        |name: &str| twice.iter().filter(|(frames, _)| frames.iter().any(|f| f == name)).count() as f64;
    let (large, small) = (within("Sampled$Twice.large"), within("Sampled$Twice.small"));
    let share = large / (large + small);
    assert!(
        (0.65..0.85).contains(&share),
        "three quarters of the time, {share:.2} of {} samples",
        large + small
    );
    running.end().ok();
}

#[test]
fn a_profile_is_written_in_the_formats_of_others() {
    let jdk = jdks().last().expect("a JDK");
    let place = Place::new();
    let running = start(jdk, &place, None);
    let pid = running.pid.to_string();
    let take = |name: &str| {
        let args = ["profile", &pid, "-d", "500ms", "-i", "5ms", "-o", name];
        let ran = place.lookback(&args).ok();
        (ran, std::fs::read(place.file(name)).expect("the file"))
    };
    let (ran, html) = take("p.html");
    assert!(ran.out.contains("Sampled$Busy") && ran.out.contains("sampled for"), "{}", ran.out);
    assert!(String::from_utf8_lossy(&html[..200]).contains("<!doctype html>"));
    let (_, collapsed) = take("p.collapsed");
    let collapsed = String::from_utf8(collapsed).expect("text");
    let line = collapsed.lines().find(|l| l.starts_with("busy;")).expect("a line of the thread");
    assert!(
        line.contains(";Sampled$Busy.outer")
            && line.rsplit_once(' ').is_some_and(|(_, n)| n.parse::<u32>().is_ok())
    );
    let (_, pprof) = take("p.pb.gz");
    assert_eq!(pprof[..2], [0x1f, 0x8b]);
    let (_, jfr) = take("p.jfr");
    assert_eq!(jfr[..4], *b"FLR\0");
    // The JDK's own reader, where there is one.
    let tool = jdk.tool("jfr");
    if tool.exists() {
        let out = std::process::Command::new(tool)
            .args(["print", "--events", "jdk.ExecutionSample"])
            .arg(place.file("p.jfr"))
            .output()
            .expect("the JDK's reader runs");
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success() && text.contains("Sampled$Busy.outer"), "{text}");
        assert!(text.contains("busy") && text.contains("STATE_RUNNABLE"), "{text}");
    }
    running.end().ok();
}

#[test]
fn what_cannot_be_is_refused_and_says_why() {
    let jdk = &jdks()[0];
    let place = Place::new();
    let running = start(jdk, &place, None);
    let pid = running.pid.to_string();
    let refused = |args: &[&str], code, says: &[&str]| {
        place.lookback(&[&["profile", &pid, "-d", "1s"][..], args].concat()).fails(code, says);
    };
    if !jdk.is_extended {
        refused(&["--engine", "partial"], 1, &["no partial safepoints", "another engine"]);
    }
    refused(&["--engine", "poll"], 1, &["needs tracing"]);
    refused(&["-i", "1us"], 2, &["100us"]);
    refused(&["-o", "x.unknown"], 2, &["x.unknown"]);
    refused(&["-o", "/no/such/directory/x.html"], 1, &["/no/such/directory"]);
    // Nothing of it stays.
    place.lookback(&["status", &pid]).fails(1, &["not traced"]);
    running.end().ok();
    place.lookback(&["profile", &pid]).fails(1, &["no process"]);
}
