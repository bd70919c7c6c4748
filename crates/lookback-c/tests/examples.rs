//! The library as C and C++ programs use it: the examples are compiled with all warnings as errors, linked with
//! the shared and with the static library, run, and what they record is read through the Rust API.

use lookback_recorder::{Event, Recorder};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const FLAGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-O1"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The directory with the built libraries. Cargo does not build them for a test by itself.
fn libraries() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // This program is in TARGET/PROFILE/deps.
        let profile = std::env::current_exe().expect("this program");
        let profile = profile.ancestors().nth(2).expect("a profile's directory");
        let target = profile.parent().expect("a target directory");
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "lookback-c", "--target-dir"]).arg(target);
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        let built = build.current_dir(root()).output().expect("cargo");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        profile.to_owned()
    })
}

/// Compiles an example (and what else is to be compiled) and runs it with `arguments`.
fn run(compiler: &str, standard: &str, source: &Path, shared: bool, arguments: &[&Path]) -> Output {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("program");
    let mut compile = Command::new(compiler);
    compile
        .arg(standard)
        .args(FLAGS)
        .arg("-I")
        .arg(root().join("include"))
        .arg(source)
        .arg("-o")
        .arg(&program);
    if shared {
        compile.arg("-L").arg(libraries()).arg(format!("-Wl,-rpath,{}", libraries().display()));
        compile.arg("-llookback_ring");
    } else {
        compile.arg(libraries().join("liblookback_ring.a"));
    }
    let compiled = compile.args(["-lpthread", "-ldl", "-lm"]).output().expect(compiler);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Command::new(&program).args(arguments).output().expect("the program runs")
}

/// Runs an example with a fresh file; returns what it printed and what the file holds then.
fn record(compiler: &str, standard: &str, example: &str, shared: bool) -> (String, Vec<String>) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x.ring");
    let output = run(compiler, standard, &root().join("examples").join(example), shared, &[&path]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let snapshot = Recorder::open(&path).expect("a ring file").snapshot();
    let pids: Vec<_> = snapshot.events().map(|event| event.pid()).collect();
    assert!(pids[0].is_some_and(|pid| pid != std::process::id()), "recorded by another process");
    let show = |event: Event<'_>| format!("{}: {event}", event.thread_name());
    (String::from_utf8(output.stdout).expect("UTF-8"), snapshot.events().map(show).collect())
}

#[test]
fn the_c_example_records_and_reads() {
    for shared in [true, false] {
        let (printed, recorded) = record("cc", "-std=c11", "record.c", shared);
        let expected = [
            "till: begin net.request bytes=512 change=-3 load=0.5 client=browser",
            r#"till: net.query rows=3 text="select 1""#,
            "till: net.packet payload=Bytes([1, 2, 3])",
            "till: end net.request",
        ];
        assert_eq!(recorded, expected);
        let lines: Vec<_> = printed.lines().collect();
        assert_eq!(
            lines,
            [
                expected[0],
                "till: net.query rows=3 text=select 1",
                "till: net.packet payload=(3 bytes)",
                expected[3],
                "4 events, 0 dropped",
            ]
        );
    }
}

#[test]
fn the_cpp_example_records_spans() {
    for shared in [true, false] {
        let (_, recorded) = record("g++", "-std=c++17", "record.cc", shared);
        let of = |thread, page| {
            [
                format!("{thread}: begin disk.load page={page}"),
                format!("{thread}: begin disk.load page={}", page + 1),
                format!("{thread}: disk.hit"),
                format!("{thread}: end disk.load"),
                format!("{thread}: end disk.load"),
            ]
        };
        assert_eq!(recorded, [of("second", 10), of("first", 20)].concat());
    }
}

#[test]
fn what_is_wrong_is_an_error_and_no_crash() {
    let directory = tempfile::tempdir().expect("a directory");
    let foreign = directory.path().join("foreign");
    std::fs::write(&foreign, "no ring file").expect("written");
    let (absent, none) = (directory.path().join("absent"), directory.path().join("no/where"));
    let source = root().join("tests/errors.c");
    let output = run("cc", "-std=c11", &source, true, &[&foreign, &absent, &none]);
    let (printed, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{:?} {printed} {wrong}", output.status);
    assert!(printed.contains("not a Lookback ring file") && printed.contains("cannot open"), "{printed}");
}
