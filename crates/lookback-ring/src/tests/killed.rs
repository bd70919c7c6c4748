//! `kill -9`: what a process had written into a mapped file is found in the file alone.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::support::{Area, Random, salvage};
use crate::{Geometry, Position, Ring};

const WRITERS: usize = 2;
/// After the ring: for each writer, the events it has finished.
const PROGRESS: usize = 4096;

/// A file of a given length, mapped; removed at the end.
struct Mapped {
    path: PathBuf,
    mem: *mut u8,
    len: usize,
}

impl Mapped {
    fn new(path: &Path, len: usize) -> Mapped {
        let file: File = OpenOptions::new().read(true).write(true).create_new(true).open(path).unwrap();
        file.set_len(len as u64).unwrap();
        let (protection, fd) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
        // SAFETY: a new mapping, chosen by the kernel, of a file of that length.
        let mem = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, libc::MAP_SHARED, fd, 0) };
        assert_ne!(mem, libc::MAP_FAILED);
        Mapped { path: path.to_owned(), mem: mem.cast(), len }
    }

    fn progress(&self, writer: usize) -> &AtomicU64 {
        assert!(writer < WRITERS);
        // SAFETY: inside the mapping's last page, aligned, only accessed atomically.
        unsafe { &*self.mem.add(self.len - PROGRESS + 8 * writer).cast() }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped with this length; the ring is not used any more.
        unsafe { libc::munmap(self.mem.cast(), self.len) };
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What a child does until it is killed. It makes no allocation and takes no lock, as is proper
/// after a fork.
fn write_for_ever(ring: &Ring, writer: usize, progress: &AtomicU64) -> ! {
    let mut bytes = [0u8; 512];
    for seq in 0u64.. {
        let length = 24 + (seq * 37 % 480) as usize;
        bytes[..8].copy_from_slice(&(writer as u64).to_le_bytes());
        bytes[8..16].copy_from_slice(&seq.to_le_bytes());
        bytes[16..24].copy_from_slice(&(length as u64).to_le_bytes());
        let fill = seq as u8 ^ writer as u8;
        bytes[24..length].fill(fill);
        if ring.write_on(writer, 1, &[&bytes[..length]]).is_ok() {
            progress.store(seq + 1, Ordering::Release);
        }
    }
    unreachable!("no process writes 2^64 events");
}

fn check_event(bytes: &[u8]) -> (u64, u64) {
    let word = |i: usize| u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap());
    let (writer, seq) = (word(0), word(1));
    assert_eq!((word(2), bytes.len() as u64), (24 + seq * 37 % 480, 24 + seq * 37 % 480), "length");
    assert!(bytes[24..].iter().all(|&b| b == seq as u8 ^ writer as u8), "torn entry {seq}");
    (writer, seq)
}

fn kill_at(target: u64, path: &Path) {
    let g = Geometry { block_size: 8192, blocks: 64, active: 16, cores: WRITERS as u32 };
    let mapped = Mapped::new(path, g.bytes() + PROGRESS);
    // SAFETY: the mapping is valid, page-aligned and outlives the ring.
    let ring = unsafe { Ring::format(mapped.mem, g.bytes(), g) }.unwrap();
    let children: Vec<libc::pid_t> = (0..WRITERS)
        .map(|writer| {
            // SAFETY: the child calls nothing that is not async-signal-safe.
            match unsafe { libc::fork() } {
                0 => {
                    // Should this test fail before it comes to kill them.
                    // SAFETY: a system call without memory arguments.
                    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                    write_for_ever(&ring, writer, mapped.progress(writer))
                }
                pid => pid,
            }
        })
        .collect();
    assert!(children.iter().all(|&pid| pid > 0));
    // Not a clock but the writers' own progress says when.
    while (0..WRITERS).map(|w| mapped.progress(w).load(Ordering::Acquire)).sum::<u64>() < target {
        std::thread::yield_now();
    }
    for pid in children {
        let mut status = 0;
        // SAFETY: our own children, not yet waited for.
        unsafe {
            assert_eq!(libc::kill(pid, libc::SIGKILL), 0);
            assert_eq!(libc::waitpid(pid, &mut status, 0), pid);
        }
        assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL, "status {status}");
    }
    let finished: Vec<u64> = (0..WRITERS).map(|w| mapped.progress(w).load(Ordering::Acquire)).collect();
    // From the file alone.
    let copy = Area::of(&std::fs::read(path).unwrap());
    let ring = copy.open().unwrap();
    let mut found = vec![Vec::new(); WRITERS];
    // Blocks older than N positions can be left where a writer was preempted and skipped: whole,
    // but with a gap after them.
    let next = crate::word::RatioPos(ring.global().load(Ordering::Relaxed)).position();
    let window = Position(next.saturating_sub(u64::from(g.blocks)));
    let end = ring.salvage(Position::START, &mut |block| {
        for entry in block.entries() {
            let (writer, seq) = check_event(entry.payload);
            if block.position >= window {
                found[writer as usize].push(seq);
            }
        }
    });
    // At most the one event a writer was in can be unfinished.
    assert!(end.lost.unfinished_entries <= WRITERS as u64, "{end:?}");
    assert_eq!(end.lost.busy, 0);
    for (found, finished) in found.iter().zip(finished) {
        assert!(found.windows(2).all(|w| w[0] + 1 == w[1]), "a gap among the retained events");
        // Finished before it was killed; one more may have been committed without saying so.
        let newest = found.last().map_or(0, |&seq| seq + 1);
        // A writer that was off its core for long has been wrapped over, but then wholly.
        let in_time = newest == finished || newest == finished + 1;
        assert!(found.is_empty() || in_time, "newest {newest}, finished {finished}");
    }
    assert!(found.iter().any(|found| !found.is_empty()));
    let again = salvage_twice(&ring);
    assert_eq!(again.0, again.1, "salvage changes nothing");
}

fn salvage_twice(ring: &Ring) -> (usize, usize) {
    let count = || {
        let mut entries = 0;
        ring.salvage(Position::START, &mut |block| entries += block.entries().count());
        entries
    };
    (count(), count())
}

#[test]
fn the_newest_events_of_a_killed_process_are_found() {
    let mut random = Random(std::process::id().into());
    for turn in 0..20 {
        let path = std::env::temp_dir().join(format!("lookback-ring-{}-{turn}", std::process::id()));
        kill_at(1 + random.below(20_000), &path);
        assert!(!path.exists());
    }
}

#[test]
fn an_area_without_events_is_salvaged_as_empty() {
    let g = Geometry { block_size: 8192, blocks: 64, active: 16, cores: 2 };
    let area = Area::new(g.bytes());
    let ring = area.format(g).unwrap();
    let (blocks, end) = salvage(&ring, Position::START);
    assert!(blocks.is_empty());
    assert_eq!(end.lost, Default::default());
}
