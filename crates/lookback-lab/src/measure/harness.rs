//! The harness's report of an invocation, made into the figures of its iterations.
//!
//! The constraint that shaped it: CPU time is given to who used it by one clock, the scheduler's, and nothing may be lost
//! or given twice: collector, compilers, VM, tracer and program together are the process. What cannot be told so is an
//! error in words, not a figure. It must not look into the VM's log; [`super::iterations`] puts the two together.

use super::latency::{self, PERCENTILES, Request};
use super::lines::Line;
use super::roles::Role;
use super::windows::Window;
use lookback_harness::report::{Iteration, Requests, Series, Thread};
use std::collections::BTreeMap;

/// What the harness says of an iteration.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Report {
    /// Its number, from 1.
    pub(super) number: u32,
    /// When it was.
    pub(super) window: Window,
    /// CPU time by role, nanoseconds; the lab's own is left out.
    pub(super) cpu: Cpu,
    /// Figures by the metrics' names.
    pub(super) metrics: BTreeMap<String, f64>,
    /// Units of those that are not the lab's.
    pub(super) units: BTreeMap<String, String>,
}

/// CPU time by who used it, nanoseconds of the scheduler's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cpu {
    /// Of all but the harness.
    pub(super) all: u64,
    /// Of the collector's own threads.
    pub(super) gc: u64,
    /// Of the VM thread.
    pub(super) vm_thread: u64,
    /// Of it, within the collector's pauses; none where the harness was told not to look.
    pub(super) vm_thread_in_pauses: Option<u64>,
    /// Of the compilers.
    pub(super) jit: u64,
    /// Of the VM's other threads.
    pub(super) vm: u64,
    /// Of the tracer.
    pub(super) tracer: u64,
}

/// How far the sum over threads may lie above the process's CPU time, nanoseconds a thread that ran: the kernel brings a
/// running thread's time up to date at its ticks, of which the slowest kernels have 100 a second.
const TICK: u64 = 10_000_000;

/// Window of the smoothed metered latency, nanoseconds: 100 ms, the one DaCapo's authors show beside the full one.
const SMOOTHING: u64 = 100_000_000;

/// Reads a report's text. A last line without an end is left out: the JVM died while it wrote it.
pub(super) fn reports(text: &str) -> Result<Vec<Report>, String> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut reports: Vec<(i32, Report)> = Vec::new();
    for (i, line) in whole.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line = serde_json::from_str(line)
            .map_err(|error| format!("line {} of the harness's report is damaged: {error}", i + 1))?;
        let of = |reports: &mut Vec<(i32, Report)>, iteration: i32| {
            reports.iter().rposition(|(number, _)| *number == iteration)
        };
        match line {
            Line::Iteration(line) => {
                if of(&mut reports, line.iteration).is_some() {
                    return Err(format!("the harness reports iteration {} twice", line.iteration));
                }
                // A workload counts from 0 or from 1; the lab from 1.
                let first = reports.first().map_or(line.iteration, |(number, _)| *number);
                let number = i64::from(line.iteration) - i64::from(first.min(1)) + 1;
                let number = u32::try_from(number)
                    .map_err(|_| format!("the harness reports an iteration {}", line.iteration))?;
                reports.push((line.iteration, report(number, &line)?));
            }
            Line::Requests(requests) => {
                if let Some(at) = of(&mut reports, requests.iteration) {
                    add_requests(&mut reports[at].1, &requests)?;
                }
            }
            Line::Series(series) => {
                if let Some(at) = of(&mut reports, series.iteration) {
                    add_series(&mut reports[at].1, series);
                }
            }
            Line::Value(value) => {
                if let Some(at) = value.iteration.and_then(|iteration| of(&mut reports, iteration)) {
                    reports[at].1.metrics.insert(value.key, value.value);
                }
            }
            Line::Other => {}
        }
    }
    Ok(reports.into_iter().map(|(_, report)| report).collect())
}

fn report(number: u32, line: &Iteration) -> Result<Report, String> {
    if line.end_ns <= line.begin_ns {
        return Err(format!("iteration {number} ends before it begins"));
    }
    let mut metrics = line.values.clone();
    let mut put = |name: &str, value: Option<u64>| {
        if let Some(value) = value {
            metrics.insert(name.to_owned(), value as f64);
        }
    };
    let counters = &line.counters;
    put("wall", Some(line.end_ns - line.begin_ns));
    put("task_clock", counters.task_clock_ns);
    put("cycles", counters.cycles);
    put("instructions", counters.instructions);
    put("page_faults", counters.page_faults);
    put("context_switches", counters.context_switches);
    put("migrations", counters.migrations);
    put("rss", line.peak_rss_bytes);
    put("allocated", line.allocated_bytes);
    if let Some(pauses) = line.pauses {
        put("pauses", Some(pauses.count));
        put("wall.pauses", Some(pauses.wall_ns));
        put("cpu.pauses", Some(pauses.cpu_ns));
        put("task_clock.pauses", pauses.task_clock_ns);
    }
    let measured = || line.threads.iter().filter(|thread| Role::of(&thread.name) != Role::Harness);
    let delays: Option<Vec<u64>> = measured().map(|thread| thread.run_delay_ns).collect();
    put(
        "run_delay",
        delays
            .filter(|delays| !delays.is_empty())
            .map(|delays| delays.iter().fold(0, |sum, delay| u64::saturating_add(sum, *delay))),
    );
    let cpu = cpu(number, line, counters.cpu_ns)?;
    Ok(Report {
        number,
        window: Window { begin: line.begin_ns, end: line.end_ns },
        cpu,
        metrics,
        units: BTreeMap::new(),
    })
}

