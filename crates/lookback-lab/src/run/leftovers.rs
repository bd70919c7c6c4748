//! Processes that an invocation left behind although its group was killed: they made a group or a session of their own.
//!
//! The constraint that shaped it: a process number says nothing once its process has gone, so processes are known by a
//! variable in the environment that each of them was started with, which their children inherit. What clears its
//! environment on purpose is not found. After a run that was itself killed, the next one finds them the same way.

use super::command::MARKER;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// The value of the variable for runs into this directory: device and inode, which no other directory has.
///
/// # Errors
/// When the directory cannot be looked at.
pub(super) fn marker(directory: &Path) -> io::Result<String> {
    let meta = fs::metadata(directory)?;
    Ok(format!("{:x}.{:x}", meta.dev(), meta.ino()))
}

/// How often all processes are looked through, and the time between: a large process takes the kernel some tenths of a
/// second to end. What starts others as fast as they are killed for so long is not of a benchmark's making.
const ROUNDS: usize = 200;
const STEP: Duration = Duration::from_millis(5);

/// Kills all processes that were started with this marker and waits until they are gone; returns how many there were.
pub(super) fn kill(marker: &str) -> usize {
    let wanted = format!("{MARKER}={marker}");
    let mut killed = HashSet::new();
    for _ in 0..ROUNDS {
        let mut any = false;
        for pid in pids() {
            if pid != std::process::id() && has(pid, wanted.as_bytes()) {
                // SAFETY: plain numbers. The process may end by itself between the look and this, and its number would
                // have to be given anew in that moment to hit another.
                unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
                killed.insert(pid);
                any = true;
            }
        }
        if !any {
            break;
        }
        std::thread::sleep(STEP);
    }
    killed.len()
}

fn pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Whether a process has this variable; one that has ended or is another user's has not.
fn has(pid: u32, wanted: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|pair| pair == wanted)
}
