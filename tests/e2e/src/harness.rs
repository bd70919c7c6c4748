//! The harness: what it counts, compared with what the program knows; and that it does no harm, whatever happens.
//!
//! The constraint: the machine may be busy and may refuse every counter, so amounts are known from below, and none is a
//! time that something took.

use crate::support::harness::{
    file, iteration, iterations, lines, measured, program, with_small_pages, without_perf,
};
use crate::support::{Java, Jdk, Place, Ran, artifacts, jdks};
use lookback_harness::report::{Line, MockedMemory, Source, ThreadRole};

/// Runs parts of the program with the agent, which must change nothing but what `heap` says.
#[track_caller]
fn run(jdk: &Jdk, place: &Place, parts: &[&str], options: &str) -> Ran {
    let ran = measured(jdk, place, parts, options).run().ok();
    assert_eq!(ran.err, "", "JDK {}", jdk.version);
    ran
}

#[test]
fn threads_are_counted_by_name_and_those_that_have_ended_together() {
    for jdk in jdks() {
        let place = Place::new();
        let ran = run(jdk, &place, &["threads"], "");
        assert_eq!(ran.out, "did threads\n");
        let threads = iteration(&place, "threads");
        assert_eq!(threads.iteration, 4);
        let said = |i: usize| threads.values[&format!("burn-{i}")] as u64;
        for i in 1..3 {
            let name = format!("burn-{i}");
            let thread = threads.threads.iter().find(|t| t.name == name).expect("it is alive");
            assert!(thread.cpu_ns >= said(i), "{thread:?}, which says {}", said(i));
            assert_eq!(thread.role(), ThreadRole::Program);
        }
        assert!(!threads.threads.iter().any(|t| t.name == "burn-0"));
        assert!(threads.exited_cpu_ns >= said(0), "{} of {}", threads.exited_cpu_ns, said(0));
        assert!(threads.counters.task_clock_ns.is_none_or(|n| n > 0));
        assert_eq!(threads.pauses.expect("they are on").count, 0);
        println!("JDK {}: {:?}, harness {} ns", jdk.version, threads.counters, threads.harness_cpu_ns);
    }
}

#[test]
fn a_report_begins_with_where_its_counters_come_from_and_ends_with_the_vm() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = measured(jdk, &place, &["values", "open", "wait"], "").start();
        running.until("waits");
        running.say("");
        let pid = running.pid;
        running.end().ok();
        let lines = lines(&place);
        let [
            Line::Start(start),
            Line::Value(before),
            Line::Iteration(values),
            Line::Value(after),
            Line::Stop(stop),
        ] = &lines[..]
        else {
            panic!("{lines:#?}")
        };
        assert_eq!((start.pid, start.pauses, start.memory), (pid, true, None));
        assert_eq!(start.sources["cpu"], Source::ProcessClock);
        assert!(start.sources.contains_key("instructions"));
        assert_eq!((before.key.as_str(), before.value, before.iteration), ("before", 1.0, None));
        assert_eq!((values.name.as_str(), values.values["within"]), ("values \"quoted\" \u{fc}", 2.5));
        assert_eq!((after.key.as_str(), after.value, after.iteration), ("after", 3.0, Some(1)));
        let unfinished = stop.unfinished.as_ref().expect("one is open");
        assert_eq!((unfinished.name.as_str(), unfinished.iteration), ("open", 9));
        assert!(start.mono_ns < values.begin_ns && values.end_ns < stop.mono_ns);
    }
}

#[test]
fn memory_that_is_touched_is_page_faults_and_resident() {
    const BYTES: u64 = 64 << 20;
    for jdk in jdks() {
        for refused in [false, true] {
            let place = Place::new();
            let mut command = measured(jdk, &place, &["nothing", "touch"], "").command();
            if refused {
                without_perf(&mut command);
            }
            let ran = Ran::of(with_small_pages(&mut command)).ok();
            assert_eq!(ran.err, "");
            let [nothing, touch] = [iteration(&place, "nothing"), iteration(&place, "touch")];
            // SAFETY: a number.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
            let faults = touch.counters.page_faults.expect("perf or getrusage counts them");
            assert!(faults >= BYTES / page, "{:?}", touch.counters);
            assert!(nothing.counters.page_faults < touch.counters.page_faults);
            let resident = |i: &lookback_harness::report::Iteration| i.rss_bytes.expect("Linux tells");
            assert!(resident(&touch) >= resident(&nothing) + BYTES / 2);
            if let Some(peak) = touch.peak_rss_bytes {
                assert!(peak >= resident(&nothing) + BYTES / 2, "{touch:#?}");
            }
            let Some(Line::Start(start)) = lines(&place).into_iter().next() else { panic!("no start") };
            if refused {
                let said = format!("{:?}", start.sources["task_clock"]);
                assert!(said.contains("Operation not permitted") && said.contains("seccomp"), "{said}");
                assert_eq!(start.sources["page_faults"], Source::GetRusage);
                assert_eq!(start.sources["context_switches"], Source::GetRusage);
                assert_eq!((touch.counters.task_clock_ns, touch.counters.migrations), (None, None));
                assert!(touch.counters.cpu_ns > 0 && touch.counters.context_switches.is_some());
                assert_eq!(touch.pauses.expect("they are on").task_clock_ns, None);
            }
        }
    }
}

