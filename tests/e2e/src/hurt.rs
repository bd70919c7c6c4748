//! Programs made to hurt: what costs a tracer most, or what makes it hold on to what the program has let go.
//!
//! The constraint that shaped it: each is compared with a run without the agent, its output line by line, and its
//! memory by a bound that a leak of what was repeated would exceed many times.

use crate::support::{Java, Jdk, Place, Running, artifacts, jdks};
use serde_json::Value;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// What a program said that is the same in every run, and the figures that are not.
#[derive(Debug)]
struct Said {
    same: Vec<String>,
    measured: Vec<String>,
}

impl Said {
    /// The figure behind these words.
    #[track_caller]
    fn figure(&self, words: &str) -> u64 {
        let of = |line: &String| line.split_once(words)?.1.split_whitespace().next()?.parse().ok();
        self.measured.iter().find_map(of).unwrap_or_else(|| panic!("no `{words}` in {self:?}"))
    }
}

fn said(out: &str) -> Said {
    let (measured, same) = out.lines().map(str::to_owned).partition(|l| l.starts_with("measured "));
    Said { same, measured }
}

fn program<'a>(jdk: &'a Jdk, place: &'a Place) -> Java<'a> {
    Java::new(jdk, place, &["Hurt"])
}

/// Has the program do this and end.
#[track_caller]
fn run(java: &Java<'_>, command: &str) -> Said {
    let mut running = java.start();
    running.ask(command, &format!("did {command}"));
    said(&running.end().ok().out)
}

/// Does this with everything traced and without the agent; what is the same in every run is the same.
#[track_caller]
fn with_and_without(jdk: &Jdk, command: &str) -> (Said, Said) {
    let place = Place::new();
    let without = run(&program(jdk, &place), command);
    let with = run(&program(jdk, &place).agent("trivial=0"), command);
    assert_eq!(with.same, without.same, "JDK {}", jdk.version);
    println!("JDK {}, {command}: with {:?}, without {:?}", jdk.version, with.measured, without.measured);
    (with, without)
}

#[test]
fn a_small_method_that_many_threads_call_without_pause_is_dropped_and_told() {
    const CALLS: u64 = 3_000_000;
    const THREADS: usize = 16;
    for jdk in jdks() {
        let place = Place::new();
        // Of the options, only where things lie is not what it is by itself.
        let options =
            format!("region={},learned={}", place.region().display(), place.file("profile").display());
        let mut running = program(jdk, &place).bare_agent(&options).start();
        let command = format!("tight {CALLS}");
        let is_dropped = (0..120).any(|_| {
            running.ask(&command, &format!("did {command}"));
            let dropped = place.status(running.pid)["governing"]["dropped"].to_string();
            dropped.contains("Hurt$Small.step")
        });
        assert!(is_dropped, "{:#}", place.status(running.pid)["governing"]);
        let told = place.lookback(&["status", &running.pid.to_string()]).ok();
        let says = ["not traced, which would cost more", "Hurt$Small.step, "];
        assert!(says.iter().all(|words| told.out.contains(words)), "{}", told.out);
        let said = said(&running.end().ok().out);
        let sums = vec![(CALLS * (CALLS - 1) / 2).to_string(); THREADS].join(", ");
        let answers: Vec<_> = said.same.iter().filter(|l| l.starts_with("tight")).collect();
        assert!(
            !answers.is_empty() && answers.iter().all(|a| **a == format!("tight [{sums}]")),
            "{answers:?}"
        );
    }
}

#[test]
fn fifty_thousand_generated_classes_do_no_harm_and_what_does_not_fit_is_counted() {
    const CLASSES: u64 = 50_000;
    /// Of the pattern: four, with its constructor, which `trivial=0` traces as well, five.
    const METHODS: u64 = 5;
    // One JDK: what is tested is our own accounts, and it takes the seconds of 200,000 methods.
    let Some(jdk) = artifacts::jdk(17).or_else(|| jdks().first()) else { return };
    let command = format!("classes {CLASSES}");
    // The heap is taken at once, so that its growth is not mistaken for the agent's.
    let memory = ["-Xms256m", "-XX:+AlwaysPreTouch"];
    let run = |place: &Place, agent: Option<&str>| {
        let java = program(jdk, place).options(&memory);
        let mut running = agent.map_or(java.clone(), |options| java.agent(options)).start();
        running.ask(&command, &format!("did {command}"));
        let own = running.own_kib();
        let status = agent.map(|_| place.status(running.pid));
        (said(&running.end().ok().out), own, status)
    };
    let (place, roomy, small) = (Place::new(), Place::new(), Place::new());
    let (without, own_without, _) = run(&place, None);

    let (with, own_with, told) = run(&roomy, Some("trivial=0,ring=256m"));
    assert_eq!(with.same, without.same);
    let told = told.expect("the agent answers");
    assert_eq!(told["losses"]["symbols that did not fit"], Value::Null, "{told:#}");
    let count = if jdk.is_extended { "methods traced by the VM" } else { "methods traced" };
    assert!(told["classes"][count].as_u64() >= Some(CLASSES * METHODS), "{told:#}");
    let bytes = (own_with.saturating_sub(own_without) << 10) / (CLASSES * METHODS);
    println!("JDK {}: {bytes} bytes a traced method beside the region", jdk.version);
    assert!(bytes < 2_048, "{own_with} KiB with, {own_without} KiB without: {bytes} bytes a method");

    let (with, _, told) = run(&small, Some("trivial=0,ring=8m,quiet=on"));
    assert_eq!(with.same, without.same);
    let told = told.expect("the agent answers");
    let lost = told["losses"]["symbols that did not fit"].as_u64().unwrap_or(0);
    let refused = told["classes"]["classes without room for symbols"].as_u64().unwrap_or(0);
    // A class is lost as a whole.
    assert!(refused > 0 && refused < CLASSES && lost == refused * METHODS, "{told:#}");
}

