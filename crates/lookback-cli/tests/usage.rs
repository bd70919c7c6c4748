//! What the command does with its arguments, its environment and its output streams.

mod support;

use std::io::Read;
use std::process::Stdio;
use support::{Place, Ran};

#[test]
fn no_verb_and_unknown_words_are_usage_errors() {
    let place = Place::new();
    place.run(&[]).fails(2, &["Usage: lookback", "Examples:"]);
    place.run(&["atach", "1"]).fails(2, &["unrecognized subcommand 'atach'", "attach"]);
    place.run(&["run", "--rign", "8m", "--", "java"]).fails(2, &["--rign", "--ring"]);
    place.run(&["status"]).fails(2, &["<PID|MAIN>"]);
}

#[test]
fn help_and_version_go_to_standard_output() {
    let place = Place::new();
    let help = place.run(&["--help"]).ok();
    assert!(help.out.starts_with("Examples:") && help.err.is_empty());
    let version = place.run(&["--version"]).ok();
    assert_eq!(version.out, format!("lookback {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn options_are_joined_from_all_sources_and_their_source_is_shown() {
    let place = Place::new();
    std::fs::write(place.file("lookback.toml"), "ring = \"8m\"\ntick = \"2ms\"\ntrivial = 9\n").unwrap();
    let mut command = place.lookback(&["config", "--trivial", "12"]);
    let config = Ran::of(command.env("LOOKBACK_OPTS", "tick=3ms,trivial=10")).ok();
    for line in [
        "# Read lookback.toml.",
        "ring = \"8m\"  # lookback.toml",
        "tick = \"3ms\"  # LOOKBACK_OPTS",
        "trivial = \"12\"  # the command line",
        "cooldown = \"30s\"  # default",
        "# slow is not set",
    ] {
        assert!(config.out.lines().any(|l| l == line), "{line} in {}", config.out);
    }
    let printed = Ran::of(place.lookback(&["--print-config"]).env("LOOKBACK_OPTS", "ring=16m")).ok();
    assert!(printed.out.contains("ring = \"16m\"  # LOOKBACK_OPTS"));
    std::fs::write(place.file("lookback.toml"), &config.out).unwrap();
    let again = place.run(&["config"]).ok();
    assert!(again.out.contains("trivial = \"12\"  # lookback.toml"), "the output is a lookback.toml");
}

#[test]
fn bad_options_name_their_source_and_what_would_be_right() {
    let place = Place::new();
    place.run(&["config", "--tick", "1h"]).fails(2, &["`tick` from the command line", "example tick=1ms"]);
    place.run(&["config", "-O", "rign=8m"]).fails(2, &["no such option", "did you mean `ring`?"]);
    let mut command = place.lookback(&["config"]);
    Ran::of(command.env("LOOKBACK_OPTS", "slow=a.B.c")).fails(2, &["LOOKBACK_OPTS", "threshold is missing"]);
    place.run(&["config", "--config", "none.toml"]).fails(2, &["none.toml", "No such file"]);
    std::fs::write(place.file("lookback.toml"), "ring = \n").unwrap();
    place.run(&["config"]).fails(2, &["cannot use the options in lookback.toml", "line 1"]);
    std::fs::write(place.file("lookback.toml"), "rign = \"8m\"\n").unwrap();
    place.run(&["config"]).fails(2, &["`rign` from lookback.toml"]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let place = Place::new();
    let mut command = place.lookback(&["completion", "bash"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

#[test]
fn a_full_standard_output_is_an_error() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    Ran::of(place.lookback(&["config"]).stdout(full)).fails(1, &["cannot write to standard output"]);
}

#[test]
fn completion_scripts_know_every_verb() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&["completion", shell]).ok().out;
        for verb in ["attach", "recover", "status", "dump"] {
            assert!(script.contains(verb), "{verb} in {shell}");
        }
    }
    place.run(&["completion", "cmd"]).fails(2, &["bash"]);
}
