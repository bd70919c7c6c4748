//! What is built once for all tests: the agent, the command, the Java programs; and the JDKs to run them on.
//!
//! The constraint that shaped it: a test that runs against something old or something else is worse than
//! none, so everything is built from the sources beside it, and what is missing fails loudly.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

/// A JDK.
#[derive(Clone, Debug)]
pub(crate) struct Jdk {
    pub(crate) version: u32,
    pub(crate) home: PathBuf,
    /// Whether its VM is the extended one (`make vm`), which then runs with all that it offers.
    pub(crate) is_extended: bool,
}

/// What turns on the trace points and samples of the extended VM, which records no call that is inlined.
pub(crate) const EXTENDED: [&str; 3] = ["-XX:+LookbackTracing", "-XX:+LookbackSampling", "-XX:-Inline"];

impl Jdk {
    /// One of its programs.
    pub(crate) fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }
}

/// The JDKs under test: 17 and 25, and 21 where `JAVA_HOME_21` names one. With `LOOKBACK_ONE_JDK=1` those of
/// 17 and 25 that are there. `JAVA_HOME_17` may name the extended one, and `LOOKBACK_JDKS=17` leaves out all others.
pub(crate) fn jdks() -> &'static [Jdk] {
    static JDKS: OnceLock<Vec<Jdk>> = OnceLock::new();
    JDKS.get_or_init(|| {
        let one = std::env::var("LOOKBACK_ONE_JDK").is_ok_and(|v| v == "1");
        let mut found: Vec<Jdk> = [17, 25].into_iter().filter_map(find_jdk).collect();
        assert!(
            found.len() == 2 || one && !found.is_empty(),
            "these tests need a JDK 17 and a JDK 25, in JAVA_HOME_17 and JAVA_HOME_25 or below /usr/lib/jvm; found {found:?} (LOOKBACK_ONE_JDK=1 does with one)"
        );
        found.extend(std::env::var_os("JAVA_HOME_21").map(|_| find_jdk(21).expect("a JDK 21")));
        if let Ok(only) = std::env::var("LOOKBACK_JDKS") {
            found.retain(|jdk| only.split(',').any(|version| version == jdk.version.to_string()));
            assert!(!found.is_empty(), "LOOKBACK_JDKS={only} leaves no JDK to test");
        }
        found.sort_by_key(|jdk| jdk.version);
        found
    })
}

/// The JDK of a version, if it is under test.
pub(crate) fn jdk(version: u32) -> Option<&'static Jdk> {
    jdks().iter().find(|j| j.version == version)
}

/// The JDK that compiles the tests' programs: the newest that has a compiler.
fn newest() -> &'static Jdk {
    let compilers = jdks().iter().filter(|j| j.tool("javac").exists());
    compilers.max_by_key(|j| j.version).expect("one of the JDKs has a compiler")
}

/// A JDK that has virtual threads, when there is also a compiler for the programs that use them.
pub(crate) fn jdk_with_virtual_threads() -> Option<&'static Jdk> {
    if newest().version < 21 {
        println!("left out: no JDK 21 or later has a compiler here");
        return None;
    }
    jdks().iter().find(|j| j.version >= 21)
}

fn find_jdk(version: u32) -> Option<Jdk> {
    let named = std::env::var_os(format!("JAVA_HOME_{version}")).map(PathBuf::from);
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|e| e.path());
    let mut homes: Vec<PathBuf> = installed.collect();
    homes.sort();
    named.into_iter().chain(homes).find(|home| version_of(home) == Some(version)).map(|home| Jdk {
        version,
        is_extended: is_extended(&home),
        home,
    })
}

fn is_extended(home: &Path) -> bool {
    let mut java = Command::new(home.join("bin/java"));
    java.args(EXTENDED).arg("-version").output().is_ok_and(|out| out.status.success())
}

/// The version that a JDK's own `release` file tells.
fn version_of(home: &Path) -> Option<u32> {
    let release = std::fs::read_to_string(home.join("release")).ok()?;
    let line = release.lines().find(|l| l.starts_with("JAVA_VERSION="))?;
    let version = line.split('"').nth(1)?.split(['.', '-', '+']).next()?.parse().ok()?;
    home.join("bin/java").exists().then_some(version)
}

/// The repository.
pub(crate) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        std::fs::canonicalize(here).expect("the repository is there")
    })
}

