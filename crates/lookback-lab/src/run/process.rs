//! Processes and their groups: started pinned, waited for, and ended with everything that they started. One alone, or
//! several that take turns: one of them runs for a while, and the others stand still.
//!
//! The constraint that shaped it: what is still there after an invocation disturbs all that follow. So the process leads
//! a group of its own, which is killed in any case when the process has ended (before it is reaped, so that the group's
//! number cannot be another's by then); the kernel kills it when the lab itself is killed; and what left the group is
//! found by [`super::leftovers`].
//!
//! It is killed by SIGKILL and by nothing gentler: a Java VM answers SIGTERM with shutdown hooks, which may hang as the
//! program does, and nothing that it could still write is of use (the paper's cold starts kill the same way, section
//! 3.4).

use super::command::Command;
use crate::machine::{allowed, set_of};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How an end is noticed on a kernel without process descriptors (before Linux 5.3), and how often somebody is asked
/// whether all is to end. The first needs no such step.
const WITHOUT_DESCRIPTOR: Duration = Duration::from_millis(5);
const ASK: Duration = Duration::from_millis(200);

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that the lab did not send.
    Signalled(i32),
    /// The lab killed it after its time.
    TimedOut,
    /// The lab killed it since all is to end.
    Interrupted,
}

/// What is known of a process that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) end: End,
    /// From before it was started until it had ended, without the time in which others had their turns.
    pub(super) wall: Duration,
    /// CPU time of it and of the children that it waited for.
    pub(super) cpu: Duration,
    /// Highest resident memory of any one process, bytes.
    pub(super) peak_rss: u64,
    pub(super) page_faults: u64,
    pub(super) context_switches: u64,
}

/// Where a process runs and where its output goes.
#[derive(Debug)]
pub(super) struct Place<'a> {
    /// Its working directory.
    pub(super) work: &'a Path,
    pub(super) stdout: File,
    pub(super) stderr: File,
    /// The cores that it may use.
    pub(super) cores: &'a [usize],
}

/// A process to be run.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub(super) command: &'a Command,
    pub(super) place: Place<'a>,
    /// How long it may run; what it stands still does not count.
    pub(super) timeout: Duration,
}

/// Starts processes and waits for their ends, as long as `stop` does not ask for the end. Of several each runs for a `turn`
/// and then stands still until the others have had theirs.
///
/// # Errors
/// Of each one, when it could not be started.
pub(super) fn run(starts: Vec<Start<'_>>, turn: Duration, stop: &dyn Fn() -> bool) -> Vec<io::Result<Ended>> {
    let alone = starts.len() == 1;
    let (mut running, mut ended) = (Vec::new(), Vec::new());
    for start in starts {
        let started = Running::start(start);
        if let Ok(process) = &started
            && !alone
        {
            process.signal(libc::SIGSTOP);
        }
        let (process, error) = started.map_or_else(|error| (None, Some(Err(error))), |p| (Some(p), None));
        running.push(process);
        ended.push(error);
    }
    while ended.iter().any(Option::is_none) {
        for (process, ended) in running.iter_mut().zip(&mut ended).filter(|(_, ended)| ended.is_none()) {
            // One that was not started has ended.
            let Some(process) = process else { continue };
            *ended = process.turn((!alone).then_some(turn), stop).map(|how| process.reap(how));
        }
    }
    ended.into_iter().flatten().collect()
}

/// A process that was started and is not reaped.
struct Running {
    pid: libc::pid_t,
    /// None on a kernel without process descriptors.
    descriptor: Option<OwnedFd>,
    begin: Instant,
    timeout: Duration,
    /// How long it has run in turns that are over.
    ran: Duration,
}

/// How a wait ended.
enum How {
    /// It had ended.
    ByItself,
    /// It was killed.
    Killed(End),
}

