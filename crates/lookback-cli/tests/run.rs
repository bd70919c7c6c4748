//! `lookback run`, with a stand-in for `java` that tells what it was given.

mod support;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use support::{Place, Ran, script};

/// A file that passes for the agent.
fn agent(place: &Place, name: &str) -> PathBuf {
    let file = place.file(name);
    std::fs::write(&file, b"\x7fELF").unwrap();
    std::fs::canonicalize(file).unwrap()
}

#[test]
fn java_gets_the_agent_first_and_its_exit_code_is_ours() {
    let place = Place::new();
    let so = agent(&place, "liblookback.so");
    script(&place, "java", "echo \"$@\"; echo \"tool=$JAVA_TOOL_OPTIONS\"; exit 42");
    let ran = place.run(&[
        "run",
        "--agent",
        "liblookback.so",
        "--slow",
        "a.B.*:1s",
        "--ring",
        "8m",
        "--",
        "./java",
        "-jar",
        "app.jar",
        "--slow",
    ]);
    assert_eq!(ran.code, Some(42));
    let expected = format!("-agentpath:{}=slow=a.B.*:1s,ring=8m -jar app.jar --slow\ntool=\n", so.display());
    assert_eq!((ran.out, ran.err.as_str()), (expected, ""));
}

#[test]
fn the_program_keeps_our_process_id_and_standard_input() {
    let place = Place::new();
    agent(&place, "a.so");
    script(&place, "java", "echo $$; cat");
    std::fs::write(place.file("in"), "hello\n").unwrap();
    let mut command = place.lookback(&["run", "--agent", "a.so", "./java"]);
    command.stdin(std::fs::File::open(place.file("in")).unwrap()).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    let pid = child.id();
    let out = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), format!("{pid}\nhello\n"));
}

#[test]
fn a_signal_that_kills_the_program_is_seen_outside() {
    use std::os::unix::process::ExitStatusExt;
    let place = Place::new();
    agent(&place, "a.so");
    script(&place, "java", "kill -TERM $$");
    let status = place.lookback(&["run", "--agent", "a.so", "./java"]).status().unwrap();
    assert_eq!(status.signal(), Some(15));
}

#[test]
fn a_script_gets_the_agent_by_environment() {
    let place = Place::new();
    let so = agent(&place, "a.so");
    script(&place, "mvn", "echo \"$@\"; echo \"$JAVA_TOOL_OPTIONS\"");
    let mut command = place.lookback(&["run", "--agent", "a.so", "--tick=2ms", "--", "./mvn", "test"]);
    let ran = Ran::of(command.env("JAVA_TOOL_OPTIONS", "-Dx=1")).ok();
    assert_eq!(ran.out, format!("test\n-Dx=1 -agentpath:{}=tick=2ms\n", so.display()));
    assert!(ran.err.contains("JAVA_TOOL_OPTIONS"), "{}", ran.err);
    let quiet = place.run(&["run", "--agent", "a.so", "--quiet", "./mvn"]).ok();
    assert_eq!(quiet.err, "");
}

#[test]
fn a_dry_run_prints_a_command_that_a_shell_takes() {
    let place = Place::new();
    let dir = place.file("with space");
    std::fs::create_dir(&dir).unwrap();
    let so = agent(&place, "with space/a.so");
    script(&place, "java", "for a in \"$@\"; do echo \"[$a]\"; done");
    let dry = place.run(&["run", "--agent", "with space/a.so", "--dry-run", "./java", "it's", "$HOME"]).ok();
    let shell = Command::new("sh").arg("-c").arg(&dry.out).current_dir(place.path()).output();
    let out = String::from_utf8(shell.unwrap().stdout).unwrap();
    assert_eq!(out, format!("[-agentpath:{}]\n[it's]\n[$HOME]\n", so.display()));
}

#[test]
fn the_agent_is_found_by_variable_and_never_guessed_when_named() {
    let place = Place::new();
    let so = agent(&place, "x.so");
    script(&place, "java", "echo \"$@\"");
    let ran = Ran::of(place.lookback(&["run", "./java"]).env("LOOKBACK_AGENT", "x.so")).ok();
    assert_eq!(ran.out, format!("-agentpath:{}\n", so.display()));
    let mut command = place.lookback(&["run", "--agent", "none.so", "./java"]);
    Ran::of(command.env("LOOKBACK_AGENT", "x.so")).fails(1, &["cannot find the agent", "none.so"]);
    std::fs::write(place.file("text.so"), "text").unwrap();
    place.run(&["run", "--agent", "text.so", "./java"]).fails(1, &["text.so", "no shared library"]);
    agent(&place, "a=b.so");
    place.run(&["run", "--agent", "a=b.so", "./java"]).fails(1, &["equals sign", "try: "]);
}

#[test]
fn a_program_that_is_not_there_is_an_error_in_words() {
    let place = Place::new();
    agent(&place, "a.so");
    place.run(&["run", "--agent", "a.so", "/none/java"]).fails(1, &["cannot start /none/java", "try: "]);
    place.run(&["run", "--agent", "a.so"]).fails(2, &["<PROGRAM>"]);
    place.run(&["run", "--agent", "a.so", "--out", "a,b", "./java"]).fails(2, &["comma"]);
}

/// A JVM for musl ends at once when it is handed a library for glibc.
#[test]
fn a_java_for_musl_is_started_without_the_agent_and_that_is_said() {
    let place = Place::new();
    agent(&place, "a.so");
    // An ELF file of nothing but a header and the name of its loader.
    let loader = b"/lib/ld-musl-x86_64.so.1\0";
    let mut java = b"\x7fELF\x02\x01".to_vec();
    java.resize(64 + 56, 0);
    (java[32], java[56], java[64], java[64 + 8], java[64 + 32]) = (64, 1, 3, 120, loader.len() as u8);
    java.extend_from_slice(loader);
    std::fs::write(place.file("java"), java).unwrap();
    let says = "./java is built for the C library musl, and the agent for glibc: the program runs, untraced";
    let ran = place.run(&["run", "--agent", "a.so", "--dry-run", "./java", "-jar", "app.jar"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "./java -jar app.jar\n"));
    assert!(ran.err.contains(says), "{}", ran.err);
}
