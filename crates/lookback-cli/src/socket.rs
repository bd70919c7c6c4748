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
}

/// Reads until `mark`, the other side's close, `deadline`, or more than `most` bytes.
pub(crate) fn read(stream: &mut UnixStream, deadline: Instant, most: usize, mark: Option<u8>) -> Reply {
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    let end = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break End::Silent;
        }
        if let Err(e) = stream.set_read_timeout(Some(left)) {
            break End::Failed(e);
        }
        match stream.read(&mut buffer) {
            Ok(0) => break End::Closed,
            Ok(n) => {
                let new = &buffer[..n];
                if let Some(at) = mark.and_then(|m| new.iter().position(|&b| b == m))
                    && bytes.len() + at <= most
                {
                    bytes.extend_from_slice(&new[..at]);
                    return Reply { bytes, end: None };
                }
                bytes.extend_from_slice(new);
                if bytes.len() > most {
                    break End::TooLong;
                }
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                break End::Silent;
            }
            Err(e) => break End::Failed(e),
        }
    };
    Reply { bytes, end: Some(end) }
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
        assert!(matches!(after(b"abc", true, 10).end, Some(End::Closed)));
        assert!(matches!(after(b"abc", false, 10).end, Some(End::Silent)));
        assert!(matches!(after(b"abcdef", false, 5).end, Some(End::TooLong)));
        assert!(matches!(after(b"abcdef\n", false, 5).end, Some(End::TooLong)));
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
