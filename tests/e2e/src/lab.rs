//! The laboratory, from an experiment's file to its answers: real JVMs with the harness in them, and real workloads.
//!
//! The constraint: the machine may be busy, so nothing is said of a figure but what it is made of; that figures are right
//! is for `lookback lab self-check`, on a quiet machine.

use crate::support::process::Permit;
use crate::support::{Place, Ran, artifacts, jdks};
use serde_json::Value;
use std::fs;

/// An experiment that nothing disturbs.
fn experiment(place: &Place, rest: &str) {
    let text = format!(
        r#"name = "small"
invocations = 1
iterations = 2
measured = [2]
size = "small"
metrics = ["task_clock", "cpu", "wall"]
{rest}
[quiet]
steal-percent = 100.0
others-percent = 100.0
swap = "900g"
patience = "1s"
[heap]
bytes = "128m"
"#
    );
    fs::write(place.file("small.toml"), text).expect("it can be written");
}

fn lab(place: &Place, args: &[&str]) -> Ran {
    artifacts::workloads();
    // One of the two JVMs that may run at once is the laboratory's.
    let _permit = Permit::take();
    let mut command = place.command(&[&["lab"], args].concat());
    command
        .env("LOOKBACK_HARNESS", artifacts::harness())
        .env("LOOKBACK_HARNESS_JAR", artifacts::harness_jar());
    command.env("LOOKBACK_WORKLOADS", artifacts::root().join("java/workloads/target"));
    for jdk in jdks() {
        command.env(format!("JAVA_HOME_{}", jdk.version), &jdk.home);
    }
    Ran::of(&mut command)
}

fn records(place: &Place, directory: &str) -> Vec<Value> {
    let text = fs::read_to_string(place.file(directory).join("results.jsonl")).expect("results");
    text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

#[test]
fn an_experiment_leads_to_figures_that_add_up_and_to_a_report() {
    let place = Place::new();
    let versions: Vec<String> = jdks().iter().map(|jdk| jdk.version.to_string()).collect();
    let configurations = format!("configurations = [\"{{{}}}|{{serial,g1|lookback}}\"]", versions.join(","));
    experiment(&place, &format!("run = [\"jackson\", \"lucene-search\"]\n{configurations}"));
    lab(&place, &["run", "small.toml"]).ok();
    let records = records(&place, "lab-results/small");
    assert_eq!(records.len(), 4 * versions.len());
    for record in &records {
        assert_eq!(record["outcome"]["kind"], "ok", "{record:#}");
        let metrics = &record["iterations"][1]["metrics"];
        let metric = |name: &str| metrics[name].as_f64().unwrap_or_else(|| panic!("{name} in {metrics:#}"));
        let roles = ["cpu.mutator", "cpu.gc", "cpu.jit", "cpu.vm", "cpu.tracer"].map(metric);
        let (sum, all) = (roles.iter().sum::<f64>(), metric("cpu"));
        assert!((sum - all).abs() <= 0.001 * all, "{roles:?} of {all}");
        let traced = record["configuration"].as_str().expect("a name").ends_with("lookback");
        assert_eq!(metric("cpu.tracer") > 0.0, traced, "{record:#}");
        assert!(metric("wall") >= metric("wall.pauses"), "{metrics:#}");
        assert_eq!(metrics["latency.p99"].is_number(), record["workload"] == "lucene-search", "{metrics:#}");
    }
    let again = lab(&place, &["run", "small.toml"]).ok();
    assert!(again.out.contains("good"), "{}", again.out);
    assert_eq!(self::records(&place, "lab-results/small"), records, "nothing is run twice");
    lab(&place, &["report", "lab-results/small"]).ok();
    let page = fs::read_to_string(place.file("lab-results/small/report.html")).expect("a page");
    assert!(page.contains("lucene-search"), "{page}");
}

#[test]
fn the_compilers_logs_of_an_experiment_s_workload_are_compared() {
    let place = Place::new();
    let version = jdks()[0].version;
    experiment(
        &place,
        &format!("run = [\"jackson\"]\nconfigurations = [\"{version}|serial{{,|lookback}}\"]"),
    );
    let ran =
        lab(&place, &["jit", "logs", "--experiment", "small.toml", "--workload", "jackson", "--runs", "1"])
            .ok();
    assert!(ran.out.contains("call sites") && ran.out.contains("changed without a tracer"), "{}", ran.out);
    let prior: Value =
        serde_json::from_str(&lab(&place, &["jit", "logs", "--json"]).ok().out).expect("the prior");
    assert!(prior["sites"].as_u64() > Some(0), "{prior:#}");
}

#[test]
fn a_program_is_told_eight_sizes_of_its_heap() {
    let place = Place::new();
    let version = jdks()[0].version;
    experiment(&place, &format!("run = [\"heap-reader\"]\nconfigurations = [\"{version}|serial\"]"));
    let ran = lab(&place, &["sensitivity", "small.toml"]).ok();
    assert!(
        ran.out.contains("heap-reader under") && ran.out.contains("nothing could be compared"),
        "{}",
        ran.out
    );
    let mut cpu: Vec<(String, f64)> = Vec::new();
    for record in records(&place, "lab-results/small-sensitivity") {
        assert_eq!(record["outcome"]["kind"], "ok", "{record:#}");
        let used = record["iterations"][1]["metrics"]["cpu.mutator"].as_f64().expect("a number");
        cpu.push((record["configuration"].as_str().expect("a name").to_owned(), used));
    }
    assert_eq!(cpu.len(), 8);
    let of = |answer: &str| cpu.iter().find(|(name, _)| name.contains(answer)).expect("it was run").1;
    // Told of 128 MiB a quarter of its requests hits its cache, told of 2 GiB all but the first.
    assert!(of("128m:32m") > 2.0 * of("2g:512m"), "{cpu:?}");
}
