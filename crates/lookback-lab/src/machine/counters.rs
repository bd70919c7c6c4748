//! The kernel's counters of the pinned cores, memory and pressure, read around an invocation.
//!
//! The constraint that shaped it: what others took of the cores has no counter of its own. It is what is left of the
//! elapsed time after idling, the hypervisor's share and the invocation's own CPU time. Idle time is counted exactly by
//! kernels without a periodic tick, busy time by samples of it, so the sum is made of what is idle and not of what is
//! busy. Reading must cost next to nothing and must not fail: what a kernel does not have reads as 0.

use crate::results::Reading;
use std::fs;
use std::time::{Duration, Instant};

/// The machine's counters at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counters {
    /// When, by a clock that does not jump, from an origin of the observer's own.
    pub at: Duration,
    /// How many cores are looked at.
    pub cores: u32,
    /// Idle time of these cores, waiting for I/O included.
    pub idle: Duration,
    /// Time that the hypervisor gave to others.
    pub steal: Duration,
    /// Bytes swapped in and out since the machine started.
    pub swap_bytes: u64,
    /// Load average over a minute.
    pub load: f64,
    /// Microseconds in which some task waited for a core.
    pub cpu_pressure_us: u64,
    /// Microseconds in which some task waited for memory.
    pub memory_pressure_us: u64,
    /// Microseconds in which some task waited for I/O.
    pub io_pressure_us: u64,
}

impl Counters {
    /// All the time of the cores from here to `later`.
    pub fn time_until(&self, later: &Counters) -> Duration {
        later.at.saturating_sub(self.at) * self.cores
    }

    /// What the machine did from here to `later`, in which a process used `own` CPU time.
    pub fn until(&self, later: &Counters, own: Duration) -> Reading {
        let all = self.time_until(later);
        let steal = later.steal.saturating_sub(self.steal);
        let idle = later.idle.saturating_sub(self.idle);
        let others = all.saturating_sub(idle).saturating_sub(steal).saturating_sub(own);
        let percent =
            |part: Duration| if all.is_zero() { 0.0 } else { 100.0 * part.as_secs_f64() / all.as_secs_f64() };
        Reading {
            steal_percent: percent(steal),
            others_percent: percent(others),
            swap_bytes: later.swap_bytes.saturating_sub(self.swap_bytes),
            load: self.load,
            cpu_pressure_us: later.cpu_pressure_us.saturating_sub(self.cpu_pressure_us),
            memory_pressure_us: later.memory_pressure_us.saturating_sub(self.memory_pressure_us),
            io_pressure_us: later.io_pressure_us.saturating_sub(self.io_pressure_us),
        }
    }
}

/// Where counters come from; a test brings its own.
pub trait Observer {
    /// The counters now.
    fn counters(&mut self) -> Counters;
    /// Lets time pass.
    fn pause(&mut self, time: Duration);
    /// By how much a core's share may be told wrong: the step of its counters.
    fn step(&self) -> Duration;
}

/// The counters of this machine.
#[derive(Debug)]
pub struct System {
    cores: Vec<usize>,
    origin: Instant,
}

impl System {
    /// Looks at these cores.
    pub fn new(cores: &[usize]) -> System {
        System { cores: cores.to_vec(), origin: Instant::now() }
    }
}

impl Observer for System {
    fn counters(&mut self) -> Counters {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let ticks = stat(&text("/proc/stat"), &self.cores);
        let at = self.origin.elapsed();
        Counters {
            at,
            cores: self.cores.len() as u32,
            idle: time(ticks.idle),
            steal: time(ticks.steal),
            swap_bytes: swapped_pages(&text("/proc/vmstat")) * page_size(),
            load: text("/proc/loadavg").split(' ').next().and_then(|one| one.parse().ok()).unwrap_or(0.0),
            cpu_pressure_us: pressure(&text("/proc/pressure/cpu")),
            memory_pressure_us: pressure(&text("/proc/pressure/memory")),
            io_pressure_us: pressure(&text("/proc/pressure/io")),
        }
    }

    fn pause(&mut self, time: Duration) {
        std::thread::sleep(time);
    }

    fn step(&self) -> Duration {
        tick()
    }
}

