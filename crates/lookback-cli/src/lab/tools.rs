//! Where the lab's own files are: harness, workloads, agent.
//!
//! The constraint that shaped it: a plan can be shown before anything is built, so a file that is not there is no error
//! here; the place at which it is expected is told by whoever needs it.

use crate::agent;
use clap::Args;
use lookback_lab::experiment::{Surroundings, Tools};
use lookback_lab::run::Harness;
use std::path::{Path, PathBuf};

/// Where the lab's own files are, when they are not where they are looked for.
#[derive(Debug, Clone, Args)]
pub(crate) struct ToolsArgs {
    /// liblookback.so, for `{lookback}`; also in LOOKBACK_AGENT
    #[arg(long, value_name = "FILE", help_heading = "Files of the lab")]
    agent: Option<PathBuf>,
    /// liblookback_harness.so; also in LOOKBACK_HARNESS
    #[arg(long, value_name = "FILE", help_heading = "Files of the lab")]
    harness: Option<PathBuf>,
    /// lookback-harness.jar; also in LOOKBACK_HARNESS_JAR
    #[arg(long, value_name = "FILE", help_heading = "Files of the lab")]
    harness_jar: Option<PathBuf>,
    /// Directory with lookback-workloads.jar and lib/; also in LOOKBACK_WORKLOADS
    #[arg(long, value_name = "DIR", help_heading = "Files of the lab")]
    workloads: Option<PathBuf>,
}

impl ToolsArgs {
    /// This machine with the lab's files on it.
    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings::here(self.tools())
    }

    /// The harness; none when either file is not there.
    pub(crate) fn harness(&self) -> Option<Harness> {
        let Tools { harness, harness_jar, .. } = self.tools();
        let there = harness.is_file() && harness_jar.is_file();
        there.then_some(Harness { library: harness, jar: harness_jar })
    }

    /// The arguments that were given, for another command on this machine.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let given = [
            ("--agent", &self.agent),
            ("--harness", &self.harness),
            ("--harness-jar", &self.harness_jar),
            ("--workloads", &self.workloads),
        ];
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let named = given.into_iter().filter_map(|(option, path)| Some((option, absolute(path.as_ref()?))));
        named.flat_map(|(option, path)| [option.into(), path.to_string_lossy().into_owned()]).collect()
    }

    fn tools(&self) -> Tools {
        let places = Places::here();
        let find = |given: &Option<PathBuf>, variable: &str, installed: &str, built: &str| {
            let named = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
            match given.clone().or(named) {
                // An invocation has a current directory of its own.
                Some(path) => std::path::absolute(&path).unwrap_or(path),
                None => first(places.of(installed, built)),
            }
        };
        let jar = "java/harness/target/lookback-harness.jar";
        Tools {
            agent: find(&self.agent, agent::VARIABLE, agent::NAME, "target/release/liblookback.so"),
            harness: find(
                &self.harness,
                "LOOKBACK_HARNESS",
                "liblookback_harness.so",
                "target/release/liblookback_harness.so",
            ),
            harness_jar: find(&self.harness_jar, "LOOKBACK_HARNESS_JAR", "lookback-harness.jar", jar),
            workloads: find(&self.workloads, "LOOKBACK_WORKLOADS", "workloads", "java/workloads/target"),
        }
    }
}

/// The first that is there, or else the last: where it would be built, or where it would be installed.
fn first(mut places: Vec<PathBuf>) -> PathBuf {
    let there = places.iter().position(|path| path.exists()).unwrap_or(places.len().saturating_sub(1));
    if places.is_empty() { PathBuf::new() } else { places.swap_remove(there) }
}

/// Directories that the lab's files are looked for in.
struct Places {
    /// As `make install` leaves them: beside the executable, `../lib`, `../lib/lookback`.
    installed: Vec<PathBuf>,
    /// Of the sources: the current directory and those above it, then those above the executable.
    sources: Vec<PathBuf>,
}

impl Places {
    fn here() -> Places {
        let executable = std::env::current_exe().and_then(std::fs::canonicalize).ok();
        let beside = executable.as_deref().and_then(Path::parent);
        let installed = beside.map(|beside| {
            let prefix = beside.parent().unwrap_or(beside);
            vec![beside.to_owned(), prefix.join("lib"), prefix.join("lib/lookback")]
        });
        let current = std::env::current_dir().ok();
        let above = [current.as_deref(), beside].into_iter().flatten().flat_map(Path::ancestors);
        let sources = above.filter(|dir| dir.join("java/workloads/pom.xml").is_file()).map(Path::to_owned);
        Places { installed: installed.unwrap_or_default(), sources: sources.collect() }
    }

    fn of(&self, installed: &str, built: &str) -> Vec<PathBuf> {
        let installed = self.installed.iter().map(|dir| dir.join(installed));
        let built = self.sources.iter().map(|dir| dir.join(built));
        // The command's own files count first: those it was built or installed with.
        installed.chain(built).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_counts_and_else_the_place_where_it_would_be() {
        let places = || vec![PathBuf::from("/absent/a"), PathBuf::from("/"), PathBuf::from("/absent/b")];
        assert_eq!(first(places()), Path::new("/"));
        assert_eq!(
            first(places().into_iter().filter(|path| path != Path::new("/")).collect()),
            Path::new("/absent/b")
        );
        assert_eq!(first(Vec::new()), Path::new(""));
    }
}
