//! Starts a JVM of a plan's cell for what is not timed: the compilers' logs.
//!
//! The constraint that shaped it: a run whose figures count has to be pinned, watched and bounded, and is the runner's;
//! here only the options matter. A run that takes longer than its cell allows is killed all the same.

use lookback_lab::jit::Launcher;
use lookback_lab::plan::Cell;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Starts the JVM as a child and waits for it.
pub(super) struct Direct;

impl Launcher for Direct {
    fn launch(&mut self, cell: &Cell, dir: &Path) -> Result<(), String> {
        let jvm = cell.launch.jvm.as_ref().ok_or("it runs on no JVM")?;
        let dir = std::path::absolute(dir).map_err(|error| error.to_string())?;
        let here = dir.to_string_lossy();
        let place = |text: &String| text.replace("{dir}", &here);
        let open = |name: &str| {
            File::create(dir.join(name)).map_err(|error| format!("its {name} cannot be kept: {error}"))
        };
        let mut command = Command::new(&jvm.java);
        command.args(jvm.options.iter().map(place));
        if let Some(heap) = cell.heap {
            command.args([format!("-Xms{}", heap.bytes), format!("-Xmx{}", heap.bytes)]);
        }
        command.arg("-cp").arg(place(&jvm.class_path)).args(cell.launch.command.iter().map(place));
        command.envs(cell.launch.env.iter().map(|(name, value)| (name, place(value))));
        command.current_dir(&dir).stdin(Stdio::null()).stdout(open("stdout")?).stderr(open("stderr")?);
        let mut child =
            command.spawn().map_err(|error| format!("{} cannot be started: {error}", jvm.java.display()))?;
        let begin = Instant::now();
        loop {
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("it ended with {status}")),
                None if begin.elapsed() > cell.timeout => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("it took longer than {} s and was killed", cell.timeout.as_secs()));
                }
                None => std::thread::sleep(std::time::Duration::from_millis(20)),
            }
        }
    }
}
