//! HotSpot's attach protocol, version 1, which every JDK from 6 on speaks.
//!
//! Source: `attachListener_posix.cpp` and `VirtualMachineImpl.java` describe it by what they do: a file
//! `.attach_pidN` in the target's current directory or `/tmp`, a SIGQUIT, then the target listens on
//! `/tmp/.java_pidN`; a request is `1 0 command 0 arg 0 arg 0 arg 0`, the reply a line with a code, then text
//! to the end. N is the id in the target's own pid namespace, and both paths are in its mount namespace.
//!
//! The constraint that shaped it: the socket's path could have been put there by anybody, so its owner is
//! checked, the reply is bounded in size and in time, and the file is removed on every way out.

use crate::error::{Error, Result};
use crate::process::{Process, our_uid};
use crate::socket::{self, End};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The most bytes of an argument: HotSpot's `AttachOperation::arg_length_max`.
pub(crate) const ARGUMENT_BYTES: usize = 1024;
/// How long the JVM may take to open its socket. It does so at its next safepoint, which a long garbage
/// collection delays.
const OPEN: Duration = Duration::from_secs(10);
/// How long loading may take: retransforming some ten thousand classes takes seconds.
const LOAD: Duration = Duration::from_secs(120);
/// A reply is a few lines.
const REPLY_BYTES: usize = 64 << 10;

/// A connection to the attach listener.
#[derive(Debug)]
pub(crate) struct Session {
    pid: u32,
    stream: UnixStream,
}

impl Session {
    /// Connects, starting the listener when it does not run yet.
    pub(crate) fn open(process: &Process) -> Result<Session> {
        let pid = process.pid;
        let own = process.own_pid();
        let path = process.in_root(Path::new(&format!("/tmp/.java_pid{own}")));
        let step = |doing| move |error| Error::Attach { pid, doing, error };
        // A socket that is left from an earlier process with this id refuses, and is replaced by the JVM.
        if let Ok(stream) = socket::connect(&path, OPEN) {
            return Ok(Session { pid, stream });
        }
        let file = AttachFile::create(process, own).map_err(step("creating the file .attach_pid"))?;
        process.quit_signal().map_err(step("sending SIGQUIT"))?;
        let deadline = Instant::now() + OPEN;
        // The JVM polls nothing and tells nobody: its socket simply appears, usually within 50 ms.
        let mut pause = Duration::from_millis(5);
        loop {
            match socket::connect(&path, OPEN) {
                Ok(stream) => {
                    drop(file);
                    return Ok(Session { pid, stream });
                }
                Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(step("connecting to its socket")(e));
                }
                Err(_) if Instant::now() >= deadline => {
                    return Err(Error::AttachSilent { pid, seconds: OPEN.as_secs() });
                }
                Err(_) => {
                    Process::find(pid)?;
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(100));
                }
            }
        }
    }

    /// Asks for a native agent to be loaded and returns the reply.
    pub(crate) fn load(self, agent: &str, options: &str) -> Result<Vec<u8>> {
        self.ask(&["load", agent, "true", options])
    }

    /// Gives a command and up to three arguments, and returns the reply.
    pub(crate) fn ask(mut self, parts: &[&str]) -> Result<Vec<u8>> {
        let pid = self.pid;
        let step = |doing| move |error| Error::Attach { pid, doing, error };
        let request = request(parts);
        self.stream.set_write_timeout(Some(OPEN)).map_err(step("preparing the request"))?;
        self.stream.write_all(&request).map_err(step("sending the request"))?;
        let read = socket::read(&mut self.stream, Instant::now() + LOAD, REPLY_BYTES, None);
        match read.end {
            // A JVM that refuses a request closes with some of it unread; its words came before.
            Some(End::Failed(_)) if !read.bytes.is_empty() => Ok(read.bytes),
            Some(End::Failed(error)) => Err(step("reading its reply")(error)),
            Some(End::Silent) => Err(step("waiting for its reply")(io::ErrorKind::TimedOut.into())),
            _ => Ok(read.bytes),
        }
    }
}

/// The bytes of a request: version, command, always three arguments.
fn request(parts: &[&str]) -> Vec<u8> {
    let mut bytes = b"1\0".to_vec();
    for i in 0..4 {
        bytes.extend_from_slice(parts.get(i).unwrap_or(&"").as_bytes());
        bytes.push(0);
    }
    bytes
}

/// The file that tells the JVM that SIGQUIT means an attachment; removed when dropped.
#[derive(Debug)]
struct AttachFile(PathBuf);

impl AttachFile {
    fn create(process: &Process, own: u32) -> io::Result<AttachFile> {
        let name = format!(".attach_pid{own}");
        let places = [process.proc("cwd").join(&name), process.in_root(&Path::new("/tmp").join(&name))];
        let mut last = None;
        for path in places {
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(_) => return Ok(AttachFile(path)),
                // Left by a client that was killed, or another one is at it: ours serves as well.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && is_ours(&path) => {
                    return Ok(AttachFile(path));
                }
                Err(e) => last = Some(e),
            }
        }
        Err(last.unwrap_or_else(|| io::Error::from(io::ErrorKind::NotFound)))
    }
}

fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|m| m.is_file() && m.uid() == our_uid())
}

impl Drop for AttachFile {
    fn drop(&mut self) {
        // The JVM may have removed it, or its directory may be gone: nothing depends on it any more.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_always_has_three_arguments() {
        assert_eq!(request(&["load", "/l.so", "true", "a=b"]), b"1\0load\0/l.so\0true\0a=b\0");
        assert_eq!(request(&["properties"]), b"1\0properties\0\0\0\0");
    }
}
