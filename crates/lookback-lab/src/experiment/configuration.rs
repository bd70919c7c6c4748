//! A configuration: a JDK and modifiers, `17|g1|lookback`, put together.
//!
//! The constraint that shaped it: what a configuration does not say, it must not do. Options come in the order in which
//! they are written, an included modifier's before its own, so that what is run can be read off the file.

use super::modifier::{self, Modifier, Modifiers, Use};
use super::placeholders::{Filled, Meanings, Names, fill};
use super::problem::{Place, Placed, Problems, listed};
use std::collections::BTreeMap;

/// A configuration whose words are known.
#[derive(Debug, Clone)]
pub(crate) struct Configuration<'a> {
    pub(crate) place: Place,
    /// The JDK's name; none for programs without a JVM.
    pub(crate) jdk: Option<String>,
    /// Its modifiers as they are written, joined by `|`.
    pub(crate) name: String,
    /// Its modifiers with those they include, in the order in which they count.
    pub(crate) uses: Vec<Use<'a>>,
}

/// The name of a configuration without modifiers; a file may write it, and it adds nothing.
pub(crate) const PLAIN: &str = "default";

/// What a configuration's modifiers add, with placeholders filled.
#[derive(Debug, Clone, Default)]
pub(crate) struct Added {
    pub(crate) options: Vec<Filled>,
    pub(crate) arguments: Vec<Filled>,
    pub(crate) env: BTreeMap<String, Filled>,
    pub(crate) class_path: Vec<Placed<Filled>>,
    pub(crate) mocked_memory: Option<(u64, u64)>,
    /// Program and arguments of the rehearsal; a path of the program is not resolved.
    pub(crate) rehearsal: Vec<Placed<Filled>>,
}

/// Reads a configuration whose sets are expanded. `is_jdk` tells the names of JDKs.
pub(crate) fn read<'a>(
    text: &Placed<String>,
    is_jdk: impl Fn(&str) -> bool,
    modifiers: &'a Modifiers,
    problems: &Problems,
) -> Option<Configuration<'a>> {
    let mut words: Vec<&str> = text.value.split('|').map(str::trim).collect();
    if words.iter().any(|word| word.is_empty()) {
        problems.say(&text.place, format!("`{}` has nothing before or behind a `|`", text.value));
        return None;
    }
    let jdk = is_jdk(words[0]).then(|| words.remove(0).to_owned());
    words.retain(|word| *word != PLAIN);
    let mut uses = Vec::new();
    let before = problems_of(&words, modifiers, &mut uses);
    for why in &before {
        problems.say(&text.place, format!("{why} (in `{}`)", text.value));
    }
    if !before.is_empty() {
        return None;
    }
    for why in conflicts(&words, &uses) {
        problems.say(&text.place, format!("{why} (in `{}`)", text.value));
    }
    let name = if words.is_empty() { PLAIN.to_owned() } else { words.join("|") };
    Some(Configuration { place: text.place.clone(), jdk, name, uses })
}

fn problems_of<'a>(words: &[&str], modifiers: &'a Modifiers, uses: &mut Vec<Use<'a>>) -> Vec<String> {
    words.iter().filter_map(|word| include(word, modifiers, uses, &mut Vec::new()).err()).collect()
}

/// Adds what a word means, those it includes first. `path` are the modifiers that include this one.
fn include<'a>(
    word: &str,
    modifiers: &'a Modifiers,
    uses: &mut Vec<Use<'a>>,
    path: &mut Vec<&'a str>,
) -> Result<(), String> {
    let found = modifier::find(word, modifiers)?;
    let name = found.modifier.name.value.as_str();
    if path.contains(&name) {
        return Err(format!("modifier `{name}` includes itself"));
    }
    // What is included twice, by two ways, counts once.
    let same = |known: &Use<'_>| known.modifier.name.value == name && known.parameters == found.parameters;
    if !path.is_empty() && uses.iter().any(same) {
        return Ok(());
    }
    path.push(name);
    for included in &found.modifier.include {
        let meanings = Meanings { parameters: &found.parameters, paths: &[] };
        include(&fill(&included.value, meanings)?.text, modifiers, uses, path)?;
    }
    path.pop();
    uses.push(found);
    Ok(())
}

