//! Cost of an event against load: threads, cores and size of the area.
//!
//! The constraint: this machine has few processors, so many threads share them, and time by the wall says little of one
//! event. So two figures are given: processor time of the writing threads, and time by the wall times the processors
//! in use; each of all events of the point. Threads write for a fixed time, together, so that with a thousand of
//! them each is preempted, in the middle of an event too. Virtual cores stand for processors this machine has not: each
//! thread writes on a core of its own, whichever it runs on.
//!
//! Points, each alone: 1 to 1,000 threads on the machine's cores, with nothing between events (`threads`), the same
//! with 256 active blocks whatever the cores (`manyactive`), and with a microsecond of work between events (`working`,
//! whose times have the work in them); 1 to 256 virtual cores, a thread each; areas of 1 MiB to 4 GiB, first for as long
//! as the pages are new, then again. Prints `result load.threads1000.cpu X ns`, `.wall`, `.dropped X %` (of all
//! events), `.skipped X ratio` (positions for each one used) and `.closed N blocks`, and the same for `manyactive`,
//! `working`, `cores` and `area...MiB`. Arguments: milliseconds a point (default 500), `--smoke`.

use lookback_ring::{Geometry, Ring};
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Large enough that a point goes round often and small enough for its pages to be there.
const AREA: usize = 32 << 20;
/// Events between looks at whether time is up.
const BATCH: u64 = 100;
/// Bytes of an event in the area: header and four words.
const EVENT: usize = 40;

/// An area whose pages come when they are first written, with a ring in it.
struct Mapped {
    memory: *mut libc::c_void,
    bytes: usize,
    ring: Ring,
}

impl Mapped {
    fn new(bytes: usize, cores: usize) -> Mapped {
        let geometry = Geometry::for_events(bytes, cores as u32, 32).expect("geometry");
        Mapped::with(bytes, geometry)
    }

    /// With 256 active blocks, small ones: as many threads can be away in the middle of an event.
    fn many_active(bytes: usize, cores: usize) -> Mapped {
        let empty = Geometry { block_size: 8192, blocks: 0, active: 256, cores: cores as u32 };
        let rows = (bytes - empty.bytes()) / (8192 * 256);
        Mapped::with(bytes, Geometry { blocks: rows as u32 * 256, ..empty })
    }

