//! A profile by the VM's own recorder, JDK Flight Recorder: `jdk.ExecutionSample`, and from JDK 25 on `jdk.CPUTimeSample`.
//!
//! The constraint that shaped it: no agent is loaded. What JFR wrote is turned into a recording as the agent writes one, so that
//! nothing behind this knows the difference. Of the program's own recordings of JFR none is touched, but the VM has one interval
//! for all of them, and what that was is told.

use super::{Taken, wait};
use crate::args::ProfileArgs;
use crate::control::printable;
use crate::error::{Error, Result};
use crate::jfr::{Fate, Recording, version};
use crate::process::{Process, java_program};
use crate::progress::Progress;
use crate::recover::host;
use crate::verbs::Streams;
use crate::{clock, interrupt};
use lookback_analysis::{JfrSamples, read_jfr};
use lookback_format::Nanos;
use lookback_format::event::frame;
use lookback_format::incident::{Manifest, Sampling, Trigger, VERSION, Writer};
use lookback_format::sample::Engine;
use lookback_format::units::count;
use lookback_options::format_duration;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

/// JFR's commands have had the form that is used here since this JDK.
const OLDEST: u32 = 17;
/// Samples by processor time came with this JDK (JEP 509).
const CPU_TIME: u32 = 25;
/// How the name of JFR's thread begins that is there once JFR has taken such samples.
const CPU_SAMPLER: &str = "JFR CPU";
/// JFR counts intervals in these.
const MILLISECOND: u64 = 1_000_000;
/// How much longer than asked for the VM records when this command has gone without a word.
const GRACE: Duration = Duration::from_secs(60);

/// Has the JVM sampled by JFR.
pub(super) fn take(
    args: &ProfileArgs,
    engine: Engine,
    process: &Process,
    streams: &mut Streams<'_>,
) -> Result<Taken> {
    let pid = process.pid;
    check(args, engine, process)?;
    interrupt::watch();
    let (jvm, release) = version(process)?;
    check_release(release, engine, pid)?;
    let program = java_program(&process.command()).unwrap_or_default();
    let most = Duration::from_nanos(args.duration).saturating_add(GRACE);
    let recording = {
        let _spinner = Progress::spinner("waiting for the JVM to begin");
        Recording::start(process, &settings(args, engine), most)?
    };
    let began = clock::now();
    wait(args, pid, engine.word());
    let ended = clock::now().0;
    let _spinner = Progress::spinner("the program writes what was sampled");
    let (file, fate) = recording.stop()?;
    match fate {
        Fate::Stopped => {}
        Fate::Ended => {
            streams.note(&format!("the program {pid} ended; what was sampled until then is written"))
        }
        Fate::Killed => streams.note(&format!(
            "the program {pid} was killed; what was sampled until a second before that is written"
        )),
    }
    let manifest = Manifest {
        version: VERSION,
        lookback: env!("CARGO_PKG_VERSION").into(),
        clock_pair: began,
        pid,
        program,
        jvm,
        host: host(),
        tick: Nanos(0),
        tick_late: Nanos(0),
        trigger: Trigger::Profile { at: ended },
        losses: Default::default(),
        dropped: Vec::new(),
        waiting_classes: 0,
        costs: None,
        sampling: Some(Sampling {
            engine,
            interval: Nanos(args.interval),
            begun: began.0,
            ended,
            // JFR does not tell them.
            requests: 0,
            late: 0,
            samples: 0,
            latency: [Nanos(0); 3],
            cpu: Nanos(0),
        }),
        ring_file: None,
    };
    let (taken, found) = write(&file, engine, manifest, pid)?;
    if !found.is_known && engine == Engine::JfrCpu {
        return Err(Error::NoCpuTime { pid, why: "its build has none".into() });
    }
    tell(&found, args, engine, process, streams);
    Ok(taken)
}

/// Refuses what JFR does not do.
fn check(args: &ProfileArgs, engine: Engine, process: &Process) -> Result<()> {
    let pid = process.pid;
    if engine == Engine::Jfr && !args.interval.is_multiple_of(MILLISECOND) {
        return Err(Error::Usage {
            what: format!("JFR counts in whole milliseconds, and not in {}", format_duration(args.interval)),
            hint: "give 1ms or a multiple of it with -i; `--engine signal` takes any interval".into(),
        });
    }
    check_release(process.java_version(), engine, pid)?;
    // Where it is another's, JFR samples nothing, and says so in the program's own output.
    if engine == Engine::JfrCpu && process.handles(libc::SIGPROF) && !process.has_thread(CPU_SAMPLER) {
        let why = "another profiler, or one that was there, has a handler for SIGPROF, and `--engine signal` leaves one";
        return Err(Error::NoCpuTime { pid, why: why.into() });
    }
    Ok(())
}

/// Refuses a release whose JFR does not do it, where that is known.
fn check_release(release: Option<u32>, engine: Engine, pid: u32) -> Result<()> {
    match release {
        Some(found) if found < OLDEST => {
            let message = format!("it is of JDK {found}, and this needs JDK {OLDEST} or later");
            Err(Error::JfrRefused { pid, message })
        }
        Some(found) if engine == Engine::JfrCpu && found < CPU_TIME => {
            let why = format!("it is of JDK {found}, and they came with JDK {CPU_TIME}");
            Err(Error::NoCpuTime { pid, why })
        }
        _ => Ok(()),
    }
}

