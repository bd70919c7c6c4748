//! An experiment file with the files that it includes: all keys read, nothing looked up yet.
//!
//! The constraint that shaped it: experiments share JDKs, modifiers and workloads, and a copy of them would drift. So a
//! file includes others and stands over them: a table of `[jdks]`, `[modifiers]` or `[workloads]` takes the place of the
//! one with its name, `[quiet]` is joined key by key, and any other key of the including file counts.

use super::configuration::PLAIN;
use super::document::{Entry, Node, Value, merge, parse};
use super::fields::Fields;
use super::heap::{self, Heaps};
use super::jdk::{self, Wanted};
use super::modifier::{self, Modifiers};
use super::problem::{Place, Placed, Problems, meant, meant_or};
use super::workload::{self, Defaults, MOST_ITERATIONS, SIZES, WORD, Workload, is_word};
use super::{catalog, surroundings::Surroundings};
use crate::error::{Error, Result};
use crate::metric::{METRICS, is_by_the_clock, metric_of};
use crate::plan::{Order, Pin, Quiet};
use lookback_options::parse_bytes;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// An experiment as its file describes it.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) invocations: u32,
    pub(crate) seed: u64,
    pub(crate) order: Order,
    pub(crate) pin: Pin,
    pub(crate) retries: u32,
    /// 0: each cell runs by itself.
    pub(crate) turns: Duration,
    pub(crate) metrics: Vec<String>,
    pub(crate) quiet: Quiet,
    pub(crate) skip_impossible: bool,
    pub(crate) jdks: Vec<Wanted>,
    /// Names of all JDKs that the file describes, also of those whose description is wrong.
    pub(crate) jdk_names: Vec<String>,
    pub(crate) modifiers: Modifiers,
    /// Those that run, in the order of tables.
    pub(crate) workloads: Vec<Workload>,
    /// With their sets.
    pub(crate) configurations: Vec<Placed<String>>,
    pub(crate) heaps: Heaps,
}

/// How many files may include one another.
const DEPTH: usize = 8;
/// The lab's own metrics that are shown unless the file says otherwise: those that costs are told of.
const SHOWN: [&str; 3] = crate::metric::DISTILLABLE;

/// Reads a file and those it includes as one tree.
///
/// # Errors
/// [`Error::Read`] for the file itself; one that it includes is a problem with a place.
pub(crate) fn tree(path: &Path, problems: &Problems) -> Result<Node> {
    tree_of(path, &mut Vec::new(), problems)
}

/// The file and all that it includes, directly or not, each once, by their real paths.
///
/// # Errors
/// [`Error::Read`] for the file itself; one that it includes and that cannot be read is left out.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    tree_of(path, &mut files, &Problems::default())?;
    Ok(files)
}

fn tree_of(path: &Path, files: &mut Vec<PathBuf>, problems: &Problems) -> Result<Node> {
    let text = fs::read(path).map_err(|error| Error::Read { path: path.to_owned(), error })?;
    Ok(with_includes(path, &text, &mut Vec::new(), files, problems))
}

fn with_includes(
    path: &Path,
    bytes: &[u8],
    above: &mut Vec<PathBuf>,
    files: &mut Vec<PathBuf>,
    problems: &Problems,
) -> Node {
    let file: Arc<Path> = path.into();
    let text = String::from_utf8_lossy(bytes);
    if let std::borrow::Cow::Owned(_) = text {
        problems.say(&Place { file: file.clone(), line: 1, column: 1 }, "it is no text in UTF-8");
    }
    let own = parse(&file, &text, problems);
    let includes = Fields::of(&own, "an experiment", problems).and_then(|fields| fields.texts("include"));
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if !files.contains(&real) {
        files.push(real.clone());
    }
    above.push(real);
    let mut base: Option<Node> = None;
    for include in includes.unwrap_or_default() {
        let path = path.parent().unwrap_or(Path::new("")).join(&include.value);
        let same = fs::canonicalize(&path).is_ok_and(|path| above.contains(&path));
        if same || above.len() >= DEPTH {
            let why = if same { "it includes itself" } else { "files include one another too deeply" };
            problems.say(&include.place, format!("cannot include {}: {why}", include.value));
            continue;
        }
        match fs::read(&path) {
            Ok(bytes) => {
                let node = with_includes(&path, &bytes, above, files, problems);
                base = Some(match base.take() {
                    Some(base) => over(base, node),
                    None => node,
                });
            }
            Err(error) => problems.say(&include.place, format!("cannot include {}: {error}", include.value)),
        }
    }
    above.pop();
    match base {
        Some(base) => over(base, own),
        None => own,
    }
}

fn over(base: Node, file: Node) -> Node {
    merge(base, file, &["jdks", "modifiers", "workloads", "quiet"])
}

