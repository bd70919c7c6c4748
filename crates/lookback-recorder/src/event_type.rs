//! [`EventType`]: what events are recorded by, and [`Span`], which records an end when it is dropped.
//!
//! The constraint: recording runs inside somebody else's hot loop. It may load, compare, read the clock and write
//! into the ring; it never allocates, locks, makes a system call or fails. What is rare (a thread's first event,
//! a clock snapshot a second) is out of line.

use crate::category::Category;
use crate::fields::{Fields, Tail};
use lookback_format::definitions::FieldType;
use lookback_format::native::{self, Phase};
use lookback_format::ring_file::Level;
use lookback_format::{ThreadKey, TypeId};
use lookback_ring::{Dropped, Ring};
use std::marker::PhantomData;

/// A type of events with fields `F`, and with `T` (text or bytes) after them.
///
/// What is not recorded, because the ring has no room for it, is counted; see
/// [`Losses`](crate::Losses).
pub struct EventType<F: Fields, T: Tail + ?Sized = ()> {
    raw: RawEventType,
    of: PhantomData<fn(F, &T)>,
}

impl<F: Fields, T: Tail + ?Sized> EventType<F, T> {
    pub(crate) fn new(raw: RawEventType) -> Self {
        EventType { raw, of: PhantomData }
    }

    /// Whether events of this type are recorded now: one load and one comparison.
    #[inline(always)]
    #[must_use]
    pub fn enabled(&self) -> bool {
        self.raw.enabled()
    }

    /// Records that the innermost open span of this type on this thread ends. For spans that a [`Span`]
    /// cannot describe.
    #[inline]
    pub fn end(&self) {
        self.raw.write(Phase::End, |ring, kind, head| ring.write_words(kind, head));
    }
}

impl<F: Fields> EventType<F> {
    /// Records an event.
    #[inline]
    pub fn instant(&self, fields: F) {
        self.raw.write(Phase::Instant, |ring, kind, head| fields.write(ring, kind, head));
    }

    /// Records that a span begins; [`EventType::end`] ends it, on the same thread.
    #[inline]
    pub fn begin(&self, fields: F) {
        self.raw.write(Phase::Begin, |ring, kind, head| fields.write(ring, kind, head));
    }

    /// Begins a span, which ends when the value is dropped.
    ///
    /// ```
    /// # use lookback_recorder::{EventType, Level, Phase, Recorder};
    /// # let recorder = Recorder::private(1 << 20)?;
    /// let load: EventType<u64> = recorder.category("disk").event_type("load", Level::Info, ["page"]);
    /// {
    ///     let _load = load.span(7);
    ///     // What takes time.
    /// }
    /// let phases: Vec<_> = recorder.snapshot().events().map(|event| event.phase()).collect();
    /// assert_eq!(phases, [Phase::Begin, Phase::End]);
    /// # Ok::<(), lookback_recorder::Error>(())
    /// ```
    #[inline]
    pub fn span(&self, fields: F) -> Span<'_> {
        let on = self.enabled();
        if on {
            self.begin(fields);
        }
        Span { of: on.then_some(&self.raw), on_this_thread: PhantomData }
    }
}

impl<F: Fields, T: Tail + ?Sized> EventType<F, T> {
    /// Records an event that ends with a text or bytes.
    #[inline]
    pub fn instant_with(&self, fields: F, tail: &T) {
        self.raw.write(Phase::Instant, |ring, kind, head| fields.write_with(ring, kind, head, tail.bytes()));
    }

    /// Begins a span whose fields end with a text or bytes, and which ends when the value is dropped.
    #[inline]
    pub fn span_with(&self, fields: F, tail: &T) -> Span<'_> {
        let on = self.enabled();
        if on {
            self.raw
                .write(Phase::Begin, |ring, kind, head| fields.write_with(ring, kind, head, tail.bytes()));
        }
        Span { of: on.then_some(&self.raw), on_this_thread: PhantomData }
    }
}

impl<F: Fields, T: Tail + ?Sized> Clone for EventType<F, T> {
    fn clone(&self) -> Self {
        EventType::new(self.raw.clone())
    }
}

