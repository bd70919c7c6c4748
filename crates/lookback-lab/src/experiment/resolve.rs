//! From an experiment file and a machine to a plan: each workload under each configuration with each heap.
//!
//! The constraint that shaped it: a cell that cannot run is found out now and not after a night, and one that is left
//! out is told with the line that left it out. What is merely not there yet (a jar that is not built, a minimum heap that
//! was not looked for) is told apart, so that a plan can be shown before all is ready.

use super::configuration::{self, Configuration};
use super::file::File;
use super::heap::{Choice, Of, sized};
use super::identity::{Hashes, Identity};
use super::launch::{Launcher, Start};
use super::minimum::{HeapSearch, MinimumHeaps, Missing};
use super::problem::{Place, Placed, Problem, Problems};
use super::surroundings::Surroundings;
use super::workload::{Kind, Workload};
use super::{braces, jdk};
use crate::plan::{Cell, HeapSize, Jdk, Plan};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// A file resolved on this machine.
#[derive(Debug)]
pub struct Resolved {
    /// The plan. Cells whose minimum heap is missing are not in it.
    pub plan: Plan,
    /// What has to be there before it can run.
    pub missing: Vec<Missing>,
    /// What was left out, and why: combinations that cannot run, JDKs that are optional and not there.
    pub skipped: Vec<Problem>,
    /// What is to be known before heaps can be multiples, one for each workload, JDK and collector; also those that are
    /// known already.
    pub searches: Vec<HeapSearch>,
}

/// An experiment of more invocations than this is a typing error: at five seconds each it takes eleven days.
const MOST_INVOCATIONS: usize = 200_000;
/// The part of the machine's memory that a heap may have: the JVM itself and the system need the rest.
const HEAP_SHARE: f64 = 0.75;

