//! The `lookback` command.
//!
//! The constraint that shaped it: what users see of a failure is decided in one place. Verbs return errors;
//! only this file prints them and chooses the exit code. A closed pipe (`lookback ls | head`) is no error.

mod agent;
mod args;
mod attach;
mod c_library;
mod clock;
mod control;
mod error;
mod incident;
mod interrupt;
mod jfr;
mod lab;
mod open_ring;
mod output;
mod process;
mod progress;
mod recover;
mod ring_file;
mod run;
mod runtime;
mod settings;
mod socket;
mod table;
#[cfg(test)]
mod troubleshooting;
mod verbs;

use args::{Cli, Verb};
use clap::{CommandFactory, Parser};
use error::{Error, OK, Result};
use lookback_format::control::Request;
use settings::{Given, Settings};
use std::io::{self, Write};
use std::process::ExitCode;
use verbs::Streams;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = anstream::stdout().lock();
    let mut notes = anstream::stderr();
    let result = dispatch(&cli, &mut Streams { out: &mut out, notes: &mut notes })
        .and_then(|code| out.flush().map(|()| code).map_err(Error::Stdout));
    match result {
        Ok(code) => ExitCode::from(code),
        Err(Error::Stdout(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(OK),
        Err(error) => {
            // If standard error is closed there is nobody to tell; the exit code still does.
            let _ = report(&error, &mut notes);
            ExitCode::from(error.exit_code())
        }
    }
}

fn report(error: &Error, notes: &mut impl Write) -> io::Result<()> {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    writeln!(notes, "{red}error:{red:#} {}", control::printable(&error.to_string()))?;
    let hint = error.hint();
    if hint.is_empty() {
        return Ok(());
    }
    writeln!(notes, "  try: {}", control::printable(&hint))
}

/// Runs the verb, and gives the exit code of one that went well: that of the program that it ran, if any.
fn dispatch(cli: &Cli, streams: &mut Streams<'_>) -> Result<u8> {
    let done = match &cli.verb {
        Some(Verb::Record(args)) => return verbs::record::run(args, streams),
        None => verbs::config::run(&settings(&Given::default())?, streams),
        Some(Verb::Run(args)) => verbs::run::run(args, &settings(&args.options)?, streams),
        Some(Verb::Attach(args)) => verbs::attach::run(args, &settings(&args.options)?, streams),
        Some(Verb::Status(args)) => verbs::control::status(args, streams),
        Some(Verb::Dump(args)) => verbs::control::dump(args, streams),
        Some(Verb::Profile(args)) => verbs::profile::run(args, streams),
        Some(Verb::Stop(args)) => {
            verbs::control::switch(&args.target, &Request::Stop { progress: true }, streams)
        }
        Some(Verb::Start(args)) => {
            verbs::control::switch(&args.target, &Request::Start { progress: true }, streams)
        }
        Some(Verb::Detach(args)) => {
            verbs::control::switch(&args.target, &Request::Detach { progress: true }, streams)
        }
        Some(Verb::Ls(args)) => verbs::ls::run(args, streams),
        Some(Verb::Recover(args)) => verbs::recover::run(args, streams),
        Some(Verb::Snapshot(args)) => verbs::snapshot::run(args, streams),
        Some(Verb::Resize(args)) => verbs::resize::run(args, streams),
        Some(Verb::Report(args)) => verbs::report::run(args, streams),
        Some(Verb::Convert(args)) => verbs::convert::run(args, streams),
        Some(Verb::Info(args)) => verbs::info::run(args, streams),
        Some(Verb::Lab { verb }) => lab::run(verb, streams),
        Some(Verb::Config(args)) => verbs::config::run(&settings(&args.options)?, streams),
        Some(Verb::Completion(args)) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "lookback", &mut script);
            streams.out.write_all(&script).map_err(Error::Stdout)
        }
    };
    done.map(|()| OK)
}

fn settings(given: &Given) -> Result<Settings> {
    let environment = match std::env::var("LOOKBACK_OPTS") {
        Ok(text) => Some(text),
        Err(std::env::VarError::NotPresent) => None,
        Err(std::env::VarError::NotUnicode(_)) => {
            return Err(Error::Usage {
                what: "LOOKBACK_OPTS is not UTF-8".into(),
                hint: "write it as key=value,key=value".into(),
            });
        }
    };
    Settings::load(given, environment.as_deref())
}
