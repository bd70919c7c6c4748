//! What a host needs to run its part: the experiment's file with those that it includes, or a resolved plan; minimum heaps;
//! and whatever else the user names.
//!
//! The constraint that shaped it: paths in a file are relative to it, so files lie to one another on the host as they do
//! here. They are sent below one directory, the last that is above all of them.

use crate::error::{Error, Result};
use crate::experiment;
use std::path::{Path, PathBuf};

/// Files that are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The experiment's file or plan, on the host, relative to the directory of work.
    pub file: PathBuf,
    /// Name of the file of minimum heaps there; none when there is none.
    pub minima: Option<PathBuf>,
    /// What GNU parallel is to send: what stands behind `/./` is the path on the host.
    pub transfers: Vec<PathBuf>,
}

impl Sent {
    /// The files of an experiment, or a `plan` instead of it; `more` files or directories, such as jars; and minimum heaps
    /// where there are any.
    ///
    /// # Errors
    /// [`Error::Read`] for a file that is not there.
    pub fn new(file: &Path, is_plan: bool, minima: &Path, more: &[PathBuf]) -> Result<Sent> {
        let real =
            |path: &Path| path.canonicalize().map_err(|error| Error::Read { path: path.to_owned(), error });
        let file = real(file)?;
        let mut files = if is_plan { vec![file.clone()] } else { experiment::files(&file)? };
        for path in more {
            files.push(real(path)?);
        }
        let mut above = file.parent().unwrap_or(Path::new("/"));
        while !files.iter().all(|path| path.starts_with(above)) {
            above = above.parent().unwrap_or(Path::new("/"));
        }
        let below = |path: &Path| path.strip_prefix(above).unwrap_or(path).to_owned();
        let mut transfers: Vec<_> = files.iter().map(|path| above.join(".").join(below(path))).collect();
        let file = below(&file);
        let minima = if minima.exists() {
            let path = real(minima)?;
            let name = PathBuf::from(path.file_name().unwrap_or_default());
            transfers.push(path.parent().unwrap_or(Path::new("/")).join(".").join(&name));
            Some(name)
        } else {
            None
        };
        Ok(Sent { file, minima, transfers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_keep_their_places_to_one_another() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["gc", "shared", "jars", "found"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        fs::write(root.join("gc/a.toml"), "include = [\"../shared/jdks.toml\"]\n").unwrap();
        fs::write(root.join("shared/jdks.toml"), "include = [\"more.toml\"]\n").unwrap();
        fs::write(root.join("shared/more.toml"), "").unwrap();
        fs::write(root.join("found/min-heap.jsonl"), "").unwrap();
        let file = root.join("gc/a.toml");
        let sent = Sent::new(&file, false, &root.join("found/min-heap.jsonl"), &[root.join("jars")]).unwrap();
        assert_eq!(sent.file, Path::new("gc/a.toml"));
        assert_eq!(sent.minima.as_deref(), Some(Path::new("min-heap.jsonl")));
        let told: Vec<_> =
            sent.transfers.iter().map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap()).collect();
        assert_eq!(told.len(), 5);
        let root = root.to_str().unwrap();
        let whole: Vec<_> = sent.transfers.iter().map(|path| path.to_str().unwrap().to_owned()).collect();
        for rest in [
            "/./gc/a.toml",
            "/./shared/jdks.toml",
            "/./shared/more.toml",
            "/./jars",
            "/found/./min-heap.jsonl",
        ] {
            assert!(whole.contains(&format!("{root}{rest}")), "{rest}: {whole:?}");
        }
        let plan = Sent::new(&file, true, Path::new("/none"), &[]).unwrap();
        assert_eq!((plan.file.to_str().unwrap(), plan.minima), ("a.toml", None));
        assert!(matches!(Sent::new(&file, false, &file, &["/none".into()]), Err(Error::Read { .. })));
    }
}
