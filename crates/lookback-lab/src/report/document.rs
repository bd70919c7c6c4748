//! A report as a sequence of sections, before it has a form.
//!
//! The constraint that shaped it: a page, a README and a paper must say the same, so what is said is put together once
//! and written in each form by [`super::page`] and [`super::prose`].

use super::findings::findings;
use super::plot::{Figure, Figures, capital, title_of};
use super::study::Study;
use super::table::Table;
use super::tables;
use crate::error::Result;
use crate::metric::metric_of;
use crate::plan::Quiet;

/// A report.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// A sentence below it.
    pub about: String,
    /// Its sections.
    pub sections: Vec<Section>,
}

/// A section.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// What is in it.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// Sentences, one below the other.
    List(Vec<String>),
    /// Names and values.
    Facts(Vec<(String, String)>),
    /// A table.
    Table(Table),
    /// A figure.
    Figure(Figure),
    /// A file as it is, folded where the form can fold.
    File {
        /// What it is.
        title: String,
        /// Its text.
        text: String,
    },
}

impl Document {
    /// The report of a study; tables of one heap are made at the multiple nearest to `wanted`.
    ///
    /// # Errors
    /// [`crate::Error::Drawing`].
    pub fn of(study: &Study, wanted: f64) -> Result<Document> {
        let figures = Figures::new(study);
        let mut sections = Vec::new();
        let mut section = |heading: &str, blocks: Vec<Block>| {
            if !blocks.is_empty() {
                sections.push(Section { heading: heading.to_owned(), blocks });
            }
        };
        section("Findings", vec![Block::List(findings(study, wanted))]);
        section("Lower bound overheads", overheads(study, &figures, wanted)?);
        section("What tracers cost", tracers(study, &figures)?);
        section("Configurations against each other", tables_of(study.matrices.iter().map(tables::matrix)));
        section("Responsiveness", responsiveness(study, &figures, wanted)?);
        section("Means", tables_of(study.means.iter().map(|means| tables::means(means, wanted))));
        section("Smallest heaps", tables_of([tables::min_heaps(study)]));
        section("What was left out", left_out(study));
        section("Stability", stability(study, &figures)?);
        section("Machine and JDKs", machine(study));
        section("The experiment", experiment(study));
        section("How each figure is defined", definitions(study));
        Ok(Document { title: study.name.clone(), about: study.about.clone(), sections })
    }

    /// All tables, in their order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.blocks().filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None })
    }

    /// All figures, in their order.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.blocks().filter_map(|block| if let Block::Figure(figure) = block { Some(figure) } else { None })
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.sections.iter().flat_map(|section| &section.blocks)
    }
}

fn tables_of(tables: impl IntoIterator<Item = Option<Table>>) -> Vec<Block> {
    tables.into_iter().flatten().map(Block::Table).collect()
}

fn overheads(study: &Study, figures: &Figures, wanted: f64) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    for overheads in &study.overheads {
        blocks.extend(tables::overheads(overheads, wanted).map(Block::Table));
        blocks.extend(tables::roles(overheads, wanted).map(Block::Table));
        blocks.extend(figures.geomeans(overheads)?.map(Block::Figure));
        blocks.extend(figures.overheads(overheads)?.map(Block::Figure));
        blocks.extend(tables::overheads_by_heap(overheads).map(Block::Table));
        blocks.extend(tables::baselines(overheads).map(Block::Table));
    }
    Ok(blocks)
}

fn tracers(study: &Study, figures: &Figures) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    for cost in &study.tracers {
        blocks.extend(figures.tracers(cost)?.map(Block::Figure));
        blocks.extend(tables::tracers(cost).map(Block::Table));
    }
    Ok(blocks)
}

fn responsiveness(study: &Study, figures: &Figures, wanted: f64) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    for tails in &study.tails {
        blocks.extend(figures.tails(&tails.at(wanted))?.map(Block::Figure));
    }
    let felt = |name: &str| name.starts_with("frame.") || name.starts_with("input.");
    for means in study.means.iter().filter(|means| felt(&means.metric)) {
        if means.metric == "frame.janky" || means.metric.ends_with(".p99") {
            blocks.extend(figures.means(means)?.map(Block::Figure));
        }
        blocks.extend(tables::means_by_heap(means).map(Block::Table));
    }
    Ok(blocks)
}