/// The built-in modifiers.
pub(crate) fn built_in() -> Modifiers {
    let problems = Problems::default();
    let file: Arc<Path> = Path::new("modifiers.toml").into();
    let node = parse(&file, include_str!("modifiers.toml"), &problems);
    let fields = Fields::of(&node, "the list", &problems).expect("a document is a table");
    let modifiers = fields.entries("modifiers").iter().filter_map(|entry| modifier::read(entry, &problems));
    modifiers.map(|modifier| (modifier.name.value.clone(), modifier)).collect()
}

/// Reads all keys of a tree.
pub(crate) fn read(node: &Node, path: &Path, around: &Surroundings, problems: &Problems) -> File {
    let fields = Fields::of(node, "an experiment", problems).expect("a document is a table");
    // Read with the includes.
    let _ = fields.node("include");
    let defaults = Defaults {
        iterations: fields.count("iterations", MOST_ITERATIONS).unwrap_or(5),
        measured: fields.node("measured").cloned(),
        size: SIZES[fields.word("size", &SIZES).unwrap_or(0)].to_owned(),
        timeout: fields.duration("timeout").unwrap_or(Duration::from_secs(120)),
    };
    let workloads = workloads(&fields, &defaults, problems);
    let mut modifiers = built_in();
    for entry in fields.entries("modifiers") {
        if let Some(modifier) = modifier::read(entry, problems) {
            modifiers.insert(modifier.name.value.clone(), modifier);
        }
    }
    check_names(&modifiers, problems);
    let jdks = fields.entries("jdks").iter();
    let jdk_names = jdks.clone().map(|entry| entry.key.value.clone()).collect();
    let jdks = jdks.filter_map(|entry| jdk::read(entry, &entry.key.place.directory(), problems)).collect();
    let file = File {
        place: fields.place().clone(),
        name: name(&fields, path, problems),
        about: fields.text("about").map(|text| text.value).unwrap_or_default(),
        invocations: fields.count("invocations", 100_000).unwrap_or(15),
        seed: fields.integer("seed", 0..=i64::MAX).and_then(|seed| u64::try_from(seed).ok()).unwrap_or(1),
        order: Order::ALL[fields.word("order", &Order::ALL.map(Order::name)).unwrap_or(0)],
        pin: pin(&fields, around, problems),
        retries: fields.integer("retries", 0..=100).and_then(|n| u32::try_from(n).ok()).unwrap_or(2),
        turns: fields.duration("turns").unwrap_or_default(),
        metrics: metrics(&fields, &workloads, problems),
        quiet: quiet(&fields, problems),
        skip_impossible: fields.boolean("skip-impossible").unwrap_or(false),
        configurations: configurations(&fields, &workloads, problems),
        heaps: fields.node("heap").map(|node| heap::read(node, problems)).unwrap_or_default(),
        jdks,
        jdk_names,
        modifiers,
        workloads,
    };
    fields.finish("an experiment", &[]);
    file
}

fn name(fields: &Fields<'_>, path: &Path, problems: &Problems) -> String {
    let stem = || path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| is_word(stem));
    match fields.text("name") {
        Some(name) => {
            if !is_word(&name.value) {
                problems
                    .say(&name.place, format!("`name` is {WORD}, for it names files, not `{}`", name.value));
            }
            name.value
        }
        None => stem().unwrap_or("experiment").to_owned(),
    }
}

fn pin(fields: &Fields<'_>, around: &Surroundings, problems: &Problems) -> Pin {
    let Some(node) = fields.node("pin") else { return Pin::All };
    let wrong = |place: &Place| problems.say(place, "`pin` is \"all\" or an array of cores, [0, 1]");
    let items = match &node.value {
        Value::Text(text) if text == "all" => return Pin::All,
        Value::List(items) if !items.is_empty() => items,
        _ => {
            wrong(&node.place);
            return Pin::All;
        }
    };
    let mut cores = Vec::new();
    for item in items {
        match item.value {
            Value::Integer(core) => match usize::try_from(core) {
                Ok(core) if cores.contains(&core) => {
                    problems.say(&item.place, format!("core {core} stands twice"));
                }
                Ok(core) if around.cores.contains(&core) => cores.push(core),
                _ => {
                    let there: Vec<_> = around.cores.iter().map(usize::to_string).collect();
                    let said = format!("there is no core {core} to run on; there are {}", there.join(", "));
                    problems.say(&item.place, said);
                }
            },
            _ => wrong(&item.place),
        }
    }
    Pin::Cores(cores)
}

