//! [`Mapping`]: a ring file's bytes, as atomic words of this process's memory.
//!
//! The constraint: other processes write these bytes at any time, so they are only ever touched by atomic
//! accesses of whole words, through bounds that come from private memory. And a page of a shared mapping
//! that its full file system cannot provide ends the program with SIGBUS, so no page is touched that has not
//! been claimed first. It knows no layout.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A mapped file, or memory of this process alone.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    len: usize,
    file: Option<File>,
}

// SAFETY: the memory is only accessed as atomic words; it is unmapped when the last owner drops it.
unsafe impl Send for Mapping {}
// SAFETY: as above: shared references give shared access to atomics.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `len` bytes of the file, which must have as many.
    pub(crate) fn shared(file: File, len: usize) -> io::Result<Mapping> {
        let base = map(len, libc::MAP_SHARED, file.as_raw_fd())?;
        Ok(Mapping { base, len, file: Some(file) })
    }

    /// `len` bytes of memory, all 0, of this process alone: after a fork, parent and child have a copy each.
    pub(crate) fn private(len: usize) -> io::Result<Mapping> {
        let base = map(len, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)?;
        Ok(Mapping { base, len, file: None })
    }

    /// Where the mapping begins: a multiple of the page size.
    pub(crate) fn address(&self, at: usize) -> *mut u8 {
        self.base.as_ptr().wrapping_add(at)
    }

    /// The words from byte `at` to byte `at + len`.
    ///
    /// # Panics
    /// When these are not within the mapping, which offsets of a checked header are, or `at` is no multiple
    /// of 8.
    #[inline]
    pub(crate) fn words(&self, at: usize, len: usize) -> &[AtomicU64] {
        assert!(
            at.is_multiple_of(8) && at <= self.len && len <= self.len - at,
            "a part outside of the mapping"
        );
        // SAFETY: within the mapping and aligned, as checked above; the mapping lives as long as `self` and is
        // only accessed atomically; any bits are a u64.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(at).cast(), len / 8) }
    }

    /// The word at byte `at`.
    #[inline]
    pub(crate) fn word(&self, at: usize) -> &AtomicU64 {
        &self.words(at, 8)[0]
    }

    /// The word at byte `at`, to be found without any check later.
    ///
    /// # Panics
    /// As [`Mapping::words`].
    pub(crate) fn fixed(&self, at: usize) -> FixedWord {
        FixedWord(NonNull::from(self.word(at)))
    }

    /// Takes memory for a part of the file. A file system that cannot do that is trusted: whoever creates a
    /// file there writes all of it ([`Mapping::claim_all`]).
    pub(crate) fn claim(&self, at: usize, len: usize) -> io::Result<()> {
        match self.fallocate(at, len) {
            Err(e) if e.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(()),
            done => done,
        }
    }

    /// Takes memory for the given parts of a file that nobody else uses yet, or for all of it where the file
    /// system can only do that by writing.
    pub(crate) fn claim_all(&self, parts: &[(usize, usize)]) -> io::Result<()> {
        for &(at, len) in parts {
            match self.fallocate(at, len) {
                Err(e) if e.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                    let Some(file) = &self.file else { return Ok(()) };
                    // SAFETY: an open descriptor; no pointers.
                    return match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, self.len as i64) } {
                        0 => Ok(()),
                        code => Err(io::Error::from_raw_os_error(code)),
                    };
                }
                done => done?,
            }
        }
        Ok(())
    }

    fn fallocate(&self, at: usize, len: usize) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        loop {
            // SAFETY: an open descriptor; no pointers.
            if unsafe { libc::fallocate(file.as_raw_fd(), 0, at as i64, len as i64) } == 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    /// Gives the memory of a part back, which reads as zeros then, in all processes.
    pub(crate) fn release(&self, at: usize, len: usize) {
        let done = match &self.file {
            Some(file) => {
                let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                // SAFETY: an open descriptor; no pointers.
                unsafe { libc::fallocate(file.as_raw_fd(), mode, at as i64, len as i64) == 0 }
            }
            // SAFETY: whole pages of this mapping, which nobody uses by the caller's word.
            None => unsafe { libc::madvise(self.address(at).cast(), len, libc::MADV_DONTNEED) == 0 },
        };
        if !done {
            // A file system that cannot keeps the memory; zeros are what the next user expects. Relaxed: whoever
            // uses the part next learns so by other words.
            self.words(at, len).iter().for_each(|word| word.store(0, Ordering::Relaxed));
        }
    }

    /// Keeps other processes out as long as the value is there; they wait. The system lets go when a process
    /// dies.
    pub(crate) fn lock(&self) -> io::Result<Lock<'_>> {
        if let Some(file) = &self.file {
            // SAFETY: an open descriptor; no pointers.
            while unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } != 0 {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
        Ok(Lock(self))
    }

    /// Marks the file as in use by this mapping, as long as that is there and also in children of a fork, and says
    /// whether nobody else uses it: then `alone` is called before anybody else can begin to. The system takes
    /// the mark away when a process dies.
    pub(crate) fn mark_used(&self, alone: impl FnOnce()) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        if lock_first_byte(file, libc::F_WRLCK, libc::F_OFD_SETLK).is_ok() {
            alone();
        }
        // Waits for who is alone, which takes microseconds.
        lock_first_byte(file, libc::F_RDLCK, libc::F_OFD_SETLKW)
    }

    /// What the file system has free for programs without privileges, in bytes; `None`: no bound is known.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        self.file.as_ref().and_then(free_bytes)
    }

    /// Maps the pages of a part now, so that no thread pays for that later. What fails here happens when they
    /// are touched.
    pub(crate) fn populate(&self, at: usize, len: usize) {
        if at <= self.len && len <= self.len - at {
            // SAFETY: a part of the mapping; populating changes no content.
            unsafe { libc::madvise(self.address(at).cast(), len, libc::MADV_POPULATE_WRITE) };
        }
    }
}

