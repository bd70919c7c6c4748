//! Reading a ring from C: events with names, one after the other, to a function of the caller.
//!
//! The constraint: C takes texts that end with a zero, and keeps nothing that it is shown. So texts are copied with
//! a zero at their end, once a name, and live until the call is over.

use crate::handles::{deliver, lookback_recorder};
use crate::status::{fail, guard, lookback_status};
use ::lookback_recorder::{Event, Level, Snapshot, Value};
use lookback_format::Nanos;
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};

/// A field of an event that was read.
#[allow(non_camel_case_types, reason = "as C calls it")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lookback_value {
    /// What it is called.
    pub name: *const c_char,
    /// What it holds; see lookback_field_type.
    pub kind: u32,
    /// The word, but for a name, a text and bytes: then it is 0. Of a double, its bits.
    pub word: u64,
    /// What a name stands for, the text or the bytes; else NULL. No zero follows the bytes.
    pub bytes: *const c_char,
    /// How many bytes these are.
    pub length: usize,
}

/// An event that was read. Texts end with a zero and are "?" where they are unknown.
#[allow(non_camel_case_types, reason = "as C calls it")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lookback_event {
    /// One of lookback_phase.
    pub phase: u32,
    /// One of lookback_level; 0 when its type is unknown.
    pub level: u32,
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub time: u64,
    /// What its category is called; empty for those that did not fit into the file.
    pub category: *const c_char,
    /// What it is called.
    pub name: *const c_char,
    /// Tells threads apart, of all processes.
    pub thread: u32,
    /// The process that recorded it; 0 when that is unknown.
    pub pid: u32,
    /// What the thread is called.
    pub thread_name: *const c_char,
    /// `count` fields.
    pub values: *const lookback_value,
    /// How many fields it has; an end has none.
    pub count: usize,
}

/// What a snapshot does not have.
#[allow(non_camel_case_types, reason = "as C calls it")]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct lookback_losses {
    /// Events that the ring did not take since it was made.
    pub dropped_events: u64,
    /// Blocks that were overwritten by later ones, which is what a ring does.
    pub overwritten_blocks: u64,
    /// Blocks that were never filled, because a writer that stopped in the middle of an event held them.
    pub skipped_blocks: u64,
    /// Events whose writer was killed in the middle, or is in it.
    pub unfinished_events: u64,
    /// Bytes of blocks that cannot be read because a killed writer hides where the next event begins.
    pub unreadable_bytes: u64,
    /// Names, threads and types that there was no room for.
    pub lost_definitions: u64,
}

/// Called with each event of a snapshot; what it points to is valid until the call returns. Returns whether to go
/// on. It must not throw.
#[allow(non_camel_case_types, reason = "as C calls it")]
pub type lookback_visit =
    Option<unsafe extern "C" fn(event: *const lookback_event, context: *mut c_void) -> bool>;

/// Reads all events that the ring retains, in the order of time, while all go on recording, and gives each to
/// `visit` together with `context`. `losses`, which may be NULL, receives what is missing. It allocates about as
/// much as the ring is long. Any thread. Errors: INVALID.
///
/// # Safety
/// `recorder` is null or open; `visit` can be called from here; `losses` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_snapshot(
    recorder: *mut lookback_recorder,
    visit: lookback_visit,
    context: *mut c_void,
    losses: *mut lookback_losses,
) -> lookback_status {
    guard(|| {
        // SAFETY: null or open by the caller's word.
        let Some(recorder) = (unsafe { recorder.as_ref() }) else {
            return Err(fail(lookback_status::LOOKBACK_INVALID, "recorder is a null pointer"));
        };
        let snapshot = recorder.recorder.snapshot();
        // SAFETY: null or valid by the caller's word.
        unsafe { deliver(losses, losses_of(&snapshot)) };
        let Some(visit) = visit else { return Ok(()) };
        let (mut texts, mut values) = (Texts::default(), Vec::new());
        for event in snapshot.events() {
            values.clear();
            let owned: Vec<_> = event.values().collect();
            for (name, value) in &owned {
                values.push(texts.value(&snapshot, name, value));
            }
            let shown = texts.event(&event, &values);
            // SAFETY: a function of the caller's; all that the event points to lives until it returns.
            if !unsafe { visit(&raw const shown, context) } {
                break;
            }
        }
        Ok(())
    })
}

fn losses_of(snapshot: &Snapshot) -> lookback_losses {
    let losses = snapshot.losses();
    lookback_losses {
        dropped_events: losses.ring.dropped(),
        overwritten_blocks: losses.blocks.overwritten,
        skipped_blocks: losses.blocks.skipped,
        unfinished_events: losses.blocks.unfinished_entries,
        unreadable_bytes: losses.blocks.unreadable_bytes,
        lost_definitions: losses.definitions,
    }
}

/// Names with a zero at their end, each made once.
#[derive(Default)]
struct Texts {
    made: HashMap<String, CString>,
}

impl Texts {
    /// The address stays valid as long as `self`: texts are not changed or removed.
    fn get(&mut self, text: &str) -> *const c_char {
        if !self.made.contains_key(text) {
            let made = CString::new(text.replace('\0', " ")).unwrap_or_default();
            self.made.insert(text.to_owned(), made);
        }
        self.made.get(text).map_or(c"".as_ptr(), |made| made.as_ptr())
    }

    fn event(&mut self, event: &Event<'_>, values: &[lookback_value]) -> lookback_event {
        lookback_event {
            phase: event.phase().kind().into(),
            level: event.level().map_or(0, Level::code),
            time: event.time().0,
            category: self.get(event.category()),
            name: self.get(event.name()),
            thread: event.thread().0,
            pid: event.pid().unwrap_or(0),
            thread_name: self.get(event.thread_name()),
            values: values.as_ptr(),
            count: values.len(),
        }
    }

    fn value(&mut self, snapshot: &Snapshot, name: &str, value: &Value<'_>) -> lookback_value {
        use ::lookback_recorder::FieldType as T;
        let (kind, word, bytes): (T, u64, Option<&[u8]>) = match value {
            Value::U64(v) => (T::U64, *v, None),
            Value::I64(v) => (T::I64, *v as u64, None),
            Value::F64(v) => (T::F64, v.to_bits(), None),
            Value::Bool(v) => (T::Bool, u64::from(*v), None),
            Value::Duration(Nanos(v)) => (T::Duration, *v, None),
            Value::Name(v) => (T::Name, 0, Some(snapshot.definitions().name(*v).unwrap_or("?").as_bytes())),
            Value::Text(v) => (T::Text, 0, Some(v.as_bytes())),
            Value::Bytes(v) => (T::Bytes, 0, Some(v)),
            _ => (T::U64, 0, None),
        };
        lookback_value {
            name: self.get(name),
            kind: kind.code().into(),
            word,
            bytes: bytes.map_or(std::ptr::null(), |bytes| bytes.as_ptr().cast()),
            length: bytes.map_or(0, <[u8]>::len),
        }
    }
}
