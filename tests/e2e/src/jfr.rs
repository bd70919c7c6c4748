//! `lookback profile --engine jfr` and `jfr-cpu`: what JFR's own samplers find, without an agent, beside the program's own recordings
//! of JFR, and whatever happens to either side meanwhile.

use crate::sampling::{profile, stacks};
use crate::support::{Java, Jdk, Place, Recorded, Running, artifacts, jdks};
use lookback_analysis::read_jfr;
use lookback_format::Nanos;
use lookback_format::event::Event;
use lookback_format::sample::{Activity, Engine};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Frames of recursion in the program's thread `deep`: JFR keeps 64 in all.
const DEPTH: usize = 40;

fn java<'a>(jdk: &'a Jdk, place: &'a Place, depth: usize) -> Java<'a> {
    let java = Java::new(jdk, place, &["Sampled", &depth.to_string()]);
    if jdk.is_extended { java.option("-XX:-LookbackTracing") } else { java }
}

fn start(java: &Java<'_>) -> Running {
    let mut running = java.start();
    running.until("ready");
    running
}

/// JFR's engines of a JDK.
fn engines(jdk: &Jdk) -> &'static [Engine] {
    if jdk.version >= 25 { &[Engine::Jfr, Engine::JfrCpu] } else { &[Engine::Jfr] }
}

/// What a diagnostic command says, by a JDK that has the tool: any speaks to any.
fn jcmd(pid: u32, words: &[&str]) -> String {
    let tool = jdks().iter().map(|jdk| jdk.tool("jcmd")).find(|tool| tool.exists()).expect("a JDK has jcmd");
    let mut command = Command::new(tool);
    let out =
        command.arg(pid.to_string()).args(words).env_remove("JAVA_TOOL_OPTIONS").output().expect("it runs");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Waits until the command has its recording in the JVM; what that is called.
#[track_caller]
fn recording_in(pid: u32) -> String {
    let found = (0..200).find_map(|_| {
        let said = jcmd(pid, &["JFR.check"]);
        let name = said.split_once("name=lookback-jfr-")?.1.split_whitespace().next()?;
        Some(format!("lookback-jfr-{name}"))
    });
    found.expect("a recording of this command")
}

/// The root directory of a process, as it is reached from here.
fn root_of(pid: u32) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join("root")
}

/// Waits until JFR has put samples into its repository, which it does once a second.
#[track_caller]
fn until_written(pid: u32) {
    let said = jcmd(pid, &["JFR.configure"]);
    let path = said.lines().find_map(|line| line.strip_prefix("Repository path:")).expect("a path").trim();
    let path = root_of(pid).join(path.trim_start_matches('/'));
    let written = || -> u64 {
        let files = std::fs::read_dir(&path).expect("the repository").flatten();
        files.map(|file| file.metadata().expect("a file").len()).sum()
    };
    // What was written once is whole when something is written again.
    for _ in 0..2 {
        let before = written();
        let grows = (0..200).any(|_| !jcmd(pid, &["VM.version"]).is_empty() && written() > before);
        assert!(grows, "nothing is written");
    }
}

/// Asserts that nothing of a recording is left.
#[track_caller]
fn is_gone(name: &str) {
    assert!(!Path::new("/tmp").join(name).exists(), "{name} is left");
}

