//! Resizing a recorder's ring while all record.
//!
//! The constraint: a block that the ring may use has memory behind it, or a full file system would end the
//! programs that record. So memory is taken before the ring grows and given back after it has shrunk, and
//! only one process at a time does either: it holds a lock on the file, which the system takes back when the
//! process dies. Producers take no part in it.

use crate::Error;
use crate::recorder::Recorder;
use crate::shared::Shared;
use lookback_ring::Geometry;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a resize waits for writers and readers of what it gives back. What is held longer keeps its memory
/// until the next resize.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it looks meanwhile.
const STEP: Duration = Duration::from_micros(200);

/// Rows of data blocks (one block for each metadata block) that fit into `bytes` bytes of a ring.
pub(crate) fn rows_within(geometry: Geometry, bytes: usize) -> u32 {
    let base = Geometry { blocks: 0, ..geometry }.bytes();
    let row = geometry.block_size as usize * geometry.active as usize;
    let most = usize::from(u16::MAX);
    (bytes.saturating_sub(base) / row).min(most) as u32
}

impl Shared {
    /// Bytes of the ring that are in use.
    pub(crate) fn ring_bytes(&self) -> usize {
        Geometry { blocks: self.ring.blocks(), ..self.ring.geometry() }.bytes()
    }

    fn resize(&self, bytes: usize) -> Result<(), Error> {
        // Of the threads of this process; the file's lock is of processes.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |what| move |source| Error::Io { what, path: self.path.clone(), source };
        let _lock = self.mapping.lock().map_err(failed("lock"))?;
        let geometry = self.ring.geometry();
        let rows = rows_within(geometry, bytes).clamp(1, geometry.blocks / geometry.active);
        let wanted = Geometry { blocks: rows * geometry.active, ..geometry };
        let (now, then, at) = (self.ring_bytes(), wanted.bytes(), self.header.ring.0);
        if then > now {
            let more = (then - now) as u64;
            let no_space = || Error::NoSpace { path: self.path.clone(), bytes: more };
            if self.mapping.free_bytes().is_some_and(|free| free < more) {
                return Err(no_space());
            }
            self.mapping.claim(at + now, then - now).map_err(|source| match source.raw_os_error() {
                Some(libc::ENOSPC | libc::EDQUOT) => no_space(),
                _ => failed("take memory for")(source),
            })?;
        }
        let end = Instant::now() + PATIENCE;
        let mut wait = |_| {
            std::thread::sleep(STEP);
            Instant::now() < end
        };
        let mut release = |part: std::ops::Range<usize>| self.mapping.release(at + part.start, part.len());
        loop {
            match self.ring.resize(wanted.blocks, &mut wait, &mut release) {
                Ok(done) => {
                    // The ring gives back what was in use. What was taken for it and never used is known to be
                    // free only when nothing behind the ring's new end is held.
                    if then < now && done.held == 0 {
                        self.mapping.release(at + then, now - then);
                    }
                    return Ok(());
                }
                // Whoever resizes holds the lock, which is ours: that process is dead.
                Err(lookback_ring::Error::Resizing { pid }) => self.ring.abandon_resize(pid),
                Err(source) => return Err(Error::Ring { path: self.path.clone(), source }),
            }
        }
    }
}

impl Recorder {
    /// Changes the memory of the ring to `bytes` bytes, or what comes next to it: at least one block for each
    /// that can be written at a time, at most what was reserved ([`Options::reserve`](crate::Options::reserve)). All others go on
    /// recording meanwhile. Growing keeps all that is retained; shrinking gives up what is in the blocks
    /// given back. Returns the bytes that the ring has then.
    ///
    /// ```
    /// use lookback_recorder::Options;
    ///
    /// let recorder = Options::new().bytes(2 << 20).reserve(16 << 20).private()?;
    /// assert!(recorder.resize(16 << 20)? > 15 << 20);
    /// assert!(recorder.resize(4 << 20)? <= 4 << 20);
    /// # Ok::<(), lookback_recorder::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Io`], [`Error::Ring`].
    pub fn resize(&self, bytes: usize) -> Result<usize, Error> {
        self.shared().resize(bytes)?;
        Ok(self.bytes())
    }

    /// The sizes of the ring, all that is reserved counted.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.shared().ring.geometry()
    }

    /// The memory of the ring, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shared().ring_bytes()
    }

    /// The most memory that the ring can have, in bytes.
    #[must_use]
    pub fn reserved_bytes(&self) -> usize {
        self.shared().ring.geometry().bytes()
    }
}