#[test]
fn class_loaders_are_collected_while_their_classes_are_traced() {
    for jdk in jdks() {
        let (with, without) = with_and_without(jdk, "loaders 1500");
        assert!(with.same.iter().any(|l| l == "loaders 1500 of which stay 0"), "{with:?}");
        // A loader with its one class takes some 8 KiB: 1,500 that stay would take 12 MiB.
        let (with, without) = (with.figure("class KiB "), without.figure("class KiB "));
        assert!(with < without + 2_048, "{with} KiB of classes, {without} KiB without");
    }
}

#[test]
fn a_stack_that_overflows_a_thousand_times_is_caught_as_often_and_as_deep() {
    for jdk in jdks() {
        let (with, without) = with_and_without(jdk, "overflows 1000");
        assert!(with.same.iter().any(|l| l == "overflows 1000"), "{with:?}");
        // A frame with trace points is larger by what the compilers keep for them; measured: at most twice as large.
        let (with, without) = (with.figure("depth "), without.figure("depth "));
        assert!(with * 4 > without, "{with} deep, {without} without");
    }
}

#[test]
fn a_million_exceptions_as_control_flow_are_thrown_and_caught() {
    for jdk in jdks() {
        let (with, _) = with_and_without(jdk, "throws 1000000");
        // Half of them say "odd", half "even".
        assert!(with.same.iter().any(|l| l == "throws -3500000"), "{with:?}");
    }
}

/// Two classes rewritten a thousand times would take 2 x 1,000 x some 4 KiB if their old forms stayed, and more as
/// compiled code: 8 MiB. The figures of equal runs differ by half a MiB.
const STAYS_KIB: u64 = 2_048;

#[test]
fn a_thousand_retransformations_leave_no_class_and_no_code_behind() {
    for jdk in jdks() {
        let place = Place::new();
        let other = format!("-javaagent:{}", artifacts::java_agent("Hurt", place.path()).display());
        let java = program(jdk, &place).option(other);
        let without = run(&java, "retransform 1000");
        let mut running = java.agent("trivial=0").start();
        running.ask("retransform 1000", "did retransform 1000");
        // The extended VM's trace points need no rewriting, but the class is handed over as often.
        let count = if jdk.is_extended { "classes seen" } else { "classes rewritten" };
        let rewritten = place.status(running.pid)["classes"][count].as_u64();
        assert!(rewritten >= Some(2_000), "it was ours to rewrite: {rewritten:?}");
        let with = said(&running.end().ok().out);
        assert_eq!(with.same, without.same);
        println!("JDK {}: with {:?}, without {:?}", jdk.version, with.measured, without.measured);
        for words in ["class KiB ", "code KiB "] {
            let (with, without) = (with.figure(words), without.figure(words));
            assert!(with < without + STAYS_KIB, "{words}{with}, without {without}");
        }
    }
}

#[test]
fn switching_tracing_off_and_on_again_and_again_leaves_nothing_behind() {
    const TIMES: usize = 15;
    for jdk in jdks() {
        let place = Place::new();
        let mut running = program(jdk, &place).agent("trivial=0").start();
        // The region is there once the program runs; the socket once it answers.
        running.ask("throws 10", "did throws 10");
        let socket = place.runtime().join(format!("{}.sock", running.pid));
        let ask = |request: &str, running: &mut Running| {
            let mut stream = UnixStream::connect(&socket).expect("the agent listens");
            stream.write_all(format!("{{\"cmd\":\"{request}\"}}\n").as_bytes()).expect("it reads");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("it answers");
            assert!(answer.contains("\"answer\":\"done\""), "{answer}");
            running.ask("throws 1000", "did throws 1000");
        };
        let mut measured = Vec::new();
        for _ in 0..2 {
            for _ in 0..TIMES {
                ask("stop", &mut running);
                ask("start", &mut running);
            }
            running.ask("loaders 1", "did loaders 1");
            let classes = place.status(running.pid)["classes"]["classes rewritten"].as_u64().unwrap_or(0);
            measured.push(classes);
        }
        assert!(measured[1] > measured[0] + TIMES as u64, "each start rewrites: {measured:?}");
        let said = said(&running.end().ok().out);
        let at = |n: usize| Said { same: Vec::new(), measured: vec![said.measured[n].clone()] };
        // Both lines are told after a collection.
        let (half, whole) = (said.measured.len() / 2, said.measured.len() - 1);
        for words in ["class KiB ", "code KiB "] {
            let (before, after) = (at(half).figure(words), at(whole).figure(words));
            println!("JDK {}: {words}{before}, then {after}", jdk.version);
            assert!(after < before + STAYS_KIB, "{words}{before}, then {after}");
        }
    }
}