#[test]
fn jfr_finds_threads_where_they_are_without_an_agent() {
    for jdk in jdks() {
        let place = Place::new();
        // The VM's own threads, which begin recordings, may have more frames than a sample holds by default.
        let deeper = java(jdk, &place, DEPTH).option("-XX:FlightRecorderOptions=stackdepth=512");
        let running = start(&deeper);
        for &engine in engines(jdk) {
            let what = format!("JDK {}, {}", jdk.version, engine.word());
            let recorded = profile(&place, &running, &["-d", "3s", "--engine", engine.word()]);
            let r = recorded.analysed();
            let sampling = r.manifest.sampling.as_ref().expect("facts of the sampling");
            assert_eq!((sampling.engine, sampling.samples), (engine, r.samples.len() as u64), "{what}");
            assert_eq!(r.manifest.program, "Sampled", "{what}");
            assert!(r.manifest.jvm.contains(&format!(" {}", jdk.version)), "{what}: {}", r.manifest.jvm);
            assert!(r.losses.is_empty() && r.damages.is_empty(), "{what}: {:?} {:?}", r.losses, r.damages);
            let is_within = |at: &Nanos| (sampling.begun..=sampling.ended).contains(at);
            assert!(r.samples.at.iter().all(is_within), "{what}: at {:?}, of {sampling:?}", r.samples.at);
            let found = stacks(r);
            let of = |thread: &str| found.get(thread).map(Vec::as_slice).unwrap_or_default();
            assert!(found.values().flatten().all(|(_, did)| *did == Activity::Running), "{what}");
            assert!(of("busy").len() >= 10, "{what}: busy has {} samples", of("busy").len());
            assert!(of("busy").iter().all(|(frames, _)| frames[0] == "Sampled$Busy.outer"), "{what}");
            assert!(of("twice").iter().all(|(frames, _)| frames[0] == "Sampled$Twice.turns"), "{what}");
            for (frames, _) in of("deep") {
                let down = frames.iter().filter(|name| *name == "Sampled$Deep.down").count();
                assert_eq!(down, DEPTH + 1, "{what}: {frames:?}");
            }
            // The sampler of JDK 17 to 24 passes over what it cannot walk, which may be a whole thread.
            if jdk.version >= 25 {
                assert!(of("twice").len() >= 10 && of("deep").len() >= 10, "{what}: {found:?}");
            }
            assert!(of("idle").is_empty(), "{what}");
        }
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", running.pid)).expect("its mappings");
        assert!(!maps.contains("liblookback"), "JDK {}: no agent was loaded", jdk.version);
        assert!(!place.runtime().exists());
        let said = jcmd(running.pid, &["JFR.check"]);
        assert!(said.contains("No available recordings"), "JDK {}: {said}", jdk.version);
        running.end().ok();
    }
}

#[test]
fn what_jfr_cuts_is_told() {
    let jdk = jdks().last().expect("a JDK");
    let place = Place::new();
    let running = start(&java(jdk, &place, 300));
    let pid = running.pid.to_string();
    let ran = place.lookback(&["profile", &pid, "-d", "2s", "--engine", "jfr", "-o", "p.lkb"]).ok();
    ran.says(&["lack outer frames", "JFR.configure stackdepth", "--engine handshake"]);
    let recorded = Recorded::read(&place.file("p.lkb"));
    let r = recorded.analysed();
    assert!(
        r.samples.cut > 0 && r.losses.keys().any(|cause| cause.contains("outer frames")),
        "{:?}",
        r.losses
    );
    running.end().ok();
}

