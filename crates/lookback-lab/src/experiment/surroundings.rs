//! What an experiment is resolved against: where the lab's own files are, which JDKs, cores and memory there are.
//!
//! The constraint that shaped it: a test, and a dry run for another machine, must be able to say what is there. So all
//! that is asked of the machine while a file is resolved is asked here, once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the lab's own files are. Any of them may be missing; that is told when a cell needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// `liblookback_harness.so`.
    pub harness: PathBuf,
    /// `lookback-harness.jar`.
    pub harness_jar: PathBuf,
    /// The directory with `lookback-workloads.jar` and `lib/`.
    pub workloads: PathBuf,
    /// `liblookback.so`, for `{lookback}`.
    pub agent: PathBuf,
}

/// The machine as far as an experiment file can ask for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// Where the lab's own files are.
    pub tools: Tools,
    /// `JAVA_HOME` and `JAVA_HOME_<release>`, where they are set.
    pub java_homes: BTreeMap<String, PathBuf>,
    /// Directories whose entries may be JDKs.
    pub jdk_roots: Vec<PathBuf>,
    /// The cores that this process may use.
    pub cores: Vec<usize>,
    /// The machine's memory, bytes.
    pub memory: u64,
}

impl Surroundings {
    /// This machine.
    pub fn here(tools: Tools) -> Surroundings {
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let homes = variables.filter(|(name, value)| name.starts_with("JAVA_HOME") && !value.is_empty());
        Surroundings {
            tools,
            java_homes: homes.map(|(name, value)| (name, value.into())).collect(),
            jdk_roots: vec!["/usr/lib/jvm".into(), "/usr/java".into(), "/opt/java".into()]
                .into_iter()
                .filter(|root: &PathBuf| root.is_dir())
                .collect(),
            cores: cores(&read("/proc/self/status")),
            memory: memory(&read("/proc/meminfo")),
        }
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(path)).unwrap_or_default()
}

/// The value of a line `key: value`.
fn line<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map(str::trim)
}

/// Cores of `Cpus_allowed_list: 0-3,6`; core 0 where the system does not tell.
fn cores(status: &str) -> Vec<usize> {
    let list = line(status, "Cpus_allowed_list").unwrap_or("0");
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        Some(low.trim().parse().ok()?..=high.trim().parse::<usize>().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

/// Bytes of `MemTotal: 123 kB`; without it, all that can be addressed.
fn memory(meminfo: &str) -> u64 {
    let kib = line(meminfo, "MemTotal").and_then(|value| value.split(' ').next()?.parse::<u64>().ok());
    kib.map_or(u64::MAX, |kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lists_are_read() {
        assert_eq!(cores("Name:\tx\nCpus_allowed_list:\t0-2,7\n"), [0, 1, 2, 7]);
        assert_eq!(cores(""), [0]);
        assert_eq!(memory("MemTotal:       2048 kB\n"), 2 << 20);
    }
}
