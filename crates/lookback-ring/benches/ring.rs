//! Cost of recording one event, by size and way of handing it over, with one and two threads, beside the
//! floor of this machine.
//!
//! The constraint: the machine is shared and noisy, so averages of long loops lie, and figures taken one after the
//! other do not compare. The method is clean bursts, the cases taking turns: short bursts, threads pinned and started
//! together, kept only if no thread was switched out during it (and, with two threads, if their windows overlap by
//! 80 %); reported are the median and the lower quartile of the kept bursts. Each burst ends with a check that
//! nothing was dropped. Arguments: number of rounds (default 300), part of a case's name.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use lookback_ring::{Geometry, Ring};

/// Far larger than the second-level cache, as in use: blocks come from memory or the shared cache.
const AREA: usize = 32 << 20;
const EVENTS: usize = 10_000;

/// A mapped, touched area with a ring in it; never unmapped.
fn ring(cores: u32, payload: usize) -> &'static Ring {
    // SAFETY: a fresh private anonymous mapping.
    let mem = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            AREA,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
            -1,
            0,
        )
    };
    assert_ne!(mem, libc::MAP_FAILED);
    let geometry = Geometry::for_events(AREA, cores, payload).expect("geometry");
    // SAFETY: the mapping has this length, is page-aligned and never goes away.
    let ring = unsafe { Ring::format(mem.cast(), AREA, geometry) }.expect("format");
    Box::leak(Box::new(ring))
}

fn pin(cpu: usize) {
    // SAFETY: a zeroed cpu_set_t is valid and of the size given.
    let result = unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    assert_eq!(result, 0, "pin to cpu {cpu}");
}

fn switches() -> i64 {
    // SAFETY: a zeroed rusage is valid, and the call fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = core::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    };
    usage.ru_nvcsw + usage.ru_nivcsw
}

#[inline(always)]
fn clock() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has rdtsc.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// What a case writes to.
struct Target {
    small: &'static Ring,
    large: &'static Ring,
    /// For the floor: a line each for two counters and a place for stores, for each thread.
    lines: &'static [Lines],
}

#[repr(align(128))]
#[derive(Default)]
struct Lines([AtomicU64; 16], [AtomicU64; 16], [AtomicU64; 16]);

/// Writes [`EVENTS`] events as thread number `thread`.
type Case = fn(&Target, usize);

#[inline(never)]
fn words<const N: usize, const CLOCK: bool>(t: &Target, _: usize) {
    for i in 0..EVENTS as u64 {
        let mut words = [i; N];
        words[0] = if CLOCK { clock() } else { i };
        assert!(t.small.write_words(1, words).is_ok());
    }
}

#[inline(never)]
fn parts<const SIZE: usize>(t: &Target, _: usize) {
    let payload = black_box([7u8; SIZE]);
    // A chunk of 4 KiB comes with a header.
    let (ring, rest) = if SIZE == 4096 { (t.large, &payload[..]) } else { (t.small, &payload[8..]) };
    for _ in 0..EVENTS / if SIZE == 4096 { 10 } else { 1 } {
        let time = clock().to_le_bytes();
        assert!(ring.write(1, &[&time, rest]).is_ok());
    }
}

/// Words in registers, the rest in memory: how a caller without fixed types does it.
#[inline(never)]
fn headed<const TAIL: usize>(t: &Target, _: usize) {
    let tail = black_box([7u8; TAIL]);
    for _ in 0..EVENTS {
        assert!(t.small.write_headed(1, [clock()], &tail).is_ok());
    }
}

/// Nothing but the clock.
#[inline(never)]
fn floor_clock(_: &Target, _: usize) {
    for _ in 0..EVENTS {
        black_box(clock());
    }
}

/// The clock, and two locked additions with an event of 32 bytes stored between them: what the paper's design cannot
/// go below.
#[inline(never)]
fn floor_locked<const CLOCK: bool>(t: &Target, thread: usize) {
    let Lines(a, b, data) = &t.lines[thread];
    for i in 0..EVENTS as u64 {
        let time = if CLOCK { clock() } else { i };
        let at = a[0].fetch_add(8, Ordering::Acquire) as usize;
        for (k, value) in [i, time, i, i, i].into_iter().enumerate() {
            data[(at & 8) + k].store(value, Ordering::Relaxed);
        }
        b[0].fetch_add(8, Ordering::Release);
    }
}

/// The same without locks: what a section that the kernel restarts (rseq) cannot go below.
#[inline(never)]
fn floor_unlocked<const CLOCK: bool>(t: &Target, thread: usize) {
    let Lines(a, b, data) = &t.lines[thread];
    let add = |word: &AtomicU64, by| {
        let old = word.load(Ordering::Relaxed);
        word.store(old + by, Ordering::Relaxed);
        old as usize
    };
    for i in 0..EVENTS as u64 {
        let time = if CLOCK { clock() } else { i };
        let at = add(&a[0], 8);
        for (k, value) in [i, time, i, i, i].into_iter().enumerate() {
            data[(at & 8) + k].store(value, Ordering::Relaxed);
        }
        add(&b[0], 8);
    }
}