#[test]
fn pauses_are_those_that_the_log_tells_of_and_allocation_is_counted() {
    const GARBAGE: u64 = 200 << 20;
    for jdk in jdks() {
        let place = Place::new();
        let log = place.file("gc.log");
        let java = measured(jdk, &place, &["collect"], "").options(&["-Xms64m", "-Xmx64m"]);
        java.option(format!("-Xlog:gc:file={}", log.display())).run().ok();
        let log = std::fs::read_to_string(log).expect("a log");
        let logged = log.lines().filter(|l| l.contains(") Pause ")).count() as u64;
        let collect = iteration(&place, "collect");
        let pauses = collect.pauses.expect("they are on");
        assert!(logged >= 4, "{log}");
        assert_eq!(pauses.count, logged, "JDK {}:\n{log}", jdk.version);
        assert!(0 < pauses.wall_ns && pauses.wall_ns < collect.wall_ns());
        assert!(0 < pauses.cpu_ns && pauses.cpu_ns < collect.counters.cpu_ns);
        let vm_thread =
            collect.threads.iter().find(|t| t.role() == ThreadRole::VmThread).expect("it is there");
        assert!(0 < pauses.thread_cpu_ns && pauses.thread_cpu_ns <= vm_thread.cpu_ns);
        let allocated = collect.allocated_bytes.expect("HotSpot tells");
        assert!((GARBAGE..GARBAGE * 2).contains(&allocated), "{allocated}");

        let place = Place::new();
        run(jdk, &place, &["collect"], ",pauses=off");
        assert_eq!(iteration(&place, "collect").pauses, None);
    }
}

#[test]
fn threads_of_each_collector_are_known() {
    for jdk in jdks() {
        for collector in ["Parallel", "G1", "Z"] {
            let place = Place::new();
            let java = measured(jdk, &place, &["collect"], "");
            java.only_options(&["-Xmx256m", "-XX:ParallelGCThreads=2", &format!("-XX:+Use{collector}GC")])
                .agent_at(artifacts::harness(), &format!("out={}", file(&place).display()))
                .run()
                .ok();
            let collect = iteration(&place, "collect");
            let group: Vec<_> =
                collect.threads.iter().filter(|t| t.role() == ThreadRole::Collector).collect();
            let cpu_ns: u64 = group.iter().map(|t| t.cpu_ns).sum();
            assert!(
                !group.is_empty() && cpu_ns > 0,
                "{collector} on {}: {:#?}",
                jdk.version,
                collect.threads
            );
            assert!(cpu_ns <= collect.counters.cpu_ns);
            assert!(collect.pauses.is_some_and(|p| p.count > 0));
        }
    }
}

#[test]
fn the_program_is_told_constants_for_its_heap_and_others_the_truth() {
    for jdk in jdks() {
        let place = Place::new();
        let heap = |options: &str| {
            let ran = run(jdk, &place, &["heap"], options);
            let lines: Vec<String> = ran.out.lines().map(str::to_owned).collect();
            assert_eq!((lines.len(), lines[2].as_str()), (3, "did heap"), "{ran:#?}");
            lines
        };
        let truth = heap("");
        let maximum = truth[1].parse::<u64>().expect("JMX tells");
        assert!(truth[0].starts_with(&format!("{maximum} {maximum} ")), "{truth:?}");
        let mocked = heap(",memory=512m:128m");
        assert_eq!(mocked[0], format!("{0} {0} {1} true", 512 << 20, 128 << 20), "JDK {}", jdk.version);
        assert_eq!(mocked[1], truth[1], "JMX tells the truth");
        // Less than what is free.
        let small = heap(",memory=2m:1m");
        assert_eq!(small[0], format!("{0} {0} {1} true", 2 << 20, 1 << 20));
        let memory =
            lines(&place).into_iter().filter_map(|l| if let Line::Start(s) = l { s.memory } else { None });
        let told = [(512 << 20, 128 << 20), (2 << 20, 1 << 20)];
        let told = told.map(|(max_bytes, total_bytes)| MockedMemory { max_bytes, total_bytes });
        assert_eq!(memory.collect::<Vec<_>>(), told, "several runs in one file");
    }
}

