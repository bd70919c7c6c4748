//! One perf event of the calling thread and of all threads that it, or one of them, creates from then on.
//!
//! The constraint that shaped it: opened before the VM's threads exist, an inherited event counts all of them, also those
//! that end; opened later it would miss what is there. The kernel's interface is one call and one structure, of which
//! four flags are needed, so that is written down here; crates for it decode samples and rings. Counts of processes that
//! the JVM starts are not its own (`inherit_thread`, Linux 5.13; before that they count).
//!
//! What it costs: a switch from one thread to another takes 0.2 to 0.5 us longer (of 2.9) with seven events open, the
//! same in all configurations that are compared.
//!
//! It must not allocate when it reads: that happens while the world stands still.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;

/// Kinds of events by the kernel's numbers: type and number (`include/uapi/linux/perf_event.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    TaskClock,
    PageFaults,
    MinorFaults,
    MajorFaults,
    ContextSwitches,
    Migrations,
    Cycles,
    Instructions,
}

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;

impl Event {
    fn numbers(self) -> (u32, u64) {
        match self {
            Event::TaskClock => (SOFTWARE, 1),
            Event::PageFaults => (SOFTWARE, 2),
            Event::MinorFaults => (SOFTWARE, 5),
            Event::MajorFaults => (SOFTWARE, 6),
            Event::ContextSwitches => (SOFTWARE, 3),
            Event::Migrations => (SOFTWARE, 4),
            Event::Cycles => (HARDWARE, 0),
            Event::Instructions => (HARDWARE, 1),
        }
    }
}

/// What of the program is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// User code and the kernel's work for it.
    All,
    /// User code only: what an unprivileged process may count with `perf_event_paranoid` 2.
    User,
}

/// `perf_event_attr`, as far as its version 1 goes (72 bytes); the kernel takes what is missing as zero.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
    config2: u64,
}

/// Bits of `flags`.
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const INHERIT_THREAD: u64 = 1 << 35;
/// `PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING`.
const WITH_TIMES: u64 = 3;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// A reading: the count, and nanoseconds for which the event was meant to count and did. They differ when the processor
/// has fewer counters than events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) value: u64,
    pub(crate) enabled_ns: u64,
    pub(crate) running_ns: u64,
}

impl Count {
    /// The count since `begin`, scaled up to the whole time; none when the event did not count in between.
    pub(crate) fn since(self, begin: Count) -> Option<u64> {
        let value = self.value.saturating_sub(begin.value);
        let enabled = self.enabled_ns.saturating_sub(begin.enabled_ns);
        let running = self.running_ns.saturating_sub(begin.running_ns);
        match running {
            0 => None,
            _ if running == enabled => Some(value),
            _ => Some((u128::from(value) * u128::from(enabled) / u128::from(running)) as u64),
        }
    }
}

/// An open event.
#[derive(Debug)]
pub(crate) struct PerfEvent(File);

impl PerfEvent {
    /// Opens an event for the calling thread and those to come.
    pub(crate) fn open(event: Event, scope: Scope) -> io::Result<PerfEvent> {
        match Self::open_with(event, scope, INHERIT | INHERIT_THREAD) {
            // A kernel that does not know the flag.
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => Self::open_with(event, scope, INHERIT),
            opened => opened,
        }
    }

    fn open_with(event: Event, scope: Scope, inherit: u64) -> io::Result<PerfEvent> {
        let (kind, config) = event.numbers();
        let scope = if scope == Scope::User { EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR } else { 0 };
        let attributes = Attributes {
            kind,
            size: size_of::<Attributes>() as u32,
            config,
            read_format: WITH_TIMES,
            flags: inherit | scope,
            ..Attributes::default()
        };
        let (this_thread, any_cpu, no_group) = (0, -1, -1);
        // SAFETY: a valid structure of the size that it names.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                this_thread,
                any_cpu,
                no_group,
                CLOSE_ON_EXEC,
            )
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, and nobody else's.
        Ok(PerfEvent(unsafe { File::from_raw_fd(fd as i32) }))
    }

    /// Reads it: one system call, which adds up the threads (0.05 us each) and asks other processors for those that run.
    pub(crate) fn read(&self) -> Option<Count> {
        let mut buffer = [0_u8; 24];
        (&self.0).read_exact(&mut buffer).ok()?;
        let word = |i: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&buffer[i * 8..i * 8 + 8]);
            u64::from_ne_bytes(bytes)
        };
        Some(Count { value: word(0), enabled_ns: word(1), running_ns: word(2) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_is_the_kernels() {
        assert_eq!(size_of::<Attributes>(), 72, "PERF_ATTR_SIZE_VER1");
        assert_eq!(std::mem::offset_of!(Attributes, read_format), 32);
        assert_eq!(std::mem::offset_of!(Attributes, flags), 40);
    }

    #[test]
    fn an_event_that_had_its_counter_for_part_of_the_time_is_scaled_up() {
        let begin = Count { value: 100, enabled_ns: 1_000, running_ns: 1_000 };
        let whole = Count { value: 300, enabled_ns: 2_000, running_ns: 2_000 };
        let part = Count { value: 300, enabled_ns: 5_000, running_ns: 2_000 };
        let never = Count { value: 100, enabled_ns: 5_000, running_ns: 1_000 };
        assert_eq!(whole.since(begin), Some(200));
        assert_eq!(part.since(begin), Some(800));
        assert_eq!(never.since(begin), None);
    }

    #[test]
    fn threads_that_come_later_count_and_those_that_have_ended_too() {
        // In a container even this may be refused; then there is nothing to test.
        let Ok(event) = PerfEvent::open(Event::TaskClock, Scope::User) else { return };
        let before = event.read().expect("a reading");
        let burnt = std::thread::spawn(|| {
            let begin = crate::clock::thread_cpu();
            while crate::clock::thread_cpu() < begin + 20_000_000 {}
            crate::clock::thread_cpu() - begin
        });
        let burnt = burnt.join().expect("it ends");
        let counted = event.read().and_then(|c| c.since(before)).expect("a count");
        // Another clock than the scheduler's, hence the half.
        assert!(counted > burnt / 2, "{counted} of {burnt} ns");
    }
}
