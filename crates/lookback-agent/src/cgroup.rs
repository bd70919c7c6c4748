//! The memory limit of the cgroup that the program is in, as a container has one.
//!
//! The constraint that shaped it: the region's memory counts against that limit, and a program beyond it is killed. Both
//! versions of cgroups are in use, and a container sees its own group as the root or its host's path. So each group from the
//! program's up to the root is asked, and the least limit counts. What cannot be read is no limit.

use std::fs::read_to_string;
use std::path::Path;

/// Of a limit, no more than one part in so many is taken: the rest is the program's, which would be killed without.
const PART: u64 = 4;

/// The limit on memory, where there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// Bytes of all of the program's memory.
    pub(crate) whole: u64,
    /// Bytes that the region may take.
    pub(crate) region: u64,
}

/// The least limit.
pub(crate) fn memory_limit() -> Option<Limit> {
    let groups = read_to_string("/proc/self/cgroup").ok()?;
    let whole = least(&groups, Path::new("/sys/fs/cgroup"))?;
    Some(Limit { whole, region: whole / PART })
}

/// The least limit, bytes, of a process whose groups these are, with the file systems of cgroups at `mounts`.
fn least(groups: &str, mounts: &Path) -> Option<u64> {
    let limits = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        let (mount, file) = match controllers {
            "" => (mounts.to_owned(), "memory.max"),
            v1 if v1.split(',').any(|c| c == "memory") => (mounts.join("memory"), "memory.limit_in_bytes"),
            _ => return None,
        };
        let group = mount.join(path);
        let up = group.ancestors().take_while(|dir| dir.starts_with(&mount));
        up.filter_map(|dir| read_to_string(dir.join(file)).ok()?.trim().parse::<u64>().ok()).min()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn limit(dir: &Path, name: &str, value: &str) {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join(name), value).unwrap();
    }

    #[test]
    fn the_least_limit_on_the_way_up_counts() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        assert_eq!(least("0::/a/b\n", root.path()), None);
        limit(&at("a"), "memory.max", "300\n");
        limit(&at("a/b"), "memory.max", "max\n");
        assert_eq!(least("0::/a/b\n", root.path()), Some(300));
        limit(&at("a/b"), "memory.max", "200\n");
        assert_eq!(least("0::/a/b\n", root.path()), Some(200));
        assert_eq!(least("0::/elsewhere\n", root.path()), None);
    }

    #[test]
    fn a_container_of_the_first_version_sees_its_group_as_the_root() {
        let root = tempfile::tempdir().unwrap();
        limit(&root.path().join("memory"), "memory.limit_in_bytes", "100\n");
        let groups = "4:cpu,cpuacct:/docker/x\n3:memory:/docker/x\nwhat\n0::/\n";
        assert_eq!(least(groups, root.path()), Some(100));
        assert_eq!(least("3:pids:/x\n", root.path()), None);
    }
}
