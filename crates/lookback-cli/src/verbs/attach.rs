//! `lookback attach`: see [`crate::attach`].

use super::{Streams, stdout};
use crate::args::AttachArgs;
use crate::control::{self, Client};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::settings::Settings;
use crate::{agent, attach};

/// Loads the agent into a running JVM.
pub(crate) fn run(args: &AttachArgs, settings: &Settings, streams: &mut Streams<'_>) -> Result<()> {
    let process = control::resolve_jvm(&args.target)?;
    let agent = agent::locate(args.agent.as_deref())?;
    let cwd = std::env::current_dir().ok();
    let options = settings.agent_string(cwd.as_deref())?;
    let pid = process.pid;
    if Client::find(pid).is_ok_and(|client| client.status().is_ok()) {
        return Err(Error::AlreadyTraced { pid });
    }
    let attached = {
        let _spinner = Progress::spinner("waiting for the JVM to load the agent");
        attach::attach(&process, &agent, &options)?
    };
    writeln!(streams.out, "The JVM {pid} is traced. `lookback status {pid}` shows how it goes.")
        .map_err(stdout)?;
    if !settings.options.quiet {
        attached.notes.iter().for_each(|note| streams.note(note));
    }
    Ok(())
}