/// Gives the process's CPU time to its roles.
fn cpu(number: u32, line: &Iteration, process: u64) -> Result<Cpu, String> {
    let of = |role| -> u64 {
        let threads = line.threads.iter().filter(|thread| Role::of(&thread.name) == role);
        sum(threads)
    };
    let ran = line.threads.iter().filter(|thread| thread.cpu_ns > 0).count() as u64;
    let threads = sum(line.threads.iter()).saturating_add(line.exited_cpu_ns);
    if threads.abs_diff(process) > (ran + 1) * TICK {
        return Err(format!(
            "iteration {number}: its threads used {threads} ns of CPU time and the process {process} ns, which cannot be"
        ));
    }
    Ok(Cpu {
        all: process.saturating_sub(of(Role::Harness)),
        gc: of(Role::Gc),
        vm_thread: of(Role::VmThread),
        vm_thread_in_pauses: line.pauses.map(|pauses| pauses.thread_cpu_ns),
        jit: of(Role::Jit),
        vm: of(Role::Vm),
        tracer: of(Role::Tracer),
    })
}

/// Their CPU time; a report that was tampered with must not end the lab.
fn sum<'a>(threads: impl Iterator<Item = &'a Thread>) -> u64 {
    threads.fold(0, |sum, thread| sum.saturating_add(thread.cpu_ns))
}

