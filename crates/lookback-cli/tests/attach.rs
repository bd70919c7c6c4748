//! `lookback attach` against real JVMs of every JDK that is found, and against what is no JVM.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use support::{Child, Place};

/// A Java program that answers each line, so that it can be seen to go on.
const ECHO: &str = "public class EchoLines {
    public static void main(String[] args) throws Exception {
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println(\"ready\");
        for (String line; (line = in.readLine()) != null; ) System.out.println(\"echo \" + line);
    }
}
";

/// The `java` of `JAVA_HOME` and of every JDK in the usual directory, each once.
fn javas() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten();
    homes.extend(installed.filter_map(|entry| Some(entry.ok()?.path())));
    let java = |home: &PathBuf| std::fs::canonicalize(home.join("bin/java")).ok();
    let mut javas: Vec<_> = homes.iter().filter_map(java).collect();
    javas.sort();
    javas.dedup();
    assert!(!javas.is_empty(), "these tests need a JDK in JAVA_HOME or /usr/lib/jvm");
    javas
}

/// A JVM that runs [`ECHO`].
struct Echo {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Echo {
    fn start(java: &Path, place: &Place, options: &[&str]) -> Echo {
        Echo::start_named(java, place, options, "EchoLines")
    }

    fn start_named(java: &Path, place: &Place, options: &[&str], name: &str) -> Echo {
        let file = format!("{name}.java");
        std::fs::write(place.file(&file), ECHO.replace("EchoLines", name)).unwrap();
        let mut child = Command::new(java)
            .args(options)
            .arg(file)
            .current_dir(place.path())
            .env_remove("JAVA_TOOL_OPTIONS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut echo = Echo { child: Child(child), input, output };
        assert_eq!(echo.line(), "ready");
        echo
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Asserts that the program still does its work and has printed nothing else.
    fn goes_on(&mut self) {
        self.input.write_all(b"x\n").unwrap();
        assert_eq!(self.line(), "echo x");
    }

    fn pid(&self) -> String {
        self.child.0.id().to_string()
    }
}

/// A shared library that is no agent: this process' own C library.
fn no_agent() -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|l| l.contains("libc.so") || l.contains("ld-musl")).unwrap();
    line[line.find('/').unwrap()..].to_owned()
}

#[test]
fn a_jvm_says_why_it_does_not_load_a_file_and_goes_on() {
    for java in javas() {
        let place = Place::new();
        let mut echo = Echo::start(&java, &place, &[]);
        let pid = echo.pid();
        let library = no_agent();
        let ran = place.run(&["attach", &pid, "--agent", &library]);
        ran.fails(1, &[&format!("the JVM {pid} did not load the agent"), "Agent_OnAttach", "goes on"]);
        echo.goes_on();
        std::fs::write(place.file("cut.so"), b"\x7fELF").unwrap();
        place.run(&["attach", &pid, "--agent", "cut.so"]).fails(1, &["cut.so", "file too short"]);
        echo.goes_on();
        assert!(!place.names().iter().any(|n| n.starts_with(".attach_pid")), "{:?}", place.names());
    }
}

#[test]
fn a_jvm_is_found_by_its_program_if_only_one_has_it() {
    let java = &javas()[0];
    let place = Place::new();
    let (once, twice) = (unique("Once"), unique("Twice"));
    let mut echo = Echo::start_named(java, &place, &[], &once);
    let _both = [0, 1].map(|_| Echo::start_named(java, &place, &[], &twice));
    let listed = place.run(&["ls", "--all"]).ok().out;
    let line = listed.lines().find(|l| l.starts_with(&echo.pid())).unwrap_or_else(|| panic!("{listed}"));
    assert!(line.contains(&once) && line.contains("not traced"), "{line}");
    let attach = |name: &str| place.run(&["attach", name, "--agent", &no_agent()]);
    attach(&once).fails(1, &["Agent_OnAttach"]);
    attach(&twice).fails(1, &[&format!("several JVMs match `{twice}`"), "give the process id"]);
    attach("NoSuchProgram").fails(1, &["no JVM of this user matches `NoSuchProgram`"]);
    echo.goes_on();
}

/// A name that no other run of these tests uses at the same time.
fn unique(name: &str) -> String {
    format!("{name}{}", std::process::id())
}

#[test]
fn a_jvm_that_does_not_listen_is_not_signalled() {
    for java in javas() {
        let place = Place::new();
        let mut echo = Echo::start(&java, &place, &["-XX:+DisableAttachMechanism"]);
        place
            .run(&["attach", &echo.pid(), "--agent", &no_agent()])
            .fails(1, &["-XX:+DisableAttachMechanism"]);
        echo.goes_on();
        let mut echo = Echo::start(&java, &place, &["-Xrs"]);
        place
            .run(&["attach", &echo.pid(), "--agent", &no_agent()])
            .fails(1, &["does not handle SIGQUIT", "-Xrs"]);
        echo.goes_on();
    }
}

#[test]
fn a_jvm_that_never_opens_its_socket_is_given_up_and_goes_on() {
    let java = &javas()[0];
    let place = Place::new();
    // In a file of arguments the switch cannot be seen from outside.
    std::fs::write(place.file("arguments"), "-XX:+DisableAttachMechanism").unwrap();
    let mut echo = Echo::start(java, &place, &["@arguments"]);
    let ran = place.run(&["attach", &echo.pid(), "--agent", &no_agent()]);
    ran.fails(
        1,
        &["did not open its attach socket within 10 s", "-XX:+DisableAttachMechanism", "thread dump"],
    );
    echo.input.write_all(b"x\n").unwrap();
    // It took the signal for a request for a thread dump, which it has printed.
    while echo.line() != "echo x" {
        assert!(echo.child.alive());
    }
    assert!(!place.names().iter().any(|n| n.starts_with(".attach_pid")), "{:?}", place.names());
}

#[test]
fn dynamic_loading_that_is_forbidden_is_explained() {
    let mut tried = 0;
    for java in javas() {
        let place = Place::new();
        let mut echo = Echo::start(&java, &place, &["-XX:-EnableDynamicAgentLoading"]);
        let ran = place.run(&["attach", &echo.pid(), "--agent", &no_agent()]);
        ran.fails(1, &["was started with -XX:-EnableDynamicAgentLoading", "lookback run", "JEP 451"]);
        echo.goes_on();
        tried += 1;
    }
    assert!(tried > 0);
}

#[test]
fn what_is_no_jvm_survives() {
    let place = Place::new();
    let mut sleep = Child(Command::new("sleep").arg("60").spawn().unwrap());
    let pid = sleep.0.id().to_string();
    let ran = place.run(&["attach", &pid, "--agent", &no_agent()]);
    ran.fails(1, &[&format!("process {pid} ("), "is not a JVM", "nothing was sent"]);
    assert!(sleep.alive());
    place.run(&["attach", "4194399", "--agent", &no_agent()]).fails(1, &["there is no process 4194399"]);
    place.run(&["attach", "0", "--agent", &no_agent()]).fails(1, &["there is no process 0"]);
    place.run(&["attach", &pid, "--agent", "none.so"]).fails(1, &["cannot find the agent"]);
}

#[test]
fn options_that_are_too_long_are_refused_before_anything_is_sent() {
    let java = &javas()[0];
    let place = Place::new();
    let mut echo = Echo::start(java, &place, &[]);
    let rule = format!("com.acme.{}.*:1s", "x".repeat(1_100));
    let ran = place.run(&["attach", &echo.pid(), "--agent", &no_agent(), "--slow", &rule]);
    ran.fails(2, &["too long for attaching", "at most 1024", "lookback run"]);
    echo.goes_on();
}