#[test]
fn a_recording_of_the_programs_own_goes_on_and_is_read_like_ours() {
    for jdk in jdks() {
        let place = Place::new();
        let own = java(jdk, &place, DEPTH).option("-XX:StartFlightRecording=name=own,settings=profile");
        let running = start(&own);
        let pid = running.pid.to_string();
        let args = ["profile", &pid, "-d", "1s", "-i", "50ms", "--engine", "jfr", "-o", "p.lkb"];
        // The VM has one interval for all.
        place.lookback(&args).ok().says(&["samples are 10ms apart and not 50ms: another recording"]);
        let recorded = Recorded::read(&place.file("p.lkb"));
        assert_eq!(recorded.manifest.sampling.as_ref().expect("facts").interval, Nanos(10_000_000));
        let said = jcmd(running.pid, &["JFR.check"]);
        assert!(said.contains("name=own") && said.contains("running"), "JDK {}: {said}", jdk.version);
        assert!(!said.contains("lookback"), "JDK {}: {said}", jdk.version);

        // Ours made JFR begin another chunk, and so did its end.
        let file = place.file("own.jfr");
        jcmd(running.pid, &["JFR.dump", "name=own", &format!("filename={}", file.display())]);
        running.end().ok();
        let bytes = std::fs::read(&file).expect("the program's own recording");
        let clock = recorded.manifest.clock_pair;
        let (mut samples, mut threads) = (Vec::new(), Vec::new());
        let found = read_jfr(&bytes, Engine::Jfr, clock, &mut |event| match event {
            Event::Sample(sample) => samples.push(sample),
            Event::ThreadStart(thread) => threads.push(thread.name),
            _ => {}
        });
        let found = found.unwrap_or_else(|e| panic!("JDK {}: {e}", jdk.version));
        assert!(found.damages.is_empty(), "JDK {}: {:?}", jdk.version, found.damages);
        assert_eq!(found.interval, Some(Nanos(10_000_000)), "JDK {}", jdk.version);
        let ours = recorded.manifest.sampling.as_ref().expect("facts");
        let before = samples.iter().filter(|s| s.at < ours.begun).count();
        assert!(before > 0 && before < samples.len(), "JDK {}: {before} before", jdk.version);
        assert_eq!(threads.iter().filter(|name| *name == "busy").count(), 1, "JDK {}", jdk.version);
        let busy = found.classes.iter().find(|class| class.class == "Sampled$Busy").expect("a class");
        assert!(busy.methods.iter().any(|m| m.name == "outer" && m.descriptor.starts_with("(Ljava/")));

        // What is cut or damaged is told, and what stands before that is there.
        let cut = read_jfr(&bytes[..bytes.len() - 1], Engine::Jfr, clock, &mut |_| {}).expect("some of it");
        assert!(!cut.damages.is_empty() && cut.samples > 0, "JDK {}: {cut:?}", jdk.version);
        for n in [100, 1_000, bytes.len() / 3] {
            let read = read_jfr(&bytes[..n], Engine::Jfr, clock, &mut |_| {});
            assert!(read.map_or(true, |found| !found.damages.is_empty()), "JDK {}, {n} bytes", jdk.version);
        }
        for at in (0..bytes.len()).step_by(bytes.len() / 97) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            // Whatever it gives, it ends.
            let _ = read_jfr(&damaged, Engine::Jfr, clock, &mut |_| {});
        }
    }
}

#[test]
fn threads_in_native_code_are_sampled_when_all_are_wanted() {
    for jdk in jdks() {
        let place = Place::new();
        let running = start(&java(jdk, &place, DEPTH));
        let recorded = profile(&place, &running, &["-d", "2s", "--all", "--engine", "jfr"]);
        // It reads its standard input.
        let found = stacks(recorded.analysed());
        let main = found.get("main").unwrap_or_else(|| panic!("JDK {}: {:?}", jdk.version, found.keys()));
        assert!(main.iter().all(|(_, did)| *did == Activity::Unknown), "JDK {}: {main:?}", jdk.version);
        running.end().ok();
    }
}

#[test]
fn jfrs_samples_are_written_in_every_format() {
    for jdk in jdks() {
        let place = Place::new();
        let running = start(&java(jdk, &place, DEPTH));
        let pid = running.pid.to_string();
        let engine = engines(jdk).last().expect("an engine");
        let took = ["profile", &pid, "-d", "4s", "--engine", engine.word(), "-o", "p.html"];
        let ran = place.lookback(&took).ok();
        assert!(ran.out.contains("Sampled$Busy") && ran.out.contains("JDK Flight Recorder"), "{}", ran.out);
        assert!(!ran.out.contains("A request took"), "JFR does not tell that: {}", ran.out);
        let took = ["profile", &pid, "-d", "4s", "--engine", engine.word(), "-o", "p.lkb"];
        place.lookback(&took).ok();
        let convert = |to: &str| {
            place.lookback(&["convert", "p.lkb", "-o", to]).ok();
            std::fs::read(place.file(to)).expect("the file")
        };
        let collapsed = String::from_utf8(convert("p.collapsed")).expect("text");
        assert!(collapsed.lines().any(|l| l.starts_with("busy;") && l.contains(";Sampled$Busy.outer")));
        assert_eq!(convert("p.pb.gz")[..2], [0x1f, 0x8b]);
        assert!(serde_json::from_slice::<serde_json::Value>(&convert("p.json")).is_ok());
        assert!(!convert("p.pftrace").is_empty());
        // What was read of JFR can be given to it again.
        let again =
            read_jfr(&convert("p.jfr"), Engine::Jfr, (Nanos(0), 0), &mut |_| {}).expect("a recording");
        let recorded = Recorded::read(&place.file("p.lkb"));
        assert_eq!(again.samples, recorded.analysed().samples.len() as u64);
        running.end().ok();
    }
}

