//! What the machine is: an entry of `machine.json`.
//!
//! The constraint that shaped it: everything is read from files of the kernel, below a root that a test can choose, and
//! what cannot be read is absent, never a guess.

use super::counters::page_size;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What there is to know about a machine that could change a figure.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The machine's name.
    pub host: String,
    /// Kernel: release and version.
    pub kernel: String,
    /// Changes with each start of the machine.
    pub boot: Option<String>,
    /// Model of the CPU.
    pub cpu: Option<String>,
    /// Microcode's revision.
    pub microcode: Option<String>,
    /// Cores that are online, as the kernel counts them.
    pub cores: usize,
    /// Cores that the lab may use.
    pub allowed: Vec<usize>,
    /// Whether two cores of the kernel's may be one of the CPU's (simultaneous multithreading).
    pub smt: Option<bool>,
    /// Cores that the scheduler leaves alone: `isolcpus`.
    pub isolated: Option<String>,
    /// NUMA nodes.
    pub nodes: usize,
    /// Frequency governors of the cores, each once; empty where the machine does not let them be seen.
    pub governors: BTreeSet<String>,
    /// Lowest and highest frequency that the governor may choose, kHz, over all cores.
    pub frequency_khz: Option<(u64, u64)>,
    /// Whether a core may run faster than its nominal frequency for a while.
    pub turbo: Option<bool>,
    /// Who virtualises the machine; none when nothing says that it is virtual.
    pub hypervisor: Option<String>,
    /// The kernel's clock source.
    pub clock_source: Option<String>,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of memory that could be had when the run began.
    pub memory_available: u64,
    /// Bytes of swap.
    pub swap: u64,
    /// Bytes of a page.
    pub page: u64,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Bytes of memory that the cgroup may use; none for no limit.
    pub cgroup_memory: Option<u64>,
    /// Cores' worth of CPU time that the cgroup may use; none for no limit.
    pub cgroup_cpus: Option<f64>,
    /// `kernel.perf_event_paranoid`.
    pub perf_event_paranoid: Option<i32>,
    /// `kernel.randomize_va_space`: 2 when addresses differ in each process.
    pub randomize_va_space: Option<i32>,
    /// Load average over a minute when the run began.
    pub load: Option<f64>,
    /// The lab's version.
    pub lab: String,
}

impl Facts {
    /// The facts of this machine.
    pub fn here() -> Facts {
        Facts { allowed: super::allowed(), ..Facts::below(Path::new("/")) }
    }