const CASES: &[(&str, Case)] = &[
    ("floor.clock", floor_clock),
    ("floor.32B", floor_locked::<true>),
    ("floor.32B.noclock", floor_locked::<false>),
    ("floor-unlocked.32B", floor_unlocked::<true>),
    ("floor-unlocked.32B.noclock", floor_unlocked::<false>),
    ("8B", words::<1, true>),
    ("16B", words::<2, true>),
    ("32B", words::<4, true>),
    ("64B", words::<8, true>),
    ("128B", words::<16, true>),
    ("32B.noclock", words::<4, false>),
    ("64B.noclock", words::<8, false>),
    ("32B.headed", headed::<24>),
    ("64B.headed", headed::<56>),
    ("61B.headed", headed::<53>),
    ("32B.parts", parts::<32>),
    ("64B.parts", parts::<64>),
    ("4KiB.parts", parts::<4096>),
];

/// One thread's burst: start and end, and whether it ran undisturbed.
struct Burst {
    start: Instant,
    end: Instant,
    clean: bool,
}

fn burst(case: Case, target: &Target, thread: usize) -> Burst {
    let before = switches();
    let start = Instant::now();
    case(target, thread);
    let end = Instant::now();
    Burst { start, end, clean: switches() == before }
}

/// All cases in turn, `rounds` times, on `threads` pinned threads.
fn measure(threads: usize, rounds: usize, only: &str) {
    let cases: Vec<_> = CASES.iter().filter(|(name, _)| name.contains(only)).collect();
    let lines: Vec<Lines> = (0..threads).map(|_| Lines::default()).collect();
    let cores = threads as u32;
    let target = Target { small: ring(cores, 64), large: ring(cores, 4200), lines: lines.leak() };
    let arrived = AtomicUsize::new(0);
    let gate = Barrier::new(threads);
    let results: Vec<Vec<Burst>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                let (arrived, target, cases, gate) = (&arrived, &target, &cases, &gate);
                scope.spawn(move || {
                    pin(thread);
                    let turns = (0..rounds).flat_map(|_| cases.iter()).enumerate();
                    turns
                        .map(|(turn, (_, case))| {
                            // The barrier sleeps; the last steps together are spun.
                            gate.wait();
                            arrived.fetch_add(1, Ordering::AcqRel);
                            while arrived.load(Ordering::Acquire) < (turn + 1) * threads {
                                std::hint::spin_loop();
                            }
                            burst(*case, target, thread)
                        })
                        .collect()
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().expect("thread")).collect()
    });
    for (index, (name, _)) in cases.iter().enumerate() {
        let events = if name.starts_with("4KiB") { EVENTS / 10 } else { EVENTS };
        let mut kept: Vec<f64> = (index..rounds * cases.len())
            .step_by(cases.len())
            .filter_map(|i| clean(&results.iter().map(|thread| &thread[i]).collect::<Vec<_>>()))
            .map(|nanos| nanos / events as f64)
            .collect();
        kept.sort_by(f64::total_cmp);
        let name = format!("ring.{threads}t.{name}");
        match kept.len() {
            0 => println!("# {name}: no clean burst of {rounds}"),
            n => println!(
                "result {name} {:.2} ns (lower quartile {:.2}, {n} of {rounds} bursts kept)",
                kept[n / 2],
                kept[n / 4]
            ),
        }
    }
}

/// Mean nanoseconds of a burst's threads, when all of them ran undisturbed and side by side.
fn clean(group: &[&Burst]) -> Option<f64> {
    let nanos = |b: &Burst| (b.end - b.start).as_nanos() as f64;
    let first_end = group.iter().map(|b| b.end).min()?;
    let last_start = group.iter().map(|b| b.start).max()?;
    let longest = group.iter().map(|b| nanos(b)).fold(0.0, f64::max);
    let overlap = first_end.saturating_duration_since(last_start).as_nanos() as f64;
    let clean = group.iter().all(|b| b.clean) && overlap >= 0.8 * longest;
    clean.then(|| group.iter().map(|b| nanos(b)).sum::<f64>() / group.len() as f64)
}

/// How long single events take: 32 bytes, by the clock on both sides of each.
fn latency(rounds: usize) {
    let ring = ring(1, 64);
    pin(0);
    let ticks = |f: &mut dyn FnMut(u64)| {
        let mut took: Vec<u64> = (0..rounds as u64 * 1_000)
            .map(|i| {
                let start = clock();
                f(i);
                clock() - start
            })
            .collect();
        took.sort_unstable();
        took
    };
    let per_nano = {
        let (start, from) = (Instant::now(), clock());
        while start.elapsed().as_millis() < 50 {
            std::hint::spin_loop();
        }
        (clock() - from) as f64 / start.elapsed().as_nanos() as f64
    };
    let mut probe = |i| {
        black_box(i);
    };
    let mut event = |i| assert!(ring.write_words(1, [clock(), i, i, i]).is_ok());
    for (name, took) in [("probe", ticks(&mut probe)), ("32B", ticks(&mut event))] {
        for (quantile, part) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
            let at = (took.len() as f64 * part) as usize;
            println!("result ring.1t.{name}.{quantile} {:.0} ns", took[at] as f64 / per_nano);
        }
    }
}

fn main() {
    // Cargo passes --bench.
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with('-'));
    let rounds = args.next().and_then(|arg| arg.parse().ok()).unwrap_or(300);
    let only = args.next().unwrap_or_default();
    for threads in [1, 2] {
        measure(threads, rounds, &only);
    }
    latency(rounds);
}
