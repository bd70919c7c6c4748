//! A program that was started without the agent is traced from the moment of `lookback attach` on, can be
//! asked, stopped and started, and its threads are told apart.

use crate::support::{Java, Jdk, Place, Ran, Recorded, Running, artifacts, jdks};
use std::sync::atomic::{AtomicBool, Ordering};

/// Starts the program without the agent, and attaches it.
fn attached(jdk: &Jdk, place: &Place, options: &[&str]) -> Running {
    let mut running = Java::new(jdk, place, &["Commands"]).start();
    running.until("ready");
    running.ask("work 1000", "did work 1000");
    place.attach(running.pid, &[&["--trivial", "0", "--budget", "off"][..], options].concat());
    // The answer came before the last class was rewritten.
    running.error_line("[lookback] pid");
    running
}

/// How many threads are traced.
fn threads(place: &Place, running: &Running) -> u64 {
    place.status(running.pid)["threads"].as_u64().expect("a number")
}

/// How often a thread called these methods, one after the other, at the end of its records.
fn entries(recorded: &Recorded, thread: &str, method: &str) -> usize {
    let track = recorded.thread(thread);
    recorded.lines(track, "").iter().filter(|l| **l == format!("E {method}")).count()
}

#[test]
fn a_running_program_is_traced_from_the_attachment_on() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = attached(jdk, &place, &["--slow", "Commands$Slow.*:200ms", "--tail", "50ms"]);
        running.ask("work 5000", "did work 5000");
        let recorded = place.dump(running.pid);
        assert_eq!(entries(&recorded, "main", "Commands$Job.one"), 5_000, "JDK {}", jdk.version);
        assert_eq!(entries(&recorded, "main", "Commands$Job.many"), 1);
        assert_eq!(recorded.gaps(), Vec::<String>::new());

        let told = place.status(running.pid);
        assert_eq!(told["pid"].as_u64(), Some(u64::from(running.pid)));
        assert_eq!(told["program"].as_str(), Some("Commands"), "{told:#}");
        assert_eq!(told["tracing"].as_bool(), Some(true));
        assert!(told["jvm"].as_str().is_some_and(|j| j.contains(&format!(" {}", jdk.version))), "{told:#}");
        assert!(told["threads"].as_u64().is_some_and(|n| (3..40).contains(&n)), "{told:#}");
        assert!(told["uptime_seconds"].as_f64().is_some_and(|s| s > 0.0 && s < 600.0), "{told:#}");
        assert_eq!(told["losses"].as_object().map(|l| l.len()), Some(0), "{told:#}");
        assert_eq!(told["rules"][0][0].as_str(), Some("Commands$Slow.*:200ms"), "{told:#}");
        assert_eq!(told["incidents"].as_array().map(Vec::len), Some(1), "{told:#}");
        let options = told["options"].as_array().expect("a list");
        assert!(options.iter().any(|o| o == "trivial=0 (given)"), "{told:#}");

        let listed = place.lookback(&["ls"]).ok();
        let pid = running.pid.to_string();
        assert!(listed.out.lines().any(|l| l.contains(&pid) && l.contains("Commands")), "{}", listed.out);

        running.ask("slow sleep 400", "did slow sleep 400");
        let line = running.error_line("[lookback] slow call took");
        assert!(line.contains("Commands$Slow"), "{line}");
        let ran = running.end().ok();
        assert!(ran.out.ends_with("sum 12997000\n"), "{}", ran.out);
        assert!(!place.region().exists(), "the region is gone with the program");
    }
}

#[test]
fn what_happens_between_stop_and_start_is_not_recorded() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = attached(jdk, &place, &[]);
        let pid = running.pid.to_string();
        running.ask("work 100", "did work 100");
        place.lookback(&["stop", &pid]).ok();
        // Threads stop at their next exit.
        running.ask("work 1", "did work 1");
        assert_eq!(place.status(running.pid)["tracing"].as_bool(), Some(false));
        let before = entries(&place.dump(running.pid), "main", "Commands$Job.one");
        assert!((100..=101).contains(&before), "{before}");
        running.ask("work 3000", "did work 3000");
        running.ask("threads unseen 5", "did threads unseen 5");
        let recorded = place.dump(running.pid);
        assert_eq!(entries(&recorded, "main", "Commands$Job.one"), before);
        assert!(!recorded.threads.iter().any(|t| recorded.name(t).starts_with("unseen")));
        place.lookback(&["start", &pid]).ok();
        running.ask("work 500", "did work 500");
        running.ask("threads seen 5", "did threads seen 5");
        assert_eq!(place.status(running.pid)["tracing"].as_bool(), Some(true));
        let recorded = place.dump(running.pid);
        assert_eq!(entries(&recorded, "main", "Commands$Job.one"), before + 500);
        assert_eq!(recorded.threads.iter().filter(|t| recorded.name(t).starts_with("seen")).count(), 5);
        running.end().ok();
    }
}

