//! A JVM to run: which JDK, which agent options, which program.

use super::artifacts::{self, Jdk};
use super::place::Place;
use super::process::{LIMIT, Permit, Ran, Running};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A command line of a JVM, put together step by step.
#[derive(Clone)]
pub(crate) struct Java<'a> {
    jdk: &'a Jdk,
    place: &'a Place,
    options: Vec<OsString>,
    class_path: Option<OsString>,
    program: Vec<OsString>,
    variables: Vec<(String, OsString)>,
    limit: Duration,
}

impl<'a> Java<'a> {
    /// A program of `tests/programs`, or of the workloads after [`Java::workloads`].
    pub(crate) fn new(jdk: &'a Jdk, place: &'a Place, program: &[&str]) -> Java<'a> {
        let mut options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:-UsePerfData"].map(OsString::from).to_vec();
        options.extend(artifacts::EXTENDED.iter().filter(|_| jdk.is_extended).map(OsString::from));
        Java {
            jdk,
            place,
            options,
            class_path: None,
            program: program.iter().map(OsString::from).collect(),
            variables: Vec::new(),
            limit: LIMIT,
        }
    }

    /// Runs a program of the workloads.
    pub(crate) fn workloads(mut self) -> Self {
        self.class_path = Some(artifacts::workloads().into());
        self
    }

    /// Runs a program that uses the public API.
    pub(crate) fn with_api(self) -> Self {
        let path = format!("{}:{}", artifacts::programs().display(), artifacts::api().display());
        self.class_path(path)
    }

    /// Runs with this class path.
    pub(crate) fn class_path(mut self, path: impl Into<OsString>) -> Self {
        self.class_path = Some(path.into());
        self
    }

    /// Adds a JVM option.
    pub(crate) fn option(mut self, option: impl Into<OsString>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Adds JVM options.
    pub(crate) fn options(self, options: &[&str]) -> Self {
        options.iter().fold(self, |java, option| java.option(option))
    }

    /// Replaces the JVM options that every program has here.
    pub(crate) fn only_options(mut self, options: &[&str]) -> Self {
        self.options = options.iter().map(OsString::from).collect();
        self.options.extend(artifacts::EXTENDED.iter().filter(|_| self.jdk.is_extended).map(OsString::from));
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Loads the agent with these options; its region is the place's, and what is to be traced is, at any cost.
    pub(crate) fn agent(self, options: &str) -> Self {
        let region = self.place.region();
        self.bare_agent(&format!("region={},budget=off,{options}", region.display()))
    }

    /// Loads the agent with these options and no other.
    pub(crate) fn bare_agent(self, options: &str) -> Self {
        self.agent_at(artifacts::agent(), options)
    }

    /// Loads this agent.
    pub(crate) fn agent_at(self, library: &Path, options: &str) -> Self {
        let mut option = OsString::from("-agentpath:");
        option.push(library);
        option.push("=");
        option.push(options);
        self.option(option)
    }

    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    pub(crate) fn command(&self) -> Command {
        let class_path = self.class_path.clone().unwrap_or_else(|| artifacts::programs().into());
        let mut command = Command::new(self.jdk.tool("java"));
        command.args(&self.options).arg("-cp").arg(class_path).args(&self.program);
        command.current_dir(self.place.path()).stdin(Stdio::null());
        self.place.environment(&mut command);
        command.envs(self.variables.iter().map(|(k, v)| (k, v)));
        command
    }

    /// Runs it to its end.
    #[track_caller]
    pub(crate) fn run(&self) -> Ran {
        Running::start_with(&mut self.command(), self.limit, Some(Permit::take())).end()
    }

    /// Starts it, with its standard input a pipe.
    #[track_caller]
    pub(crate) fn start(&self) -> Running {
        Running::start_with(self.command().stdin(Stdio::piped()), self.limit, Some(Permit::take()))
    }
}
