//! The mapped region: creates the file, maps it, lays its parts out.
//!
//! The constraint that shaped it: the file must tell its story after a `kill -9`, so it is a shared mapping,
//! is laid out before the first record, and its magic is stored last. It is sparse: only touched pages take
//! memory. Its addresses are never unmapped while the program runs: compiled code holds some of them. Given back, they
//! are memory of the process, and another region may take their place.

use crate::cgroup;
use crate::clock;
use crate::watched::Words;
use lookback_format::region::{self, ACTIVE, HEADER_BYTES, MAX_SLABS, VERSION, WATCHING, header, slab};
use lookback_format::slot::FILLER;
use lookback_options::Options;
use lookback_ring::{Geometry, Ring};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Payload of most of the ring's events: a chunk, emptied at about 4 KiB, and its header.
const CHUNK: usize = 4096 + 128;

/// Bytes of a slab behind its slots: a page.
const COLD: usize = 4096;

/// Bytes of the ring that are claimed before the program starts, and ahead of what is written later.
const AT_ONCE: usize = 4 << 20;

/// The region of this process.
pub(crate) struct Region {
    base: *mut u8,
    bytes: usize,
    /// Bytes of addresses from `base` on that are ours for good.
    room: usize,
    /// None when its memory was given back.
    file: Mutex<Option<File>>,
    pub(crate) path: PathBuf,
    pub(crate) symbols_at: usize,
    pub(crate) symbols_bytes: usize,
    slabs_at: usize,
    pub(crate) slabs: u32,
    /// The clock at tick 0.
    pub(crate) epoch: u64,
    pub(crate) tick: u64,
    pub(crate) ring: Ring,
    ring_at: usize,
    pub(crate) ring_bytes: usize,
}

// SAFETY: the mapping lives as long as the process; it is accessed through atomics, or as `bytes` where one
// owner is known.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// What the program and the VM are called, for the header.
pub(crate) struct Names<'a> {
    pub(crate) program: &'a str,
    pub(crate) jvm: &'a str,
}

