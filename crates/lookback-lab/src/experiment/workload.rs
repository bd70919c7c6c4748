//! A workload as an experiment file describes it, and the command that runs it.
//!
//! The constraint that shaped it: an iteration is bracketed by the program that runs it, through the harness; what a
//! program cannot bracket is measured as one process, one iteration. So each kind says which of the two it is.

use super::catalog;
use super::document::{Entry, Node, Value};
use super::fields::{Fields, text_of};
use super::problem::{Place, Placed, Problems, meant};
use std::collections::BTreeMap;
use std::time::Duration;

/// A workload of an experiment.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    pub(crate) name: Placed<String>,
    pub(crate) kind: Kind,
    pub(crate) options: Vec<Placed<String>>,
    pub(crate) arguments: Vec<Placed<String>>,
    /// What starts the JVM.
    pub(crate) wrapper: Vec<Placed<String>>,
    pub(crate) env: Vec<(String, Placed<String>)>,
    pub(crate) iterations: u32,
    /// Counted from 1, ascending.
    pub(crate) measured: Vec<u32>,
    pub(crate) checksum: Checksum,
    pub(crate) timeout: Duration,
    pub(crate) harness: bool,
    /// Configurations of its own, with their sets; none takes the experiment's.
    pub(crate) configurations: Option<Vec<Placed<String>>>,
}

/// What runs.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// One of `java/workloads`.
    Lookback { workload: String, size: String },
    /// DaCapo 9.12 or Chopin.
    Dacapo { jar: Placed<String>, benchmark: String, size: String },
    /// Renaissance.
    Renaissance { jar: Placed<String>, benchmark: String },
    /// Any main class.
    Java { class_path: Vec<Placed<String>>, main: String },
    /// Any program.
    Command { program: Vec<Placed<String>> },
}

/// What a program's output must end with: one for all JDKs, or one a JDK.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checksum {
    all: Option<String>,
    by_jdk: BTreeMap<String, Placed<String>>,
}

impl Checksum {
    /// The checksum on this JDK, where it is known.
    pub(crate) fn on(&self, jdk: &str) -> Option<String> {
        self.by_jdk.get(jdk).map(|text| text.value.clone()).or_else(|| self.all.clone())
    }

    /// The JDKs that it names.
    pub(crate) fn jdks(&self) -> impl Iterator<Item = (&str, &Place)> {
        self.by_jdk.iter().map(|(jdk, text)| (jdk.as_str(), &text.place))
    }
}

/// What workloads have unless they say otherwise: the experiment's own keys.
#[derive(Debug, Clone)]
pub(crate) struct Defaults {
    pub(crate) iterations: u32,
    pub(crate) measured: Option<Node>,
    pub(crate) size: String,
    pub(crate) timeout: Duration,
}

/// The most iterations of an invocation.
pub(crate) const MOST_ITERATIONS: u32 = 10_000;
/// The sizes of the lab's own workloads.
pub(crate) const SIZES: [&str; 2] = ["default", "small"];
const KINDS: [&str; 5] = ["lookback", "dacapo", "renaissance", "java", "command"];

impl Workload {
    /// One of the lab's own, of which the file says nothing.
    pub(crate) fn own(name: &Placed<String>, defaults: &Defaults, problems: &Problems) -> Workload {
        let node = Node { value: Value::Table(Vec::new()), place: name.place.clone() };
        let entry = Entry { key: name.clone(), node };
        read(&entry, defaults, problems).expect("an empty table describes one of the lab's own")
    }
}

/// Reads an entry of `[workloads]`.
pub(crate) fn read(entry: &Entry, defaults: &Defaults, problems: &Problems) -> Option<Workload> {
    let name = entry.key.clone();
    if !is_word(&name.value) {
        problems.say(&name.place, format!("a workload's name is {WORD}, not `{}`", name.value));
        return None;
    }
    let fields = Fields::of(&entry.node, "a workload", problems)?;
    let kind_name = KINDS[fields.word("kind", &KINDS).unwrap_or(0)];
    let what = format!("a workload of kind `{kind_name}`");
    let kind = kind(kind_name, &fields, &name, defaults, problems);
    let jvm = kind_name != "command";
    let whole = !jvm || (kind_name == "java" && !fields.boolean("harness").unwrap_or(false));
    let iterations =
        if whole { 1 } else { fields.count("iterations", MOST_ITERATIONS).unwrap_or(defaults.iterations) };
    let own = if whole { None } else { fields.node("measured").or(defaults.measured.as_ref()) };
    let measured = match own {
        Some(node) => measured(node, iterations, &name, problems).unwrap_or_else(|| vec![iterations]),
        None => vec![iterations],
    };
    let workload = Workload {
        options: if jvm { fields.texts("options").unwrap_or_default() } else { Vec::new() },
        arguments: fields.texts("arguments").unwrap_or_default(),
        wrapper: if jvm { fields.texts("wrapper").unwrap_or_default() } else { Vec::new() },
        env: fields.table_of_texts("env").unwrap_or_default(),
        iterations,
        measured,
        checksum: checksum(&fields, problems),
        timeout: fields.duration("timeout").unwrap_or(defaults.timeout),
        harness: jvm && fields.boolean("harness").unwrap_or(kind_name != "java"),
        configurations: fields.texts("configurations"),
        // Without one, all else of it is still read for what is wrong with it.
        kind: kind.clone().unwrap_or(Kind::Command { program: Vec::new() }),
        name,
    };
    let once =
        "the whole process is its one iteration; `harness = true` is for a main class that calls the harness";
    let jvm_only = "a program by itself has no JVM options";
    let also: &[(&str, &str)] = if whole {
        &[("iterations", once), ("measured", once), ("options", jvm_only), ("wrapper", jvm_only)]
    } else {
        &[]
    };
    fields.finish(&what, also);
    kind.map(|_| workload)
}