    /// The facts in the files below `root`, which stands for `/`; who may use which core is not among them.
    pub fn below(root: &Path) -> Facts {
        let files = Files { root };
        let cpuinfo = files.text("proc/cpuinfo").unwrap_or_default();
        let meminfo = files.text("proc/meminfo").unwrap_or_default();
        let online = files.text("sys/devices/system/cpu/online").unwrap_or_default();
        let cores = ranges(&online);
        let of_cores = |name: &str| -> Vec<String> {
            let of = |core| files.text(&format!("sys/devices/system/cpu/cpu{core}/cpufreq/{name}"));
            cores.iter().filter_map(of).collect()
        };
        let numbers = |name: &str| {
            of_cores(name).iter().filter_map(|text| text.parse::<u64>().ok()).collect::<Vec<_>>()
        };
        let lowest = numbers("scaling_min_freq").into_iter().min();
        let highest = numbers("scaling_max_freq").into_iter().max();
        let groups = files.text("proc/self/cgroup").unwrap_or_default();
        Facts {
            host: files.text("proc/sys/kernel/hostname").unwrap_or_default(),
            kernel: [files.text("proc/sys/kernel/osrelease"), files.text("proc/sys/kernel/version")]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
            boot: files.text("proc/sys/kernel/random/boot_id"),
            cpu: info(&cpuinfo, "model name").or_else(|| info(&cpuinfo, "CPU part")),
            microcode: info(&cpuinfo, "microcode"),
            cores: cores.len(),
            allowed: Vec::new(),
            smt: files.text("sys/devices/system/cpu/smt/active").map(|active| active == "1"),
            isolated: files.text("sys/devices/system/cpu/isolated").filter(|cores| !cores.is_empty()),
            nodes: ranges(&files.text("sys/devices/system/node/online").unwrap_or_default()).len().max(1),
            governors: of_cores("scaling_governor").into_iter().collect(),
            frequency_khz: lowest.zip(highest),
            turbo: turbo(&files),
            hypervisor: hypervisor(&files, &cpuinfo),
            clock_source: files.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            memory: kib(&meminfo, "MemTotal:"),
            memory_available: kib(&meminfo, "MemAvailable:"),
            swap: kib(&meminfo, "SwapTotal:"),
            page: page_size(),
            transparent_huge_pages: files
                .text("sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|text| Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())),
            cgroup_memory: cgroup_memory(&files, &groups),
            cgroup_cpus: cgroup_cpus(&files, &groups),
            perf_event_paranoid: files.number("proc/sys/kernel/perf_event_paranoid"),
            randomize_va_space: files.number("proc/sys/kernel/randomize_va_space"),
            load: files.text("proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
            lab: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// Whether it is the same machine in the same state: all but what changes by itself is equal.
    pub fn same_as(&self, other: &Facts) -> bool {
        let steady = |facts: &Facts| Facts { load: None, memory_available: 0, ..facts.clone() };
        steady(self) == steady(other)
    }
}

/// The kernel's files below a root.
struct Files<'a> {
    root: &'a Path,
}

impl Files<'_> {
    /// The trimmed text of a file; none when it cannot be read.
    fn text(&self, path: &str) -> Option<String> {
        let path: PathBuf = self.root.join(path);
        fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    fn number(&self, path: &str) -> Option<i32> {
        self.text(path)?.parse().ok()
    }
}

/// The numbers of `0-3,8`.
fn ranges(text: &str) -> Vec<usize> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<usize>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.split(',').filter_map(|part| range(part.trim())).flatten().collect()
}

/// The value of the first such line of `/proc/cpuinfo`.
fn info(cpuinfo: &str, key: &str) -> Option<String> {
    let value = |line: &str| Some(line.strip_prefix(key)?.trim_start().strip_prefix(':')?.trim().to_owned());
    cpuinfo.lines().find_map(value)
}

/// The value of a line of `/proc/meminfo`, bytes.
fn kib(meminfo: &str, key: &str) -> u64 {
    let value = |line: &str| line.strip_prefix(key)?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok();
    meminfo.lines().find_map(value).unwrap_or(0) << 10
}

fn turbo(files: &Files<'_>) -> Option<bool> {
    let intel = files.text("sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == "0");
    intel.or_else(|| files.text("sys/devices/system/cpu/cpufreq/boost").map(|on| on == "1"))
}

fn hypervisor(files: &Files<'_>, cpuinfo: &str) -> Option<String> {
    let flagged =
        info(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    if let Some(kind) = files.text("sys/hypervisor/type") {
        return Some(kind);
    }
    let vendor = files.text("sys/class/dmi/id/sys_vendor").filter(|vendor| !vendor.is_empty());
    flagged.then(|| vendor.unwrap_or_else(|| "unknown".into()))
}

/// The path of this process' group of a controller: `0::/a` (version 2, an empty name) or `4:memory:/a` (version 1).
fn group(groups: &str, controller: &str) -> Option<String> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        controllers.split(',').any(|name| name == controller).then(|| path.trim_start_matches('/').to_owned())
    })
}

/// The text of a limit's file in the process' group or in the mount's root, where a container sees its own.
fn limit(files: &Files<'_>, mount: &str, group: &str, name: &str) -> Option<String> {
    files.text(&format!("{mount}/{group}/{name}")).or_else(|| files.text(&format!("{mount}/{name}")))
}

fn cgroup_memory(files: &Files<'_>, groups: &str) -> Option<u64> {
    let two = group(groups, "").and_then(|path| limit(files, "sys/fs/cgroup", &path, "memory.max"));
    let one = || {
        group(groups, "memory")
            .and_then(|path| limit(files, "sys/fs/cgroup/memory", &path, "memory.limit_in_bytes"))
    };
    // Version 1 writes no limit as the largest multiple of a page.
    two.or_else(one)?.parse().ok().filter(|&bytes: &u64| bytes < 1 << 62)
}

fn cgroup_cpus(files: &Files<'_>, groups: &str) -> Option<f64> {
    let share = |quota: &str, period: &str| -> Option<f64> {
        let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
        (quota > 0.0 && period > 0.0).then(|| quota / period)
    };
    if let Some(text) = group(groups, "").and_then(|path| limit(files, "sys/fs/cgroup", &path, "cpu.max")) {
        let (quota, period) = text.split_once(' ')?;
        return share(quota, period);
    }
    let path = group(groups, "cpu")?;
    let of = |name: &str| limit(files, "sys/fs/cgroup/cpu", &path, name);
    share(&of("cpu.cfs_quota_us")?, &of("cpu.cfs_period_us")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with these files.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn a_server_s_files_are_read() {
        let root = root(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Xeon 8\nmicrocode\t: 0x1\nflags\t\t: fpu hypervisor\n",
            ),
            ("proc/meminfo", "MemTotal:       1024 kB\nMemAvailable:    512 kB\nSwapTotal:         4 kB\n"),
            ("proc/sys/kernel/hostname", "lab1\n"),
            ("proc/sys/kernel/osrelease", "6.1\n"),
            ("proc/sys/kernel/version", "#1 SMP\n"),
            ("proc/self/cgroup", "0::/user/a\n"),
            ("proc/loadavg", "0.25 0 0 1/9 7\n"),
            ("sys/fs/cgroup/user/a/memory.max", "1048576\n"),
            ("sys/fs/cgroup/user/a/cpu.max", "150000 100000\n"),
            ("sys/devices/system/cpu/online", "0-1\n"),
            ("sys/devices/system/cpu/smt/active", "1\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "800000\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_max_freq", "3200000\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
            ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ]);
        let facts = Facts::below(root.path());
        assert_eq!((facts.host.as_str(), facts.kernel.as_str()), ("lab1", "6.1 #1 SMP"));
        assert_eq!((facts.cpu.as_deref(), facts.hypervisor.as_deref()), (Some("Xeon 8"), Some("QEMU")));
        assert_eq!((facts.cores, facts.smt, facts.nodes), (2, Some(true), 1));
        assert_eq!(facts.governors, ["performance".to_owned(), "powersave".into()].into());
        assert_eq!((facts.frequency_khz, facts.turbo), (Some((800_000, 3_200_000)), Some(true)));
        assert_eq!((facts.memory, facts.memory_available, facts.swap), (1 << 20, 1 << 19, 4 << 10));
        assert_eq!((facts.cgroup_memory, facts.cgroup_cpus), (Some(1 << 20), Some(1.5)));
        assert_eq!(facts.transparent_huge_pages.as_deref(), Some("madvise"));
        assert_eq!((facts.load, facts.perf_event_paranoid), (Some(0.25), None));
    }

    #[test]
    fn limits_of_the_old_control_groups_are_read_and_none_is_none() {
        let root = root(&[
            ("proc/self/cgroup", "4:memory:/a\n3:cpu,cpuacct:/b\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "100000\n"),
        ]);
        let facts = Facts::below(root.path());
        assert_eq!((facts.cgroup_memory, facts.cgroup_cpus), (None, None));
        fs::write(root.path().join("sys/fs/cgroup/memory/memory.limit_in_bytes"), "4096").unwrap();
        assert_eq!(Facts::below(root.path()).cgroup_memory, Some(4096));
    }

    #[test]
    fn what_changes_by_itself_makes_no_other_machine() {
        let here = Facts::here();
        assert!(here.cores > 0 && here.memory > 0 && !here.allowed.is_empty(), "{here:?}");
        assert!(here.same_as(&Facts { load: Some(99.0), memory_available: 1, ..here.clone() }));
        assert!(!here.same_as(&Facts { smt: here.smt.map(|on| !on).or(Some(true)), ..here.clone() }));
        let text = serde_json::to_string(&here).unwrap();
        assert_eq!(serde_json::from_str::<Facts>(&text).unwrap(), here);
    }
}