impl Region {
    /// Creates the file at `path`, which must not exist, and lays it out, in the place of the region `before` when there was
    /// one. Of the budget, an eighth is for
    /// symbols, an eighth for slabs (two touched pages each), the rest is the ring's.
    pub(crate) fn create(
        path: &Path,
        options: &Options,
        names: &Names<'_>,
        before: Option<&Region>,
    ) -> io::Result<Region> {
        let budget = options.ring as usize;
        let symbols_bytes = (budget / 8).next_multiple_of(4096);
        // A slab touches two pages of its stride: one of slots, one of what native code keeps.
        let slabs = options.threads.min((budget / 8 / 8192) as u32).clamp(16, MAX_SLABS);
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get()).max(configured_cores());
        let geometry = Geometry::for_events(budget - budget / 4, cores as u32, CHUNK)
            .map_err(|e| io::Error::other(format!("ring of {budget} bytes for {cores} cores: {e}")))?;
        let symbols_at = HEADER_BYTES;
        // Slabs must be aligned to their slots, in memory; so the mapping's address is, too.
        let slabs_at = (symbols_at + symbols_bytes).next_multiple_of(slab::STRIDE);
        let ring_at = slabs_at + slabs as usize * slab::STRIDE;
        let bytes = ring_at + geometry.bytes();
        if let Some(before) = before.filter(|b| b.room < bytes) {
            return Err(io::Error::other(format!(
                "a ring of {} MiB does not fit into the {} MiB of addresses that were reserved at the first attachment; choose a smaller ring=, or restart the program",
                budget >> 20,
                before.room >> 20
            )));
        }

        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        let made = Made(Some(path));
        file.set_len(bytes as u64)?;
        refuse_when_full(&file, budget as u64)?;
        claim(&file, 0, slabs_at)?;
        // The rest of the ring follows in the background, before the first records get there.
        claim(&file, ring_at, geometry.bytes().min(AT_ONCE))?;
        let (base, room) = match before {
            Some(before) => (before.base, before.room),
            None => reserve(bytes)?,
        };
        map(&file, base, bytes)?;
        // SAFETY: the ring's part of the mapping, used by nobody else yet, valid for ever.
        let ring = unsafe { Ring::format(base.add(ring_at), geometry.bytes(), geometry) }
            .map_err(|e| io::Error::other(format!("the ring: {e}")))?;
        let (epoch, wall) = clock::pair();
        let region = Region {
            base,
            bytes,
            room,
            file: Mutex::new(Some(file)),
            path: path.to_owned(),
            symbols_at,
            symbols_bytes,
            slabs_at,
            slabs,
            epoch: epoch.0,
            tick: options.tick,
            ring,
            ring_at,
            ring_bytes: geometry.bytes(),
        };
        let u32s = [(header::VERSION, VERSION), (header::PID, std::process::id()), (header::SLABS, slabs)];
        let u64s = [
            (header::BYTES, bytes as u64),
            (header::SYMBOLS_AT, symbols_at as u64),
            (header::SYMBOLS_BYTES, symbols_bytes as u64),
            (header::SLABS_AT, slabs_at as u64),
            (header::RING_AT, ring_at as u64),
            (header::RING_BYTES, geometry.bytes() as u64),
            (header::EPOCH, epoch.0),
            (header::TICK_NANOS, options.tick),
            (header::CLOCK_PAIR, epoch.0),
            (header::CLOCK_PAIR + 8, wall),
        ];
        // Relaxed: nobody reads the file before the magic is there.
        u32s.iter().for_each(|&(at, v)| region.u32(at).store(v, Ordering::Relaxed));
        u64s.iter().for_each(|&(at, v)| region.u64(at).store(v, Ordering::Relaxed));
        region::put_text(region.bytes_mut(header::PROGRAM, 502), names.program, 500);
        region::put_text(region.bytes_mut(header::JVM, 502), names.jvm, 500);
        // ORDERING: Release; pairs with the Acquire of a reader that maps the file while the program lives.
        region.u64(header::MAGIC).store(u64::from_le_bytes(region::MAGIC), Ordering::Release);
        made.keep();
        Ok(region)
    }

    /// Takes the memory for the ring and the symbols and maps it, so that no thread of the program pays for
    /// the page faults. In the background, and not all at once: 64 MiB take 40 ms of processor time, which a program that ends
    /// soon need not pay. What is taken is always ahead of what is written.
    ///
    /// # Errors
    /// The file system is full.
    pub(crate) fn warm_up(&self) -> io::Result<()> {
        const STEP: usize = 1 << 20;
        const PACE: Duration = Duration::from_millis(10);
        const LOOK: Duration = Duration::from_millis(2);
        let begun = Instant::now();
        let mut steps =
            [(self.symbols_at, self.symbols_bytes.min(4 * STEP)), (self.ring_at, self.ring_bytes)]
                .map(|(at, bytes)| {
                    (at..at + bytes).step_by(STEP).map(move |from| (from, STEP.min(at + bytes - from)))
                })
                .map(Iterator::peekable);
        loop {
            let due = begun.elapsed().div_duration_f64(PACE) as usize * STEP;
            let written = self.ring.end().0 as usize * self.ring.geometry().block_size as usize;
            let untils = [self.symbols_at + STEP + due, self.ring_at + AT_ONCE + due.max(written)];
            for (steps, until) in steps.iter_mut().zip(untils) {
                while let Some((from, bytes)) = steps.next_if(|&(from, _)| from < until) {
                    // Held for a step: what was given back is not taken again.
                    let file = self.file();
                    let Some(file) = &*file else { return Ok(()) };
                    claim(file, from, bytes)?;
                    // SAFETY: a part of the mapping; populating changes no content.
                    unsafe { libc::madvise(self.base.add(from).cast(), bytes, libc::MADV_POPULATE_WRITE) };
                }
            }
            if steps.iter_mut().all(|steps| steps.peek().is_none()) {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Claims memory for slab `i`, once: its first two pages of slots and its cold page in the file. What
    /// deep recursion may use beyond is memory of the process, which cannot run out of disk (a store into
    /// such a page of the file would end the program with SIGBUS); after a kill it is not there.
    pub(crate) fn claim_slab(&self, i: u32) -> io::Result<()> {
        let at = self.slab_at(i);
        {
            let file = self.file();
            let file = file.as_ref().ok_or_else(|| io::Error::other("it was given back"))?;
            claim(file, at, slab::IN_FILE)?;
            claim(file, at + slab::SLOTS_END, COLD)?;
        }
        let deep = self.base.wrapping_add(at + slab::IN_FILE).cast();
        let bytes = slab::SLOTS_END - slab::IN_FILE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        // SAFETY: replaces pages of this mapping that no thread uses: the slab has no owner yet.
        let mapped = unsafe { libc::mmap(deep, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Gives the memory back that deep recursion took of slab `i`; its words read as 0 then.
    pub(crate) fn release_deep(&self, i: u32) {
        let deep = self.base.wrapping_add(self.slab_at(i) + slab::IN_FILE).cast();
        // SAFETY: pages mapped by `claim_slab`, private and anonymous; the caller is their only user.
        unsafe { libc::madvise(deep, slab::SLOTS_END - slab::IN_FILE, libc::MADV_DONTNEED) };
    }

    fn file(&self) -> MutexGuard<'_, Option<File>> {
        self.file.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Gives all memory back, closes the file and removes it. The addresses stay: they are memory of the process then,
    /// which nobody touches. Of the slabs that threads had, `high`, all become one, 12 KiB, in which a cursor that
    /// somebody might still hold meets a set poll or a guard word before it comes to the end.
    pub(crate) fn give_back(&self, high: u32) {
        let Some(file) = self.file().take() else { return };
        let _ = std::fs::remove_file(&self.path);
        let trap = self.slab_at(0);
        // Relaxed: flags that a thread reads at its next poll, if any thread does.
        self.u32(trap + slab::STATE).store(slab::STATE_OFF, Ordering::Relaxed);
        self.u32(trap + slab::POLL).store(slab::POLL_TICK, Ordering::Relaxed);
        self.u32(trap + slab::FILLED).store(FILLER, Ordering::Relaxed);
        self.u32(trap + slab::GUARD).store(slab::GUARD_VALUE, Ordering::Relaxed);
        let active = std::ptr::from_ref(self.active(0)) as u64;
        self.u64(trap + slab::ACTIVE_BYTE).store(active, Ordering::Relaxed);
        let first_free = if high == 0 { trap } else { self.slab_at(high) };
        for i in 0..high {
            let at = self.slab_at(i);
            if i > 0 {
                punch(&file, at, slab::STRIDE);
                let same = |offset, bytes| overlay(&file, self.base, at + offset, bytes, Some(trap + offset));
                same(0, slab::IN_FILE);
                same(slab::SLOTS_END, COLD);
            }
            self.release_deep(i);
        }
        for (at, end) in [(0, trap), (first_free, self.bytes)] {
            punch(&file, at, end - at);
            overlay(&file, self.base, at, end - at, None);
        }
    }

    /// The word at offset `at`, which must be a multiple of 4 within the region.
    pub(crate) fn u32(&self, at: usize) -> &AtomicU32 {
        debug_assert_eq!(at % 4, 0);
        // SAFETY: within the mapping (offsets come from this layout), aligned, valid for ever.
        unsafe { AtomicU32::from_ptr(self.base.add(at).cast()) }
    }

    /// The word at offset `at`, which must be a multiple of 8 within the region.
    pub(crate) fn u64(&self, at: usize) -> &AtomicU64 {
        debug_assert_eq!(at % 8, 0);
        // SAFETY: as in `u32`.
        unsafe { AtomicU64::from_ptr(self.base.add(at).cast()) }
    }

    /// Where slab `i`'s thread keeps its watched call number `depth`, 0 = outermost, below [`slab::WATCH_MAX`].
    pub(crate) fn watched(&self, i: u32, depth: u32) -> &Words {
        debug_assert!((depth as usize) < slab::WATCH_MAX);
        let at = self.slab_at(i) + slab::WATCHES + depth as usize * slab::WATCH_BYTES;
        // SAFETY: as in `u32`; nothing but atomic words, which are a multiple of 8 bytes each.
        unsafe { &*self.base.add(at).cast() }
    }

    /// The flag of slab `i` in one of the two areas of bytes.
    fn flag(&self, area: usize, i: u32) -> &AtomicU8 {
        // SAFETY: as in `u32`; `i` is below `slabs`, which is at most MAX_SLABS.
        unsafe { AtomicU8::from_ptr(self.base.add(area + i as usize)) }
    }

    /// Set when the thread of slab `i` took note of a tick.
    pub(crate) fn active(&self, i: u32) -> &AtomicU8 {
        self.flag(ACTIVE, i)
    }

    /// Set while the thread of slab `i` is inside a watched call.
    pub(crate) fn watching(&self, i: u32) -> &AtomicU8 {
        self.flag(WATCHING, i)
    }

    /// Eight flags of [`Region::active`] at once, beginning with that of slab `8 * i`.
    pub(crate) fn active_word(&self, i: usize) -> &AtomicU64 {
        self.u64(ACTIVE + i * 8)
    }

    /// Offset of slab `i`.
    pub(crate) fn slab_at(&self, i: u32) -> usize {
        self.slabs_at + i as usize * slab::STRIDE
    }

    /// Address of offset `at`.
    pub(crate) fn address(&self, at: usize) -> usize {
        self.base as usize + at
    }

    /// The slab that the address lies in.
    pub(crate) fn slab_of(&self, address: usize) -> Option<u32> {
        let offset = address.checked_sub(self.base as usize + self.slabs_at)?;
        u32::try_from(offset / slab::STRIDE).ok().filter(|&i| i < self.slabs)
    }

    /// A part of the region that only the caller writes and nobody else reads at the same time.
    #[expect(clippy::mut_from_ref, reason = "the region is shared memory; the caller owns this part of it")]
    pub(crate) fn bytes_mut(&self, at: usize, len: usize) -> &mut [u8] {
        // SAFETY: within the mapping; exclusive by the caller's word.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(at), len) }
    }

    /// A part of the region that nobody writes any more.
    pub(crate) fn bytes(&self, at: usize, len: usize) -> &[u8] {
        // SAFETY: within the mapping; not written any more by the caller's word.
        unsafe { std::slice::from_raw_parts(self.base.add(at), len) }
    }

    /// Writes an event into the ring; one that finds no room is counted.
    pub(crate) fn record(&self, kind: u16, parts: &[&[u8]]) {
        if self.ring.write(kind, parts).is_err() {
            self.lose(Loss::RingFull, 1);
        }
    }

    /// Counts a loss; `cause` indexes [`region::LOSS_CAUSES`].
    pub(crate) fn lose(&self, cause: Loss, n: u64) {
        // Relaxed: a counter, read at leisure.
        self.u64(header::LOSSES + cause as usize * 8).fetch_add(n, Ordering::Relaxed);
    }

    /// How often `cause` was counted.
    pub(crate) fn lost(&self, cause: usize) -> u64 {
        // Relaxed: as in `lose`.
        self.u64(header::LOSSES + cause * 8).load(Ordering::Relaxed)
    }
}

/// Causes of loss, in the order of [`region::LOSS_CAUSES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Loss {
    NoSlab = 0,
    RingFull = 1,
    SlabOverrun = 2,
    Symbols = 3,
    MonitorNames = 4,
    WatchDepth = 5,
    Braked = 6,
    Unmounted = 7,
}

/// Removes a half-made file.
struct Made<'a>(Option<&'a Path>);

impl Made<'_> {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The cores that may ever run a thread of ours: the affinity mask may widen later, the machine not.
fn configured_cores() -> usize {
    // SAFETY: no pointers are involved.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) }).unwrap_or(1)
}

/// Takes the memory for a part of the file: a store into a hole of a file on a full file system would kill
/// the program with SIGBUS. A file system that cannot do this is trusted.
fn claim(file: &File, at: usize, bytes: usize) -> io::Result<()> {
    // SAFETY: an open descriptor; no pointers.
    if unsafe { libc::fallocate(file.as_raw_fd(), 0, at as i64, bytes as i64) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        e if e.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(()),
        e => Err(e),
    }
}

/// A budget that does not fit is refused before, with a message that says what to do.
fn refuse_when_full(file: &File, budget: u64) -> io::Result<()> {
    // SAFETY: zeros are a valid statvfs.
    let mut fs: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: an open descriptor and a valid buffer.
    if unsafe { libc::fstatvfs(file.as_raw_fd(), &raw mut fs) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let free = fs.f_bavail * fs.f_frsize;
    if free < budget {
        return Err(io::Error::other(format!(
            "only {} MiB are free on its file system and the budget is {} MiB; choose a smaller ring= or another region=",
            free >> 20,
            budget >> 20
        )));
    }
    if let Some(limit) = cgroup::memory_limit().filter(|limit| limit.region < budget) {
        return Err(io::Error::other(format!(
            "the memory limit of its cgroup is {} MiB, of which the budget of {} MiB would take more than a quarter; choose ring={}m or less",
            limit.whole >> 20,
            budget >> 20,
            limit.region >> 20
        )));
    }
    Ok(())
}

/// Gives a part of the file's memory back. Where the file system cannot, the memory goes with the file's last mapping.
fn punch(file: &File, at: usize, bytes: usize) {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: an open descriptor; no pointers.
    unsafe { libc::fallocate(file.as_raw_fd(), mode, at as i64, bytes as i64) };
}

/// Puts another mapping in the place of a part of a region's: that part of the file which begins at `from`, or memory of the
/// process. What fails leaves the mapping that was there.
fn overlay(file: &File, base: *mut u8, at: usize, bytes: usize, from: Option<usize>) {
    let fixed = libc::MAP_FIXED | libc::MAP_NORESERVE;
    let (flags, fd, from) = match from {
        Some(from) => (fixed | libc::MAP_SHARED, file.as_raw_fd(), from),
        None => (fixed | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
    };
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: replaces a part of the region's mapping in one step; no address of it is without memory at any moment.
    unsafe {
        let address = base.add(at).cast();
        if libc::mmap(address, bytes, rights, flags, fd, from as i64) != libc::MAP_FAILED {
            libc::madvise(address, bytes, libc::MADV_DONTFORK);
        }
    }
}

/// So many times the addresses of the first region are reserved, where they can be: a later attachment may want a larger one.
const GROWTH: usize = 4;

/// Reserves addresses for good, of which the first is a multiple of a slab's stride: cursors are masked to their slab. Gives
/// it, and how many there are.
fn reserve(bytes: usize) -> io::Result<(*mut u8, usize)> {
    reserve_just(bytes * GROWTH).or_else(|_| reserve_just(bytes))
}

fn reserve_just(bytes: usize) -> io::Result<(*mut u8, usize)> {
    let room = bytes + slab::STRIDE;
    // SAFETY: a fresh anonymous reservation; nothing is replaced.
    let reserved = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            room,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if reserved == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(((reserved as usize).next_multiple_of(slab::STRIDE) as *mut u8, bytes))
}

/// Maps the file at `base`.
fn map(file: &File, base: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: replaces a part of what `reserve` has given.
    let mapped = unsafe {
        libc::mmap(
            base.cast(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE,
            file.as_raw_fd(),
            0,
        )
    };
    if mapped == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // A child after fork must not write our slabs; SAFETY: the mapping made above.
    unsafe { libc::madvise(mapped, bytes, libc::MADV_DONTFORK) };
    Ok(())
}