/// Where a thread's cursor is to be, there is the size of its stack until then.
#[test]
fn threads_that_began_before_tracing_was_first_turned_on_are_traced_from_then_on() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = Java::new(jdk, &place, &["Bursts"]).agent("tracing=off,trivial=0").start();
        running.until("ready");
        let pid = running.pid.to_string();
        running.ask("gather 40", "did gather 40");
        assert_eq!(threads(&place, &running), 0);
        place.lookback(&["start", &pid]).ok();
        running.ask("disperse", "did disperse");
        running.ask("bursts 10 2", "did bursts 10 2");
        let recorded = place.dump(running.pid);
        let little: usize = recorded
            .threads
            .iter()
            .filter(|track| recorded.name(track).starts_with("crowd-"))
            .map(|track| recorded.lines(track, "Bursts").iter().filter(|l| *l == "E .little").count())
            .sum();
        assert_eq!(little, 40 + 2 * 2 * 10, "JDK {}", jdk.version);
        running.end().ok();
    }
}

#[test]
fn threads_that_end_while_tracing_is_off_leave_nothing_behind() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = attached(jdk, &place, &[]);
        let pid = running.pid.to_string();
        let before = threads(&place, &running);
        running.ask("hold held 60", "did hold held 60");
        // A thread that was started begins when the machine lets it: each look takes a few milliseconds.
        let mut looks = (0..500).map(|_| threads(&place, &running));
        let with = looks.find(|n| *n >= before + 60);
        assert!(with.is_some(), "JDK {}: the threads are not traced", jdk.version);
        place.lookback(&["stop", &pid]).ok();
        running.ask("release", "did release");
        place.lookback(&["start", &pid]).ok();
        running.ask("work 10", "did work 10");
        let without = threads(&place, &running);
        assert!(without <= before + 1, "JDK {}: {before} threads, then {without}", jdk.version);
        running.end().ok();
    }
}

#[test]
fn threads_are_told_by_their_beginnings_ends_and_names() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = attached(jdk, &place, &[]);
        running.ask("threads brief 200", "did threads brief 200");
        running.ask("gc", "did gc");
        running.ask("hold staying 3", "did hold staying 3");
        running.ask("rename chief", "did rename chief");
        // The name is looked at once a second, or when tracing is told to go on.
        place.lookback(&["start", &running.pid.to_string()]).ok();
        let recorded = place.dump(running.pid);
        for i in 0..200 {
            let track = recorded.thread(&format!("brief-{i}"));
            let (started, ended) = (track.started.as_ref(), track.ended.as_ref());
            let (started, ended) = (started.expect("it began"), ended.expect("it ended"));
            assert!(started.at <= ended.at && started.os_tid == ended.os_tid && started.os_tid != 0);
            assert_eq!(entries(&recorded, &format!("brief-{i}"), "Commands$Job.one"), 10, "brief-{i}");
        }
        for i in 0..3 {
            let track = recorded.thread(&format!("staying-{i}"));
            assert!(track.ended.is_none() && track.started.is_some());
        }
        assert_eq!(entries(&recorded, "chief", "Commands$Job.many"), 0);
        assert!(!recorded.pauses.is_empty(), "the collection is recorded");
        assert!(recorded.pauses.iter().all(|(from, to)| from < to));
        running.ask("release", "did release");
        running.end().ok();
    }
}