impl Running {
    fn start(start: Start<'_>) -> io::Result<Running> {
        let Start { command, place, timeout } = start;
        let (program, arguments) = command
            .words
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "there is no program to start"))?;
        let mut starter = std::process::Command::new(program);
        starter
            .args(arguments)
            .env_clear()
            .envs(&command.environment)
            .current_dir(place.work)
            .stdin(Stdio::null())
            .stdout(place.stdout)
            .stderr(place.stderr)
            .process_group(0);
        let set = (place.cores != allowed()).then(|| set_of(place.cores));
        // SAFETY: a plain number.
        let us = unsafe { libc::getpid() };
        // SAFETY: between fork and exec the closure only makes system calls, and allocates nothing.
        unsafe { starter.pre_exec(move || prepare(set.as_ref(), us)) };
        let begin = Instant::now();
        let pid = starter.spawn()?.id() as libc::pid_t;
        // SAFETY: plain numbers.
        let raw = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        // SAFETY: the descriptor is new and nobody else's.
        let descriptor = (raw >= 0).then(|| unsafe { OwnedFd::from_raw_fd(raw as i32) });
        Ok(Running { pid, descriptor, begin, timeout, ran: Duration::ZERO })
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: plain numbers; the group is that of a child that is not reaped, so nobody else's.
        unsafe { libc::kill(-self.pid, signal) };
    }

    /// Lets it run for a turn, or without one until its end. None when it still runs: it stands still then.
    fn turn(&mut self, turn: Option<Duration>, stop: &dyn Fn() -> bool) -> Option<How> {
        if turn.is_some() {
            self.begin = Instant::now();
            self.signal(libc::SIGCONT);
        }
        let how = self.wait(turn, stop);
        if how.is_none() {
            self.signal(libc::SIGSTOP);
        }
        self.ran += self.begin.elapsed();
        how
    }

    /// Waits for its end, for as long as its turn and its time are, and leaves it to be reaped.
    fn wait(&self, turn: Option<Duration>, stop: &dyn Fn() -> bool) -> Option<How> {
        loop {
            let passed = self.begin.elapsed();
            if has_ended(self.pid) {
                return Some(How::ByItself);
            }
            if stop() {
                return Some(self.kill(End::Interrupted));
            }
            let Some(left) = self.timeout.checked_sub(self.ran + passed).filter(|left| !left.is_zero())
            else {
                return Some(self.kill(End::TimedOut));
            };
            let of_turn = turn.map_or(left, |turn| turn.saturating_sub(passed));
            if of_turn.is_zero() {
                return None;
            }
            let step =
                left.min(of_turn).min(if self.descriptor.is_some() { ASK } else { WITHOUT_DESCRIPTOR });
            let mut polled = libc::pollfd {
                fd: self.descriptor.as_ref().map_or(-1, AsRawFd::as_raw_fd),
                events: libc::POLLIN,
                revents: 0,
            };
            // Rounded up: a step of 0 would spin. A signal ends it early, which is as good as its end.
            let ms = step.as_micros().div_ceil(1000) as libc::c_int;
            // SAFETY: one entry, which a negative descriptor makes the kernel pass over.
            unsafe { libc::poll(&raw mut polled, 1, ms) };
        }
    }

    /// Kills the whole group and waits for the process' end.
    fn kill(&self, why: End) -> How {
        self.signal(libc::SIGKILL);
        // SAFETY: no memory is touched; the process is left to be reaped.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            while libc::waitid(
                libc::P_PID,
                self.pid as libc::id_t,
                &raw mut info,
                libc::WEXITED | libc::WNOWAIT,
            ) != 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        }
        How::Killed(why)
    }

    fn reap(&self, how: How) -> io::Result<Ended> {
        // Others of the group may have outlived it. The process is not reaped, so the number is still the group's.
        self.signal(libc::SIGKILL);
        let (status, usage) = reap(self.pid)?;
        wait_for_group(self.pid);
        let end = match how {
            How::Killed(end) => end,
            How::ByItself if libc::WIFSIGNALED(status) => End::Signalled(libc::WTERMSIG(status)),
            How::ByItself => End::Exited(libc::WEXITSTATUS(status)),
        };
        let time =
            |t: libc::timeval| Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64);
        let count = |n: libc::c_long| u64::try_from(n).unwrap_or(0);
        Ok(Ended {
            end,
            wall: self.ran,
            cpu: time(usage.ru_utime) + time(usage.ru_stime),
            peak_rss: count(usage.ru_maxrss) << 10,
            page_faults: count(usage.ru_minflt) + count(usage.ru_majflt),
            context_switches: count(usage.ru_nvcsw) + count(usage.ru_nivcsw),
        })
    }
}

/// What the new process does before it becomes the program.
fn prepare(set: Option<&libc::cpu_set_t>, parent: libc::pid_t) -> io::Result<()> {
    let check = |result: libc::c_int| if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    if let Some(set) = set {
        // SAFETY: the set is of the size that is told.
        check(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) })?;
    }
    // A core of a large heap takes longer than the invocation, and the crash is told without it.
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is read only.
    check(unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) })?;
    // SAFETY: plain numbers. The signal comes when the thread that started it ends, and that thread waits for it.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    // SAFETY: plain numbers. The lab may have been killed just before that.
    if unsafe { libc::getppid() } != parent {
        return Err(io::Error::other("the lab has ended"));
    }
    Ok(())
}

/// Waits until nothing is left of a group that was killed: memory of a large process is given back for some tenths of a
/// second. Bounded, since a container's first process may not reap what falls to it.
fn wait_for_group(pid: libc::pid_t) {
    const ROUNDS: u32 = 1000;
    for _ in 0..ROUNDS {
        // SAFETY: plain numbers; signal 0 asks whether there is anybody, and changes nothing.
        if unsafe { libc::kill(-pid, 0) } != 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether a child has ended; it is left to be reaped.
fn has_ended(pid: libc::pid_t) -> bool {
    // SAFETY: zeros are valid, and the call fills it.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    // SAFETY: the pointer is valid.
    let asked = unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, &raw mut info, flags) };
    // SAFETY: filled by waitid; 0 when nothing has ended.
    asked == 0 && unsafe { info.si_pid() } == pid
}

/// Takes a child that has ended from the kernel.
fn reap(pid: libc::pid_t) -> io::Result<(libc::c_int, libc::rusage)> {
    let mut status = 0;
    // SAFETY: zeros are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are valid.
        if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } == pid {
            return Ok((status, usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_started_says_so_in_the_systems_own_number() {
        let (work, cores) = (tempfile::tempdir().unwrap(), allowed());
        let command = Command { words: vec!["/nowhere/program".into()], environment: [].into() };
        let start = || {
            let (stdout, stderr) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
            let place = Place { work: work.path(), stdout, stderr, cores: &cores };
            Start { command: &command, place, timeout: Duration::from_secs(1) }
        };
        let ended = run(vec![start(), start()], Duration::from_millis(1), &|| false);
        let errors: Vec<_> = ended.into_iter().map(|e| e.unwrap_err().raw_os_error()).collect();
        assert_eq!(errors, [Some(libc::ENOENT); 2]);
    }
}
