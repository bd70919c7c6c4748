//! A file that appears whole, by a rename, or not at all.
//!
//! The constraint that shaped it: somebody may look into the directory at any time, and the process may end at any time. So
//! what is not whole has another name, and a file that is there is replaced only when that was asked for.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// A file that has not got its name yet; it is removed when it is dropped before that.
pub(crate) struct NewFile {
    temporary: PathBuf,
    target: PathBuf,
    force: bool,
    is_published: bool,
}

impl NewFile {
    /// Begins one, which only this user may read.
    pub(crate) fn create(target: PathBuf, force: bool) -> io::Result<(NewFile, File)> {
        if !force && target.exists() {
            let why = format!("{} is there already; choose another name or use --force", target.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        let name = target.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let temporary = target.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        Ok((NewFile { temporary, target, force, is_published: false }, file))
    }

    /// Gives the file its name; without `force`, only when no file has it.
    pub(crate) fn publish(mut self) -> io::Result<PathBuf> {
        if self.force {
            std::fs::rename(&self.temporary, &self.target)?;
        } else {
            // A link fails when the name is taken; some file systems have no links, there a rename must do.
            match std::fs::hard_link(&self.temporary, &self.target) {
                Ok(()) => std::fs::remove_file(&self.temporary)?,
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(e),
                Err(_) => std::fs::rename(&self.temporary, &self.target)?,
            }
        }
        self.is_published = true;
        Ok(std::mem::take(&mut self.target))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_published {
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::path::Path;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn it_appears_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a.lkb");
        drop(NewFile::create(target.clone(), false).unwrap());
        assert_eq!(names(directory.path()), Vec::<String>::new());
        let (new, mut file) = NewFile::create(target.clone(), false).unwrap();
        file.write_all(b"whole").unwrap();
        assert!(!target.exists());
        assert_eq!(new.publish().unwrap(), target);
        assert_eq!(names(directory.path()), ["a.lkb"]);
        assert!(NewFile::create(target.clone(), false).is_err());
        let (new, _) = NewFile::create(target.clone(), true).unwrap();
        new.publish().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"");
    }

    #[test]
    fn a_name_that_was_taken_meanwhile_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a.lkb");
        let (new, _) = NewFile::create(target.clone(), false).unwrap();
        std::fs::write(&target, b"theirs").unwrap();
        assert!(new.publish().is_err());
        assert_eq!(std::fs::read(&target).unwrap(), b"theirs");
        assert_eq!(names(directory.path()), ["a.lkb"]);
    }
}
