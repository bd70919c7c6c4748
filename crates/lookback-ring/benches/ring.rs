//! Cost of recording one event, by size and way of handing it over, with one and two threads, beside the
//! floor of this machine and two simpler designs: one buffer for all (`global`, with one locked addition: less than BBQ
//! does) and a ring for each thread (`per-thread`, plain stores).
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
    /// For the simpler designs: their memory, and the cursor of the one for all.
    words: &'static [AtomicU64],
    cursor: &'static Lines,
}

impl Target {
    fn new(threads: usize) -> Target {
        let lines: Vec<Lines> = (0..threads).map(|_| Lines::default()).collect();
        // Not zero, so that the memory is touched.
        let words: Vec<AtomicU64> = (0..AREA / 8).map(|_| AtomicU64::new(1)).collect();
        let cores = threads as u32;
        Target {
            small: ring(cores, 64),
            large: ring(cores, 4200),
            lines: lines.leak(),
            words: words.leak(),
            cursor: Box::leak(Box::default()),
        }
    }
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

/// Stores an event's header and payload at a word of the simpler designs' memory, without going over its end.
#[inline(always)]
fn store<const N: usize>(words: &[AtomicU64], at: usize, payload: [u64; N]) {
    let space = &words[at..=at + N];
    for (slot, word) in space.iter().zip([N as u64].into_iter().chain(payload)) {
        slot.store(word, Ordering::Relaxed);
    }
}

#[inline(always)]
fn global_event<const N: usize>(t: &Target, i: u64) {
    let mut words = [i; N];
    words[0] = clock();
    let at = t.cursor.0[0].fetch_add(N as u64 + 1, Ordering::Relaxed) as usize;
    store(t.words, (at & (AREA / 8 - 1)).min(AREA / 8 - 1 - N), words);
}

/// One buffer for all cores.
#[inline(never)]
fn global<const N: usize>(t: &Target, _: usize) {
    for i in 0..EVENTS as u64 {
        global_event::<N>(t, i);
    }
}

#[inline(always)]
fn thread_event<const N: usize>(t: &Target, thread: usize, i: u64) {
    let mut words = [i; N];
    words[0] = clock();
    // Half the memory each, for at most two threads.
    const PART: usize = AREA / 16;
    // A word that the floor does not use.
    let cursor = &t.lines[thread].1[8];
    let at = cursor.load(Ordering::Relaxed) as usize;
    store(&t.words[thread * PART..][..PART], at, words);
    let next = at + N + 1;
    cursor.store(if next + N + 1 > PART { 0 } else { next as u64 }, Ordering::Release);
}

/// A ring for each thread.
#[inline(never)]
fn per_thread<const N: usize>(t: &Target, thread: usize) {
    for i in 0..EVENTS as u64 {
        thread_event::<N>(t, thread, i);
    }
}

/// The ring's unless another tracer is named before a colon.
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
    ("global:32B", global::<4>),
    ("global:64B", global::<8>),
    ("per-thread:32B", per_thread::<4>),
    ("per-thread:64B", per_thread::<8>),
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
    let target = Target::new(threads);
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
        let (tracer, name) = name.split_once(':').unwrap_or(("ring", name));
        let name = format!("{tracer}.{threads}t.{name}");
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

/// How long single events take: 32 bytes, by the clock on both sides of each. A line `latency` has 200 quantiles in
/// nanoseconds, for the distribution (paper, figure 11).
fn latency(rounds: usize, only: &str) {
    let target = Target::new(1);
    pin(0);
    let per_nano = {
        let (start, from) = (Instant::now(), clock());
        while start.elapsed().as_millis() < 50 {
            std::hint::spin_loop();
        }
        (clock() - from) as f64 / start.elapsed().as_nanos() as f64
    };
    let ring_event = |i| assert!(target.small.write_words(1, [clock(), i, i, i]).is_ok());
    let events: [(&str, &dyn Fn(u64)); 4] = [
        ("ring.1t.probe", &|i| _ = black_box(i)),
        ("ring.1t.32B", &ring_event),
        ("global.1t.32B", &|i| global_event::<4>(&target, i)),
        ("per-thread.1t.32B", &|i| thread_event::<4>(&target, 0, i)),
    ];
    for (name, event) in events.into_iter().filter(|(name, _)| name.contains(only)) {
        let mut took: Vec<f64> = (0..rounds as u64 * 1_000)
            .map(|i| {
                let start = clock();
                event(i);
                (clock() - start) as f64 / per_nano
            })
            .collect();
        took.sort_by(f64::total_cmp);
        let at = |part: f64| took[(took.len() as f64 * part) as usize];
        for (quantile, part) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
            println!("result {name}.{quantile} {:.0} ns", at(part));
        }
        let logarithms: f64 = took.iter().map(|nanos| nanos.max(1.0).ln()).sum();
        println!("result {name}.gm {:.1} ns", (logarithms / took.len() as f64).exp());
        let parts: Vec<String> = (0..200).map(|part| format!("{:.0}", at(f64::from(part) / 200.0))).collect();
        println!("latency {name} {}", parts.join(" "));
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
    latency(rounds, &only);
}
