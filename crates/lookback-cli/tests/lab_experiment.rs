//! `lookback lab` with experiments' files: what is said, and with which exit code.

mod support;

use std::fs;
use std::process::Command;
use support::{Place, Ran};

/// The command with a JDK 17 that is made up, and nothing else of the machine's.
fn lab(place: &Place, args: &[&str]) -> Command {
    let home = place.file("jdk");
    for file in ["bin/java", "lib/server/libjvm.so"] {
        let file = home.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    fs::write(home.join("release"), "JAVA_VERSION=\"17.0.1\"\n").unwrap();
    let mut command = place.lookback(&["lab"]);
    command.args(args).env("JAVA_HOME_17", home);
    for name in ["LOOKBACK_HARNESS", "LOOKBACK_HARNESS_JAR", "LOOKBACK_WORKLOADS"] {
        command.env(name, place.file("absent"));
    }
    command
}

#[test]
fn all_problems_of_a_file_are_lines_that_editors_follow() {
    let place = Place::new();
    fs::write(place.file("bad.toml"), "nmae = \"x\"\nrun = [\"h3\"]\nconfigurations = [\"17|g2\"]\n")
        .unwrap();
    let ran = Ran::of(&mut lab(&place, &["check", "bad.toml"]));
    let ran = ran.fails(2, &["cannot be used: 3 problems", "docs/LAB.md"]);
    for line in [
        "bad.toml:1:1: an experiment has no key `nmae`; did you mean `name`?",
        "bad.toml:2:8: unknown workload `h3`; did you mean `h2`?",
        "bad.toml:3:19: unknown modifier `g2`; did you mean `c2`? (in `17|g2`)",
    ] {
        assert!(ran.err.lines().any(|found| found == line), "{line} in {}", ran.err);
    }
    assert_eq!(ran.out, "");
    Ran::of(&mut lab(&place, &["check", "absent.toml"])).fails(1, &["cannot read absent.toml"]);
    Ran::of(&mut lab(&place, &["plan", "bad.toml", "--shard", "3/2"])).fails(2, &["`3/2` is no shard"]);
}

#[test]
fn an_example_is_valid_and_its_plan_tells_what_is_missing() {
    let place = Place::new();
    let example = Ran::of(&mut lab(&place, &["init", "--like", "tracer"])).ok();
    fs::write(place.file("tracer.toml"), example.out).unwrap();
    let checked = Ran::of(&mut lab(&place, &["check", "tracer.toml"])).ok();
    assert!(checked.out.starts_with("tracer.toml is valid: 12 cells, 360 invocations"), "{}", checked.out);
    let plan = Ran::of(&mut lab(&place, &["plan", "tracer.toml", "--shard", "1/2"])).ok();
    for words in [
        "tracer, shard 1/2",
        "17: 17.0.1 in ",
        "180 guessed",
        "It begins with:",
        "Missing before it can run:",
    ] {
        assert!(plan.out.contains(words), "{words} in {}", plan.out);
    }
    let json = Ran::of(&mut lab(&place, &["plan", "tracer.toml", "--json"])).ok();
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["plan"]["cells"].as_array().unwrap().len(), 12);
    assert_eq!(json["estimate"]["invocations_guessed"], 360);
    let plan: lookback_lab::plan::Plan = serde_json::from_value(json["plan"].clone()).unwrap();
    assert_eq!(plan.order.len(), 360);
}

#[test]
fn a_self_check_that_cannot_run_says_what_is_missing() {
    let place = Place::new();
    let check = |args: &[&str]| Ran::of(&mut lab(&place, &[&["self-check", "--quick"], args].concat()));
    check(&["--aa", "0"]).fails(2, &["--aa", "1..=1000"]);
    fs::write(place.file("mine"), "mine").unwrap();
    check(&["--out", "mine"]).fails(1, &["cannot write mine", "try: "]);
    assert_eq!(fs::read_to_string(place.file("mine")).unwrap(), "mine");
    let ran = check(&["--out", "checks"]).fails(1, &["attribution.toml cannot run yet", "`make build`"]);
    assert!(ran.err.contains("lower-bound passed"), "{}", ran.err);
    assert!(ran.err.contains("absent is not there"), "{}", ran.err);
    assert_eq!(ran.out, "");
}

#[test]
fn modifiers_are_listed_with_what_they_add() {
    let place = Place::new();
    let listed = Ran::of(&mut lab(&place, &["modifiers"])).ok();
    assert!(
        listed
            .out
            .lines()
            .any(|line| line.starts_with("genshen") && line.ends_with("ShenandoahGCMode=generational"))
    );
    let json = Ran::of(&mut lab(&place, &["modifiers", "--json"])).ok();
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert!(json.as_array().unwrap().iter().any(|m| m["name"] == "zgc" && m["java"] == "15 or newer"));
}