#[test]
fn ctrl_c_ends_the_recording_and_keeps_what_was_sampled() {
    for jdk in jdks() {
        let place = Place::new();
        let running = start(&java(jdk, &place, DEPTH));
        let args = ["profile", &running.pid.to_string(), "-d", "10m", "--engine", "jfr", "-o", "p.lkb"];
        let command = Running::start(&mut place.command(&args));
        let name = recording_in(running.pid);
        command.end_by(libc::SIGINT).ok();
        let said = jcmd(running.pid, &["JFR.check"]);
        assert!(said.contains("No available recordings"), "JDK {}: {said}", jdk.version);
        is_gone(&name);
        Recorded::read(&place.file("p.lkb"));
        running.end().ok();
    }
}

#[test]
fn a_program_that_ends_meanwhile_leaves_what_was_sampled() {
    for jdk in jdks() {
        let place = Place::new();
        let running = start(&java(jdk, &place, DEPTH));
        let pid = running.pid;
        let args = ["profile", &pid.to_string(), "-d", "10m", "--engine", "jfr", "-o", "p.lkb"];
        let command = Running::start(&mut place.command(&args));
        let name = recording_in(pid);
        until_written(pid);
        running.end().ok();
        command.end().ok().says(&[&format!("the program {pid} ended"), "is written"]);
        is_gone(&name);
        let recorded = Recorded::read(&place.file("p.lkb"));
        assert!(!recorded.analysed().samples.is_empty(), "JDK {}", jdk.version);

        let running = start(&java(jdk, &place, DEPTH));
        let pid = running.pid;
        let args = ["profile", &pid.to_string(), "-d", "10m", "--engine", "jfr", "-o", "killed.lkb"];
        let command = Running::start(&mut place.command(&args));
        let name = recording_in(pid);
        until_written(pid);
        running.end_by(libc::SIGKILL);
        command.end().ok().says(&[&format!("the program {pid} was killed"), "is written"]);
        is_gone(&name);
        assert!(
            !Recorded::read(&place.file("killed.lkb")).analysed().samples.is_empty(),
            "JDK {}",
            jdk.version
        );
    }
}

#[test]
fn what_jfr_does_not_do_is_refused_and_says_why() {
    for jdk in jdks() {
        let place = Place::new();
        let running = start(&java(jdk, &place, DEPTH).option("-XX:-FlightRecorder"));
        let pid = running.pid.to_string();
        let refused = |args: &[&str], code, says: &[&str]| {
            place.lookback(&[&["profile", &pid, "-d", "1s"][..], args].concat()).fails(code, says);
        };
        refused(&["--engine", "jfr"], 1, &["does not record with JFR", "disabled", "-XX:-FlightRecorder"]);
        refused(&["--engine", "jfr", "-i", "1500us"], 2, &["whole milliseconds", "--engine signal"]);
        if jdk.version < 25 {
            let says = ["no samples of JFR by processor time", "JDK 25", "--engine signal", "--engine jfr"];
            refused(&["--engine", "jfr-cpu"], 1, &says);
        }
        running.end().ok();
    }
    let place = Place::new();
    let ran = place.lookback(&["run", "--sample", "10ms", "--engine", "jfr", "--", "true"]);
    ran.fails(2, &["engine", "not the agent", "lookback profile PID --engine jfr"]);
}

