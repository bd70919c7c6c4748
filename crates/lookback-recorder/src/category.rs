//! [`Category`]: what is switched on and off together, in all processes that share a file.
//!
//! The constraint: an event that is switched off costs one load and one branch. So the level is a word of
//! the file that every event type knows the place of, and whoever sets it tells nobody. It must not be
//! split from the name beside it: the word is always accessed whole.

use crate::event_type::{EventType, RawEventType};
use crate::fields::{Fields, Tail};
use crate::mapping::FixedWord;
use crate::shared::Shared;
use lookback_format::definitions::{self, FieldType, MAX_FIELDS};
use lookback_format::ring_file::Level;
use lookback_format::{CategoryIndex, TypeId};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A category of events, which has a level for all processes that record into the same file.
///
/// ```
/// use lookback_recorder::{Level, Recorder};
///
/// let recorder = Recorder::private(1 << 20)?;
/// let net = recorder.category("net");
/// assert!(net.enabled(Level::Info) && !net.enabled(Level::Debug));
/// net.set_level(Level::Trace);
/// assert!(net.enabled(Level::Debug));
/// net.set_level(None);
/// assert!(!net.enabled(Level::Error));
/// # Ok::<(), lookback_recorder::Error>(())
/// ```
#[derive(Clone)]
pub struct Category {
    shared: Arc<Shared>,
    word: FixedWord,
    index: CategoryIndex,
}

impl Category {
    pub(crate) fn new(shared: Arc<Shared>, index: CategoryIndex) -> Category {
        Category { word: shared.category_fixed(index), shared, index }
    }

    /// Its place in the file's table; 0 when the table or the definitions are full: all categories that do
    /// not fit are one, without a name.
    #[must_use]
    pub fn index(&self) -> CategoryIndex {
        self.index
    }

    /// Whether events of this level are recorded now: one load.
    #[inline]
    #[must_use]
    pub fn enabled(&self, level: Level) -> bool {
        // SAFETY: a word of the mapping of `self.shared`.
        // Relaxed: a level takes effect when it is seen.
        let word = unsafe { self.word.get() }.load(Ordering::Relaxed);
        word as u32 >= level.code()
    }

    /// Has events of this level, and of those that matter more, recorded; `None`: no events. It takes effect in all
    /// processes that share the file.
    pub fn set_level(&self, level: impl Into<Option<Level>>) {
        self.shared.set_level(self.index, level.into());
    }

    /// The address of the category's word in this process, for code that is not Rust: its low 32 bits are the
    /// level. It is valid as long as a handle on the recorder is there, and must only be read, atomically.
    #[must_use]
    pub fn word(&self) -> *const u64 {
        // SAFETY: a word of the mapping of `self.shared`.
        unsafe { self.word.get() }.as_ptr()
    }

    /// A type of events that have these fields. Types with the same category, name, level and fields are one
    /// in the recording. A cold path: keep the result.
    ///
    /// ```
    /// # use lookback_recorder::{EventType, Level, Recorder};
    /// # let recorder = Recorder::private(1 << 20)?;
    /// let request: EventType<(u64, bool)> =
    ///     recorder.category("net").event_type("request", Level::Info, ["bytes", "cached"]);
    /// request.instant((512, true));
    /// # Ok::<(), lookback_recorder::Error>(())
    /// ```
    #[must_use]
    pub fn event_type<F: Fields>(&self, name: &str, level: Level, fields: F::Names<'_>) -> EventType<F> {
        let fields: Vec<_> = fields.as_ref().iter().copied().zip(F::TYPES.iter().copied()).collect();
        EventType::new(self.raw_event_type(name, level, &fields))
    }

    /// A type of events that have these fields and then a text (`T` is `str`) or bytes (`T` is `[u8]`) of any
    /// length up to what a block of the ring holds.
    ///
    /// ```
    /// # use lookback_recorder::{EventType, Level, Recorder};
    /// # let recorder = Recorder::private(1 << 20)?;
    /// let query: EventType<(u32,), str> =
    ///     recorder.category("sql").event_type_with("query", Level::Info, ["rows"], "text");
    /// query.instant_with((3,), "select 1");
    /// # Ok::<(), lookback_recorder::Error>(())
    /// ```
    #[must_use]
    pub fn event_type_with<F: Fields, T: Tail + ?Sized>(
        &self,
        name: &str,
        level: Level,
        fields: F::Names<'_>,
        tail: &str,
    ) -> EventType<F, T> {
        let mut all: Vec<_> = fields.as_ref().iter().copied().zip(F::TYPES.iter().copied()).collect();
        all.extend(T::TYPE.map(|kind| (tail, kind)));
        EventType::new(self.raw_event_type(name, level, &all))
    }

    /// A type of events whose fields are known at run time only: for bindings of other languages. Fields
    /// beyond 255 are left out, and so are those that follow a text or bytes.
    #[must_use]
    pub fn raw_event_type(&self, name: &str, level: Level, fields: &[(&str, FieldType)]) -> RawEventType {
        let shared = &self.shared;
        let last = fields.iter().position(|field| field.1.is_tail()).map_or(fields.len(), |tail| tail + 1);
        let fields = fields[..last.min(MAX_FIELDS)].iter();
        let fields = fields.map(|&(name, kind)| definitions::Field { name: shared.name(name), kind });
        let definition = definitions::EventType {
            name: shared.name(name),
            category: self.index,
            level: level.code() as u8,
            fields: fields.collect(),
        };
        let mut record = Vec::new();
        definition.encode(&mut record);
        let id = TypeId(shared.intern(&record).unwrap_or(0));
        RawEventType::new(self.clone(), level, id)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl std::fmt::Debug for Category {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Category").field("index", &self.index.0).finish_non_exhaustive()
    }
}
