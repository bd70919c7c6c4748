//! Growing and shrinking: what is kept, what is given back, and producers and followers meanwhile.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::{Area, LEAST, Random, Tail, geometry, payload, position, snapshot};
use crate::{Error, Obstacle, Position, Resized, Ring};

/// A resize that waits for nobody; the ranges given back become zeros, as the kernel makes them.
fn resize(ring: &Ring, blocks: u32) -> Resized {
    ring.resize(blocks, &mut |_| false, &mut |bytes| zero(ring, bytes)).unwrap()
}

fn zero(ring: &Ring, bytes: core::ops::Range<usize>) {
    (bytes.start / 8..bytes.end / 8).for_each(|at| ring.word(at).store(0, Ordering::Relaxed));
}

fn fill(ring: &Ring, seqs: core::ops::Range<u64>) {
    seqs.for_each(|seq| ring.write_on(0, 0, &[&payload(0, seq, 4080)]).unwrap());
}

fn events(ring: &Ring) -> Vec<u64> {
    snapshot(ring, Position::START).0.iter().flat_map(|block| &block.events).map(|event| event.1).collect()
}

#[test]
fn growing_keeps_what_is_there_and_shrinking_keeps_what_is_left() {
    let g = geometry(16, 2, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    assert_eq!(resize(&ring, 4).released, 0, "nothing was in use");
    fill(&ring, 0..10);
    assert_eq!(events(&ring), [6, 7, 8, 9]);
    assert_eq!((resize(&ring, 16).blocks, ring.blocks()), (16, 16));
    assert_eq!(events(&ring), [6, 7, 8, 9]);
    fill(&ring, 10..50);
    assert_eq!(events(&ring), (34..50).collect::<Vec<_>>());
    // Rounds 20 to 25: rows 0 and 1 of 8 hold the positions of rounds 24 and 25, the newest.
    let shrunk = resize(&ring, 4);
    assert_eq!((shrunk.released, shrunk.held), (12, 0));
    let kept = events(&ring);
    assert_eq!(kept.len(), 4);
    fill(&ring, 50..60);
    assert_eq!(events(&ring), [56, 57, 58, 59]);
    assert_eq!(ring.losses().dropped(), 0);
}

#[test]
fn what_cannot_be_is_refused() {
    let g = geometry(16, 4, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    for blocks in [0, 3, 6, 20] {
        let refused = ring.resize(blocks, &mut |_| false, &mut |_| {});
        assert!(matches!(refused, Err(Error::Geometry { .. })), "{blocks}: {refused:?}");
    }
    assert_eq!(ring.blocks(), 16);
    // While a resize waits, another one is refused; when its process has died, it can be let go.
    fill(&ring, 0..40);
    let held = ring.reserve(0, 100).unwrap();
    let mut asked = 0;
    let mut wait = |obstacle| {
        assert_eq!(obstacle, Obstacle::Writer);
        let second = ring.resize(4, &mut |_| false, &mut |_| {});
        assert_eq!(second, Err(Error::Resizing { pid: std::process::id() }));
        asked += 1;
        asked < 3
    };
    let target = if position(&ring, &held).0 % 16 < 4 { 16 } else { 4 };
    let resized = ring.resize(target, &mut wait, &mut |_| {}).unwrap();
    assert_eq!((asked, resized.held), if target == 4 { (3, 1) } else { (0, 0) });
    ring.word(408 / 8).store(77, Ordering::Relaxed);
    assert_eq!(ring.resize(4, &mut |_| false, &mut |_| {}), Err(Error::Resizing { pid: 77 }));
    ring.abandon_resize(76);
    assert!(ring.resize(4, &mut |_| false, &mut |_| {}).is_err());
    ring.abandon_resize(77);
    assert!(ring.resize(4, &mut |_| false, &mut |_| {}).is_ok());
}

#[test]
fn a_writers_block_is_kept_until_it_has_left() {
    let g = geometry(16, 2, 1);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    // Position 12, in row 6 of 8.
    fill(&ring, 0..10);
    let held = ring.reserve(0, 100).unwrap();
    assert_eq!(held.block.0, 12);
    let resized = resize(&ring, 2);
    assert_eq!((resized.held, resized.released), (1, 11));
    ring.commit_parts(&held, 0, &[&payload(0, 10, 100)]);
    let again = resize(&ring, 2);
    assert_eq!((again.held, again.released), (0, 12));
    fill(&ring, 11..20);
    assert_eq!(events(&ring), [18, 19]);
}

#[test]
fn the_memory_goes_back_to_the_system() {
    let g = geometry(1024, 4, 2);
    let bytes = g.bytes();
    // SAFETY: plain system calls; the mapping stays until the end of the process.
    let (file, mem) = unsafe {
        let file = libc::memfd_create(c"ring".as_ptr(), 0);
        assert!(file >= 0 && libc::ftruncate(file, bytes as i64) == 0);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        (file, libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, file, 0))
    };
    assert_ne!(mem, libc::MAP_FAILED);
    // SAFETY: mapped above, used by nobody else.
    let ring = unsafe { Ring::format(mem.cast(), bytes, g) }.unwrap();
    fill(&ring, 0..1100);
    let before = (resident(mem as usize), in_file(file));
    assert!(before.0 >= 4 << 20 && before.1 >= 4 << 20, "{before:?}");
    let mut release = |range: core::ops::Range<usize>| {
        // SAFETY: a part of the mapping that nobody uses any more.
        let done = unsafe { libc::madvise(mem.byte_add(range.start), range.len(), libc::MADV_REMOVE) };
        assert_eq!(done, 0);
    };
    let resized = ring.resize(64, &mut |_| false, &mut release).unwrap();
    assert_eq!(resized.released, 960);
    // 64 blocks and a few pages of header and metadata.
    for after in [resident(mem as usize), in_file(file)] {
        assert!((256 << 10..320 << 10).contains(&after), "{after} bytes after {before:?}");
    }
    fill(&ring, 1100..1300);
    assert_eq!(events(&ring), (1236..1300).collect::<Vec<_>>());
    for after in [resident(mem as usize), in_file(file)] {
        assert!(after < 320 << 10, "{after} bytes are used by 64 blocks and a reader");
    }
}

/// Bytes of the mapping at `address` that are in memory, as the kernel says.
fn resident(address: usize) -> u64 {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let begin = format!("{address:x}-");
    let lines = maps.lines().skip_while(|line| !line.starts_with(&begin));
    let rss = lines.filter_map(|line| line.strip_prefix("Rss:")).next().unwrap();
    rss.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Bytes of memory that a file of memory takes.
fn in_file(file: i32) -> u64 {
    // SAFETY: a zeroed stat is valid, and the call fills it.
    let stat = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        assert_eq!(libc::fstat(file, &mut stat), 0);
        stat
    };
    stat.st_blocks as u64 * 512
}

#[test]
fn producers_and_followers_go_on_while_the_size_changes() {
    const THREADS: u64 = 6;
    const EVENTS: u64 = 20_000;
    let g = geometry(256, 8, 2);
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    let ring: &Ring = &ring;
    let running = AtomicUsize::new(THREADS as usize);
    let (logs, tail, resizes) = std::thread::scope(|scope| {
        let producers = (0..THREADS).map(|thread| {
            let running = &running;
            scope.spawn(move || {
                let mut random = Random(thread);
                let mut log = Vec::new();
                for seq in 0..EVENTS {
                    let length = LEAST + random.below(200) as usize;
                    if let Ok(reservation) = ring.reserve((thread + seq / 64) as usize, length) {
                        log.push((seq, position(ring, &reservation)));
                        ring.commit_parts(&reservation, 0, &[&payload(thread, seq, length)]);
                    }
                }
                running.fetch_sub(1, Ordering::AcqRel);
                log
            })
        });
        let producers: Vec<_> = producers.collect();
        let resizer = scope.spawn(|| {
            let mut random = Random(99);
            let mut resizes = 0u64;
            while running.load(Ordering::Acquire) > 0 {
                let blocks = 8 * (1 + random.below(32) as u32);
                // Every other time it waits a little for whom it meets.
                let mut patience = random.below(2) * 1000;
                let mut wait = |_| {
                    patience = patience.saturating_sub(1);
                    std::thread::yield_now();
                    patience > 0
                };
                ring.resize(blocks, &mut wait, &mut |bytes| zero(ring, bytes)).unwrap();
                resizes += 1;
            }
            resizes
        });
        let mut tail = Tail::new(Position::START);
        while running.load(Ordering::Acquire) > 0 {
            tail.look(ring);
        }
        let resizes = resizer.join().unwrap();
        tail.look(ring);
        (producers.into_iter().map(|p| p.join().unwrap()).collect::<Vec<_>>(), tail, resizes)
    });
    assert!(resizes > 10, "{resizes}");
    let found: HashSet<(u64, u64)> = tail.events.iter().copied().collect();
    assert_eq!(found.len(), tail.events.len(), "twice");
    let lost = |at: &Position| {
        tail.lost.iter().any(|lost| (lost.position.0..lost.position.0 + lost.blocks).contains(&at.0))
    };
    let mut delivered = 0;
    for (thread, log) in (0..).zip(&logs) {
        for (seq, at) in log {
            let there = found.contains(&(thread, *seq));
            assert!(there || lost(at), "thread {thread}, seq {seq} at {at}: neither delivered nor lost");
            delivered += usize::from(there);
        }
    }
    assert_eq!(delivered, tail.events.len(), "an event that nobody wrote");
    assert!(delivered > 0);
    let logged: usize = logs.iter().map(Vec::len).sum();
    assert_eq!(logged as u64 + ring.losses().dropped(), THREADS * EVENTS);
}
