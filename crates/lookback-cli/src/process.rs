//! What `/proc` tells about a process: whose it is, whether it is a JVM, what it runs.
//!
//! The constraint that shaped it: a SIGQUIT kills whatever does not handle it, and process ids are
//! reused, so a process is pinned by a pidfd before it is looked at and signalled through the same
//! pidfd. This file must not write anything anywhere.

use crate::c_library::MUSL_LOADER;
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A process that exists, held so that its id cannot come to mean another.
#[derive(Debug)]
pub(crate) struct Process {
    /// Its id here.
    pub(crate) pid: u32,
    /// None when the kernel has no pidfd (before 5.3).
    fd: Option<OwnedFd>,
}

/// The effective user of this process.
pub(crate) fn our_uid() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() }
}

impl Process {
    /// Pins a process.
    ///
    /// # Errors
    /// [`Error::NoProcess`].
    pub(crate) fn find(pid: u32) -> Result<Process> {
        let raw = libc::pid_t::try_from(pid).ok().filter(|&p| p > 0).ok_or(Error::NoProcess { pid })?;
        // SAFETY: plain numbers; the result is checked below.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, raw, 0) };
        let fd = if fd >= 0 {
            // SAFETY: the kernel has just given this descriptor to us alone.
            Some(unsafe { OwnedFd::from_raw_fd(fd as i32) })
        } else if io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH) {
            return Err(Error::NoProcess { pid });
        } else {
            None
        };
        let process = Process { pid, fd };
        match process.status() {
            // A zombie has no program any more.
            Some(status) if !status.contains("\nState:\tZ") => Ok(process),
            _ => Err(Error::NoProcess { pid }),
        }
    }

    /// Sends SIGQUIT to exactly this process.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn quit_signal(&self) -> io::Result<()> {
        let sent = match &self.fd {
            // SAFETY: a valid pidfd, no siginfo, no flags.
            Some(fd) => unsafe {
                libc::syscall(
                    libc::SYS_pidfd_send_signal,
                    fd.as_raw_fd(),
                    libc::SIGQUIT,
                    std::ptr::null::<libc::siginfo_t>(),
                    0,
                )
            },
            // SAFETY: plain numbers; the id was checked to be positive.
            None => i64::from(unsafe { libc::kill(self.pid as libc::pid_t, libc::SIGQUIT) }),
        };
        if sent == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// A path below this process' directory in `/proc`.
    pub(crate) fn proc(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.pid))
    }

    /// `path`, an absolute path in the process' own mount namespace, as it is reached from here.
    pub(crate) fn in_root(&self, path: &Path) -> PathBuf {
        let mut seen = self.proc("root");
        seen.push(path.strip_prefix("/").unwrap_or(path));
        seen
    }

    /// Whether it has other mounts than this process, as in a container.
    pub(crate) fn other_mounts(&self) -> bool {
        let namespace = |p: PathBuf| fs::read_link(p).ok();
        match (namespace(self.proc("ns/mnt")), namespace("/proc/self/ns/mnt".into())) {
            (Some(theirs), Some(ours)) => theirs != ours,
            _ => false,
        }
    }

    fn status(&self) -> Option<String> {
        fs::read_to_string(self.proc("status")).ok()
    }

    /// The value of a line of `/proc/PID/status`.
    fn status_value(&self, key: &str) -> Option<String> {
        status_value(&self.status()?, key).map(str::to_owned)
    }

    /// Its effective user.
    ///
    /// # Errors
    /// [`Error::NoProcess`] when it has gone.
    pub(crate) fn uid(&self) -> Result<u32> {
        self.status_value("Uid")
            .and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
            .ok_or(Error::NoProcess { pid: self.pid })
    }

    /// Its id in its own pid namespace.
    pub(crate) fn own_pid(&self) -> u32 {
        self.status_value("NSpid")
            .and_then(|line| line.split_whitespace().last()?.parse().ok())
            .unwrap_or(self.pid)
    }

    /// The kernel's short name of it.
    pub(crate) fn name(&self) -> String {
        self.status_value("Name").unwrap_or_default()
    }

    /// Whether it has mapped HotSpot.
    pub(crate) fn is_jvm(&self) -> bool {
        maps(self.pid).is_some_and(|maps| maps.lines().any(|l| l.ends_with("/libjvm.so")))
    }

    /// Whether its C library is musl, as Alpine's is.
    pub(crate) fn is_musl(&self) -> bool {
        maps(self.pid).is_some_and(|maps| maps.contains(MUSL_LOADER))
    }

    /// The feature version of its Java, such as 17, from the `release` file beside the VM.
    pub(crate) fn java_version(&self) -> Option<u32> {
        let maps = maps(self.pid)?;
        let line = maps.lines().find(|l| l.ends_with("/libjvm.so"))?;
        // HOME/lib/server/libjvm.so
        let home = Path::new(&line[line.find('/')?..]).ancestors().nth(3)?;
        feature_version(&fs::read_to_string(self.in_root(&home.join("release"))).ok()?)
    }

    /// Whether it handles a signal. Of SIGQUIT one that does not would die: not yet started up, or `-Xrs`.
    pub(crate) fn handles(&self, signal: i32) -> bool {
        self.status_value("SigCgt").is_some_and(|mask| catches(&mask, signal))
    }

    /// Whether it has a thread whose name, as the kernel has it, begins so.
    pub(crate) fn has_thread(&self, begin: &str) -> bool {
        let tasks = fs::read_dir(self.proc("task")).into_iter().flatten().flatten();
        let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        tasks.map(name).any(|name| name.starts_with(begin))
    }

    /// The command line; empty for a kernel thread.
    pub(crate) fn command(&self) -> Vec<String> {
        split_zeros(&fs::read(self.proc("cmdline")).unwrap_or_default())
    }

    /// The value of a variable in the environment that it was started with.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        split_zeros(&fs::read(self.proc("environ")).ok()?)
            .into_iter()
            .find_map(|pair| Some(pair.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    }
}

