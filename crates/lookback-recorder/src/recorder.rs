//! [`Recorder`]: the handle that an application holds.
//!
//! The constraint: it is what people meet first, so all else is reached from here. It adds nothing of its own.

use crate::category::Category;
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::{Error, Options};
use lookback_format::definitions::Definitions;
use lookback_format::ring_file::{self, CATEGORIES, CATEGORIES_AT, CATEGORY_BYTES, Header, Level};
use lookback_format::{CategoryIndex, NameId};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The id of a text in the recording, which stands for it in an event's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name(pub(crate) NameId);

/// Records into a ring: a file that several processes share, or memory of this process.
///
/// A handle is cheap to clone and can be used from any thread. The memory is unmapped when the last handle
/// is gone, those of categories and event types included.
///
/// ```
/// use lookback_recorder::{EventType, Level, Recorder};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("shop.ring");
/// let recorder = Recorder::open_or_create(&path)?;
/// let request: EventType<(u64, bool)> =
///     recorder.category("net").event_type("request", Level::Info, ["bytes", "cached"]);
/// request.instant((512, true));
///
/// let snapshot = recorder.snapshot();
/// let event = snapshot.events().next().expect("one event");
/// assert_eq!(event.to_string(), "net.request bytes=512 cached=true");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

impl Recorder {
    pub(crate) fn of(shared: Shared) -> Recorder {
        Recorder { shared: Arc::new(shared) }
    }

    /// Creates a ring file of 16 MiB; see [`Options`] for more.
    ///
    /// # Errors
    /// As [`Options::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Recorder, Error> {
        Options::new().create(path)
    }

    /// Opens a ring file that is there.
    ///
    /// # Errors
    /// As [`Options::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Recorder, Error> {
        Options::new().open(path)
    }

    /// Opens a ring file, or creates it where there is none. Any number of processes may do so at once.
    ///
    /// # Errors
    /// As [`Options::open_or_create`].
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<Recorder, Error> {
        Options::new().open_or_create(path)
    }

    /// A recorder in `bytes` bytes of memory of this process alone, which ends with it.
    ///
    /// # Errors
    /// As [`Options::private`].
    pub fn private(bytes: usize) -> Result<Recorder, Error> {
        Options::new().bytes(bytes).private()
    }

    /// The category of this name, the same in all processes that share the file. A cold path: keep the
    /// result.
    #[must_use]
    pub fn category(&self, name: &str) -> Category {
        Category::new(self.shared.clone(), self.shared.category(name))
    }

    /// All categories, category 0 (those that did not fit) first.
    #[must_use]
    pub fn categories(&self) -> Vec<ring_file::Category> {
        self.categories_of(&Definitions::read(&self.shared.definitions()))
    }

    pub(crate) fn categories_of(&self, definitions: &Definitions) -> Vec<ring_file::Category> {
        let words = self.shared.mapping.words(CATEGORIES_AT, CATEGORIES * CATEGORY_BYTES);
        // Relaxed: what the names stand for was committed before they were put there.
        let table: Vec<u8> =
            words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        ring_file::categories(&table, definitions)
    }

    /// Sets the level of all categories of the file, and of those to come; `None`: off. For one category, see
    /// [`Category::set_level`].
    pub fn set_level(&self, level: impl Into<Option<Level>>) {
        self.shared.set_all_levels(level.into());
    }

    /// Names a text, so that an event can carry it as a number. A cold path: keep the result.
    #[must_use]
    pub fn name(&self, text: &str) -> Name {
        Name(self.shared.name(text))
    }

    /// Names the calling thread in this recording, from its next event on. Without it a thread has the
    /// operating system's name of the moment of its first event.
    pub fn set_thread_name(&self, name: &str) {
        self.shared.define_thread(Some(name));
    }

    /// All events that are retained, in the order of time, while all go on recording. It allocates as much as
    /// the ring is long.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::take(self)
    }

    /// What the file's header said when it was opened.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.shared.header
    }

    /// The file; `(memory)` when there is none.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// The category with this place in the table.
    #[must_use]
    pub fn category_at(&self, index: CategoryIndex) -> Category {
        Category::new(self.shared.clone(), index)
    }

    /// Blocks of the ring that are out of use, because a writer stopped or died in the middle of an event. A
    /// writer that goes on frees its block; what dead ones hold is taken back by who opens the file next when
    /// nobody else has it open.
    #[must_use]
    pub fn blocks_left_behind(&self) -> u32 {
        self.shared.ring.left_behind()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("path", &self.path()).finish_non_exhaustive()
    }
}