#[test]
fn very_many_threads_come_and_go_while_the_agent_looks_at_them() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = attached(jdk, &place, &[]);
        let before = threads(&place, &running);
        running.say("threads churn 4000");
        // Each `start` makes the agent look through all threads, while they begin and end.
        let (done, pid) = (AtomicBool::new(false), running.pid.to_string());
        let looks = std::thread::scope(|scope| {
            let looker = scope.spawn(|| {
                let mut looks = 0;
                // Relaxed: a flag that says when to end, and nothing else.
                while !done.load(Ordering::Relaxed) {
                    place.lookback(&["start", &pid]).ok();
                    looks += 1;
                }
                looks
            });
            running.until("did threads churn 4000");
            done.store(true, Ordering::Relaxed);
            looker.join().expect("every look is answered")
        });
        let after = threads(&place, &running);
        println!(
            "JDK {}: 4000 threads, {looks} looks, {before} traced before and {after} after",
            jdk.version
        );
        assert!(after <= before + 1, "JDK {}: {before} threads before, {after} after", jdk.version);
        running.end().ok();
    }
}

#[test]
fn virtual_threads_run_the_same_and_their_carriers_tracks_stay_whole() {
    let Some(jdk) = artifacts::jdk_with_virtual_threads() else { return };
    let place = Place::new();
    let without = Java::new(jdk, &place, &["Virtual", "10000"]).run().ok();
    let traced = Java::new(jdk, &place, &["Virtual", "10000"]).agent("trivial=0,keep=on");
    let with = traced.run();
    with.same_as(&without);
    let recorded = place.recover();
    let carriers: Vec<_> =
        recorded.threads.iter().filter(|t| recorded.name(t).starts_with("ForkJoinPool-1-worker")).collect();
    assert!(
        !carriers.is_empty(),
        "{:?}",
        recorded.threads.iter().map(|t| recorded.name(t)).collect::<Vec<_>>()
    );
    let mut outers = 0;
    for track in carriers {
        // Nothing in Work blocks, so within it the carrier's records must nest without a fault.
        let lines: Vec<String> = recorded.lines(track, "Virtual$");
        let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|l| l.contains("Work.")).collect();
        assert_eq!(track.missing(), 0);
        let mut rest = &lines[..];
        while let Some((first, more)) = rest.split_first() {
            assert_eq!(*first, "E Work.outer", "{}", recorded.name(track));
            let body = &more[..11];
            for pair in body[..10].chunks(2) {
                assert_eq!(pair, ["E Work.inner", "X Work.inner"]);
            }
            assert_eq!(body[10], "X Work.outer");
            rest = &more[11..];
            outers += 1;
        }
    }
    assert_eq!(outers, 10_000, "each virtual thread's work is on some carrier's track");
    let gaps = recorded.gaps();
    assert_eq!(gaps, Vec::<String>::new());
    println!("{outers} virtual threads' work recorded");
}

#[test]
fn a_second_attachment_says_that_one_is_enough() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = attached(jdk, &place, &[]);
        let again: Ran = place.lookback(&["attach", &running.pid.to_string()]);
        assert_ne!(again.code, Some(0), "{again:#?}");
        assert!(again.err.contains("already"), "{again:#?}");
        running.ask("work 100", "did work 100");
        let recorded = place.dump(running.pid);
        assert_eq!(entries(&recorded, "main", "Commands$Job.one"), 100, "the first one goes on");
        running.end().ok();
    }
}

#[test]
fn a_copy_of_the_agent_does_no_harm_to_the_one_that_runs() {
    for jdk in jdks() {
        let place = Place::new();
        let copy = place.file("libcopied.so");
        std::fs::copy(artifacts::agent(), &copy).expect("a copy");
        let mut running = attached(jdk, &place, &[]);
        let copied = copy.display().to_string();
        let again = place.lookback(&["attach", &running.pid.to_string(), "--agent", &copied]);
        println!("JDK {}: attaching a copy: exit code {:?}: {}", jdk.version, again.code, again.err.trim());
        running.ask("work 100", "did work 100");
        let recorded = place.dump(running.pid);
        assert_eq!(entries(&recorded, "main", "Commands$Job.one"), 100, "the first one goes on");
        running.end().ok();
    }
}

/// HotSpot would interpret the rest of the loop: it never compiles the old form of a method that was rewritten.
#[test]
fn a_class_in_which_a_loop_runs_is_left_as_it_is() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = Java::new(jdk, &place, &["Loop"]).start();
        running.until("ready");
        place.attach(running.pid, &[]);
        running.error_line("[lookback] pid");
        let told = place.status(running.pid);
        let left = &told["classes"]["classes left as they are while a loop in them runs"];
        assert_eq!(left.as_u64(), Some(1), "JDK {}: {told:#}", jdk.version);
        let ran = running.end().ok();
        assert!(ran.out.ends_with("done\n"), "{}", ran.out);
    }
}
