//! Bad options, bad places, bad targets and other agents: each gets one clear message, and the program runs as
//! if there were no agent.
//!
//! The constraint: a message that people can act on is part of what is tested, so the words stand here.

use crate::support::{Java, Jdk, Place, Ran, Recorded, Running, artifacts, jdks};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs a program with a bad agent line; gives what it printed, which is otherwise as without the agent.
#[track_caller]
fn unharmed(jdk: &Jdk, place: &Place, change: impl Fn(Java<'_>) -> Java<'_>) -> Ran {
    let java = Java::new(jdk, place, &["Exits", "exit"]);
    let without = java.run();
    let with = change(java.clone()).run();
    with.same_as(&without);
    assert_eq!(with.own_err(), without.own_err());
    with
}

#[test]
fn bad_options_switch_tracing_off_with_one_line() {
    let cases: [(&str, &[&str]); 9] = [
        ("rign=64m", &["tracing is off: unknown option 'rign'; did you mean 'ring'?"]),
        ("xyzzy=1", &["tracing is off: ", "xyzzy"]),
        ("ring", &["ring", "no value"]),
        ("ring=1k", &["ring", "1k", "4m"]),
        ("slow=com.acme.Api.call", &["slow", "threshold is missing"]),
        ("slow=!a.B.*:1s", &["negative"]),
        ("trace=com..acme", &["com..acme"]),
        ("tick=1h", &["tick", "50us"]),
        ("quiet=maybe", &["maybe", "neither on nor off"]),
    ];
    for jdk in jdks() {
        for (options, says) in cases {
            let place = Place::new();
            let ran = unharmed(jdk, &place, |java| java.agent(options)).says(says);
            assert_eq!(ran.agent_lines().len(), 1, "{options}: {:?}", ran.agent_lines());
            assert!(!place.region().exists(), "{options}: nothing is left behind");
        }
    }
}

#[test]
fn bad_options_in_the_environment_are_named_as_such() {
    let place = Place::new();
    let ran =
        unharmed(&jdks()[0], &place, |java| java.agent("ring=8m").variable("LOOKBACK_OPTS", "tikc=1ms"));
    ran.says(&["tracing is off: LOOKBACK_OPTS: unknown option 'tikc'; did you mean 'tick'?"]);
}

#[test]
fn options_on_attaching_are_checked_before_anything_happens() {
    let place = Place::new();
    let mut running = Java::new(&jdks()[0], &place, &["Commands"]).start();
    running.until("ready");
    let pid = running.pid.to_string();
    place.lookback(&["attach", &pid, "--ring", "1k"]).fails(2, &["ring", "1k"]);
    place.lookback(&["attach", &pid, "--slow", "a.B.c"]).fails(2, &["threshold is missing"]);
    // What only the program can know comes from the agent.
    let nowhere = place.file("nowhere/region").display().to_string();
    place.lookback(&["attach", &pid, "--region", &nowhere]).fails(1, &[&pid]);
    running.error_line("cannot create the region file");
    running.ask("work 10", "did work 10");
    assert_eq!(running.end().ok().out, "ready\ndid work 10\nsum 45\n");
}

#[test]
fn a_region_that_cannot_be_made_switches_tracing_off() {
    for jdk in jdks() {
        let place = Place::new();
        std::fs::write(place.file("file"), "mine").expect("a file");
        for region in ["nowhere/region", "file/region", "file", "/proc/region"] {
            let path = place.path().join(region);
            let options = format!("region={}", path.display());
            let ran = unharmed(jdk, &place, |java| java.bare_agent(&options));
            ran.says(&["tracing is off: cannot create the region file", &path.display().to_string()]);
        }
        assert_eq!(std::fs::read_to_string(place.file("file")).expect("it is there"), "mine");
    }
}

/// Starts a program in a mount namespace of its own, in which the place's directory `small` is a file system
/// of that size. `None` when this machine does not permit it.
fn with_small_disk(java: &Java<'_>, place: &Place, size: &str) -> Option<Running> {
    std::fs::create_dir(place.file("small")).expect("a directory");
    let mount = format!("mount -t tmpfs -o size={size} none small && exec \"$@\"");
    let inside = |command: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--map-root-user", "sh", "-c", command, "sh"]).current_dir(place.path());
        unshare
    };
    let permitted = inside(&mount).arg("true").stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    if !permitted {
        eprintln!("this machine permits no mount namespace: a full disk cannot be tried");
        return None;
    }
    let java = java.command();
    let mut command = inside(&mount);
    command.arg(java.get_program()).args(java.get_args());
    for (name, value) in java.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Some(Running::start(command.stdin(Stdio::piped())))
}

