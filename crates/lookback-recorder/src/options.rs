//! [`Options`]: how a ring file is made, and the making and opening itself.
//!
//! The constraint: several processes may create and open the same file at the same moment, and any of them
//! can be killed meanwhile. So a file is made under another name and linked to its own when it is whole, and
//! whoever opens one trusts nothing in it. It records nothing.

use crate::clock::{self, Clock};
use crate::log::CLAIM_STEP;
use crate::mapping::{Mapping, free_bytes};
use crate::resize::rows_within;
use crate::shared::Shared;
use crate::{Error, Recorder};
use lookback_format::ring_file::{
    ClockKind, DEFINITIONS_AT, DEFINITIONS_BYTES, Header, Level, PAGE, boot_hash, header,
};
use lookback_ring::{Geometry, Ring};
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of the ring where nothing else is asked for.
const RING_BYTES: usize = 16 << 20;

/// How a recorder is created or opened.
///
/// ```
/// use lookback_recorder::{Level, Options};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("shop.ring");
/// let recorder = Options::new().bytes(4 << 20).name("shop").level(Level::Debug).open_or_create(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    bytes: usize,
    reserve: usize,
    definitions: usize,
    name: String,
    program: Option<String>,
    mode: u32,
    cores: Option<u32>,
    largest: usize,
    level: Option<Level>,
    prefault: bool,
    monotonic: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            bytes: RING_BYTES,
            reserve: 0,
            definitions: DEFINITIONS_BYTES,
            name: String::new(),
            program: None,
            mode: 0o600,
            cores: None,
            largest: 1_000,
            level: Some(Level::Info),
            prefault: true,
            monotonic: false,
        }
    }
}

impl Options {
    /// A ring of 16 MiB for all cores of the machine, events of up to about 1,000 bytes, level `info`,
    /// mode 0600.
    #[must_use]
    pub fn new() -> Options {
        Options::default()
    }