#[test]
fn bad_options_are_one_warning_and_no_measurement() {
    let cases = [
        ("", "no file to write to is named: out=FILE"),
        ("out=x,colour=red", "'colour=red' is unknown"),
        ("out=x,memory=1m:2m", "'memory=1m:2m' must have a total"),
        ("out=x,pauses=maybe", "'pauses=maybe' is neither on nor off"),
        ("out=no/such/directory/x", "cannot open no/such/directory/x: No such file"),
        ("out=x,socket=no/such/directory/s", "cannot listen on no/such/directory/s: No such file"),
    ];
    for jdk in jdks() {
        for (options, says) in cases {
            let place = Place::new();
            let program = program(jdk, &place, "", &["Measured", "collect", "exit"]);
            let ran = program.agent_at(artifacts::harness(), options).run();
            assert_eq!((ran.code, ran.out.as_str()), (Some(7), "did collect\n"), "{options}: {ran:#?}");
            assert_eq!(ran.err.lines().count(), 1, "{options}: {}", ran.err);
            assert!(ran.err.starts_with("[lookback-harness] nothing is measured: "), "{}", ran.err);
            ran.says(&[says]);
            assert!(!file(&place).exists());
        }
    }
}

#[test]
fn a_full_disk_loses_data_with_one_warning() {
    for jdk in jdks() {
        let place = Place::new();
        std::os::unix::fs::symlink("/dev/full", file(&place)).expect("a link");
        let ran = measured(jdk, &place, &["nothing", "nothing", "exit"], "").run();
        assert_eq!((ran.code, ran.out.as_str()), (Some(7), "did nothing\ndid nothing\n"));
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        ran.says(&["[lookback-harness] cannot write to ", "No space left", "the program goes on"]);
    }
}

#[test]
fn a_program_that_is_killed_leaves_the_iterations_that_had_ended() {
    for jdk in jdks() {
        let place = Place::new();
        let mut running = measured(jdk, &place, &["nothing", "open", "wait"], "").start();
        running.until("waits");
        assert_eq!(running.end_by(libc::SIGKILL).signal, Some(libc::SIGKILL));
        let lines = lines(&place);
        assert!(matches!(&lines[..], [Line::Start(_), Line::Iteration(_)]), "{lines:#?}");
    }
}

#[test]
fn what_does_not_fit_together_is_refused_and_without_the_agent_everything_is() {
    for jdk in jdks() {
        let place = Place::new();
        let ran = run(jdk, &place, &["misuse"], "");
        assert_eq!(ran.out.lines().filter(|l| l.starts_with("refused: ")).count(), 10, "{}", ran.out);
        assert!(!ran.out.contains("taken"), "{}", ran.out);
        assert_eq!(iterations(&place).len(), 1);
        let without = program(jdk, &place, "", &["Measured", "nothing"]).run();
        without.fails(1, &["IllegalStateException: the harness is not loaded", "-agentpath:"]);
    }
}

#[test]
fn a_tracer_beside_it_is_measured_and_changes_nothing_of_it() {
    for jdk in jdks() {
        let place = Place::new();
        let traced = |java: Java<'_>| java.agent("keep=on,quiet=on").run().ok();
        let ran = traced(measured(jdk, &place, &["threads", "collect"], ",memory=512m:128m"));
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("did threads\ndid collect\n", ""));
        let threads = iteration(&place, "threads");
        assert!(threads.threads.iter().any(|t| t.name == "lookback-tick"), "{:#?}", threads.threads);
        assert!(iteration(&place, "collect").pauses.is_some_and(|p| p.count >= 4));
        let recorded = place.recover();
        assert!(!recorded.lines(recorded.thread("burn-1"), "").is_empty(), "both have seen it");
    }
}
