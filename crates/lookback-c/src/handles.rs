//! What C holds: recorders, categories and event types.
//!
//! The constraint: the level must be looked at without a call, so categories and event types begin with what
//! that needs, in the open. The rest is behind it in the same allocation. They belong to their recorder and end
//! with it, so that C has one thing to close.

use crate::status::{fail_with, guard_or, lookback_status, text};
use ::lookback_recorder::{Category, FieldType, Level, RawEventType, Recorder};
use lookback_format::CategoryIndex;
use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much an event matters. A category lets those pass whose level is at most its own.
#[allow(non_camel_case_types, dead_code, reason = "for the header: functions take numbers, and check them")]
#[repr(u32)]
pub enum lookback_level {
    /// For a category: nothing passes.
    LOOKBACK_LEVEL_OFF = 0,
    /// Something failed.
    LOOKBACK_LEVEL_ERROR = 1,
    /// Something is odd.
    LOOKBACK_LEVEL_WARN = 2,
    /// What people want to know of an ordinary run.
    LOOKBACK_LEVEL_INFO = 3,
    /// What its programmer wants to know.
    LOOKBACK_LEVEL_DEBUG = 4,
    /// Everything.
    LOOKBACK_LEVEL_TRACE = 5,
}

/// What a field holds: a word of 64 bits, but for the last two.
#[allow(non_camel_case_types, dead_code, reason = "for the header: functions take numbers, and check them")]
#[repr(u32)]
pub enum lookback_field_type {
    /// An unsigned number.
    LOOKBACK_U64 = 1,
    /// A signed number.
    LOOKBACK_I64 = 2,
    /// A double; see lookback_f64.
    LOOKBACK_F64 = 3,
    /// 0: no; anything else: yes.
    LOOKBACK_BOOL = 4,
    /// A name; see lookback_name.
    LOOKBACK_NAME = 5,
    /// A duration in nanoseconds.
    LOOKBACK_DURATION = 6,
    /// UTF-8, only as the last field.
    LOOKBACK_TEXT = 7,
    /// Bytes, only as the last field.
    LOOKBACK_BYTES = 8,
}

/// A field of an event type.
#[allow(non_camel_case_types, reason = "as C calls it")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lookback_field {
    /// What it is called, in UTF-8.
    pub name: *const c_char,
    /// What it holds; see lookback_field_type.
    pub kind: u32,
}

/// A recorder: a ring file that is open, or memory of this process.
#[allow(non_camel_case_types, reason = "as C calls it")]
pub struct lookback_recorder {
    pub(crate) recorder: Recorder,
    owned: Mutex<Owned>,
}

/// A category. It has more than can be seen here.
#[allow(non_camel_case_types, reason = "as C calls it")]
#[derive(Debug)]
#[repr(C)]
pub struct lookback_category {
    /// For lookback_enabled. Its low 32 bits are the level.
    pub word: *const u64,
}

/// A type of events. It has more than can be seen here.
#[allow(non_camel_case_types, reason = "as C calls it")]
#[derive(Debug)]
#[repr(C)]
pub struct lookback_event_type {
    /// For lookback_type_enabled: as in its category.
    pub word: *const u64,
    /// Its own level.
    pub level: u32,
}

#[repr(C)]
struct CategoryHandle {
    open: lookback_category,
    category: Category,
    recorder: *const lookback_recorder,
}

#[repr(C)]
pub(crate) struct EventTypeHandle {
    open: lookback_event_type,
    pub(crate) of: RawEventType,
}

/// The handles of a recorder: each has an address of its own until the recorder is closed. Raw, because C's
/// copies of the addresses are used while the map changes.
#[derive(Default)]
struct Owned {
    categories: BTreeMap<CategoryIndex, *mut CategoryHandle>,
    types: Vec<*mut EventTypeHandle>,
}

// SAFETY: the addresses are of allocations that this value alone frees; what they hold is Send and Sync but
// for pointers that are only read through atomically, or point back to the owner.
unsafe impl Send for Owned {}

impl lookback_recorder {
    pub(crate) fn handle(recorder: Recorder) -> *mut lookback_recorder {
        Box::into_raw(Box::new(lookback_recorder { recorder, owned: Mutex::default() }))
    }