impl<F: Fields, T: Tail + ?Sized> std::fmt::Debug for EventType<F, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("EventType").field(&self.raw.id.0).finish()
    }
}

/// A span that is open; dropping it records its end. It belongs to the thread that began it.
#[must_use = "a span ends when it is dropped"]
pub struct Span<'a> {
    /// None when the span was switched off at its beginning: then it has no end either.
    of: Option<&'a RawEventType>,
    on_this_thread: PhantomData<*const ()>,
}

impl Drop for Span<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(of) = self.of {
            of.write_anyhow(Phase::End, |ring, kind, head| ring.write_words(kind, head));
        }
    }
}

/// A type of events whose fields are known at run time only: for bindings of other languages.
#[derive(Clone, Debug)]
pub struct RawEventType {
    category: Category,
    level: Level,
    id: TypeId,
}

impl RawEventType {
    pub(crate) fn new(category: Category, level: Level, id: TypeId) -> RawEventType {
        RawEventType { category, level, id }
    }

    /// The type's definition; 0 when there was no room for it: its events are recorded without a name.
    #[must_use]
    pub fn id(&self) -> TypeId {
        self.id
    }

    /// The category.
    #[must_use]
    pub fn category(&self) -> &Category {
        &self.category
    }

    /// The level.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// As [`EventType::enabled`].
    #[inline(always)]
    #[must_use]
    pub fn enabled(&self) -> bool {
        self.category.enabled(self.level)
    }

    /// Records an event, whatever the level: look at [`RawEventType::enabled`] first, but for the end of a span
    /// that has begun. `words` are the fields as [`Field::to_word`] gives them, `tail` is the text or bytes if
    /// the type has one, or empty; an end has neither. What does not fit the type is recorded as it is, and is
    /// for the reader to make sense of.
    ///
    /// [`Field::to_word`]: crate::Field::to_word
    #[inline]
    pub fn record(&self, phase: Phase, words: &[u64], tail: &[u8]) {
        self.write_anyhow(phase, |ring, kind, head| write_slice(ring, kind, head, words, tail));
    }

    #[inline(always)]
    fn write(&self, phase: Phase, put: impl FnOnce(&Ring, u16, [u64; 2]) -> Result<(), Dropped>) {
        if self.enabled() {
            self.write_anyhow(phase, put);
        }
    }

    #[inline(always)]
    fn write_anyhow(&self, phase: Phase, put: impl FnOnce(&Ring, u16, [u64; 2]) -> Result<(), Dropped>) {
        let shared = &**self.category.shared();
        let thread: ThreadKey = shared.thread();
        let head = native::head(shared.now(), self.id, thread);
        // The ring has counted what it drops.
        let _ = put(&shared.ring, phase.kind(), head);
    }
}

/// Writes words whose number is known at run time only. The first eight lengths have code of their own, because
/// a known size is copied by plain stores.
#[inline]
fn write_slice(ring: &Ring, kind: u16, head: [u64; 2], words: &[u64], tail: &[u8]) -> Result<(), Dropped> {
    let [time, ids] = head;
    if tail.is_empty() {
        match *words {
            [] => return ring.write_words(kind, [time, ids]),
            [a] => return ring.write_words(kind, [time, ids, a]),
            [a, b] => return ring.write_words(kind, [time, ids, a, b]),
            [a, b, c] => return ring.write_words(kind, [time, ids, a, b, c]),
            [a, b, c, d] => return ring.write_words(kind, [time, ids, a, b, c, d]),
            _ => {}
        }
    }
    match *words {
        [] => ring.write_headed(kind, [time, ids], tail),
        [a] => ring.write_headed(kind, [time, ids, a], tail),
        [a, b] => ring.write_headed(kind, [time, ids, a, b], tail),
        _ => {
            let bytes = bytes_of(words);
            ring.write(kind, &[&time.to_le_bytes(), &ids.to_le_bytes(), bytes, tail])
        }
    }
}

fn bytes_of(words: &[u64]) -> &[u8] {
    // SAFETY: the same memory as bytes, which have no invalid values; the ring is little-endian by its own
    // condition of compilation, as is this.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// A field's name and type, for [`Category::raw_event_type`].
pub type RawField<'a> = (&'a str, FieldType);
