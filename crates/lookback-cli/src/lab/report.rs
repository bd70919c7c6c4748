//! `lookback lab report`: an experiment's results as a page, as text in other forms, or as figures.
//!
//! The constraint that shaped it: the report is made by the library; here is only where it goes.

use crate::error::{Error, Result};
use crate::output::{self, Access, bytes};
use crate::progress::Progress;
use crate::verbs::{Streams, report::open, stdout};
use clap::{Args, ValueEnum};
use lookback_lab::report::{Block, Document, Form, HEAP, Shade, Sources, png};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `lookback lab report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The directory of results, or of a published run
    dir: PathBuf,
    /// Where to write; `-` is standard output. Pages go to report.html and figures to figures/ in DIR, other forms to
    /// standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The form
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
    /// Make tables of one heap at the multiple nearest to this
    #[arg(long, value_name = "MULTIPLE", default_value_t = HEAP, value_parser = multiple)]
    heap: f64,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
    /// Replace a file that is there
    #[arg(short, long)]
    force: bool,
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A page: one file, offline, light and dark
    Html,
    /// GitHub's Markdown
    Md,
    /// LaTeX, for booktabs
    Tex,
    /// All tables as comma-separated values
    Csv,
    /// For a terminal
    Txt,
    /// A directory of figures as SVG
    Svg,
    /// A directory of figures as pictures, for light and for dark pages
    Png,
}

/// The picture's pixels for one of the figure: sharp on screens of high resolution.
const ZOOM: f32 = 2.0;

fn multiple(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(multiple) if multiple >= 1.0 && f64::is_finite(multiple) => Ok(multiple),
        _ => Err("a multiple of the smallest heap is 1 or more".into()),
    }
}

/// Makes a report.
pub(crate) fn run(args: &ReportArgs, streams: &mut Streams<'_>) -> Result<()> {
    if args.open && args.format != Format::Html {
        return Err(Error::Usage { what: "--open is for pages".into(), hint: "leave out --format".into() });
    }
    let spinner = Progress::spinner("making the report");
    let document = document(&args.dir, args.heap)?;
    drop(spinner);
    let form = match args.format {
        Format::Html => return page(args, &document, streams),
        Format::Svg | Format::Png => return figures(args, &document, streams),
        Format::Md => Form::Markdown,
        Format::Tex => Form::Latex,
        Format::Csv => Form::Csv,
        Format::Txt => Form::Text,
    };
    let text = document.write(form);
    match &args.output {
        Some(path) if !output::is_stdout(path) => put(path, args.force, text.as_bytes()).map(drop),
        _ => streams.out.write_all(text.as_bytes()).map_err(stdout),
    }
}

/// The report of a directory.
pub(super) fn document(dir: &Path, heap: f64) -> Result<Document> {
    let sources = Sources::read(dir)?;
    Ok(Document::of(&sources.study(dir, heap)?, heap)?)
}

fn page(args: &ReportArgs, document: &Document, streams: &mut Streams<'_>) -> Result<()> {
    let page = document.page();
    let path = args.output.clone().unwrap_or_else(|| args.dir.join("report.html"));
    if output::is_stdout(&path) {
        return streams.out.write_all(page.as_bytes()).map_err(stdout);
    }
    // The page's own place holds nothing but such pages.
    let size = put(&path, args.force || args.output.is_none(), page.as_bytes())?;
    for block in document.sections.first().map(|section| &section.blocks).into_iter().flatten() {
        if let Block::List(findings) = block {
            for finding in findings {
                writeln!(streams.out, "* {}", crate::control::printable(finding)).map_err(stdout)?;
            }
        }
    }
    let shown = crate::control::printable(&path.display().to_string());
    streams.note(&format!("{shown}  {}: open it in any browser", bytes(size)));
    if args.open { open(&path) } else { Ok(()) }
}

fn figures(args: &ReportArgs, document: &Document, streams: &mut Streams<'_>) -> Result<()> {
    let dir = args.output.clone().unwrap_or_else(|| args.dir.join("figures"));
    fs::create_dir_all(&dir).map_err(|error| Error::Write { file: dir.clone(), error })?;
    let force = args.force || args.output.is_none();
    let mut files = 0;
    for figure in document.figures() {
        if args.format == Format::Svg {
            put(&dir.join(format!("{}.svg", figure.name)), force, figure.file().as_bytes())?;
            files += 1;
            continue;
        }
        for (shade, suffix) in [(Shade::Light, ""), (Shade::Dark, "-dark")] {
            let picture = png(&figure.name, &figure.svg, ZOOM, shade)?;
            put(&dir.join(format!("{}{suffix}.png", figure.name)), force, &picture)?;
            files += 1;
        }
    }
    let shown = crate::control::printable(&dir.display().to_string());
    streams.note(&format!("{shown}  {files} files"));
    Ok(())
}

/// Writes a file whole or not at all.
fn put(path: &Path, force: bool, content: &[u8]) -> Result<u64> {
    output::write(path, force, Access::Usual, |file| file.write_all(content).map_err(output::failed(path)))
}
