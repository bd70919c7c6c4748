//! Cost of recording one event, by size, with one and two threads, with and without a clock.
//!
//! The constraint: the machine is shared and noisy, so wall-clock averages of long loops lie. The
//! method is clean bursts: short bursts, threads pinned and started together, kept only if no
//! thread was switched out during it (and, with two threads, if their windows overlap by 80 %);
//! reported is the median of the kept bursts. Each burst ends with a check that nothing was
//! dropped. Arguments: number of bursts (default 300).

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lookback_ring::{Geometry, Ring};

/// Far larger than the second-level cache, as in use: blocks come from memory or the shared cache.
const AREA: usize = 32 << 20;
/// Fits the second-level cache: what the instructions cost.
const CACHED: usize = 512 << 10;

/// A mapped, touched area with a ring in it; never unmapped.
fn ring(area: usize, cores: u32) -> &'static Ring {
    // SAFETY: a fresh private anonymous mapping.
    let mem = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            area,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
            -1,
            0,
        )
    };
    assert_ne!(mem, libc::MAP_FAILED);
    let geometry = Geometry::for_events(area, cores, 4200).expect("geometry");
    // SAFETY: the mapping has this length, is page-aligned and never goes away.
    let ring = unsafe { Ring::format(mem.cast(), area, geometry) }.expect("format");
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

fn stamp(clock: bool) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if clock {
        // SAFETY: every x86-64 processor has rdtsc.
        return unsafe { core::arch::x86_64::_rdtsc() };
    }
    u64::from(clock)
}

/// One thread's burst: start and end, and whether it ran undisturbed.
struct Burst {
    start: Instant,
    end: Instant,
    clean: bool,
}

#[inline(never)]
fn burst<const SIZE: usize>(ring: &Ring, events: usize, clock: bool) -> Burst {
    let payload = black_box([7u8; SIZE]);
    let before = switches();
    let start = Instant::now();
    for _ in 0..events {
        let time = stamp(clock).to_le_bytes();
        // The stamp is part of the payload's size; a 4 KiB chunk comes with a header.
        let dropped = if SIZE == 4096 {
            ring.write(1, &[&time, &payload]).is_err()
        } else {
            ring.write(1, &[&time, &payload[8..]]).is_err()
        };
        assert!(!dropped);
    }
    let end = Instant::now();
    Burst { start, end, clean: switches() == before }
}

fn measure<const SIZE: usize>(area: usize, threads: usize, clock: bool, bursts: usize) {
    let ring = ring(area, threads as u32);
    let events = if SIZE >= 4096 { 2_000 } else { 10_000 };
    let arrived = AtomicUsize::new(0);
    let results: Vec<Vec<Burst>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|cpu| {
                let arrived = &arrived;
                scope.spawn(move || {
                    pin(cpu);
                    (1..=bursts)
                        .map(|turn| {
                            arrived.fetch_add(1, Ordering::AcqRel);
                            while arrived.load(Ordering::Acquire) < turn * threads {
                                std::thread::yield_now();
                            }
                            burst::<SIZE>(ring, events, clock)
                        })
                        .collect()
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().expect("thread")).collect()
    });
    let mut kept: Vec<f64> = (0..bursts)
        .filter_map(|i| {
            let group: Vec<&Burst> = results.iter().map(|thread| &thread[i]).collect();
            let nanos = |b: &Burst| (b.end - b.start).as_nanos() as f64;
            let first_end = group.iter().map(|b| b.end).min()?;
            let last_start = group.iter().map(|b| b.start).max()?;
            let longest = group.iter().map(|b| nanos(b)).fold(0.0, f64::max);
            let overlap = first_end.saturating_duration_since(last_start).as_nanos() as f64;
            let clean = group.iter().all(|b| b.clean) && overlap >= 0.8 * longest;
            clean.then(|| group.iter().map(|b| nanos(b)).sum::<f64>() / (threads * events) as f64)
        })
        .collect();
    kept.sort_by(f64::total_cmp);
    let (cached, clock) = (if area == CACHED { ".cached" } else { "" }, if clock { "" } else { ".noclock" });
    let name = format!("ring.event{SIZE}.{threads}threads{cached}{clock}");
    match kept.len() {
        0 => println!("# {name}: no clean burst of {bursts}"),
        n => println!("result {name} {:.2} ns ({n} of {bursts} bursts kept)", kept[n / 2]),
    }
}

fn main() {
    // Cargo passes --bench.
    let bursts = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(300);
    for clock in [true, false] {
        for threads in [1, 2] {
            measure::<16>(AREA, threads, clock, bursts);
            measure::<32>(AREA, threads, clock, bursts);
            measure::<64>(AREA, threads, clock, bursts);
            measure::<4096>(AREA, threads, clock, bursts);
            measure::<64>(CACHED, threads, clock, bursts);
            measure::<4096>(CACHED, threads, clock, bursts);
        }
    }
}
