//! Prints the report of an incident, and on standard error how long it took:
//! `cargo run --release -p lookback-analysis --example report -- INCIDENT`.

use lookback_analysis::{Recording, Style, Verdict, report};
use lookback_format::incident::Reader;
use std::error::Error;
use std::fs::File;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("give an incident file")?;
    let begin = Instant::now();
    let r = Recording::load(&mut Reader::open(File::open(path)?)?);
    let loaded = begin.elapsed();
    report(&r, &Verdict::of(&r), Style { width: 100, colour: false }, &mut std::io::stdout())?;
    eprintln!("{} slices in {loaded:.2?}, all in {:.2?}", r.slices(), begin.elapsed());
    Ok(())
}