    fn owned(&self) -> MutexGuard<'_, Owned> {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn category(&self, name: &str) -> *const lookback_category {
        let category = self.recorder.category(name);
        let make = || {
            let open = lookback_category { word: category.word() };
            Box::into_raw(Box::new(CategoryHandle { open, category: category.clone(), recorder: self }))
        };
        *self.owned().categories.entry(category.index()).or_insert_with(make) as *const lookback_category
    }

    fn event_type(&self, of: RawEventType) -> *const lookback_event_type {
        let mut owned = self.owned();
        // SAFETY: allocations of `Owned`, which nobody frees before the recorder.
        let known =
            owned.types.iter().find(|known| unsafe { &***known }.of.id() == of.id() && of.id().0 != 0);
        if let Some(known) = known {
            return *known as *const lookback_event_type;
        }
        let open = lookback_event_type { word: of.category().word(), level: of.level().code() };
        let handle = Box::into_raw(Box::new(EventTypeHandle { open, of }));
        owned.types.push(handle);
        handle as *const lookback_event_type
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw`, once each, and not used any more by the word of who closes.
        self.categories.values().for_each(|&handle| drop(unsafe { Box::from_raw(handle) }));
        // SAFETY: as above.
        self.types.iter().for_each(|&handle| drop(unsafe { Box::from_raw(handle) }));
    }
}

/// Stores a result where the caller wants it.
///
/// # Safety
/// `out` is null or valid for a store.
pub(crate) unsafe fn deliver<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: not null, so valid by the caller's word.
        unsafe { out.write(value) };
    }
}

/// The event type behind a handle.
///
/// # Safety
/// `of` is null, or came from [`lookback_event_type_get`] and its recorder is not closed.
#[inline(always)]
pub(crate) unsafe fn event_type<'a>(of: *const lookback_event_type) -> Option<&'a EventTypeHandle> {
    // SAFETY: every such handle is the beginning of an EventTypeHandle, by the caller's word.
    unsafe { of.cast::<EventTypeHandle>().as_ref() }
}

/// Ends a recorder and all its categories and event types: no thread may use any of them any more. The file stays.
/// NULL is ignored. Any thread.
///
/// # Safety
/// `recorder` is null, or came from this library, is not closed yet, and is used by nobody.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_close(recorder: *mut lookback_recorder) {
    if !recorder.is_null() {
        // SAFETY: made by `Box::into_raw` in `handle`, and closed once, by the caller's word.
        guard_or((), || drop(unsafe { Box::from_raw(recorder) }));
    }
}

/// Changes the memory of the ring to `bytes` bytes, or what comes next to it, while all go on recording: at most
/// what was reserved. Shrinking gives up what is in the memory given back. Returns the bytes that the ring has
/// then, or 0 when it failed; lookback_error_message says why. It can take a second. Any thread.
///
/// # Safety
/// `recorder` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_resize(recorder: *mut lookback_recorder, bytes: u64) -> u64 {
    guard_or(0, || {
        // SAFETY: null or open by the caller's word.
        let Some(recorder) = (unsafe { recorder.as_ref() }) else {
            invalid("recorder is a null pointer");
            return 0;
        };
        match recorder.recorder.resize(usize::try_from(bytes).unwrap_or(usize::MAX)) {
            Ok(bytes) => bytes as u64,
            Err(error) => {
                fail_with(&error);
                0
            }
        }
    })
}

/// The category of this name (UTF-8), the same in all processes that share the file. It takes microseconds: keep the
/// result, which is valid until lookback_close. NULL when an argument is NULL or no UTF-8. Any thread.
///
/// # Safety
/// `recorder` is null or open; `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_category_get(
    recorder: *mut lookback_recorder,
    name: *const c_char,
) -> *const lookback_category {
    guard_or(std::ptr::null(), || {
        // SAFETY: null or open, null or a text, by the caller's word.
        match unsafe { (recorder.as_ref(), text(name, "name")) } {
            (Some(recorder), Ok(name)) => recorder.category(name),
            _ => std::ptr::null(),
        }
    })
}

/// Has events of `category` recorded whose level is at most `level` (see lookback_level), in all processes
/// that share the file. NULL is ignored; a level beyond LOOKBACK_LEVEL_TRACE is LOOKBACK_LEVEL_TRACE. Any thread.
///
/// # Safety
/// `category` is null or of a recorder that is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_category_set_level(category: *const lookback_category, level: u32) {
    guard_or((), || {
        // SAFETY: every such handle is the beginning of a CategoryHandle, by the caller's word.
        if let Some(handle) = unsafe { category.cast::<CategoryHandle>().as_ref() } {
            handle.category.set_level(Level::from_code(level));
        }
    });
}