/// What JFR is asked for. The plus is for settings that no file of settings has.
fn settings(args: &ProfileArgs, engine: Engine) -> Vec<String> {
    let interval = format_duration(args.interval);
    let mut events = match engine {
        Engine::JfrCpu => {
            vec![("CPUTimeSample", "throttle", Some(interval)), ("CPUTimeSamplesLost", "", None)]
        }
        // It tells which interval the VM has when others ask for one, too.
        _ => vec![("ExecutionSample", "period", Some(interval.clone())), ("ActiveSetting", "", None)]
            .into_iter()
            .chain(args.all.then_some(("NativeMethodSample", "period", Some(interval))))
            .collect(),
    };
    events.push(("DataLoss", "", None));
    let mut settings = vec!["settings=none".to_owned()];
    for (event, key, value) in events {
        settings.push(format!("+jdk.{event}#enabled=true"));
        settings.extend(value.map(|value| format!("+jdk.{event}#{key}={value}")));
    }
    settings
}

/// Writes a recording of what JFR has written.
fn write(file: &[u8], engine: Engine, mut manifest: Manifest, pid: u32) -> Result<(Taken, JfrSamples)> {
    let dir = std::env::temp_dir();
    let failed = |error| Error::Write { file: dir.clone(), error };
    let made = tempfile::Builder::new().prefix("lookback-").tempdir_in(&dir).map_err(failed)?;
    let path = made.path().join("profile.lkb");
    let failed = |error| Error::Write { file: path.clone(), error };
    let packed = |error: lookback_format::Error| failed(io::Error::other(error));
    let mut writer = Writer::new(BufWriter::new(File::create(&path).map_err(failed)?));
    let mut read = None;
    let clock = manifest.clock_pair;
    let ring = writer.ring(|out| {
        let (mut payload, mut framed, mut result) = (Vec::new(), Vec::new(), Ok(()));
        read = Some(read_jfr(file, engine, clock, &mut |event| {
            payload.clear();
            framed.clear();
            let kind = event.encode(&mut payload);
            frame(kind, &[&payload], &mut framed);
            if result.is_ok() {
                result = out.write_all(&framed);
            }
        }));
        result
    });
    ring.map_err(packed)?;
    let unreadable = |why: String| Error::JfrFile { pid, why };
    let found = read.transpose().map_err(|e| unreadable(e.to_string()))?.unwrap_or_default();
    manifest.losses = found.losses.clone();
    manifest.losses.insert("damaged places in what JFR wrote".into(), found.damages.len() as u64);
    manifest.losses.retain(|_, n| *n > 0);
    if let Some(sampling) = &mut manifest.sampling {
        sampling.samples = found.samples;
        sampling.interval = found.interval.unwrap_or(sampling.interval);
        // Its commands take time, a second of a JVM that has not used JFR before, and it samples meanwhile.
        if let Some((first, last)) = found.span {
            (sampling.begun, sampling.ended) = (sampling.begun.min(first), sampling.ended.max(last));
            manifest.trigger = Trigger::Profile { at: sampling.ended };
        }
    }
    let finished = writer.symbols(found.classes.iter().cloned()).and_then(|()| writer.finish(&manifest));
    finished.map_err(packed)?.flush().map_err(failed)?;
    Ok(((path, made), found))
}

/// What the user should know besides.
fn tell(
    found: &JfrSamples,
    args: &ProfileArgs,
    engine: Engine,
    process: &Process,
    streams: &mut Streams<'_>,
) {
    for damage in &found.damages {
        streams.note(&printable(&format!("what JFR wrote is damaged: {damage}")));
    }
    if let Some(interval) = found.interval.filter(|interval| interval.0 != args.interval) {
        let why = match engine {
            Engine::JfrCpu => "the kernel's clock ticks no faster, or another recording of JFR asks for that",
            _ => "another recording of JFR in that JVM asks for that",
        };
        streams.note(&format!(
            "samples are {} apart and not {}: {why}",
            format_duration(interval.0),
            format_duration(args.interval)
        ));
    }
    if found.cut > 0 {
        streams.note(&format!(
            "{} of {} samples lack outer frames: JFR keeps 64 unless the JVM was started with -XX:FlightRecorderOptions:stackdepth=N, or told `jcmd {} JFR.configure stackdepth=N` before JFR was first used in it; `--engine handshake` keeps 1,024",
            count(found.cut),
            count(found.samples),
            process.pid
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn words(line: &str, engine: Engine) -> String {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            args: ProfileArgs,
        }
        settings(&Line::parse_from(format!("profile 1 {line}").split(' ')).args, engine).join(" ")
    }

    #[test]
    fn a_release_without_such_samples_is_refused_where_it_is_known() {
        let refused = |release, engine| check_release(release, engine, 1).unwrap_err().to_string();
        assert!(refused(Some(11), Engine::Jfr).ends_with("it is of JDK 11, and this needs JDK 17 or later"));
        assert!(refused(Some(24), Engine::JfrCpu).ends_with("it is of JDK 24, and they came with JDK 25"));
        assert!(
            check_release(Some(17), Engine::Jfr, 1).is_ok() && check_release(None, Engine::JfrCpu, 1).is_ok()
        );
    }

    #[test]
    fn jfr_is_asked_for_samples_alone() {
        assert_eq!(
            words("-i 20ms", Engine::Jfr),
            "settings=none +jdk.ExecutionSample#enabled=true +jdk.ExecutionSample#period=20ms \
             +jdk.ActiveSetting#enabled=true +jdk.DataLoss#enabled=true"
        );
        assert!(words("--all", Engine::Jfr).contains(" +jdk.NativeMethodSample#period=10ms "));
        assert_eq!(
            words("-i 500us --all", Engine::JfrCpu),
            "settings=none +jdk.CPUTimeSample#enabled=true +jdk.CPUTimeSample#throttle=500us \
             +jdk.CPUTimeSamplesLost#enabled=true +jdk.DataLoss#enabled=true"
        );
    }
}
