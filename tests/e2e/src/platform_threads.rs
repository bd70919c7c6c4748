//! Programs of ten thousand platform threads, also such as start and end them in bursts.
//!
//! The constraint that shaped it: more threads than can be traced are no error. Those beyond are counted, the program does
//! the same as without the agent, and what ended leaves its place to the next.

use crate::support::{Java, Jdk, Place, Running, jdks};
use std::time::{Duration, Instant};

const MANY: u64 = 10_000;

fn program<'a>(jdk: &'a Jdk, place: &'a Place) -> Java<'a> {
    // The heap is taken at once, so that its growth is not mistaken for the agent's.
    Java::new(jdk, place, &["Bursts"]).options(&["-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch"])
}

/// Has the program do this, and gives what it said of it but for what is measured.
fn ask(running: &mut Running, command: &str) {
    running.ask(command, &format!("did {command}"));
}

/// Waits until so many threads are traced, or are counted for want of room, and gives both numbers. Those that began unseen are found by
/// the next sweep.
fn traced_and_lost(place: &Place, pid: u32, threads: u64) -> (u64, u64) {
    let begun = Instant::now();
    loop {
        let status = place.status(pid);
        let traced = status["threads"].as_u64().expect("a number");
        let lost = status["losses"]["threads without a slab"].as_u64().unwrap_or(0);
        if traced + lost >= threads {
            return (traced, lost);
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{traced} + {lost} of {threads}: {status:#}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// How many threads a flood has had, once it is over.
fn threads_of_flood(running: &mut Running) -> f64 {
    loop {
        let line = running.line().expect("the flood goes on");
        if let Some(n) = line.strip_prefix("measured ").and_then(|rest| rest.strip_suffix(" threads")) {
            return n.parse().expect("a number");
        }
    }
}

fn same(out: &str) -> Vec<&str> {
    out.lines().filter(|line| !line.starts_with("measured ")).collect()
}

#[test]
fn ten_thousand_threads_at_once_are_traced_as_far_as_there_is_room_and_the_others_are_counted() {
    for jdk in jdks() {
        let place = Place::new();
        // So much that each is seen, however slowly they begin.
        let mut running = program(jdk, &place).agent("budget=50%,learned=off").start();
        ask(&mut running, &format!("gather {MANY}"));
        // A sweep may count none of them again.
        std::thread::sleep(Duration::from_secs(3));
        let (traced, lost) = traced_and_lost(&place, running.pid, MANY);
        let status = place.status(running.pid);
        let own = &status["governing"]["own_percent_of_core"];
        println!("JDK {}: {traced} traced, {lost} without room; own threads {own} % of a core", jdk.version);
        assert!(traced >= 1_000 && (MANY..MANY + 100).contains(&(traced + lost)), "{status:#}");
        let recorded = place.dump(running.pid);
        let with_calls = recorded.threads.iter().filter(|t| recorded.name(t).starts_with("crowd-")).count();
        assert!(with_calls as u64 + 50 >= traced, "{with_calls} of {traced} are in the incident");
        ask(&mut running, "disperse");
        // Their places are free again, for other threads.
        assert!(place.status(running.pid)["threads"].as_u64() < Some(50), "{:#}", place.status(running.pid));
        ask(&mut running, "gather 100");
        let recorded = place.dump(running.pid);
        let names: Vec<&str> = recorded.threads.iter().map(|t| recorded.name(t)).collect();
        assert!(names.contains(&"crowd-99"), "{names:?}");
        ask(&mut running, "disperse");
        let with = running.end().ok();
        let mut bare = program(jdk, &place).start();
        for command in [&format!("gather {MANY}"), "disperse", "gather 100", "disperse"] {
            ask(&mut bare, command);
        }
        assert_eq!(same(&with.out), same(&bare.end().ok().out), "JDK {}", jdk.version);
    }
}

#[test]
fn threads_that_start_and_end_in_bursts_leave_nothing_behind() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = program(jdk, &place).agent("budget=off").start();
        ask(&mut running, "bursts 500 2");
        let before = running.own_kib();
        ask(&mut running, "bursts 500 40");
        let after = running.own_kib();
        println!("JDK {}: {before} KiB anonymous, and {after} after 20,000 threads", jdk.version);
        assert!(after < before + 24 * 1024, "{before} KiB became {after} KiB");
        let status = place.status(running.pid);
        assert!(status["threads"].as_u64() < Some(50), "{status:#}");
        assert_eq!(status["losses"]["threads without a slab"].as_u64().unwrap_or(0), 0, "{status:#}");
        running.end().ok();
    }
}

#[test]
fn threads_that_begin_too_often_pass_unseen_until_they_are_few_again() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = program(jdk, &place).agent("budget=3%,learned=off,threads=150").start();
        let unseen = |pid| place.status(pid)["governing"]["unseen_threads_per_second"].as_f64();
        let until = |pid, wanted: bool, most| {
            let begun = Instant::now();
            while unseen(pid).is_some() != wanted {
                assert!(begun.elapsed() < most, "JDK {}: {:#}", jdk.version, place.status(pid));
                std::thread::sleep(Duration::from_millis(200));
            }
            println!("JDK {}: unseen is {wanted} after {:.1?}", jdk.version, begun.elapsed());
        };
        ask(&mut running, "gather 3");
        running.say("flood 12");
        until(running.pid, true, Duration::from_secs(12));
        let rate = unseen(running.pid).unwrap_or_default();
        std::thread::sleep(Duration::from_secs(3));
        // Those that live on are traced still, and of the others the few that a sweep has found; they are gone at the next.
        assert!(place.status(running.pid)["threads"].as_u64() < Some(12), "{:#}", place.status(running.pid));
        let status = place.lookback(&["status", &running.pid.to_string()]).ok();
        let said = "threads begin a second, too many to see each";
        assert!(status.out.contains(said), "{}", status.out);
        place.dump(running.pid);
        let dumped = place.file("dumped.lkb").display().to_string();
        let report = place.lookback(&["report", &dumped, "--text-only"]).ok().out;
        assert!(report.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{report}");
        let begun = threads_of_flood(&mut running) / 12.0;
        println!("JDK {}: {rate:.0} threads a second were told of {begun:.0}", jdk.version);
        assert!(rate > begun / 10.0 && rate < begun * 10.0, "JDK {}: {rate} of {begun}", jdk.version);
        running.until("did flood 12");
        ask(&mut running, "gather 300");
        let (traced, lost) = traced_and_lost(&place, running.pid, 300);
        println!("JDK {}: of 303 that live on {traced} are traced, {lost} are without room", jdk.version);
        assert!(traced >= 100 && traced + lost < 400, "{traced} + {lost}");
        std::thread::sleep(Duration::from_secs(3));
        let (still, again) = traced_and_lost(&place, running.pid, 300);
        assert_eq!(again, lost, "none is counted again");
        // Of the flood's last threads a sweep may have found a few, as above, which are gone since.
        assert!(still <= 150 && still + 12 > traced, "{still} of {traced}");
        ask(&mut running, "disperse");
        // Meanwhile there is time for the other program.
        let mut bare = program(jdk, &place).start();
        for command in ["gather 3", "flood 12", "gather 300", "disperse", "gather 100", "disperse"] {
            ask(&mut bare, command);
        }
        let bare = bare.end().ok();
        until(running.pid, false, Duration::from_secs(60));
        ask(&mut running, "gather 100");
        let recorded = place.dump(running.pid);
        let crowd = recorded.threads.iter().filter(|t| recorded.name(t).starts_with("crowd-")).count();
        assert!(crowd >= 100, "JDK {}: {crowd} of 100 are traced, and what is left of 3", jdk.version);
        ask(&mut running, "disperse");
        assert!(place.status(running.pid)["threads"].as_u64() < Some(12), "{:#}", place.status(running.pid));
        assert_eq!(same(&running.end().ok().out), same(&bare.out), "JDK {}", jdk.version);
    }
}