fn left_out(study: &Study) -> Vec<Block> {
    let rule = study.quiet.as_ref().map(rule).unwrap_or_else(|| {
        "The rule by which an invocation counts as disturbed is not among the results; each record says what disturbed it."
            .to_owned()
    });
    let mut blocks = vec![Block::Text(rule)];
    blocks.extend(changed(study.changed).map(Block::Text));
    blocks.push(Block::Table(tables::tally(&study.tally)));
    blocks
}

/// What is said of records whose cells are others now.
fn changed(records: usize) -> Option<String> {
    let subject = match records {
        0 => return None,
        1 => "One attempt was of a cell that was changed since and measured anew; it is".to_owned(),
        n => format!("{n} attempts were of cells that were changed since and measured anew; they are"),
    };
    Some(format!("{subject} in no figure here."))
}

/// The rule that was stated before anything was measured.
fn rule(quiet: &Quiet) -> String {
    format!(
        "An invocation counts as disturbed when, of the time of its cores, more than {} % went to other machines on the same host or more than {} % to other processes, or when more than {} bytes were swapped. This was stated before anything was measured. Disturbed invocations were run again and stay in the results; those that failed are results.",
        quiet.steal_percent, quiet.others_percent, quiet.swap_bytes
    )
}

fn stability(study: &Study, figures: &Figures) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    if let Some(metric) = study.main_metric() {
        blocks.extend(figures.order(&study.order, metric)?.map(Block::Figure));
    }
    blocks.extend(figures.warm_ups(&study.warm_ups)?.map(Block::Figure));
    Ok(blocks)
}

fn machine(study: &Study) -> Vec<Block> {
    let mut blocks = tables_of([tables::jdks(study)]);
    if !study.machine.is_empty() {
        blocks.push(Block::Facts(study.machine.clone()));
    }
    blocks
}

fn experiment(study: &Study) -> Vec<Block> {
    let mut facts = Vec::new();
    if !study.span.0.is_empty() {
        facts.push(("ran".to_owned(), format!("{} to {}", study.span.0, study.span.1)));
        facts.push(("on".to_owned(), study.hosts.join(", ")));
    }
    if let Some((cells, invocations)) = study.planned {
        facts.push(("planned".to_owned(), format!("{invocations} invocations of {cells} cells")));
    }
    facts.extend(study.seed.map(|seed| ("seed of the order".to_owned(), seed.to_string())));
    let mut blocks = vec![Block::Facts(facts)];
    if let Some(text) = &study.experiment {
        blocks.push(Block::Text(format!(
            "To run it again: put the file below at {0}.toml, `lookback lab min-heap {0}.toml` for the smallest heaps, `lookback lab run {0}.toml`, then `lookback lab report lab-results/{0}`. The seed gives the same order; results differ as far as the machine does.",
            super::table::word(&study.name)
        )));
        blocks.push(Block::File { title: "The experiment file".into(), text: text.clone() });
    }
    blocks
}

fn definitions(study: &Study) -> Vec<Block> {
    let mut list = vec![
        "The unit of all statistics is the invocation, a JVM process of its own: values of its measured iterations are averaged first.".to_owned(),
        "An interval is what its confidence says of the procedure, not of the next run: it holds variation between invocations on this machine and nothing beyond.".to_owned(),
    ];
    if !study.overheads.is_empty() {
        list.push("Lower bound overhead (Cai et al., ISPASS 2022): the cost of a configuration over the lowest distilled cost of the same program. Distilled by pauses: the cost less what fell into the collector's pauses, by the same clock. Distilled by threads: less the CPU time of the collector's threads. What a collector costs the program by barriers and caches cannot be taken away, so the true overhead is higher.".into());
        list.push("The baseline is chosen on one half of the invocations and estimated on the other, in each resample anew: the lowest of many noisy values is too low.".into());
        list.push("A geometric mean is over the workloads that completed at every point that is compared; the others are named.".into());
    }
    if !study.tracers.is_empty() {
        list.push("The cost of a tracer is the ratio of a traced invocation to the bare one of the same block, workload, JDK, collector and heap.".into());
    }
    let mut named: Vec<&str> = study.means.iter().map(|means| means.metric.as_str()).collect();
    named.extend(study.overheads.iter().map(|o| o.metric.as_str()));
    named.extend(study.tracers.iter().map(|t| t.metric.as_str()));
    named.sort_unstable();
    named.dedup();
    for metric in named.into_iter().filter_map(metric_of) {
        list.push(format!("{} ({}): {}.", capital(title_of(metric.name)), metric.name, metric.about));
    }
    vec![Block::List(list)]
}
