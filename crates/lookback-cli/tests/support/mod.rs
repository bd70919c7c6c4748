//! What the tests of the command share: running it in a clean environment, and a stand-in for the agent.
//!
//! The constraint: nothing of the user's own environment may reach the command, and no test waits by
//! sleeping.

#![allow(dead_code, reason = "each test program uses its part")]

pub(crate) mod plans;
pub(crate) mod region;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;

/// A directory of its own for a test, with a runtime directory in it.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let place = Place { dir };
        std::fs::create_dir(place.runtime()).unwrap();
        place.runtime_mode(0o700);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.path().join("lookback")
    }

    pub(crate) fn runtime_mode(&self, mode: u32) {
        std::fs::set_permissions(self.runtime(), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// The command, in this directory and with this runtime directory.
    pub(crate) fn lookback(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lookback"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        for name in ["LOOKBACK_OPTS", "LOOKBACK_AGENT", "JAVA_TOOL_OPTIONS", "NO_COLOR", "TMPDIR"] {
            command.env_remove(name);
        }
        command.env("XDG_RUNTIME_DIR", self.path());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.lookback(args))
    }

    /// Names in the directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// A shell script in the place. It is written by another process: a descriptor of this one, open for writing
/// while another test's thread forks, would make the script "busy".
pub(crate) fn script(place: &Place, name: &str, body: &str) -> PathBuf {
    let file = place.file(name);
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(&file)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(format!("#!/bin/sh\n{body}\n").as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
    file
}

/// What a run of the command gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Ran {
        let Output { status, stdout, stderr } = command.output().expect("the command starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran { code: status.code(), out: text(stdout), err: text(stderr) }
    }

    /// Asserts that it went well.
    #[track_caller]
    pub(crate) fn ok(self) -> Ran {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Asserts that it failed with this code, and that standard error says all of this.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, says: &[&str]) -> Ran {
        assert_eq!(self.code, Some(code), "{self:?}");
        for words in says {
            assert!(self.err.contains(words), "`{words}` in {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }
}

/// A thread that listens on this process' control socket and gives one answer to each request.
pub(crate) struct FakeAgent {
    pub(crate) pid: u32,
    thread: Option<JoinHandle<Vec<String>>>,
    socket: PathBuf,
}

/// What a fake agent does with a request.
pub(crate) enum Reaction {
    /// Answers these bytes and closes.
    Say(Vec<u8>),
    /// Answers nothing for as long as the client stays.
    Silence,
}

impl FakeAgent {
    /// Listens in the place's runtime directory as this test's process. `react` is asked for each request;
    /// a connection without a request is passed over.
    pub(crate) fn start(
        place: &Place,
        mut react: impl FnMut(&str) -> Reaction + Send + 'static,
    ) -> FakeAgent {
        let pid = std::process::id();
        let socket = place.runtime().join(format!("{pid}.sock"));
        let listener = UnixListener::bind(&socket).unwrap();
        let thread = std::thread::spawn(move || {
            let mut asked = Vec::new();
            loop {
                let (stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if line == "end\n" {
                    return asked;
                }
                if line.is_empty() {
                    continue;
                }
                asked.push(line.trim_end().to_owned());
                match react(line.trim_end()) {
                    // The client may have closed before it has read all: that is its right.
                    Reaction::Say(bytes) => drop((&stream).write_all(&bytes)),
                    Reaction::Silence => {
                        let mut rest = String::new();
                        assert_eq!(reader.read_line(&mut rest).unwrap_or(0), 0, "the client just leaves");
                    }
                }
            }
        });
        FakeAgent { pid, thread: Some(thread), socket }
    }

    /// Ends it, and gives the requests that came.
    pub(crate) fn end(mut self) -> Vec<String> {
        self.stop()
    }

    fn stop(&mut self) -> Vec<String> {
        let Some(thread) = self.thread.take() else { return Vec::new() };
        let mut stream = std::os::unix::net::UnixStream::connect(&self.socket).unwrap();
        stream.write_all(b"end\n").unwrap();
        let asked = thread.join().unwrap();
        std::fs::remove_file(&self.socket).unwrap();
        asked
    }
}

impl Drop for FakeAgent {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.stop();
        }
    }
}

/// A child that is killed in the end.
pub(crate) struct Child(pub(crate) std::process::Child);

impl Child {
    pub(crate) fn alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
