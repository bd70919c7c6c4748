//! `lookback lab publish`: keeps a run, and renews or checks the figures of documents.
//!
//! The constraint that shaped it: the check is a lint, so it reads documents and kept runs alone, tells all differences
//! and writes nothing.

use super::report::document;
use crate::error::{Error, Result};
use crate::output::{self, Access};
use crate::verbs::{Streams, stdout};
use clap::Args;
use lookback_lab::report::{Blocks, HEAP, Publication, Runs, Sources};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `lookback lab publish`.
#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// The directory of results
    #[arg(required_unless_present_any = ["check", "renew"], conflicts_with_all = ["check", "renew"])]
    dir: Option<PathBuf>,
    /// The run's name in documents: a word
    #[arg(long, value_name = "NAME", requires = "dir", required_unless_present_any = ["check", "renew"], value_parser = name)]
    name: Option<String>,
    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = "bench/runs")]
    to: PathBuf,
    /// Renew the blocks of this run in these documents
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "dir")]
    into: Vec<PathBuf>,
    /// Make tables of one heap at the multiple nearest to this
    #[arg(long, value_name = "MULTIPLE", default_value_t = HEAP)]
    heap: f64,
    /// Replace a run that was published before
    #[arg(short, long)]
    force: bool,
    /// Only check whether the blocks of these documents say what their runs say
    #[arg(long, value_name = "FILE", num_args = 1..)]
    check: Vec<PathBuf>,
    /// Only renew all blocks of these documents, from runs that were published before
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "check")]
    renew: Vec<PathBuf>,
}

fn name(text: &str) -> std::result::Result<String, String> {
    if lookback_lab::report::word(text) == text {
        Ok(text.to_owned())
    } else {
        Err("a run's name has small letters, digits and hyphens".into())
    }
}

/// Publishes or checks.
pub(crate) fn run(args: &PublishArgs, streams: &mut Streams<'_>) -> Result<()> {
    let (Some(dir), Some(name)) = (&args.dir, &args.name) else {
        if args.renew.is_empty() {
            return check(args, streams);
        }
        return renew(&documents(&args.renew)?, &Runs::open(&args.to)?, None, streams);
    };
    let documents = documents(&args.into)?;
    let sources = Sources::read(dir)?;
    let document = document(dir, args.heap)?;
    let run =
        Publication { sources: &sources, document: &document, name }.write(dir, &args.to, args.force)?;
    writeln!(streams.out, "{}", run.display()).map_err(stdout)?;
    renew(&documents, &Runs::open(&args.to)?, Some(name), streams)
}

/// Documents whose blocks can be read: what cannot is told before anything is written.
fn documents(paths: &[PathBuf]) -> Result<Vec<(&Path, String)>> {
    let mut documents = Vec::new();
    for path in paths {
        let text = read(path)?;
        Blocks::of(path, &text)?;
        documents.push((path.as_path(), text));
    }
    Ok(documents)
}

fn renew(
    documents: &[(&Path, String)],
    runs: &Runs,
    only: Option<&str>,
    streams: &mut Streams<'_>,
) -> Result<()> {
    // All are filled before one is written: a figure that is missing leaves no document half renewed.
    let fill = |(path, text): &(&Path, String)| Blocks::of(path, text)?.renew(runs, only);
    let filled = documents.iter().map(fill).collect::<lookback_lab::Result<Vec<_>>>()?;
    for ((path, _), (new, changed)) in documents.iter().zip(filled) {
        if changed > 0 {
            let write = |file: &mut fs::File| file.write_all(new.as_bytes()).map_err(output::failed(path));
            output::write(path, true, Access::Usual, write)?;
        }
        let shown = crate::control::printable(&path.display().to_string());
        streams.note(&format!("{shown}: {changed} blocks renewed"));
    }
    Ok(())
}

fn check(args: &PublishArgs, streams: &mut Streams<'_>) -> Result<()> {
    let runs = Runs::open(&args.to)?;
    let (mut blocks, mut differences) = (0, 0);
    for path in &args.check {
        let text = read(path)?;
        let found = Blocks::of(path, &text)?;
        blocks += found.count();
        for difference in found.check(&runs) {
            differences += 1;
            let line = crate::control::printable(&difference.to_string());
            writeln!(streams.out, "{line}").map_err(stdout)?;
        }
    }
    if differences > 0 {
        return Err(Error::Stale { differences });
    }
    streams.note(&format!("{blocks} blocks say what their runs say"));
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| Error::Read { file: path.to_owned(), error })
}
