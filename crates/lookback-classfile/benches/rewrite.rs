//! How long a class takes: all of java.base in memory, every method traced.
//!
//! Constraint: measures the library alone: no I/O in the timed part, one
//! thread, working memory reused as an agent would. Prints the sum of the best
//! and of the median times of small groups of classes, since other programs share the machine. Needs a JDK to read the classes from.
//!
//! `cargo bench --bench rewrite` for full rounds, with `-- --smoke` for one.

#[path = "../tests/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::time::Instant;

use lookback_classfile::{ClassInfo, MethodInfo, Policy, Probe, Scratch, rewrite};
use support::{POINTS, PackedClass, TraceAll, any_jdk, dump_classes};

/// Traces nothing: what a class costs that only gets looked at.
struct TraceNone;

impl Policy for TraceNone {
    fn class(&mut self, _: &ClassInfo<'_>) -> bool {
        true
    }

    fn method(&mut self, _: &ClassInfo<'_>, method: &MethodInfo<'_>) -> Probe {
        black_box(method.instructions);
        Probe::None
    }
}

/// Traces methods with a call or a loop: close to what an agent does.
struct TraceSome(u32);

impl Policy for TraceSome {
    fn class(&mut self, _: &ClassInfo<'_>) -> bool {
        true
    }

    fn method(&mut self, _: &ClassInfo<'_>, method: &MethodInfo<'_>) -> Probe {
        if method.instructions < 12 || !(method.has_call || method.has_loop) {
            return Probe::None;
        }
        self.0 += 1;
        Probe::Plain(lookback_classfile::MethodId(self.0))
    }
}

/// Microseconds a class: best and median.
struct Cost {
    best: f64,
    median: f64,
}

/// Classes timed together: about a millisecond, so that a round that the scheduler
/// interrupts spoils one such group and not the whole.
const GROUP: usize = 64;

fn measure(classes: &[&PackedClass], rounds: usize, policy: &mut dyn FnMut() -> Box<dyn Policy>) -> Cost {
    let mut scratch = Scratch::new();
    let groups: Vec<&[&PackedClass]> = classes.chunks(GROUP).collect();
    let mut times = vec![Vec::with_capacity(rounds); groups.len()];
    for _ in 0..rounds {
        // All groups in each round, so that caches are as cold as they are in class loading.
        let mut policy = policy();
        for (group, times) in groups.iter().zip(&mut times) {
            let start = Instant::now();
            for class in *group {
                let outcome = rewrite(&class.bytes, &POINTS, &mut *policy, &mut scratch);
                black_box(outcome.expect("java.base is well formed"));
            }
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    let (mut best, mut median) = (0.0, 0.0);
    for times in &mut times {
        times.sort_by(f64::total_cmp);
        best += times[0];
        median += times[times.len() / 2];
    }
    let count = classes.len() as f64;
    Cost { best: best / count, median: median / count }
}

fn report(name: &str, classes: &[&PackedClass], cost: &Cost) {
    let bytes: usize = classes.iter().map(|c| c.bytes.len()).sum();
    let mean = bytes as f64 / classes.len() as f64;
    println!("result classfile.{name}.us_per_class {:.3} us (median {:.3})", cost.best, cost.median);
    println!("result classfile.{name}.mb_per_s {:.0} MB/s", mean / cost.best);
}

fn main() {
    let smoke = std::env::args().any(|a| a == "--smoke" || a == "--test");
    let count = if smoke { 1 } else { 25 };
    let classes = dump_classes(&any_jdk(), &["java.base"]);
    let all: Vec<&PackedClass> = classes.iter().collect();
    let bytes: usize = all.iter().map(|c| c.bytes.len()).sum();
    println!("{} classes of java.base, {} bytes on average", all.len(), bytes / all.len());
    report("rewrite", &all, &measure(&all, count, &mut || Box::new(TraceAll::anonymous())));
    report("rewrite_non_trivial", &all, &measure(&all, count, &mut || Box::new(TraceSome(0))));
    report("look_only", &all, &measure(&all, count, &mut || Box::new(TraceNone)));
    let eight_kb: Vec<&PackedClass> =
        all.iter().copied().filter(|c| (7168..9216).contains(&c.bytes.len())).collect();
    report("rewrite_8kb", &eight_kb, &measure(&eight_kb, count * 4, &mut || Box::new(TraceAll::anonymous())));
    report(
        "rewrite_non_trivial_8kb",
        &eight_kb,
        &measure(&eight_kb, count * 4, &mut || Box::new(TraceSome(0))),
    );
}
