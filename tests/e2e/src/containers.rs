//! Containers: another user, no capability, a file system that cannot be written, little shared memory. The program runs
//! as without the agent, which works or says in one line why not.
//!
//! The constraint: no container engine is wanted, only what the kernel gives: a mount namespace of the test's own, a user
//! that is nobody, cgroups. Where the kernel or the user allows none, that is printed.

use crate::support::{Java, Place, Ran, artifacts, jdks};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A user without rights.
const NOBODY: u32 = 65_534;

/// What a container is like: what is mounted in it, as words for `sh` (`$TMPDIR` is its `/tmp`), and what the agent says.
struct Box {
    name: &'static str,
    mounts: &'static str,
    options: &'static str,
    says: &'static [&'static str],
}

const BOXES: &[Box] = &[
    Box {
        name: "a read-only root, a /tmp without execution",
        mounts: "mount -t tmpfs -o noexec,mode=1777 tmpfs $TMPDIR && mount -o remount,bind,ro /",
        options: "ring=8m",
        says: &["recording in 8m (/dev/shm/lookback-65534/"],
    },
    Box {
        name: "tiny shared memory",
        mounts: "mount -t tmpfs -o mode=1777 tmpfs $TMPDIR && mount -t tmpfs -o size=1m,mode=1777 tmpfs /dev/shm",
        options: "ring=8m",
        says: &["recording in 8m (", "/tmp/lookback-65534/"],
    },
    Box {
        name: "little memory everywhere",
        mounts: "mount -t tmpfs -o size=1m,mode=1777 tmpfs $TMPDIR && mount -t tmpfs -o size=1m,mode=1777 tmpfs /dev/shm",
        options: "ring=8m",
        says: &["tracing is off: no place for its memory", "choose a smaller ring= or another region="],
    },
    Box {
        name: "nothing that can be written",
        mounts: "mount -t tmpfs -o ro tmpfs $TMPDIR && mount -t tmpfs -o ro tmpfs /dev/shm && mount -o remount,bind,ro /",
        options: "ring=8m",
        says: &["tracing is off: no place for its memory", "Read-only file system", "region=FILE"],
    },
];

/// A file where every user can read it.
fn for_all(place: &Place, file: &Path) -> PathBuf {
    let copy = place.file(file.file_name().and_then(|n| n.to_str()).expect("a name"));
    std::fs::copy(file, &copy).expect("a copy");
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    copy
}

#[test]
fn in_a_container_it_works_or_says_in_one_line_why_not() {
    let tried = Command::new("unshare").args(["--mount", "true"]).output();
    if !tried.as_ref().is_ok_and(|o| o.status.success()) {
        println!("left out: no mount namespace can be made here: {tried:?}");
        return;
    }
    let place = Place::new();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).expect("its mode");
    let (library, class) =
        (for_all(&place, artifacts::agent()), for_all(&place, &artifacts::programs().join("Exits.class")));
    let inner = std::fs::read_dir(artifacts::programs()).expect("the programs").flatten().map(|e| e.path());
    for file in inner.filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("Exits$"))) {
        for_all(&place, &file);
    }
    let tmp = place.file("tmp");
    std::fs::create_dir(&tmp).expect("a directory");
    for jdk in jdks() {
        for container in BOXES {
            let run = |agent: Option<String>| {
                let script = format!("{} && exec \"$@\"", container.mounts);
                let mut command = Command::new("unshare");
                place.environment(&mut command);
                command.args(["--mount", "sh", "-c", &script, "sh", "setpriv", "--no-new-privs"]);
                command.args(["--bounding-set=-all", "--inh-caps=-all", "--clear-groups"]);
                command.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")]);
                command.arg(jdk.tool("java")).args(["-Xmx64m", "-XX:+UseSerialGC", "-XX:-UsePerfData"]);
                command.args(agent);
                command.arg("-cp").arg(class.parent().expect("its directory")).args(["Exits", "exit"]);
                command.current_dir("/").env("TMPDIR", &tmp).env("HOME", "/").env_remove("XDG_RUNTIME_DIR");
                Ran::of(&mut command)
            };
            let without = run(None);
            let with = run(Some(format!("-agentpath:{}={}", library.display(), container.options)));
            with.same_as(&without);
            let lines = with.agent_lines();
            assert_eq!(lines.len(), 1, "{}: {lines:?}", container.name);
            println!("JDK {}, {}: {}", jdk.version, container.name, lines[0]);
            with.says(container.says);
        }
    }
}

/// A cgroup of the test's own, as directories: one, or with the first version one a controller. It ends with the test.
struct Limited {
    groups: Vec<PathBuf>,
}

impl Limited {
    /// With so much memory and half a core; or why there is none.
    fn new(memory: u64) -> std::io::Result<Limited> {
        let name = format!("lookback-test-{}", std::process::id());
        let mounts = Path::new("/sys/fs/cgroup");
        let memory = memory.to_string();
        let limits: &[(PathBuf, &[(&str, &str)])] = if mounts.join("cgroup.controllers").exists() {
            let _ = std::fs::write(mounts.join("cgroup.subtree_control"), "+memory +cpu");
            &[(mounts.join(&name), &[("memory.max", &memory), ("cpu.max", "50000 100000")])]
        } else {
            &[
                (mounts.join("memory").join(&name), &[("memory.limit_in_bytes", &memory)]),
                (
                    mounts.join("cpu").join(&name),
                    &[("cpu.cfs_quota_us", "50000"), ("cpu.cfs_period_us", "100000")],
                ),
            ]
        };
        let mut limited = Limited { groups: Vec::new() };
        for (group, files) in limits {
            std::fs::create_dir(group)?;
            limited.groups.push(group.clone());
            for (file, value) in *files {
                std::fs::write(group.join(file), value)?;
            }
        }
        Ok(limited)
    }

    /// The command in it.
    fn runs(&self, command: &Command) -> Command {
        let enter: String =
            self.groups.iter().map(|g| format!("echo $$ >{}/cgroup.procs && ", g.display())).collect();
        let mut inside = Command::new("sh");
        inside
            .args(["-c", &format!("{enter}exec \"$@\""), "sh"])
            .arg(command.get_program())
            .args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside.current_dir(command.get_current_dir().unwrap_or(Path::new("/")));
        inside
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        for group in &self.groups {
            let _ = std::fs::remove_dir(group);
        }
    }
}

#[test]
fn under_a_cgroups_limits_the_ring_is_smaller_and_one_that_was_asked_for_is_refused() {
    let limited = match Limited::new(192 << 20) {
        Ok(limited) => limited,
        Err(e) => return println!("left out: no cgroup can be made here: {e}"),
    };
    for jdk in jdks() {
        let place = Place::new();
        let run = |agent: Option<&str>| {
            let java = Java::new(jdk, &place, &["Exits", "exit"]).options(&["-Xmx64m", "-XX:+UseSerialGC"]);
            let java = agent.into_iter().fold(java, Java::bare_agent);
            Ran::of(&mut limited.runs(&java.command()))
        };
        let bare = run(None);
        let smaller =
            run(Some("")).says(&["its cgroup is 192m: it takes 48m and not 64m", "recording in 48m"]);
        smaller.same_as(&bare);
        let refused = run(Some("ring=64m")).says(&[
            "tracing is off",
            "its cgroup is 192 MiB",
            "choose ring=48m or less",
        ]);
        refused.same_as(&bare);
    }
}