fn conflicts(words: &[&str], uses: &[Use<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for (i, word) in words.iter().enumerate() {
        if words[..i].contains(word) {
            found.push(format!("modifier `{word}` stands twice"));
        }
    }
    let mut only_one = |what: &str, of: fn(&Modifier) -> Option<&String>| {
        let named: Vec<_> = uses.iter().filter(|used| of(used.modifier).is_some()).collect();
        let names: Vec<_> = named.iter().map(|used| used.modifier.name.value.as_str()).collect();
        if named.len() > 1 && names.iter().any(|name| *name != names[0]) {
            found.push(format!("{} are {what}s, and a configuration has one", listed(&names)));
        }
    };
    only_one("collector", |modifier| modifier.collector.as_ref());
    only_one("tracer", |modifier| modifier.tracer.as_ref());
    only_one("rehearsal", |modifier| (!modifier.rehearsal.is_empty()).then_some(&modifier.name.value));
    only_one("mocked memory", |modifier| modifier.mocked_memory.as_ref().map(|_| &modifier.name.value));
    for used in uses {
        let name = &used.modifier.name.value;
        let there = |other: &&Placed<String>| uses.iter().any(|used| used.modifier.name.value == other.value);
        for other in used.modifier.excludes.iter().filter(there) {
            let (first, second) = (name.min(&other.value), name.max(&other.value));
            found.push(format!("modifiers `{first}` and `{second}` exclude each other"));
        }
    }
    found
}

impl Configuration<'_> {
    /// The JDK and the name, as a file writes it.
    pub(crate) fn full_name(&self) -> String {
        match &self.jdk {
            Some(jdk) if self.name == PLAIN => jdk.clone(),
            Some(jdk) => format!("{jdk}|{}", self.name),
            None => self.name.clone(),
        }
    }

    /// What its modifiers name of this kind, if any does.
    pub(crate) fn named<T>(&self, of: impl Fn(&Modifier) -> Option<T>) -> Option<T> {
        self.uses.iter().find_map(|used| of(used.modifier))
    }

    /// The first modifier that this release cannot run, in words.
    pub(crate) fn impossible_on(&self, jdk: &str, feature: u32) -> Option<String> {
        let cannot = |used: &Use<'_>| {
            let versions = used.modifier.versions.filter(|versions| !versions.contain(feature))?;
            Some(format!(
                "modifier `{}` needs Java {versions}, and JDK `{jdk}` is {feature}",
                used.modifier.name.value
            ))
        };
        self.uses.iter().find_map(cannot)
    }

    /// The first modifier that changes a JVM, for a program that has none.
    pub(crate) fn needs_jvm(&self) -> Option<&str> {
        let needs = |modifier: &Modifier| {
            !modifier.options.is_empty()
                || !modifier.on.is_empty()
                || !modifier.class_path.is_empty()
                || modifier.agent.is_some()
                || modifier.mocked_memory.is_some()
        };
        self.uses
            .iter()
            .map(|used| used.modifier)
            .find(|modifier| needs(modifier))
            .map(|m| m.name.value.as_str())
    }

    /// Those of its modifiers that name a collector: what a minimum heap is found with.
    pub(crate) fn collector_only(&self) -> Configuration<'_> {
        let uses: Vec<_> =
            self.uses.iter().filter(|used| used.modifier.collector.is_some()).cloned().collect();
        let name = uses.first().map_or_else(|| PLAIN.to_owned(), |used| used.word());
        Configuration { place: self.place.clone(), jdk: self.jdk.clone(), name, uses }
    }

    /// What its modifiers add on this release.
    pub(crate) fn added(&self, feature: Option<u32>, names: &Names, problems: &Problems) -> Added {
        let mut added = Added::default();
        for Use { modifier, parameters } in &self.uses {
            let filled = |text: &Placed<String>| names.fill(text, parameters, problems);
            let now =
                |versions: &modifier::Versions| feature.is_some_and(|feature| versions.contain(feature));
            let on =
                modifier.on.iter().filter(|(versions, _)| now(versions)).flat_map(|(_, options)| options);
            added.options.extend(on.chain(&modifier.options).filter_map(filled));
            added
                .options
                .extend(modifier.agent.iter().filter_map(filled).map(|agent| agent.behind("-agentpath:")));
            added.arguments.extend(modifier.arguments.iter().filter_map(filled));
            for (name, text) in &modifier.env {
                added.env.extend(filled(text).map(|value| (name.clone(), value)));
            }
            added.class_path.extend(
                modifier
                    .class_path
                    .iter()
                    .filter_map(|text| Some(Placed { value: filled(text)?, place: text.place.clone() })),
            );
            added.rehearsal.extend(
                modifier
                    .rehearsal
                    .iter()
                    .filter_map(|text| Some(Placed { value: filled(text)?, place: text.place.clone() })),
            );
            added.mocked_memory = added.mocked_memory.or(modifier.mocked_memory);
        }
        added
    }
}

impl Use<'_> {
    /// The word of a configuration that means this.
    fn word(&self) -> String {
        let mut word = self.modifier.name.value.clone();
        for value in &self.parameters {
            word.push('-');
            word.push_str(value);
        }
        word
    }
}
