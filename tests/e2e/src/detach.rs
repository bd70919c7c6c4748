//! `lookback detach`: a program that was left is as if the agent had never come, and can be traced again, however often.
//!
//! The constraint: what must not grow is asked of the kernel and of the VM, after the first time and after the last, and
//! each bound says why it is not zero.

use crate::support::{Java, Jdk, Place, Running, artifacts, jdks};
use std::process::Command;
use std::time::{Duration, Instant};

/// How often a program is attached to and left; `make test-detach` says 100.
fn rounds() -> u32 {
    std::env::var("LOOKBACK_ATTACHMENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(6)
}

/// What a process uses.
#[derive(Clone, Copy, Debug)]
struct Uses {
    files: usize,
    threads: u64,
    /// KiB.
    resident: u64,
    shared_memory: u64,
    metaspace: u64,
}

impl Uses {
    fn of(jdk: &Jdk, running: &Running) -> Uses {
        let status = std::fs::read_to_string(format!("/proc/{}/status", running.pid)).expect("it runs");
        let files = std::fs::read_dir(format!("/proc/{}/fd", running.pid)).expect("it runs").count();
        let jcmd = Command::new(jdk.tool("jcmd"))
            .args([&running.pid.to_string(), "VM.metaspace", "basic", "scale=K"])
            .env_remove("JAVA_TOOL_OPTIONS")
            .output()
            .expect("the JDK has jcmd");
        let info = String::from_utf8_lossy(&jcmd.stdout).into_owned();
        let metaspace = info.lines().find_map(|l| number(l, "Both:", ""));
        Uses {
            files,
            threads: status.lines().find_map(|l| number(l, "Threads:", "")).expect("a number"),
            resident: status.lines().find_map(|l| number(l, "VmRSS:", "")).expect("a number"),
            shared_memory: status.lines().find_map(|l| number(l, "RssShmem:", "")).expect("a number"),
            metaspace: metaspace.unwrap_or_else(|| panic!("no metaspace in: {info}")),
        }
    }

    /// Has it no more files and threads than at `first`? The attach listener and the compilers come and go as they like, and
    /// each round of work has a thread.
    fn are_those_of(self, first: Uses) -> bool {
        self.files <= first.files && self.threads <= first.threads + 4
    }
}

/// The number behind `word` in a line that begins with `head`.
fn number(line: &str, head: &str, word: &str) -> Option<u64> {
    let rest = line.trim_start().strip_prefix(head)?;
    let rest = &rest[rest.find(word)? + word.len()..];
    let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

fn attach(place: &Place, running: &mut Running, options: &[&str]) -> String {
    let said = place.attach(running.pid, &[&["--budget", "off"][..], options].concat()).err;
    running.error_line("[lookback] pid");
    said
}

#[test]
fn a_program_can_be_left_and_traced_again_however_often() {
    for jdk in jdks() {
        let place = Place::new();
        let java = Java::new(jdk, &place, &["Churn"]).options(&["-Xmx48m", "-XX:+EnableDynamicAgentLoading"]);
        let mut running = java.option("-Xverify:all").start();
        running.until("ready");
        let pid = running.pid.to_string();
        let mut first: Option<Uses> = None;
        for round in 0..rounds() {
            // Options may differ from one time to the next.
            let ring = if round % 2 == 0 { "8m" } else { "16m" };
            let said = attach(&place, &mut running, &["--ring", ring, "--trivial", "0"]);
            assert!(said.contains("classes that were loaded before were rewritten in"), "{said}");
            until_none_is_held(&place, &running);
            running.ask("traced", "right traced");
            let recorded = place.dump(running.pid);
            let worker = recorded.thread("worker-0");
            let lines = recorded.lines(worker, "");
            let kept = (worker.chunks.len(), lines.len(), &lines[lines.len().saturating_sub(20)..]);
            assert!(lines.iter().any(|l| l == "E Churn.fib"), "JDK {}, round {round}: {kept:?}", jdk.version);
            let told = place.lookback(&["detach", &pid]).ok().out;
            let all = ["given back in", "its socket and its threads are gone"];
            assert!(all.iter().all(|words| told.contains(words)), "{told}");
            // On a busy machine a round of the program can last so long that it is a loop; then that is told.
            let waits = told.contains("when the loop ends (Churn)");
            assert!(waits || told.contains("all are as they were"), "{told}");
            assert!(!place.region().exists(), "the region is gone");
            let left = std::fs::read_dir(place.runtime()).expect("it is there").count();
            assert_eq!(left, 0, "the socket and the link to the region are gone");
            place.lookback(&["status", &pid]).fails(1, &["is not traced by Lookback"]);
            running.ask("gc", "right gc");
            let uses = settled(jdk, &running, waits, first);
            let first = *first.get_or_insert(uses);
            assert!(uses.are_those_of(first), "JDK {}, round {round}: {first:?}, {uses:?}", jdk.version);
            // A page of a slab's slots, the next, and one of its cold part stay mapped.
            assert!(uses.shared_memory <= 12, "JDK {}, round {round}: {uses:?}", jdk.version);
        }
        let (first, last) = (first.expect("a round"), Uses::of(jdk, &running));
        println!("JDK {}, {} attachments: {first:?}, then {last:?}", jdk.version, rounds());
        // What the program itself takes to warm up: its heap of 48 MiB and its compiled code. A ring that stayed each time
        // would be 8 MiB and more a round.
        assert!(last.resident < first.resident + (64 << 10), "{first:?}, {last:?}");
        // A round hands over some fifty classes, and the VM keeps one or two KiB of each, on 17 and on 25. Were all forms of
        // a class kept, it would be some 20 KiB each time.
        let kept = (4 << 10) + u64::from(rounds()) * 128;
        assert!(last.metaspace < first.metaspace + kept, "{first:?}, {last:?}");
        assert!(running.end().ok().out.ends_with("done\n"));
    }
}

/// Waits for the classes that were left as they are at the attachment: on a busy machine a round of the program can last so long
/// that it is a loop.
fn until_none_is_held(place: &Place, running: &Running) {
    let begun = Instant::now();
    loop {
        let status = place.status(running.pid);
        let held = status["classes"]["classes left as they are while a loop in them runs"].as_u64();
        if held.unwrap_or(0) == 0 {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{status:#}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// What it uses, when the agent's last threads are gone, which end just after they have told that they do, and its files and
/// threads are those of `first`: the VM closes those by which it was asked when it likes, and on a busy machine the program's
/// own threads pile up that have ended for Java and not for the kernel. While a class `waits`, one thread stays that gives it
/// back.
fn settled(jdk: &Jdk, running: &Running, waits: bool, first: Option<Uses>) -> Uses {
    let begun = Instant::now();
    loop {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", running.pid)).expect("it runs");
        let name = |t: std::fs::DirEntry| std::fs::read_to_string(t.path().join("comm")).unwrap_or_default();
        let ours: Vec<String> = tasks.flatten().map(name).filter(|n| n.starts_with("lookback")).collect();
        if ours.len() <= usize::from(waits) {
            let uses = Uses::of(jdk, running);
            if first.is_none_or(|first| uses.are_those_of(first)) || begun.elapsed() > Duration::from_secs(20)
            {
                return uses;
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{ours:?}");
        std::thread::yield_now();
    }
}

/// Whether the loop's class can be given back depends on the loop; what is told must not.
#[test]
fn a_class_in_which_a_loop_runs_is_told_by_stop_and_detach() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = Java::new(jdk, &place, &["Loop"]).agent("trace=Loop,trivial=0").start();
        running.until("ready");
        let pid = running.pid.to_string();
        let told = place.lookback(&["stop", &pid]).ok().out;
        let waits = "1 class in which a loop runs will be when the loop ends (Loop)";
        assert!(told.contains(waits), "JDK {}: {told}", jdk.version);
        assert!(told.contains("what was recorded stays"), "{told}");
        place.lookback(&["start", &pid]).ok();
        let told = place.lookback(&["detach", &pid]).ok().out;
        assert!(told.contains(waits), "JDK {}: {told}", jdk.version);
        // Its trace points are still there, and whoever attaches again knows their names.
        attach(&place, &mut running, &["--trivial", "0"]);
        let told = place.lookback(&["detach", &pid]).ok().out;
        assert!(told.contains(waits), "JDK {}: {told}", jdk.version);
        assert!(running.end().ok().out.ends_with("done\n"));
    }
}

#[test]
fn a_jvm_that_forbids_loading_is_told_before_anything_is_sent() {
    for jdk in jdks() {
        let cases = [
            ("-XX:-EnableDynamicAgentLoading", "was started with -XX:-EnableDynamicAgentLoading"),
            ("-XX:+DisableAttachMechanism", "was started with -XX:+DisableAttachMechanism"),
        ];
        for (option, says) in cases {
            let place = Place::new();
            let mut running = Java::new(jdk, &place, &["Commands"]).option(option).start();
            running.until("ready");
            place.lookback(&["attach", &running.pid.to_string()]).fails(1, &[says, "lookback run"]);
            running.ask("work 10", "did work 10");
            let ran = running.end().ok();
            assert_eq!(ran.out, "ready\ndid work 10\nsum 45\n");
            assert_eq!(ran.err, "", "nothing was sent");
        }
    }
}

/// The warning of JEP 451 is the JVM's, in the program's own error output; the command says what it is.
#[test]
fn the_warning_of_a_new_jvm_is_explained() {
    let Some(jdk) = artifacts::jdk(25) else { return };
    let place = Place::new();
    let mut running = Java::new(jdk, &place, &["Commands"]).start();
    running.until("ready");
    let said = attach(&place, &mut running, &[]);
    assert!(said.contains("JEP 451") && said.contains("-XX:+EnableDynamicAgentLoading"), "{said}");
    assert!(running.end().ok().err.contains("WARNING"));
}