/// As lookback_category_set_level for all categories, those to come included.
///
/// # Safety
/// `recorder` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_set_level(recorder: *mut lookback_recorder, level: u32) {
    guard_or((), || {
        // SAFETY: null or open by the caller's word.
        if let Some(recorder) = unsafe { recorder.as_ref() } {
            recorder.recorder.set_level(Level::from_code(level));
        }
    });
}

/// A type of events: `name` (UTF-8), `level` (LOOKBACK_LEVEL_ERROR to LOOKBACK_LEVEL_TRACE) and `count` fields, at most 255,
/// of which only the last may be text or bytes. It takes microseconds: keep the result, which is valid until
/// lookback_close. NULL when an argument is not valid; lookback_error_message says which. Any thread.
///
/// # Safety
/// `category` is null or of a recorder that is open; `name` and the fields' names are null or end with a
/// zero; `fields` has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_event_type_get(
    category: *const lookback_category,
    name: *const c_char,
    level: u32,
    fields: *const lookback_field,
    count: usize,
) -> *const lookback_event_type {
    let make = || {
        // SAFETY: as in `lookback_category_set_level`.
        let category = unsafe { category.cast::<CategoryHandle>().as_ref() }
            .ok_or_else(|| invalid("category is a null pointer"))?;
        // SAFETY: a text by the caller's word.
        let name = unsafe { text(name, "name") }?;
        let level = Level::from_code(level).filter(|known| known.code() == level);
        let level = level
            .ok_or_else(|| invalid("level is not one of LOOKBACK_LEVEL_ERROR to LOOKBACK_LEVEL_TRACE"))?;
        let fields = match (fields.is_null(), count) {
            (_, 0) => &[],
            (true, _) => return Err(invalid("fields is a null pointer")),
            (_, 256..) => return Err(invalid("an event type has at most 255 fields")),
            // SAFETY: `count` elements by the caller's word.
            (false, _) => unsafe { std::slice::from_raw_parts(fields, count) },
        };
        let mut list = Vec::with_capacity(fields.len());
        for (i, field) in fields.iter().enumerate() {
            let kind = u8::try_from(field.kind).ok().and_then(FieldType::from_code);
            let kind = kind.ok_or_else(|| invalid("a field's kind is not one of lookback_field_type"))?;
            if kind.is_tail() && i + 1 < fields.len() {
                return Err(invalid("only the last field can be text or bytes"));
            }
            // SAFETY: a text by the caller's word.
            list.push((unsafe { text(field.name, "a field's name") }?, kind));
        }
        let of = category.category.raw_event_type(name, level, &list);
        // SAFETY: a category belongs to its recorder, which is open by the caller's word.
        Ok(unsafe { &*category.recorder }.event_type(of))
    };
    guard_or(std::ptr::null(), || make().unwrap_or(std::ptr::null()))
}

fn invalid(text: &str) -> lookback_status {
    crate::status::fail(lookback_status::LOOKBACK_INVALID, text)
}

/// The number that stands for a text (UTF-8) in a field of type LOOKBACK_NAME; 0 when an argument is NULL or no
/// UTF-8, or there is no room for it. It takes microseconds: keep the result. Any thread.
///
/// # Safety
/// `recorder` is null or open; `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_name(recorder: *mut lookback_recorder, name: *const c_char) -> u64 {
    guard_or(0, || {
        // SAFETY: null or open, null or a text, by the caller's word.
        match unsafe { (recorder.as_ref(), text(name, "name")) } {
            (Some(recorder), Ok(name)) => ::lookback_recorder::Field::to_word(recorder.recorder.name(name)),
            _ => 0,
        }
    })
}

/// Names the calling thread in the recording (UTF-8), from its next event on. Without it a thread has the operating
/// system's name of the moment of its first event. NULL is ignored.
///
/// # Safety
/// `recorder` is null or open; `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_set_thread_name(recorder: *mut lookback_recorder, name: *const c_char) {
    guard_or((), || {
        // SAFETY: null or open, null or a text, by the caller's word.
        if let (Some(recorder), Ok(name)) = unsafe { (recorder.as_ref(), text(name, "name")) } {
            recorder.recorder.set_thread_name(name);
        }
    });
}
