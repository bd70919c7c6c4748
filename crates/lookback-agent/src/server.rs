//! The control socket: takes one request a connection and hands it to the control thread.
//!
//! The constraint that shaped it: whoever connects is untrusted until the kernel has told who it is, and may
//! send anything or nothing. The socket lies in a directory of mode 0700, is of mode 0600, the peer's user
//! must be ours or root, requests are bounded in size and time, and one bad client is only one bad client.

use crate::agent::Agent;
use crate::log;
use lookback_format::control::{Answer, MOST_BYTES, Request};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How long a client may take to say what it wants, and to read the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the control thread may take.
const WORK: Duration = Duration::from_secs(120);

/// How often a client is told how far it is.
const PROGRESS: Duration = Duration::from_millis(100);

/// What the control thread is told.
pub(crate) enum Message {
    /// A client asks for something.
    Asked(Asked),
    /// The program itself wants an incident, for this reason.
    Wanted(String),
    /// The memory for what is recorded cannot be had, for this reason.
    NoMemory(String),
    /// The VM ends: let go of it.
    End,
}

/// A request on its way to the control thread.
pub(crate) struct Asked {
    pub(crate) request: Request,
    pub(crate) reply: SyncSender<Answer>,
}

/// Makes the directory for sockets and regions, or checks that the one that is there is safe.
pub(crate) fn prepare_directory(dir: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => return Ok(()),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        Err(e) => return Err(io::Error::new(e.kind(), format!("{}: {e}", dir.display()))),
    }
    let meta = std::fs::symlink_metadata(dir)?;
    // SAFETY: no arguments.
    let uid = unsafe { libc::geteuid() };
    if !meta.is_dir() || meta.uid() != uid || meta.mode() & 0o077 != 0 {
        let why = format!(
            "{} must be a directory of user {uid} with mode 0700 (it has owner {} and mode {:o})",
            dir.display(),
            meta.uid(),
            meta.mode() & 0o7777
        );
        return Err(io::Error::other(why));
    }
    Ok(())
}

/// Opens the socket. A socket that a dead process of the same id left behind is replaced.
pub(crate) fn listen(path: &Path) -> io::Result<UnixListener> {
    if UnixStream::connect(path).is_err() {
        let _ = std::fs::remove_file(path);
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Serves until the process ends, or the agent has left it; the socket `path` is gone before that is told.
pub(crate) fn run(agent: &Agent, listener: UnixListener, path: &Path, control: &SyncSender<Message>) {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                let mut listener = Some(&listener);
                let close = || {
                    if agent.is_detached() && listener.take().is_some() {
                        let _ = std::fs::remove_file(path);
                    }
                };
                if let Err(e) = serve(agent, stream, control, close)
                    && e.kind() == io::ErrorKind::PermissionDenied
                {
                    log::line(&format!("a request was refused: {e}"));
                }
                if agent.is_detached() {
                    return;
                }
            }
            // Too many open files, most likely; the program needs them more than we do.
            Err(_) => std::thread::sleep(Duration::from_millis(200)),
        }
    }
}

fn serve(
    agent: &Agent,
    mut stream: UnixStream,
    control: &SyncSender<Message>,
    close: impl FnOnce(),
) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    check_peer(&stream)?;
    let answer = match read_request(&mut stream) {
        // Status needs nobody else, and must be there while an incident is being written.
        Ok(Request::Status) => Answer::Status(Box::new(agent.status())),
        Ok(request) => forward(agent, request, control, &mut stream),
        Err(why) => Answer::Error { message: format!("not a request: {why}"), hint: String::new() },
    };
    close();
    say(&mut stream, &answer)
}

fn say(stream: &mut UnixStream, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Has the control thread answer; tells meanwhile how far it is when that was asked for.
fn forward(
    agent: &Agent,
    request: Request,
    control: &SyncSender<Message>,
    stream: &mut UnixStream,
) -> Answer {
    let mut told = request.wants_progress();
    let begun = Instant::now();
    let (reply, answer): (_, Receiver<Answer>) = sync_channel(1);
    let busy = || Answer::Error {
        message: "the agent is busy and did not answer in time".into(),
        hint: "try again; `lookback status` tells whether it lives".into(),
    };
    match control.try_send(Message::Asked(Asked { request, reply })) {
        Ok(()) => loop {
            match answer.recv_timeout(PROGRESS) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if begun.elapsed() < WORK => {
                    let last = agent.passes.last();
                    // Who has gone away changes nothing about what was begun.
                    told = told && say(stream, &Answer::Progress { done: last.classes, of: last.of }).is_ok();
                }
                Err(_) => return busy(),
            }
        },
        Err(_) => busy(),
    }
}

/// The peer must be of our user, or root.
fn check_peer(stream: &UnixStream) -> io::Result<()> {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: a valid descriptor, and a buffer of the length given.
    let code = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut len,
        )
    };
    if code != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: no arguments.
    let uid = unsafe { libc::geteuid() };
    if peer.uid != uid && peer.uid != 0 {
        let why = format!("it came from user {} (process {}), not from {uid}", peer.uid, peer.pid);
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

/// Reads one line within the bounds.
fn read_request(stream: &mut UnixStream) -> Result<Request, String> {
    let deadline = Instant::now() + PATIENCE;
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    while !line.contains(&b'\n') {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("no line within 2 seconds".into());
        }
        stream.set_read_timeout(Some(left)).map_err(|e| e.to_string())?;
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) if line.len() + n > MOST_BYTES => return Err("longer than a mebibyte".into()),
            Ok(n) => line.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            // The time-out; the loop's head says so.
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(e) => return Err(e.to_string()),
        }
    }
    let line = line.split(|&b| b == b'\n').next().unwrap_or_default();
    serde_json::from_slice(line).map_err(|e| e.to_string())
}
