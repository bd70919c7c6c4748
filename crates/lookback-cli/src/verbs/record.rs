//! `lookback record`: makes a ring file ready, runs a program that records into it, prints what comes.
//!
//! The constraint that shaped it: a ring file has no owner, so one that is there is used as it is, and only
//! its levels change. A program that is run gets nothing but a variable: what it is killed by and its exit
//! code are passed on, and the ring file stays when it is gone.

use super::snapshot::beside_us;
use super::{Streams, named, stdout};
use crate::args::RecordArgs;
use crate::control::printable;
use crate::error::{Error, OK, Result};
use crate::interrupt;
use crate::output::bytes;
use crate::process::our_uid;
use crate::ring_file::{self, RingFile};
use crate::runtime::RuntimeDir;
use lookback_format::ring_file::{Category, Level};
use lookback_recorder::{Options, Recorder};
use std::ffi::OsString;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

/// The variable that tells a program where to record.
pub(crate) const VARIABLE: &str = "LOOKBACK_RING";
/// How much the ring can grow to where nothing is said.
const RESERVE: u64 = 4;

/// Records; returns the exit code of the program, if one was run.
pub(crate) fn run(args: &RecordArgs, streams: &mut Streams<'_>) -> Result<u8> {
    let path = match &args.ring {
        Some(path) => path.clone(),
        None => default_ring(&args.command)?,
    };
    let recorder = ready(&path, args, streams)?;
    for &(ref category, level) in &args.level {
        match category {
            Some(name) => recorder.category(name).set_level(level),
            None => recorder.set_level(level),
        }
    }
    if !args.level.is_empty() {
        let level = |c: &Category| format!("{} {}", named(&c.name), c.level.map_or("off", Level::name));
        let levels: Vec<_> = recorder.categories().iter().skip(1).map(level).collect();
        let of_new = if levels.is_empty() {
            "new categories have the level given".to_owned()
        } else {
            levels.join(", ")
        };
        streams.note(&format!("levels: {of_new}"));
    }
    drop(recorder);
    let shown = printable(&path.display().to_string());
    if args.command.is_empty() {
        if !args.follow {
            streams.note(&format!("programs record into it when they open it: {VARIABLE}={shown} PROGRAM, or `lookback record --ring {shown} -- PROGRAM`"));
            return how_to_look(&path, streams).map(|()| OK);
        }
        interrupt::watch();
        let source = RingFile::open(&path)?;
        ring_file::follow(source, args.json, args.all, &mut || !interrupt::asked(), streams)?;
        return Ok(OK);
    }
    let source = if args.follow { Some(RingFile::open(&path)?) } else { None };
    // Ctrl-C is for the program: it goes to both, and this command ends when the program has.
    interrupt::watch();
    let program = args.command[0].to_string_lossy().into_owned();
    let mut child =
        start(&args.command, &path).map_err(|error| Error::Run { program: program.clone(), error })?;
    if let Some(source) = source {
        ring_file::follow(source, args.json, true, &mut || matches!(child.try_wait(), Ok(None)), streams)?;
    }
    let status = wait(&mut child).map_err(|error| Error::Run { program: program.clone(), error })?;
    if let Some(signal) = status.signal() {
        streams.note(&format!("{} was ended by signal {signal}", printable(&program)));
    }
    how_to_look(&path, streams)?;
    Ok(status.code().or_else(|| status.signal().map(|s| 128 + s)).map_or(1, |code| code as u8))
}

/// Opens the ring file, or makes it.
fn ready(path: &Path, args: &RecordArgs, streams: &mut Streams<'_>) -> Result<Recorder> {
    let failed = |error| Error::of_recorder(path, error);
    let shown = printable(&path.display().to_string());
    if path.exists() {
        // Looked at first: whoever names a wrong file learns what it is.
        RingFile::open(path)?;
        let recorder = Options::new().program("lookback").open(path).map_err(failed)?;
        if args.size.is_some()
            || args.reserve.is_some()
            || args.mode.is_some()
            || args.largest_event.is_some()
        {
            streams.note(&format!(
                "{shown} is there already and keeps its size and mode; `lookback resize` changes its size"
            ));
        }
        return Ok(recorder);
    }
    let size = args.size.unwrap_or(64 << 20);
    let reserve = args.reserve.unwrap_or(size.saturating_mul(RESERVE));
    let mut options = Options::new()
        .bytes(usize::try_from(size).unwrap_or(usize::MAX))
        .reserve(usize::try_from(reserve).unwrap_or(usize::MAX))
        .program("lookback")
        .name(args.name.clone().unwrap_or_default());
    if let Some(mode) = args.mode {
        options = options.mode(mode);
    }
    if let Some(largest) = args.largest_event {
        options = options.largest_event(usize::try_from(largest).unwrap_or(usize::MAX));
    }
    let recorder = options.create(path).map_err(failed)?;
    streams.note(&format!(
        "{shown}  {}, and up to {} by `lookback resize`",
        bytes(recorder.bytes() as u64),
        bytes(recorder.reserved_bytes() as u64)
    ));
    if !super::resize::in_memory(path) {
        streams.note("it is on a disk: events reach it when the system writes them back, and resizing makes programs wait; /dev/shm is in memory");
    }
    Ok(recorder)
}

