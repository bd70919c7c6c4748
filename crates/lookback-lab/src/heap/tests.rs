//! Searches with real processes: a stand-in for `java` that needs so much heap, a noisy one, and a real VM.

use super::*;
use crate::error::{Error, Result};
use crate::machine::{System, allowed};
use crate::plan::{Cell, Jdk, Plan};
use crate::run::tests_support::{java_cell, plan, script};
use std::cell::Cell as Flag;
use std::path::Path;
use std::process::Command;

/// Takes the heap from the options, and counts its runs in the file `runs` beside it.
const HEAD: &str = "
echo run >> \"$(dirname \"$0\")/runs\"
for option; do case $option in
  -Xmx*m) heap=${option#-Xmx}; heap=${heap%m};;
  -Xmx*g) heap=${option#-Xmx}; heap=${heap%g}000;;
esac; done
too_small() { echo 'Terminating due to java.lang.OutOfMemoryError: Java heap space'; exit 3; }
";

fn cell(java: &Path, collector: &str) -> Cell {
    Cell {
        workload: "w".into(),
        jdk: "17".into(),
        configuration: collector.into(),
        collector: Some(collector.into()),
        ..java_cell(java.to_str().unwrap(), &[], "", &["Main"])
    }
}

fn plan_of(cells: Vec<Cell>) -> Plan {
    let jdk = Jdk { name: "17".into(), home: "/jdk".into(), version: "17.0.1".into(), hash: "abc".into() };
    Plan { jdks: vec![jdk], ..plan(cells, 1) }
}

fn finder(dir: &Path) -> Finder {
    Finder {
        file: dir.join("min-heap.jsonl"),
        rule: Rule::new(1 << 30),
        workload: None,
        collector: None,
        again: false,
        harness: None,
    }
}

fn find_all(plan: &Plan, finder: &Finder, stop: &dyn Fn() -> bool) -> Result<Vec<Found>> {
    find(plan, &plan.cells, finder, &mut System::new(&allowed()), stop, &mut |_| {})
}

fn runs(dir: &Path) -> usize {
    std::fs::read_to_string(dir.join("runs")).unwrap_or_default().lines().count()
}

#[test]
fn the_edge_of_a_program_is_found_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let java = script(dir.path(), &format!("{HEAD}[ $heap -ge 23 ] || too_small"));
    let traced =
        Cell { tracer: Some("t".into()), configuration: "g1|t".into(), ..cell(Path::new("/none"), "g1") };
    let epsilon = cell(Path::new("/none"), "epsilon");
    let plan = plan_of(vec![traced, cell(&java, "g1"), epsilon, cell(&java, "zgc")]);
    let finder = finder(dir.path());
    let found = find_all(&plan, &finder, &|| false).unwrap();
    let told: Vec<_> =
        found.iter().map(|f| (f.key.collector.as_str(), f.minimum.as_ref().unwrap().bytes >> 20)).collect();
    assert_eq!(
        told,
        [("g1", 23), ("zgc", 23)],
        "the bare cell stands for the traced one, and epsilon has no minimum"
    );
    let made = runs(dir.path());
    assert_eq!(made as u32, found.iter().map(|f| f.minimum.as_ref().unwrap().runs).sum::<u32>());
    let heaps = Minima::read(&finder.file).unwrap();
    assert_eq!(heaps.bytes(&Key::new("w", &["Main".to_owned()], "abc", "zgc")), Some(23 << 20));
    assert_eq!(heaps.bytes(&Key::new("w", &["Main".to_owned()], "other JDK", "zgc")), None);
    assert!(find_all(&plan, &finder, &|| false).unwrap().iter().all(|found| found.known));
    assert_eq!(runs(dir.path()), made, "what is known is not searched for again");
    let again = Finder { again: true, collector: Some("zgc".into()), ..finder.clone() };
    assert_eq!(find_all(&plan, &again, &|| false).unwrap().len(), 1);
    assert!(runs(dir.path()) > made);
    let none = Finder { collector: Some("cms".into()), ..finder };
    assert!(matches!(find_all(&plan, &none, &|| false), Err(Error::NothingToSearch)));
}

