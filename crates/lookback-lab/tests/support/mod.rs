//! A machine made up for tests: JDKs, the lab's own files, cores and memory, in a temporary directory.
//!
//! The constraint: what a test sees may not depend on the machine that it runs on.

#![allow(dead_code, reason = "each test program uses its part")]

use lookback_lab::experiment::{
    MinimumHeaps, NoMinimumHeaps, Problem, Resolved, Surroundings, Tools, resolve,
};
use lookback_lab::plan::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A machine with JDK 17 and 25, four cores and 8 GiB.
pub(crate) struct Machine {
    directory: tempfile::TempDir,
    pub(crate) around: Surroundings,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path();
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for (feature, version) in [(17, "17.0.15+6-Debian"), (25, "25.0.3+9-LTS")] {
            put(&format!("jvm/jdk-{feature}/release"), &format!("JAVA_RUNTIME_VERSION=\"{version}\"\n"));
            put(&format!("jvm/jdk-{feature}/bin/java"), "");
            put(&format!("jvm/jdk-{feature}/lib/server/libjvm.so"), version);
        }
        for file in ["liblookback.so", "harness.so", "harness.jar"] {
            put(file, file);
        }
        for jar in ["lookback-workloads.jar", "lib/b.jar", "lib/a.jar", "lib/notes.txt"] {
            put(&format!("workloads/{jar}"), jar);
        }
        let tools = Tools {
            harness: root.join("harness.so"),
            harness_jar: root.join("harness.jar"),
            workloads: root.join("workloads"),
            agent: root.join("liblookback.so"),
        };
        let around = Surroundings {
            tools,
            java_homes: BTreeMap::new(),
            jdk_roots: vec![root.join("jvm")],
            cores: vec![0, 1, 2, 3],
            memory: 8 << 30,
        };
        Machine { directory, around }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file of the experiment's directory.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Resolves a text as an experiment file; `Err` has its problems.
    pub(crate) fn resolve(&self, text: &str) -> Result<Resolved, Vec<Problem>> {
        self.resolve_with(text, &NoMinimumHeaps)
    }

    pub(crate) fn resolve_with(
        &self,
        text: &str,
        minima: &dyn MinimumHeaps,
    ) -> Result<Resolved, Vec<Problem>> {
        let path = self.write("experiment.toml", text);
        self.resolve_file(&path, minima)
    }

    pub(crate) fn resolve_file(
        &self,
        path: &Path,
        minima: &dyn MinimumHeaps,
    ) -> Result<Resolved, Vec<Problem>> {
        resolve(path, &self.around, minima).map_err(|error| match error {
            lookback_lab::Error::Experiment { problems, .. } => problems,
            other => panic!("{other}"),
        })
    }

    /// The cells of a text that is valid.
    #[track_caller]
    pub(crate) fn cells(&self, text: &str) -> Vec<Cell> {
        self.resolve(text).unwrap_or_else(|problems| panic!("{}", lines(&problems))).plan.cells
    }

    /// A text without the paths of this machine.
    pub(crate) fn anonymous(&self, text: &str) -> String {
        text.replace(&self.directory.path().display().to_string(), "MACHINE")
    }
}

/// Problems, a line each.
pub(crate) fn lines(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

/// Minimum heaps by workload and collector, in MiB.
pub(crate) struct Minima(pub(crate) &'static [(&'static str, &'static str, u64)]);

impl MinimumHeaps for Minima {
    fn minimum(&self, workload: &str, _: &[String], _: &str, collector: &str) -> Option<u64> {
        let found = self.0.iter().find(|(name, with, _)| (*name, *with) == (workload, collector));
        found.map(|(_, _, mib)| mib << 20)
    }
}