fn split_zeros(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes.split(|&b| b == 0).map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

fn status_value<'a>(status: &'a str, key: &str) -> Option<&'a str> {
    status.lines().find_map(|l| Some(l.strip_prefix(key)?.strip_prefix(':')?.trim()))
}

fn catches(mask: &str, signal: i32) -> bool {
    u64::from_str_radix(mask.trim(), 16).is_ok_and(|bits| bits >> (signal - 1) & 1 == 1)
}

/// The feature version in the text of a `release` file: `JAVA_VERSION="17.0.15"`.
fn feature_version(release: &str) -> Option<u32> {
    let version = release.lines().find_map(|l| l.strip_prefix("JAVA_VERSION=\""))?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn maps(pid: u32) -> Option<String> {
    fs::read(format!("/proc/{pid}/maps")).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// All process ids, ascending.
pub(crate) fn all_pids() -> Vec<u32> {
    let mut pids: Vec<u32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable();
    pids
}

/// A file, by all that tells it in `/proc/PID/maps`. Some file systems (overlayfs, btrfs) show another
/// device there than `stat` gives, so its path counts as well.
#[derive(Clone, Debug)]
pub(crate) struct FileIdentity {
    device: String,
    inode: u64,
    path: PathBuf,
}

impl FileIdentity {
    /// The identity of an open file with this path.
    pub(crate) fn new(path: &Path, meta: &fs::Metadata) -> FileIdentity {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        FileIdentity { device: device(meta), inode: meta.ino(), path }
    }
}

/// For each file, a process other than this one that has it mapped, as far as this user may look. All
/// processes are looked through once, since that takes about a millisecond for each large one.
pub(crate) fn holders(files: &[FileIdentity]) -> Vec<Option<u32>> {
    let mut holders = vec![None; files.len()];
    let by_inode: HashMap<(&str, u64), usize> =
        files.iter().enumerate().map(|(i, f)| ((f.device.as_str(), f.inode), i)).collect();
    let by_path: HashMap<&Path, usize> =
        files.iter().enumerate().map(|(i, f)| (f.path.as_path(), i)).collect();
    for pid in all_pids().into_iter().filter(|&pid| pid != std::process::id()) {
        for line in maps(pid).unwrap_or_default().lines() {
            let Some((device, inode, path)) = mapped_file(line) else { continue };
            if let Some(&i) = by_inode.get(&(device, inode)).or_else(|| by_path.get(Path::new(path))) {
                holders[i] = Some(pid);
            }
        }
    }
    holders
}

/// A process, other than this one, that has the file mapped.
pub(crate) fn holder_of(file: &FileIdentity) -> Option<u32> {
    holders(std::slice::from_ref(file))[0]
}

/// A file's device as `/proc/PID/maps` writes it.
fn device(file: &fs::Metadata) -> String {
    format!("{:02x}:{:02x}", libc::major(file.dev()), libc::minor(file.dev()))
}

/// Device, inode and name in a line of `/proc/PID/maps`, which begins with range, rights and offset; none
/// for memory without a file. A deleted file's name ends in words that no path equals.
fn mapped_file(line: &str) -> Option<(&str, u64, &str)> {
    let mut fields = line.split_ascii_whitespace().skip(3);
    let device = fields.next()?;
    let inode = fields.next()?.parse().ok().filter(|&inode| inode != 0)?;
    Some((device, inode, &line[line.find('/')?..]))
}

/// What a JVM runs, from its command line: the main class, the jar's file name, or the module.
pub(crate) fn java_program(command: &[String]) -> Option<String> {
    // Options whose value is the next argument.
    const WITH_VALUE: [&str; 12] = [
        "-cp",
        "-classpath",
        "--class-path",
        "-p",
        "--module-path",
        "--upgrade-module-path",
        "--add-modules",
        "--add-exports",
        "--add-opens",
        "--add-reads",
        "--limit-modules",
        "--enable-native-access",
    ];
    let mut args = command.iter().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-jar" => {
                let jar = args.next()?;
                return Some(jar.rsplit('/').next().unwrap_or(jar).to_owned());
            }
            "-m" | "--module" => return args.next().cloned(),
            option if WITH_VALUE.contains(&option) => {
                args.next()?;
            }
            option if option.starts_with('-') || option.starts_with('@') => {}
            main => return Some(main.rsplit('/').next().unwrap_or(main).to_owned()),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(line: &str) -> Option<String> {
        java_program(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_main_class_is_found_behind_all_kinds_of_options() {
        assert_eq!(program("java -Xmx1g -cp a:b com.acme.Main -jar x").as_deref(), Some("com.acme.Main"));
        assert_eq!(program("/usr/bin/java -Dx=y -jar /opt/app/shop.jar run").as_deref(), Some("shop.jar"));
        assert_eq!(
            program("java --module-path m -m acme/com.acme.Main").as_deref(),
            Some("acme/com.acme.Main")
        );
        assert_eq!(
            program("java @args --add-opens java.base/java.lang=ALL-UNNAMED Main").as_deref(),
            Some("Main")
        );
        assert_eq!(program("java -version"), None);
    }

    #[test]
    fn the_version_of_a_java_is_read() {
        assert_eq!(feature_version("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.15\"\n"), Some(17));
        assert_eq!(feature_version("JAVA_VERSION=\"25\""), Some(25));
        assert_eq!(feature_version(""), None);
    }

    #[test]
    fn only_a_caught_signal_counts() {
        assert!(catches("0000000000000004", libc::SIGQUIT));
        assert!(!catches("fffffffffffffffb", libc::SIGQUIT));
        assert!(!catches("", libc::SIGQUIT));
        let status = "Name:\tsleep\nSigCgt:\t0000000000000004\nNSpid:\t77\t1\n";
        assert_eq!(status_value(status, "SigCgt"), Some("0000000000000004"));
        assert_eq!(status_value(status, "NSpid"), Some("77\t1"));
        assert_eq!(status_value(status, "SigC"), None);
    }

    #[test]
    fn this_process_is_found_and_is_no_jvm() {
        let us = Process::find(std::process::id()).unwrap();
        assert_eq!(us.uid().unwrap(), our_uid());
        assert!(!us.is_jvm());
        assert!(matches!(Process::find(u32::MAX), Err(Error::NoProcess { .. })));
        assert!(matches!(Process::find(0), Err(Error::NoProcess { .. })));
    }

    #[test]
    fn a_mapping_is_recognised_by_device_and_inode() {
        let line =
            "7f00-7f10 rw-s 00000000 00:1b 4711                 /run/user/5/lookback/9.region (deleted)";
        assert_eq!(mapped_file(line), Some(("00:1b", 4711, "/run/user/5/lookback/9.region (deleted)")));
        assert_eq!(mapped_file("7f00-7f10 rw-p 00000000 00:00 0"), None, "memory without a file");
    }
}