#[test]
fn a_java_without_the_module_says_so() {
    for jdk in jdks() {
        let place = Place::new();
        let small = place.file("small");
        let mut jlink = Command::new(jdk.tool("jlink"));
        let made = jlink.args(["--add-modules", "java.base", "--output"]).arg(&small).output();
        if !made.as_ref().is_ok_and(|o| o.status.success()) {
            println!("left out: JDK {} has no jlink, or nothing for it: {made:?}", jdk.version);
            continue;
        }
        let mut command = Command::new(small.join("bin/java"));
        command.arg("-cp").arg(artifacts::programs()).args(["Sampled", "5"]).stdin(Stdio::piped());
        place.environment(&mut command);
        let mut running = Running::start(&mut command);
        running.until("ready");
        let ran = place.lookback(&["profile", &running.pid.to_string(), "--engine", "jfr"]);
        ran.fails(1, &["does not record with JFR", "jdk.jfr", "leave out --engine"]);
        running.end().ok();
    }
}

#[test]
fn a_signal_that_another_profiler_has_is_not_taken_from_it() {
    let Some(jdk) = jdks().iter().find(|jdk| jdk.version >= 25) else {
        return println!("left out: no JDK 25 is under test");
    };
    let place = Place::new();
    let take = |running: &Running, engine| {
        let pid = running.pid.to_string();
        place.lookback(&["profile", &pid, "-d", "1s", "--engine", engine, "-o", "p.lkb", "--force"])
    };
    let running = start(&java(jdk, &place, DEPTH));
    take(&running, "signal").ok();
    take(&running, "jfr-cpu").fails(1, &["no samples of JFR by processor time", "SIGPROF"]);
    take(&running, "jfr").ok();
    let ran = running.end().ok();
    assert!(!ran.out.contains("jfr"), "JFR complains in the program's output: {}", ran.out);

    let running = start(&java(jdk, &place, DEPTH));
    take(&running, "jfr-cpu").ok();
    take(&running, "signal").fails(1, &["SIGPROF is in use"]);
    take(&running, "jfr-cpu").ok();
    assert!(!Recorded::read(&place.file("p.lkb")).analysed().samples.is_empty());
    running.end().ok();
}

#[test]
fn a_jvm_in_a_container_is_sampled_from_outside() {
    let tried = Command::new("unshare").args(["--mount", "--pid", "--fork", "true"]).output();
    if !tried.as_ref().is_ok_and(|o| o.status.success()) {
        println!("left out: no namespaces can be made here: {tried:?}");
        return;
    }
    for jdk in jdks() {
        let place = Place::new();
        // The program does not see this /tmp, and its classes may be there: it is handed their directory.
        let script = "exec 3<\"$CLASSES\" && mount -t tmpfs -o mode=1777 tmpfs /tmp && mount -t proc proc /proc && exec \"$@\"";
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh"]);
        unshare.arg(jdk.tool("java")).args(["-Xmx64m", "-XX:+UseSerialGC", "-cp", "/proc/self/fd/3"]);
        unshare
            .args(["Sampled", "5"])
            .env("CLASSES", artifacts::programs())
            .current_dir("/")
            .stdin(Stdio::piped());
        place.environment(&mut unshare);
        let mut outer = Running::start(&mut unshare);
        outer.until("ready");
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", outer.pid));
        let pid = children.expect("its children").trim().to_owned();
        let inner: u32 = pid.parse().expect("a number");
        place.lookback(&["profile", &pid, "-d", "2s", "--engine", "jfr", "-o", "p.lkb"]).ok();
        let recorded = Recorded::read(&place.file("p.lkb"));
        assert!(stacks(recorded.analysed()).contains_key("busy"), "JDK {}", jdk.version);
        let left = std::fs::read_dir(root_of(inner).join("tmp")).expect("its /tmp").flatten();
        let names: Vec<_> = left.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        assert!(!names.iter().any(|name| name.starts_with("lookback")), "JDK {}: {names:?}", jdk.version);
        // It goes with its JVM, and the directory is reached all the same.
        let args = ["profile", &pid, "-d", "10m", "--engine", "jfr", "-o", "ended.lkb"];
        let command = Running::start(&mut place.command(&args));
        recording_in(inner);
        until_written(inner);
        outer.end();
        command.end().ok().says(&["ended"]);
        assert!(
            !Recorded::read(&place.file("ended.lkb")).analysed().samples.is_empty(),
            "JDK {}",
            jdk.version
        );
    }
}
