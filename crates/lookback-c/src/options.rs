//! Creating and opening from C.
//!
//! The constraint: a structure of zeros means what the recorder means by default, so that a program that sets
//! two fields stays right when there are more.

use crate::handles::{deliver, lookback_recorder};
use crate::status::{fail, fail_with, guard, lookback_status, text};
use ::lookback_recorder::{Error, Level, Options, Recorder};
use std::ffi::c_char;
use std::path::Path;

/// How a ring file is made. Set all of it to zero first (`lookback_options options = {0};`); 0 and NULL stand for
/// what is said with each field.
#[allow(non_camel_case_types, reason = "as C calls it")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lookback_options {
    /// Bytes of the ring, all of which are taken at the creation; 0: 16 MiB.
    pub bytes: u64,
    /// How many bytes the ring can grow to, see lookback_resize; 0: it cannot grow.
    pub reserve: u64,
    /// Bytes of the larger events; 0: 1,000. No event can be larger than a block, which has at least four times
    /// as many where the ring is large enough.
    pub largest_event: u64,
    /// What the recording is called, in UTF-8; NULL: nothing.
    pub name: *const c_char,
    /// What this process is called in the recording, in UTF-8; NULL: as its program.
    pub program: *const c_char,
    /// Who may use the file, as for chmod; 0: 0600.
    pub mode: u32,
    /// Level of new categories, see lookback_level; 0: info. To begin with all off, call lookback_set_level.
    pub level: u32,
    /// Cores that the ring is made for; 0: those of the machine.
    pub cores: u32,
    /// Not 0: the ring's memory is not mapped at once; each page's first event pays half a microsecond.
    pub lazy: u32,
}

impl lookback_options {
    /// # Safety
    /// The texts are null or end with a zero.
    unsafe fn read(&self) -> Result<Options, lookback_status> {
        let mut options = Options::new().prefault(self.lazy == 0);
        if self.bytes != 0 {
            options = options.bytes(usize::try_from(self.bytes).unwrap_or(usize::MAX));
        }
        options = options.reserve(usize::try_from(self.reserve).unwrap_or(usize::MAX));
        if self.largest_event != 0 {
            options = options.largest_event(usize::try_from(self.largest_event).unwrap_or(usize::MAX));
        }
        if !self.name.is_null() {
            // SAFETY: passed on from the caller.
            options = options.name(unsafe { text(self.name, "options.name") }?);
        }
        if !self.program.is_null() {
            // SAFETY: passed on from the caller.
            options = options.program(unsafe { text(self.program, "options.program") }?);
        }
        if self.mode != 0 {
            options = options.mode(self.mode);
        }
        if let Some(level) = Level::from_code(self.level) {
            options = options.level(level);
        }
        if self.cores != 0 {
            options = options.cores(self.cores);
        }
        Ok(options)
    }
}

/// Creates a ring file at `path` (UTF-8) and opens it; it must not be there. `options` may be NULL. On success
/// `*out` is the recorder, which lookback_close ends; else it is NULL. Any thread. Errors: EXISTS, NO_SPACE,
/// UNUSABLE (no ring of these sizes is possible), SYSTEM, INVALID.
///
/// # Safety
/// `path` and the texts of `options` end with a zero, `options` is null or valid, `out` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_create(
    path: *const c_char,
    options: *const lookback_options,
    out: *mut *mut lookback_recorder,
) -> lookback_status {
    // SAFETY: passed on from the caller.
    unsafe { open_by(path, options, out, |options, path| options.create(path)) }
}

/// Opens the ring file at `path` (UTF-8), made by any process since the machine was started. Of `options`, which
/// may be NULL, only `program` matters. On success `*out` is the recorder, which lookback_close ends; else it
/// is NULL. Any thread. Errors: ABSENT, UNUSABLE, OTHER_BOOT, SYSTEM, INVALID.
///
/// # Safety
/// As for [`lookback_create`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_open(
    path: *const c_char,
    options: *const lookback_options,
    out: *mut *mut lookback_recorder,
) -> lookback_status {
    // SAFETY: passed on from the caller.
    unsafe { open_by(path, options, out, |options, path| options.open(path)) }
}

/// Opens the ring file at `path`, or creates it where there is none. Any number of processes may do so at once.
/// Otherwise as lookback_open and lookback_create.
///
/// # Safety
/// As for [`lookback_create`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_open_or_create(
    path: *const c_char,
    options: *const lookback_options,
    out: *mut *mut lookback_recorder,
) -> lookback_status {
    // SAFETY: passed on from the caller.
    unsafe { open_by(path, options, out, |options, path| options.open_or_create(path)) }
}

/// A recorder in memory of this process alone, which ends with it. `options` may be NULL. Otherwise as
/// lookback_create.
///
/// # Safety
/// As for [`lookback_create`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lookback_create_private(
    options: *const lookback_options,
    out: *mut *mut lookback_recorder,
) -> lookback_status {
    // SAFETY: passed on from the caller; the path is not looked at.
    unsafe { open_by(c"".as_ptr(), options, out, |options, _| options.private()) }
}

/// # Safety
/// As for [`lookback_create`].
unsafe fn open_by(
    path: *const c_char,
    options: *const lookback_options,
    out: *mut *mut lookback_recorder,
    open: impl FnOnce(&Options, &Path) -> Result<Recorder, Error>,
) -> lookback_status {
    if out.is_null() {
        return fail(lookback_status::LOOKBACK_INVALID, "out is a null pointer");
    }
    // SAFETY: valid by the caller's word.
    unsafe { deliver(out, std::ptr::null_mut()) };
    guard(|| {
        // SAFETY: ends with a zero by the caller's word.
        let path = unsafe { text(path, "path") }?;
        // SAFETY: null or valid, as are its texts, by the caller's word.
        let options = match unsafe { options.as_ref() } {
            // SAFETY: as above.
            Some(options) => unsafe { options.read() }?,
            None => Options::new(),
        };
        let recorder = open(&options, Path::new(path)).map_err(|error| fail_with(&error))?;
        // SAFETY: null or valid by the caller's word.
        unsafe { deliver(out, lookback_recorder::handle(recorder)) };
        Ok(())
    })
}