pub(crate) struct Resolver<'a> {
    pub(crate) file: &'a File,
    pub(crate) around: &'a Surroundings,
    pub(crate) problems: &'a Problems,
    minima: &'a dyn MinimumHeaps,
    hashes: Hashes,
    jdks: BTreeMap<String, Option<(jdk::Found, Jdk)>>,
    missing: RefCell<BTreeSet<Missing>>,
    skipped: Problems,
    searches: RefCell<Vec<HeapSearch>>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(
        file: &'a File,
        around: &'a Surroundings,
        minima: &'a dyn MinimumHeaps,
        problems: &'a Problems,
    ) -> Resolver<'a> {
        Resolver {
            file,
            around,
            problems,
            minima,
            hashes: Hashes::default(),
            jdks: BTreeMap::new(),
            missing: RefCell::default(),
            skipped: Problems::default(),
            searches: RefCell::default(),
        }
    }

    /// All cells in the order of tables, and their invocations.
    pub(crate) fn resolve(mut self) -> Resolved {
        let file = self.file;
        let all = self.configurations(&file.configurations);
        let own: Vec<_> = file
            .workloads
            .iter()
            .map(|workload| workload.configurations.as_ref().map(|texts| self.configurations(texts)))
            .collect();
        let used = || all.iter().chain(own.iter().flatten().flatten());
        for configuration in used() {
            if let Some(name) = &configuration.jdk {
                self.find_jdk(name, &configuration.place);
            }
        }
        let mut cells = Vec::new();
        for (workload, own) in file.workloads.iter().zip(&own) {
            for (jdk, place) in workload.checksum.jdks() {
                if !self.jdks.contains_key(jdk) {
                    self.problems.say(place, format!("no configuration runs on a JDK `{jdk}`"));
                }
            }
            for configuration in own.as_ref().unwrap_or(&all) {
                cells.extend(self.cells(workload, configuration));
            }
        }
        let nothing_yet = self.missing.borrow().is_empty() && self.problems.is_empty();
        if cells.is_empty() && nothing_yet {
            self.problems.say(&file.place, "nothing is left to run");
        }
        let many = cells.len().saturating_mul(file.invocations as usize);
        if many > MOST_INVOCATIONS {
            let said = format!(
                "{} cells of {} invocations each are more than {MOST_INVOCATIONS}",
                cells.len(),
                file.invocations
            );
            self.problems.say(&file.place, said);
            cells.clear();
        }
        // A search for a minimum heap takes its JDK from the plan as well.
        let searches = self.searches.into_inner();
        let searched = searches.iter().map(|search| &search.cell);
        let ran_on: BTreeSet<_> = cells.iter().chain(searched).map(|cell| cell.jdk.as_str()).collect();
        let jdks = self.jdks.values().flatten().map(|(_, jdk)| jdk.clone());
        let jdks = jdks.filter(|jdk| ran_on.contains(jdk.name.as_str())).collect();
        let plan = Plan {
            name: file.name.clone(),
            about: file.about.clone(),
            seed: file.seed,
            order: file.order.of(&cells, file.invocations, file.seed),
            cells,
            pin: file.pin.clone(),
            retries: file.retries,
            turns: file.turns,
            metrics: file.metrics.clone(),
            quiet: file.quiet.clone(),
            jdks,
        };
        Resolved {
            plan,
            missing: self.missing.into_inner().into_iter().collect(),
            skipped: self.skipped.into_vec(),
            searches,
        }
    }

    fn configurations(&self, texts: &[Placed<String>]) -> Vec<Configuration<'a>> {
        let mut all: Vec<Configuration<'a>> = Vec::new();
        for text in texts {
            let some = match braces::expand(&text.value) {
                Ok(some) => some,
                Err(why) => {
                    self.problems.say(&text.place, why);
                    continue;
                }
            };
            if all.len() + some.len() > braces::MOST {
                self.problems
                    .say(&text.place, format!("there are more than {} configurations", braces::MOST));
                break;
            }
            for value in some {
                let one = Placed { value, place: text.place.clone() };
                let Some(one) = self.configuration(&one) else { continue };
                if all.iter().any(|other| (&other.jdk, &other.name) == (&one.jdk, &one.name)) {
                    let said = format!("configuration `{}` stands twice", one.full_name());
                    self.problems.say(&text.place, said);
                } else {
                    all.push(one);
                }
            }
        }
        all
    }

    fn configuration(&self, text: &Placed<String>) -> Option<Configuration<'a>> {
        let described = |word: &str| self.file.jdk_names.iter().any(|name| name == word);
        // A number is a release of Java, described or not.
        let is_jdk = |word: &str| described(word) || word.parse::<u32>().is_ok();
        configuration::read(text, is_jdk, &self.file.modifiers, self.problems)
    }

    fn find_jdk(&mut self, name: &str, place: &Place) {
        if self.jdks.contains_key(name) {
            return;
        }
        let described = self.file.jdks.iter().find(|jdk| jdk.name.value == name);
        if described.is_none() && self.file.jdk_names.iter().any(|described| described == name) {
            self.jdks.insert(name.to_owned(), None);
            return;
        }
        let wanted = described.cloned().unwrap_or_else(|| jdk::implied(name, place));
        let found = match jdk::find(&wanted.by, self.around) {
            Ok(found) => {
                let hash = self.hashes.of(&found.vm()).unwrap_or_default();
                let jdk = Jdk {
                    name: name.to_owned(),
                    home: found.home.clone(),
                    version: found.version.clone(),
                    hash,
                };
                Some((found, jdk))
            }
            Err(why) if wanted.optional => {
                self.skipped.say(&wanted.name.place, format!("JDK `{name}` is left out: {why}"));
                None
            }
            Err(why) => {
                let try_this = "set `home` in [jdks], or `optional = true` to do without it";
                self.problems.say(&wanted.name.place, format!("JDK `{name}`: {why}; {try_this}"));
                None
            }
        };
        self.jdks.insert(name.to_owned(), found);
    }

    /// What cannot run: an error with its line, or a remark.
    fn impossible(&self, place: &Place, why: &str) {
        if self.file.skip_impossible {
            self.skipped.say(place, format!("left out: {why}"));
        } else {
            let hint = "`skip-impossible = true` leaves such combinations out, and a workload may have its own `configurations`";
            self.problems.say(place, format!("{why}; {hint}"));
        }
    }

    /// The cells of a workload under a configuration: one a heap.
    fn cells(&self, workload: &Workload, configuration: &Configuration<'_>) -> Vec<Cell> {
        let Some(start) = self.start(workload, configuration) else { return Vec::new() };
        let heaps = match workload.kind {
            Kind::Command { .. } => vec![None],
            _ => self.heaps(workload, configuration),
        };
        heaps.into_iter().map(|heap| self.cell(workload, configuration, &start, heap)).collect()
    }

    /// How it is started; none when it cannot be, which was told.
    fn start(&self, workload: &Workload, configuration: &Configuration<'_>) -> Option<Start> {
        let found = match &configuration.jdk {
            Some(name) => Some(self.jdks.get(name)?.as_ref()?),
            None => None,
        };
        let command = matches!(workload.kind, Kind::Command { .. });
        let name = &workload.name.value;
        if let (Some((found, jdk)), false) = (found, command)
            && let Some(why) = configuration.impossible_on(&jdk.name, found.feature)
        {
            self.impossible(&configuration.place, &why);
            return None;
        }
        let full = configuration.full_name();
        if !command && found.is_none() {
            let why = format!("workload `{name}` needs a JVM, and configuration `{full}` names no JDK");
            self.impossible(&configuration.place, &why);
            return None;
        }
        if let (true, Some(modifier)) = (command, configuration.needs_jvm()) {
            let why =
                format!("modifier `{modifier}` is for a JVM, and workload `{name}` is a program by itself");
            self.impossible(&configuration.place, &why);
            return None;
        }
        let launcher = Launcher {
            around: self.around,
            problems: self.problems,
            hashes: &self.hashes,
            missing: &self.missing,
            jdk: found.map(|(found, _)| found),
            jdk_options: configuration.jdk.as_ref().and_then(|name| {
                self.file.jdks.iter().find(|jdk| jdk.name.value == *name).map(|jdk| jdk.options.as_slice())
            }),
        };
        Some(launcher.start(workload, configuration))
    }

    fn cell(
        &self,
        workload: &Workload,
        configuration: &Configuration<'_>,
        start: &Start,
        heap: Option<HeapSize>,
    ) -> Cell {
        let jdk = configuration.jdk.as_deref().unwrap_or("");
        Cell {
            id: self.identity(workload, configuration, start, heap).id(),
            workload: workload.name.value.clone(),
            jdk: jdk.to_owned(),
            configuration: configuration.name.clone(),
            collector: configuration.named(|modifier| modifier.collector.clone()),
            tracer: configuration.named(|modifier| modifier.tracer.clone()),
            heap,
            launch: start.launch(),
            iterations: workload.iterations,
            measured: workload.measured.clone(),
            checksum: workload.checksum.on(jdk),
            timeout: workload.timeout,
        }
    }

    fn identity<'b>(
        &'b self,
        workload: &'b Workload,
        configuration: &'b Configuration<'_>,
        start: &'b Start,
        heap: Option<HeapSize>,
    ) -> Identity<'b> {
        let jdk = configuration.jdk.as_deref().unwrap_or("");
        let found = self.jdks.get(jdk).and_then(Option::as_ref);
        Identity {
            workload: &workload.name.value,
            configuration: &configuration.name,
            jdk,
            vm: found.map(|(_, jdk)| (jdk.version.as_str(), jdk.hash.as_str())),
            options: start.options.iter().map(|text| text.stable.as_str()).collect(),
            command: start.command.iter().map(|text| text.stable.as_str()).collect(),
            wrapper: start.wrapper.iter().map(|text| text.stable.as_str()).collect(),
            env: start.env.iter().map(|(name, text)| (name.as_str(), text.stable.as_str())).collect(),
            class_path: &start.class_path_hashes,
            files: &start.files,
            heap,
            mocked_memory: start.mocked_memory,
            iterations: workload.iterations,
            measured: &workload.measured,
            harness: &start.harness_hashes,
            pin: &self.file.pin,
            turns: u64::try_from(self.file.turns.as_nanos()).unwrap_or(u64::MAX),
            rehearsal: start.rehearsal.iter().map(|text| text.stable.as_str()).collect(),
        }
    }

    /// The heaps of a workload under a configuration; those whose minimum is missing are left out, which is told.
    fn heaps(&self, workload: &Workload, configuration: &Configuration<'_>) -> Vec<Option<HeapSize>> {
        let collector = configuration.named(|modifier| modifier.collector.clone());
        let own = collector.as_ref().and_then(|collector| self.file.heaps.sizes.get(collector));
        if let Some(bytes) = own {
            return self.fitting(configuration, [HeapSize { multiple: None, bytes: bytes.value }]);
        }
        match &self.file.heaps.choice {
            Choice::None => vec![None],
            Choice::Bytes(bytes) => self.fitting(configuration, [HeapSize { multiple: None, bytes: *bytes }]),
            Choice::Multiples { .. } if collector.as_deref() == Some("epsilon") => {
                let why = "Epsilon frees nothing, so a multiple of a minimum heap means nothing to it; give it a size in [heap], `sizes = { epsilon = \"4g\" }`";
                self.problems.say(&configuration.place, why);
                Vec::new()
            }
            Choice::Multiples { multiples, of } => {
                let Some(minimum) = self.minimum(workload, configuration, of) else { return Vec::new() };
                let heap =
                    |multiple: &f64| HeapSize { multiple: Some(*multiple), bytes: sized(minimum, *multiple) };
                self.fitting(configuration, multiples.iter().map(heap))
            }
        }
    }

    /// Those that the machine's memory can hold.
    fn fitting(
        &self,
        configuration: &Configuration<'_>,
        heaps: impl IntoIterator<Item = HeapSize>,
    ) -> Vec<Option<HeapSize>> {
        let most = self.around.memory as f64 * HEAP_SHARE;
        let fits = |heap: &HeapSize| {
            let fits = heap.bytes as f64 <= most;
            if !fits {
                let mib = |bytes: f64| (bytes / f64::from(1 << 20)).floor();
                let why = format!(
                    "a heap of {} MiB is needed for `{}`, and this machine's memory allows {} MiB",
                    mib(heap.bytes as f64),
                    configuration.full_name(),
                    mib(most)
                );
                self.impossible(&configuration.place, &why);
            }
            fits
        };
        heaps.into_iter().filter(fits).map(Some).collect()
    }

    /// The minimum heap that multiples for this configuration are of, bytes.
    fn minimum(&self, workload: &Workload, configuration: &Configuration<'_>, of: &Of) -> Option<u64> {
        let searched = match of {
            Of::Each => configuration.collector_only(),
            Of::Configuration(text) => {
                let own = self.configuration(text)?;
                let jdk = own.jdk.clone().or_else(|| configuration.jdk.clone());
                if let Some(jdk) = &jdk
                    && !self.jdks.contains_key(jdk)
                {
                    self.problems.say(
                        &text.place,
                        format!(
                            "no configuration runs on JDK `{jdk}`, so its minimum heap is not looked for"
                        ),
                    );
                    return None;
                }
                Configuration { jdk, ..own }
            }
        };
        let collector = searched.named(|modifier| modifier.collector.clone());
        let Some(collector) = collector else {
            let said = format!(
                "multiples are of a collector's minimum heap, and `{}` names no collector; add one to the configuration, or set `of` in [heap]",
                searched.full_name()
            );
            self.problems.say(&searched.place, said);
            return None;
        };
        let start = self.start(workload, &searched)?;
        let cell = self.cell(workload, &searched, &start, None);
        let hash =
            searched.jdk.as_ref().and_then(|jdk| self.jdks.get(jdk)?.as_ref()).map(|(_, jdk)| &jdk.hash);
        let hash = hash.map_or("", String::as_str);
        let known = self.minima.minimum(&cell.workload, &cell.launch.command, hash, &collector);
        if known.is_none() {
            self.missing.borrow_mut().insert(Missing::MinimumHeap {
                workload: workload.name.value.clone(),
                configuration: searched.full_name(),
            });
        }
        let mut searches = self.searches.borrow_mut();
        if !searches.iter().any(|search| search.cell.id == cell.id) {
            searches.push(HeapSearch { cell, known });
        }
        known
    }
}
