//! A program does the same with the agent as without: real workloads compute the same, and the classes of
//! large libraries pass the verifier or fail as they did.
//!
//! The constraint: `-Xverify:all`, so that the VM checks every rewritten method, those of the JDK as well, and
//! `trivial=0`, so that as many methods as possible are rewritten.

use crate::support::{Java, Jdk, Place, Ran, artifacts, jdks};
use std::time::Duration;

const WORKLOADS: [&str; 8] =
    ["h2", "lucene-index", "lucene-search", "xalan", "jackson", "javac", "ecj", "pmd"];

/// A figure that `stats=on` printed.
fn figure(ran: &Ran, name: &str) -> u64 {
    let line = ran.agent_lines().into_iter().find_map(|l| l.strip_prefix(&format!("[lookback] {name}: ")));
    line.and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn workloads_compute_the_same(jdk: &Jdk) {
    let mut verified = 0;
    for name in WORKLOADS {
        let place = Place::new();
        let program = ["dev.lookback.workloads.Main", name, "--iterations", "1", "--size", "small"];
        let options = ["-Xmx512m", "-XX:+UseSerialGC", "-Xverify:all"];
        let java = Java::new(jdk, &place, &program).workloads().only_options(&options);
        // What is compared does not depend on the compilers, and for a short run the first one is quickest.
        let without = java.clone().option("-XX:TieredStopAtLevel=1").run().ok();
        let with = java.agent("trivial=0,stats=on").run().ok();
        // All but the line with the time.
        let lasting = |ran: &Ran| -> Vec<String> {
            ran.out.lines().filter(|l| !l.starts_with("iteration ")).map(str::to_owned).collect()
        };
        assert!(without.out.contains("checksum"), "{without:#?}");
        assert_eq!(lasting(&with), lasting(&without), "{name}");
        assert_eq!(with.own_err(), without.own_err(), "{name}");
        let rewritten = figure(&with, "classes rewritten");
        assert!(rewritten > 5, "{name}: {with:#?}");
        verified += rewritten;
    }
    println!("JDK {}: {} workloads, verified {verified} rewritten classes", jdk.version, WORKLOADS.len());
}

#[test]
fn workloads_compute_the_same_on_jdk_17() {
    artifacts::jdk(17).into_iter().for_each(workloads_compute_the_same);
}

#[test]
fn workloads_compute_the_same_on_jdk_25() {
    artifacts::jdk(25).into_iter().for_each(workloads_compute_the_same);
}

#[test]
fn classes_of_ten_large_libraries_pass_the_verifier() {
    const LIBRARIES: [&str; 12] = [
        "bcprov",
        "clojure",
        "ecj",
        "groovy",
        "guava",
        "hibernate-core",
        "kotlin-stdlib",
        "netty-common",
        "netty-handler",
        "scala-library",
        "spring-context",
        "spring-core",
    ];
    let lib = artifacts::libraries().join("lib");
    let jars = std::fs::read_dir(&lib).expect("the libraries").flatten().map(|e| e.path());
    let mut jars: Vec<String> = jars.map(|p| p.display().to_string()).collect();
    jars.sort();
    let of = |library: &&str| {
        jars.iter().find(|j| j.contains(&format!("/lib/{library}-"))).expect("it was fetched")
    };
    let named: Vec<&str> = LIBRARIES.iter().map(of).map(String::as_str).collect();
    let class_path = format!("{}:{}/*", artifacts::programs().display(), lib.display());
    for jdk in jdks() {
        let place = Place::new();
        let program = [&["LoadAll"][..], &named].concat();
        let options = ["-Xmx512m", "-XX:+UseSerialGC", "-Xverify:all"];
        let java = Java::new(jdk, &place, &program).class_path(&class_path).only_options(&options);
        let java = java.limit(Duration::from_secs(300));
        let java = java.option("-XX:TieredStopAtLevel=1");
        let without = java.run().ok();
        let with = java.agent("trivial=0,stats=on,ring=1g").run();
        with.same_as(&without);
        let last = with.out.lines().last().unwrap_or_default();
        assert!(last.ends_with("verify errors 0"), "{last}");
        // The extended VM's trace points need no rewriting.
        let rewritten = figure(&with, if jdk.is_extended { "classes seen" } else { "classes rewritten" });
        assert!(rewritten > 20_000, "{:?}", with.agent_lines());
        assert_eq!(figure(&with, "classes without room for symbols"), 0);
        println!("JDK {}: {last}; verified {rewritten} rewritten classes", jdk.version);
    }
}

#[test]
fn a_program_sees_itself_as_it_was_written() {
    for jdk in jdks() {
        for options in ["trivial=0", "trivial=0,slow=Mirror*.*:1h", "tracing=off"] {
            let place = Place::new();
            let java = Java::new(jdk, &place, &["Mirror"]).option("-Xverify:all");
            let without = java.run().ok();
            let with = java.agent(options).run();
            with.same_as(&without);
            assert_eq!(with.own_err(), without.own_err());
            assert!(with.out.contains("Mirror$Plain.deep:"), "it shows stack traces: {}", with.out);
        }
    }
}
