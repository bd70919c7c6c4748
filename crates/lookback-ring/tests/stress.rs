//! 64 threads in 8 processes write into one ring on the cores that there are, stopped and continued by signals at
//! any instruction and with changing priorities, while two followers read and the ring is resized.
//!
//! The constraint: what is checked must hold whatever the scheduler does, so nothing here depends on time: each event
//! that was accepted is delivered to each follower once, whole and in its block's order, or lies in a block that was
//! reported lost. The children are this program again; it has no test harness of its own language, but prints what one
//! prints. Arguments: `child` and the child's number, by itself.

use std::collections::{HashMap, HashSet};
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lookback_ring::{Delivery, Follower, Geometry, LossCause, Position, Ring};

const PROCESSES: usize = 8;
const THREADS: usize = 8;
const EVENTS: u64 = 1_500;
/// Behind the ring: for each thread, how many events were accepted, plus 1 once it has ended.
const PAGE: usize = 4096;

/// Small, seeded, good enough to vary what happens (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// A ring in a mapped file, and the threads' counters behind it.
struct Shared {
    ring: Ring,
    counters: &'static [AtomicU64],
    base: *mut u8,
}

// SAFETY: the mapping is never undone; it is only accessed through the ring and through atomics, and by system calls
// on parts that the ring has given back.
unsafe impl Sync for Shared {}

impl Shared {
    fn map(path: &Path, format: Option<Geometry>) -> Shared {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).expect("file");
        if let Some(geometry) = format {
            file.set_len((geometry.bytes() + PAGE) as u64).expect("length");
        }
        let length = file.metadata().expect("metadata").len() as usize;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new shared mapping of the whole file, which nobody makes shorter.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        assert_ne!(base, libc::MAP_FAILED, "map");
        let base: *mut u8 = base.cast();
        // SAFETY: as above; all but the last page is the ring's.
        let ring = unsafe {
            match format {
                Some(geometry) => Ring::format(base, length - PAGE, geometry),
                None => Ring::open(base, length - PAGE),
            }
        };
        // SAFETY: the last page, aligned, only accessed atomically.
        let counters =
            unsafe { std::slice::from_raw_parts(base.add(length - PAGE).cast(), PROCESSES * THREADS) };
        Shared { ring: ring.expect("ring"), counters, base }
    }
}

impl Shared {
    /// Gives memory back to the system.
    fn release(&self, bytes: std::ops::Range<usize>) {
        // SAFETY: a part of the mapping that nobody uses.
        let result =
            unsafe { libc::madvise(self.base.add(bytes.start).cast(), bytes.len(), libc::MADV_REMOVE) };
        assert_eq!(result, 0, "give memory back");
    }
}

/// Who, which, how long, and bytes that follow from them.
fn payload(thread: u64, seq: u64) -> Vec<u8> {
    let length = 24 + (seq * 7919 + thread) % if seq.is_multiple_of(50) { 3_000 } else { 120 };
    let mut bytes: Vec<u8> = [thread, seq, length].iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend((24..length).map(|i| (seq ^ thread).wrapping_add(i) as u8));
    bytes
}

/// One of the writing processes.
fn child(path: &Path, number: usize) {
    let shared = Shared::map(path, None);
    std::thread::scope(|scope| {
        for thread in number * THREADS..(number + 1) * THREADS {
            let shared = &shared;
            scope.spawn(move || {
                let mut random = Random(thread as u64);
                for seq in 0..EVENTS {
                    if seq.is_multiple_of(100) {
                        // SAFETY: a system call without memory arguments; 0 means this thread. Lowering one's own
                        // priority is always allowed, raising it again need not be.
                        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, random.below(20) as i32) };
                    }
                    if shared.ring.write(1, &[&payload(thread as u64, seq)]).is_ok() {
                        shared.counters[thread].fetch_add(1, Ordering::Release);
                    }
                }
            });
        }
    });
}

/// What a follower has got.
#[derive(Default)]
struct Got {
    /// The events of each thread.
    events: HashMap<u64, HashSet<u64>>,
    overwritten: u64,
    skipped: u64,
}

fn follow(shared: &Shared, ended: &AtomicBool) -> Got {
    let (mut got, mut follower) = (Got::default(), Follower::new(Position::START));
    loop {
        // Before the look, so that the last one sees everything.
        let last = ended.load(Ordering::Acquire);
        follower.look(&shared.ring, &mut |delivery| match delivery {
            Delivery::Events { events, .. } => {
                // A thread that changes its core goes on in an older or a newer block.
                let mut order: HashMap<u64, u64> = HashMap::new();
                for entry in events {
                    let word =
                        |i: usize| u64::from_le_bytes(entry.payload[8 * i..][..8].try_into().expect("word"));
                    assert_eq!(entry.payload, payload(word(0), word(1)), "torn");
                    assert!(
                        order.insert(word(0), word(1)).is_none_or(|before| before < word(1)),
                        "order in a block"
                    );
                    assert!(got.events.entry(word(0)).or_default().insert(word(1)), "twice");
                }
            }
            Delivery::Lost(lost) if lost.cause == LossCause::Skipped => got.skipped += lost.blocks,
            Delivery::Lost(lost) => got.overwritten += lost.blocks,
            _ => unreachable!("another kind of delivery"),
        });
        if last {
            return got;
        }
        std::thread::yield_now();
    }
}

