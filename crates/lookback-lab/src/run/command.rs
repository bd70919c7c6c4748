//! The command line and the environment of an invocation.
//!
//! The constraint that shaped it: an invocation may depend on nothing but its cell, so it gets no variable of the
//! user's but `PATH` and `HOME`, and directories of its own for whatever it writes. What the lab adds stands before the
//! cell's own options, which can override it, and is the same in all cells.

use crate::error::{Error, Result};
use crate::plan::{Cell, Jvm, SOCKET};
use lookback_options::format_bytes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The variable by which processes of a run are told from all others; its value is the results directory's identity.
pub(super) const MARKER: &str = "LOOKBACK_LAB_RUN";
/// Name of the directory that an invocation runs in, within its raw directory; it is removed afterwards.
pub(super) const WORK: &str = "work";

/// Where the harness is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Harness {
    /// `liblookback_harness.so`.
    pub library: PathBuf,
    /// `lookback-harness.jar`.
    pub jar: PathBuf,
}

/// What is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// Program and arguments.
    pub(super) words: Vec<String>,
    /// The whole environment.
    pub(super) environment: BTreeMap<String, String>,
}

/// The line for a shell that starts an invocation of `cell` by hand, with `dir` as its raw directory.
///
/// # Errors
/// [`Error::NoHarness`], [`Error::Directory`].
pub fn command_line(cell: &Cell, dir: &Path, harness: Option<&Harness>) -> Result<String> {
    Ok(compose(cell, dir, harness, "0")?.to_shell())
}

/// Composes an invocation of `cell` whose raw directory is `dir`, an absolute path.
///
/// # Errors
/// [`Error::NoHarness`], and [`Error::Directory`] for a path that an option of the VM cannot hold.
pub(super) fn compose(cell: &Cell, dir: &Path, harness: Option<&Harness>, marker: &str) -> Result<Command> {
    let shown = dir.to_string_lossy();
    let place = |text: &String| text.replace("{dir}", &shown);
    let mut words: Vec<_> = cell.launch.wrapper.iter().map(place).collect();
    if let Some(jvm) = &cell.launch.jvm {
        words.push(jvm.java.to_string_lossy().into_owned());
        words.extend(ours(&shown));
        let mut class_path = place(&jvm.class_path);
        if jvm.harness {
            let harness = harness.ok_or_else(|| Error::NoHarness { workload: cell.workload.clone() })?;
            // Before any other agent: what that starts is counted only if the counters are open by then.
            words.extend(measuring(jvm, dir, harness)?);
            if !class_path.is_empty() {
                class_path.push(':');
            }
            class_path.push_str(&harness.jar.to_string_lossy());
        }
        words.extend(jvm.options.iter().map(place));
        if let Some(heap) = cell.heap {
            let size = format_bytes(heap.bytes);
            words.extend([format!("-Xms{size}"), format!("-Xmx{size}")]);
        }
        if !class_path.is_empty() {
            words.extend(["-cp".to_owned(), class_path]);
        }
    }
    words.extend(cell.launch.command.iter().map(place));
    let mut environment = BTreeMap::new();
    for name in ["PATH", "HOME"] {
        if let Ok(value) = std::env::var(name) {
            environment.insert(name.to_owned(), value);
        }
    }
    let fixed = [("LANG", "C.UTF-8"), ("TZ", "UTC"), (MARKER, marker)];
    environment.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
    environment.insert("TMPDIR".into(), format!("{shown}/{WORK}"));
    environment.extend(cell.launch.env.iter().map(|(name, value)| (name.clone(), place(value))));
    Ok(Command { words, environment })
}

/// Composes the rehearsal of an invocation of `cell`: its program, with the invocation's own command line behind it. None
/// where the cell has none.
///
/// # Errors
/// Those of [`compose`].
pub(super) fn rehearsal(
    cell: &Cell,
    dir: &Path,
    harness: Option<&Harness>,
    marker: &str,
) -> Result<Option<Command>> {
    if cell.launch.rehearsal.is_empty() {
        return Ok(None);
    }
    let shown = dir.to_string_lossy();
    let mut command = compose(cell, dir, harness, marker)?;
    let program = cell.launch.rehearsal.iter().map(|word| word.replace("{dir}", &shown));
    command.words.splice(0..0, program);
    Ok(Some(command))
}

/// Options of every Java VM.
fn ours(dir: &str) -> [String; 4] {
    [
        // Out of memory in any thread ends the process: else a program goes on without that thread, and what it does
        // is another workload.
        "-XX:+ExitOnOutOfMemoryError".into(),
        // The VM's counters stay in its memory instead of a mapped file, whose write-back can stop all threads.
        // Switching them off would change the VM itself.
        "-XX:+PerfDisableSharedMem".into(),
        format!("-XX:ErrorFile={dir}/hs_err.log"),
        format!("-Djava.io.tmpdir={dir}/{WORK}"),
    ]
}