/// Ticks of cores in `/proc/stat`.
#[derive(Debug, Default, PartialEq)]
struct Ticks {
    idle: u64,
    steal: u64,
}

/// The ticks of these cores, summed: `cpuN user nice system idle iowait irq softirq steal guest guest_nice`.
fn stat(text: &str, cores: &[usize]) -> Ticks {
    let mut sum = Ticks::default();
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace();
        let core = fields.next().and_then(|name| name.strip_prefix("cpu")?.parse::<usize>().ok());
        if !core.is_some_and(|core| cores.contains(&core)) {
            continue;
        }
        let ticks: Vec<u64> = fields.map(|field| field.parse().unwrap_or(0)).collect();
        let of = |i: usize| ticks.get(i).copied().unwrap_or(0);
        sum.idle = sum.idle.saturating_add(of(3)).saturating_add(of(4));
        sum.steal = sum.steal.saturating_add(of(7));
    }
    sum
}

/// Pages swapped in and out in `/proc/vmstat`.
fn swapped_pages(text: &str) -> u64 {
    let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    of("pswpin ").unwrap_or(0) + of("pswpout ").unwrap_or(0)
}

/// The total of the line `some avg10=0.00 avg60=0.00 avg300=0.00 total=4711`, microseconds.
fn pressure(text: &str) -> u64 {
    let some = text.lines().find(|line| line.starts_with("some "));
    some.and_then(|line| line.rsplit("total=").next()?.parse().ok()).unwrap_or(0)
}

/// The time of so many ticks.
fn time(ticks: u64) -> Duration {
    Duration::from_nanos(ticks.saturating_mul(tick().as_nanos() as u64))
}

fn tick() -> Duration {
    // SAFETY: a plain number.
    let a_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    Duration::from_secs(1) / u32::try_from(a_second).unwrap_or(100).max(1)
}

pub(super) fn page_size() -> u64 {
    // SAFETY: a plain number.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  30 0 30 300 30 0 0 30 0 0\ncpu0 10 0 10 100 5 0 0 7 0 0\ncpu1 20 0 20 200 25 0 0 23 0 0\n\
                        cpu10 9 9 9 999 9 9 9 9 9 9\nintr 1\n";

    #[test]
    fn only_the_pinned_cores_count() {
        assert_eq!(stat(STAT, &[0]), Ticks { idle: 105, steal: 7 });
        assert_eq!(stat(STAT, &[0, 1]), Ticks { idle: 330, steal: 30 });
        assert_eq!(stat("nonsense", &[0]), Ticks::default());
    }

    #[test]
    fn others_are_what_nobody_else_accounts_for() {
        let seconds = Duration::from_secs;
        let before =
            Counters { at: seconds(100), cores: 2, idle: seconds(50), load: 0.5, ..Counters::default() };
        let after = Counters {
            at: seconds(110),
            idle: seconds(58),
            steal: seconds(1),
            swap_bytes: 8192,
            io_pressure_us: 3,
            ..before.clone()
        };
        let reading = before.until(&after, seconds(10));
        // 20 s of two cores: 8 idle, 1 stolen, 10 its own, 1 of others.
        assert_eq!((reading.steal_percent, reading.others_percent), (5.0, 5.0));
        assert_eq!((reading.swap_bytes, reading.load, reading.io_pressure_us), (8192, 0.5, 3));
        assert_eq!(before.until(&after, seconds(12)).others_percent, 0.0, "clocks that disagree by a little");
        assert_eq!(before.until(&before, seconds(1)).others_percent, 0.0, "no time at all");
    }

    #[test]
    fn the_kernel_s_files_are_read() {
        assert_eq!(swapped_pages("pgpgin 1\npswpin 3\npswpout 4\n"), 7);
        assert_eq!(
            pressure("some avg10=0.03 avg60=5.85 avg300=6.21 total=51272630\nfull avg10=0.00 total=9\n"),
            51_272_630
        );
        let mut system = System::new(&super::super::allowed());
        let before = system.counters();
        assert!(before.cores >= 1 && before.idle > Duration::ZERO, "{before:?}");
        assert!(system.counters().at >= before.at);
    }
}
