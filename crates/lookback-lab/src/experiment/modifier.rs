//! A modifier: a named change of a configuration. Options, arguments, environment, an agent, a collector's name.
//!
//! The constraint that shaped it: configurations are composed of modifiers and compared by them, so a modifier must
//! say what it is: two collectors or two tracers in one configuration are refused, and so is a release that cannot run
//! it. The built-in ones are an experiment file as well (`modifiers.toml`), read by this same code.

use super::document::Entry;
use super::fields::{Fields, bytes_of, texts_of};
use super::placeholders::parameters;
use super::problem::{Placed, Problems, meant_or};
use lookback_options::format_bytes;
use std::collections::BTreeMap;
use std::fmt;

/// A modifier as it is written.
#[derive(Debug, Clone)]
pub(crate) struct Modifier {
    pub(crate) name: Placed<String>,
    pub(crate) about: String,
    /// JVM options.
    pub(crate) options: Vec<Placed<String>>,
    /// JVM options on some releases only; they stand before the others, which may need them to be unlocked.
    pub(crate) on: Vec<(Versions, Vec<Placed<String>>)>,
    /// Arguments of the program.
    pub(crate) arguments: Vec<Placed<String>>,
    pub(crate) env: Vec<(String, Placed<String>)>,
    pub(crate) class_path: Vec<Placed<String>>,
    /// `PATH=OPTIONS` of an agent.
    pub(crate) agent: Option<Placed<String>>,
    /// Program and arguments that run before an invocation, with its command line behind them.
    pub(crate) rehearsal: Vec<Placed<String>>,
    pub(crate) collector: Option<String>,
    pub(crate) tracer: Option<String>,
    /// What `maxMemory` and `totalMemory` answer, bytes.
    pub(crate) mocked_memory: Option<(u64, u64)>,
    /// Modifiers that it begins with.
    pub(crate) include: Vec<Placed<String>>,
    /// Modifiers that it does not go with.
    pub(crate) excludes: Vec<Placed<String>>,
    pub(crate) versions: Option<Versions>,
    /// How many parameters follow its name: `threads-2` has one.
    pub(crate) parameters: usize,
}

/// A modifier for a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModifierFacts {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// The releases of Java that run it; empty for all.
    pub versions: String,
    /// What it adds to the command line, as it is written.
    pub adds: Vec<String>,
}

/// Feature releases of Java: from the first to the last, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Versions {
    from: u32,
    to: u32,
}

impl Versions {
    fn parse(text: &str) -> Option<Versions> {
        let number = |text: &str, open: u32| match text {
            "" => Some(open),
            text => text.parse().ok(),
        };
        let versions = match text.split_once("..") {
            Some((from, to)) => Versions { from: number(from, 0)?, to: number(to, u32::MAX)? },
            None => {
                let one = text.parse().ok()?;
                Versions { from: one, to: one }
            }
        };
        (versions.from <= versions.to).then_some(versions)
    }

    pub(crate) fn contain(self, feature: u32) -> bool {
        (self.from..=self.to).contains(&feature)
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (from, to) if from == to => write!(f, "{from}"),
            (from, u32::MAX) => write!(f, "{from} or newer"),
            (0, to) => write!(f, "{to} or older"),
            (from, to) => write!(f, "{from} to {to}"),
        }
    }
}

/// Reads an entry of `[modifiers]`.
pub(crate) fn read(entry: &Entry, problems: &Problems) -> Option<Modifier> {
    let name = entry.key.clone();
    if name.value.is_empty() || name.value.contains(['|', '{', '}', ',']) {
        problems.say(&name.place, "a modifier's name cannot be empty or have any of `|{},`");
        return None;
    }
    let fields = Fields::of(&entry.node, "a modifier", problems)?;
    let word = |key| fields.text(key).map(|text| text.value);
    let modifier = Modifier {
        about: word("about").unwrap_or_default(),
        options: fields.texts("options").unwrap_or_default(),
        on: fields.entries("on").iter().filter_map(|entry| on(entry, problems)).collect(),
        arguments: fields.texts("arguments").unwrap_or_default(),
        env: fields.table_of_texts("env").unwrap_or_default(),
        class_path: fields.texts("class-path").unwrap_or_default(),
        agent: fields.text("agent"),
        rehearsal: fields.texts("rehearsal").unwrap_or_default(),
        collector: word("collector"),
        tracer: word("tracer"),
        mocked_memory: fields.text("mocked-memory").and_then(|text| mocked(&text, problems)),
        include: fields.texts("include").unwrap_or_default(),
        excludes: fields.texts("excludes").unwrap_or_default(),
        versions: fields.text("versions").and_then(|text| {
            let versions = Versions::parse(&text.value);
            if versions.is_none() {
                let said = format!("`versions` is like \"21..\", \"17..24\" or \"25\", not `{}`", text.value);
                problems.say(&text.place, said);
            }
            versions
        }),
        parameters: 0,
        name,
    };
    fields
        .finish("a modifier", &[("heap", "heaps stand in [heap]"), ("jdk", "a configuration names the JDK")]);
    let texts = modifier.options.iter().chain(&modifier.arguments).chain(&modifier.class_path);
    let texts = texts
        .chain(&modifier.rehearsal)
        .chain(&modifier.agent)
        .chain(modifier.env.iter().map(|(_, text)| text));
    let on = modifier.on.iter().flat_map(|(_, options)| options);
    let mut most = 0;
    for text in texts.chain(on) {
        match parameters(&text.value) {
            Ok(count) => most = most.max(count),
            Err(why) => problems.say(&text.place, why),
        }
    }
    Some(Modifier { parameters: most, ..modifier })
}