#[test]
fn a_full_disk_fails_the_dump_and_nothing_else() {
    for jdk in jdks() {
        let place = Place::new();
        let out = place.file("small/incident-%n.lkb");
        let options =
            format!("trivial=0,slow=Commands$Slow.*:100ms,tail=20ms,cooldown=0s,out={}", out.display());
        let java = Java::new(jdk, &place, &["Commands"]).agent(&options);
        let Some(mut running) = with_small_disk(&java, &place, "4k") else { return };
        running.until("ready");
        running.ask("work 300000", "did work 300000");
        let pid = running.pid.to_string();
        let full = "No space left on device";
        place.lookback(&["dump", &pid]).fails(1, &["cannot write", "small/incident-1.lkb", full]);
        running.ask("slow sleep 200", "did slow sleep 200");
        let line = running.error_line("could not be written");
        assert!(line.contains(full) && line.contains("not affected"), "{line}");
        // Elsewhere there is room.
        let recorded = place.dump(running.pid);
        assert!(recorded.lines(recorded.thread("main"), "").len() > 500_000);
        running.ask("work 10", "did work 10");
        running.end().ok();
    }
}

#[test]
fn a_region_on_a_full_disk_is_refused_and_one_that_fills_later_does_no_harm() {
    for jdk in jdks() {
        let place = Place::new();
        let region = place.file("small/region");
        let java = Java::new(jdk, &place, &["Commands"]);
        let agent =
            |options: &str| java.clone().bare_agent(&format!("region={},{options}", region.display()));
        let Some(mut running) = with_small_disk(&agent("ring=64m"), &place, "8m") else { return };
        running.error_line("tracing is off: cannot create the region file");
        running.until("ready");
        assert_eq!(running.end().ok().out, "ready\nsum 0\n");

        let place = Place::new();
        let region = place.file("small/region");
        let java = Java::new(jdk, &place, &["Commands"]).option("-Xss256m");
        let java = java.bare_agent(&format!("region={},ring=4m,threads=64,trivial=0", region.display()));
        let Some(mut running) = with_small_disk(&java, &place, "16m") else { return };
        running.until("ready");
        running.ask("fill small/filler", "did fill small/filler");
        // Slots that were never used before have no memory behind them, and none is to be had.
        running.ask("deep 14000", "did deep 14000");
        running.ask("threads late 50", "did threads late 50");
        let ran = running.end().ok();
        assert!(ran.out.contains("depth 14000"), "{ran:#?}");
        assert!(!ran.err.contains("Exception") && !ran.err.contains("Error"), "{ran:#?}");
    }
}

#[test]
fn a_region_that_is_no_region_of_this_version_is_named() {
    let place = Place::new();
    Java::new(&jdks()[0], &place, &["Hello"]).agent("keep=on,ring=4m").run().ok();
    let mut bytes = std::fs::read(place.region()).expect("it was kept");
    bytes[8] = 99;
    std::fs::write(place.file("newer"), &bytes).expect("a copy");
    std::fs::write(place.file("text"), "this is no region").expect("a file");
    let whole = bytes.len() / 2;
    bytes[8] = 1;
    std::fs::write(place.file("cut"), &bytes[..whole]).expect("a copy");
    place.lookback(&["recover", "newer"]).fails(1, &["newer", "format version 99"]);
    place.lookback(&["recover", "text"]).fails(1, &["text", "not a Lookback region file"]);
    let cut = place.lookback(&["recover", "cut"]);
    assert!(!cut.err.contains("panicked"), "{cut:#?}");
    place.lookback(&["recover", "nothing"]).fails(1, &["nothing"]);
}

#[test]
fn a_process_that_is_no_jvm_is_left_alone() {
    let place = Place::new();
    let running = Running::start(Command::new("cat").stdin(Stdio::piped()));
    let pid = running.pid.to_string();
    place.lookback(&["attach", &pid]).fails(1, &[&pid, "is not a JVM"]);
    place.lookback(&["status", &pid]).fails(1, &[&pid]);
    place.lookback(&["dump", &pid]).fails(1, &[&pid]);
    place.lookback(&["attach", "4194399"]).fails(1, &["there is no process 4194399"]);
    assert_eq!(running.end().code, Some(0), "it still reads, to the end");
}

/// The user `nobody`, or the one after.
const OTHERS: [u32; 2] = [65_534, 65_533];

/// A copy of a program's file that everybody may run.
fn for_all(place: &Place, file: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let copy = place.file(&file.file_name().expect("a file").to_string_lossy());
    std::fs::copy(file, &copy).expect("a copy");
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    copy
}

