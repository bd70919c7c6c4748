//! A recording of JDK Flight Recorder in another process: begun, ended, and fetched, by `jcmd`'s commands and without any JDK.
//!
//! The constraint that shaped it: the JVM writes the file, so it lies where that can write and sees it, which may be a container's
//! `/tmp`. It may end at any moment and take its mounts along, so the directory is held open; JFR then writes what it has while the
//! JVM shuts down. A JVM that is killed leaves JFR's repository, where JFR has put what it had, once a second. And this command may
//! be killed: so each recording has a time after which the VM ends it by itself. Recordings that somebody else has begun have other
//! names, and are not looked at.

use crate::attach;
use crate::error::{Error, Result};
use crate::process::Process;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where every JVM can write: the attach protocol has its socket there.
const TMP: &str = "/tmp";
/// Name of the file in a directory of its own.
const FILE: &str = "profile.jfr";
/// How long a JVM that does not stop the recording may take to end, with what JFR writes meanwhile.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// What stands before the path of the repository in what `JFR.configure` says.
const REPOSITORY: &str = "Repository path:";

/// What became of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was stopped.
    Stopped,
    /// The JVM ended, and JFR has written it.
    Ended,
    /// The JVM was killed; this is what its repository had.
    Killed,
}

/// A recording that goes on.
#[derive(Debug)]
pub(crate) struct Recording<'p> {
    process: &'p Process,
    /// As JFR has it; its directory's as well.
    name: String,
    dir: TempDir,
    /// The JVM's `/tmp`: by it the directory is reached when the JVM has gone.
    _tmp: File,
    repository: Option<Repository>,
    goes_on: bool,
}

/// Where JFR puts what it has.
#[derive(Debug)]
struct Repository {
    dir: File,
    /// Files with what was before the recording.
    before: Vec<OsString>,
}

impl<'p> Recording<'p> {
    /// Begins a recording of what `settings` say, which ends by itself after `most`.
    ///
    /// # Errors
    /// What is wrong with the target or the attach protocol, or why the JVM does not record.
    pub(crate) fn start(process: &'p Process, settings: &[String], most: Duration) -> Result<Recording<'p>> {
        let tmp = process.in_root(Path::new(TMP));
        let failed = |error| Error::Write { file: tmp.clone(), error };
        let opened = File::open(&tmp).map_err(failed)?;
        let reached = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
        // For this user alone, as whom the JVM runs.
        let dir = tempfile::Builder::new().prefix("lookback-jfr-").tempdir_in(&reached).map_err(failed)?;
        let name = dir.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut recording = Recording { process, name, dir, _tmp: opened, repository: None, goes_on: true };
        let name = &recording.name;
        let command = format!(
            "JFR.start name={name} filename={TMP}/{name}/{FILE} duration={}s {}",
            most.as_secs().max(1),
            settings.join(" ")
        );
        // An answer that does not come in time may come yet: then it goes on, and is ended when this is dropped.
        let started = recording.command(&command, "Started recording");
        recording.goes_on = !matches!(started, Err(Error::JfrRefused { .. } | Error::CommandRefused { .. }));
        started?;
        recording.repository = Repository::of(process);
        Ok(recording)
    }

    /// Ends the recording; what JFR wrote.
    ///
    /// # Errors
    /// Why there is nothing.
    pub(crate) fn stop(mut self) -> Result<(Vec<u8>, Fate)> {
        self.goes_on = false;
        let stopped = self.command(&format!("JFR.stop name={}", self.name), "Stopped recording");
        // It may be about to end; else something else is wrong, or the recording's time was over.
        let has_died = stopped.is_err() && self.ends();
        let file = match fs::read(self.dir.path().join(FILE)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::Read { file: self.seen(), error }),
        };
        match stopped {
            _ if !file.is_empty() => Ok((file, if has_died { Fate::Ended } else { Fate::Stopped })),
            Err(_) if has_died => {
                let left = self.repository.as_ref().map(Repository::read).unwrap_or_default();
                if left.is_empty() {
                    Err(Error::JfrLost { pid: self.process.pid })
                } else {
                    Ok((left, Fate::Killed))
                }
            }
            Err(error) => Err(error),
            Ok(()) => Err(Error::JfrFile { pid: self.process.pid, why: "it is empty".into() }),
        }
    }

    /// Waits for the JVM's end, whose hooks may take their time; whether it came.
    fn ends(&self) -> bool {
        let begun = Instant::now();
        while Process::find(self.process.pid).is_ok() {
            if begun.elapsed() > SHUTDOWN {
                return false;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        true
    }

    /// Has the JVM run a command whose answer says `expected` when it was done.
    fn command(&self, command: &str, expected: &str) -> Result<()> {
        let said = attach::diagnose(self.process, command)?;
        if said.contains(expected) {
            return Ok(());
        }
        Err(Error::JfrRefused { pid: self.process.pid, message: attach::clean(&said) })
    }

    /// The file as the user would find it.
    fn seen(&self) -> PathBuf {
        self.process.in_root(&Path::new(TMP).join(&self.name).join(FILE))
    }
}

impl Repository {
    /// That of a JVM in which a recording has just begun; none when it cannot be looked at.
    fn of(process: &Process) -> Option<Repository> {
        let said = attach::diagnose(process, "JFR.configure").ok()?;
        let path = said.lines().find_map(|line| line.strip_prefix(REPOSITORY))?.trim();
        let dir = File::open(process.in_root(Path::new(path))).ok()?;
        let mut repository = Repository { dir, before: Vec::new() };
        repository.before = repository.names();
        // A recording begins with a file of its own.
        repository.before.pop();
        Some(repository)
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.dir.as_raw_fd()))
    }

    /// Its files, the oldest first: they are named for the time.
    fn names(&self) -> Vec<OsString> {
        let entries = fs::read_dir(self.path()).into_iter().flatten().flatten();
        let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
        names.retain(|name| Path::new(name).extension().is_some_and(|ending| ending == "jfr"));
        names.sort();
        names
    }

    /// What was put there since the recording has begun.
    fn read(&self) -> Vec<u8> {
        let mut names = self.names();
        names.retain(|name| !self.before.contains(name));
        names.iter().filter_map(|name| fs::read(self.path().join(name)).ok()).flatten().collect()
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        if self.goes_on {
            // Else it ends by itself, later.
            let _ = attach::diagnose(self.process, &format!("JFR.stop name={}", self.name));
        }
    }
}

/// Name and version of the VM, as the agent tells them, and the JDK's release, such as 17.
///
/// # Errors
/// What is wrong with the target or the attach protocol.
pub(crate) fn version(process: &Process) -> Result<(String, Option<u32>)> {
    Ok(told(&attach::diagnose(process, "VM.version")?))
}

/// What `VM.version` says: a line of the VM's own version, which of old ones is no JDK's, then `JDK 17.0.15`.
fn told(said: &str) -> (String, Option<u32>) {
    let vm = said.lines().next().unwrap_or_default().trim().replacen(" version ", " ", 1);
    let jdk = said.lines().find_map(|line| line.trim().strip_prefix("JDK "));
    let release = jdk.and_then(|jdk| jdk.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    (vm, release)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vm_says_its_name_and_release() {
        assert_eq!(
            told("OpenJDK 64-Bit Server VM version 25.0.3+9-LTS\nJDK 25.0.3\n"),
            ("OpenJDK 64-Bit Server VM 25.0.3+9-LTS".to_owned(), Some(25))
        );
        assert_eq!(told("OpenJDK 64-Bit Server VM version 25.152-b01\nJDK 8.0_152\n").1, Some(8));
        assert_eq!(told(""), (String::new(), None));
    }
}