/// A name that can stand in file names and tables.
pub(crate) const WORD: &str = "a word of letters, digits, `.`, `_` and `-`";

/// Whether it is a [`WORD`].
pub(crate) fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(fits)
}

fn kind(
    kind: &str,
    fields: &Fields<'_>,
    name: &Placed<String>,
    defaults: &Defaults,
    problems: &Problems,
) -> Option<Kind> {
    let needed = |key: &'static str| {
        let text = fields.text(key);
        if text.is_none() && fields.node(key).is_none() {
            problems.say(&name.place, format!("workload `{}` of kind `{kind}` needs `{key}`", name.value));
        }
        text
    };
    let benchmark =
        || fields.text("benchmark").map_or_else(|| name.value.clone(), |benchmark| benchmark.value);
    let size = || fields.text("size").map_or_else(|| "default".to_owned(), |size| size.value);
    Some(match kind {
        "lookback" => {
            let own = fields.text("workload");
            let workload = own.as_ref().unwrap_or(name);
            if catalog::find(&workload.value).is_none() {
                let hint = meant(&workload.value, catalog::names());
                let said = format!("the lab has no workload `{}`{hint}", workload.value);
                problems.say(&workload.place, said);
            }
            let size = fields.word("size", &SIZES);
            let size = size.map_or_else(|| defaults.size.clone(), |size| SIZES[size].to_owned());
            Kind::Lookback { workload: workload.value.clone(), size }
        }
        "dacapo" => Kind::Dacapo { benchmark: benchmark(), size: size(), jar: needed("jar")? },
        "renaissance" => Kind::Renaissance { benchmark: benchmark(), jar: needed("jar")? },
        "java" => Kind::Java {
            class_path: fields.texts("class-path").unwrap_or_default(),
            main: needed("main")?.value,
        },
        _ => {
            let program = fields.texts("program").unwrap_or_default();
            if program.is_empty() {
                let said = "needs `program`, an array with at least a name";
                problems.say(&name.place, format!("workload `{}` of kind `command` {said}", name.value));
                return None;
            }
            Kind::Command { program }
        }
    })
}

fn checksum(fields: &Fields<'_>, problems: &Problems) -> Checksum {
    let Some(node) = fields.node("checksum") else { return Checksum::default() };
    match &node.value {
        Value::Text(text) => Checksum { all: Some(text.clone()), by_jdk: BTreeMap::new() },
        Value::Table(_) => {
            let by_jdk = fields.table_of_texts("checksum").unwrap_or_default();
            Checksum { all: None, by_jdk: by_jdk.into_iter().collect() }
        }
        other => {
            let said = format!("`checksum` is a string, or a table with one a JDK, not {}", other.kind());
            problems.say(&node.place, said);
            Checksum::default()
        }
    }
}

/// Reads the measured iterations: `5`, `"4-5"`, or an array of both.
fn measured(
    node: &Node,
    iterations: u32,
    workload: &Placed<String>,
    problems: &Problems,
) -> Option<Vec<u32>> {
    let items = match &node.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut all = Vec::new();
    for item in items {
        let Some((low, high)) = range(item) else {
            problems.say(&item.place, "`measured` has numbers of iterations, 5, and ranges, \"4-5\"");
            return None;
        };
        if low == 0 || low > high {
            problems.say(&item.place, "iterations count from 1, and a range goes up");
            return None;
        }
        if high > iterations {
            let runs = if iterations == 1 { "1 iteration" } else { &format!("{iterations} iterations") };
            let said = format!("iteration {high} is measured, and workload `{}` runs {runs}", workload.value);
            problems.say(&item.place, said);
            return None;
        }
        all.extend(low..=high);
    }
    if all.is_empty() {
        problems.say(&node.place, "at least one iteration is measured");
        return None;
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

fn range(node: &Node) -> Option<(u32, u32)> {
    if let Value::Integer(number) = node.value {
        let number = u32::try_from(number).ok()?;
        return Some((number, number));
    }
    let text = text_of(node)?.value;
    let (low, high) = text.split_once('-').unwrap_or((&text, &text));
    Some((low.trim().parse().ok()?, high.trim().parse().ok()?))
}