/// In shared memory, in this user's own directory, named for the program.
fn default_ring(command: &[OsString]) -> Result<PathBuf> {
    let dir = PathBuf::from(format!("/dev/shm/lookback-{}", our_uid()));
    let made = std::fs::DirBuilder::new().mode(0o700).create(&dir);
    match made {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(Error::Write { file: dir, error });
        }
        _ => {}
    }
    RuntimeDir::open(dir.clone())?;
    Ok(dir.join(ring_name(command)))
}

fn ring_name(command: &[OsString]) -> OsString {
    let name = command.first().map_or("default".as_ref(), |c| Path::new(c).file_stem().unwrap_or(c));
    let mut name = name.to_owned();
    name.push(".ring");
    name
}

fn start(command: &[OsString], ring: &Path) -> std::io::Result<Child> {
    // A program that changes its directory must find it still.
    let ring = std::path::absolute(ring)?;
    Command::new(&command[0]).args(&command[1..]).env(VARIABLE, ring).spawn()
}

/// Waits for a program, whatever signals come meanwhile.
fn wait(child: &mut Child) -> std::io::Result<ExitStatus> {
    loop {
        match child.wait() {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn how_to_look(path: &Path, streams: &mut Streams<'_>) -> Result<()> {
    let shown = printable(&path.display().to_string());
    let incident = beside_us(path, "lkb");
    streams.note(&format!("lookback report {shown}  shows what it holds"));
    streams.note(&format!("lookback record --ring {shown} --follow  prints events as they come"));
    streams.note(&format!(
        "lookback snapshot {shown} -o {}  keeps it",
        printable(&incident.display().to_string())
    ));
    streams.out.flush().map_err(stdout)
}

/// Reads `net=debug` or `debug`.
pub(crate) fn level(text: &str) -> std::result::Result<(Option<String>, Option<Level>), String> {
    let (category, level) = match text.rsplit_once('=') {
        Some((category, level)) => (Some(category.to_owned()), level),
        None => (None, text),
    };
    let found = match level {
        "off" => Some(None),
        name => Level::ALL.into_iter().find(|l| l.name() == name).map(Some),
    };
    let found =
        found.ok_or_else(|| format!("'{level}' is not a level (off, error, warn, info, debug or trace)"))?;
    if category.as_deref() == Some("") {
        return Err("the category before = is missing".to_owned());
    }
    Ok((category, found))
}

/// Reads a mode as `chmod` does: octal digits.
pub(crate) fn mode(text: &str) -> std::result::Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err(format!("'{text}' is not a mode (octal digits as for chmod, such as 0600)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_modes_are_read_as_people_write_them() {
        assert_eq!(level("debug"), Ok((None, Some(Level::Debug))));
        assert_eq!(level("net=off"), Ok((Some("net".into()), None)));
        assert_eq!(level("a=b=warn"), Ok((Some("a=b".into()), Some(Level::Warn))));
        assert!(level("loud").is_err() && level("=info").is_err() && level("").is_err());
        assert_eq!((mode("0600"), mode("640")), (Ok(0o600), Ok(0o640)));
        assert!(mode("rw").is_err() && mode("7777").is_err());
    }

    #[test]
    fn a_ring_is_named_for_its_program() {
        let of = |words: &[&str]| ring_name(&words.iter().map(Into::into).collect::<Vec<_>>());
        assert_eq!(of(&["/usr/bin/shop.sh", "-x"]), "shop.ring");
        assert_eq!(of(&[]), "default.ring");
    }
}
