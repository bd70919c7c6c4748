//! The client of the agent's control socket: finds it, asks, and takes the answer with suspicion.
//!
//! The constraint that shaped it: the other side runs inside a program that may be stopped, starved or
//! hostile, so each exchange has one deadline and the answer one bound.

use crate::error::{Error, Result};
use crate::process::{self, FileIdentity, Process, all_pids, java_program, our_uid};
use crate::runtime::{self, RuntimeDir};
use crate::socket::{self, End};
use lookback_format::control::{Answer, MOST_BYTES, Request, Status};
use std::collections::HashSet;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long an answer may take, or the next word on how far it is.
const SOON: Duration = Duration::from_secs(5);
/// How long a dump may take, and the same of a profile: 4 GB packed on a slow disk.
const DUMP: Duration = Duration::from_secs(120);

/// A traced process whose socket was found.
#[derive(Debug)]
pub(crate) struct Client {
    /// Its id here.
    pub(crate) pid: u32,
    /// Its id in its own namespace, which names its files.
    own: u32,
    dir: RuntimeDir,
}

impl Client {
    /// Finds the socket of a process.
    ///
    /// # Errors
    /// [`Error::NoProcess`], [`Error::Died`], [`Error::NotOurs`], [`Error::RuntimeDir`] or
    /// [`Error::NotTraced`].
    pub(crate) fn find(pid: u32) -> Result<Client> {
        let process = match Process::find(pid) {
            Ok(process) => process,
            Err(gone) => {
                let region = remains().into_iter().rfind(|r| r.pid == pid).map(|r| r.region);
                return Err(region.map_or(gone, |region| Error::Died { pid, region }));
            }
        };
        let (theirs, ours) = (process.uid()?, our_uid());
        if theirs != ours {
            return Err(Error::NotOurs { pid, theirs, ours });
        }
        let own = process.own_pid();
        let places = runtime::places_of(&process);
        let (dirs, mut errors) = runtime::open_all(places.clone());
        match dirs.into_iter().find(|dir| std::fs::symlink_metadata(dir.socket(own)).is_ok()) {
            Some(dir) => Ok(Client { pid, own, dir }),
            None if !errors.is_empty() => Err(errors.swap_remove(0)),
            None => Err(Error::NotTraced { pid, looked: places }),
        }
    }

    /// Finds a process by its id, or by a part of its program's name if only one traced program has it.
    ///
    /// # Errors
    /// As [`Client::find`], or [`Error::NoMatch`], [`Error::Ambiguous`].
    pub(crate) fn resolve(target: &str) -> Result<Client> {
        if let Ok(pid) = target.parse() {
            return Client::find(pid);
        }
        let mut found: Vec<(Client, String)> = all()
            .0
            .into_iter()
            .filter_map(|client| {
                let program = client.status().ok()?.program;
                program.contains(target).then_some((client, program))
            })
            .collect();
        prefer_exact(&mut found, target, |(_, program)| program);
        match found.len() {
            0 => Err(Error::NoMatch { name: target.to_owned() }),
            1 => Ok(found.swap_remove(0).0),
            _ => {
                let candidates = found.into_iter().map(|(client, program)| (client.pid, program)).collect();
                Err(Error::Ambiguous { name: target.to_owned(), candidates })
            }
        }
    }