fn on(entry: &Entry, problems: &Problems) -> Option<(Versions, Vec<Placed<String>>)> {
    let Some(versions) = Versions::parse(&entry.key.value) else {
        let said = format!("`on` has releases as keys, like \"21..22\", not `{}`", entry.key.value);
        problems.say(&entry.key.place, said);
        return None;
    };
    Some((versions, texts_of("on", &entry.node, problems)?))
}

fn mocked(text: &Placed<String>, problems: &Problems) -> Option<(u64, u64)> {
    let Some((most, total)) = text.value.split_once(':') else {
        problems.say(&text.place, "`mocked-memory` is MAXIMUM:TOTAL, like \"512m:128m\"");
        return None;
    };
    let part = |value: &str| Placed { value: value.to_owned(), place: text.place.clone() };
    let bytes = |value: &str| bytes_of("mocked-memory", &part(value), problems).map(|bytes| bytes.value);
    let (most, total) = (bytes(most)?, bytes(total)?);
    if total > most {
        problems.say(&text.place, "`mocked-memory`: the total is larger than the maximum");
        return None;
    }
    Some((most, total))
}

/// All modifiers of an experiment by name.
pub(crate) type Modifiers = BTreeMap<String, Modifier>;

/// A modifier as a configuration uses it: with the values of its parameters.
#[derive(Debug, Clone)]
pub(crate) struct Use<'a> {
    pub(crate) modifier: &'a Modifier,
    pub(crate) parameters: Vec<String>,
}

/// The modifier that a word of a configuration means: its name, or its name and as many values as it has
/// parameters, joined by `-`.
///
/// # Errors
/// In words.
pub(crate) fn find<'a>(word: &str, modifiers: &'a Modifiers) -> Result<Use<'a>, String> {
    let mut short = None;
    if let Some(modifier) = modifiers.get(word) {
        match modifier.parameters {
            0 => return Ok(Use { modifier, parameters: Vec::new() }),
            count => short = Some((word, count)),
        }
    }
    // The longest name counts: `gc-threads-2` is `gc-threads` with 2, even where there is a `gc`.
    for (at, _) in word.rmatch_indices('-') {
        let (name, values) = (&word[..at], &word[at + 1..]);
        let Some(modifier) = modifiers.get(name).filter(|modifier| modifier.parameters > 0) else { continue };
        let parameters: Vec<_> = values.split('-').map(str::to_owned).collect();
        if parameters.len() == modifier.parameters && parameters.iter().all(|value| !value.is_empty()) {
            return Ok(Use { modifier, parameters });
        }
        short = Some((name, modifier.parameters));
    }
    Err(match short {
        Some((name, count)) => {
            let values = if count == 1 { "VALUE" } else { &vec!["VALUE"; count].join("-") };
            format!("modifier `{name}` is written `{name}-{values}`, not `{word}`")
        }
        None => unknown(word, modifiers),
    })
}

/// That there is no modifier of this name, and which may have been meant.
pub(crate) fn unknown(word: &str, modifiers: &Modifiers) -> String {
    let names = modifiers.keys().map(String::as_str);
    let hint = meant_or(word, names, "`lookback lab modifiers` lists those that are built in");
    format!("unknown modifier `{word}`{hint}")
}

impl Modifier {
    /// For a list.
    pub(crate) fn facts(&self) -> ModifierFacts {
        let mut adds = Vec::new();
        let texts =
            |texts: &[Placed<String>]| texts.iter().map(|text| text.value.clone()).collect::<Vec<_>>();
        adds.extend(self.include.iter().map(|text| format!("modifier {}", text.value)));
        for (versions, options) in &self.on {
            adds.extend(options.iter().map(|option| format!("{} (on {versions})", option.value)));
        }
        adds.extend(texts(&self.options));
        adds.extend(self.agent.iter().map(|agent| format!("-agentpath:{}", agent.value)));
        adds.extend(self.mocked_memory.map(|(most, total)| {
            format!("memory of {} and {} as answers", format_bytes(most), format_bytes(total))
        }));
        adds.extend(self.env.iter().map(|(name, value)| format!("{name}={}", value.value)));
        adds.extend(texts(&self.arguments));
        if !self.rehearsal.is_empty() {
            adds.push(format!("a rehearsal by {}", texts(&self.rehearsal).join(" ")));
        }
        ModifierFacts {
            name: self.name.value.clone(),
            about: self.about.clone(),
            versions: self.versions.map(|versions| versions.to_string()).unwrap_or_default(),
            adds,
        }
    }
}
