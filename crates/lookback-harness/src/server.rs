//! The socket by which another process marks begin and end.
//!
//! The constraint that shaped it: whoever connects may send anything or nothing. The socket is of mode 0600 from its
//! first moment (it is made while the process has no threads that a changed umask could surprise), lines are bounded in
//! length, and clients in number: the one that has been silent for longest gives way. Its thread belongs to the VM only
//! while it asks for what was allocated: the VM waits for threads in native code when it ends.

use crate::agent::Agent;
use crate::allocation::Allocated;
use crate::error::{Error, Result};
use crate::log;
use crate::protocol::{Command, Lines, answer};
use jni_sys::{JNI_VERSION_1_8, JavaVM, JavaVMAttachArgs};
use std::ffi::{CString, c_void};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

/// The thread that serves.
pub(crate) const THREAD: &str = "lookback-harness";
/// Connections at a time; one is what a controller needs.
const MOST_CLIENTS: usize = 8;
/// How long a client may take to take an answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The socket, listening.
#[derive(Debug)]
pub(crate) struct Server(UnixListener);

#[derive(Debug)]
struct Client {
    stream: UnixStream,
    lines: Lines,
    /// How many times anybody had spoken when this one did last, or came.
    spoke: u64,
}

impl Server {
    /// Makes the socket. One that a dead process left behind is replaced; any other file is not.
    pub(crate) fn listen(path: &Path) -> Result<Server> {
        let is_left = std::fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket())
            && UnixStream::connect(path).is_err();
        if is_left {
            let _ = std::fs::remove_file(path);
        }
        // SAFETY: takes a number and cannot fail.
        let mask = unsafe { libc::umask(0o177) };
        let listener = UnixListener::bind(path);
        // SAFETY: as above.
        unsafe { libc::umask(mask) };
        let listener = listener.and_then(|l| l.set_nonblocking(true).map(|()| l));
        listener.map(Server).map_err(|source| Error::Io { what: "listen on", path: path.to_owned(), source })
    }

    /// Serves until the process ends.
    pub(crate) fn run(self, agent: &Agent) {
        let mut clients: Vec<Client> = Vec::new();
        let mut spoken = 0;
        loop {
            let ready = match self.wait(&clients) {
                Ok(ready) => ready,
                Err(e) => return log::line(&format!("the socket is no longer served: {e}")),
            };
            let mut speaks = ready[1..].iter();
            clients.retain_mut(|client| {
                spoken += 1;
                match speaks.next() {
                    Some(true) => {
                        client.spoke = spoken;
                        client.serve(agent).is_ok()
                    }
                    _ => true,
                }
            });
            if ready[0] {
                match self.accept(spoken) {
                    Ok(client) => clients.push(client),
                    // Too many open files, most likely; the program needs them more than we do.
                    Err(_) => std::thread::sleep(Duration::from_millis(200)),
                }
            }
            if clients.len() > MOST_CLIENTS {
                let silent = clients.iter().enumerate().min_by_key(|(_, client)| client.spoke);
                silent.map(|(i, _)| i).map(|i| clients.remove(i));
            }
        }
    }

    fn accept(&self, spoken: u64) -> io::Result<Client> {
        let (stream, _) = self.0.accept()?;
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Client { stream, lines: Lines::default(), spoke: spoken })
    }

    /// Waits until somebody connects or says something; who: the listener first, then the clients.
    fn wait(&self, clients: &[Client]) -> io::Result<Vec<bool>> {
        let descriptors =
            std::iter::once(self.0.as_raw_fd()).chain(clients.iter().map(|c| c.stream.as_raw_fd()));
        let mut polled: Vec<libc::pollfd> =
            descriptors.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
        loop {
            // SAFETY: so many valid entries; no limit of time.
            let n = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, -1) };
            if n > 0 {
                return Ok(polled.iter().map(|p| p.revents != 0).collect());
            }
            let e = io::Error::last_os_error();
            if e.kind() != io::ErrorKind::Interrupted {
                return Err(e);
            }
        }
    }
}

impl Client {
    /// Takes what has come, and answers each line of it. An error ends the connection.
    fn serve(&mut self, agent: &Agent) -> io::Result<()> {
        let mut buffer = [0; 4096];
        let n = self.stream.read(&mut buffer)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut sent = Ok(());
        let stream = &mut self.stream;
        let fits = self.lines.push(&buffer[..n], |line| {
            if sent.is_ok() {
                sent = stream.write_all(answer(carry_out(agent, line)).as_bytes());
            }
        });
        sent?;
        if let Err(e) = fits {
            self.stream.write_all(answer(Err(e)).as_bytes())?;
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(())
    }
}

fn carry_out(agent: &Agent, line: &[u8]) -> Result<()> {
    // Whatever it is: if it is an end, this is when it was.
    let end = agent.end_now();
    match Command::parse(line)? {
        Command::Begin(name, iteration) => agent.begin(&name, iteration, || allocated(agent.vm)),
        Command::End(name, iteration) => agent.end(end, &name, iteration, || allocated(agent.vm)),
        Command::Value(name, value) => agent.session().value(&name, value),
    }
}

/// Asks the VM as one of its threads, for as long as it takes.
fn allocated(vm: *mut JavaVM) -> Option<Allocated> {
    let name = CString::new(THREAD).unwrap_or_default();
    let mut arguments = JavaVMAttachArgs {
        version: JNI_VERSION_1_8,
        name: name.as_ptr().cast_mut(),
        group: std::ptr::null_mut(),
    };
    let mut env: *mut c_void = std::ptr::null_mut();
    // SAFETY: the VM that loaded us, with valid out parameters.
    let attached = unsafe {
        (**vm)
            .AttachCurrentThreadAsDaemon
            .is_some_and(|f| f(vm, &raw mut env, (&raw mut arguments).cast()) == 0)
    };
    if !attached {
        return None;
    }
    let allocated = Allocated::read(env.cast());
    // SAFETY: attached above; no Java frames are below us.
    unsafe { (**vm).DetachCurrentThread.map(|f| f(vm)) };
    allocated
}