/// Cargo's target directory in which this test was built.
pub(crate) fn target() -> &'static Path {
    static TARGET: OnceLock<PathBuf> = OnceLock::new();
    TARGET.get_or_init(|| {
        let me = std::env::current_exe().expect("this program has a path");
        // TARGET/PROFILE/deps/e2e-HASH
        me.ancestors().nth(3).expect("cargo's layout").to_owned()
    })
}

/// The agent's library (the native recorder beside it) and the command, built for release like those that are shipped.
struct Built {
    agent: PathBuf,
    lookback: PathBuf,
}

fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let named = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        if let (Some(agent), Some(lookback)) = (named("LOOKBACK_AGENT"), named("LOOKBACK_BIN")) {
            let whole =
                |p: PathBuf| std::fs::canonicalize(&p).unwrap_or_else(|e| panic!("{}: {e}", p.display()));
            return Built { agent: whole(agent), lookback: whole(lookback) };
        }
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet", "--release", "-p", "lookback-agent", "-p", "lookback-cli"]);
        cargo.args(["-p", "lookback-c"]);
        succeed(cargo.arg("--target-dir").arg(target()).current_dir(root()));
        let release = target().join("release");
        Built { agent: release.join("liblookback.so"), lookback: release.join("lookback") }
    })
}

/// The agent's library.
pub(crate) fn agent() -> &'static Path {
    &built().agent
}

/// The native recorder's library.
pub(crate) fn ring_library() -> PathBuf {
    let library = agent().with_file_name("liblookback_ring.so");
    assert!(library.is_file(), "{} is not there: build lookback-c", library.display());
    library
}

/// The command.
pub(crate) fn lookback() -> &'static Path {
    &built().lookback
}

/// The program that records into a ring file: an example of the recorder.
pub(crate) fn shop() -> &'static Path {
    static SHOP: OnceLock<PathBuf> = OnceLock::new();
    SHOP.get_or_init(|| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet", "--release", "-p", "lookback-recorder", "--example", "shop"]);
        succeed(cargo.arg("--target-dir").arg(target()).current_dir(root()));
        target().join("release/examples/shop")
    })
}

/// The class path of the workloads.
pub(crate) fn workloads() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let project = root().join("java/workloads");
        package(&project, &[]);
        let jar = project.join("target/lookback-workloads.jar");
        assert!(jar.is_file(), "mvn has not made {}", jar.display());
        format!("{}:{}/target/lib/*", jar.display(), project.display())
    })
}

/// The jar of the public API, with the native recorder in it.
pub(crate) fn api() -> &'static Path {
    static JAR: OnceLock<PathBuf> = OnceLock::new();
    JAR.get_or_init(|| {
        let project = root().join("java/api");
        let machine = if cfg!(target_arch = "x86_64") { "linux-amd64" } else { "linux-aarch64" };
        let copies = project.join("target/native").join(machine);
        std::fs::create_dir_all(&copies).expect("a directory for the library");
        std::fs::copy(ring_library(), copies.join("liblookback_ring.so")).expect("a copy of the library");
        package(&project, &[]);
        let jar = project.join("target/lookback-api.jar");
        assert!(jar.is_file(), "mvn has not made {}", jar.display());
        jar
    })
}

/// Has Maven package a project: offline when its repository has everything, else from the network.
fn package(project: &Path, options: &[&str]) {
    let mvn = |offline: bool| {
        let mut mvn = Command::new("mvn");
        mvn.args(["-q", "-B"]).args(offline.then_some("-o"));
        mvn.args(["package", "-DskipTests"]).args(options).current_dir(project);
        mvn.env_remove("JAVA_TOOL_OPTIONS");
        mvn
    };
    let offline = mvn(true).output().unwrap_or_else(|e| panic!("cannot run mvn: {e}"));
    if !offline.status.success() {
        succeed(&mut mvn(false));
    }
}

/// The directory with the jars of `tests/libraries`, in `lib`, and of other agents, in `agents`. Fetched once.
pub(crate) fn libraries() -> &'static Path {
    static FETCHED: OnceLock<PathBuf> = OnceLock::new();
    FETCHED.get_or_init(|| {
        let project = root().join("tests/libraries");
        let pom = std::fs::read(project.join("pom.xml")).expect("the libraries' project");
        let (fetched, stamp) = (target().join("e2e/libraries"), target().join("e2e/libraries/pom.xml"));
        if std::fs::read(&stamp).ok().as_ref() != Some(&pom) {
            let _ = std::fs::remove_dir_all(&fetched);
            package(&project, &[&format!("-Dfetched={}", fetched.display())]);
            std::fs::write(&stamp, pom).expect("a note of what was fetched");
        }
        fetched
    })
}

