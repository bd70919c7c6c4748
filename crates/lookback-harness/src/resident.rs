//! Resident memory of the process, now and at its highest.
//!
//! The constraint that shaped it: the highest counts from the process's begin, unless the kernel is told to begin anew
//! (`clear_refs` 5, proc(5)).

use std::fs;

/// Has the highest count from now on. False when the kernel does not allow it.
pub(crate) fn reset_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Resident memory now and at its highest, bytes.
pub(crate) fn read() -> Option<(u64, u64)> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    Some((field(&status, "VmRSS:")?, field(&status, "VmHWM:")?))
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another test of this process may reset the peak between two lines of this one, so one of several attempts counts.
    #[test]
    fn the_peak_is_that_since_it_was_reset() {
        const BYTES: usize = 64 << 20;
        let touch = || {
            let mut memory = vec![0_u8; BYTES];
            memory.iter_mut().step_by(4096).for_each(|b| *std::hint::black_box(b) = 1);
        };
        let attempt = || {
            touch();
            let (_, before) = read().expect("the kernel tells");
            if !reset_peak() {
                return Ok(());
            }
            let (now, reset) = read().expect("the kernel tells");
            touch();
            let (_, after) = read().expect("the kernel tells");
            let half = now + (BYTES as u64) / 2;
            if reset < before && reset < half && half <= after {
                return Ok(());
            }
            Err(format!("resident {now}, peaks {before}, {reset} once reset, {after} after"))
        };
        let seen: Vec<_> = (0..20).map_while(|_| attempt().err()).collect();
        assert!(seen.len() < 20, "{seen:?}");
    }

    #[test]
    fn a_field_that_is_not_there_is_none() {
        assert_eq!(field("VmRSS:\t  12 kB\n", "VmRSS:"), Some(12 << 10));
        assert_eq!(field("VmRSS:\t  12 kB\n", "VmHWM:"), None);
        assert_eq!(field("VmRSS:\t many kB\n", "VmRSS:"), None);
    }
}