/// Stops and continues the children at random until all have ended; returns how many stops that were.
fn torment(children: &mut [Child], random: &mut Random) -> u64 {
    let mut stops = 0;
    loop {
        let signal = |child: &Child, signal| {
            // SAFETY: a system call without memory arguments, to a process of ours that was not waited for.
            unsafe { libc::kill(child.id() as i32, signal) };
        };
        // Half of them, stopped together, at least one goes on.
        let chosen: Vec<bool> = (0..children.len()).map(|_| random.below(2) == 0).collect();
        let running: Vec<bool> =
            children.iter_mut().map(|child| child.try_wait().expect("wait").is_none()).collect();
        if !running.contains(&true) {
            return stops;
        }
        for (i, child) in children.iter().enumerate().filter(|&(i, _)| running[i] && chosen[i]) {
            assert!(i < PROCESSES);
            signal(child, libc::SIGSTOP);
            stops += 1;
        }
        (0..random.below(2_000)).for_each(|_| std::hint::spin_loop());
        children
            .iter()
            .zip(&running)
            .filter(|(_, running)| **running)
            .for_each(|(c, _)| signal(c, libc::SIGCONT));
        std::thread::yield_now();
    }
}

fn run(name: &str, geometry: Geometry, resize: bool) {
    // On a disk, giving memory back makes every writer that touches a new page wait for the file's lock.
    let folders = ["/dev/shm", env!("CARGO_TARGET_TMPDIR")].map(Path::new);
    let folder = folders.into_iter().find(|folder| folder.is_dir()).expect("a folder");
    let path = folder.join(format!("lookback-stress-{}-{name}", std::process::id()));
    let shared = Shared::map(&path, Some(geometry));
    let program = std::env::current_exe().expect("this program");
    let spawn =
        |i: usize| Command::new(&program).arg("child").arg(&path).arg(i.to_string()).spawn().expect("child");
    let mut children: Vec<Child> = (0..PROCESSES).map(spawn).collect();
    let ended = AtomicBool::new(false);
    let (stops, got, resizes) = std::thread::scope(|scope| {
        let followers = [0; 2].map(|_| scope.spawn(|| follow(&shared, &ended)));
        let resizer = scope.spawn(|| {
            let (mut random, mut resizes, mut due) = (Random(5), 0, 0);
            while resize && !ended.load(Ordering::Acquire) {
                // Each size is used for a while: writers whose blocks are taken away without end get nowhere.
                if shared.ring.end().0 < due {
                    std::thread::yield_now();
                    continue;
                }
                due = shared.ring.end().0 + random.below(u64::from(geometry.blocks));
                let rows = geometry.blocks / geometry.active;
                let blocks = geometry.active * (1 + random.below(u64::from(rows)) as u32);
                let mut release = |bytes| shared.release(bytes);
                shared.ring.resize(blocks, &mut |_| false, &mut release).expect("resize");
                resizes += 1;
            }
            resizes
        });
        let stops = torment(&mut children, &mut Random(11));
        ended.store(true, Ordering::Release);
        (stops, followers.map(|f| f.join().expect("follower")), resizer.join().expect("resizer"))
    });
    children.iter_mut().for_each(|child| assert!(child.wait().expect("wait").success(), "a writer failed"));
    std::fs::remove_file(&path).expect("remove");
    let losses = shared.ring.losses();
    let accepted: Vec<u64> = shared.counters.iter().map(|counter| counter.load(Ordering::Acquire)).collect();
    let all = (PROCESSES * THREADS) as u64 * EVENTS;
    assert_eq!(accepted.iter().sum::<u64>() + losses.dropped(), all, "{losses:?}");
    assert!(stops > 20, "only {stops} stops");
    // All writers have left, so no metadata block is held.
    let (skipped, until) = (losses.skipped_blocks, shared.ring.end().0 + u64::from(geometry.active));
    while shared.ring.end().0 < until {
        shared.ring.write(1, &[&payload(0, 0)]).expect("room");
    }
    assert_eq!(shared.ring.losses().skipped_blocks, skipped, "a metadata block is held by nobody");
    for got in got {
        for (thread, events) in &got.events {
            assert!(events.len() as u64 <= accepted[*thread as usize]);
        }
        let delivered: usize = got.events.values().map(HashSet::len).sum();
        if got.overwritten == 0 {
            assert_eq!(delivered as u64, all - losses.dropped(), "neither delivered nor lost");
        }
        println!(
            "{name}: {stops} stops, {resizes} resizes, {delivered} of {all} events delivered, {} dropped, {} blocks \
             overwritten, {} skipped",
            losses.dropped(),
            got.overwritten,
            got.skipped
        );
        assert!(resize || got.overwritten == 0, "the ring is large enough for all");
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [role, path, number] = args.as_slice()
        && role == "child"
    {
        child(Path::new(path), number.parse().expect("a number"));
        return ExitCode::SUCCESS;
    }
    if args.iter().any(|arg| arg == "--list") {
        return ExitCode::SUCCESS;
    }
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get()) as u32;
    let active = (16 * cores).next_power_of_two();
    // Large enough for all events, and so small that it wraps again and again.
    run("large", Geometry { block_size: 8192, blocks: active * 96, active, cores }, false);
    run("resized", Geometry { block_size: 4096, blocks: active * 8, active, cores }, true);
    println!("test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
    ExitCode::SUCCESS
}