/// The directory with the compiled programs of `tests/programs`.
pub(crate) fn programs() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let sources = root().join("tests/programs");
        let classes = target().join("e2e/classes");
        // Classes of programs that are gone must not be found.
        let _ = std::fs::remove_dir_all(&classes);
        let none = Path::new("");
        compile(&sources, "17", none, &classes);
        compile(&sources.join("api"), "17", api(), &classes);
        if newest().version >= 21 {
            compile(&sources.join("jdk21"), "21", none, &classes);
            compile(&sources.join("api/jdk21"), "21", api(), &classes);
        }
        classes
    })
}

/// The directory with a compiled program of `bench/programs` that needs nothing else.
pub(crate) fn benchmark(program: &str, place: &Path) -> PathBuf {
    let source = root().join("bench/programs").join(program).with_extension("java");
    let classes = place.join("classes");
    compile_files(&[source], "17", Path::new(""), &classes);
    classes
}

/// A jar that makes a program of `tests/programs` a Java agent as well, which may have classes rewritten.
pub(crate) fn java_agent(program: &str, place: &Path) -> PathBuf {
    with_manifest(place, &format!("Premain-Class: {program}\nCan-Retransform-Classes: true\n"))
}

/// A jar that starts a program of `tests/programs`.
pub(crate) fn application(program: &str, place: &Path) -> PathBuf {
    with_manifest(place, &format!("Main-Class: {program}\nClass-Path: file:{}/\n", programs().display()))
}

/// A jar with a manifest and nothing else.
fn with_manifest(place: &Path, text: &str) -> PathBuf {
    let (manifest, jar) = (place.join("manifest"), place.join("program.jar"));
    std::fs::write(&manifest, text).expect("a manifest");
    succeed(Command::new(newest().tool("jar")).arg("cfm").args([&jar, &manifest]));
    jar
}

/// Makes a jar of classes of `tests/programs`.
pub(crate) fn jar(jar: &Path, classes: &[&str]) {
    let mut command = Command::new(newest().tool("jar"));
    succeed(command.arg("cf").arg(jar).args(classes).current_dir(programs()));
}

/// The library of the harness.
pub(crate) fn harness() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        if let Some(named) = std::env::var_os("LOOKBACK_HARNESS").filter(|v| !v.is_empty()) {
            return std::fs::canonicalize(&named).unwrap_or_else(|e| panic!("{}: {e}", named.display()));
        }
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet", "--release", "-p", "lookback-harness", "--target-dir"]);
        succeed(cargo.arg(target()).current_dir(root()));
        target().join("release/liblookback_harness.so")
    })
}

/// The harness's jar.
pub(crate) fn harness_jar() -> &'static Path {
    static JAR: OnceLock<PathBuf> = OnceLock::new();
    JAR.get_or_init(|| {
        let project = root().join("java/harness");
        package(&project, &[]);
        let jar = project.join("target/lookback-harness.jar");
        assert!(jar.is_file(), "mvn has not made {}", jar.display());
        jar
    })
}

/// The directory with the compiled programs of a folder of `tests/programs/harness`, which see the harness's jar.
pub(crate) fn harness_programs(folder: &str) -> PathBuf {
    static COMPILED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let classes = target().join("e2e/harness").join(if folder.is_empty() { "plain" } else { folder });
    let mut compiled = COMPILED.lock().unwrap_or_else(|e| e.into_inner());
    if !compiled.iter().any(|c| c == folder) {
        let _ = std::fs::remove_dir_all(&classes);
        compile(&root().join("tests/programs/harness").join(folder), "17", harness_jar(), &classes);
        compiled.push(folder.to_owned());
    }
    classes
}

fn compile(sources: &Path, release: &str, class_path: &Path, classes: &Path) {
    let entries = std::fs::read_dir(sources).unwrap_or_else(|e| panic!("{}: {e}", sources.display()));
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "java"));
    files.sort();
    compile_files(&files, release, class_path, classes);
}

fn compile_files(files: &[PathBuf], release: &str, class_path: &Path, classes: &Path) {
    std::fs::create_dir_all(classes).expect("a directory for classes");
    let mut javac = Command::new(newest().tool("javac"));
    javac.args(["--release", release, "-g", "-Xlint:all,-try", "-Werror", "-d"]).arg(classes).arg("-cp");
    javac.arg(class_path).args(files);
    succeed(javac.env_remove("JAVA_TOOL_OPTIONS"));
}

/// Runs a command that must succeed.
pub(crate) fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?} did not start: {e}"));
    assert!(
        output.status.success(),
        "{command:?} failed with {}:\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
