//! The names of the lab's own workloads (`java/workloads`), and a guess of how long they take.
//!
//! The constraint that shaped it: a file is checked without starting a JVM, so the names stand here too; a test holds
//! them against the Java catalogue.

/// A workload of `dev.lookback.workloads.Main`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    /// Whether it stands for real programs; the others check the lab itself.
    pub(crate) plain: bool,
    /// Seconds of an iteration of the default size, a guess for estimates.
    pub(crate) seconds: f64,
}

const fn plain(name: &'static str, seconds: f64) -> Known {
    Known { name, plain: true, seconds }
}

const fn known(name: &'static str, seconds: f64) -> Known {
    Known { name, plain: false, seconds }
}

/// All of them, in the order of tables.
///
/// The seconds are of warm iterations on two virtual cores, rounded up, for the first ones are slower.
pub(crate) const WORKLOADS: &[Known] = &[
    plain("h2", 1.0),
    plain("lucene-index", 1.0),
    plain("lucene-search", 1.5),
    plain("xalan", 1.5),
    plain("jackson", 1.0),
    plain("javac", 2.5),
    plain("ecj", 2.5),
    plain("pmd", 2.0),
    plain("fop", 1.5),
    plain("scalac", 3.0),
    plain("jython", 2.0),
    plain("batik", 1.5),
    plain("saxon", 1.5),
    plain("rhino", 1.5),
    plain("hibernate", 1.5),
    plain("tomcat", 1.5),
    plain("akka", 1.5),
    plain("activemq", 1.5),
    plain("threads", 1.0),
    plain("raytrace", 1.5),
    plain("luaj", 1.0),
    plain("luaj-deep", 1.0),
    plain("gcbench", 1.5),
    known("steady", 0.3),
    known("known-gc", 1.0),
    known("heap-reader", 0.5),
];

/// The workload of this name.
pub(crate) fn find(name: &str) -> Option<&'static Known> {
    WORKLOADS.iter().find(|known| known.name == name)
}

/// All names.
pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    WORKLOADS.iter().map(|known| known.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in the Java catalogue: `new Entry("NAME", ...`.
    fn java() -> Vec<String> {
        let path = "../../java/workloads/src/main/java/dev/lookback/workloads/Catalog.java";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = std::fs::read_to_string(path).unwrap();
        let entries = text.split("new Entry(\"").skip(1);
        entries.filter_map(|entry| entry.split('"').next()).map(str::to_owned).collect()
    }

    #[test]
    fn every_workload_of_the_java_catalogue_is_known() {
        let java = java();
        assert!(java.len() >= 8, "{java:?}");
        for name in &java {
            assert!(find(name).is_some(), "{name} is not in the table");
        }
    }
}
