//! A directory of its own for a test: runtime directory, region, recordings, and the command run in it.

use super::artifacts;
use super::process::Ran;
use super::recorded::Recorded;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The directory; gone with the value, except that of a failed test when `LOOKBACK_KEEP` is set.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Drop for Place {
    fn drop(&mut self) {
        if std::thread::panicking() && std::env::var_os("LOOKBACK_KEEP").is_some() {
            self.dir.disable_cleanup(true);
            eprintln!("kept {}", self.dir.path().display());
        }
    }
}

impl Place {
    pub(crate) fn new() -> Place {
        let dir = tempfile::Builder::new().prefix("lookback-e2e-").tempdir().expect("a temporary directory");
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o700)).expect("its mode");
        Place { dir }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// What `XDG_RUNTIME_DIR` is for the programs of this place.
    pub(crate) fn xdg(&self) -> &Path {
        self.path()
    }

    /// The directory in which agents of this place have their sockets.
    pub(crate) fn runtime(&self) -> PathBuf {
        self.xdg().join("lookback")
    }

    pub(crate) fn region(&self) -> PathBuf {
        self.file("region")
    }

    /// The command with these arguments, in this place.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(artifacts::lookback());
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        self.environment(&mut command);
        command.env("LOOKBACK_AGENT", artifacts::agent());
        command
    }

    /// Runs the command to its end.
    #[track_caller]
    pub(crate) fn lookback(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.command(args))
    }

    /// Removes what the user's own environment would change, and names this place's runtime directory.
    pub(crate) fn environment(&self, command: &mut Command) {
        for name in [
            "LOOKBACK_OPTS",
            "LOOKBACK_AGENT",
            "LOOKBACK_RING",
            // Cargo puts its own directories there, with libraries of earlier builds.
            "LD_LIBRARY_PATH",
            "JAVA_TOOL_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "CLASSPATH",
        ] {
            command.env_remove(name);
        }
        command.env("XDG_RUNTIME_DIR", self.xdg()).env("NO_COLOR", "1");
    }

    /// Makes an incident of the place's region by `lookback recover`, and reads it.
    #[track_caller]
    pub(crate) fn recover(&self) -> Recorded {
        let out = self.file("recovered.lkb");
        let [region, target] = [self.region(), out.clone()].map(|p| p.display().to_string());
        self.lookback(&["recover", "--force", &region, "-o", &target]).ok();
        Recorded::read(&out)
    }

    /// What `lookback status --json` tells of a program.
    #[track_caller]
    pub(crate) fn status(&self, pid: u32) -> Value {
        let ran = self.lookback(&["status", &pid.to_string(), "--json"]).ok();
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}", ran.out))
    }

    /// Loads the agent into a program, with its memory in this place.
    #[track_caller]
    pub(crate) fn attach(&self, pid: u32, options: &[&str]) -> Ran {
        let (pid, region) = (pid.to_string(), self.region().display().to_string());
        self.lookback(&[&["attach", &pid, "--region", &region][..], options].concat()).ok()
    }

    /// Has a program write an incident, and reads it.
    #[track_caller]
    pub(crate) fn dump(&self, pid: u32) -> Recorded {
        let out = self.file("dumped.lkb");
        let target = out.display().to_string();
        self.lookback(&["dump", &pid.to_string(), "--force", "-o", &target]).ok();
        Recorded::read(&out)
    }
}
