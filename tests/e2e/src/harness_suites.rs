//! What benchmark suites call: hosts that follow each suite's protocol, with the suite's own declarations.
//!
//! The constraint: a suite makes a plug-in by its name, some in a class loader of its own, and its generations differ in
//! what they declare.

use crate::support::harness::{file, iterations, lines, program};
use crate::support::{Jdk, Place, artifacts, jdks};
use lookback_harness::report::{Line, Requests};

/// Runs a suite's host; gives what it printed.
#[track_caller]
fn run(jdk: &Jdk, place: &Place, suite: &str, arguments: &[&str]) -> String {
    let java = program(jdk, place, suite, arguments);
    let ran = java.agent_at(artifacts::harness(), &format!("out={}", file(place).display())).run().ok();
    assert_eq!(ran.err, "", "JDK {}", jdk.version);
    ran.out
}

#[track_caller]
fn names(place: &Place) -> Vec<(String, i32)> {
    iterations(place).into_iter().map(|i| (i.name, i.iteration)).collect()
}

fn requests(place: &Place) -> Vec<Requests> {
    let lines = lines(place).into_iter();
    lines.filter_map(|l| if let Line::Requests(r) = l { Some(r) } else { None }).collect()
}

const DACAPO: [&str; 2] = ["org.dacapo.harness.TestHarness", "dev.lookback.harness.DacapoCallback"];

#[test]
fn both_generations_of_dacapo_call_it() {
    for jdk in jdks() {
        for suite in ["dacapo912", "chopin"] {
            let place = Place::new();
            let out = run(jdk, &place, suite, &[&DACAPO[..], &["2", "fop", "xalan"]].concat());
            let each = |name: &str| {
                format!(
                    "{name} starting warmup\nstopped warmup\n{name} PASSED\n{name} starting\nstopped\n{name} PASSED\n"
                )
            };
            assert_eq!(out, each("fop") + &each("xalan"), "{suite}: its own callback works as without");
            let wanted = [("fop", 0), ("fop", 1), ("xalan", 0), ("xalan", 1)];
            assert_eq!(names(&place), wanted.map(|(n, i)| (n.to_owned(), i)), "{suite}");
            assert_eq!(requests(&place), []);
        }
    }
}

#[test]
fn requests_of_chopin_are_those_that_began_and_ended() {
    for jdk in jdks() {
        let place = Place::new();
        run(jdk, &place, "chopin", &[&DACAPO[..], &["2", "requests", "fop"]].concat());
        assert_eq!(iterations(&place).len(), 4);
        let requests = requests(&place);
        let of: Vec<_> = requests.iter().map(|r| (r.name.as_str(), r.iteration)).collect();
        assert_eq!(of, [("requests", 0), ("requests", 1)]);
        for (requests, iteration) in requests.iter().zip(iterations(&place)) {
            assert_eq!(requests.starts.len(), 70_000 - 1, "more than one piece, less one that never ends");
            let wall = iteration.wall_ns() as i64;
            let mut pairs = requests.starts.iter().zip(&requests.ends);
            assert!(pairs.all(|(start, end)| 0 <= *start && start <= end && *end <= wall));
        }
    }
}

#[test]
fn renaissance_finds_it_in_the_jar_and_brackets_the_operation() {
    for jdk in jdks() {
        let place = Place::new();
        let classes = artifacts::harness_programs("renaissance").display().to_string();
        let jar = artifacts::harness_jar().display().to_string();
        // The jar is not on the class path: the suite has a class loader for it.
        let java =
            program(jdk, &place, "renaissance", &["org.renaissance.Suite", &jar, "3"]).class_path(classes);
        let out = format!("out={}", file(&place).display());
        let ran = java.agent_at(artifacts::harness(), &out).run().ok();
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("operation 0\noperation 1\noperation 2\n", ""));
        assert_eq!(names(&place), [0, 1, 2].map(|i| ("philosophers".to_owned(), i)));
    }
}

#[test]
fn workloads_call_it_and_tell_of_their_requests() {
    for jdk in jdks() {
        let place = Place::new();
        let callback = "dev.lookback.harness.WorkloadsCallback";
        let out = run(jdk, &place, "workloads", &["dev.lookback.workloads.Runner", callback, "2"]);
        assert_eq!(out, "done\n");
        assert_eq!(names(&place), [("shop".to_owned(), 0), ("shop".to_owned(), 1)]);
        let counts: Vec<_> = requests(&place).iter().map(|r| (r.iteration, r.starts.len())).collect();
        assert_eq!(counts, [(0, 2), (1, 2)]);
    }
}
