//! What the integration tests share: JDKs, temporary folders, packs of classes, policies.
//!
//! Constraint: needs nothing but a JDK with `javac`; a machine without one fails
//! the tests with a message instead of passing them. Must not look at the
//! rewriter's insides.

// Each test file uses its own part of this.
#![allow(dead_code, unreachable_pub)]

pub mod assembler;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use lookback_classfile::{ClassInfo, MethodId, MethodInfo, Policy, Probe, TracePoints};

/// The trace points the tests compile.
pub const POINTS: TracePoints = TracePoints::in_class("java/lang/LookbackTracePoint");

/// A JDK: the folder with `bin/javac`.
pub struct Jdk {
    pub home: PathBuf,
    /// Feature release, such as 17.
    pub release: u32,
}

impl Jdk {
    pub fn command(&self, tool: &str) -> Command {
        Command::new(self.home.join("bin").join(tool))
    }
}

/// Every JDK at hand with `javac` and a run-time image, oldest first.
pub fn jdks() -> Vec<Jdk> {
    let mut homes = Vec::new();
    for (key, value) in std::env::vars_os() {
        if key.to_string_lossy().starts_with("JAVA_HOME") {
            homes.push(PathBuf::from(value));
        }
    }
    for folder in ["/usr/lib/jvm", "/Library/Java/JavaVirtualMachines", "/opt/java"] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            homes.push(entry.path());
            homes.push(entry.path().join("Contents/Home"));
        }
    }
    for folder in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
        if let Ok(java) = folder.join("javac").canonicalize() {
            homes.extend(java.parent().and_then(Path::parent).map(Path::to_path_buf));
        }
    }
    let mut seen = BTreeSet::new();
    let mut found: Vec<Jdk> = homes
        .into_iter()
        .filter_map(|home| home.canonicalize().ok())
        .filter(|home| home.join("bin/javac").exists() && home.join("lib/modules").exists())
        .filter(|home| seen.insert(home.clone()))
        .filter_map(|home| {
            let release = std::fs::read_to_string(home.join("release")).ok()?;
            let version = release.lines().find_map(|l| l.strip_prefix("JAVA_VERSION=\""))?;
            let release = version.split(['.', '"', '-', '+']).next()?.parse().ok()?;
            Some(Jdk { home, release })
        })
        .collect();
    found.sort_by_key(|jdk| jdk.release);
    assert!(!found.is_empty(), "no JDK found: set JAVA_HOME or JAVA_HOME_17 to one with javac");
    found
}

/// The oldest JDK at hand, for what does not depend on the release.
pub fn any_jdk() -> Jdk {
    jdks().swap_remove(0)
}

/// A folder that goes away with the value.
pub struct TempDir(PathBuf);

impl TempDir {
    pub fn new(name: &str) -> Self {
        // Relaxed: only the distinctness of the numbers matters.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{name}-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("lookback-classfile-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        TempDir(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The folder of the Java sources of the tests.
pub fn java_sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java")
}

/// Runs a command that must succeed; returns what it printed.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?} did not start: {e}"));
    let text = text(&output);
    assert!(output.status.success(), "{command:?} failed with {}:\n{text}", output.status);
    text
}

/// Both streams of a finished command.
pub fn text(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}

/// A class of a pack: internal name and file.
pub struct PackedClass {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Dumps modules of a JDK and jar files into memory.
pub fn dump_classes(jdk: &Jdk, sources: &[&str]) -> Vec<PackedClass> {
    let dir = TempDir::new(&format!("dump-{}", jdk.release));
    let pack = dir.join("pack");
    run(jdk.command("java").arg(java_sources().join("tools/DumpClasses.java")).arg(&pack).args(sources));
    let bytes = std::fs::read(&pack).expect("the pack");
    let mut rest = &bytes[..];
    let mut part = || {
        let (length, tail) = rest.split_first_chunk::<4>()?;
        let (part, tail) = tail.split_at(u32::from_be_bytes(*length) as usize);
        rest = tail;
        Some(part.to_vec())
    };
    let mut classes = Vec::new();
    while let Some(name) = part() {
        let name = String::from_utf8(name).expect("UTF-8 names");
        classes.push(PackedClass { name, bytes: part().expect("a class file per name") });
    }
    classes
}

/// Traces every method with ascending ids from `next`, in the kinds of trace points by turns.
pub struct TraceAll {
    pub next: u32,
    pub mixed: bool,
    /// Super class by class of what was seen; `None` when nobody asks.
    pub supers: Option<BTreeMap<String, String>>,
}

impl TraceAll {
    pub fn plain() -> Self {
        TraceAll { next: 1, mixed: false, supers: Some(BTreeMap::new()) }
    }

    /// Remembers no classes, so that nothing but the rewriter costs time.
    pub fn anonymous() -> Self {
        TraceAll { next: 1, mixed: false, supers: None }
    }

    /// All kinds of trace points; ids from `next`.
    pub fn mixed(next: u32) -> Self {
        TraceAll { next, mixed: true, supers: Some(BTreeMap::new()) }
    }

    /// Whether one class is below another, both with slashes.
    pub fn is_below(&self, class: &str, ancestor: &str) -> bool {
        let above = |c: &&str| self.supers.as_ref()?.get(*c).map(String::as_str);
        std::iter::successors(Some(class), above).any(|c| c == ancestor)
    }
}

impl Policy for TraceAll {
    fn class(&mut self, class: &ClassInfo<'_>) -> bool {
        if let (Some(supers), Some(above)) = (&mut self.supers, class.super_name) {
            supers.insert(class.name.to_lossy().into_owned(), above.to_lossy().into_owned());
        }
        true
    }

    fn method(&mut self, _: &ClassInfo<'_>, _: &MethodInfo<'_>) -> Probe {
        let id = MethodId(self.next);
        self.next += 1;
        match id.0 % 8 {
            3 if self.mixed => Probe::Timed(id),
            1 if self.mixed => Probe::Precise(id),
            5 if self.mixed => Probe::Watched { id, rule: (id.0 % 65536) as u16 },
            _ => Probe::Plain(id),
        }
    }
}

/// Writes a class file below a folder.
pub fn write_class(folder: &Path, name: &str, bytes: &[u8]) {
    let file = folder.join(format!("{name}.class"));
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("the folder of a package");
    std::fs::write(&file, bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
}
