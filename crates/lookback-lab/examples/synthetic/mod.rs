//! Records that look like an experiment's and are made up: for tests and for looking at a report's form.
//!
//! The constraint that shaped it: the same each time, with all that a real experiment has (collectors that cannot run in
//! a small heap, disturbed and repeated invocations, drift, frames, tracers), and said to be made up wherever it shows.

use lookback_lab::plan::{Cell, CellId, HeapSize, Invocation, Jdk, Jvm, Launch, Pin, Plan, Quiet};
use lookback_lab::results::{Disturbance, Iteration, Outcome, Reading, Record, SCHEMA};
use std::collections::BTreeMap;
use std::time::Duration;

/// Numbers that look random: SplitMix64 (Steele et al., OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About a standard normal number: the sum of twelve even ones.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// A made-up program.
struct Program {
    name: &'static str,
    /// CPU time of an iteration without a collector, ns.
    work: f64,
    /// How much collecting it makes.
    garbage: f64,
    min_heap_mib: f64,
    frames: bool,
}

const fn program(name: &'static str, work: f64, garbage: f64, min_heap_mib: f64, frames: bool) -> Program {
    Program { name, work, garbage, min_heap_mib, frames }
}

const PROGRAMS: [Program; 6] = [
    program("gcbench", 6.2e8, 2.4, 19.0, false),
    program("h2", 2.1e9, 0.5, 42.0, false),
    program("lucene-search", 1.4e9, 0.2, 11.0, false),
    program("pmd", 1.8e9, 0.4, 31.0, false),
    program("ui-feed", 9.0e8, 0.3, 14.0, true),
    program("xalan", 1.1e9, 0.35, 9.0, false),
];

/// Collector, its own cost, what it costs a program per collection, and the smallest multiple that it runs in.
const COLLECTORS: [(&str, f64, f64, f64); 5] = [
    ("serial", 0.02, 0.30, 1.0),
    ("parallel", 0.03, 0.42, 1.0),
    ("g1", 0.07, 0.50, 1.0),
    ("shenandoah", 0.12, 0.95, 1.2),
    ("zgc", 0.14, 1.05, 1.5),
];

const BLOCKS: u32 = 6;
const MIB: f64 = 1048576.0;

fn heap(program: &Program, multiple: f64) -> HeapSize {
    let bytes = (program.min_heap_mib * multiple).ceil() * MIB;
    HeapSize { multiple: Some(multiple), bytes: bytes as u64 }
}

fn cell(program: &Program, collector: &str, tracer: Option<&str>, multiple: f64) -> Cell {
    let configuration = match tracer {
        Some(tracer) => format!("{collector}|{tracer}"),
        None => collector.to_owned(),
    };
    let id = format!("{:016x}", {
        let text = format!("{} {configuration} {multiple:.4}", program.name);
        text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
    });
    Cell {
        id: CellId(id),
        workload: program.name.into(),
        jdk: "17".into(),
        configuration,
        collector: Some(collector.into()),
        tracer: tracer.map(str::to_owned),
        heap: Some(heap(program, multiple)),
        launch: Launch {
            wrapper: Vec::new(),
            rehearsal: Vec::new(),
            jvm: Some(Jvm {
                java: "/opt/made-up/jdk-17/bin/java".into(),
                options: vec!["-agentpath:/opt/made-up/lib/agent.so=dir={dir}".into()],
                class_path: "/opt/made-up/a.jar:/opt/made-up/b.jar".into(),
                harness: true,
                socket: false,
                mocked_memory: None,
            }),
            command: vec!["made.up.Main".into(), program.name.into()],
            env: BTreeMap::new(),
        },
        iterations: 5,
        measured: vec![5],
        checksum: None,
        timeout: Duration::from_secs(120),
    }
}

/// The made-up plan: five collectors over nine heaps, and a tracer at twice the smallest.
pub(crate) fn plan() -> Plan {
    let mut cells = Vec::new();
    for program in &PROGRAMS {
        for (collector, ..) in COLLECTORS {
            for k in 0..9 {
                cells.push(cell(program, collector, None, 2f64.powf(f64::from(k) / 3.0)));
            }
        }
        for tracer in ["lookback", "lookback-off"] {
            cells.push(cell(program, "g1", Some(tracer), 2.0));
        }
    }
    // All cells once, each time in another order: steps that have no divisor in common with the number of cells.
    let n = cells.len();
    let order = (0..BLOCKS as usize)
        .flat_map(|block| {
            (0..n).map(move |i| (block, (i * [97, 101, 103, 107, 109, 113][block] + block * 31) % n))
        })
        .map(|(block, cell)| Invocation { cell, number: block as u32 + 1 })
        .collect();
    Plan {
        name: "synthetic".into(),
        about: "Made-up records that show the form of a report; no machine ran them.".into(),
        seed: 1,
        cells,
        order,
        pin: Pin::Cores(vec![0, 1]),
        retries: 2,
        turns: Duration::ZERO,
        metrics: ["wall", "task_clock", "cpu.gc", "pauses", "rss", "frame.janky"].map(str::to_owned).to_vec(),
        quiet: Quiet::default(),
        jdks: vec![Jdk {
            name: "17".into(),
            home: "/opt/made-up/jdk-17".into(),
            version: "17.0.0+0-made-up".into(),
            hash: "0123456789abcdef".repeat(4),
        }],
    }
}

