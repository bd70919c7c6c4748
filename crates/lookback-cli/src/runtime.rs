//! The runtime directory: where traced programs of this user have their sockets and region files.
//!
//! The constraint that shaped it: in a shared `/tmp` anybody can make a directory of that name first. So it
//! is opened without following links, checked on the open descriptor, and everything in it is reached
//! through that descriptor, which also keeps socket paths short. This file must not create anything.

use crate::error::{Error, Result};
use crate::process::{Process, our_uid};
use lookback_format::control::{runtime_dir, socket_path};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A runtime directory that belongs to this user and nobody else can write into.
#[derive(Debug)]
pub(crate) struct RuntimeDir {
    /// Its name, for messages.
    pub(crate) path: PathBuf,
    file: File,
}

impl RuntimeDir {
    /// Opens and checks a directory; none when there is none.
    ///
    /// # Errors
    /// [`Error::RuntimeDir`] when it cannot be trusted.
    pub(crate) fn open(path: PathBuf) -> Result<Option<RuntimeDir>> {
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let file = match OpenOptions::new().read(true).custom_flags(flags).open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => {
                let why = match e.raw_os_error() {
                    Some(libc::ENOTDIR | libc::ELOOP) => "it is no directory".to_owned(),
                    _ => e.to_string(),
                };
                return Err(Error::RuntimeDir { dir: path, why });
            }
        };
        let meta = file.metadata().map_err(|error| Error::Read { file: path.clone(), error })?;
        let why = if meta.uid() != our_uid() {
            format!("it belongs to user {}", meta.uid())
        } else if meta.mode() & 0o077 != 0 {
            format!("its mode is {:04o}", meta.mode() & 0o7777)
        } else {
            return Ok(Some(RuntimeDir { path, file }));
        };
        Err(Error::RuntimeDir { dir: path, why })
    }

    /// The directory by its descriptor.
    fn by_descriptor(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// The path by which a process' socket is reached.
    pub(crate) fn socket(&self, pid: u32) -> PathBuf {
        socket_path(&self.by_descriptor(), pid)
    }

    /// The region files here, with the processes that wrote them: `PID.region`, `PID-TIME.region`.
    pub(crate) fn regions(&self) -> Vec<(u32, PathBuf)> {
        let region = |name: &str| {
            let stem = name.strip_suffix(".region")?;
            let pid = stem.split_once('-').map_or(stem, |(pid, _)| pid).parse().ok()?;
            self.by_descriptor().join(name).is_file().then(|| (pid, self.path.join(name)))
        };
        let mut regions: Vec<_> = self.names().iter().filter_map(|name| region(name)).collect();
        regions.sort();
        regions
    }

    /// The ring files here: `NAME.ring`.
    pub(crate) fn rings(&self) -> Vec<PathBuf> {
        let mut names = self.names();
        names.retain(|name| name.ends_with(".ring") && self.by_descriptor().join(name).is_file());
        names.sort();
        names.into_iter().map(|name| self.path.join(name)).collect()
    }

    /// The processes that have a socket here, ascending.
    pub(crate) fn sockets(&self) -> Vec<u32> {
        let names = self.names();
        let mut pids: Vec<u32> = names.iter().filter_map(|n| n.strip_suffix(".sock")?.parse().ok()).collect();
        pids.sort_unstable();
        pids
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.by_descriptor()).into_iter().flatten();
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
    }
}

/// Where region files of this user are: in shared memory, with links to them in the runtime directories.
pub(crate) fn region_places() -> Vec<PathBuf> {
    let mut all = places();
    all.push(PathBuf::from(format!("/dev/shm/lookback-{}", our_uid())));
    all
}

/// Where this user's programs may have their directory. A service has no `XDG_RUNTIME_DIR` where its
/// user's shell has one, so all places are looked at.
pub(crate) fn places() -> Vec<PathBuf> {
    let uid = our_uid();
    let xdg = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let mut places = vec![
        runtime_dir(xdg.as_deref(), Path::new("/tmp"), uid),
        runtime_dir(Some(&PathBuf::from(format!("/run/user/{uid}"))), Path::new("/tmp"), uid),
        runtime_dir(None, &std::env::temp_dir(), uid),
        runtime_dir(None, Path::new("/tmp"), uid),
    ];
    keep_first(&mut places);
    places
}

/// The places where one process may have its directory, as seen from here: by its own environment and in
/// its own mount namespace first.
pub(crate) fn places_of(process: &Process) -> Vec<PathBuf> {
    let Ok(uid) = process.uid() else { return places() };
    let xdg = process.variable("XDG_RUNTIME_DIR").map(PathBuf::from);
    let tmp = process.variable("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let mut own = vec![
        runtime_dir(xdg.as_deref(), &tmp, uid),
        runtime_dir(None, &tmp, uid),
        runtime_dir(None, Path::new("/tmp"), uid),
    ];
    if process.other_mounts() {
        own = own.iter().map(|dir| process.in_root(dir)).collect();
    } else {
        own.extend(places());
    }
    keep_first(&mut own);
    own
}

fn keep_first(places: &mut Vec<PathBuf>) {
    let mut seen = std::collections::HashSet::new();
    places.retain(|p| seen.insert(p.clone()));
}

/// The directories that are there, and what is wrong with those that cannot be trusted.
pub(crate) fn open_all(places: Vec<PathBuf>) -> (Vec<RuntimeDir>, Vec<Error>) {
    let (mut dirs, mut errors) = (Vec::new(), Vec::new());
    for place in places {
        match RuntimeDir::open(place) {
            Ok(dir) => dirs.extend(dir),
            Err(e) => errors.push(e),
        }
    }
    (dirs, errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_an_own_closed_directory_is_trusted() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("lookback");
        assert!(RuntimeDir::open(path.clone()).unwrap().is_none());
        std::fs::create_dir(&path).unwrap();
        let mode = |m| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(m)).unwrap();
        mode(0o755);
        let error = RuntimeDir::open(path.clone()).unwrap_err().to_string();
        assert!(error.ends_with("its mode is 0755"), "{error}");
        mode(0o700);
        std::fs::write(path.join("7.region"), "").unwrap();
        std::fs::write(path.join("7.sock"), "").unwrap();
        std::fs::write(path.join("x.sock"), "").unwrap();
        std::fs::write(path.join("9-1700000000.region"), "").unwrap();
        std::os::unix::fs::symlink("/none", path.join("8.region")).unwrap();
        let dir = RuntimeDir::open(path.clone()).unwrap().unwrap();
        assert_eq!(dir.sockets(), [7]);
        assert_eq!(dir.regions(), [(7, path.join("7.region")), (9, path.join("9-1700000000.region"))]);
        let link = tmp.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(RuntimeDir::open(link).unwrap_err().to_string().ends_with("it is no directory"));
    }
}