#[test]
fn a_search_that_is_interrupted_goes_on_and_makes_no_run_twice() {
    let dir = tempfile::tempdir().unwrap();
    let java = script(dir.path(), &format!("{HEAD}[ $heap -ge 45 ] || too_small"));
    let plan = plan_of(vec![cell(&java, "g1")]);
    let mut interrupted = 0;
    let found = loop {
        // Each time it is let on by some runs.
        let before = runs(dir.path());
        let ended = find_all(&plan, &finder(dir.path()), &|| runs(dir.path()) >= before + 5);
        match ended {
            Err(Error::Interrupted { done: 0, all: 1 }) => interrupted += 1,
            other => break other.unwrap(),
        }
        assert!(interrupted < 50, "it gets nowhere");
    };
    let minimum = found[0].minimum.as_ref().unwrap();
    assert_eq!(minimum.bytes >> 20, 45);
    assert!(interrupted > 2);
    // The run in which it was interrupted each time has no record and is made again.
    assert_eq!(runs(dir.path()), minimum.runs as usize + interrupted);
}

#[test]
fn a_noisy_program_gets_a_heap_in_which_it_ends_well_as_often_as_the_rule_says() {
    let dir = tempfile::tempdir().unwrap();
    // Below 30 MiB two of three runs fail, in turn.
    let noisy = format!(
        "{HEAD}[ $heap -ge 20 ] || too_small\n[ $heap -ge 30 ] || [ $(($(wc -l < \"$(dirname \"$0\")/runs\") % 3)) = 0 ] || too_small"
    );
    let java = script(dir.path(), &noisy);
    let plan = plan_of(vec![cell(&java, "zgc")]);
    let found = find_all(&plan, &finder(dir.path()), &|| false).unwrap();
    assert_eq!(found[0].minimum.as_ref().unwrap().bytes >> 20, 30);
    let lenient =
        Finder { rule: Rule { passes: 1, of: 3, ..Rule::new(1 << 30) }, again: true, ..finder(dir.path()) };
    let found = find_all(&plan, &lenient, &|| false).unwrap();
    assert_eq!(found[0].minimum.as_ref().unwrap().bytes >> 20, 20);
}

#[test]
fn a_program_that_never_passes_is_told_with_its_failure_and_searched_for_anew() {
    let dir = tempfile::tempdir().unwrap();
    let java = script(dir.path(), &format!("{HEAD}echo broken >&2; exit 9"));
    let small = Finder { rule: Rule::new(20 << 20), ..finder(dir.path()) };
    let plan = plan_of(vec![cell(&java, "g1")]);
    let found = find_all(&plan, &small, &|| false).unwrap();
    let failure = found[0].last_failure.as_ref().unwrap().to_string();
    assert_eq!((&found[0].minimum, failure.as_str()), (&None, "exit code 9: broken"));
    let made = runs(dir.path());
    find_all(&plan, &small, &|| false).unwrap();
    assert_eq!(runs(dir.path()), 2 * made);
    let gone = plan_of(vec![cell(Path::new("/nowhere/java"), "g1")]);
    let stopped = Flag::new(false);
    assert!(matches!(find_all(&gone, &small, &|| stopped.get()), Err(Error::CannotStart { .. })));
}

/// A program that keeps 20 MiB.
const KEEPER: &str = "
public class Keeper {
    public static void main(String[] args) {
        var kept = new byte[160][];
        for (int i = 0; i < kept.length; i++) kept[i] = new byte[(1 << 17) - 64];
        System.out.println(\"iteration 1 keeper 1.0 ms\");
        System.exit(kept[5][0]);
    }
}
";

#[test]
fn a_real_vm_s_minimum_is_a_little_more_than_what_it_keeps() {
    let java = crate::run::tests_support::javas().into_iter().next().expect("a JDK: set JAVA_HOME_17");
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("Keeper.java");
    std::fs::write(&source, KEEPER).unwrap();
    let javac =
        Command::new(java.with_file_name("javac")).arg("-d").args([dir.path(), &source]).status().unwrap();
    assert!(javac.success());
    let mut serial = cell(&java, "serial");
    serial.launch.command = vec!["Keeper".into()];
    let jvm = serial.launch.jvm.as_mut().unwrap();
    jvm.options = ["-XX:+UseSerialGC", "-Xshare:auto", "-XX:TieredStopAtLevel=1"].map(str::to_owned).to_vec();
    jvm.class_path = dir.path().display().to_string();
    let rule = Rule { passes: 1, of: 1, resolution_percent: 10.0, ..Rule::new(256 << 20) };
    let found = find_all(&plan_of(vec![serial]), &Finder { rule, ..finder(dir.path()) }, &|| false).unwrap();
    let mib = found[0].minimum.as_ref().unwrap().bytes >> 20;
    assert!((20..=60).contains(&mib), "{mib} MiB");
}
