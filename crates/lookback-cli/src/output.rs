//! Output files that are whole or not there, and standard output.
//!
//! The constraint that shaped it: a full disk, a crash or a second run must never leave half a file or eat
//! somebody's work. So all is written to a temporary file beside the target, synced, and renamed; without
//! `--force` the rename refuses to replace, in one step with looking.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Who may read an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// As the umask says: for reports.
    Usual,
    /// The user alone: recordings tell a lot about a program.
    Private,
}

/// Whether a path means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses early what [`write()`] would refuse in the end, before long work is done.
///
/// # Errors
/// [`Error::Exists`], or [`Error::Write`] when the directory is not there.
pub(crate) fn check(path: &Path, force: bool) -> Result<()> {
    if is_stdout(path) {
        return Ok(());
    }
    let exists = fs::symlink_metadata(path).is_ok();
    if exists && !force && is_plain(path) {
        return Err(Error::Exists { file: path.to_owned() });
    }
    match fs::metadata(dir_of(path)) {
        Ok(meta) if meta.is_dir() => Ok(()),
        Ok(_) => Err(Error::Write { file: path.to_owned(), error: io::ErrorKind::NotADirectory.into() }),
        Err(error) => Err(Error::Write { file: path.to_owned(), error }),
    }
}

/// Writes a file with `fill`, whole or not at all, and returns its size. A path that is a device or a pipe
/// is written straight.
///
/// # Errors
/// [`Error::Exists`], [`Error::Write`], or what `fill` says.
pub(crate) fn write(
    path: &Path,
    force: bool,
    access: Access,
    fill: impl FnOnce(&mut File) -> Result<()>,
) -> Result<u64> {
    check(path, force)?;
    let failed = |error| Error::Write { file: path.to_owned(), error };
    if !is_plain(path) {
        let mut file = fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
        fill(&mut file)?;
        return Ok(0);
    }
    let mode = match access {
        Access::Usual => 0o666,
        Access::Private => 0o600,
    };
    let mut temporary = Builder::new()
        .prefix(".lookback-")
        .suffix(".tmp")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(dir_of(path))
        .map_err(failed)?;
    fill(temporary.as_file_mut())?;
    publish(temporary, path, force)
}

fn publish(mut temporary: NamedTempFile, path: &Path, force: bool) -> Result<u64> {
    let failed = |error| Error::Write { file: path.to_owned(), error };
    temporary.flush().map_err(failed)?;
    // Some file systems say only now that the disk is full.
    temporary.as_file().sync_all().map_err(failed)?;
    let bytes = temporary.as_file().metadata().map_err(failed)?.len();
    let done = if force { temporary.persist(path) } else { temporary.persist_noclobber(path) };
    match done {
        Ok(_) => Ok(bytes),
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Error::Exists { file: path.to_owned() })
        }
        Err(e) => Err(failed(e.error)),
    }
}

/// Whether a regular file is, or will be, at the path.
fn is_plain(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |meta| meta.is_file() || meta.is_dir())
}

fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Turns what writing a file of this name fails with into an error.
pub(crate) fn failed(path: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let file: PathBuf = path.to_owned();
    move |error| {
        if is_stdout(&file) { Error::Stdout(error) } else { Error::Write { file: file.clone(), error } }
    }
}

/// An error of the format's writer: that of the stream, or its own.
pub(crate) fn failed_format(path: &Path, error: lookback_format::Error) -> Error {
    match error {
        lookback_format::Error::Io(error) => failed(path)(error),
        error => Error::Format { file: path.to_owned(), error },
    }
}

/// Bytes for people: `1.5 MB`.
pub(crate) fn bytes(n: u64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.iter().find(|(scale, _)| n as f64 >= *scale) {
        Some((scale, unit)) => format!("{:.1} {unit}", n as f64 / scale),
        None => format!("{n} bytes"),
    }
}

/// Seconds for people: `12.3 ms`, `4.56 s`, `3 min 5 s`.
pub(crate) fn seconds(s: f64) -> String {
    if s.is_nan() || s < 0.0 {
        return "unknown".into();
    }
    match s {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {} s", s as u64 / 60, s as u64 % 60),
        s => format!("{} h {} min", s as u64 / 3600, s as u64 / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, force: bool, text: &str) -> Result<u64> {
        write(path, force, Access::Private, |f| f.write_all(text.as_bytes()).map_err(failed(path)))
    }

    #[test]
    fn a_file_is_replaced_only_by_force_and_never_half_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.lkb");
        assert_eq!(put(&path, false, "one").unwrap(), 3);
        assert!(matches!(put(&path, false, "two"), Err(Error::Exists { .. })));
        let broken = write(&path, true, Access::Private, |f| {
            f.write_all(b"half").map_err(failed(&path))?;
            Err(failed(&path)(io::ErrorKind::StorageFull.into()))
        });
        assert!(broken.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        put(&path, true, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_full_device_and_a_missing_directory_are_errors() {
        let full = put(Path::new("/dev/full"), false, "x").unwrap_err();
        assert!(matches!(full, Error::Write { error, .. } if error.kind() == io::ErrorKind::StorageFull));
        assert!(matches!(put(Path::new("/no/such/x"), false, "x"), Err(Error::Write { .. })));
    }

    #[test]
    fn numbers_are_for_people() {
        assert_eq!((bytes(999), bytes(64 << 20)), ("999 bytes".into(), "67.1 MB".into()));
        let times = [0.000_5, 0.012_34, 4.56, 185.0, 7_260.0, f64::NAN].map(seconds);
        assert_eq!(times, ["500 us", "12.3 ms", "4.6 s", "3 min 5 s", "2 h 1 min", "unknown"]);
    }
}