impl Cpu {
    /// The metrics `cpu` and `cpu.*`. The VM thread's time in pauses is the collector's; where it is not known, all of it
    /// is when it leads the collector's work (`led`), and none otherwise.
    pub(super) fn metrics(&self, led: bool) -> [(&'static str, u64); 6] {
        let unknown = if led { self.vm_thread } else { 0 };
        let collecting = self.vm_thread_in_pauses.unwrap_or(unknown).min(self.vm_thread);
        let gc = self.gc.saturating_add(collecting);
        let vm = self.vm.saturating_add(self.vm_thread - collecting);
        let others = [gc, self.jit, vm, self.tracer].into_iter().fold(0, u64::saturating_add);
        [
            ("cpu", self.all),
            ("cpu.gc", gc),
            ("cpu.jit", self.jit),
            ("cpu.vm", vm),
            ("cpu.tracer", self.tracer),
            // What is left: live threads of the program, and all that have ended.
            ("cpu.mutator", self.all.saturating_sub(others)),
        ]
    }
}

fn add_requests(report: &mut Report, requests: &Requests) -> Result<(), String> {
    if requests.starts.len() != requests.ends.len() {
        return Err(format!(
            "iteration {}: {} requests begin and {} end",
            report.number,
            requests.starts.len(),
            requests.ends.len()
        ));
    }
    let all: Vec<Request> =
        requests.starts.iter().zip(&requests.ends).map(|(&begin, &end)| Request { begin, end }).collect();
    percentiles(report, "latency", &latency::simple(&all));
    percentiles(report, "metered", &latency::metered(&all));
    percentiles(report, "metered.100ms", &latency::metered_within(&all, SMOOTHING));
    for (percent, _) in PERCENTILES {
        report.units.insert(format!("metered.100ms.{percent}"), "ns".into());
    }
    Ok(())
}

fn add_series(report: &mut Report, series: Series) {
    let values: Vec<f64> = series.values.iter().map(|&value| value as f64).collect();
    let name = match series.name.as_str() {
        "frame_ns" => "frame",
        "input_ns" => "input",
        "frame_late" => {
            let share = values.iter().sum::<f64>() / values.len() as f64;
            if share.is_finite() {
                report.metrics.insert("frame.janky".into(), share * 100.0);
            }
            return;
        }
        other => other,
    };
    percentiles(report, name, &latency::sorted(values));
    if let Some((_, unit)) = name.rsplit_once('_') {
        for (percent, _) in PERCENTILES {
            report.units.insert(format!("{name}.{percent}"), unit.into());
        }
    }
}

fn percentiles(report: &mut Report, name: &str, sorted: &[f64]) {
    for (percent, share) in PERCENTILES {
        if let Some(value) = latency::percentile(sorted, share) {
            report.metrics.insert(format!("{name}.{percent}"), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iteration(more: &str) -> String {
        format!(
            r#"{{"kind":"iteration","name":"h2","iteration":0,"begin_ns":1000,"end_ns":4000,"counters":{{"cpu_ns":90000000,"task_clock_ns":91000000}},
            "threads":[{{"name":"java","tid":1,"cpu_ns":40000000,"run_delay_ns":5}},{{"name":"VM Thread","tid":2,"cpu_ns":20000000,"run_delay_ns":6}},
            {{"name":"C2 CompilerThre","tid":3,"cpu_ns":7000000,"run_delay_ns":0}},{{"name":"GC Thread#0","tid":4,"cpu_ns":8000000,"run_delay_ns":0}},
            {{"name":"lookback-tick","tid":5,"cpu_ns":1000000,"run_delay_ns":0}},{{"name":"lookback-harnes","tid":6,"cpu_ns":2000000,"run_delay_ns":9}}],
            "exited_cpu_ns":12000000,"harness_cpu_ns":0{more}}}"#
        )
        .replace('\n', " ")
            + "\n"
    }

    fn pauses(thread: u64) -> String {
        iteration(&format!(
            r#","pauses":{{"count":2,"wall_ns":500,"cpu_ns":15000000,"thread_cpu_ns":{thread},"task_clock_ns":15500000}}"#
        ))
    }

    #[test]
    fn roles_add_up_to_the_process_without_the_harness() {
        let of = |text: &str, led| reports(text).expect("a report")[0].cpu.metrics(led);
        for (text, led, gc, vm) in [
            (pauses(15_000_000), true, 23_000_000, 5_000_000),
            (iteration(""), true, 28_000_000, 0),
            (iteration(""), false, 8_000_000, 20_000_000),
            // No thread can have used more in pauses than at all.
            (pauses(99_000_000), false, 28_000_000, 0),
        ] {
            let metrics = of(&text, led);
            assert_eq!(metrics[..3], [("cpu", 88_000_000), ("cpu.gc", gc), ("cpu.jit", 7_000_000)], "{text}");
            assert_eq!(
                metrics[3..],
                [("cpu.vm", vm), ("cpu.tracer", 1_000_000), ("cpu.mutator", 52_000_000)]
            );
            assert_eq!(metrics[1..].iter().map(|(_, ns)| ns).sum::<u64>(), 88_000_000);
        }
    }

    #[test]
    fn counters_that_are_absent_give_no_figure() {
        let report = &reports(&iteration("")).expect("a report")[0];
        assert_eq!((report.number, report.window), (1, Window { begin: 1000, end: 4000 }));
        assert_eq!(
            report.metrics,
            [("wall".to_owned(), 3000.0), ("task_clock".to_owned(), 91e6), ("run_delay".to_owned(), 11.0)]
                .into()
        );
    }

    #[test]
    fn requests_series_and_values_belong_to_their_iteration() {
        let text = iteration("")
            + "{\"kind\":\"requests\",\"name\":\"h2\",\"iteration\":0,\"starts\":[0,10],\"ends\":[5,30]}\n"
            + "{\"kind\":\"series\",\"name\":\"frame_ns\",\"iteration\":0,\"values\":[8,16]}\n"
            + "{\"kind\":\"series\",\"name\":\"frame_late\",\"iteration\":0,\"values\":[0,1,0,0]}\n"
            + "{\"kind\":\"series\",\"name\":\"scroll_px\",\"iteration\":0,\"values\":[3]}\n"
            + "{\"kind\":\"value\",\"name\":\"h2\",\"iteration\":0,\"key\":\"cache\",\"value\":4.5}\n"
            + "{\"kind\":\"requests\",\"name\":\"h2\",\"iteration\":7,\"starts\":[0],\"ends\":[5]}\n"
            + "{\"kind\":\"of tomorrow\",\"x\":1}\n"
            + "{\"kind\":\"iteration\",\"torn";
        let report = &reports(&text).expect("a report")[0];
        let get = |name: &str| report.metrics.get(name).copied();
        assert_eq!(
            [get("latency.p50"), get("latency.max"), get("metered.max")],
            [Some(5.0), Some(20.0), Some(25.0)]
        );
        assert_eq!([get("frame.p50"), get("frame.janky"), get("cache")], [Some(8.0), Some(25.0), Some(4.5)]);
        assert_eq!(get("scroll_px.p99"), Some(3.0));
        assert_eq!(report.units["scroll_px.p99"], "px");
        assert_eq!(report.units["metered.100ms.max"], "ns");
    }

    #[test]
    fn what_cannot_be_is_refused_in_words() {
        let cases = [
            (
                iteration("").replace("\"exited_cpu_ns\":12000000", "\"exited_cpu_ns\":999000000"),
                "which cannot be",
            ),
            (iteration("") + &iteration(""), "twice"),
            (iteration("").replace("\"end_ns\":4000", "\"end_ns\":400"), "ends before it begins"),
            (iteration("").replace("\"iteration\":0", "\"iteration\":\"x\""), "line 1"),
            (
                iteration("")
                    + "{\"kind\":\"requests\",\"name\":\"h2\",\"iteration\":0,\"starts\":[0],\"ends\":[]}\n",
                "1 requests begin",
            ),
        ];
        for (text, words) in cases {
            let error = reports(&text).expect_err(words);
            assert!(error.contains(words), "{error}");
        }
    }
}