/// Harness and logs.
fn measuring(jvm: &Jvm, dir: &Path, harness: &Harness) -> Result<[String; 2]> {
    let dir_text = dir.to_string_lossy();
    // A comma ends a value in the agent's options, a quotation mark one in the log's.
    if let Some(character) = dir_text.chars().find(|c| [',', '"'].contains(c)) {
        return Err(Error::Directory { path: dir.to_owned(), character });
    }
    let memory = jvm
        .mocked_memory
        .map(|(most, total)| format!(",memory={}:{}", format_bytes(most), format_bytes(total)))
        .unwrap_or_default();
    let socket = if jvm.socket { format!(",socket={SOCKET}") } else { String::new() };
    Ok([
        format!("-agentpath:{}=out={dir_text}/harness.jsonl{memory}{socket}", harness.library.display()),
        // A count of 0 switches rotation off, which would drop a log's beginning after 100 MiB.
        format!("-Xlog:gc*,safepoint*:file=\"{dir_text}/gc.log\":timenanos,level,tags:filecount=0"),
    ])
}

impl Command {
    /// A line for a shell that does the same by hand.
    pub(super) fn to_shell(&self) -> String {
        let pairs =
            self.environment.iter().map(|(name, value)| format!("{name}={}", shell_words::quote(value)));
        let words = self.words.iter().map(|word| shell_words::quote(word).into_owned());
        let all: Vec<String> =
            ["env".to_owned(), "-i".to_owned()].into_iter().chain(pairs).chain(words).collect();
        all.join(" ") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{cell, java_cell};
    use super::*;
    use crate::plan::HeapSize;

    #[test]
    fn a_java_invocation_gets_its_options_in_the_order_that_is_documented() {
        let mut cell = java_cell(
            "/jdk/bin/java",
            &["-XX:+UseSerialGC", "-Dd={dir}/x"],
            "a.jar",
            &["Main", "{dir}", "it's"],
        );
        cell.heap = Some(HeapSize { multiple: Some(2.0), bytes: 24 << 20 });
        let jvm = cell.launch.jvm.as_mut().unwrap();
        jvm.harness = true;
        jvm.mocked_memory = Some((512 << 20, 128 << 20));
        cell.launch.env.insert("OWN".into(), "{dir}/own".into());
        let harness = Harness { library: "/lib/h.so".into(), jar: "/lib/h.jar".into() };
        let command = compose(&cell, Path::new("/r/1-1"), Some(&harness), "7").unwrap();
        let expected = [
            "/jdk/bin/java",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:+PerfDisableSharedMem",
            "-XX:ErrorFile=/r/1-1/hs_err.log",
            "-Djava.io.tmpdir=/r/1-1/work",
            "-agentpath:/lib/h.so=out=/r/1-1/harness.jsonl,memory=512m:128m",
            "-Xlog:gc*,safepoint*:file=\"/r/1-1/gc.log\":timenanos,level,tags:filecount=0",
            "-XX:+UseSerialGC",
            "-Dd=/r/1-1/x",
            "-Xms24m",
            "-Xmx24m",
            "-cp",
            "a.jar:/lib/h.jar",
            "Main",
            "/r/1-1",
            "it's",
        ];
        assert_eq!(command.words, expected);
        let names: Vec<_> = command.environment.keys().map(String::as_str).collect();
        assert_eq!(names, ["HOME", "LANG", MARKER, "OWN", "PATH", "TMPDIR", "TZ"]);
        assert_eq!(command.environment["OWN"], "/r/1-1/own");
        assert!(command.to_shell().ends_with("Main /r/1-1 'it'\\''s'\n"), "{}", command.to_shell());
        assert!(matches!(compose(&cell, Path::new("/r"), None, "7"), Err(Error::NoHarness { .. })));
        let odd = compose(&cell, Path::new("/a,b"), Some(&harness), "7");
        assert!(matches!(odd, Err(Error::Directory { character: ',', .. })));
    }

    #[test]
    fn a_rehearsal_has_the_invocations_command_line_behind_it() {
        let mut cell = cell("w", &["make", "{dir}"]);
        assert_eq!(rehearsal(&cell, Path::new("/r"), None, "7").unwrap(), None);
        cell.launch.rehearsal = vec!["learn".into(), "{dir}/learned".into()];
        let command = rehearsal(&cell, Path::new("/r"), None, "7").unwrap().unwrap();
        assert_eq!(command.words, ["learn", "/r/learned", "make", "/r"]);
        assert_eq!(command.environment["TMPDIR"], "/r/work");
    }

    #[test]
    fn a_program_gets_nothing_but_its_arguments() {
        let command = compose(&cell("w", &["make", "-C", "{dir}"]), Path::new("/r"), None, "7").unwrap();
        assert_eq!(command.words, ["make", "-C", "/r"]);
    }
}
