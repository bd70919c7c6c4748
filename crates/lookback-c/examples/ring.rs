//! Creates a ring file, or shows what one holds: `ring create FILE MIB`, `ring show FILE`. For the benchmark of the Java
//! API, and for trying it.

use lookback_recorder::{Options, Recorder};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["create", file, mib] => {
            Options::new().bytes(mib.parse::<usize>()? << 20).create(file)?;
        }
        ["show", file] => {
            let snapshot = Recorder::open(file)?.snapshot();
            snapshot.events().for_each(|event| println!("{} {event}", event.thread_name()));
        }
        _ => return Err("usage: ring create FILE MIB | ring show FILE".into()),
    }
    Ok(())
}
