//! GNU parallel: starts one job a worker, over ssh or here, sends files before and brings results back after it.
//!
//! The constraint that shaped it: a worker's blocks must stay its own, so every job belongs to one worker (`--hostgroups`).
//! GNU parallel's own retries go to other hosts, and with groups wait for one for ever (version 20221122), so what fails is
//! tried again in another round, by who calls this. What parallel says comes through line by line, as it comes.

use super::sent::Sent;
use super::worker::{Place, Worker};
use crate::error::{Error, Result};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The log of jobs, beside the directory that has the workers' ones.
const LOG: &str = "../jobs.tsv";
/// How often is looked whether all is to end.
const LOOK: Duration = Duration::from_millis(200);

/// How jobs are started.
#[derive(Debug, Clone)]
pub struct Parallel<'a> {
    /// The directory of work on a host, relative to where ssh begins.
    pub directory: &'a str,
    /// The command that stands for ssh, for a shell.
    pub ssh: &'a str,
    /// What hosts are sent.
    pub sent: &'a Sent,
}

/// How a worker's job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With this exit code; 255 is also ssh's own.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It has not; parallel ended before it.
    Never,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Code(255) => f.write_str("no connection (exit code 255)"),
            Ending::Code(code) => write!(f, "exit code {code}"),
            Ending::Signal(signal) => write!(f, "signal {signal}"),
            Ending::Never => f.write_str("not ended"),
        }
    }
}

/// A worker with the line of shell that it is to run. Results of a host are brought back from a directory with the
/// worker's name in the directory of work.
pub type Worked<'a> = (&'a Worker, String);

/// Whether GNU parallel is there.
///
/// # Errors
/// [`Error::Parallel`].
pub fn available() -> Result<()> {
    let refused = |why: String| Err(Error::Parallel { why });
    match Command::new("parallel").args(["--plain", "--version"]).stdin(Stdio::null()).output() {
        Ok(said) if String::from_utf8_lossy(&said.stdout).starts_with("GNU parallel") => Ok(()),
        Ok(_) => refused("the program `parallel` is another one".into()),
        Err(error) => refused(format!("the program `parallel` cannot be started: {error}")),
    }
}