fn metrics(fields: &Fields<'_>, workloads: &[Workload], problems: &Problems) -> Vec<String> {
    let turns = fields.node("turns").is_some();
    let is_told = |name: &str| !turns || !is_by_the_clock(name);
    let Some(asked) = fields.texts("metrics") else {
        return SHOWN.into_iter().filter(|name| is_told(name)).map(str::to_owned).collect();
    };
    // Programs name metrics of their own in what they print, and no file lists those.
    let own = workloads.iter().any(|workload| {
        matches!(workload.kind, workload::Kind::Command { .. } | workload::Kind::Java { .. })
    });
    for (i, metric) in asked.iter().enumerate() {
        if asked[..i].iter().any(|other| other.value == metric.value) {
            problems.say(&metric.place, format!("metric `{}` stands twice", metric.value));
        }
        if !is_told(&metric.value) {
            let said = format!(
                "metric `{}` means nothing with `turns`: it counts the others' turns, too",
                metric.value
            );
            problems.say(&metric.place, said);
        }
        if metric_of(&metric.value).is_none() && !own {
            let names = METRICS.iter().map(|metric| metric.name);
            let hint = meant_or(&metric.value, names, "`lookback lab metrics` lists them");
            problems.say(&metric.place, format!("unknown metric `{}`{hint}", metric.value));
        }
    }
    asked.into_iter().map(|metric| metric.value).collect()
}

fn quiet(fields: &Fields<'_>, problems: &Problems) -> Quiet {
    let rule = Quiet::default();
    let Some(node) = fields.node("quiet") else { return rule };
    let Some(fields) = Fields::of(node, "[quiet]", problems) else { return rule };
    let swap = fields.text("swap").and_then(|text| {
        parse_bytes(&text.value).map_err(|why| problems.say(&text.place, format!("`swap`: {why}"))).ok()
    });
    let quiet = Quiet {
        steal_percent: fields.percent("steal-percent").unwrap_or(rule.steal_percent),
        others_percent: fields.percent("others-percent").unwrap_or(rule.others_percent),
        swap_bytes: swap.unwrap_or(rule.swap_bytes),
        patience: fields.duration("patience").unwrap_or(rule.patience),
    };
    fields.finish("[quiet]", &[]);
    quiet
}

fn configurations(fields: &Fields<'_>, workloads: &[Workload], problems: &Problems) -> Vec<Placed<String>> {
    if let Some(some) = fields.texts("configurations") {
        if some.is_empty() {
            problems.say(fields.place_of("configurations"), "`configurations` is empty");
        }
        return some;
    }
    let without_jvm = |workload: &Workload| matches!(workload.kind, workload::Kind::Command { .. });
    if workloads.iter().all(|workload| workload.configurations.is_some() || without_jvm(workload)) {
        return vec![Placed { value: PLAIN.into(), place: fields.place().clone() }];
    }
    if fields.node("configurations").is_none() {
        problems.say(fields.place(), "`configurations` is missing; for instance [\"17|{serial,g1}\"]");
    }
    Vec::new()
}

/// Those named by `run`; else those described; else all of the lab's own that stand for real programs.
fn workloads(fields: &Fields<'_>, defaults: &Defaults, problems: &Problems) -> Vec<Workload> {
    let entries = fields.entries("workloads");
    let read = |entry: &Entry| workload::read(entry, defaults, problems);
    let own = |name: &Placed<String>| Workload::own(name, defaults, problems);
    let Some(run) = fields.texts("run") else {
        if !entries.is_empty() {
            return entries.iter().filter_map(read).collect();
        }
        let plain = catalog::WORKLOADS.iter().filter(|known| known.plain);
        let placed = |name: &str| Placed { value: name.to_owned(), place: fields.place().clone() };
        return plain.map(|known| own(&placed(known.name))).collect();
    };
    if run.is_empty() {
        problems.say(fields.place_of("run"), "`run` names no workload");
    }
    let all: Vec<_> = entries.iter().filter_map(read).collect();
    let mut chosen: Vec<Workload> = Vec::new();
    for name in &run {
        let described = all.iter().find(|workload| workload.name.value == name.value);
        if chosen.iter().any(|workload| workload.name.value == name.value) {
            problems.say(&name.place, format!("workload `{}` stands twice", name.value));
        } else if let Some(workload) = described {
            chosen.push(workload.clone());
        } else if catalog::find(&name.value).is_some() {
            chosen.push(own(name));
        } else if !entries.iter().any(|entry| entry.key.value == name.value) {
            let known = entries.iter().map(|entry| entry.key.value.as_str()).chain(catalog::names());
            problems
                .say(&name.place, format!("unknown workload `{}`{}", name.value, meant(&name.value, known)));
        }
    }
    chosen
}

/// What modifiers say of each other is about modifiers that there are.
fn check_names(modifiers: &Modifiers, problems: &Problems) {
    for modifier in modifiers.values() {
        for other in &modifier.excludes {
            if !modifiers.contains_key(&other.value) {
                problems.say(&other.place, modifier::unknown(&other.value, modifiers));
            }
        }
        for other in modifier.include.iter().filter(|other| !other.value.contains('{')) {
            if let Err(why) = modifier::find(&other.value, modifiers) {
                problems.say(&other.place, why);
            }
        }
    }
}