#[test]
fn a_jvm_of_another_user_is_refused_and_goes_on() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let place = Place::new();
    let me = std::fs::metadata(place.path()).expect("it is there").uid();
    if me != 0 {
        // Nobody but root can start a program as another user; the first process is always another's.
        place.lookback(&["attach", "1"]).fails(1, &["process 1 belongs to user 0", &me.to_string()]);
        return;
    }
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).expect("its mode");
    let theirs = place.file("theirs");
    std::fs::create_dir(&theirs).expect("a directory");
    chown(&theirs, Some(OTHERS[0]), Some(OTHERS[0])).expect("root gives it away");
    let classes = place.file("classes");
    std::fs::create_dir(&classes).expect("a directory");
    let programs = std::fs::read_dir(artifacts::programs()).expect("the programs").flatten();
    for entry in programs.filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), classes.join(entry.file_name())).expect("a copy");
    }
    let (command, library) = (for_all(&place, artifacts::lookback()), for_all(&place, artifacts::agent()));
    let as_other = |user: u32, program: &Path| {
        let mut setpriv = Command::new("setpriv");
        setpriv.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".into()]);
        place.environment(setpriv.arg(program));
        setpriv.current_dir(&theirs).env("XDG_RUNTIME_DIR", &theirs).env("LOOKBACK_AGENT", &library);
        setpriv
    };
    let mut java = as_other(OTHERS[0], &jdks()[0].tool("java"));
    java.args(["-XX:+UseSerialGC", "-Xmx64m", "-cp"]).arg(&classes).arg("Commands");
    let mut running = Running::start(java.stdin(Stdio::piped()));
    running.until("ready");
    let pid = running.pid.to_string();
    let refused = format!("process {pid} belongs to user {}", OTHERS[0]);
    // Not even root: a JVM only answers its own user.
    place.lookback(&["attach", &pid]).fails(1, &[&refused, "and this is user 0"]);
    let attach = |user| Ran::of(as_other(user, &command).args(["attach", &pid]));
    let says = format!("and this is user {}", OTHERS[1]);
    attach(OTHERS[1]).fails(1, &[&refused, &says]);
    running.ask("work 10", "did work 10");
    // Its own user may.
    attach(OTHERS[0]).ok();
    running.error_line("[lookback] pid");
    let status = |user| Ran::of(as_other(user, &command).args(["status", &pid]));
    status(OTHERS[0]).ok();
    assert_ne!(status(OTHERS[1]).code, Some(0), "its socket is its own");
    running.ask("work 10", "did work 10");
    assert_eq!(running.end().ok().out, "ready\ndid work 10\ndid work 10\nsum 90\n");
}

#[test]
fn an_agent_that_is_loaded_twice_says_so_and_records_once() {
    for jdk in jdks() {
        let place = Place::new();
        let copy = place.file("libcopied.so");
        std::fs::copy(artifacts::agent(), &copy).expect("a copy");
        let other = format!("region={}", place.file("other").display());
        let cases: [(&str, &Path); 2] = [("the same", artifacts::agent()), ("a copy", &copy)];
        for (case, library) in cases {
            let java = Java::new(jdk, &place, &["Deep", "50"]);
            let without = java.run().ok();
            let java =
                java.agent("trace=Deep,trivial=0,keep=on").agent_at(library, &format!("keep=on,{other}"));
            let with = java.run();
            with.same_as(&without);
            let said = with.agent_lines().join("\n");
            assert!(said.contains("recording in"), "{case}: {said}");
            assert!(said.contains("already") || said.contains("another Lookback"), "{case}: {said}");
            let recorded = place.recover();
            let downs = recorded.lines(recorded.thread("deep"), "");
            assert_eq!(downs.iter().filter(|l| *l == "E Deep.down").count(), 51, "{case}");
            std::fs::remove_file(place.region()).expect("it was kept");
            let _ = std::fs::remove_file(place.file("other"));
        }
    }
}

/// Runs `Deep` with another agent and ours in either order; `works` says whether the other one did its work.
fn another_agent_does_no_harm(other: &str, works: impl Fn(&Place, &Ran) -> bool) {
    for jdk in jdks() {
        for first in [true, false] {
            let place = Place::new();
            let java = Java::new(jdk, &place, &["Deep", "50"]);
            let without = java.run().ok();
            let ours = "trace=Deep,trivial=0,keep=on";
            let java = match first {
                true => java.option(other).agent(ours),
                false => java.agent(ours).option(other),
            };
            let exporters = ["OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"];
            let java = exporters.iter().fold(java, |java, name| java.variable(name, "none"));
            // For a short run the first compiler is quickest.
            let with = java.options(&["-Xverify:all", "-XX:TieredStopAtLevel=1"]).run();
            with.same_as(&without);
            assert!(works(&place, &with), "the other agent did its work: {with:#?}");
            let recorded: Recorded = place.recover();
            let lines = recorded.lines(recorded.thread("deep"), "");
            let count = |line: &str| lines.iter().filter(|l| *l == line).count();
            assert_eq!((count("E Deep.down"), count("X Deep.down"), count("E Deep.after")), (51, 51, 2_500));
        }
    }
}

#[test]
fn jacoco_before_or_behind_does_no_harm() {
    let jar = artifacts::libraries().join("agents/org.jacoco.agent-0.8.13-runtime.jar");
    // A relative path is the place's.
    let other = format!("-javaagent:{}=destfile=jacoco.exec", jar.display());
    another_agent_does_no_harm(&other, |place, _| {
        std::fs::metadata(place.file("jacoco.exec")).is_ok_and(|m| m.len() > 0)
    });
}

#[test]
fn opentelemetry_before_or_behind_does_no_harm() {
    let jar = artifacts::libraries().join("agents/opentelemetry-javaagent-2.15.0.jar");
    let other = format!("-javaagent:{}", jar.display());
    another_agent_does_no_harm(&other, |_, ran| {
        ran.err.contains("opentelemetry-javaagent - version: 2.15.0")
    });
}
