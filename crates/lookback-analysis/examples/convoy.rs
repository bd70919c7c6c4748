//! Writes a made-up lock convoy in every format into a directory, for trying viewers and for their tests:
//! `cargo run -p lookback-analysis --example convoy -- DIRECTORY`.
//!
//! `facts.json` holds what a viewer must find in `convoy.pftrace`.

#[path = "../tests/support/mod.rs"]
mod support;

use lookback_analysis::{DEFAULT_SLICES, Trim, Verdict, chrome_json, collapsed, page_json, perfetto};
use std::error::Error;
use std::fs::{File, create_dir_all, write};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = PathBuf::from(std::env::args_os().nth(1).ok_or("give a directory to write to")?);
    create_dir_all(&dir)?;
    let r = support::convoy::recording();
    let all = Trim::new(&r, usize::MAX);
    perfetto(&r, &all, &mut File::create(dir.join("convoy.pftrace"))?)?;
    chrome_json(&r, &all, &mut File::create(dir.join("convoy.json"))?)?;
    collapsed(&r, &mut File::create(dir.join("convoy.collapsed"))?)?;
    write(dir.join("page.json"), page_json(&r, &Verdict::of(&r), DEFAULT_SLICES))?;
    let slow = r.slice(r.trigger_slice().ok_or("the convoy has a slow call")?);
    let (mut total, mut deepest) = (0, 0);
    for t in &r.threads {
        let s = &t.slices;
        total += s.indices().map(|i| s.duration(i).0).sum::<u64>();
        deepest = deepest.max(s.depth.iter().copied().max().unwrap_or(0));
    }
    let facts = serde_json::json!({
        "slices": r.slices(),
        "total": total,
        "deepest": deepest,
        "threads": r.threads.iter().map(|t| &t.name).collect::<Vec<_>>(),
        "pauses": r.pauses.len(),
        "slow": {
            "name": r.methods.full(slow.method),
            "duration": slow.duration().0,
            "unix": r.unix_nanos(slow.start).to_string(),
        },
    });
    write(dir.join("facts.json"), facts.to_string())?;
    Ok(())
}
