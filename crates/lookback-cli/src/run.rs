//! `lookback run`: starts a program with the agent.
//!
//! The constraint that shaped it: nothing may stand between the program and whoever started it. So this
//! process becomes the program (exec): exit code, signals, terminal and output are the program's own, and
//! there is no parent to forward them. Nothing but the one argument or variable is changed.

use crate::c_library;
use crate::error::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variable whose options every JVM adds to its command line.
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// How the agent is handed over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Program and arguments.
    pub(crate) command: Vec<OsString>,
    /// A value for `JAVA_TOOL_OPTIONS`, when the program is a script that starts a JVM somewhere.
    pub(crate) tool_options: Option<String>,
}

/// Plans a start. A `java` gets the argument itself, first; anything else gets it by environment.
///
/// # Errors
/// [`Error::AgentPath`] when the environment cannot carry the argument.
pub(crate) fn plan(command: &[OsString], argument: &str, tool_options: Option<&str>) -> Result<Plan> {
    let (program, rest) = command.split_first().ok_or_else(|| Error::Usage {
        what: "no program to run was given".into(),
        hint: "for example: lookback run -- java -jar app.jar".into(),
    })?;
    if is_java(program) {
        let mut command = vec![program.clone(), argument.into()];
        command.extend_from_slice(rest);
        return Ok(Plan { command, tool_options: None });
    }
    let quoted = quote(argument).ok_or_else(|| Error::AgentPath {
        path: argument.into(),
        why: "JAVA_TOOL_OPTIONS cannot carry both kinds of quotes",
    })?;
    let before = tool_options.map(str::trim).filter(|t| !t.is_empty());
    let value = before.map_or_else(|| quoted.clone(), |before| format!("{before} {quoted}"));
    Ok(Plan { command: command.to_vec(), tool_options: Some(value) })
}

/// Plans a start without the agent.
///
/// # Errors
/// [`Error::Usage`] when there is nothing to start.
pub(crate) fn untraced(command: &[OsString]) -> Result<Plan> {
    plan(command, "", None).map(|_| Plan { command: command.to_vec(), tool_options: None })
}

/// The `java` that a command starts: itself, or what a script finds by `JAVA_HOME` or in `PATH`, most likely.
pub(crate) fn java_of(command: &[OsString]) -> Option<PathBuf> {
    let program = command.first()?;
    if is_java(program) {
        return c_library::in_path(Path::new(program));
    }
    let home = std::env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin/java"));
    home.filter(|java| java.is_file()).or_else(|| c_library::in_path(Path::new("java")))
}

/// Whether the program is the JVM's own launcher.
fn is_java(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new("java"))
}

/// HotSpot splits the variable at white space; either kind of quotes keeps a piece together.
fn quote(argument: &str) -> Option<String> {
    if !argument.contains(|c: char| c.is_whitespace() || c == '\'' || c == '"') {
        return Some(argument.to_owned());
    }
    ['"', '\''].iter().find(|&&q| !argument.contains(q)).map(|q| format!("{q}{argument}{q}"))
}

impl Plan {
    /// The plan as a line for a shell.
    pub(crate) fn to_shell(&self) -> String {
        let mut words = Vec::new();
        if let Some(value) = &self.tool_options {
            words.push(format!("{TOOL_OPTIONS}={}", shell_word(value)));
        }
        words.extend(self.command.iter().map(|w| shell_word(&w.to_string_lossy())));
        words.join(" ")
    }

    /// Becomes the program; returns only when that fails.
    pub(crate) fn exec(&self) -> Error {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        if let Some(value) = &self.tool_options {
            command.env(TOOL_OPTIONS, value);
        }
        let error = command.exec();
        Error::Run { program: self.command[0].to_string_lossy().into_owned(), error }
    }
}

/// The current value of `JAVA_TOOL_OPTIONS`.
pub(crate) fn current_tool_options() -> Option<String> {
    std::env::var(TOOL_OPTIONS).ok()
}

fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,%+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(Into::into).collect()
    }

    #[test]
    fn java_gets_the_argument_first_and_nothing_else_changes() {
        let plan = plan(&words("/opt/jdk/bin/java -jar a.jar -x"), "-agentpath:/l.so", Some("-Dx")).unwrap();
        assert_eq!(plan.command, words("/opt/jdk/bin/java -agentpath:/l.so -jar a.jar -x"));
        assert_eq!(plan.tool_options, None);
    }

    #[test]
    fn a_script_gets_it_by_environment_after_what_is_there() {
        let plan = plan(&words("mvn test"), "-agentpath:/a b/l.so", Some(" -Dx ")).unwrap();
        assert_eq!(plan.command, words("mvn test"));
        assert_eq!(plan.tool_options.as_deref(), Some("-Dx \"-agentpath:/a b/l.so\""));
        assert_eq!(plan.to_shell(), "JAVA_TOOL_OPTIONS='-Dx \"-agentpath:/a b/l.so\"' mvn test");
    }

    #[test]
    fn what_the_environment_cannot_carry_is_refused() {
        assert!(matches!(plan(&words("mvn"), "-agentpath:/a'b\"/l.so", None), Err(Error::AgentPath { .. })));
        assert!(matches!(plan(&[], "-agentpath:/l.so", None), Err(Error::Usage { .. })));
    }
}
