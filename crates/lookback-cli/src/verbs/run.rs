//! `lookback run`: see [`crate::run`].

use super::{Streams, stdout};
use crate::args::RunArgs;
use crate::error::Result;
use crate::settings::Settings;
use crate::{agent, c_library, run};

/// Becomes the program; returns only when that fails, or after `--dry-run`.
pub(crate) fn run(args: &RunArgs, settings: &Settings, streams: &mut Streams<'_>) -> Result<()> {
    let agent = agent::locate(args.agent.as_deref())?;
    let argument = agent::jvm_argument(&agent, &settings.agent_string(None)?)?;
    let without = run::java_of(&args.command).filter(|java| c_library::is_musl(java));
    let plan = match &without {
        Some(_) => run::untraced(&args.command)?,
        None => run::plan(&args.command, &argument, run::current_tool_options().as_deref())?,
    };
    if let Some(java) = without.filter(|_| !settings.options.quiet) {
        streams.note(&format!(
            "{} is built for the C library musl, and the agent for glibc: the program runs, untraced",
            java.display()
        ));
    }
    if args.dry_run {
        return writeln!(streams.out, "{}", plan.to_shell()).map_err(stdout);
    }
    if plan.tool_options.is_some() && !settings.options.quiet {
        let program = args.command[0].to_string_lossy();
        streams.note(&format!(
            "{program} is not java itself: every JVM it starts gets the agent by JAVA_TOOL_OPTIONS, and prints one line about it"
        ));
    }
    Err(plan.exec())
}
