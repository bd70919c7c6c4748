//! How a workload is started under a configuration.
//!
//! The constraint that shaped it: what is started is also hashed, so each text is made together with the form of it that
//! does not depend on where things lie. What is not there is told and does not stop: a plan can be shown without it.

use super::configuration::Configuration;
use super::identity::{Hashes, class_path_entries, files_of_option};
use super::jdk::Found;
use super::minimum::Missing;
use super::placeholders::{Filled, Names};
use super::problem::{Placed, Problems};
use super::surroundings::Surroundings;
use super::workload::{Kind, Workload};
use crate::plan::{Jvm, Launch, SOCKET};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How a workload is started, as it is run and as it is hashed.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    java: Option<PathBuf>,
    pub(crate) options: Vec<Filled>,
    pub(crate) command: Vec<Filled>,
    pub(crate) wrapper: Vec<Filled>,
    pub(crate) rehearsal: Vec<Filled>,
    pub(crate) env: BTreeMap<String, Filled>,
    class_path: Vec<PathBuf>,
    /// Name and hash of each entry.
    pub(crate) class_path_hashes: Vec<(String, String)>,
    /// Hashes of files that options and command name.
    pub(crate) files: Vec<String>,
    pub(crate) mocked_memory: Option<(u64, u64)>,
    harness: bool,
    pub(crate) harness_hashes: Vec<String>,
}

impl Start {
    /// As it is run.
    pub(crate) fn launch(&self) -> Launch {
        let texts = |texts: &[Filled]| texts.iter().map(|text| text.text.clone()).collect();
        let class_path: Vec<_> = self.class_path.iter().map(|path| path.display().to_string()).collect();
        let jvm = self.java.as_ref().map(|java| Jvm {
            java: java.clone(),
            options: texts(&self.options),
            class_path: class_path.join(":"),
            harness: self.harness,
            socket: self.wrapper.iter().any(|text| text.stable.contains("{socket}")),
            mocked_memory: self.mocked_memory,
        });
        let env = self.env.iter().map(|(name, text)| (name.clone(), text.text.clone())).collect();
        Launch {
            jvm,
            command: texts(&self.command),
            wrapper: texts(&self.wrapper),
            rehearsal: texts(&self.rehearsal),
            env,
        }
    }
}

/// What starts are made from.
pub(crate) struct Launcher<'a> {
    pub(crate) around: &'a Surroundings,
    pub(crate) problems: &'a Problems,
    pub(crate) hashes: &'a Hashes,
    pub(crate) missing: &'a RefCell<BTreeSet<Missing>>,
    /// The configuration's JDK.
    pub(crate) jdk: Option<&'a Found>,
    pub(crate) jdk_options: Option<&'a [Placed<String>]>,
}

/// The main class of the lab's own workloads.
pub(crate) const MAIN: &str = "dev.lookback.workloads.Main";
/// The harness's plug-in for each.
const WORKLOADS_PLUGIN: &str = "dev.lookback.harness.WorkloadsCallback";
const DACAPO_PLUGIN: &str = "dev.lookback.harness.DacapoCallback";
const RENAISSANCE_PLUGIN: &str = "dev.lookback.harness.RenaissancePlugin";