impl Parallel<'_> {
    /// Runs the jobs at the same time, to the end of each, and tells how they ended, in their order. `into` has the
    /// workers' directories. `stop` is asked whether all is to end, some times a second; `tell` hears each line that is
    /// said, with the worker's name before it.
    ///
    /// # Errors
    /// [`Error::Parallel`] when it does not start, [`Error::Write`] for the directory.
    pub fn run(
        &self,
        into: &Path,
        jobs: &[Worked<'_>],
        stop: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vec<Ending>> {
        let failed = |error| Error::Write { path: into.to_owned(), error };
        fs::create_dir_all(into).map_err(failed)?;
        let log = into.join(LOG);
        match fs::remove_file(&log) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let mut command = Command::new("parallel");
        command.args(self.arguments(jobs)).current_dir(into);
        // Without this it asks SHELL, which services and continuous integration have not, then a guess.
        command.env("PARALLEL_SHELL", "/bin/sh").env("SHELL", "/bin/sh");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let unusable = |error: io::Error| Error::Parallel { why: error.to_string() };
        let mut child = command.spawn().map_err(unusable)?;
        watch(&mut child, &input(jobs), stop, tell).map_err(unusable)?;
        // Made for the local workers' sake, who do not work there.
        let mut made = into.join(self.directory);
        while made != into && fs::remove_dir(&made).is_ok() && made.pop() {}
        let log = fs::read_to_string(&log).unwrap_or_default();
        Ok(endings(&log, jobs.len()))
    }

    fn arguments(&self, jobs: &[Worked<'_>]) -> Vec<OsString> {
        let fixed =
            "--will-cite --plain --hostgroups --jobs 100% --line-buffer --tagstring {} --return {} --joblog";
        let mut words: Vec<OsString> = fixed.split(' ').map(OsString::from).collect();
        words.extend([LOG, "--workdir", self.directory, "--ssh", self.ssh].map(OsString::from));
        for file in &self.sent.transfers {
            words.extend(["--transferfile".into(), file.clone().into_os_string()]);
        }
        let local = jobs.iter().filter(|(worker, _)| matches!(worker.place, Place::Here(_))).count();
        for (i, (worker, _)) in jobs.iter().enumerate() {
            if let Place::Host(host) = &worker.place {
                words.extend(["--sshlogin".into(), format!("@w{i}/1/{host}").into()]);
            }
        }
        if local > 0 {
            words.extend(["--sshlogin".into(), format!("@here/{local}/:").into()]);
        }
        let cases = jobs.iter().map(|(worker, line)| {
            // A brace in it is the shell's to read, not parallel's.
            format!("{}) {};;", worker.name, line.replace('{', "{''"))
        });
        words.push(format!("case {{}} in {} esac", cases.collect::<Vec<_>>().join(" ")).into());
        words
    }
}

/// What parallel reads: the worker of each job with its group.
fn input(jobs: &[Worked<'_>]) -> String {
    let line = |(i, (worker, _)): (usize, &Worked<'_>)| match worker.place {
        Place::Host(_) => format!("{}@w{i}\n", worker.name),
        Place::Here(_) => format!("{}@here\n", worker.name),
    };
    jobs.iter().enumerate().map(line).collect()
}

/// Hears it to its end, or asks it to end.
fn watch(
    child: &mut Child,
    input: &str,
    stop: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(&str),
) -> io::Result<()> {
    if let Some(mut pipe) = child.stdin.take() {
        // One that ends without reading says why on its own.
        let _ = pipe.write_all(input.as_bytes());
    }
    let (lines, said) = channel();
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ];
    thread::scope(|scope| {
        for stream in streams.into_iter().flatten() {
            let lines = lines.clone();
            scope.spawn(move || relay(stream, &lines));
        }
        drop(lines);
        let mut asked = false;
        loop {
            match said.recv_timeout(LOOK) {
                Ok(line) => tell(&line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !asked && stop() {
                asked = true;
                // SAFETY: plain numbers; the child has not been waited for, so its id is its own. TERM makes parallel end its
                // jobs, also those at the other end of ssh.
                unsafe { libc::kill(child.id().cast_signed(), libc::SIGTERM) };
            }
        }
    });
    child.wait().map(|_| ())
}

fn relay(stream: impl Read, lines: &Sender<String>) {
    for line in BufReader::new(stream).split(b'\n') {
        let Ok(line) = line else { return };
        let line = String::from_utf8_lossy(&line).replace('\t', " ");
        if !line.trim().is_empty() && lines.send(line).is_err() {
            return;
        }
    }
}

/// How jobs ended, by the log: a head, then a line for each that did, with its number, and exit code and signal in the
/// seventh and eighth column.
fn endings(log: &str, jobs: usize) -> Vec<Ending> {
    let mut endings = vec![Ending::Never; jobs];
    for line in log.lines().skip(1) {
        let columns: Vec<&str> = line.splitn(9, '\t').collect();
        let number = |i: usize| columns.get(i).and_then(|text| text.parse::<i32>().ok());
        let (Some(job), Some(code), Some(signal)) = (number(0), number(6), number(7)) else { continue };
        let place = usize::try_from(job - 1).ok().and_then(|i| endings.get_mut(i));
        if let Some(place) = place {
            *place = if signal == 0 { Ending::Code(code) } else { Ending::Signal(signal) };
        }
    }
    endings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(name: &str, place: Place) -> Worker {
        Worker { name: name.into(), place }
    }

    #[test]
    fn each_job_is_one_worker_s() {
        let host = worker("a", Place::Host("me@a".into()));
        let here = worker("local-1", Place::Here(vec![0]));
        let sent = Sent { file: "x.toml".into(), minima: None, transfers: vec!["/e/./x.toml".into()] };
        let parallel = Parallel { directory: "lab/x", ssh: "ssh -v", sent: &sent };
        let jobs = [(&host, "echo '{}'".to_owned()), (&here, "true".to_owned())];
        let words = parallel.arguments(&jobs);
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        assert!(words.windows(2).any(|pair| pair == ["--sshlogin", "@w0/1/me@a"]), "{words:?}");
        assert!(words.windows(2).any(|pair| pair == ["--sshlogin", "@here/1/:"]), "{words:?}");
        assert!(words.windows(2).any(|pair| pair == ["--transferfile", "/e/./x.toml"]), "{words:?}");
        assert_eq!(*words.last().unwrap(), "case {} in a) echo '{''}';; local-1) true;; esac");
        assert_eq!(input(&jobs), "a@w0\nlocal-1@here\n");
    }

    #[test]
    fn the_log_tells_how_jobs_ended_in_any_order() {
        let log = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n\
                   3\t:\t1.0\t0.1\t0\t0\t0\t15\tx\n1\ta\t1.0\t0.1\t0\t0\t255\t0\tcase\tx\nno line\n9\ta\t1\t1\t0\t0\t0\t0\tx\n";
        assert_eq!(endings(log, 3), [Ending::Code(255), Ending::Never, Ending::Signal(15)]);
        assert_eq!(endings("", 1), [Ending::Never]);
    }
}
