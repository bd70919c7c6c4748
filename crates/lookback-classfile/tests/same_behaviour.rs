//! Programs do the same after rewriting, and every entry has its exit.
//!
//! Constraint: the outputs of the original and the rewritten program are
//! compared byte for byte (line numbers of stack traces are in them), and a
//! recording trace point class checks that exits close the innermost entry of
//! their thread, whatever is thrown.

mod support;

use std::path::Path;

use lookback_classfile::{Scratch, SkipReason, TracePoints, rewrite};
use support::{Jdk, TempDir, TraceAll, java_sources, jdks, run, write_class};

const RECORDER: TracePoints = TracePoints::in_class("recorder/Recorder");

/// Compiles the recorder and the runner into `folder`.
fn compile_tools(jdk: &Jdk, folder: &Path) {
    run(jdk
        .command("javac")
        .arg("-d")
        .arg(folder)
        .arg(java_sources().join("recording/recorder/Recorder.java"))
        .arg(java_sources().join("tools/RunRecorded.java")));
}

/// What a program printed, and the recorder's line.
fn run_program(jdk: &Jdk, main: &str, folders: &[&Path]) -> (String, String) {
    let path = std::env::join_paths(folders).expect("a class path");
    let printed = run(jdk.command("java").args(["-Xverify:all", "-Xshare:auto", "-cp"]).arg(path).args([
        "RunRecorded",
        "main",
        main,
    ]));
    let printed: String =
        printed.lines().filter(|l| !l.contains("deprecated")).map(|l| format!("{l}\n")).collect();
    let (output, recorded) =
        printed.split_once("RECORDED ").unwrap_or_else(|| panic!("no summary:\n{printed}"));
    (output.to_string(), recorded.trim().to_string())
}

fn compare(jdk: &Jdk, program: &str, flags: &[&str], mixed: bool) {
    let dir = TempDir::new(&format!("{program}-{}", jdk.release));
    let (tools, original, rewritten) = (dir.join("tools"), dir.join("original"), dir.join("rewritten"));
    compile_tools(jdk, &tools);
    run(jdk
        .command("javac")
        .current_dir(dir.path())
        .args(flags)
        .args(["-Xlint:none", "-nowarn", "-d"])
        .arg(&original)
        .arg(java_sources().join(format!("programs/{program}.java"))));
    let mut policy = if mixed { TraceAll::mixed(32_700) } else { TraceAll::plain() };
    let mut scratch = Scratch::new();
    for entry in std::fs::read_dir(&original).expect("compiled classes") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("a class file");
        let outcome =
            rewrite(&bytes, &RECORDER, &mut policy, &mut scratch).expect("javac's output is well formed");
        assert!(outcome.refused.is_empty(), "{}: {:?}", path.display(), outcome.refused);
        assert_eq!(
            outcome.skipped.total(),
            outcome.skipped.get(SkipReason::Abstract),
            "{}: only abstract methods may be left alone",
            path.display()
        );
        let name = path.file_stem().expect("a name").to_string_lossy();
        write_class(&rewritten, &name, outcome.bytes.as_deref().unwrap_or(&bytes));
    }
    let (expected, untouched) = run_program(jdk, program, &[&original, &tools]);
    let (output, recorded) = run_program(jdk, program, &[&rewritten, &tools]);
    assert_eq!(untouched, "enters 0, exits 0, complaints [], open []");
    assert_eq!(output, expected, "JDK {} {program} {flags:?} prints something else", jdk.release);
    let enters: u64 = recorded
        .strip_prefix("enters ")
        .and_then(|r| r.split(',').next())
        .and_then(|n| n.parse().ok())
        .expect("a count");
    assert!(enters > 20, "only {enters} entries: {recorded}");
    assert_eq!(recorded, format!("enters {enters}, exits {enters}, complaints [], open []"));
    // What debuggers and javap read must still be readable.
    let files = std::fs::read_dir(&rewritten).expect("rewritten classes").flatten().map(|e| e.path());
    let listing = run(jdk.command("javap").args(["-c", "-v", "-p"]).args(files));
    assert!(!listing.contains("Error:") && !listing.contains("???"), "javap: {listing}");
    println!("JDK {} {program} {flags:?}: same output, {enters} entries and exits", jdk.release);
}

#[test]
fn java_8_code_does_the_same() {
    for jdk in jdks() {
        compare(&jdk, "Eight", &["--release", "8", "-g"], false);
        compare(&jdk, "Eight", &["--release", "8", "-g", "-Xjcov"], true);
    }
}

#[test]
fn java_11_and_17_code_does_the_same() {
    for jdk in jdks() {
        compare(&jdk, "Eight", &["--release", "11", "-g"], true);
        compare(&jdk, "Eight", &["--release", "17", "-g:none"], false);
        compare(&jdk, "Seventeen", &["--release", "17", "-g"], true);
    }
}

#[test]
fn statements_before_super_do_the_same() {
    let newest = jdks().pop().expect("a JDK");
    compare(&newest, "Seventeen", &["-g"], false);
    if newest.release >= 25 {
        compare(&newest, "TwentyFive", &["-g"], false);
        compare(&newest, "TwentyFive", &["--release", "25"], true);
    } else {
        println!("JDK {} has no statements before super(...): TwentyFive not run", newest.release);
    }
}