impl Launcher<'_> {
    /// How the workload is started.
    pub(crate) fn start(&self, workload: &Workload, configuration: &Configuration<'_>) -> Start {
        let tools = &self.around.tools;
        let mut names = Names(vec![
            ("lookback", tools.agent.display().to_string()),
            ("harness-jar", tools.harness_jar.display().to_string()),
            ("workloads", tools.workloads.display().to_string()),
            ("socket", SOCKET.to_owned()),
        ]);
        if let Some(jdk) = self.jdk {
            names.0.push(("java", jdk.java().display().to_string()));
            names.0.push(("java-home", jdk.home.display().to_string()));
        }
        let fill = |text: &Placed<String>| names.fill(text, &[], self.problems);
        let added = configuration.added(self.jdk.map(|jdk| jdk.feature), &names, self.problems);

        let is_command = matches!(workload.kind, Kind::Command { .. });
        let java = self.jdk.filter(|_| !is_command).map(Found::java);
        let mut options: Vec<_> = self.jdk_options.unwrap_or_default().iter().filter_map(fill).collect();
        options.extend(added.options);
        options.extend(workload.options.iter().filter_map(fill));
        if is_command {
            options.clear();
        }
        let arguments = workload.arguments.iter().filter_map(fill).chain(added.arguments);
        let command = self.command(workload, arguments.collect(), &names);
        let mut env: BTreeMap<_, _> =
            workload.env.iter().filter_map(|(name, text)| Some((name.clone(), fill(text)?))).collect();
        env.extend(added.env);
        if let (true, Some(jdk)) = (is_command, self.jdk) {
            let home = Filled { text: jdk.home.display().to_string(), stable: "{java-home}".into() };
            env.entry("JAVA_HOME".into()).or_insert(home);
        }

        let mut class_path = self.own_class_path(workload, &names);
        for entry in added.class_path {
            class_path.push(entry.place.directory().join(entry.value.text));
        }
        let mut start = Start {
            java,
            options,
            command,
            wrapper: self.program(&workload.wrapper, &names),
            rehearsal: located(added.rehearsal),
            env,
            class_path: Vec::new(),
            class_path_hashes: Vec::new(),
            files: Vec::new(),
            mocked_memory: added.mocked_memory,
            harness: workload.harness,
            harness_hashes: Vec::new(),
        };
        for entry in class_path {
            self.add_to_class_path(&entry, &mut start);
        }
        start.files = self.files(workload, &start);
        if workload.harness {
            let files =
                [(&tools.harness, "the harness's library"), (&tools.harness_jar, "the harness's jar")];
            start.harness_hashes = files.iter().map(|(path, what)| self.hash(path, what)).collect();
        }
        start
    }

    /// Main class or program, with its arguments.
    fn command(&self, workload: &Workload, arguments: Vec<Filled>, names: &Names) -> Vec<Filled> {
        let iterations = workload.iterations.to_string();
        let plain = |texts: &[&str]| texts.iter().map(|text| Filled::plain(*text)).collect::<Vec<_>>();
        let harness = workload.harness;
        let mut command = match &workload.kind {
            Kind::Lookback { workload, size } => {
                let mut command = plain(&[MAIN, workload, "--iterations", &iterations, "--size", size]);
                if harness {
                    command.extend(plain(&["--callback", WORKLOADS_PLUGIN]));
                }
                command
            }
            // Options of the harness stand before the benchmark's name, so its own arguments do too.
            Kind::Dacapo { benchmark, size, .. } => {
                let mut command = plain(&["Harness", "-n", &iterations, "-s", size]);
                if harness {
                    command.extend(plain(&["-c", DACAPO_PLUGIN]));
                }
                command.extend(arguments);
                command.push(Filled::plain(benchmark));
                return command;
            }
            Kind::Renaissance { benchmark, .. } => {
                let mut command = plain(&["org.renaissance.core.Launcher", "-r", &iterations]);
                if harness {
                    let jar = self.around.tools.harness_jar.display();
                    command.push(Filled::plain("--plugin"));
                    command.push(Filled {
                        text: format!("{jar}!{RENAISSANCE_PLUGIN}"),
                        stable: format!("{{harness-jar}}!{RENAISSANCE_PLUGIN}"),
                    });
                }
                command.extend(arguments);
                command.push(Filled::plain(benchmark));
                return command;
            }
            Kind::Java { main, .. } => plain(&[main]),
            Kind::Command { program } => self.program(program, names),
        };
        command.extend(arguments);
        command
    }

    /// A program with its arguments.
    fn program(&self, program: &[Placed<String>], names: &Names) -> Vec<Filled> {
        let fill = |text: &Placed<String>| {
            let value = names.fill(text, &[], self.problems)?;
            Some(Placed { value, place: text.place.clone() })
        };
        located(program.iter().filter_map(fill).collect())
    }

    fn own_class_path(&self, workload: &Workload, names: &Names) -> Vec<PathBuf> {
        let path = |text: &Placed<String>| {
            let filled = names.fill(text, &[], self.problems)?;
            Some(text.place.directory().join(filled.text))
        };
        match &workload.kind {
            Kind::Lookback { .. } => {
                let workloads = &self.around.tools.workloads;
                vec![workloads.join("lookback-workloads.jar"), workloads.join("lib/*")]
            }
            Kind::Dacapo { jar, .. } | Kind::Renaissance { jar, .. } => path(jar).into_iter().collect(),
            Kind::Java { class_path, .. } => class_path.iter().filter_map(path).collect(),
            Kind::Command { .. } => Vec::new(),
        }
    }

    fn add_to_class_path(&self, entry: &Path, start: &mut Start) {
        let Ok(entries) = class_path_entries(entry) else {
            self.miss(entry.parent().unwrap_or(entry), "a directory of the class path");
            start.class_path.push(entry.to_owned());
            return;
        };
        for entry in entries {
            let name = entry.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            start.class_path_hashes.push((name, self.hash(&entry, "an entry of the class path")));
            start.class_path.push(entry);
        }
    }

    /// Hashes of the files that options, command and environment name.
    fn files(&self, workload: &Workload, start: &Start) -> Vec<String> {
        let mut files = BTreeSet::new();
        for option in &start.options {
            // What lies in the invocation's directory is made by the invocation; the agent is seen to below.
            let own = |file: &&str| file.contains("{dir}") || Path::new(file) == self.around.tools.agent;
            let named = files_of_option(&option.text).into_iter().filter(|file| !own(file));
            files.extend(named.map(|file| self.hash(Path::new(file), "an agent or boot jar")));
        }
        let texts = start.options.iter().chain(&start.command).chain(start.env.values());
        if texts.clone().any(|text| text.stable.contains("{lookback}")) {
            files.insert(self.hash(&self.around.tools.agent, "the agent"));
        }
        let program = match workload.kind {
            Kind::Command { .. } => start.command.first(),
            _ => start.wrapper.first(),
        };
        for program in program.into_iter().chain(start.rehearsal.first()) {
            if program.text.contains('/') {
                files.insert(self.hash(Path::new(&program.text), "a program"));
            }
        }
        files.into_iter().collect()
    }

    fn hash(&self, path: &Path, what: &'static str) -> String {
        self.hashes.of(path).unwrap_or_else(|| {
            self.miss(path, what);
            "missing".into()
        })
    }

    fn miss(&self, path: &Path, what: &'static str) {
        self.missing.borrow_mut().insert(Missing::File { path: path.to_owned(), what });
    }
}

/// A program with its arguments, where it lies: a name without a slash is looked for in PATH, as a shell does.
fn located(program: Vec<Placed<Filled>>) -> Vec<Filled> {
    let place = program.first().map(|text| text.place.clone());
    let mut words: Vec<Filled> = program.into_iter().map(|text| text.value).collect();
    if let (Some(first), Some(place)) = (words.first_mut(), place)
        && first.text.contains('/')
    {
        first.text = place.directory().join(&first.text).display().to_string();
    }
    words
}