    /// The memory of the ring, in bytes, all of which is taken at the creation.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Options {
        self.bytes = bytes;
        self
    }

    /// How many bytes the ring can grow to, see [`Recorder::resize`]; as many as it has at the creation
    /// where nothing is said. What is reserved takes addresses, and no memory.
    #[must_use]
    pub fn reserve(mut self, bytes: usize) -> Options {
        self.reserve = bytes;
        self
    }

    /// The space for definitions in bytes, rounded up to pages: a name takes 16 bytes and more, a thread 24 and
    /// its name. Memory is taken as it is used. 16 MiB where nothing else is said.
    #[must_use]
    pub fn definitions(mut self, bytes: usize) -> Options {
        self.definitions = bytes.clamp(PAGE, 1 << 30);
        self
    }

    /// What the recording is called; up to 500 bytes.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Options {
        self.name = name.into();
        self
    }

    /// What this process is called in the recording; the name of its program where nothing is said.
    #[must_use]
    pub fn program(mut self, program: impl Into<String>) -> Options {
        self.program = Some(program.into());
        self
    }

    /// Who may use the file, as for `chmod`. Whoever can write it can see what all others record, and can
    /// shorten it, which ends their processes.
    #[must_use]
    pub fn mode(mut self, mode: u32) -> Options {
        self.mode = mode & 0o7777;
        self
    }

    /// How many cores the ring is made for; the machine's where nothing is said.
    #[must_use]
    pub fn cores(mut self, cores: u32) -> Options {
        self.cores = Some(cores);
        self
    }

    /// Bytes of the larger events. A ring for larger events has larger blocks, and no event can be larger
    /// than a block.
    #[must_use]
    pub fn largest_event(mut self, bytes: usize) -> Options {
        self.largest = bytes;
        self
    }

    /// The level of new categories; `None`: off.
    #[must_use]
    pub fn level(mut self, level: impl Into<Option<Level>>) -> Options {
        self.level = level.into();
        self
    }

    /// Whether the creator maps all of the ring's memory at once (on where nothing is said), instead of
    /// paying for a page fault (about half a microsecond) at the first event in each page.
    #[must_use]
    pub fn prefault(mut self, on: bool) -> Options {
        self.prefault = on;
        self
    }

    /// Whether times are read from `CLOCK_MONOTONIC`, also where the processor's counter, which takes half the
    /// time, can be trusted.
    #[must_use]
    pub fn monotonic_clock(mut self, on: bool) -> Options {
        self.monotonic = on;
        self
    }

    /// Creates a ring file and opens it. The file appears whole.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::NoSpace`], [`Error::Ring`] (no ring can be made of these sizes),
    /// [`Error::Io`].
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Recorder, Error> {
        let path = path.as_ref();
        let made = Made(beside(path));
        let failed = |what| move |source| Error::Io { what, path: path.to_owned(), source };
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(self.mode).open(&made.0);
        let file = file.map_err(failed("create"))?;
        // The mode asked for, whatever the umask says.
        file.set_permissions(Permissions::from_mode(self.mode)).map_err(failed("set the mode of"))?;
        let (geometry, header) = self.plan(path)?;
        // Asked first: a file system in memory would begin to take all that there is.
        let bytes = self.at_first(geometry).bytes() as u64;
        if free_bytes(&file).is_some_and(|free| free < bytes) {
            return Err(Error::NoSpace { path: path.into(), bytes });
        }
        file.set_len(header.bytes).map_err(failed("size"))?;
        let mapping = Mapping::shared(file, header.bytes as usize).map_err(failed("map"))?;
        mapping.mark_used(|| {}).map_err(failed("lock"))?;
        let shared = self.lay_out(mapping, geometry, header, path)?;
        match std::fs::hard_link(&made.0, path) {
            Ok(()) => Ok(Recorder::of(shared)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(Error::Exists { path: path.into() }),
            Err(source) => Err(failed("create")(source)),
        }
    }

    /// A recorder in memory of this process alone, which ends with it.
    ///
    /// # Errors
    /// [`Error::Ring`], [`Error::Io`].
    pub fn private(&self) -> Result<Recorder, Error> {
        let path = Path::new("(memory)");
        let (geometry, header) = self.plan(path)?;
        let mapping = Mapping::private(header.bytes as usize).map_err(|source| Error::Io {
            what: "map",
            path: path.into(),
            source,
        })?;
        self.lay_out(mapping, geometry, header, path).map(Recorder::of)
    }

    /// Opens a ring file that is there. Only [`Options::program`] matters; all else is the file's.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NotAFile`], [`Error::Format`], [`Error::Ring`], [`Error::OtherBoot`],
    /// [`Error::Clock`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Recorder, Error> {
        let path = path.as_ref();
        let failed = |what| move |source| Error::Io { what, path: path.to_owned(), source };
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed("open"))?;
        let meta = file.metadata().map_err(failed("open"))?;
        if !meta.is_file() {
            return Err(Error::NotAFile { path: path.into() });
        }
        let header = read_header(&file, meta.len(), path)?;
        if header.boot != this_boot() {
            return Err(Error::OtherBoot { path: path.into() });
        }
        let mapping = Mapping::shared(file, header.bytes as usize).map_err(failed("map"))?;
        let (at, len) = header.ring;
        // SAFETY: a part of the mapping, which lives as long as the ring (both are the recorder's), and is
        // only accessed atomically. Others may do with the file what they like, but for cutting it.
        let ring = unsafe { Ring::open(mapping.address(at), len) }
            .map_err(|source| Error::Ring { path: path.into(), source })?;
        // Who is alone knows that all who held blocks are dead.
        let reclaim = || {
            ring.reclaim(ring.end());
        };
        mapping.mark_used(reclaim).map_err(failed("lock"))?;
        self.share(mapping, ring, header, path).map(Recorder::of)
    }

    /// Opens a ring file, or creates it where there is none. Any number of processes may do so at once.
    ///
    /// # Errors
    /// As [`Options::open`] and [`Options::create`].
    pub fn open_or_create(&self, path: impl AsRef<Path>) -> Result<Recorder, Error> {
        let path = path.as_ref();
        let absent =
            |e: &Error| matches!(e, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
        match self.open(path) {
            Err(e) if absent(&e) => match self.create(path) {
                Err(Error::Exists { .. }) => self.open(path),
                done => done,
            },
            done => done,
        }
    }

    /// The sizes of everything.
    fn plan(&self, path: &Path) -> Result<(Geometry, Header), Error> {
        let cores = self.cores.unwrap_or_else(configured_cores);
        let geometry = Geometry::for_events(self.bytes, cores, self.largest)
            .map_err(|source| Error::Ring { path: path.into(), source })?;
        // The blocks are of the size that suits the ring at first; more of them are reserved.
        let rows = rows_within(geometry, self.reserve).max(geometry.blocks / geometry.active);
        let geometry = Geometry { blocks: rows * geometry.active, ..geometry };
        let definitions = (DEFINITIONS_AT, self.definitions.next_multiple_of(PAGE));
        let ring = (definitions.0 + definitions.1, geometry.bytes());
        let header = Header {
            pid: std::process::id(),
            bytes: (ring.0 + ring.1) as u64,
            definitions,
            definitions_end: 0,
            definitions_lost: 0,
            ring,
            clock: if self.monotonic { ClockKind::Monotonic } else { clock::best() },
            ticks_per_second: 1_000_000_000,
            level: self.level,
            clock_pair: (clock::monotonic(), clock::wall()),
            boot: this_boot(),
            name: self.name.clone(),
        };
        Ok((geometry, header))
    }

    /// The part of a geometry that is in use at first.
    fn at_first(&self, geometry: Geometry) -> Geometry {
        let rows = rows_within(geometry, self.bytes).clamp(1, geometry.blocks / geometry.active);
        Geometry { blocks: rows * geometry.active, ..geometry }
    }

    /// Makes a fresh mapping a ring file.
    fn lay_out(
        &self,
        mapping: Mapping,
        geometry: Geometry,
        mut header: Header,
        path: &Path,
    ) -> Result<Shared, Error> {
        let unmeasured = self.clock(&header, path)?;
        let begin = unmeasured.pair();
        let (at, len) = header.ring;
        let first = self.at_first(geometry);
        // The beginning of the definitions with the rest, so that a full file system shows now.
        let begun = DEFINITIONS_AT + CLAIM_STEP.min(header.definitions.1);
        mapping.claim_all(&[(0, begun), (at, first.bytes())]).map_err(|source| {
            match source.raw_os_error() {
                Some(libc::ENOSPC | libc::EDQUOT) => {
                    Error::NoSpace { path: path.into(), bytes: first.bytes() as u64 }
                }
                _ => Error::Io { what: "take memory for", path: path.into(), source },
            }
        })?;
        if self.prefault {
            mapping.populate(at, first.bytes());
        }
        // SAFETY: a part of the mapping, which lives as long as the ring (both are the recorder's); nobody
        // else knows it yet.
        let ring = unsafe { Ring::format(mapping.address(at), len, geometry) }
            .map_err(|source| Error::Ring { path: path.into(), source })?;
        // Nobody has used a block yet, so there is nothing to wait for and nothing to give back.
        ring.resize(first.blocks, &mut |_| false, &mut |_| {})
            .map_err(|source| Error::Ring { path: path.into(), source })?;
        if header.clock != ClockKind::Monotonic {
            header.ticks_per_second = unmeasured.calibrate(begin);
        }
        let page = header.page();
        let words = page.chunks_exact(8).map(|word| word.first_chunk().map_or(0, |w| u64::from_le_bytes(*w)));
        for (i, word) in words.enumerate().skip(1) {
            // Relaxed: nobody reads the file before the magic is there.
            mapping.word(i * 8).store(word, Ordering::Relaxed);
        }
        let shared = self.share(mapping, ring, header, path)?;
        shared.set_all_levels(self.level);
        // ORDERING: Release; pairs with nothing in this crate, whose readers find the file under its name only
        // when it is whole; for those who map a file that is being made.
        let magic = page.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        shared.mapping.word(header::MAGIC).store(magic, Ordering::Release);
        Ok(shared)
    }

    fn share(&self, mapping: Mapping, ring: Ring, header: Header, path: &Path) -> Result<Shared, Error> {
        let clock = self.clock(&header, path)?;
        let program = self.program.clone().unwrap_or_else(program);
        Ok(Shared::new(mapping, ring, header, clock, path.to_owned(), program))
    }

    fn clock(&self, header: &Header, path: &Path) -> Result<Clock, Error> {
        Clock::of(header.clock, header.ticks_per_second)
            .ok_or_else(|| Error::Clock { path: path.into(), clock: header.clock })
    }
}

fn read_header(file: &File, length: u64, path: &Path) -> Result<Header, Error> {
    let mut page = vec![0; PAGE.min(usize::try_from(length).unwrap_or(PAGE))];
    file.read_exact_at(&mut page, 0).map_err(|source| Error::Io {
        what: "read",
        path: path.into(),
        source,
    })?;
    Header::read(&page, length).map_err(|source| Error::Format { path: path.into(), source })
}

/// A half-made file, removed in any case: a whole one has its own name by then.
struct Made(PathBuf);

impl Drop for Made {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A name in the same directory that no other process or thread uses.
fn beside(path: &Path) -> PathBuf {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    // Relaxed: only has to be another number each time.
    name.push(format!(".{}-{}.new", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

fn this_boot() -> u64 {
    boot_hash(&std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default())
}

/// The cores that may ever run a thread of ours: the affinity mask may widen later, the machine not.
fn configured_cores() -> u32 {
    // SAFETY: no pointers are involved.
    u32::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) }).unwrap_or(1).max(1)
}

/// The name of this process's program, without its directory.
fn program() -> String {
    let program = std::env::args_os().next().map(PathBuf::from);
    let name = program.as_ref().and_then(|program| program.file_name());
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