    /// How tracing goes.
    ///
    /// # Errors
    /// What failed, or what the agent said.
    pub(crate) fn status(&self) -> Result<Status> {
        match self.ask(&Request::Status)? {
            Answer::Status(status) => Ok(*status),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Asks, and returns any answer but an error.
    ///
    /// # Errors
    /// What failed, or what the agent said.
    pub(crate) fn ask(&self, request: &Request) -> Result<Answer> {
        self.ask_and_hear(request, |_, _| {})
    }

    /// As [`Client::ask`]; `hear` is told how many classes of how many are done, and each such word gives the agent time
    /// for the next.
    ///
    /// # Errors
    /// What failed, or what the agent said.
    pub(crate) fn ask_and_hear(&self, request: &Request, hear: impl Fn(u64, u64)) -> Result<Answer> {
        let is_long =
            matches!(request, Request::Dump { .. } | Request::Profile { .. } | Request::EndProfile { .. });
        let limit = if is_long { DUMP } else { SOON };
        let pid = self.pid;
        let silent = Error::ControlSilent { pid, seconds: limit.as_secs() };
        let step = |doing| {
            move |error: io::Error| match error.kind() {
                io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                    Error::ControlSilent { pid, seconds: SOON.as_secs() }
                }
                _ => Error::Control { pid, doing, error },
            }
        };
        let mut stream = socket::connect(&self.dir.socket(self.own), SOON).map_err(step("connecting"))?;
        let mut line =
            serde_json::to_vec(request).map_err(|e| Error::BadAnswer { pid, why: e.to_string() })?;
        line.push(b'\n');
        stream.write_all(&line).map_err(step("asking"))?;
        let mut rest = Vec::new();
        let why = loop {
            let deadline = Instant::now() + limit;
            let reply = socket::read_on(&mut stream, rest, deadline, MOST_BYTES, Some(b'\n'));
            break match reply.end {
                None | Some(End::Closed) if !reply.bytes.is_empty() => {
                    match serde_json::from_slice(&reply.bytes) {
                        Ok(Answer::Progress { done, of }) => {
                            hear(done, of);
                            rest = reply.rest;
                            continue;
                        }
                        Ok(Answer::Error { message, hint }) => {
                            return Err(Error::Refused {
                                pid,
                                message: printable(&message),
                                hint: printable(&hint),
                            });
                        }
                        Ok(answer) => return Ok(answer),
                        Err(e) => e.to_string(),
                    }
                }
                None | Some(End::Closed) => "it closed the connection without a word".to_owned(),
                Some(End::Silent) => return Err(silent),
                Some(End::TooLong) => format!("it is longer than {MOST_BYTES} bytes"),
                Some(End::Failed(error)) => return Err(step("waiting for its answer")(error)),
            };
        };
        Err(Error::BadAnswer { pid, why })
    }

    /// The program's root directory as seen from here, and its runtime directory as it sees that itself, when
    /// it has a file system of its own.
    pub(crate) fn contained(&self) -> Option<(PathBuf, PathBuf)> {
        let root = PathBuf::from(format!("/proc/{}/root", self.pid));
        let inner = Path::new("/").join(self.dir.path.strip_prefix(&root).ok()?);
        Some((root, inner))
    }

    /// Has the program write a file where both sides can reach it, as `request` says of its name; gives it as it is seen
    /// here, and what removes it when it is dropped.
    ///
    /// # Errors
    /// What failed, or what the agent said.
    pub(crate) fn fetch(
        &self,
        request: impl FnOnce(PathBuf) -> Request,
    ) -> Result<(PathBuf, tempfile::TempDir)> {
        let (root, dir) = self.contained().unwrap_or_else(|| (PathBuf::from("/"), std::env::temp_dir()));
        let beneath = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
        let failed = |error| Error::Write { file: beneath(&dir), error };
        let made = tempfile::Builder::new().prefix("lookback-").tempdir_in(beneath(&dir)).map_err(failed)?;
        let name = made.path().file_name().unwrap_or_default();
        match self.ask(&request(dir.join(name).join("dump.lkb")))? {
            Answer::Dumped { .. } => Ok((made.path().join("dump.lkb"), made)),
            other => Err(self.unexpected(&other)),
        }
    }

    /// The error for an answer of the wrong kind.
    pub(crate) fn unexpected(&self, answer: &Answer) -> Error {
        let kind = match answer {
            Answer::Status(_) => "a status",
            Answer::Profiling { .. } => "word of a profile",
            Answer::Dumped { .. } => "a dump",
            Answer::Done { .. } => "a confirmation",
            Answer::Progress { .. } => "a word on progress",
            Answer::Error { .. } => "an error",
        };
        Error::BadAnswer { pid: self.pid, why: format!("it is {kind}, which was not asked for") }
    }
}

/// A region file whose process is gone.
#[derive(Debug)]
pub(crate) struct Remains {
    /// The process that wrote it.
    pub(crate) pid: u32,
    /// The file.
    pub(crate) region: PathBuf,
}

/// All processes of this user whose socket is listened on, and which directories could not be trusted.
pub(crate) fn all() -> (Vec<Client>, Vec<Error>) {
    let (dirs, errors) = runtime::open_all(runtime::places());
    let mut clients = Vec::new();
    for dir in dirs {
        // An id can have gone to another process: a socket that nobody listens on is a dead one's.
        let sockets = dir.sockets().into_iter();
        for pid in sockets.filter(|&pid| socket::connect(&dir.socket(pid), SOON).is_ok()) {
            if let Ok(Some(dir)) = RuntimeDir::open(dir.path.clone()) {
                clients.push(Client { pid, own: pid, dir });
            }
        }
    }
    // Programs in containers have a directory of their own, seen through their root.
    let contained = |p: &Process| p.other_mounts() && p.uid().is_ok_and(|uid| uid == our_uid()) && p.is_jvm();
    for process in all_pids().into_iter().filter_map(|pid| Process::find(pid).ok()).filter(contained) {
        clients.extend(Client::find(process.pid).ok().filter(|client| client.status().is_ok()));
    }
    (clients, errors)
}

/// The region files that no process holds any more, each once, by process and age.
pub(crate) fn remains() -> Vec<Remains> {
    let (dirs, _) = runtime::open_all(runtime::region_places());
    let mut seen = HashSet::new();
    let regions = dirs.iter().flat_map(RuntimeDir::regions).filter_map(|(pid, region)| {
        let meta = std::fs::metadata(&region).ok()?;
        seen.insert((meta.dev(), meta.ino()))
            .then(|| (FileIdentity::new(&region, &meta), Remains { pid, region }))
    });
    let (files, regions): (Vec<_>, Vec<_>) = regions.unzip();
    let holders = process::holders(&files);
    let mut found: Vec<Remains> =
        regions.into_iter().zip(holders).filter_map(|(r, holder)| holder.is_none().then_some(r)).collect();
    found.sort_by_key(|r| (r.pid, std::fs::metadata(&r.region).and_then(|m| m.modified()).ok()));
    found
}

/// The JVMs of this user, and what each runs.
pub(crate) fn jvms() -> Vec<(u32, String)> {
    let uid = our_uid();
    let processes = all_pids().into_iter().filter_map(|pid| Process::find(pid).ok());
    processes
        .filter(|p| p.uid().is_ok_and(|theirs| theirs == uid) && p.is_jvm())
        .map(|p| (p.pid, java_program(&p.command()).unwrap_or_else(|| p.name())))
        .collect()
}

/// Finds a JVM, traced or not, by id or by a part of what it runs.
///
/// # Errors
/// [`Error::NoProcess`], [`Error::NoMatch`] or [`Error::Ambiguous`].
pub(crate) fn resolve_jvm(target: &str) -> Result<Process> {
    if let Ok(pid) = target.parse() {
        return Process::find(pid);
    }
    let mut found = jvms();
    found.retain(|(_, program)| program.contains(target));
    prefer_exact(&mut found, target, |(_, program)| program);
    match found.as_slice() {
        [] => Err(Error::NoMatch { name: target.to_owned() }),
        [(pid, _)] => Process::find(*pid),
        _ => Err(Error::Ambiguous { name: target.to_owned(), candidates: found }),
    }
}

/// Keeps the one whose whole name it is, when there is exactly one such.
fn prefer_exact<T>(found: &mut Vec<T>, target: &str, name: impl Fn(&T) -> &String) {
    if found.iter().filter(|f| name(f) == target).count() == 1 {
        found.retain(|f| name(f) == target);
    }
}

/// Text from another process, safe for a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
