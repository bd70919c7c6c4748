//! Writes a results directory of made-up records, to look at a report's form:
//! `cargo run -p lookback-lab --example synthetic_results -- DIRECTORY`.
//!
//! `report.html` and `figures/` in it are what `lookback lab report` makes of them.
//!
//! The constraint that shaped it: what a report looks like must be seen without hours of measuring; every record says
//! that no machine ran it.

mod synthetic;

use lookback_lab::report::{Document, HEAP, Shade, Sources, png};
use lookback_lab::results::write_jsonl;
use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).ok_or("name a directory")?;
    let dir = Path::new(&dir);
    fs::create_dir_all(dir)?;
    let plan = synthetic::plan();
    let path = dir.join("results.jsonl");
    write_jsonl(&synthetic::records(&plan), BufWriter::new(File::create(&path)?), &path)?;
    fs::write(dir.join("plan.json"), serde_json::to_string_pretty(&plan)?)?;
    fs::write(dir.join("experiment.toml"), "# Made up: there is no experiment.\nname = \"synthetic\"\n")?;
    fs::write(dir.join("machine.json"), "{\"model\": \"made up\", \"cores\": 2}\n")?;
    let study = Sources::read(dir)?.study(dir, HEAP)?;
    let document = Document::of(&study, HEAP)?;
    fs::write(dir.join("report.html"), document.page())?;
    let figures = dir.join("figures");
    fs::create_dir_all(&figures)?;
    for figure in document.figures() {
        fs::write(figures.join(format!("{}.svg", figure.name)), figure.file())?;
        fs::write(
            figures.join(format!("{}.png", figure.name)),
            png(&figure.name, &figure.svg, 2.0, Shade::Light)?,
        )?;
    }
    Ok(())
}