    fn with(bytes: usize, geometry: Geometry) -> Mapped {
        let (protection, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh private anonymous mapping.
        let memory = unsafe {
            libc::mmap(core::ptr::null_mut(), bytes, protection, kind | libc::MAP_NORESERVE, -1, 0)
        };
        assert_ne!(memory, libc::MAP_FAILED, "{bytes} bytes");
        // SAFETY: the mapping has this length, is page-aligned and goes away with the ring.
        let ring = unsafe { Ring::format(memory.cast(), bytes, geometry) }.expect("format");
        Mapped { memory, bytes, ring }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, and nobody uses the ring any more.
        unsafe { libc::munmap(self.memory, self.bytes) };
    }
}

// SAFETY: the pointer is only used in `drop`.
unsafe impl Sync for Mapped {}

/// Processor time of this thread.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the struct.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[inline(always)]
fn clock() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has rdtsc.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// What the threads of a point did.
#[derive(Clone, Copy, Default)]
struct Done {
    events: u64,
    dropped: u64,
    cpu: Duration,
    wall: Duration,
}

/// How a thread writes.
#[derive(Clone, Copy)]
enum How {
    /// Event after event, on the processor that runs. A thread that is preempted is then in the middle of an event
    /// half of the time, as no real program's is.
    Saturated,
    /// With [`WORK`] between events.
    Working,
    /// Event after event, on the virtual core that has the thread's number.
    OnVirtualCore,
}

/// Between events of [`How::Working`]: a million events a second and thread is more than any program records for long.
const WORK: Duration = Duration::from_micros(1);

/// A batch of events of thread `thread`; how many were dropped.
fn batch(ring: &Ring, how: How, thread: usize) -> u64 {
    let failed = |i: u64| match how {
        How::Saturated => ring.write_words(1, [clock(), i, i, i]).is_err(),
        How::Working => {
            let start = Instant::now();
            while start.elapsed() < WORK {}
            ring.write_words(1, [clock(), i, i, i]).is_err()
        }
        How::OnVirtualCore => {
            let payload = [clock(), i, i, i].map(u64::to_le_bytes);
            ring.write_on(thread, 1, &[payload.as_flattened()]).is_err()
        }
    };
    (0..BATCH).map(|i| u64::from(failed(i))).sum()
}

/// `threads` threads write together until time is up.
fn together(ring: &Ring, threads: usize, how: How, time: Duration) -> Done {
    // A lock for reading lets all in at once. A barrier hands its lock on from one to the next, and each waits for a
    // turn of the processor behind those who already write: minutes, with a thousand.
    let (gate, arrived, stop) = (RwLock::new(()), AtomicUsize::new(0), AtomicBool::new(false));
    let closed = gate.write().expect("the gate");
    let write = |thread: usize| {
        arrived.fetch_add(1, Ordering::Relaxed);
        drop(gate.read());
        let (start, mut done) = (cpu_time(), Done::default());
        while !stop.load(Ordering::Relaxed) {
            done.dropped += batch(ring, how, thread);
            done.events += BATCH;
        }
        Done { cpu: cpu_time() - start, ..done }
    };
    std::thread::scope(|scope| {
        let spawn = |thread| {
            let (builder, write) = (std::thread::Builder::new().stack_size(64 << 10), &write);
            builder.spawn_scoped(scope, move || write(thread)).expect("a thread")
        };
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        while arrived.load(Ordering::Relaxed) < threads {
            std::thread::sleep(Duration::from_millis(1));
        }
        let start = Instant::now();
        drop(closed);
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        let all = handles.into_iter().map(|handle| handle.join().expect("thread"));
        let sum = all.fold(Done::default(), |sum, one| Done {
            events: sum.events + one.events,
            dropped: sum.dropped + one.dropped,
            cpu: sum.cpu + one.cpu,
            wall: Duration::ZERO,
        });
        Done { wall: start.elapsed(), ..sum }
    })
}

/// One thread writes `bytes` bytes of events.
fn alone(ring: &Ring, bytes: usize) -> Done {
    let (start, begun, mut done) = (cpu_time(), Instant::now(), Done::default());
    while done.events * (EVENT as u64) < bytes as u64 {
        done.dropped += batch(ring, How::Saturated, 0);
        done.events += BATCH;
    }
    Done { cpu: cpu_time() - start, wall: begun.elapsed(), ..done }
}

fn report(name: &str, ring: &Ring, done: Done, processors: usize) {
    let each = |time: Duration| time.as_nanos() as f64 / done.events as f64;
    let losses = ring.losses();
    println!("result load.{name}.cpu {:.2} ns", each(done.cpu));
    println!("result load.{name}.wall {:.2} ns", each(done.wall) * processors as f64);
    println!("result load.{name}.dropped {:.4} %", 100.0 * done.dropped as f64 / done.events as f64);
    let used = ring.end().0.saturating_sub(losses.skipped_blocks).max(1);
    println!("result load.{name}.skipped {:.4} ratio", losses.skipped_blocks as f64 / used as f64);
    println!("result load.{name}.closed {} blocks", losses.closed_blocks);
    println!("# load.{name}: {} events, {:?}", done.events, ring.geometry());
}

/// Bytes that new processes can use without swapping, as Linux estimates it.
fn memory_at_hand() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<usize>().ok()).unwrap_or(0) << 10
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let smoke = arguments.iter().any(|argument| argument == "--smoke");
    let millis = arguments.iter().find_map(|argument| argument.parse().ok());
    let time = Duration::from_millis(millis.unwrap_or(if smoke { 50 } else { 500 }));
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    let powers = |most: usize| (0..).map(|power| 1 << power).take_while(move |&n| n < most).chain([most]);
    let few = |n: &usize| !smoke || [1, 32, 256].contains(n);

    for threads in powers(1000).filter(few) {
        let usual: fn(usize, usize) -> Mapped = Mapped::new;
        for (name, how, map) in [
            ("threads", How::Saturated, usual),
            ("manyactive", How::Saturated, Mapped::many_active),
            ("working", How::Working, usual),
        ] {
            let mapped = map(AREA, processors);
            let done = together(&mapped.ring, threads, how, time);
            report(&format!("{name}{threads}"), &mapped.ring, done, processors.min(threads));
        }
    }
    for cores in powers(256).filter(few) {
        let mapped = Mapped::new(AREA, cores);
        let done = together(&mapped.ring, cores, How::OnVirtualCore, time);
        report(&format!("cores{cores}"), &mapped.ring, done, processors.min(cores));
    }
    for mebibytes in powers(4096).filter(few) {
        let bytes = mebibytes << 20;
        if bytes > memory_at_hand() / 2 {
            println!("# load.area{mebibytes}MiB left out: less than twice as much memory is free");
            continue;
        }
        let mapped = Mapped::new(bytes, processors);
        let new = alone(&mapped.ring, bytes);
        report(&format!("area{mebibytes}MiB.new"), &mapped.ring, new, 1);
        // Small areas go round until there is something to measure.
        let again = alone(&mapped.ring, bytes.max(64 << 20));
        report(&format!("area{mebibytes}MiB"), &mapped.ring, again, 1);
    }
}
