//! A Unix socket to a process that may be stopped, hostile or gone.
//!
//! The constraint that shaped it: no call here may block for ever or read without bound. Even a connect
//! blocks when a stopped process' queue is full, so the time limit is set before it. This file must not
//! know what is said.

use crate::process::our_uid;
use socket2::{Domain, SockAddr, Socket, Type};
use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Connects to a socket that belongs to this user.
///
/// # Errors
/// `PermissionDenied` when another user's socket or no socket stands there, `TimedOut`, or what the kernel
/// says.
pub(crate) fn connect(path: &Path, limit: Duration) -> io::Result<UnixStream> {
    let meta = fs::symlink_metadata(path)?;
    if !meta.file_type().is_socket() || meta.uid() != our_uid() {
        let why = "what stands at the socket's path is not this user's socket";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_write_timeout(Some(limit))?;
    socket.connect(&SockAddr::unix(path)?).map_err(|e| match e.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => e,
    })?;
    Ok(UnixStream::from(OwnedFd::from(socket)))
}

/// Why reading ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The other side closed.
    Closed,
    /// The time was over.
    Silent,
    /// The bound was passed.
    TooLong,
    /// The connection failed.
    Failed(io::Error),
}

/// What was read.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Without the end mark.
    pub(crate) bytes: Vec<u8>,
    /// None when the end mark came.
    pub(crate) end: Option<End>,
    /// What came behind the end mark already.
    pub(crate) rest: Vec<u8>,
}

/// Reads until `mark`, the other side's close, `deadline`, or more than `most` bytes.
pub(crate) fn read(stream: &mut UnixStream, deadline: Instant, most: usize, mark: Option<u8>) -> Reply {
    read_on(stream, Vec::new(), deadline, most, mark)
}

/// As [`read`], when `bytes` of it came before, as the [`Reply::rest`] of another one.
pub(crate) fn read_on(
    stream: &mut UnixStream,
    mut bytes: Vec<u8>,
    deadline: Instant,
    most: usize,
    mark: Option<u8>,
) -> Reply {
    let mut buffer = [0; 8192];
    let mut looked = 0;
    let end = loop {
        if let Some(at) = mark.and_then(|m| bytes[looked..].iter().position(|&b| b == m))
            && looked + at <= most
        {
            let rest = bytes.split_off(looked + at + 1);
            bytes.truncate(looked + at);
            return Reply { bytes, end: None, rest };
        }
        looked = bytes.len();
        if looked > most {
            break End::TooLong;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break End::Silent;
        }
        if let Err(e) = stream.set_read_timeout(Some(left)) {
            break End::Failed(e);
        }
        match stream.read(&mut buffer) {
            Ok(0) => break End::Closed,
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                break End::Silent;
            }
            Err(e) => break End::Failed(e),
        }
    };
    Reply { bytes, end: Some(end), rest: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn after(say: &[u8], close: bool, most: usize) -> Reply {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(say).unwrap();
        let kept = (!close).then_some(theirs);
        let read = read(&mut ours, Instant::now() + Duration::from_millis(100), most, Some(b'\n'));
        drop(kept);
        read
    }

    #[test]
    fn every_way_to_end_is_told_apart() {
        let whole = after(b"abc\nrest", false, 3);
        assert_eq!((whole.bytes.as_slice(), whole.end.is_none()), (&b"abc"[..], true));
        assert_eq!(whole.rest, b"rest");
        assert!(matches!(after(b"abc", true, 10).end, Some(End::Closed)));
        assert!(matches!(after(b"abc", false, 10).end, Some(End::Silent)));
        assert!(matches!(after(b"abcdef", false, 5).end, Some(End::TooLong)));
        assert!(matches!(after(b"abcdef\n", false, 5).end, Some(End::TooLong)));
    }

    #[test]
    fn lines_that_come_together_are_read_one_by_one() {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"one\ntwo\nth").unwrap();
        let soon = Instant::now() + Duration::from_secs(10);
        let one = read(&mut ours, soon, 10, Some(b'\n'));
        let two = read_on(&mut ours, one.rest, soon, 10, Some(b'\n'));
        assert_eq!((one.bytes.as_slice(), two.bytes.as_slice()), (&b"one"[..], &b"two"[..]));
        theirs.write_all(b"ree\n").unwrap();
        let three = read_on(&mut ours, two.rest, soon, 10, Some(b'\n'));
        assert_eq!((three.bytes.as_slice(), three.end.is_none()), (&b"three"[..], true));
    }

    #[test]
    fn a_file_in_the_sockets_place_is_not_connected_to() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".java_pid1");
        fs::write(&path, "").unwrap();
        let error = |p: &Path| connect(p, Duration::from_secs(1)).unwrap_err().kind();
        assert_eq!(error(&path), io::ErrorKind::PermissionDenied);
        assert_eq!(error(&dir.path().join("none")), io::ErrorKind::NotFound);
    }
}