/// The records of the made-up plan.
pub(crate) fn records(plan: &Plan) -> Vec<Record> {
    let mut random = Random(42);
    let mut records = Vec::new();
    for (turn, invocation) in plan.order.iter().enumerate() {
        let cell = &plan.cells[invocation.cell];
        let mut attempt = 1;
        loop {
            // The machine gets slower by and by, and is disturbed now and then.
            let drift = 1.0 + 0.05 * turn as f64 / plan.order.len() as f64;
            let disturbed = random.next() < 0.02;
            records.push(record(
                cell,
                invocation.number,
                attempt,
                records.len(),
                drift,
                disturbed,
                &mut random,
            ));
            if !disturbed || attempt > plan.retries {
                break;
            }
            attempt += 1;
        }
    }
    records
}

fn record(
    cell: &Cell,
    number: u32,
    attempt: u32,
    second: usize,
    drift: f64,
    disturbed: bool,
    random: &mut Random,
) -> Record {
    let program = PROGRAMS.iter().find(|p| p.name == cell.workload).unwrap_or(&PROGRAMS[0]);
    let collector =
        COLLECTORS.iter().find(|c| Some(c.0) == cell.collector.as_deref()).unwrap_or(&COLLECTORS[0]);
    let multiple = cell.heap.and_then(|heap| heap.multiple).unwrap_or(2.0);
    let runs = multiple >= collector.3;
    let others = if disturbed { 12.5 } else { (0.4 + 0.2 * random.normal()).max(0.0) };
    let machine = Reading { others_percent: others, load: 1.1, ..Reading::default() };
    let iterations = if runs { cell.iterations } else { 0 };
    let iterations =
        (1..=iterations).map(|n| iteration(cell, program, collector, multiple, n, drift, disturbed, random));
    Record {
        schema: SCHEMA,
        cell: cell.id.clone(),
        workload: cell.workload.clone(),
        jdk: cell.jdk.clone(),
        configuration: cell.configuration.clone(),
        collector: cell.collector.clone(),
        tracer: cell.tracer.clone(),
        heap: cell.heap,
        invocation: number,
        attempt,
        host: "made-up".into(),
        started: format!(
            "2026-01-{:02}T{:02}:{:02}:{:02}Z",
            2 + second / 21600,
            second / 900 % 24,
            second / 15 % 60,
            second % 15 * 4
        ),
        process_ns: (program.work * 6.0) as u64,
        iterations: iterations.collect(),
        outcome: if runs { Outcome::Ok } else { Outcome::OutOfMemory },
        disturbances: if disturbed { vec![Disturbance::Others { percent: others }] } else { vec![] },
        machine,
        raw: format!("raw/{}/{number}-{attempt}", cell.id),
    }
}

#[allow(clippy::too_many_arguments)] // A made-up iteration hangs on all of them.
fn iteration(
    cell: &Cell,
    program: &Program,
    collector: &(&str, f64, f64, f64),
    multiple: f64,
    n: u32,
    drift: f64,
    disturbed: bool,
    random: &mut Random,
) -> Iteration {
    let tracer = match cell.tracer.as_deref() {
        Some("lookback") => 1.045,
        Some(_) => 1.004,
        None => 1.0,
    };
    // The first iterations compile.
    let warm = 1.0 + 1.3 * (-f64::from(n - 1) * 1.1).exp();
    let noise = 1.0 + 0.03 * random.normal();
    let noise = if disturbed { noise * 1.35 } else { noise };
    let collections = program.garbage / (multiple - 0.55);
    let program_ns = program.work * (1.0 + collector.1) * warm * noise * drift * tracer;
    let gc = program.work * collector.2 * collections * (1.0 + 0.05 * random.normal()) * drift;
    let share = if collector.2 > 0.9 { 0.04 } else { 0.9 };
    let cpu = program_ns + gc;
    let mut metrics = BTreeMap::from([
        ("task_clock".to_owned(), cpu * (1.0 + 0.01 * random.normal())),
        ("task_clock.pauses".to_owned(), gc * share),
        ("cpu".to_owned(), cpu),
        ("cpu.pauses".to_owned(), gc * share),
        ("cpu.gc".to_owned(), gc),
        ("wall".to_owned(), program_ns / 1.6 + gc * share / 1.9),
        ("wall.pauses".to_owned(), gc * share / 1.9),
        ("pauses".to_owned(), (40.0 * collections).round()),
        ("rss".to_owned(), 6.0e7 + cell.heap.map_or(0.0, |heap| heap.bytes as f64)),
    ]);
    if program.frames {
        let p50 = 6.1e6 * (1.0 + 0.02 * random.normal());
        let pause = gc * share / 30.0 + 1.5e6;
        metrics.extend([
            ("frame.p50".to_owned(), p50),
            ("frame.p90".to_owned(), p50 * 1.3 + pause * 0.1),
            ("frame.p99".to_owned(), p50 * 1.7 + pause * 0.8),
            ("frame.janky".to_owned(), (0.6 + 9.0 * collections * collector.2).min(100.0)),
        ]);
    }
    Iteration { number: n, measured: cell.measured.contains(&n), metrics, units: BTreeMap::new() }
}