/// Locks a file's first byte for this open file: independent of [`Mapping::lock`].
fn lock_first_byte(file: &File, kind: i32, how: i32) -> io::Result<()> {
    // SAFETY: zeros are a valid flock.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = kind as i16;
    range.l_whence = libc::SEEK_SET as i16;
    range.l_len = 1;
    loop {
        // SAFETY: an open descriptor and a valid range.
        if unsafe { libc::fcntl(file.as_raw_fd(), how, &raw const range) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The lock on a mapped file.
pub(crate) struct Lock<'a>(&'a Mapping);

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        if let Some(file) = &self.0.file {
            // SAFETY: an open descriptor; no pointers.
            unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
        }
    }
}

/// What the file's file system has free for programs without privileges, in bytes.
pub(crate) fn free_bytes(file: &File) -> Option<u64> {
    // SAFETY: zeros are a valid statvfs.
    let mut fs: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: an open descriptor and a valid buffer.
    let done = unsafe { libc::fstatvfs(file.as_raw_fd(), &raw mut fs) } == 0;
    done.then(|| fs.f_bavail.saturating_mul(fs.f_frsize))
}

/// A word of a mapping, for hot paths: finding it costs no comparison.
#[derive(Clone, Copy)]
pub(crate) struct FixedWord(NonNull<AtomicU64>);

// SAFETY: gives access to an atomic only, and only to who vouches for the mapping.
unsafe impl Send for FixedWord {}
// SAFETY: as above.
unsafe impl Sync for FixedWord {}

impl FixedWord {
    /// The word.
    ///
    /// # Safety
    /// The mapping that it was found in is still there, and stays so as long as the reference is used.
    #[inline(always)]
    pub(crate) unsafe fn get<'a>(self) -> &'a AtomicU64 {
        // SAFETY: within a mapping that is there by the caller's word; only accessed atomically.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by this value, whose last user is gone.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

fn map(len: usize, flags: i32, fd: i32) -> io::Result<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh mapping; nothing is replaced.
    let base =
        unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags | libc::MAP_NORESERVE, fd, 0) };
    match NonNull::new(base.cast::<u8>()) {
        Some(base) if base.as_ptr().cast() != libc::MAP_FAILED => Ok(base),
        _ => Err(io::Error::last_os_error()),
    }
}
